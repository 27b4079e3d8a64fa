//! Sleeping: heads that cannot leave are not looked at until something changes at the output they want.
//!
//! What can change is that the crossbar connection becomes free, that the output queue gets room, that credits
//! arrive, or that a virtual channel is given back. Each of these wakes all that sleep at the port; but only the next one where the
//! output alone chooses among them, and where each node has a queue only those that could leave (`wake_next.rs`, `destinations.rs`). Heads whose routing
//! decides anew at each attempt sleep only if it has said until when it would decide the same.

use super::active::{ActivePorts, Place};
use super::extras::Extras;
use super::state::{InputConnection, InputPort, OutputConnection, QueueId};
use super::{Microarchitecture, Routers, Surroundings, WORDS_MAX, members};
use crate::event::{Event, EventKind};
use crate::fabric::Shape;
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// The head of a queue may try to leave: the allocator looks at it from now on, or from when its connection to the crossbar is
    /// free.
    #[inline]
    pub(super) fn wake_head(&mut self, id: QueueId, now: Time, around: &mut Surroundings<'_>) {
        self.wake_heads(id, 1 << id.vc, now, around);
    }

    /// The same for the heads of several virtual channels, or of one VOQ of each, which have the connection of `id`. Always inline, with
    /// [`InputConnection::ask_when_free`]: where each node has a queue it is 1 % of all instructions.
    #[inline(always)]
    pub(super) fn wake_heads(&mut self, id: QueueId, vcs: u32, now: Time, around: &mut Surroundings<'_>) {
        let connection = self.own_connection(id);
        let input = &mut self.inputs[id.index as usize];
        if Self::sorts(&self.shape) {
            self.extras.heads[self.shape.voq(id)].wake(vcs);
            *self.extras.awake_voqs(input, &self.shape, id) |= 1 << (id.voq % 64);
        } else {
            input.heads.wake(vcs);
        }
        let place = input.place();
        let connection = connection.map_or(&mut input.connection, |own| &mut self.extras.inputs[own]);
        connection.ask_when_free::<M>(id, place, &mut self.active, now, around);
    }

    /// Brings an awake queue to the notice of the allocator: at once, or when its crossbar connection is free.
    #[inline]
    pub(super) fn rouse(&mut self, id: QueueId, now: Time, around: &mut Surroundings<'_>) {
        let connection = self.own_connection(id);
        let input = &mut self.inputs[id.index as usize];
        let place = input.place();
        let connection = connection.map_or(&mut input.connection, |own| &mut self.extras.inputs[own]);
        connection.ask_when_free::<M>(id, place, &mut self.active, now, around);
    }

    /// The head of a queue may not leave, or there is none.
    #[inline]
    pub(super) fn clear_awake(&mut self, id: QueueId) {
        Self::clear_awake_at(&mut self.inputs[id.index as usize], &mut self.extras, &self.shape, id);
    }

    /// The same, of an input that is at hand.
    #[inline]
    pub(super) fn clear_awake_at(input: &mut InputPort, extras: &mut Extras, shape: &Shape, id: QueueId) {
        if !Self::sorts(shape) {
            input.heads.awake &= !(1 << id.vc);
            return;
        }
        let heads = &mut extras.heads[shape.voq(id)];
        heads.awake &= !(1 << id.vc);
        if heads.awake == 0 {
            *extras.awake_voqs(input, shape, id) &= !(1 << (id.voq % 64));
        }
    }

    /// Whether the head of a queue may.
    pub(super) fn is_awake(&self, id: QueueId) -> bool {
        self.heads(id).awake & 1 << id.vc != 0
    }

    /// Whether any head of a port may.
    #[inline]
    pub(super) fn has_awake(&self, id: QueueId) -> bool {
        self.extras.has_awake::<M>(&self.inputs[id.index as usize], &self.shape, id.index)
    }

    /// The first VOQ of a port, from `from` on, with an awake head.
    #[inline]
    pub(super) fn awake_voq(&self, index: u32, from: usize) -> Option<u8> {
        self.extras.awake_voq(&self.inputs[index as usize], &self.shape, index, from)
    }

    /// Puts the head of a queue to sleep until something changes at `port`.
    pub(super) fn sleep(&mut self, id: QueueId, port: u8, now: Time, around: &mut Surroundings<'_>) {
        let index = self.sleep_until_change(id, port);
        if Self::unless_plain(self.rules.times_out) {
            self.schedule_timeout(id, now, around);
        }
        if self.outputs_share() {
            let connection = &mut self.outputs[index as usize].connection;
            if connection.busy_until > now {
                connection.announce_free(index, 0, around);
                // Nobody is woken before that, so when there is room is asked then.
                return;
            }
        } else {
            self.schedule_outputs_free(index, now, around);
        }
        self.expect_room(index, now, around);
    }

    /// Makes sure that an event tells when an output queue has room again, where no departure is an event.
    #[inline]
    pub(super) fn expect_room(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        if self.departs_at_once() {
            self.schedule_room(index, now, around);
        } else if self.rules.departs_if_alone {
            self.schedule_room_of_lone(index, now, around);
        }
    }

    /// The same, where the change that is waited for has its event already. Returns the number of the port in the region.
    #[inline]
    pub(super) fn sleep_until_change(&mut self, id: QueueId, port: u8) -> u32 {
        if self.has_voqs() {
            self.clear_awake(id);
            self.heads_mut(id).asleep |= 1 << id.vc;
            if self.sorts_by_node() {
                self.note_sleeping_node(id, port);
            }
            if !self.has_awake(id) {
                self.deactivate(id.index);
            }
        } else {
            let input = &mut self.inputs[id.index as usize];
            input.heads.put_to_sleep(id.vc);
            if input.heads.awake == 0 {
                self.active.remove(input.place());
            }
        }
        let index = self.inputs[id.index as usize].first_port + u32::from(port);
        match usize::from(id.port) / 64 {
            _ if M::PLAIN => self.outputs[index as usize].waiters |= 1 << (id.port % 64),
            0 => self.outputs[index as usize].waiters |= 1 << id.port,
            word => self.extras.waiters[index as usize * (WORDS_MAX - 1) + word - 1] |= 1 << (id.port % 64),
        }
        if M::CROSSPOINTS || Self::unless_basic(self.rules.wakes_next) {
            self.note_sleeper(id, index);
        }
        index
    }

    /// Makes sure that an event tells when a connection of the crossbar to an output is free again.
    #[inline]
    pub(super) fn schedule_output_free(&mut self, index: u32, vc: u8, around: &mut Surroundings<'_>) {
        self.output_mut(index, vc).announce_free(index, vc, around);
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
        if Self::unless_basic(self.rules.vc_allocation) {
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
        if self.has_waiters(index) {
            self.wake_waiters(index, now, around);
        }
    }

    #[inline(never)]
    pub(super) fn wake_waiters(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        let ejects_when_idle = self.ejects_when_idle(index);
        if self.outputs_share() {
            let connection = &mut self.outputs[index as usize].connection;
            if connection.busy_until > now && !ejects_when_idle {
                connection.announce_free(index, 0, around);
                return;
            }
        }
        self.wake_sleepers(index, now, around);
    }

    /// Wakes those that sleep at a port.
    #[inline]
    pub(super) fn wake_sleepers(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        if self.wakes_next() {
            return self.wake_next(index, now, around);
        }
        if self.wakes_able() {
            return self.wake_able(index, now, around);
        }
        if Self::unless_basic(self.rules.wakes_next) {
            self.forget_sleepers(index);
        }
        let (first_port, to) = (self.inputs[index as usize].first_port, self.inputs[index as usize].port);
        let sleepers = std::mem::take(&mut self.outputs[index as usize].waiters);
        self.wake_all(first_port, sleepers, to, now, around);
        if self.words() > 1 {
            self.wake_far_sleepers(index, now, around);
        }
    }

    /// Wakes those of ports beyond the first 64 that sleep at a port.
    #[inline(never)]
    fn wake_far_sleepers(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        let (first_port, to) = (self.inputs[index as usize].first_port, self.inputs[index as usize].port);
        for word in 1..self.shape.words {
            let waiters = &mut self.extras.waiters[index as usize * (WORDS_MAX - 1) + word - 1];
            let sleepers = std::mem::take(waiters);
            self.wake_all(first_port + word as u32 * 64, sleepers, to, now, around);
        }
    }

    /// A router hears what others have broadcast: heads sleep there whose decision may not be the same any more.
    pub fn hear_broadcast(&mut self, router: u32, now: Time, around: &mut Surroundings<'_>) {
        let first = self.first_port(router);
        for index in first..first + self.shape.ports as u32 {
            self.ask_anew(index, now, around);
        }
    }

    /// Heads that have decided to leave by a port may decide otherwise now.
    #[inline(never)]
    pub(super) fn ask_anew(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        self.extras.kept_decisions.name(index);
        if self.has_waiters(index) {
            self.wake_sleepers(index, now, around);
        }
    }

    /// Whether heads sleep at a port.
    #[inline(always)]
    fn has_waiters(&self, index: u32) -> bool {
        self.outputs[index as usize].waiters != 0 || self.has_far_waiters(index)
    }

    /// Whether heads of ports beyond the first 64 do.
    #[inline]
    pub(super) fn has_far_waiters(&self, index: u32) -> bool {
        self.words() > 1
            && self.extras.waiters[index as usize * (WORDS_MAX - 1)..][..WORDS_MAX - 1].iter().any(|&word| word != 0)
    }

    /// Wakes the queues of a set of ports, counted from `first`, whose heads want to leave by `to`.
    #[inline(always)]
    fn wake_all(&mut self, first: u32, mut sleepers: u64, to: u8, now: Time, around: &mut Surroundings<'_>) {
        while sleepers != 0 {
            let sleeper = first + sleepers.trailing_zeros();
            sleepers &= sleepers - 1;
            self.wake(sleeper, to, now, around);
        }
    }

    /// Wakes the queues of port `sleeper` whose heads want to leave by `to`.
    #[inline(always)]
    fn wake(&mut self, sleeper: u32, to: u8, now: Time, around: &mut Surroundings<'_>) {
        if self.sorts_by_node() {
            return self.wake_nodes(sleeper, to, now, around);
        }
        if self.has_voqs() && self.inputs_share() {
            return self.wake_voq(self.queue_id(sleeper, to, 0), now, around);
        }
        let voq = if self.has_voqs() { to } else { 0 };
        self.wake_channels(self.queue_id(sleeper, voq, 0), to, now, around);
    }

    /// Wakes the heads of all virtual channels of a port, or of one VOQ of each, that want to leave by `to`.
    #[inline(always)]
    pub(super) fn wake_channels(&mut self, first: QueueId, to: u8, now: Time, around: &mut Surroundings<'_>) {
        let queues = &self.queues[self.queue_index(first)..];
        let (mut asleep, mut woken) = (self.heads(first).asleep, 0);
        while asleep != 0 {
            let vc = asleep.trailing_zeros();
            asleep &= asleep - 1;
            woken |= u32::from(queues[vc as usize].port == to) << vc;
        }
        if self.inputs_share() {
            if woken != 0 {
                self.wake_heads(first, woken, now, around);
            }
        } else {
            members(woken).for_each(|vc| self.wake_head(QueueId { vc, ..first }, now, around));
        }
    }

    /// Wakes all heads of a VOQ at once: they want to leave by the same port, and have one connection to the crossbar.
    #[inline]
    fn wake_voq(&mut self, voq: QueueId, now: Time, around: &mut Surroundings<'_>) {
        let asleep = self.heads(voq).asleep;
        if asleep != 0 {
            self.wake_heads(voq, asleep, now, around);
        }
    }
}

impl Extras {
    /// Whether any head of an input may leave.
    #[inline]
    pub fn has_awake<M: Microarchitecture>(&self, input: &InputPort, shape: &Shape, index: u32) -> bool {
        if Routers::<M>::sorts(shape) {
            input.awake_voqs != 0 || (shape.voqs > 64 && self.awake_voq(input, shape, index, 64).is_some())
        } else {
            input.heads.awake != 0
        }
    }

    /// The first VOQ of an input, from `from` on, with an awake head.
    #[inline]
    fn awake_voq(&self, input: &InputPort, shape: &Shape, index: u32, from: usize) -> Option<u8> {
        let words = shape.voqs.div_ceil(64);
        let mut mask = u64::MAX << (from % 64);
        for word in from / 64..words {
            let voqs = match word {
                0 => input.awake_voqs,
                word => self.awake_voqs[index as usize * (words - 1) + word - 1],
            };
            if voqs & mask != 0 {
                return Some((word as u32 * 64 + (voqs & mask).trailing_zeros()) as u8);
            }
            mask = u64::MAX;
        }
        None
    }

    /// The word that a VOQ is in of the set of those with an awake head.
    #[inline]
    fn awake_voqs<'a>(&'a mut self, input: &'a mut InputPort, shape: &Shape, id: QueueId) -> &'a mut u64 {
        match usize::from(id.voq) / 64 {
            0 => &mut input.awake_voqs,
            word => &mut self.awake_voqs[id.index as usize * (shape.voqs.div_ceil(64) - 1) + word - 1],
        }
    }
}

impl InputConnection {
    /// The allocator looks at a port, one of whose awake queues has this connection, once it is free.
    #[inline(always)]
    fn ask_when_free<M: Microarchitecture>(
        &mut self,
        id: QueueId,
        place: Place,
        active: &mut ActivePorts,
        now: Time,
        around: &mut Surroundings<'_>,
    ) {
        if self.busy_until <= now {
            active.add(place);
        } else {
            self.announce_free::<M>(id, around);
        }
    }

    /// Makes sure that an event tells when the connection, which is that of a queue, is free again.
    #[inline]
    pub fn announce_free<M: Microarchitecture>(&mut self, id: QueueId, around: &mut Surroundings<'_>) {
        if !self.free_scheduled {
            self.free_scheduled = true;
            let vc = if M::BASIC && !M::CROSSPOINTS { 0 } else { id.vc };
            around.schedule(self.busy_until, Event::at(EventKind::InputFree, id.index, vc.into()));
        }
    }
}

impl OutputConnection {
    /// Makes sure that an event tells when the connection, which is that of a channel of a port, is free again.
    #[inline]
    pub fn announce_free(&mut self, index: u32, vc: u8, around: &mut Surroundings<'_>) {
        if !self.free_scheduled {
            self.free_scheduled = true;
            around.schedule(self.busy_until, Event::at(EventKind::OutputFree, index, vc.into()));
        }
    }
}
