//! What all regions of a network share and nothing changes.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_engine::Tick;
use tailback_protocol::{
    Direction, Hooks, KindDeclaration, Moment, PacketKind, Ports, Protocol, Station, SwitchNeeds, Watch,
};
use tailback_routing::{ChannelKind, Interests, Lane, Routing, Step};
use tailback_topology::{Peer, RouterId, Topology};
use tailback_workload::Workload;

use crate::time::Time;
use tailback_hardware::{
    AllocationOrder, Arbiter, ClassSpec, CreditCheck, CrossbarPorts, Ejection, InputServed, InputTurns, LinkArbiter,
    NetworkSpec, QueuePer, Release, RouterSpec,
};

/// A network without its state.
#[derive(Debug)]
pub struct Fabric {
    pub(crate) spec: NetworkSpec,
    pub(crate) topology: Arc<dyn Topology>,
    /// The routing of each traffic class.
    pub(crate) routings: Vec<Arc<dyn Routing>>,
    pub(crate) workload: Workload,
    pub(crate) seed: u64,
    pub(crate) protocol: Arc<dyn Protocol>,
    pub(crate) hooks: Hooks,
    /// By kind of packet: what the protocol declares of it.
    pub(crate) kinds: Vec<KindDeclaration>,
    /// By moment, then by kind: where switches are asked about packets.
    watches: Vec<Option<Ports>>,
    /// The traffic classes, those that go first first.
    pub(crate) by_priority: Vec<u8>,
    /// By traffic class: ticks that its packets may wait in input buffers before they are dropped.
    queueing_timeouts: Vec<Option<Time>>,
    pub(crate) shape: Shape,
    pub(crate) rules: Rules,
    /// The traffic class of each virtual channel: by link class, then by virtual channel.
    class_of_vc: Vec<u8>,
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
    /// Queues per virtual channel: one, or one per output.
    pub voqs: usize,
    /// Crossbar connections per port on the input side: one, or one per channel.
    pub inputs: usize,
    /// Crossbar connections per port on the output side: one, or one per channel.
    pub outputs: usize,
    /// Output queues per port.
    pub output_queues: usize,
    /// Packets that an output queue can hold; 0 where it has no bound.
    pub departures: usize,
}

/// What routers look up at each step, in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    pub head_delay: Time,
    pub crossbar_delay: Time,
    /// Ticks per link cycle, and from one allocation to the next, less one: both are powers of two.
    link_mask: Time,
    allocation_mask: Time,
    pub packet_flits_max: u16,
    pub iterations: u32,
    pub transit_first: bool,
    pub input_arbiter: Arbiter,
    pub output_arbiter: Arbiter,
    /// Whether inputs that go round take turns among outputs, not queues.
    pub turns_by_output: bool,
    /// Whether inputs count a queue as served when it asks, granted or not.
    pub served_when_asked: bool,
    /// Whether packets cross to a node only while it receives nothing.
    pub ejects_when_idle: bool,
    /// How many virtual channels at least will do for a packet that leaves for its node.
    pub ejection_vcs: u8,
    /// Whether credits are claimed before packets cross.
    pub claims_first: bool,
    /// Whether ports have one output queue, whose packets have taken their credits, and nothing else uses links or looks at
    /// what waits for them: then the time at which a packet departs is known when it crosses.
    pub departs_at_once: bool,
    /// Whether a packet that finds its output port idle is sent off as it crosses, where not all are: nothing else uses links or
    /// depends on when exactly somebody hears of a start.
    pub departs_if_alone: bool,
    /// Set of the traffic classes that nothing goes before on a link that comes later.
    never_overtaken: u32,
    /// Whether output queues have a bound.
    pub bounded: bool,
    /// Whether departing packets make room only when they are gone.
    pub releases_late: bool,
    /// Whether packets need a virtual channel of their own before they cross.
    pub vc_allocation: bool,
    /// Whether outputs choose before inputs do.
    pub outputs_first: bool,
    /// Whether an input offers the first packet by turns that could cross, of the highest priority, and need not look at
    /// those after it.
    pub inputs_take_turns: bool,
    /// Whether all traffic classes have the same priority.
    pub one_priority: bool,
    /// Set of the traffic classes whose routing decides anew at each attempt.
    revising: u32,
    /// Whether packets are routed when they arrive, not when they are heads.
    pub routes_on_arrival: bool,
    /// Whether routing agents are told of heads.
    pub tells_heads: bool,
    /// Set of the link classes of the outputs at which something has to change for routing agents to look around.
    looked_at: u32,
    /// Whether routing agents ask what waits for links.
    pub measures_queues: bool,
    /// Whether routers have an internal port, by which they send control packets of the protocol.
    pub has_internal_port: bool,
    /// Whether the protocol is asked about packets that arrive, that request the crossbar or expire, and that cross.
    pub watches_arrivals: bool,
    pub watches_heads: bool,
    pub watches_crossings: bool,
    /// Whether packets expire.
    pub times_out: bool,
    /// Whether it is counted what waits for nodes, and what input buffers hold.
    pub counts_for_nodes: bool,
    pub counts_inputs: bool,
    /// When flits are counted that links send.
    measured_from: Time,
    measured_until: Time,
}

/// What the network has to know of a protocol.
pub(crate) struct Traits {
    hooks: Hooks,
    kinds: Vec<KindDeclaration>,
    watches: Vec<Watch>,
    needs: SwitchNeeds,
    queueing_timeouts: Vec<Option<Time>>,
}

impl Traits {
    pub(crate) fn of(protocol: &dyn Protocol) -> Self {
        let timeout = |ticks: u64| Time::try_from(ticks).unwrap_or(Time::MAX);
        let (hooks, kinds, watches) = (protocol.hooks(), protocol.kinds(), protocol.watches());
        let queueing_timeouts = protocol.classes().iter().map(|class| class.queueing_timeout.map(timeout)).collect();
        Self { hooks, kinds, watches, needs: protocol.switch_needs(), queueing_timeouts }
    }

    fn watches(&self, moment: Moment) -> bool {
        self.watches.iter().any(|watch| watch.moment == moment)
    }

    /// Whether routers may drop packets.
    fn is_lossy(&self) -> bool {
        self.kinds.iter().any(|kind| kind.direction == Direction::LossyData)
    }

    /// Whether the heads of queues are asked about at each allocation.
    fn watches_heads(&self) -> bool {
        self.watches(Moment::Requests) || self.watches(Moment::Expires)
    }

    /// By moment, then by kind: where switches are asked.
    fn table(&self) -> Vec<Option<Ports>> {
        let mut table = vec![None; MOMENTS * self.kinds.len()];
        for watch in &self.watches {
            let entry = &mut table[watch.moment as usize * self.kinds.len() + watch.kind.index()];
            *entry = (*entry).max(Some(watch.ports));
        }
        table
    }
}

/// How many moments there are.
const MOMENTS: usize = Moment::Expires as usize + 1;

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
        let traits = Traits::of(protocol.as_ref());
        let shape = Shape::of(&spec, topology.as_ref(), &traits);
        let mut class_of_vc = vec![0; spec.links.len() * shape.vcs];
        for link_class in 0..spec.links.len() {
            for (number, class) in spec.classes.iter().enumerate() {
                class_of_vc[link_class * shape.vcs..][class.channels(link_class)].fill(number as u8);
            }
        }
        assert!(spec.classes[0].first_vc.iter().all(|&vc| vc == 0), "the channels of the first class come first");
        let first_vcs = spec.classes.iter().flat_map(|class| class.first_vc.iter().copied()).collect();
        let higher_vcs = higher_vcs(&spec, shape.vcs);
        let rules = Rules::of(&spec, &routings, &shape, &traits, measured);
        let reachable = !traits.needs.sends || topology.routers_reach_all_nodes();
        assert!(reachable, "routers send packets to nodes that these cannot reach");
        let mut by_priority: Vec<u8> = (0..spec.classes.len() as u8).collect();
        by_priority.sort_by_key(|&class| u8::MAX - spec.classes[usize::from(class)].priority);
        let watches = traits.table();
        let Traits { hooks, kinds, queueing_timeouts, .. } = traits;
        let named = |routing: &Arc<dyn Routing>| routing.moves().into_iter().chain(routing.opportunities()).collect();
        let named_moves = if cfg!(debug_assertions) { routings.iter().map(named).collect() } else { Vec::new() };
        Self {
            spec,
            topology,
            routings,
            workload,
            seed,
            protocol,
            hooks,
            kinds,
            watches,
            by_priority,
            queueing_timeouts,
            shape,
            rules,
            class_of_vc,
            first_vcs,
            higher_vcs,
            named_moves,
        }
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
    pub(crate) fn capacity(&self, link_class: u8, vc: usize) -> u16 {
        let link_class = usize::from(link_class);
        let in_use = |class: &ClassSpec| class.channels(link_class).contains(&vc);
        if self.spec.classes.iter().any(in_use) { self.spec.input_buffers[link_class] } else { 0 }
    }

    /// Checks that routing has named a step, which the proof of its freedom from deadlock covers then. `router` is that of
    /// the network.
    pub(crate) fn assert_named(&self, router: RouterId, class: u8, entry: Lane, step: &Step) {
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

    /// What the agents of the data class want to know; those of other classes are of the same algorithm.
    pub(crate) fn interests(&self) -> Interests {
        self.routings[0].interests()
    }

    /// How long packets of a class may wait in input buffers before they are dropped, if there is an end to it.
    #[inline]
    pub(crate) fn queueing_timeout(&self, class: u8) -> Option<Time> {
        self.queueing_timeouts[usize::from(class)]
    }

    /// What packets of a kind carry, and to whom.
    #[inline]
    pub(crate) fn direction(&self, kind: PacketKind) -> Direction {
        self.kinds[kind.index()].direction
    }

    /// The words of payload of the kind that has most.
    pub(crate) fn payload_words(&self) -> usize {
        self.kinds.iter().map(|kind| kind.payload_words.into()).max().unwrap_or(0)
    }

    /// Where switches are asked about packets of a kind at a moment, if anywhere.
    #[inline]
    pub(crate) fn watched(&self, moment: Moment, kind: PacketKind) -> Option<Ports> {
        self.watches[moment as usize * self.kinds.len() + kind.index()]
    }

    /// What the parts of a protocol are told about where they are.
    pub(crate) fn station(&self) -> Station {
        Station {
            flit_ticks: self.spec.links[0].flit_ticks.into(),
            packet_flits_max: self.spec.packet_flits_max,
            ports: self.shape.ports as u32,
        }
    }
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

/// The set of the traffic classes that nothing goes before on a link that comes later: where the oldest packet goes first, those
/// of the highest priority.
fn never_overtaken(spec: &NetworkSpec) -> u32 {
    let highest = spec.classes.iter().map(|class| class.priority).max();
    let is_first = |class: &ClassSpec| {
        spec.router.output_queues.link_arbiter == LinkArbiter::Oldest && Some(class.priority) == highest
    };
    (0..).zip(&spec.classes).map(|(number, class)| u32::from(is_first(class)) << number).sum()
}

/// A tick, or the end of time if it is beyond that.
fn limit(tick: Tick) -> Time {
    Time::try_from(tick).unwrap_or(Time::MAX)
}

impl Rules {
    pub(crate) fn of(
        spec: &NetworkSpec,
        routings: &[Arc<dyn Routing>],
        shape: &Shape,
        traits: &Traits,
        measured: &Range<Tick>,
    ) -> Self {
        let RouterSpec { head_delay, crossbar_delay, allocation_period, iterations, .. } = spec.router;
        let router = &spec.router;
        let claims_first = router.credits == CreditCheck::Crossbar;
        let input_first = router.order == AllocationOrder::InputFirst;
        let by_turns = router.input_arbiter == Arbiter::RoundRobin && router.input_turns == InputTurns::Queues;
        let offers_one = input_first && shape.inputs == 1 && router.input_served == InputServed::Granted;
        let one_priority = spec.classes.iter().all(|class| class.priority == spec.classes[0].priority);
        // Heads that may be dropped are asked about at each allocation, those that seek a channel ask for it, and those of
        // a lower priority are routed.
        let settled =
            !router.vc_allocation && !traits.watches_heads() && (one_priority || router.virtual_output_queues);
        let inputs_take_turns = offers_one && by_turns && settled;
        let measures_queues = routings.iter().any(|routing| routing.interests().queues);
        let occupies_links = routings.iter().any(|routing| routing.interests().broadcast_flits > 0);
        let counts_for_nodes = traits.needs.waiting_for_nodes;
        let ejects_when_idle = router.ejection == Ejection::Idle;
        let in_order = claims_first && shape.output_queues == 1;
        let looks = counts_for_nodes || traits.needs.output_queues;
        let departs_at_once = in_order && !(measures_queues || occupies_links || looks || ejects_when_idle);
        let releases_late = router.output_queues.release == Release::End;
        // What is measured leaves a queue when it starts, not when it makes room.
        let departs_if_alone = claims_first
            && crossbar_delay > 0
            && shape.outputs == 1
            && !(departs_at_once || occupies_links || looks || ejects_when_idle || traits.is_lossy())
            && !(measures_queues && releases_late);
        Self {
            head_delay,
            crossbar_delay,
            link_mask: spec.ticks_per_cycle - 1,
            allocation_mask: allocation_period - 1,
            packet_flits_max: spec.packet_flits_max,
            iterations,
            transit_first: router.transit_first,
            input_arbiter: router.input_arbiter,
            output_arbiter: router.output_arbiter,
            turns_by_output: router.input_turns == InputTurns::Outputs,
            served_when_asked: router.input_served == InputServed::Asked,
            ejects_when_idle,
            ejection_vcs: router.ejection_vcs,
            claims_first,
            departs_at_once,
            departs_if_alone,
            never_overtaken: never_overtaken(spec),
            bounded: router.output_queues.flits.is_some(),
            releases_late,
            vc_allocation: router.vc_allocation,
            outputs_first: router.order == AllocationOrder::OutputFirst,
            inputs_take_turns,
            one_priority,
            revising: (0..).zip(routings).map(|(class, routing)| u32::from(routing.revises()) << class).sum(),
            routes_on_arrival: router.virtual_output_queues,
            tells_heads: routings.iter().any(|routing| routing.interests().heads),
            looked_at: routings
                .iter()
                .map(|routing| routing.interests().changes.link_classes())
                .fold(0, |all, set| all | set),
            measures_queues,
            has_internal_port: traits.needs.sends,
            watches_arrivals: traits.watches(Moment::Arrives),
            watches_heads: traits.watches_heads(),
            watches_crossings: traits.watches(Moment::Crosses),
            times_out: traits.queueing_timeouts.iter().any(Option::is_some),
            counts_for_nodes,
            counts_inputs: traits.needs.input_buffers,
            measured_from: limit(measured.start),
            measured_until: limit(measured.end),
        }
    }

    /// The flits among those of a packet that a link sends while it is measured; the first leaves at `start`, the last at
    /// `last`, the others are spread evenly.
    #[inline]
    pub fn measured_flits(&self, flits: u16, start: Time, last: Time) -> u16 {
        if start >= self.measured_from && last < self.measured_until {
            return flits;
        }
        self.flits_before(self.measured_until, flits, start, last)
            - self.flits_before(self.measured_from, flits, start, last)
    }

    /// Those that leave before `time`.
    #[cold]
    fn flits_before(&self, time: Time, flits: u16, start: Time, last: Time) -> u16 {
        let (time, start, last) = (u64::from(time), u64::from(start), u64::from(last));
        let leaves = |flit: u16| start + (last - start) * u64::from(flit) / u64::from(flits - 1).max(1);
        (0..flits).take_while(|&flit| leaves(flit) < time).count() as u16
    }

    /// Whether packets of a class decide anew where to go at each attempt, unless they have settled.
    #[inline]
    pub fn revises(&self, class: u8) -> bool {
        self.revising & 1 << class != 0
    }

    /// Whether nothing goes before packets of a class on a link that comes later.
    #[inline]
    pub fn is_never_overtaken(&self, class: u8) -> bool {
        self.never_overtaken & 1 << class != 0
    }

    /// Whether routing agents look around when something changes at an output with a link of this class.
    #[inline]
    pub fn looks_at(&self, link_class: u8) -> bool {
        self.looked_at & 1 << link_class != 0
    }

    /// The first time at or after `time` at which links may start.
    #[inline]
    pub fn link_time(&self, time: Time) -> Time {
        (time + self.link_mask) & !self.link_mask
    }

    /// The first time at or after `time` at which routers allocate.
    #[inline]
    pub fn allocation_time(&self, time: Time) -> Time {
        (time + self.allocation_mask) & !self.allocation_mask
    }

    /// The arbiter that serves queues by turns, on both sides, when they are granted.
    pub fn serves_by_turns(&self) -> bool {
        let round_robin = (self.input_arbiter, self.output_arbiter) == (Arbiter::RoundRobin, Arbiter::RoundRobin);
        round_robin && !self.turns_by_output && !self.served_when_asked
    }
}

impl Shape {
    pub(crate) fn of(spec: &NetworkSpec, topology: &dyn Topology, traits: &Traits) -> Self {
        let ports = topology.radix() as usize + usize::from(traits.needs.sends);
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
        let smallest = if spec.classes.len() > 1 { 1 } else { spec.packet_flits_min };
        let packets = spec.router.output_queues.flits.map(|flits| (flits / u32::from(smallest)) as usize);
        Self {
            ports,
            words: ports.div_ceil(64),
            vcs,
            voqs: if spec.router.virtual_output_queues { ports } else { 1 },
            inputs: connections(spec.router.crossbar_inputs),
            outputs: connections(spec.router.crossbar_outputs),
            output_queues,
            departures: packets.map_or(0, usize::next_power_of_two),
        }
    }
}
