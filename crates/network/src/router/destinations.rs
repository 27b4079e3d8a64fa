//! A queue for each node of the network at each virtual channel of an input (network-level VOQs), with credits of its own.
//!
//! What waits for one node then takes no room from what waits for others, and is not in front of it. The VOQ of such a queue is the number of
//! its node.
//!
//! **The invariant it keeps:** no buffer holds more for a node than its queue has room for.

use super::request::Request;
use super::state::{Queue, QueueId};
use super::{Microarchitecture, Routers, Surroundings, members};
use crate::event::{credited, credited_node};
use crate::fabric::Fabric;
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// Whether the buffer behind a channel has room for a packet of a queue, of those for its node. Always where there are none.
    #[inline]
    pub(super) fn has_room_for_node(&self, id: QueueId, index: u32, vc: u8, flits: u16) -> bool {
        match self.rules.destination_queue {
            Some(limit) if self.sorts_by_node() && !self.outputs[index as usize].is_terminal() => {
                self.extras.held[self.held_index(index, vc, id.voq)] + flits <= limit
            }
            _ => true,
        }
    }

    /// A channel by which the head of a queue could leave at once, among those that will do: of those behind which there is room for its
    /// node, where there are such queues, the first of those with most room.
    #[inline(always)]
    pub(super) fn channel_for(
        &mut self,
        id: QueueId,
        index: u32,
        queue: &Queue,
        now: Time,
        fabric: &Fabric,
    ) -> Option<u8> {
        if self.sorts_by_node() && queue.vcs > 1 {
            return self.channel_for_node(id, index, queue, now, fabric);
        }
        self.channel_with_room(index, queue, now, fabric)
            .filter(|&vc| self.has_room_for_node(id, index, vc, queue.flits))
    }

    /// The same where there is a choice, and each channel has room for some nodes. Whoever chose by the room for all could wait for a
    /// channel that is no good for its node, until others have made another one the roomiest.
    #[inline(never)]
    fn channel_for_node(
        &self,
        id: QueueId,
        index: u32,
        &Queue { vc, vcs, flits, .. }: &Queue,
        now: Time,
        fabric: &Fabric,
    ) -> Option<u8> {
        let with_room = (vc..vc + vcs).filter(|&vc| self.has_room_for_node(id, index, vc, flits));
        let free = with_room.filter_map(|vc| self.room(index, vc, flits, now, fabric).map(|free| (free, vc)));
        free.rev().max_by_key(|&(free, _)| free).map(|(_, vc)| vc)
    }

    /// A packet of a queue takes room behind a channel.
    #[inline]
    pub(super) fn take_room_for_node(&mut self, id: QueueId, index: u32, vc: u8, flits: u16) {
        if self.sorts_by_node() && !self.outputs[index as usize].is_terminal() {
            let held = self.held_index(index, vc, id.voq);
            self.extras.held[held] += flits;
        }
    }

    /// Credits arrive at a port, which say for which node there is room.
    #[inline]
    pub(super) fn free_room_for_node(&mut self, index: u32, payload: u32) {
        if self.sorts_by_node() {
            let (vc, flits) = credited(payload);
            let held = self.held_index(index, vc, credited_node(payload));
            self.extras.held[held] -= flits;
        }
    }

    /// A head of a node's queues sleeps at a port.
    #[inline]
    pub(super) fn note_sleeping_node(&mut self, id: QueueId, port: u8) {
        let word = self.sleeping_nodes_at(id.index, port) + usize::from(id.voq) / 64;
        self.extras.sleeping_nodes[word] |= 1 << (id.voq % 64);
    }

    /// Wakes the queues of an input that sleep at port `to`. There are many, few of which sleep there.
    pub(super) fn wake_nodes(&mut self, input: u32, to: u8, now: Time, around: &mut Surroundings<'_>) {
        let first = self.sleeping_nodes_at(input, to);
        for word in 0..self.shape.voqs.div_ceil(64) {
            let mut nodes = std::mem::take(&mut self.extras.sleeping_nodes[first + word]);
            while nodes != 0 {
                let voq = word as u32 * 64 + nodes.trailing_zeros();
                nodes &= nodes - 1;
                self.wake_channels(self.queue_id(input, voq as u8, 0), to, now, around);
            }
        }
    }

    /// Wakes the queues that sleep at a port and could leave; nobody decides anew where to go here. The others would go to sleep again as
    /// soon as they were looked at, most of them for want of room for their node.
    pub(super) fn wake_able(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        let space = self.space_of_idle(index, now);
        let (first_port, to) = (self.inputs[index as usize].first_port, self.inputs[index as usize].port);
        let (mut waiters, mut stay) = (self.outputs[index as usize].waiters, 0);
        while waiters != 0 {
            let port = waiters.trailing_zeros();
            waiters &= waiters - 1;
            let first = self.sleeping_nodes_at(first_port + port, to);
            for word in 0..self.shape.voqs.div_ceil(64) {
                let mut left = self.extras.sleeping_nodes[first + word];
                let mut woken = 0;
                while left != 0 {
                    let node = left.trailing_zeros();
                    left &= left - 1;
                    let voq = self.queue_id(first_port + port, (word as u32 * 64 + node) as u8, 0);
                    let others_stay = self.wake_able_channels(voq, index, space, now, around);
                    woken |= u64::from(!others_stay) << node;
                }
                let asleep = &mut self.extras.sleeping_nodes[first + word];
                *asleep &= !woken;
                stay |= u64::from(*asleep != 0) << port;
            }
        }
        self.outputs[index as usize].waiters = stay;
        if stay != 0 {
            self.expect_room(index, now, around);
        }
    }

    /// Wakes those of the channels of a VOQ that sleep at a port and could leave. Returns whether others go on sleeping there.
    #[inline]
    fn wake_able_channels(
        &mut self,
        first: QueueId,
        index: u32,
        space: Option<u32>,
        now: Time,
        around: &mut Surroundings<'_>,
    ) -> bool {
        let to = self.inputs[index as usize].port;
        let mut stay = false;
        for vc in members(self.heads(first).asleep) {
            let id = QueueId { vc, ..first };
            let queue = *self.queue(id);
            if queue.port != to {
                continue;
            }
            debug_assert!(queue.is_settled(), "routing that decides anew has no queues for nodes");
            let could_leave = self.could_leave(id, &queue, index, space, now, around);
            if could_leave {
                self.wake_head(id, now, around);
            }
            stay |= !could_leave;
        }
        stay
    }

    /// Whether the head of a queue, which sleeps, could leave by a port that has so many free flits, if that is known.
    #[inline]
    fn could_leave(
        &mut self,
        id: QueueId,
        queue: &Queue,
        index: u32,
        space: Option<u32>,
        now: Time,
        around: &Surroundings<'_>,
    ) -> bool {
        if queue.vcs > 1 {
            return self.channel_for_node(id, index, queue, now, around.fabric).is_some();
        }
        self.channel_of_sleeper(queue, index, space, now, around)
            .is_some_and(|vc| self.has_room_for_node(id, index, vc, queue.flits))
    }

    /// Where the set begins of an input's VOQs that may sleep at a port.
    #[inline]
    fn sleeping_nodes_at(&self, input: u32, port: u8) -> usize {
        (input as usize * self.shape.ports + usize::from(port)) * self.shape.voqs.div_ceil(64)
    }

    /// The part of a credit that says for which node there is room.
    #[inline(always)]
    pub(super) fn node_of_credit(&self, id: QueueId) -> u32 {
        if self.sorts_by_node() { u32::from(id.voq) << 24 } else { 0 }
    }

    /// Which of the queues that share a connection of an input to the crossbar goes first, where outputs have to say so: those that were
    /// not served last, in turn.
    #[inline]
    pub(super) fn turn_of_node(&self, id: QueueId) -> u64 {
        let (own, last, count) = (usize::from(id.voq), usize::from(self.input(id).last_voq), self.shape.voqs);
        ((own + count - last - 1) % count) as u64
    }

    /// Whether a packet has been granted a connection of its input that another one has got in the same allocation.
    #[inline]
    pub(super) fn has_crossed_meanwhile(&self, request: &Request, now: Time) -> bool {
        self.sorts_by_node() && self.input(request.id).busy_until > now
    }

    fn held_index(&self, index: u32, vc: u8, node: u8) -> usize {
        (index as usize * self.shape.vcs + usize::from(vc)) * self.shape.voqs + usize::from(node)
    }
}
