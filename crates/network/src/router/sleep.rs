//! Sleeping: heads that cannot leave are not looked at until something changes at the output they want.
//!
//! What can change is that the crossbar connection becomes free, that the output queue gets room, that credits
//! arrive, or that a virtual channel is given back. Each of these wakes all that sleep at the port. Heads whose routing decides anew
//! at each attempt sleep only if it has said until when it would decide the same.

use super::state::QueueId;
use super::{Microarchitecture, Routers, Surroundings, WORDS_MAX};
use crate::event::{Event, EventKind};
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// The head of a queue may try to leave.
    #[inline]
    pub(super) fn set_awake(&mut self, id: QueueId) {
        let heads = self.heads_mut(id);
        heads.awake |= 1 << id.vc;
        heads.asleep &= !(1 << id.vc);
        if self.has_voqs() {
            *self.awake_voqs_mut(id) |= 1 << (id.voq % 64);
        }
    }

    /// It may not, or there is none.
    #[inline]
    pub(super) fn clear_awake(&mut self, id: QueueId) {
        let heads = self.heads_mut(id);
        heads.awake &= !(1 << id.vc);
        if heads.awake == 0 && self.has_voqs() {
            *self.awake_voqs_mut(id) &= !(1 << (id.voq % 64));
        }
    }

    /// Whether it may.
    pub(super) fn is_awake(&self, id: QueueId) -> bool {
        self.heads(id).awake & 1 << id.vc != 0
    }

    /// Whether any head of a port may.
    #[inline]
    pub(super) fn has_awake(&self, id: QueueId) -> bool {
        let input = &self.inputs[id.index as usize];
        if self.has_voqs() {
            input.awake_voqs != 0 || (self.shape.voqs > 64 && self.awake_voq(id.index, 64).is_some())
        } else {
            input.heads.awake != 0
        }
    }

    /// The word that a VOQ is in of the set of those with an awake head.
    #[inline]
    fn awake_voqs_mut(&mut self, id: QueueId) -> &mut u64 {
        match usize::from(id.voq) / 64 {
            0 => &mut self.inputs[id.index as usize].awake_voqs,
            word => {
                let words = self.shape.voqs.div_ceil(64) - 1;
                &mut self.extras.awake_voqs[id.index as usize * words + word - 1]
            }
        }
    }

    /// The first VOQ of a port, from `from` on, with an awake head.
    #[inline]
    pub(super) fn awake_voq(&self, index: u32, from: usize) -> Option<u8> {
        let words = self.shape.voqs.div_ceil(64);
        let mut mask = u64::MAX << (from % 64);
        for word in from / 64..words {
            let voqs = match word {
                0 => self.inputs[index as usize].awake_voqs,
                word => self.extras.awake_voqs[index as usize * (words - 1) + word - 1],
            };
            if voqs & mask != 0 {
                return Some((word as u32 * 64 + (voqs & mask).trailing_zeros()) as u8);
            }
            mask = u64::MAX;
        }
        None
    }

    /// Puts the head of a queue to sleep until something changes at `port`.
    pub(super) fn sleep(&mut self, id: QueueId, port: u8, now: Time, around: &mut Surroundings<'_>) {
        self.sleep_until_change(id, port);
        if self.may(self.rules.times_out) {
            self.schedule_timeout(id, now, around);
        }
        let index = self.inputs[id.index as usize].first_port + u32::from(port);
        if self.outputs_share() {
            if self.output(index, 0).busy_until > now {
                self.schedule_output_free(index, 0, around);
                // Nobody is woken before that, so when there is room is asked then.
                return;
            }
        } else {
            self.schedule_outputs_free(index, now, around);
        }
        if self.departs_at_once() {
            self.schedule_room(index, now, around);
        } else if self.rules.departs_if_alone {
            self.schedule_room_of_lone(index, now, around);
        }
    }

    /// The same, where the change that is waited for has its event already.
    #[inline]
    pub(super) fn sleep_until_change(&mut self, id: QueueId, port: u8) {
        self.clear_awake(id);
        self.heads_mut(id).asleep |= 1 << id.vc;
        if !self.has_awake(id) {
            self.deactivate(id.index);
        }
        let index = self.inputs[id.index as usize].first_port as usize + usize::from(port);
        match usize::from(id.port) / 64 {
            0 => self.outputs[index].waiters |= 1 << id.port,
            word => self.extras.waiters[index * (WORDS_MAX - 1) + word - 1] |= 1 << (id.port % 64),
        }
    }

    /// Makes sure that an event tells when a connection of the crossbar to an output is free again.
    #[inline(always)]
    pub(super) fn schedule_output_free(&mut self, index: u32, vc: u8, around: &mut Surroundings<'_>) {
        let output = self.output_mut(index, vc);
        if !output.free_scheduled {
            output.free_scheduled = true;
            around.schedule(output.busy_until, Event::at(EventKind::OutputFree, index, vc.into()));
        }
    }

    /// The same for all connections to a port that are busy.
    fn schedule_outputs_free(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        for vc in 0..self.shape.outputs as u8 {
            if self.output(index, vc).busy_until > now {
                self.schedule_output_free(index, vc, around);
            }
        }
    }

    /// The crossbar is done with a packet that leaves by a port.
    pub fn output_free(&mut self, index: u32, vc: u8, now: Time, around: &mut Surroundings<'_>) {
        let output = self.output_mut(index, vc);
        output.free_scheduled = false;
        if self.might(self.rules.vc_allocation) {
            let channel = self.channel(index, self.output(index, vc).vc);
            self.extras.owned[channel] = false;
        }
        self.notify(index, now, around);
    }

    /// A departing packet has made room in the output queue of a port.
    pub fn room_free(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        self.outputs[index as usize].room_scheduled = false;
        self.notify(index, now, around);
    }

    /// Something changed at a port: wakes those that sleep until then, unless the crossbar is still busy there; then
    /// they are woken when it is done.
    #[inline(always)]
    pub(super) fn notify(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        if self.outputs[index as usize].waiters != 0 || self.has_far_waiters(index) {
            self.wake_waiters(index, now, around);
        }
    }

    #[inline(never)]
    fn wake_waiters(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        let busy = self.outputs_share() && self.output(index, 0).busy_until > now;
        if busy && !self.ejects_when_idle(index) {
            self.schedule_output_free(index, 0, around);
            return;
        }
        self.wake_sleepers(index, now, around);
    }

    /// Wakes those that sleep at a port.
    pub(super) fn wake_sleepers(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        let (first_port, to) = (self.inputs[index as usize].first_port, self.inputs[index as usize].port);
        let sleepers = std::mem::take(&mut self.outputs[index as usize].waiters);
        self.wake_all(first_port, sleepers, to, now, around);
        for word in 1..self.shape.words {
            let waiters = &mut self.extras.waiters[index as usize * (WORDS_MAX - 1) + word - 1];
            let sleepers = std::mem::take(waiters);
            self.wake_all(first_port + word as u32 * 64, sleepers, to, now, around);
        }
    }

    /// Whether heads of ports beyond the first 64 sleep at a port.
    #[inline]
    fn has_far_waiters(&self, index: u32) -> bool {
        self.shape.words > 1
            && self.extras.waiters[index as usize * (WORDS_MAX - 1)..][..WORDS_MAX - 1].iter().any(|&word| word != 0)
    }

    /// Wakes the queues of a set of ports, counted from `first`, whose heads want to leave by `to`.
    #[inline]
    fn wake_all(&mut self, first: u32, mut sleepers: u64, to: u8, now: Time, around: &mut Surroundings<'_>) {
        while sleepers != 0 {
            let sleeper = first + sleepers.trailing_zeros();
            sleepers &= sleepers - 1;
            self.wake(sleeper, to, now, around);
        }
    }

    /// Wakes the queues of port `sleeper` whose heads want to leave by `to`.
    #[inline]
    fn wake(&mut self, sleeper: u32, to: u8, now: Time, around: &mut Surroundings<'_>) {
        if self.sorts_by_node() {
            for voq in 0..self.shape.voqs {
                self.wake_channels(self.queue_id(sleeper, voq as u8, 0), to, now, around);
            }
            return;
        }
        if self.has_voqs() && self.inputs_share() {
            return self.wake_voq(self.queue_id(sleeper, to, 0), now, around);
        }
        let voq = if self.has_voqs() { to } else { 0 };
        self.wake_channels(self.queue_id(sleeper, voq, 0), to, now, around);
    }

    /// Wakes the heads of all virtual channels of a port, or of one VOQ of each, that want to leave by `to`.
    #[inline]
    fn wake_channels(&mut self, first: QueueId, to: u8, now: Time, around: &mut Surroundings<'_>) {
        let mut asleep = self.heads(first).asleep;
        while asleep != 0 {
            let id = QueueId { vc: asleep.trailing_zeros() as u8, ..first };
            asleep &= asleep - 1;
            if self.queue(id).port == to {
                self.set_awake(id);
                self.rouse(id, now, around);
            }
        }
    }

    /// Wakes all heads of a VOQ at once: they want to leave by the same port, and have one connection to the crossbar.
    #[inline]
    fn wake_voq(&mut self, voq: QueueId, now: Time, around: &mut Surroundings<'_>) {
        let heads = self.heads_mut(voq);
        let asleep = std::mem::take(&mut heads.asleep);
        heads.awake |= asleep;
        if asleep != 0 {
            *self.awake_voqs_mut(voq) |= 1 << (voq.voq % 64);
            self.rouse(voq, now, around);
        }
    }
}
