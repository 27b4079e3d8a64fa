//! What a protocol needs of the network that it is put into.

use tailback_hardware::{NetworkSpec, SourceQueues};
use tailback_protocol::{Lossy, Protocol, Station, routers_send};
use tailback_topology::Topology;

use crate::diagnostic::Diagnostic;
use crate::network::place_of;
use crate::reader::Reading;
use crate::tree::Table;

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
    message_flits_max: u32,
    root: &Table,
    reading: &mut Reading,
) {
    let hooks = protocol.hooks();
    let lossy = protocol.classes().iter().any(|class| class.lossy != Lossy::No);
    let station = Station { flit_ticks: 1, packet_flits_max: 1, endpoints: 1 };
    let needs = [
        Needs {
            broken: (hooks.last_hop || hooks.reservations) && !spec.router.virtual_output_queues,
            section: "router",
            parameter: "virtual_output_queues",
            message: "routers that watch what waits for their nodes must know on arrival where packets go",
            help: "set router.virtual_output_queues = true",
        },
        Needs {
            broken: lossy && spec.router.vc_allocation,
            section: "router",
            parameter: "vc_allocation",
            message: "packets that may be dropped cannot own virtual channels",
            help: "set router.vc_allocation = false",
        },
        Needs {
            broken: lossy && topology.radix() > 255,
            section: "topology",
            parameter: "",
            message: "routers that drop packets have at most 255 ports",
            help: "choose a topology with smaller routers",
        },
        Needs {
            broken: routers_send(protocol) && !topology.routers_reach_all_nodes(),
            section: "protocol",
            parameter: "",
            message: "its routers send NACKs or grants back to sources, and with unidirectional links a packet that \
                      starts in a router cannot reach every node",
            help: "choose a protocol in which only nodes send control packets (`baseline`, `ecn`), or a topology whose \
                   links lead both ways",
        },
        Needs {
            broken: protocol.source(&station).is_some() && spec.nic.queues == SourceQueues::Fifo,
            section: "nic",
            parameter: "queues",
            message: "sources that hold packets back need a queue for each destination",
            help: "set nic.queues = \"per-destination\"",
        },
        Needs {
            broken: hooks.copies && message_flits_max.div_ceil(spec.packet_flits_max.into()) > 1 << 16,
            section: "nic",
            parameter: "packet_flits",
            message: "a message that is kept until it has arrived has at most 65536 packets",
            help: "make packets larger, or messages smaller",
        },
    ];
    for Needs { section, parameter, message, help, .. } in needs.into_iter().filter(|needs| needs.broken) {
        let span = place_of(root, section, parameter);
        let message = format!("protocol `{name}`: {message}");
        reading.blame(Diagnostic { span, ..Diagnostic::new(message).help(help) });
    }
}
