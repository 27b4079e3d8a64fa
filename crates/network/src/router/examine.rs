//! Looks at heads: where one wants to go, and whether it could cross at once.

use std::hint::black_box;

use tailback_routing::{Header, Step, Validity};

use super::decision::Decision;
use super::departures::Departures;
use super::request::{KEPT, Request, SETTLED};
use super::state::{OutputPort, Queue, QueueId};
use super::{Microarchitecture, Routers, Surroundings};
use crate::fabric::Fabric;
use crate::message_trace::Blocked;
use crate::time::Time;

/// What the look at the head of an awake queue has shown.
pub(super) enum Examined {
    /// It cannot cross now: it sleeps, or decides anew at the next allocation.
    Waits,
    /// It needs a virtual channel of its own first.
    NeedsChannel,
    /// It could cross at once.
    Ready(Request),
}

/// What has become of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outlook {
    /// It has to be made anew.
    Open,
    /// It is the same.
    Kept,
    /// It is the same, and the packet can leave; it may be another one when it cannot.
    Unrivaled,
    /// It is the same, and the packet cannot leave, but may decide otherwise next time.
    Waits,
}

/// What an attempt to leave needs of a decision.
#[derive(Clone, Copy, Debug)]
struct Decided {
    /// As [`Request::header`].
    header: u16,
    /// Whether it will be the same when something changes at the output that it names.
    stays: bool,
}

impl Decided {
    const SETTLED: Self = Self { header: SETTLED, stays: true };
    const KEPT: Self = Self { header: KEPT, stays: true };
    /// It is kept, and may be another one as soon as the packet cannot leave.
    const UNRIVALED: Self = Self { header: KEPT, stays: false };
}

impl<M: Microarchitecture> Routers<M> {
    /// Sees whether the head of an awake queue could cross at once, and puts it to sleep if not. Always inline, like what it asks of outputs: calls would cost
    /// 5 % of all instructions with VOQs.
    #[inline(always)]
    pub(super) fn examine(&mut self, id: QueueId, now: Time, around: &mut Surroundings<'_>) -> Examined {
        if Self::unless_plain(self.rules.watches_heads) && self.stops_head(id, now, around) {
            return Examined::Waits; // whoever is head now may be looked at in the next round
        }
        let number = self.queue_index(id);
        let mut decided = Decided::SETTLED;
        if !(Self::SETTLES_ON_ARRIVAL || self.queues[number].is_settled()) {
            let decision = self.queues[number].decision;
            let outlook = match decision {
                Decision::Kept if self.kept_decision_holds(id, number, now, around) => Outlook::Kept,
                Decision::Unrivaled => self.ask_rivals(id, number, now, around),
                _ => Outlook::Open,
            };
            decided = match outlook {
                Outlook::Open => self.route_head(id, number, now, around),
                Outlook::Kept => Decided::KEPT,
                Outlook::Unrivaled => Decided::UNRIVALED,
                Outlook::Waits => return Examined::Waits,
            };
        }
        let queue = self.queues[number];
        if queue.vcs == 0 {
            Self::trace_wait(queue.head, Blocked::Routing, now, around);
            return Examined::Waits;
        }
        if Self::unless_basic(self.rules.vc_allocation) && !queue.owns_vc {
            Self::trace_wait(queue.head, Blocked::VirtualChannel, now, around);
            return Examined::NeedsChannel;
        }
        let output = self.inputs[id.index as usize].first_port + u32::from(queue.port);
        if let Some(vc) = self.channel_for(id, output, &queue, now, around.fabric) {
            let (queue, packet, port, header) = (number as u32, queue.head, queue.port, decided.header);
            return Examined::Ready(Request { id, queue, packet, output, port, vc, header });
        }
        self.trace_no_channel(output, &queue, now, around);
        // A decision that is made anew at each attempt may be another one next time.
        if decided.stays {
            self.sleep(id, queue.port, now, around);
        }
        Examined::Waits
    }

    /// Routes the head of a queue. By its record no channel will do if routing has decided to wait.
    #[inline]
    fn route_head(&mut self, id: QueueId, number: usize, now: Time, around: &mut Surroundings<'_>) -> Decided {
        let Queue { head, flits, decision, .. } = self.queues[number];
        // Opaque: what routing reads of it would be read for each router else, and put on the stack.
        let around = black_box(around);
        let (step, vc) = self.route(id, head, flits, decision == Decision::Open, now, around);
        let packet = &mut around.pool[head];
        let revises = step.validity != Validity::Always && self.rules.revises(packet.class);
        let record = &mut self.queues[number];
        (record.port, record.vc, record.vcs) = (step.port, vc, step.vcs);
        if !revises {
            record.decision = Decision::Settled;
            packet.header = step.header;
            return Decided::SETTLED;
        }
        if step.validity == Validity::Once {
            record.decision = Decision::Revised;
            return Decided { header: self.scratch.keep_header(step.header), stays: false };
        }
        let class = packet.class;
        self.decide_for_now(id, number, class, step.validity, step.header, around)
    }

    /// The head of a queue, a packet of a traffic class, has made a decision that stays for a while. Apart, as most are settled.
    #[inline(never)]
    fn decide_for_now(
        &mut self,
        id: QueueId,
        number: usize,
        class: u8,
        validity: Validity,
        header: Header,
        around: &Surroundings<'_>,
    ) -> Decided {
        let stays = self.stays(validity);
        let kept_decisions = &mut self.extras.kept_decisions;
        let until_rivaled = validity == Validity::UntilRivaled && kept_decisions.have_rivals();
        let record = &mut self.queues[number];
        if !(until_rivaled || (stays && kept_decisions.exist())) {
            record.decision = Decision::Revised;
            return Decided { header: self.scratch.keep_header(header), stays };
        }
        let output = self.inputs[id.index as usize].first_port + u32::from(record.port);
        kept_decisions.keep(number, output, header);
        if !until_rivaled {
            record.decision = Decision::Kept;
            return Decided::KEPT;
        }
        record.decision = Decision::Unrivaled;
        self.keep_rivals(id, number, class, around);
        Decided::UNRIVALED
    }

    /// The head of a queue goes where its routing agent has said when it was told of it, so that it need not be asked again.
    #[inline(always)]
    pub(super) fn decide_early(
        &mut self,
        first_port: u32,
        number: usize,
        packet: u32,
        step: &mut Step,
        around: &mut Surroundings<'_>,
    ) {
        let settled = step.validity == Validity::Always;
        let keeps = self.stays(step.validity) && self.extras.kept_decisions.exist();
        if !(settled || keeps) || self.recorded_port(packet, around).is_some() {
            return;
        }
        let packet = &mut around.pool[packet];
        debug_assert!(settled || self.rules.revises(packet.class), "only what is revised is valid until it is named");
        let vc = self.vc_of(step, first_port, packet.class, around.fabric);
        let record = &mut self.queues[number];
        (record.port, record.vc, record.vcs) = (step.port, vc, step.vcs);
        if settled {
            record.decision = Decision::Settled;
            packet.header = step.header;
        } else {
            record.decision = Decision::Kept;
            let output = first_port + u32::from(step.port);
            self.extras.kept_decisions.keep(number, output, step.header);
        }
    }

    /// Whether a decision that is made anew at each attempt stays the same until its port is named. Heads that may be dropped are asked
    /// about at each allocation.
    #[inline]
    fn stays(&self, validity: Validity) -> bool {
        validity == Validity::UntilNamed && !Self::unless_plain(self.rules.watches_heads)
    }

    /// Whether the head of a queue, which has kept its decision, would decide the same now.
    #[inline]
    fn kept_decision_holds(&mut self, id: QueueId, number: usize, now: Time, around: &mut Surroundings<'_>) -> bool {
        let output = self.inputs[id.index as usize].first_port + u32::from(self.queues[number].port);
        let holds = self.extras.kept_decisions.hold(number, output);
        if cfg!(debug_assertions) && holds {
            self.assert_decides_the_same(id, number, now, around);
        }
        holds
    }

    /// Checks that the head of a queue, which has kept its decision, would make the same one now.
    pub(super) fn assert_decides_the_same(
        &mut self,
        id: QueueId,
        number: usize,
        now: Time,
        around: &mut Surroundings<'_>,
    ) {
        let Queue { head, flits, port, vc, vcs, .. } = self.queues[number];
        let (step, made_vc) = self.route(id, head, flits, false, now, around);
        let kept = (port, vc, vcs, *self.extras.kept_decisions.header(number));
        let made = (step.port, made_vc, step.vcs, step.header);
        assert_eq!(kept, made, "a decision that is kept is the one that would be made now");
    }

    /// A channel by which the head of a queue could leave at once, among those that will do: the first of those with most
    /// room.
    #[inline(always)]
    pub(super) fn channel_with_room(&mut self, index: u32, queue: &Queue, now: Time, fabric: &Fabric) -> Option<u8> {
        let &Queue { vc, vcs, flits, .. } = queue;
        if !self.departs_at_once() && M::BASIC {
            return self.channel_of_queues(index, queue, now, fabric);
        }
        if !self.departs_at_once() || !self.outputs_share() {
            let room = |vc: u8| self.room(index, vc, flits, now, fabric).map(|free| (free, vc));
            return (vc..vc + vcs).rev().filter_map(room).max_by_key(|&(free, _)| free).map(|(_, vc)| vc);
        }
        self.channel_in_order(index, queue, now)
    }

    /// The same where packets leave the only output queue of a port in order.
    #[inline]
    fn channel_in_order(&mut self, index: u32, queue: &Queue, now: Time) -> Option<u8> {
        let port = &mut self.outputs[index as usize];
        if port.connection.busy_until > now || !has_space(&mut self.departures, index, port, queue.flits, now) {
            return None;
        }
        self.channel_with_credits(index, queue)
    }

    /// A channel by which the head of a queue could leave as far as its credits go.
    #[inline]
    pub(super) fn channel_with_credits(&self, index: u32, &Queue { vc, vcs, flits, .. }: &Queue) -> Option<u8> {
        let (port, first_channel) = (&self.outputs[index as usize], self.channel(index, vc));
        if port.is_terminal() {
            return Some(vc);
        }
        let free = |ahead: u8| port.credit::<M>(&self.credits, first_channel + usize::from(ahead), vc + ahead);
        let (mut best, mut most) = (vc, free(0));
        for ahead in 1..vcs {
            let free = free(ahead);
            if free > most {
                (best, most) = (vc + ahead, free);
            }
        }
        (most >= flits).then_some(best)
    }

    /// The same where a port has several output queues, or links are started by events.
    #[inline(always)]
    fn channel_of_queues(&self, index: u32, queue: &Queue, now: Time, fabric: &Fabric) -> Option<u8> {
        let &Queue { vc, vcs, flits, .. } = queue;
        let port = &self.outputs[index as usize];
        if port.connection.busy_until > now {
            return None;
        }
        let takes_credits = self.rules.claims_first && !port.is_terminal();
        if vcs > 1 {
            return self.best_of_queues(index, queue, takes_credits, now, fabric);
        }
        let has_credits = !takes_credits || self.credits[self.channel(index, vc)] >= flits;
        let has_space = || self.has_space_in_queue(index, vc, flits, now, fabric);
        (has_credits && has_space()).then_some(vc)
    }

    /// The same of several channels.
    fn best_of_queues(
        &self,
        index: u32,
        &Queue { vc, vcs, flits, .. }: &Queue,
        takes_credits: bool,
        now: Time,
        fabric: &Fabric,
    ) -> Option<u8> {
        let has_space = |vc: u8| self.has_space_in_queue(index, vc, flits, now, fabric);
        if !takes_credits {
            return (vc..vc + vcs).find(|&vc| has_space(vc));
        }
        let first_channel = self.channel(index, vc);
        let mut best = None;
        // The least that a channel has to have free to be better than those before.
        let mut least = u32::from(flits);
        for (&free, vc) in self.credits[first_channel..][..usize::from(vcs)].iter().zip(vc..) {
            if u32::from(free) >= least && has_space(vc) {
                (best, least) = (Some(vc), u32::from(free) + 1);
            }
        }
        best
    }

    /// Whether the output queue that a channel leads through has room for so many flits.
    #[inline(always)]
    fn has_space_in_queue(&self, index: u32, vc: u8, flits: u16, now: Time, fabric: &Fabric) -> bool {
        let queue = fabric.output_queue(self.outputs[index as usize].link_class, vc);
        self.space(index, queue, now) >= u32::from(flits)
    }

    /// The free flits behind a channel, if a packet could leave by it at once.
    #[inline]
    pub(super) fn room(&self, index: u32, vc: u8, flits: u16, now: Time, fabric: &Fabric) -> Option<u16> {
        let port = &self.outputs[index as usize];
        if self.output(index, vc).busy_until > now && !self.ejects_when_idle(index) {
            return None;
        }
        let has_space = if self.departs_at_once() {
            self.departures.space(index, port, flits.into(), now)
        } else {
            self.has_space_in_queue(index, vc, flits, now, fabric)
        };
        if !has_space {
            return None;
        }
        let bounded = (M::PLAIN || self.rules.claims_first) && !port.is_terminal();
        let free = if bounded { self.credit(index, vc) } else { u16::MAX };
        (free >= flits).then_some(free)
    }
}

/// Whether the output queue of a port, which packets leave in order, has room for a packet.
#[inline]
pub(super) fn has_space(departures: &mut Departures, index: u32, port: &mut OutputPort, flits: u16, now: Time) -> bool {
    if port.space < u32::from(flits) {
        departures.catch_up(index, port, now);
    }
    port.space >= u32::from(flits)
}
