//! What routers look up at each step: what follows from the description of a network, and nothing changes.

mod description;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_engine::Tick;
use tailback_hardware::{AllocationOrder, Arbiter, InputServed, InputTurns, NetworkSpec, OutputHeld};
use tailback_protocol::{Moment, WaitsUntil};
use tailback_routing::Routing;

use self::description::Description;
use crate::declarations::Declarations;
use crate::fabric::Shape;
use crate::measured_span::MeasuredSpan;
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
    /// Whether arbiters have turns for each priority, and there are several.
    pub turns_by_priority: bool,
    /// Whether an input offers the first packet by turns that could cross, of the highest priority, and need not look at
    /// those after it.
    pub inputs_take_turns: bool,
    /// Whether an output, which chooses first, takes the inputs that ask for it by turns, and need not look at those behind the first that could
    /// cross.
    pub outputs_take_turns: bool,
    /// Whether several winners of an allocation may be for an output queue that has room for some of them only, so that channels take turns to
    /// enter it.
    pub channels_take_turns: bool,
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
    /// Whether heads can keep decisions until their port is named, and whether they can until others are better.
    pub keeps_decisions: bool,
    pub keeps_rivals: bool,
    /// Whether routing agents are told of heads.
    pub tells_heads: bool,
    /// Whether they are told too when these start to cross.
    pub tells_crossings: bool,
    /// Set of the link classes of the outputs at which something has to change for routing agents to look around.
    looked_at: u32,
    /// Set of the link classes of the outputs whose credits matter for where packets go.
    credits_minded: u32,
    /// Whether routing agents ask what waits for links, and whether that includes what is routed to them and waits at inputs.
    pub measures_queues: bool,
    pub counts_routed: bool,
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
        let (router, described) = (&spec.router, Description { spec, routings, shape, declarations });
        Self {
            head_delay: router.head_delay,
            crossbar_delay: router.crossbar_delay,
            link_mask: spec.ticks_per_cycle - 1,
            allocation_mask: router.allocation_period - 1,
            packet_flits_max: spec.packet_flits_max,
            iterations: router.iterations,
            transit_first: router.transit_first,
            input_arbiter: router.input_arbiter,
            output_arbiter: router.output_arbiter,
            turns_by_output: router.input_turns == InputTurns::Outputs,
            served_when_asked: router.input_served == InputServed::Asked,
            ejects_when_idle: described.ejects_when_idle(),
            nodes_pause: spec.nic.pause_flits.is_some(),
            ejection_vcs: router.ejection_vcs,
            claims_first: described.claims_first(),
            credit_interval: router.credit_interval,
            departs_at_once: described.departs_at_once(measured.end),
            departs_if_alone: described.departs_if_alone(measured.end),
            never_overtaken: described.never_overtaken(),
            bounded: router.output_queues.flits.is_some(),
            releases_late: described.releases_late(),
            frees_outputs_early: router.output_held == OutputHeld::FullRate,
            vc_allocation: router.vc_allocation,
            outputs_first: router.order == AllocationOrder::OutputFirst,
            first_round_turns: described.first_round_turns(),
            turns_by_priority: described.turns_by_priority(),
            inputs_take_turns: described.inputs_take_turns(),
            outputs_take_turns: described.outputs_take_turns(),
            channels_take_turns: described.channels_take_turns(),
            control_limit: router.output_queues.control_limit,
            wakes_next: described.wakes_next(),
            wakes_in_turn: described.wakes_in_turn(),
            wakes_able: described.wakes_able(),
            one_priority: described.one_priority(),
            revising: described.classes(|routing| routing.revises()),
            oblivious: described.classes(|routing| routing.is_oblivious()),
            routes_on_arrival: router.virtual_output_queues,
            destination_queue: router.destination_queue,
            keeps_decisions: described.keeps_decisions(),
            keeps_rivals: described.keeps_rivals(),
            tells_heads: described.any_wants(|interests| interests.heads),
            tells_crossings: described.any_wants(|interests| interests.crossings),
            looked_at: described.looked_at(),
            credits_minded: if described.keeps_rivals() { u32::MAX } else { described.looked_at() },
            measures_queues: described.measures_queues(),
            counts_routed: router.virtual_output_queues && described.any_wants(|interests| interests.queues_at_inputs),
            has_internal_port: declarations.has_internal_port(),
            records_paths: declarations.records_paths(),
            watches_arrivals: declarations.watches(Moment::Arrives),
            watches_heads: declarations.watches_heads(),
            watches_crossings: declarations.watches(Moment::Crosses),
            times_out: described.times_out(),
            counts_in_output_queues: described.counts_in_output_queues(),
            counts_for_nodes: declarations.needs.waiting_for_nodes,
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

    /// Whether credits for an output with a link of this class matter for where packets go.
    #[inline]
    pub fn minds_credits(&self, link_class: u8) -> bool {
        self.credits_minded & 1 << link_class != 0
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
