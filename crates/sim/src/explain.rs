//! What there is to know about a scenario without running it.

use serde::Serialize;
use tailback_hardware::{ClassSpec, LinkSpec};
use tailback_scenario::Scenario;
use tailback_topology::{Peer, Port, Topology};

use crate::trace::{PathType, path_types};

/// What there is to know about a scenario without running it: plain data, times in link cycles.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The topology with its parameters.
    pub topology: String,
    /// The routing with its parameters.
    pub routing: String,
    /// The protocol with its parameters.
    pub protocol: String,
    /// What it keeps and sends, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protocol_lines: Vec<String>,
    /// Nodes of the network.
    pub nodes: u32,
    /// Its routers.
    pub routers: u32,
    /// Ports of the largest one.
    pub radix: u32,
    /// The ports of the first router.
    pub wiring: Vec<Wire>,
    /// The kinds of links.
    pub links: Vec<Links>,
    /// Why packets cannot wait for each other in a circle.
    pub deadlock_freedom: String,
    /// What a packet does in a router.
    pub router: RouterTimes,
    /// Flits of the largest packet, which the paths below are about.
    pub packet_flits: u16,
    /// The kinds of paths that packets take, each with the latency of a packet that is alone in the network.
    pub zero_load: Vec<PathLatency>,
    /// Nanoseconds of a link cycle, if they are known.
    pub ns_per_cycle: Option<f64>,
}

/// A port.
#[derive(Clone, Debug, Serialize)]
pub struct Wire {
    /// Its number.
    pub port: u32,
    /// The kind of its link.
    pub link: &'static str,
    /// What is at the other end.
    pub leads_to: String,
    /// What feeds its input, where that is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fed_by: Option<String>,
}

/// The links of a kind.
#[derive(Clone, Debug, Serialize)]
pub struct Links {
    /// Its name.
    pub class: String,
    /// From sending a flit to its arrival.
    pub latency: f64,
    /// From one flit to the next.
    pub cycles_per_flit: f64,
    /// Flits of the input buffer of a virtual channel at the end; none where nodes take what comes.
    pub buffer_flits: Option<u16>,
    /// The virtual channels by traffic class.
    pub channels: Vec<Channels>,
}

/// The virtual channels of a traffic class.
#[derive(Clone, Debug, Serialize)]
pub struct Channels {
    /// The class.
    pub class: &'static str,
    /// Larger ones go first.
    pub priority: u8,
    /// The first channel.
    pub first: usize,
    /// How many there are.
    pub count: usize,
}

/// What a packet does in a router when nothing is in its way.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RouterTimes {
    /// At the head of its queue.
    pub head: f64,
    /// Through the crossbar.
    pub crossbar: f64,
    /// Whether it needs one more allocation for its virtual channel.
    pub vc_allocation: bool,
}

/// A kind of path, and what its latency is made of.
#[derive(Clone, Debug, Serialize)]
pub struct PathLatency {
    /// The kinds of its links between routers.
    pub path: String,
    /// The virtual channels on them.
    pub channels: Vec<u8>,
    /// A source and a destination.
    pub example: (u32, u32),
    /// The link from the source.
    pub injection: f64,
    /// All routers.
    pub routers: f64,
    /// All links between them.
    pub links: f64,
    /// The link to the destination.
    pub ejection: f64,
    /// From the first flit to the last.
    pub serialization: f64,
    /// All of it.
    pub total: f64,
}

/// Explains a scenario.
#[must_use]
pub fn explain(scenario: &Scenario) -> Explanation {
    let graph = scenario.topology.built.graph();
    let cycles = |ticks: u32| f64::from(ticks) / f64::from(scenario.clock.ticks_per_cycle);
    let router = &scenario.network.router;
    Explanation {
        topology: graph.describe(),
        routing: scenario.routing.built.describe(),
        protocol: scenario.protocol.built.describe(),
        protocol_lines: scenario.protocol.built.explain(&scenario.station()),
        nodes: graph.nodes(),
        routers: graph.routers(),
        radix: graph.radix(),
        wiring: wiring(graph.as_ref()),
        links: links(scenario, graph.as_ref()),
        deadlock_freedom: scenario.proof.describe(graph.as_ref()),
        router: RouterTimes {
            head: cycles(router.head_delay),
            crossbar: cycles(router.crossbar_delay),
            vc_allocation: router.vc_allocation,
        },
        packet_flits: scenario.network.packet_flits_max,
        zero_load: path_types(scenario).iter().map(|path| path_latency(path, scenario, graph.as_ref())).collect(),
        ns_per_cycle: scenario.clock.cycle_fs.map(|fs| fs as f64 / 1e6),
    }
}

/// Where the ports of the first router lead, and what feeds them.
fn wiring(graph: &dyn Topology) -> Vec<Wire> {
    let name = |peer| match peer {
        Peer::Node(node) => format!("node {node}"),
        Peer::Router { router, port } => format!("{}, port {port}", graph.router_name(router)),
        Peer::Nothing => "nothing".to_owned(),
    };
    let wire = |port: u32| {
        let (peer, feeder) = (graph.peer(0, port as Port), graph.feeder(0, port as Port));
        let link = graph.link_classes()[graph.link_class(0, port as Port).index()];
        Wire { port, link, leads_to: name(peer), fed_by: (feeder != peer).then(|| name(feeder)) }
    };
    (0..graph.ports(0)).map(wire).collect()
}

fn links(scenario: &Scenario, graph: &dyn Topology) -> Vec<Links> {
    let spec = &scenario.network;
    let cycles = |ticks: u32| f64::from(ticks) / f64::from(scenario.clock.ticks_per_cycle);
    let names = scenario.protocol.built.classes();
    let channels = |link_class: usize| {
        let of = |(class, traffic): (&ClassSpec, &tailback_protocol::TrafficClass)| {
            let range = class.channels(link_class);
            Channels { class: traffic.name, priority: class.priority, first: range.start, count: range.len() }
        };
        spec.classes.iter().zip(&names).map(of).collect()
    };
    let row = |class: String, link: &LinkSpec, buffer_flits: Option<u16>, channels: Vec<Channels>| Links {
        class,
        latency: cycles(link.latency),
        cycles_per_flit: cycles(link.flit_ticks.into()),
        buffer_flits,
        channels,
    };
    let mut rows = vec![
        row("injection".to_owned(), &spec.injection, Some(spec.input_buffers[0]), channels(0)),
        row("ejection".to_owned(), &spec.links[0], None, Vec::new()),
    ];
    for (class, name) in graph.link_classes().iter().enumerate().skip(1) {
        rows.push(row((*name).to_owned(), &spec.links[class], Some(spec.input_buffers[class]), channels(class)));
    }
    rows
}

fn path_latency(path: &PathType, scenario: &Scenario, graph: &dyn Topology) -> PathLatency {
    let cycles = |ticks: u64| ticks as f64 / f64::from(scenario.clock.ticks_per_cycle);
    let names: Vec<_> = path.links.iter().map(|class| graph.link_classes()[class.index()]).collect();
    let zero = &path.zero_load;
    PathLatency {
        path: if names.is_empty() { "same router".to_owned() } else { names.join(" ") },
        channels: path.vcs.clone(),
        example: path.example,
        injection: cycles(zero.injection),
        routers: cycles(zero.routers()),
        links: cycles(zero.links.iter().sum()),
        ejection: cycles(zero.ejection),
        serialization: cycles(zero.serialization),
        total: cycles(zero.total()),
    }
}
