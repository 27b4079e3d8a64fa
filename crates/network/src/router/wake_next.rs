//! Of the heads that sleep at an output the next one alone is woken, where it is the output that chooses among them: each has a
//! connection to the crossbar of its own, so it could cross if it were chosen.
//!
//! **The invariant it keeps:** whoever crosses would cross if all were woken. A head that sleeps on either could not leave when this
//! was looked at last, and nothing has changed for it, or comes after one that was woken.

use super::examine::has_space;
use super::request::{Request, SETTLED};
use super::state::{Queue, QueueId};
use super::{Microarchitecture, Routers, Surroundings, members};
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// Whether of the heads that sleep at an output only the next is woken. Where messages are traced all are, as what they wait for is
    /// told.
    #[inline]
    pub(super) fn wakes_next(&self) -> bool {
        M::CROSSPOINTS || (!M::TRACES && Self::unless_basic(self.rules.wakes_next))
    }

    /// Whether of the heads that sleep at an output only those are woken that could leave, where inputs have a queue for each node. Where
    /// messages are traced all are, too.
    #[inline]
    pub(super) fn wakes_able(&self) -> bool {
        !M::TRACES && Self::unless_basic(self.rules.wakes_able)
    }

    /// Wakes the first of those that sleep at a port and could leave, in the order in which its output serves; and those that decide
    /// anew where to go.
    pub(super) fn wake_next(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        let space = self.space_of_idle(index, now);
        let next = if self.rules.wakes_in_turn {
            self.next_in_turn(index, space, now, around)
        } else {
            self.next_by_key(index, space, now, around)
        };
        match next {
            // Those that stay hear of it when the output is free again.
            Some(next) => self.wake_sleeper(next, index, now, around),
            None if self.outputs[index as usize].waiters != 0 => self.expect_room(index, now, around),
            None => {}
        }
    }

    /// The next where the output serves its inputs by turns and nobody decides anew: those behind the first that could leave need not be looked at.
    #[inline]
    fn next_in_turn(
        &mut self,
        index: u32,
        space: Option<u32>,
        now: Time,
        around: &Surroundings<'_>,
    ) -> Option<QueueId> {
        if space == Some(0) {
            return None;
        }
        let output = &self.outputs[index as usize];
        let (waiters, last, inputs) = (output.waiters, u32::from(output.connection.last), self.shape.inputs as u32);
        let (last_port, last_vc) = (last / inputs, last % inputs);
        let (own, later) = (waiters & 1 << last_port, u64::MAX << last_port << 1);
        let (others, own_later) = (waiters & !own, u32::MAX << last_vc << 1);
        // Channels after the one that was served last, ports after its own, ports before that, and its own up to that channel.
        let turns = [(own, own_later), (others & later, u32::MAX), (others & !later, u32::MAX), (own, !own_later)];
        for (mut ports, vcs) in turns {
            while ports != 0 {
                let input = self.queue_id(self.inputs[index as usize].first_port + ports.trailing_zeros(), 0, 0);
                ports &= ports - 1;
                for vc in members(self.sleepers(index, input.port) & vcs) {
                    let id = QueueId { vc, ..input };
                    let queue = *self.queue(id);
                    if self.channel_of_sleeper(&queue, index, space, now, around).is_some() {
                        return Some(id);
                    }
                }
            }
        }
        None
    }

    /// The next by the order of the output's arbiter, whatever that is. Those that decide anew where to go are woken.
    fn next_by_key(
        &mut self,
        index: u32,
        space: Option<u32>,
        now: Time,
        around: &mut Surroundings<'_>,
    ) -> Option<QueueId> {
        let (first_port, port) = (self.inputs[index as usize].first_port, self.inputs[index as usize].port);
        let mut waiters = self.outputs[index as usize].waiters;
        let mut best: Option<(u64, QueueId)> = None;
        while waiters != 0 {
            let input = self.queue_id(first_port + waiters.trailing_zeros(), 0, 0);
            waiters &= waiters - 1;
            for vc in members(self.sleepers(index, input.port)) {
                let id = QueueId { vc, ..input };
                let number = self.queue_index(id);
                let queue = self.queues[number];
                if !queue.is_settled() {
                    self.wake_sleeper(id, index, now, around);
                } else if let Some(vc) = self.channel_of_sleeper(&queue, index, space, now, around) {
                    let (queue, packet) = (number as u32, queue.head);
                    let request = Request { id, queue, packet, output: index, port, vc, header: SETTLED };
                    let key = self.output_key(&request, around);
                    if best.is_none_or(|(least, _)| key < least) {
                        best = Some((key, id));
                    }
                }
            }
        }
        best.map(|(_, next)| next)
    }

    /// The virtual channels of an input whose heads sleep at a port.
    #[inline]
    fn sleepers(&self, index: u32, input: u8) -> u32 {
        self.extras.sleepers[self.sleepers_at(index, input)]
    }

    #[inline]
    fn sleepers_at(&self, index: u32, input: u8) -> usize {
        index as usize * self.shape.ports + usize::from(input)
    }

    /// A head sleeps at a port from now on.
    #[inline]
    pub(super) fn note_sleeper(&mut self, id: QueueId, index: u32) {
        let place = self.sleepers_at(index, id.port);
        self.extras.sleepers[place] |= 1 << id.vc;
    }

    /// A head sleeps at a port no more.
    #[inline]
    fn wake_sleeper(&mut self, id: QueueId, index: u32, now: Time, around: &mut Surroundings<'_>) {
        let place = self.sleepers_at(index, id.port);
        let sleepers = &mut self.extras.sleepers[place];
        *sleepers &= !(1 << id.vc);
        if *sleepers == 0 {
            self.outputs[index as usize].waiters &= !(1 << id.port);
        }
        self.wake_head(id, now, around);
    }

    /// Nobody sleeps at a port any more.
    pub(super) fn forget_sleepers(&mut self, index: u32) {
        let first = self.sleepers_at(index, 0);
        self.extras.sleepers[first..][..self.shape.ports].fill(0);
    }

    /// The free flits of the only output queue of a port, whose connection is free: a packet that they have room for needs nothing more but
    /// credits.
    pub(super) fn space_of_idle(&mut self, index: u32, now: Time) -> Option<u32> {
        let port = &mut self.outputs[index as usize];
        debug_assert!(port.connection.busy_until <= now, "nobody is woken before the output is free");
        (M::PLAIN || self.rules.departs_at_once).then(|| {
            has_space(&mut self.departures, index, port, self.rules.packet_flits_max, now);
            port.space
        })
    }

    /// The channel by which the head of a queue, which sleeps, could leave by a port, which has so many free flits if that is known.
    #[inline(always)]
    pub(super) fn channel_of_sleeper(
        &mut self,
        queue: &Queue,
        index: u32,
        space: Option<u32>,
        now: Time,
        around: &Surroundings<'_>,
    ) -> Option<u8> {
        debug_assert_eq!(queue.port, self.inputs[index as usize].port, "it sleeps where it wants to leave");
        match space {
            Some(space) if u32::from(queue.flits) > space => None,
            Some(_) => self.channel_with_credits(index, queue),
            None => self.channel_with_room(index, queue, now, around.fabric),
        }
    }
}
