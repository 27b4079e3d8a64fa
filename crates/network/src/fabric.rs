//! What all regions of a network share and nothing changes.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_engine::Tick;
use tailback_protocol::{
    Clock, Control, Direction, Hooks, InjectionTime, KindDeclaration, Moment, PacketKind, PathUse, Protocol,
    RecordedPath, Routes, Station,
};
use tailback_routing::reverse::ReverseChannels;
use tailback_routing::{ChannelKind, Interests, PortVc, Routing, Step};
use tailback_topology::{Locator, NodeId, Peer, RouterId, Topology, nodes_of_first_router};
use tailback_workload::Workload;

use crate::declarations::{Declarations, Timeout, Watched};
use crate::payload::Added;
use crate::rules::Rules;
use tailback_hardware::{ClassSpec, CrossbarPorts, Delivery, NetworkSpec, QueuePer};

/// A network without its state.
#[derive(Debug)]
pub struct Fabric {
    pub(crate) spec: NetworkSpec,
    pub(crate) topology: Arc<dyn Topology>,
    /// By node: its address. Each packet gets one, and divisions take longer than a look.
    locators: Vec<Locator>,
    /// The routing of each traffic class.
    pub(crate) routings: Vec<Arc<dyn Routing>>,
    pub(crate) workload: Workload,
    pub(crate) seed: u64,
    pub(crate) protocol: Arc<dyn Protocol>,
    pub(crate) hooks: Hooks,
    /// Whether anything is added to data packets that leave: payload, entropy values, numbers of their order, or words of programs.
    pub(crate) completes_packets: bool,
    /// Whether some messages are of programs.
    pub(crate) has_programs: bool,
    /// By kind of packet: what the protocol declares of it.
    pub(crate) kinds: Vec<KindDeclaration>,
    /// By moment, then by kind: where switches are asked about packets.
    watches: Vec<Watched>,
    /// The traffic classes, those that go first first.
    pub(crate) by_priority: Vec<u8>,
    /// By traffic class: how long its packets may wait before they are dropped.
    queueing_timeouts: Vec<Option<Timeout>>,
    pub(crate) shape: Shape,
    pub(crate) rules: Rules,
    /// The traffic class of each virtual channel: by link class, then by virtual channel.
    class_of_vc: Vec<u8>,
    /// By traffic class: the virtual channels of packets that take recorded paths, if any do.
    reverse_channels: Vec<Option<ReverseChannels>>,
    /// By traffic class, then by link class: the first virtual channel.
    first_vcs: Vec<u8>,
    /// By link class, then by virtual channel: the set of those of a higher priority.
    higher_vcs: Vec<u32>,
    /// By traffic class: the moves that its routing has named. Only where they are checked.
    named_moves: Vec<BTreeSet<(ChannelKind, ChannelKind)>>,
}

/// How the state of a router is laid out, the same for all routers of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Ports of the largest router, with its internal one.
    pub ports: usize,
    /// Words of a set of ports.
    pub words: usize,
    /// Virtual channels in use per port, the most of any link class.
    pub vcs: usize,
    /// Queues per virtual channel: one, one per output, or one per node.
    pub voqs: usize,
    /// Crossbar connections per port on the input side: one, or one per channel.
    pub inputs: usize,
    /// Crossbar connections per port on the output side: one, or one per channel.
    pub outputs: usize,
    /// Output queues per port.
    pub output_queues: usize,
}

impl Fabric {
    pub(crate) fn new(
        spec: NetworkSpec,
        topology: Arc<dyn Topology>,
        routings: Vec<Arc<dyn Routing>>,
        workload: Workload,
        seed: u64,
        protocol: Arc<dyn Protocol>,
        measured: &Range<Tick>,
    ) -> Self {
        let declarations = Declarations::of(protocol.as_ref());
        let shape = Shape::of(&spec, topology.as_ref(), &declarations);
        let mut class_of_vc = vec![0; spec.links.len() * shape.vcs];
        for link_class in 0..spec.links.len() {
            for (number, class) in spec.classes.iter().enumerate() {
                class_of_vc[link_class * shape.vcs..][class.channels(link_class)].fill(number as u8);
            }
        }
        assert!(spec.classes[0].first_vc.iter().all(|&vc| vc == 0), "the channels of the first class come first");
        let first_vcs = spec.classes.iter().flat_map(|class| class.first_vc.iter().copied()).collect();
        let higher_vcs = higher_vcs(&spec, shape.vcs);
        let rules = Rules::of(&spec, &routings, &shape, &declarations, measured);
        let reachable = !declarations.needs.sends || topology.routers_reach_all_nodes();
        assert!(reachable, "routers send packets to nodes that these cannot reach");
        let mut by_priority: Vec<u8> = (0..spec.classes.len() as u8).collect();
        by_priority.sort_by_key(|&class| u8::MAX - spec.classes[usize::from(class)].priority);
        let watches = declarations.table(topology.link_classes());
        let Declarations { mut hooks, kinds, queueing_timeouts, .. } = declarations;
        if spec.nic.delivery == Delivery::InOrder {
            hooks.resequencing.get_or_insert(u32::MAX);
        }
        let locators = (0..topology.nodes()).map(|node| topology.locator(node)).collect();
        let numbers = hooks.resequencing.is_some();
        let has_programs = workload.jobs().next().is_some();
        let completes_packets = hooks.entropy || numbers || has_programs || payload_words(&kinds) > 0;
        let reverse_channels = reverse_channels(&kinds, &routings);
        let named = |routing: &Arc<dyn Routing>| routing.moves().into_iter().chain(routing.opportunities()).collect();
        let named_moves = if cfg!(debug_assertions) { routings.iter().map(named).collect() } else { Vec::new() };
        Self {
            spec,
            topology,
            locators,
            routings,
            workload,
            seed,
            protocol,
            hooks,
            completes_packets,
            has_programs,
            kinds,
            watches,
            by_priority,
            queueing_timeouts,
            shape,
            rules,
            class_of_vc,
            reverse_channels,
            first_vcs,
            higher_vcs,
            named_moves,
        }
    }

    /// The address of a node.
    #[inline]
    pub(crate) fn locator(&self, node: NodeId) -> Locator {
        self.locators[node as usize]
    }

    /// The output queue that a virtual channel of a link class leads through.
    #[inline]
    pub(crate) fn output_queue(&self, link_class: u8, vc: u8) -> usize {
        match self.spec.router.output_queues.per {
            QueuePer::Port => 0,
            QueuePer::Class => self.class_of(link_class, vc).into(),
            QueuePer::Channel => vc.into(),
        }
    }

    /// The traffic class that a virtual channel of a link class belongs to.
    #[inline]
    pub(crate) fn class_of(&self, link_class: u8, vc: u8) -> u8 {
        if self.spec.classes.len() == 1 {
            return 0; // as in most networks
        }
        self.class_of_vc[usize::from(link_class) * self.shape.vcs + usize::from(vc)]
    }

    /// The first virtual channel of a traffic class on links of a class, counted through all classes.
    #[inline]
    pub(crate) fn first_vc(&self, class: u8, link_class: u8) -> u8 {
        if class == 0 {
            return 0; // the channels of the first class come first
        }
        self.first_vcs[usize::from(class) * self.spec.links.len() + usize::from(link_class)]
    }

    /// The set of the virtual channels of a link class with a higher priority than this one.
    #[inline]
    pub(crate) fn higher_vcs(&self, link_class: u8, vc: u8) -> u32 {
        self.higher_vcs[usize::from(link_class) * self.shape.vcs + usize::from(vc)]
    }

    /// Flits of the input buffer of a virtual channel that a link of this class feeds; 0 if it is not in use.
    #[inline]
    pub(crate) fn capacity(&self, link_class: u8, vc: usize) -> u16 {
        let link_class = usize::from(link_class);
        let in_use = |class: &ClassSpec| class.channels(link_class).contains(&vc);
        if self.spec.classes.iter().any(in_use) { self.spec.input_buffers[link_class] } else { 0 }
    }

    /// Checks that routing has named a step, which the proof of its freedom from deadlock covers then. `router` is that of
    /// the network.
    pub(crate) fn assert_named(&self, router: RouterId, class: u8, entry: PortVc, step: &Step) {
        let topology = self.topology.as_ref();
        let Peer::Router { router: before, port } = topology.feeder(router, entry.port) else { return };
        let Peer::Router { .. } = topology.peer(router, step.port) else { return };
        let from = ChannelKind { class: topology.channel_class(before, port), vc: entry.vc };
        for vc in step.vc..step.vc + step.vcs {
            let to = ChannelKind { class: topology.channel_class(router, step.port), vc };
            let named = self.named_moves[usize::from(class)].contains(&(from, to));
            assert!(named, "routing goes from {from:?} to {to:?} in router {router}, and has not named that");
        }
    }

    /// What the agents of the data class want to know. Those of other classes are of the same algorithm, or of one that wants to know nothing.
    pub(crate) fn interests(&self) -> Interests {
        self.routings[0].interests()
    }

    /// How long packets of a class may wait before they are dropped, if there is an end to it.
    #[inline]
    pub(crate) fn queueing_timeout(&self, class: u8) -> Option<Timeout> {
        self.queueing_timeouts[usize::from(class)]
    }

    /// What packets of a kind carry, and to whom.
    #[inline]
    pub(crate) fn direction(&self, kind: PacketKind) -> Direction {
        // Nearly all packets are of this kind.
        if kind == PacketKind::DATA { Direction::Data } else { self.kinds[kind.index()].direction }
    }

    /// The words of payload of the kind that has most.
    pub(crate) fn payload_words(&self) -> usize {
        payload_words(&self.kinds)
    }

    /// What travels with data beside that.
    pub(crate) fn added_payload(&self) -> Added {
        let places = self.workload.jobs().any(|(_, job)| job.shares_nodes());
        Added { number: self.hooks.resequencing.is_some(), message_word: self.has_programs, places }
    }

    /// The virtual channel that a packet on a recorded path takes next: of a class of channels, where it holds another one or has
    /// just started.
    pub(crate) fn reverse_vc(&self, class: u8, held: Option<ChannelKind>, next: u8) -> u8 {
        let channels = self.reverse_channels[usize::from(class)].as_ref().expect("its class takes recorded paths");
        channels.next(held, next).expect("paths can be taken in reverse")
    }

    /// Where switches are asked about packets of a kind at a moment.
    #[inline]
    pub(crate) fn watched(&self, moment: Moment, kind: PacketKind) -> Watched {
        self.watches[moment as usize * self.kinds.len() + kind.index()]
    }

    /// How ticks are told to people.
    pub(crate) fn clock(&self) -> Clock {
        Clock { ticks_per_cycle: self.spec.ticks_per_cycle }
    }

    /// What a control packet says, for people.
    pub(crate) fn describe(&self, control: &Control) -> String {
        self.protocol.describe_control(control, &self.station(), self.clock())
    }

    /// What the parts of a protocol are told about where they are.
    pub(crate) fn station(&self) -> Station {
        let (spec, topology) = (&self.spec, self.topology.as_ref());
        Station {
            flit_ticks: spec.line_flit_ticks().into(),
            injection: InjectionTime { flit_ticks: spec.injection_flit_ticks(), least_ticks: spec.ticks_per_cycle },
            packet_flits_max: spec.packet_flits_max,
            ports: self.shape.ports as u32,
            routers: topology.routers(),
            nodes_per_router: nodes_of_first_router(topology),
            nodes: topology.nodes(),
            routes: Routes { count: spec.routes(), in_step: spec.routes_in_step() },
        }
    }
}

/// The words of payload, paths among them, of the kind that has most.
fn payload_words(kinds: &[KindDeclaration]) -> usize {
    let path = |kind: &KindDeclaration| if kind.path == PathUse::None { 0 } else { RecordedPath::WORDS };
    kinds.iter().map(|kind| usize::from(kind.payload_words) + path(kind)).max().unwrap_or(0)
}

/// By traffic class: the virtual channels of packets that take recorded paths, if any do.
fn reverse_channels(kinds: &[KindDeclaration], routings: &[Arc<dyn Routing>]) -> Vec<Option<ReverseChannels>> {
    let of = |class: u8| routings[usize::from(class)].as_ref();
    let mut channels = vec![None; routings.len()];
    for back in kinds.iter().filter(|kind| kind.path == PathUse::Follows) {
        for forth in kinds.iter().filter(|kind| kind.path == PathUse::Records) {
            let found = ReverseChannels::new(of(forth.class), of(back.class), RecordedPath::ROUTERS_MAX);
            // They are those of the way back, whichever kind is answered.
            channels[usize::from(back.class)] = Some(found.expect("scenarios are checked before they get here"));
        }
    }
    channels
}

/// By link class, then by virtual channel: the set of those of a higher priority.
fn higher_vcs(spec: &NetworkSpec, vcs: usize) -> Vec<u32> {
    let mut higher = vec![0; spec.links.len() * vcs];
    for link_class in 0..spec.links.len() {
        let set = |class: &ClassSpec| class.channels(link_class).fold(0, |set: u32, vc| set | 1 << vc);
        for class in &spec.classes {
            let above = spec.classes.iter().filter(|other| other.priority > class.priority);
            higher[link_class * vcs..][class.channels(link_class)].fill(above.map(set).fold(0, |all, set| all | set));
        }
    }
    higher
}

impl Shape {
    pub(crate) fn of(spec: &NetworkSpec, topology: &dyn Topology, declarations: &Declarations) -> Self {
        let ports = topology.radix() as usize + usize::from(declarations.has_internal_port());
        let vcs = spec.vcs();
        let connections = |kind| match kind {
            CrossbarPorts::PerPort => 1,
            CrossbarPorts::PerChannel => vcs,
        };
        let output_queues = match spec.router.output_queues.per {
            QueuePer::Port => 1,
            QueuePer::Class => spec.classes.len(),
            QueuePer::Channel => vcs,
        };
        Self {
            ports,
            words: ports.div_ceil(64),
            vcs,
            voqs: match (spec.router.virtual_output_queues, spec.router.destination_queue) {
                (true, _) => ports,
                (_, Some(_)) => topology.nodes() as usize,
                _ => 1,
            },
            inputs: connections(spec.router.crossbar_inputs),
            outputs: connections(spec.router.crossbar_outputs),
            output_queues,
        }
    }
}
