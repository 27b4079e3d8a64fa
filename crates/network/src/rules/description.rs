//! What the rules of routers follow from: the description of a network, and what its routing and its protocol declare.

use std::sync::Arc;

use tailback_engine::Tick;
use tailback_hardware::{
    AllocationOrder, Arbiter, ClassSpec, CreditCheck, Ejection, InputServed, InputTurns, LinkArbiter, NetworkSpec,
    OutputQueueSpec, QueuePer, Release, RouterSpec, TurnsKept, TurnsMove,
};
use tailback_routing::{Interests, Routing};

use crate::declarations::Declarations;
use crate::fabric::Shape;
use crate::router::can_be_known;

/// A network as it is described.
#[derive(Clone, Copy)]
pub(super) struct Description<'a> {
    pub spec: &'a NetworkSpec,
    pub routings: &'a [Arc<dyn Routing>],
    pub shape: &'a Shape,
    pub declarations: &'a Declarations,
}

impl Description<'_> {
    fn router(&self) -> &RouterSpec {
        &self.spec.router
    }

    /// The set of the traffic classes whose routing is of a kind.
    pub fn classes(&self, is_so: fn(&dyn Routing) -> bool) -> u32 {
        (0..).zip(self.routings).map(|(class, routing)| u32::from(is_so(routing.as_ref())) << class).sum()
    }

    /// Whether the routing of any traffic class wants to know something.
    pub fn any_wants(&self, wants: fn(Interests) -> bool) -> bool {
        self.routings.iter().any(|routing| wants(routing.interests()))
    }

    /// The set of the link classes at whose outputs changes make routing agents look around.
    pub fn looked_at(&self) -> u32 {
        self.routings.iter().fold(0, |all, routing| all | routing.interests().changes.link_classes())
    }

    pub fn one_priority(&self) -> bool {
        self.spec.classes.iter().all(|class| class.priority == self.spec.classes[0].priority)
    }

    pub fn claims_first(&self) -> bool {
        self.router().credits == CreditCheck::Crossbar
    }

    pub fn ejects_when_idle(&self) -> bool {
        self.router().ejection == Ejection::Idle
    }

    pub fn releases_late(&self) -> bool {
        self.router().output_queues.release == Release::End
    }

    pub fn times_out(&self) -> bool {
        self.declarations.queueing_timeouts.iter().any(Option::is_some)
    }

    pub fn counts_in_output_queues(&self) -> bool {
        self.declarations.queueing_timeouts.iter().flatten().any(|timeout| timeout.in_output_queues)
    }

    /// Whether the turns of arbiters go on in the first round of an allocation alone, and there are others.
    pub fn first_round_turns(&self) -> bool {
        self.router().turns_move == TurnsMove::FirstRound && self.router().iterations > 1
    }

    /// Whether arbiters have turns for each priority, and there are several.
    pub fn turns_by_priority(&self) -> bool {
        let there_are_several = self.router().transit_first || !self.one_priority();
        self.router().turns_kept == TurnsKept::ByPriority && there_are_several
    }

    fn inputs_choose_first(&self) -> bool {
        self.router().order == AllocationOrder::InputFirst
    }

    fn outputs_go_round(&self) -> bool {
        self.router().output_arbiter == Arbiter::RoundRobin
    }

    /// Whether nothing asks for heads that are not chosen. Those that may be dropped are asked about at each allocation, those that seek a channel ask
    /// for it, and those of a lower priority are routed.
    fn skips_heads(&self) -> bool {
        !self.router().vc_allocation
            && !self.declarations.watches_heads()
            && (self.one_priority() || self.router().virtual_output_queues)
    }

    pub fn inputs_take_turns(&self) -> bool {
        let router = self.router();
        let go_round = router.input_arbiter == Arbiter::RoundRobin && router.input_turns == InputTurns::Queues;
        let offer_one =
            self.inputs_choose_first() && self.shape.inputs == 1 && router.input_served == InputServed::Granted;
        offer_one && go_round && self.skips_heads() && !(self.first_round_turns() || self.turns_by_priority())
    }

    /// Packets go by turns alone, all heads are routed, and nothing depends on who is awake.
    pub fn outputs_take_turns(&self) -> bool {
        let router = self.router();
        !self.inputs_choose_first()
            && self.outputs_go_round()
            && router.virtual_output_queues
            && (self.shape.inputs, self.shape.outputs, self.shape.words) == (1, 1, 1)
            && router.credit_interval == 0
            && self.one_priority()
            && self.skips_heads()
            && !(router.transit_first || self.ejects_when_idle() || self.times_out())
    }

    /// Whether channels have connections from the crossbar of their own and share what these lead to: a queue that has a bound, or a node that
    /// receives one packet at a time.
    pub fn channels_take_turns(&self) -> bool {
        let queues = &self.router().output_queues;
        let share_queue = queues.flits.is_some() && queues.per != QueuePer::Channel;
        self.shape.outputs > 1 && (share_queue || self.ejects_when_idle())
    }

    /// Whether outputs know who sleeps at them, and nothing depends on who is awake. Credits that wait for each other do so in the order in
    /// which packets cross in a tick, which does.
    fn knows_sleepers(&self) -> bool {
        let (router, shape) = (self.router(), self.shape);
        router.credit_interval == 0
            && (shape.inputs > 1 && (shape.outputs, shape.words) == (1, 1))
            && self.inputs_choose_first()
            && !(router.vc_allocation || self.first_round_turns() || self.ejects_when_idle())
            && !(self.any_wants(|interests| interests.heads) || self.times_out() || self.declarations.watches_heads())
    }

    pub fn wakes_next(&self) -> bool {
        self.knows_sleepers() && self.shape.voqs == 1
    }

    pub fn wakes_in_turn(&self) -> bool {
        self.wakes_next()
            && self.outputs_go_round()
            && self.one_priority()
            && !self.router().transit_first
            && self.classes(|routing| routing.revises()) == 0
    }

    pub fn wakes_able(&self) -> bool {
        self.knows_sleepers() && self.router().destination_queue.is_some()
    }

    pub fn keeps_decisions(&self) -> bool {
        self.any_wants(|interests| interests.heads || interests.rivals)
            && self.routings.iter().any(|routing| routing.revises())
            && !(self.router().virtual_output_queues || self.declarations.watches_heads())
    }

    pub fn keeps_rivals(&self) -> bool {
        self.keeps_decisions() && self.any_wants(|interests| interests.rivals)
    }

    pub fn measures_queues(&self) -> bool {
        self.any_wants(|interests| interests.queues)
    }

    fn broadcasts_occupy_links(&self) -> bool {
        self.any_wants(|interests| interests.broadcast_flits > 0)
    }

    /// Whether the protocol looks at what waits for links, or leaves by them.
    fn protocol_looks_at_outputs(&self) -> bool {
        let needs = &self.declarations.needs;
        needs.waiting_for_nodes.is_some() || needs.output_queues || needs.flits_sent
    }

    /// Whether the time at which packets depart is known when they cross, in a run until `end`.
    pub fn departs_at_once(&self, end: Tick) -> bool {
        self.claims_first()
            && self.shape.output_queues == 1
            && can_be_known(self.spec, self.shape, end)
            && !(self.measures_queues() || self.broadcasts_occupy_links() || self.protocol_looks_at_outputs())
            && !(self.ejects_when_idle() || self.counts_in_output_queues())
    }

    /// Whether it is known of those alone that find their output port idle. What is measured leaves a queue when it starts, not when it makes room.
    pub fn departs_if_alone(&self, end: Tick) -> bool {
        self.claims_first()
            && self.router().crossbar_delay > 0
            && self.shape.outputs == 1
            && !(self.departs_at_once(end) || self.broadcasts_occupy_links() || self.protocol_looks_at_outputs())
            && !(self.ejects_when_idle() || self.declarations.is_lossy())
            && !(self.measures_queues() && self.releases_late())
    }

    /// The set of the traffic classes that nothing goes before on a link that comes later: where the oldest packet goes first, those of the
    /// highest priority.
    pub fn never_overtaken(&self) -> u32 {
        let highest = self.spec.classes.iter().map(|class| class.priority).max();
        let OutputQueueSpec { link_arbiter, control_limit, .. } = self.router().output_queues;
        let is_first = |class: &ClassSpec| {
            let has_to_wait = class.is_control && control_limit.is_some();
            link_arbiter == LinkArbiter::Oldest && Some(class.priority) == highest && !has_to_wait
        };
        (0..).zip(&self.spec.classes).map(|(number, class)| u32::from(is_first(class)) << number).sum()
    }
}
