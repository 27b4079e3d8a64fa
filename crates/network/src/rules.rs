//! What routers look up at each step: what follows from the description of a network, and nothing changes.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_engine::Tick;
use tailback_hardware::{
    AllocationOrder, Arbiter, ClassSpec, CreditCheck, Ejection, InputServed, InputTurns, LinkArbiter, NetworkSpec,
    OutputHeld, OutputQueueSpec, Release, RouterSpec, TurnsMove,
};
use tailback_protocol::{Moment, WaitsUntil};
use tailback_routing::Routing;

use crate::declarations::Declarations;
use crate::fabric::Shape;
use crate::measured_span::MeasuredSpan;
use crate::router::can_be_known;
use crate::time::Time;

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
    /// Whether nodes pause the links that lead to them.
    pub nodes_pause: bool,
    /// How many virtual channels at least will do for a packet that leaves for its node.
    pub ejection_vcs: u8,
    /// Whether credits are claimed before packets cross.
    pub claims_first: bool,
    /// Ticks between two credits that an input returns, at least: 0 where they need not wait for each other.
    pub credit_interval: Time,
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
    /// Whether an output is free for the next packet when one would have crossed all of whose flits are there.
    pub frees_outputs_early: bool,
    /// Whether packets need a virtual channel of their own before they cross.
    pub vc_allocation: bool,
    /// Whether outputs choose before inputs do.
    pub outputs_first: bool,
    /// Whether arbiters keep their turns in all rounds of an allocation but the first.
    pub first_round_turns: bool,
    /// Whether an input offers the first packet by turns that could cross, of the highest priority, and need not look at
    /// those after it.
    pub inputs_take_turns: bool,
    /// Whether an output, which chooses first, takes the inputs that ask for it by turns, and need not look at those behind the first that could
    /// cross.
    pub outputs_take_turns: bool,
    /// Flits of control packets that a link sends while data packets could leave, before one of these goes first.
    pub control_limit: Option<u32>,
    /// Whether of the heads that sleep at an output only the next is woken, because nothing but the output chooses among them.
    pub wakes_next: bool,
    /// Whether the output chooses among them by turns alone, and none decides anew.
    pub wakes_in_turn: bool,
    /// Whether of the heads that sleep at an output those alone are woken that could leave, where each node has a queue.
    pub wakes_able: bool,
    /// Whether all traffic classes have the same priority.
    pub one_priority: bool,
    /// Set of the traffic classes whose routing decides anew at each attempt.
    revising: u32,
    /// Set of the traffic classes whose routing looks at nothing.
    oblivious: u32,
    /// Whether packets are routed when they arrive, not when they are heads.
    pub routes_on_arrival: bool,
    /// Flits that input buffers hold for each node, where they have a queue for each; otherwise none.
    pub destination_queue: Option<u16>,
    /// Whether heads can keep decisions until their port is named.
    pub keeps_decisions: bool,
    /// Whether routing agents are told of heads.
    pub tells_heads: bool,
    /// Whether they are told too when these start to cross.
    pub tells_crossings: bool,
    /// Set of the link classes of the outputs at which something has to change for routing agents to look around.
    looked_at: u32,
    /// Whether routing agents ask what waits for links.
    pub measures_queues: bool,
    /// Whether routers have an internal port, by which packets come in that the protocol sends there, or has trimmed.
    pub has_internal_port: bool,
    /// Whether the paths of requests are recorded, and answers take them in reverse.
    pub records_paths: bool,
    /// Whether the protocol is asked about packets that arrive, that request the crossbar or expire, and that cross.
    pub watches_arrivals: bool,
    pub watches_heads: bool,
    pub watches_crossings: bool,
    /// Whether packets expire, and whether waiting in output queues counts towards that.
    pub times_out: bool,
    pub counts_in_output_queues: bool,
    /// Until when what waits for nodes is counted, if it is, and whether it is counted what input buffers hold.
    pub counts_for_nodes: Option<WaitsUntil>,
    /// Whether it is counted what links have sent.
    pub counts_sent: bool,
    pub counts_inputs: bool,
    /// When flits are counted that links send.
    pub measured: MeasuredSpan,
}

impl Rules {
    pub(crate) fn of(
        spec: &NetworkSpec,
        routings: &[Arc<dyn Routing>],
        shape: &Shape,
        declarations: &Declarations,
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
            !router.vc_allocation && !declarations.watches_heads() && (one_priority || router.virtual_output_queues);
        let first_round_turns = router.turns_move == TurnsMove::FirstRound && iterations > 1;
        let inputs_take_turns = offers_one && by_turns && settled && !first_round_turns;
        let tells_heads = routings.iter().any(|routing| routing.interests().heads);
        let times_out = declarations.queueing_timeouts.iter().any(Option::is_some);
        let counts_in_output_queues =
            declarations.queueing_timeouts.iter().flatten().any(|timeout| timeout.in_output_queues);
        let ejects_when_idle = router.ejection == Ejection::Idle;
        // Credits that wait for each other do so in the order in which packets cross in a tick, which depends on who is awake.
        let knows_sleepers = router.credit_interval == 0
            && (shape.inputs > 1 && (shape.outputs, shape.words) == (1, 1))
            && input_first
            && !(router.vc_allocation || first_round_turns || ejects_when_idle)
            && !(tells_heads || times_out || declarations.watches_heads());
        let wakes_next = knows_sleepers && shape.voqs == 1;
        let wakes_able = knows_sleepers && router.destination_queue.is_some();
        let classes = |is_so: fn(&dyn Routing) -> bool| {
            (0..).zip(routings).map(|(class, routing)| u32::from(is_so(routing.as_ref())) << class).sum::<u32>()
        };
        let revising = classes(|routing| routing.revises());
        let wakes_in_turn = wakes_next
            && router.output_arbiter == Arbiter::RoundRobin
            && one_priority
            && !router.transit_first
            && revising == 0;
        // Packets go by turns alone, all heads are routed, and nothing depends on who is awake.
        let outputs_take_turns = !input_first
            && router.output_arbiter == Arbiter::RoundRobin
            && router.virtual_output_queues
            && (shape.inputs, shape.outputs, shape.words) == (1, 1, 1)
            && router.credit_interval == 0
            && one_priority
            && settled
            && !(router.transit_first || ejects_when_idle || times_out);
        let measures_queues = routings.iter().any(|routing| routing.interests().queues);
        let occupies_links = routings.iter().any(|routing| routing.interests().broadcast_flits > 0);
        let counts_for_nodes = declarations.needs.waiting_for_nodes;
        let in_order = claims_first && shape.output_queues == 1;
        let looks = counts_for_nodes.is_some() || declarations.needs.output_queues || declarations.needs.flits_sent;
        let departs_at_once = in_order
            && can_be_known(spec, shape, measured.end)
            && !(measures_queues || occupies_links || looks || ejects_when_idle || counts_in_output_queues);
        let releases_late = router.output_queues.release == Release::End;
        // What is measured leaves a queue when it starts, not when it makes room.
        let departs_if_alone = claims_first
            && crossbar_delay > 0
            && shape.outputs == 1
            && !(departs_at_once || occupies_links || looks || ejects_when_idle || declarations.is_lossy())
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
            nodes_pause: spec.nic.pause_flits.is_some(),
            ejection_vcs: router.ejection_vcs,
            claims_first,
            credit_interval: router.credit_interval,
            departs_at_once,
            departs_if_alone,
            never_overtaken: never_overtaken(spec),
            bounded: router.output_queues.flits.is_some(),
            releases_late,
            frees_outputs_early: router.output_held == OutputHeld::FullRate,
            vc_allocation: router.vc_allocation,
            outputs_first: router.order == AllocationOrder::OutputFirst,
            first_round_turns,
            inputs_take_turns,
            outputs_take_turns,
            control_limit: router.output_queues.control_limit,
            wakes_next,
            wakes_in_turn,
            wakes_able,
            one_priority,
            revising,
            oblivious: classes(|routing| routing.is_oblivious()),
            routes_on_arrival: router.virtual_output_queues,
            destination_queue: router.destination_queue,
            keeps_decisions: tells_heads
                && routings.iter().any(|routing| routing.revises())
                && !(router.virtual_output_queues || declarations.watches_heads()),
            tells_heads,
            tells_crossings: routings.iter().any(|routing| routing.interests().crossings),
            looked_at: routings
                .iter()
                .map(|routing| routing.interests().changes.link_classes())
                .fold(0, |all, set| all | set),
            measures_queues,
            has_internal_port: declarations.has_internal_port(),
            records_paths: declarations.records_paths(),
            watches_arrivals: declarations.watches(Moment::Arrives),
            watches_heads: declarations.watches_heads(),
            watches_crossings: declarations.watches(Moment::Crosses),
            times_out,
            counts_in_output_queues,
            counts_for_nodes,
            counts_sent: declarations.needs.flits_sent,
            counts_inputs: declarations.needs.input_buffers,
            measured: MeasuredSpan::new(measured),
        }
    }

    /// Whether the arrivals of a tick are handled in order: where packets draw as they arrive, or somebody acts on them.
    #[inline]
    pub fn orders_arrivals(&self) -> bool {
        self.routes_on_arrival || self.watches_arrivals || self.has_internal_port
    }

    /// Whether packets of a class decide anew where to go at each attempt, unless they have settled.
    #[inline]
    pub fn revises(&self, class: u8) -> bool {
        self.revising & 1 << class != 0
    }

    /// Whether the routing of a class looks at nothing.
    #[inline]
    pub fn is_oblivious(&self, class: u8) -> bool {
        self.oblivious & 1 << class != 0
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

    /// Whether they do for any class of links.
    #[inline]
    pub fn looks_at_any(&self) -> bool {
        self.looked_at != 0
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

    /// Whether queues are served by turns on both sides, which go on when one is granted.
    pub fn serves_by_turns(&self) -> bool {
        let round_robin = (self.input_arbiter, self.output_arbiter) == (Arbiter::RoundRobin, Arbiter::RoundRobin);
        round_robin && !self.turns_by_output && !self.served_when_asked
    }
}

/// The set of the traffic classes that nothing goes before on a link that comes later: where the oldest packet goes first, those
/// of the highest priority.
fn never_overtaken(spec: &NetworkSpec) -> u32 {
    let highest = spec.classes.iter().map(|class| class.priority).max();
    let OutputQueueSpec { link_arbiter, control_limit, .. } = spec.router.output_queues;
    let is_first = |class: &ClassSpec| {
        let has_to_wait = class.is_control && control_limit.is_some();
        link_arbiter == LinkArbiter::Oldest && Some(class.priority) == highest && !has_to_wait
    };
    (0..).zip(&spec.classes).map(|(number, class)| u32::from(is_first(class)) << number).sum()
}
