//! Random networks, small enough to run in a moment.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use tailback_network::{
    AllocationOrder, Arbiter, ClassSpec, CreditCheck, CrossbarPorts, Delivery, Ejection, InjectionVc, InputServed,
    InputTurns, LinkArbiter, LinkSpec, NetworkPlan, NetworkSpec, NicSpec, OutputHeld, OutputQueueSpec, Partition,
    QueuePer, Release, RouterSpec, SourceQueues, TurnsKept, TurnsMove,
};
use tailback_parameters::{Kind, Parameter, Value, Values};
use tailback_protocol::{Baseline, ClassRouting, Protocol, TrafficClass};
use tailback_routing::{ROUTINGS, Routing, minimal};
use tailback_topology::{AnyTopology, TOPOLOGIES, Topology};
use tailback_workload::{Arrival, Groups, MessageSize, NodeSet, Pattern, Phase, Traffic, Workload};

use crate::routers::{basic_routers, plain_routers, routers};

/// A network as text, that failing cases can be read.
#[derive(Clone, Debug)]
pub struct Sample {
    pub topology: (&'static str, &'static [(&'static str, &'static [u64])]),
    pub arrangement: &'static str,
    pub routing: (&'static str, &'static [(&'static str, &'static str)]),
    pub ticks_per_cycle: u32,
    /// Cycles, of injection, ejection, and all other links by class.
    pub latencies: Vec<u32>,
    pub packet_flits: u16,
    /// Room of input buffers in packets.
    pub buffer_packets: Vec<u16>,
    pub router: RouterSpec,
    pub nic: NicSpec,
    pub whole_packets: bool,
    pub protocol: Arc<dyn Protocol>,
    pub load: f64,
    pub size: MessageSize,
    pub arrival: Arrival,
    pub pattern: usize,
    pub seed: u64,
}

pub type Topo = (&'static str, &'static [(&'static str, &'static [u64])]);
pub type Route = (&'static str, &'static [(&'static str, &'static str)]);

pub const DRAGONFLIES: &[Topo] = &[
    ("dragonfly", &[("p", &[2]), ("a", &[4]), ("h", &[2]), ("g", &[9])]),
    ("dragonfly", &[("p", &[2]), ("a", &[3]), ("h", &[2]), ("g", &[4])]),
    ("dragonfly", &[("p", &[1]), ("a", &[2]), ("h", &[1]), ("g", &[3])]),
    ("dragonfly", &[("p", &[2]), ("a", &[4]), ("h", &[1]), ("g", &[2])]),
];
/// Those of them whose groups are joined by one link each.
pub const LINKED_ONCE: &[Topo] = &[DRAGONFLIES[0], DRAGONFLIES[2]];
const TREES: &[Topo] = &[
    ("k-ary-n-tree", &[("k", &[2]), ("n", &[3])]),
    ("two-level-tree", &[("nodes_per_leaf", &[4]), ("leaves", &[4]), ("spines", &[2]), ("parallel", &[2])]),
    ("fat-tree", &[("children", &[3, 2]), ("parents", &[2]), ("parallel", &[1])]),
];
const CLOSES: &[Topo] = &[
    ("two-level-tree", &[("nodes_per_leaf", &[2]), ("leaves", &[2]), ("spines", &[2]), ("parallel", &[1])]),
    ("two-level-tree", &[("nodes_per_leaf", &[3]), ("leaves", &[2]), ("spines", &[4]), ("parallel", &[1])]),
];
const BUTTERFLIES: &[Topo] = &[
    ("k-ary-n-fly", &[("k", &[2]), ("n", &[3])]),
    ("k-ary-n-fly", &[("k", &[3]), ("n", &[2])]),
    ("k-ary-n-fly", &[("k", &[4]), ("n", &[1])]),
];
const SWITCHES: &[Topo] = &[("single-switch", &[("nodes", &[2])]), ("single-switch", &[("nodes", &[9])])];

const DRAGONFLY_ROUTES: &[Route] = &[
    ("minimal", &[]),
    ("minimal", &[("vcs", "l0 g0 l1")]),
    ("valiant", &[("target", "group")]),
    ("valiant", &[("target", "router"), ("intermediates", "anywhere")]),
    ("valiant", &[("target", "router"), ("intermediates", "like-destination")]),
    ("valiant", &[("target", "node"), ("intermediates", "anywhere")]),
    ("ugal-l", &[("target", "router")]),
    ("ugal-l", &[("target", "group"), ("occupancy", "port")]),
    ("ugal-g", &[("target", "node")]),
    ("ugal-g", &[("target", "router"), ("intermediates", "anywhere"), ("occupancy", "port")]),
    ("piggyback", &[("target", "router"), ("intermediates", "anywhere")]),
    ("par", &[("threshold", "4")]),
    ("par", &[("threshold", "2"), ("queue_counts", "router")]),
    ("par6-2", &[("share", "80"), ("packet", "1")]),
    ("par6-2", &[("share", "90"), ("packet", "2"), ("threshold", "1"), ("queue_counts", "router")]),
    ("olm", &[("siblings", "0"), ("siblings_margin", "0")]),
    ("base", &[("threshold", "2")]),
    ("hybrid", &[("threshold", "2"), ("candidates", "one")]),
    ("ectn", &[("threshold", "3"), ("combined_threshold", "3"), ("period", "20"), ("overhead", "1")]),
    ("statistical", &[("threshold", "1"), ("certain", "3")]),
];
/// Those that count who wants a link.
const COUNTING: [&str; 4] = ["base", "hybrid", "ectn", "statistical"];
const TREE_ROUTES: &[Route] = &[
    ("nearest-common-ancestor", &[("up", "random"), ("vcs", "2")]),
    ("nearest-common-ancestor", &[("up", "destination"), ("vcs", "1")]),
    ("nearest-common-ancestor", &[("up", "hash"), ("vcs", "1")]),
];
const CLOS_ROUTES: &[Route] = &[("clos", &[]), ("clos", &[("queues", "inputs")])];
const BUTTERFLY_ROUTES: &[Route] = &[("destination-tag", &[("vcs", "1")]), ("destination-tag", &[("vcs", "3")])];
const SWITCH_ROUTES: &[Route] = &[("direct", &[("vcs", "1")]), ("direct", &[("vcs", "3")])];

fn graphs() -> impl Strategy<Value = (Topo, Route)> {
    prop_oneof![
        4 => (select(DRAGONFLIES), select(DRAGONFLY_ROUTES)).prop_filter(
            "who wants a link is counted where one leads to a group",
            |(topology, routing)| !COUNTING.contains(&routing.0) || LINKED_ONCE.contains(topology)
        ),
        2 => (select(TREES), select(TREE_ROUTES)),
        2 => (select(BUTTERFLIES), select(BUTTERFLY_ROUTES)),
        1 => (select(CLOSES), select(CLOS_ROUTES)),
        1 => (select(SWITCHES), select(SWITCH_ROUTES)),
    ]
}

fn nics() -> impl Strategy<Value = NicSpec> {
    let queues = select(vec![SourceQueues::Fifo, SourceQueues::PerDestination, SourceQueues::InTurn]);
    let choice = select(vec![
        InjectionVc::RoundRobin,
        InjectionVc::Random,
        InjectionVc::ByDestination,
        InjectionVc::Rotation { in_step: false },
        InjectionVc::Rotation { in_step: true },
    ]);
    let limit = prop_oneof![3 => Just(None), 1 => (1u32..6).prop_map(Some)];
    let delivery = select(vec![Delivery::Arrival, Delivery::InOrder]);
    let line = prop_oneof![2 => Just(None), 1 => (1u32..4).prop_map(Some)];
    let pause = prop_oneof![1 => Just(None), 1 => (1u32..40).prop_map(Some)];
    (queues, choice, limit, any::<bool>(), delivery, (line, pause)).prop_map(
        |(queues, vc_choice, queue_limit, side_by_side, delivery, (line_flit_ticks, pause_flits))| {
            // Flows can take turns only where they have queues of their own.
            let is_fifo = vc_choice.takes_turns() && queues == SourceQueues::Fifo;
            let queues = if is_fifo { SourceQueues::PerDestination } else { queues };
            NicSpec { queues, vc_choice, queue_limit, side_by_side, delivery, line_flit_ticks, pause_flits }
        },
    )
}

fn sizes(packet_flits: u16) -> impl Strategy<Value = MessageSize> {
    let packet = u32::from(packet_flits);
    prop_oneof![
        Just(MessageSize::Fixed(packet)),
        Just(MessageSize::Fixed(5 * packet + 1)),
        Just(MessageSize::Uniform { min: 1, max: 3 * packet }),
        Just(MessageSize::weighted(&[1, 7 * packet], &[0.7, 0.3])),
    ]
}

fn samples_with<R: Strategy<Value = RouterSpec>>(
    routers: impl Fn(u32, u16) -> R + Clone,
) -> impl Strategy<Value = Sample> {
    (select(vec![1u32, 2, 4]), 1u16..9).prop_flat_map(move |(ticks_per_cycle, packet_flits)| {
        let links = (
            prop::collection::vec(1u32..30, 8),
            prop::collection::vec(1u16..6, 8),
            any::<bool>(),
            any::<bool>(),
            select(vec!["palmtree", "absolute"]),
        );
        let arrival = select(vec![
            Arrival::Bernoulli,
            Arrival::Bursts { messages_mean: 4.0, same_destination: true, cycles_per_flit: 3 },
            Arrival::Bursts { messages_mean: 1.5, same_destination: false, cycles_per_flit: 1 },
            Arrival::Slots { cycles_per_flit: 1 },
        ]);
        let traffic = (0.02f64..1.0, sizes(packet_flits), arrival, 0usize..5, any::<u64>());
        (graphs(), links, routers(ticks_per_cycle, packet_flits), nics(), traffic).prop_map(
            move |((topology, routing), links, router, nic, (load, size, arrival, pattern, seed))| {
                let (latencies, buffer_packets, whole_packets, acknowledge, arrangement) = links;
                // A slot is as long as any message.
                let is_slots = matches!(arrival, Arrival::Slots { .. });
                let size = if is_slots { MessageSize::Fixed(packet_flits.into()) } else { size };
                Sample {
                    topology,
                    arrangement,
                    routing,
                    ticks_per_cycle,
                    latencies,
                    packet_flits,
                    buffer_packets,
                    router,
                    nic,
                    whole_packets,
                    protocol: baseline(acknowledge),
                    load,
                    size,
                    arrival,
                    pattern,
                    seed,
                }
            },
        )
    })
}

/// All kinds of networks.
pub fn samples() -> impl Strategy<Value = Sample> {
    samples_with(routers)
}

/// Networks of plain routers.
pub fn plain_samples() -> impl Strategy<Value = Sample> {
    samples_with(plain_routers).prop_map(|sample| Sample { protocol: baseline(false), ..sample }).prop_filter(
        "plain routers have four channels",
        |sample| {
            let channels = sample.routing(&sample.topology()).virtual_channels();
            // What a broadcast costs plain routers cannot tell.
            channels.iter().all(|&vcs| vcs <= 4) && sample.routing.0 != "ectn"
        },
    )
}

/// Networks of routers that are plain but for their inputs, each of whose channels has a connection to the crossbar of its own.
pub fn crosspoint_samples() -> impl Strategy<Value = Sample> {
    let own = |sample: Sample| Sample {
        router: RouterSpec { crossbar_inputs: CrossbarPorts::PerChannel, ..sample.router },
        protocol: baseline(false),
        ..sample
    };
    samples_with(plain_routers).prop_map(own).prop_filter(
        "several channels, and nobody is told of heads or queues",
        |sample| {
            let routing = sample.routing(&sample.topology());
            let interests = routing.interests();
            let is_told = interests.heads || interests.queues || interests.broadcast_flits > 0;
            !is_told && routing.virtual_channels().iter().any(|&vcs| vcs > 1)
        },
    )
}

/// Networks of all kinds of routers of which each channel of an input has a connection to the crossbar of its own, and the output
/// alone chooses among their heads.
pub fn own_connection_samples() -> impl Strategy<Value = Sample> {
    samples().prop_map(|sample| Sample {
        router: RouterSpec {
            order: AllocationOrder::InputFirst,
            turns_move: TurnsMove::EveryRound,
            turns_kept: TurnsKept::Together,
            vc_allocation: false,
            crossbar_inputs: CrossbarPorts::PerChannel,
            crossbar_outputs: CrossbarPorts::PerPort,
            virtual_output_queues: false,
            destination_queue: None,
            ejection: Ejection::Room,
            ..sample.router
        },
        ..sample
    })
}

/// The same with a queue for each node of the network at each channel.
pub fn node_queue_samples() -> impl Strategy<Value = Sample> {
    own_connection_samples()
        .prop_map(|sample| Sample {
            router: RouterSpec {
                destination_queue: Some(2 * sample.packet_flits),
                credits: CreditCheck::Crossbar,
                credit_interval: 0,
                ..sample.router
            },
            nic: NicSpec { queues: SourceQueues::PerDestination, ..sample.nic },
            ..sample
        })
        .prop_filter("packets are routed once", |sample| !sample.routing(&sample.topology()).revises())
}

/// Networks of routers with VOQs whose outputs choose first, and take inputs by turns.
pub fn output_first_samples() -> impl Strategy<Value = Sample> {
    let output_first = |sample: Sample| Sample {
        router: RouterSpec {
            order: AllocationOrder::OutputFirst,
            output_arbiter: Arbiter::RoundRobin,
            input_served: InputServed::Granted,
            transit_first: false,
            vc_allocation: false,
            crossbar_inputs: CrossbarPorts::PerPort,
            crossbar_outputs: CrossbarPorts::PerPort,
            virtual_output_queues: true,
            destination_queue: None,
            credit_interval: 0,
            ejection: Ejection::Room,
            ..sample.router
        },
        ..sample
    };
    samples()
        .prop_map(output_first)
        .prop_filter("packets are routed once", |sample| !sample.routing(&sample.topology()).revises())
}

/// Networks of routers without VOQs that are plain else, but for their output queues and protocols.
pub fn basic_samples() -> impl Strategy<Value = Sample> {
    samples_with(basic_routers)
}

/// Networks of routers with VOQs that are plain else, but for their output queues and protocols.
pub fn sorting_samples() -> impl Strategy<Value = Sample> {
    let per = select(vec![QueuePer::Port, QueuePer::Class, QueuePer::Channel]);
    let sorting = |(sample, per): (Sample, QueuePer)| {
        let output_queues = OutputQueueSpec { per, ..sample.router.output_queues };
        Sample { router: RouterSpec { virtual_output_queues: true, output_queues, ..sample.router }, ..sample }
    };
    (samples_with(plain_routers), per)
        .prop_map(sorting)
        .prop_filter("packets are routed once", |sample| !sample.routing(&sample.topology()).revises())
}

impl Sample {
    pub fn topology(&self) -> AnyTopology {
        let (name, given) = self.topology;
        let model = TOPOLOGIES.iter().find(|model| model.name == name).expect("a sample names a topology");
        let values = values(model.parameters, |parameter| match parameter.kind {
            Kind::Choice(_) => Some(Value::Text(self.arrangement.to_owned())),
            kind => given.iter().find(|(name, _)| *name == parameter.name).map(|(_, numbers)| match kind {
                Kind::Integers { .. } => Value::Integers(numbers.to_vec()),
                _ => Value::Integer(numbers[0]),
            }),
        });
        (model.build)(&values).expect("a sample's topology exists")
    }

    pub fn routing(&self, topology: &AnyTopology) -> Arc<dyn Routing> {
        let (name, given) = self.routing;
        let model = ROUTINGS.iter().find(|model| model.name == name).expect("a sample names a routing");
        let values = values(model.parameters, |parameter| {
            given.iter().find(|(name, _)| *name == parameter.name).map(|(_, text)| read(parameter.kind, text))
        });
        (model.build)(topology, &values).expect("a sample's routing fits its topology")
    }

    fn spec(&self, topology: &dyn Topology, routings: &[Arc<dyn Routing>]) -> NetworkSpec {
        let cycle = self.ticks_per_cycle;
        let link_classes = topology.link_classes().len();
        let revises = routings.iter().any(|routing| routing.revises());
        let ejection = routings.iter().map(|routing| routing.virtual_channels()[0]).min().expect("there is a class");
        let link = |class: usize| LinkSpec { latency: self.latencies[class + 1] * cycle, flit_ticks: cycle as u16 };
        let mut classes: Vec<ClassSpec> = Vec::new();
        for (class, routing) in self.protocol.classes().iter().zip(routings) {
            let first_vc = classes.last().map_or(vec![0; link_classes], |before| {
                before.first_vc.iter().zip(&before.vcs).map(|(first, vcs)| first + vcs).collect()
            });
            let (priority, is_control) = (class.priority, class.is_control);
            classes.push(ClassSpec { priority, is_control, first_vc, vcs: routing.virtual_channels() });
        }
        let smallest = match &self.size {
            MessageSize::Fixed(size) => match size % u32::from(self.packet_flits) {
                0 => self.packet_flits,
                rest => rest as u16,
            },
            _ => 1,
        };
        NetworkSpec {
            ticks_per_cycle: cycle,
            links: (0..link_classes).map(link).collect(),
            injection: LinkSpec {
                latency: self.latencies[0] * cycle,
                flit_ticks: if self.whole_packets { 0 } else { cycle as u16 },
            },
            input_buffers: (0..link_classes).map(|class| self.buffer_packets[class] * self.packet_flits).collect(),
            classes,
            packet_flits_max: self.packet_flits,
            packet_flits_min: smallest,
            router: RouterSpec {
                ejection_vcs: self.router.ejection_vcs.min(ejection),
                // Who changes its mind can neither be sorted by output nor acquire a channel before.
                virtual_output_queues: self.router.virtual_output_queues && !revises,
                destination_queue: self.router.destination_queue.filter(|_| {
                    let queued = self.nic.queues != SourceQueues::Fifo;
                    queued && !revises && routings.len() == 1 && topology.nodes() <= 256
                }),
                vc_allocation: self.router.vc_allocation && !revises,
                ..self.router.clone()
            },
            nic: NicSpec {
                side_by_side: self.nic.side_by_side && self.whole_packets,
                // Lines that are up to three times as slow as links.
                line_flit_ticks: self
                    .nic
                    .line_flit_ticks
                    .filter(|_| self.nic.delivery == Delivery::InOrder)
                    .map(|times| times * cycle),
                pause_flits: self.nic.pause_flits.filter(|_| {
                    let owns_channels = self.router.vc_allocation && !revises;
                    let in_order = self.nic.delivery == Delivery::InOrder;
                    in_order && self.router.ejection == Ejection::Room && !owns_channels
                }),
                ..self.nic
            },
        }
    }

    /// Where messages go, and who sends them.
    fn pattern(&self, topology: &dyn Topology) -> (NodeSet, Pattern) {
        let nodes = topology.nodes();
        let all = || NodeSet::all(nodes);
        let group = nodes / topology.domains();
        let pattern = match self.pattern {
            0 => Pattern::uniform(all(), false).expect("there are two nodes"),
            1 => Pattern::uniform(all(), true).expect("oneself is enough"),
            2 => Pattern::shift(&NodeSet::all(nodes), nodes, 1).expect("there are two nodes"),
            3 if nodes.is_multiple_of(topology.domains()) && topology.domains() > 1 => {
                let groups = Groups { count: topology.domains(), nodes_each: group };
                Pattern::adversarial(groups, 1, None).expect("there are two groups")
            }
            _ => Pattern::uniform(NodeSet::of(&[0], nodes).expect("node 0 exists"), true).expect("one is enough"),
        };
        (all(), pattern)
    }

    /// The plan of the network, in which sources fall silent in cycle `silent_from`.
    pub fn plan(&self, silent_from: u64) -> NetworkPlan {
        let any = self.topology();
        let topology = any.graph();
        let (sources, pattern) = self.pattern(topology.as_ref());
        let phases = vec![
            Phase { from_cycle: 0, pattern: pattern.clone(), load: self.load },
            Phase { from_cycle: silent_from, pattern, load: 0.0 },
        ];
        let traffic = Traffic::new("traffic".to_owned(), sources, self.size.clone(), self.arrival.clone(), phases);
        self.plan_with(&any, traffic)
    }

    pub fn plan_with(&self, any: &AnyTopology, traffic: Traffic) -> NetworkPlan {
        let topology = any.graph();
        let routing = self.routing(any);
        let shortest = minimal(any).unwrap_or_else(|| Arc::clone(&routing));
        let by_class = |class: &TrafficClass| {
            Arc::clone(if class.routing == ClassRouting::Minimal { &shortest } else { &routing })
        };
        let routings = self.protocol.classes().iter().map(by_class).collect();
        self.plan_of(topology, routings, traffic)
    }

    /// The plan of a network with a graph of its own, and the routing of each traffic class.
    pub fn plan_of(
        &self,
        topology: Arc<dyn Topology>,
        routings: Vec<Arc<dyn Routing>>,
        traffic: Traffic,
    ) -> NetworkPlan {
        let spec = self.spec(topology.as_ref(), &routings);
        let partition = Partition::single(topology.as_ref());
        let protocol = Arc::clone(&self.protocol);
        NetworkPlan {
            measured: 0..1 << 24,
            topology,
            routings,
            spec,
            workload: Workload { flows: vec![traffic] },
            seed: self.seed,
            protocol,
            partition,
        }
    }
}

/// The values of all parameters: those that are given, and defaults.
fn values(parameters: &[Parameter], given: impl Fn(&Parameter) -> Option<Value>) -> Values {
    let mut values = Values::default();
    for parameter in parameters {
        let default = || read(parameter.kind, parameter.default.expect("a sample gives what has no default"));
        values.set(parameter.name, given(parameter).unwrap_or_else(default));
    }
    values
}

fn read(kind: Kind, text: &str) -> Value {
    match kind {
        Kind::Integer { .. } => Value::Integer(text.parse().expect("a whole number")),
        Kind::Number { .. } => Value::Number(text.parse().expect("a number")),
        Kind::Flag => Value::Flag(text == "true"),
        _ => Value::Text(text.trim_matches('"').to_owned()),
    }
}

/// No congestion control.
pub fn baseline(acknowledge: bool) -> Arc<dyn Protocol> {
    Arc::new(Baseline { acknowledge, control_routing: ClassRouting::Chosen })
}

/// A plain network with a heavy uniform load and the smallest buffers.
pub fn fixed(topology: (&'static str, &'static [(&'static str, &'static [u64])])) -> Sample {
    Sample {
        topology,
        arrangement: "palmtree",
        routing: ("minimal", &[]),
        ticks_per_cycle: 2,
        latencies: vec![1, 1, 4, 9],
        packet_flits: 4,
        buffer_packets: vec![1, 1, 1],
        router: RouterSpec {
            head_delay: 0,
            crossbar_delay: 2,
            allocation_period: 1,
            iterations: 1,
            order: AllocationOrder::InputFirst,
            turns_move: TurnsMove::EveryRound,
            turns_kept: TurnsKept::Together,
            input_arbiter: Arbiter::RoundRobin,
            output_arbiter: Arbiter::RoundRobin,
            transit_first: false,
            vc_allocation: false,
            crossbar_inputs: CrossbarPorts::PerPort,
            crossbar_outputs: CrossbarPorts::PerPort,
            virtual_output_queues: false,
            destination_queue: None,
            output_queues: OutputQueueSpec {
                flits: Some(4),
                per: QueuePer::Port,
                release: Release::Start,
                link_arbiter: LinkArbiter::Oldest,
                control_limit: None,
            },
            credits: CreditCheck::Crossbar,
            credit_interval: 0,
            input_turns: InputTurns::Queues,
            input_served: InputServed::Granted,
            ejection: Ejection::Room,
            ejection_vcs: 1,
            output_held: OutputHeld::Crossing,
        },
        nic: NicSpec {
            queues: SourceQueues::Fifo,
            vc_choice: InjectionVc::RoundRobin,
            queue_limit: None,
            delivery: Delivery::Arrival,
            line_flit_ticks: None,
            pause_flits: None,
            side_by_side: false,
        },
        whole_packets: false,
        protocol: baseline(false),
        load: 1.0,
        size: MessageSize::Fixed(4),
        arrival: Arrival::Bernoulli,
        pattern: 0,
        seed: 1,
    }
}

/// Network interfaces in which each destination has a queue, as most protocols need it.
pub fn queued(nic: NicSpec) -> NicSpec {
    let queues = if nic.queues == SourceQueues::Fifo { SourceQueues::PerDestination } else { nic.queues };
    NicSpec { queues, ..nic }
}
