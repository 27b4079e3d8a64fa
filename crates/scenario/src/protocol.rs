//! What a protocol needs of the network that it is put into.

use std::sync::Arc;

use tailback_hardware::{NetworkSpec, SourceQueues};
use tailback_protocol::{
    ClassRouting, Direction, InjectionTime, KindDeclaration, PathUse, Ports, Protocol, RecordedPath, Routes, Station,
    SwitchNeeds,
};
use tailback_routing::Routing;
use tailback_routing::reverse::ReverseChannels;
use tailback_topology::{Topology, nodes_of_first_router};

use crate::diagnostic::Diagnostic;
use crate::network::place_of;
use crate::reader::Reading;
use crate::tree::Table;

/// Complains if a protocol takes the paths of requests in reverse, and these cannot be taken so.
pub(crate) fn check_paths(
    protocol: &dyn Protocol,
    name: &str,
    routing: impl Fn(ClassRouting) -> Arc<dyn Routing>,
    root: &Table,
    reading: &mut Reading,
) {
    let (kinds, classes) = (protocol.kinds(), protocol.classes());
    let routing_of = |kind: &KindDeclaration| routing(classes[usize::from(kind.class)].routing);
    for back in kinds.iter().filter(|kind| kind.path == PathUse::Follows) {
        for forth in kinds.iter().filter(|kind| kind.path == PathUse::Records) {
            let (forth, back) = (routing_of(forth), routing_of(back));
            let found = ReverseChannels::new(forth.as_ref(), back.as_ref(), RecordedPath::ROUTERS_MAX);
            if let Err(reason) = found {
                let message = format!("protocol `{name}`: answers take the paths of requests in reverse, and {reason}");
                let diagnostic = Diagnostic { span: place_of(root, "routing", ""), ..Diagnostic::new(message) };
                reading.blame(diagnostic.help(
                    "choose a routing with shorter paths and ascending virtual channels, on links that lead in both directions",
                ));
                return;
            }
        }
    }
}

/// The rules that a protocol needs kept.
#[derive(Clone, Copy, Debug)]
struct Needs {
    broken: bool,
    section: &'static str,
    parameter: &'static str,
    message: &'static str,
    help: &'static str,
}

/// Complains about whatever a protocol needs and does not get.
pub(crate) fn check_protocol(
    protocol: &dyn Protocol,
    name: &str,
    spec: &NetworkSpec,
    topology: &dyn Topology,
    root: &Table,
    reading: &mut Reading,
) {
    let lossy = protocol.kinds().iter().any(|kind| kind.direction == Direction::LossyData);
    let SwitchNeeds { sends, trims, .. } = protocol.switch_needs();
    let needs = [
        Needs {
            broken: lossy && spec.router.vc_allocation,
            section: "router",
            parameter: "vc_allocation",
            message: "packets that may be dropped cannot own virtual channels",
            help: "set router.vc_allocation = false",
        },
        Needs {
            broken: (sends || trims) && topology.radix() > 255,
            section: "topology",
            parameter: "",
            message: "routers that send control packets, or trim packets, have at most 255 ports",
            help: "choose a topology with smaller routers",
        },
        Needs {
            broken: sends && !topology.routers_reach_all_nodes(),
            section: "protocol",
            parameter: "",
            message: "its routers send NACKs or grants back to sources, and with unidirectional links a packet that \
                      starts in a router cannot reach every node",
            help: "choose a protocol in which only nodes send control packets (`baseline`, `ecn`, `renato`, `pfister`, \
                   `mvcm`), or a topology whose links lead in both directions",
        },
        Needs {
            broken: protocol.kinds().iter().any(|kind| kind.flits > spec.packet_flits_max),
            section: "nic",
            parameter: "packet_flits",
            message: "its control packets are larger than data packets",
            help: "make data packets larger, or its control packets smaller",
        },
        Needs {
            broken: protocol.source(&station(spec, topology)).is_some() && spec.nic.queues == SourceQueues::Fifo,
            section: "nic",
            parameter: "queues",
            message: "sources that hold packets back need a queue for each destination",
            help: "set nic.queues = \"per-destination\"",
        },
    ];
    for Needs { section, parameter, message, help, .. } in needs.into_iter().filter(|needs| needs.broken) {
        let span = place_of(root, section, parameter);
        let message = format!("protocol `{name}`: {message}");
        reading.blame(Diagnostic { span, ..Diagnostic::new(message).help(help) });
    }
    check_watched_links(protocol, name, topology, root, reading);
    if let Err(error) = protocol.fits(&station(spec, topology)) {
        let span = place_of(root, &format!("protocol.{name}"), error.parameter.unwrap_or_default());
        let diagnostic = Diagnostic { span, ..Diagnostic::new(format!("protocol `{name}`: {}", error.message)) };
        reading.blame(error.help.iter().fold(diagnostic, Diagnostic::help));
    }
}

/// Where a protocol is, in a network as a whole.
pub(crate) fn station(spec: &NetworkSpec, topology: &dyn Topology) -> Station {
    Station {
        flit_ticks: spec.line_flit_ticks().into(),
        injection: InjectionTime { flit_ticks: spec.injection_flit_ticks(), least_ticks: spec.ticks_per_cycle },
        packet_flits_max: spec.packet_flits_max,
        ports: topology.radix(),
        routers: topology.routers(),
        nodes_per_router: nodes_of_first_router(topology),
        nodes: topology.nodes(),
        routes: Routes { count: spec.routes(), in_step: spec.routes_in_step() },
    }
}

/// Complains if routers are to watch links that there are none of.
fn check_watched_links(
    protocol: &dyn Protocol,
    name: &str,
    topology: &dyn Topology,
    root: &Table,
    reading: &mut Reading,
) {
    let classes = topology.link_classes();
    let watched = protocol.watches().into_iter().filter_map(|watch| match watch.ports {
        Ports::Links(class) => Some(class),
        _ => None,
    });
    let Some(missing) = watched.into_iter().find(|class| !classes.contains(class)) else { return };
    let message =
        format!("protocol `{name}`: it watches {missing} links, and this topology has {}", classes.join(", "));
    let help = "choose other links, or a topology that has them";
    reading.blame(Diagnostic { span: place_of(root, "topology", ""), ..Diagnostic::new(message).help(help) });
}
