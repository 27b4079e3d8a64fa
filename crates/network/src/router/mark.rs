//! Marking packets that are queued.

use tailback_protocol::PortVc;
use tailback_routing::PortSet;

use super::state::QueueId;
use super::{Microarchitecture, Routers, Surroundings};
use crate::packet::NONE;
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// Marks the data packets that wait in the input buffers of a router for one of the outputs that those in buffer `like` wait for.
    pub(super) fn mark_queued(
        &mut self,
        first_port: u32,
        like: PortVc,
        marks: u8,
        now: Time,
        around: &mut Surroundings<'_>,
    ) {
        let mut outputs = PortSet::default();
        self.visit_queued(first_port + u32::from(like.port), like.vc, around, |_, _, output| outputs.insert(output));
        let router = self.queue_id(first_port, 0, 0);
        for index in first_port..first_port + self.shape.ports as u32 {
            for vc in 0..self.shape.vcs as u8 {
                self.visit_queued(index, vc, around, |around, packet, output| {
                    if outputs.contains(output) {
                        let before = around.pool[packet].marks;
                        around.pool[packet].marks |= marks;
                        self.trace_marks(router, packet, before, now, around);
                    }
                });
            }
        }
    }

    /// Shows the data packets in an input buffer for which it is known by which port they leave.
    fn visit_queued<'a>(
        &self,
        index: u32,
        vc: u8,
        around: &mut Surroundings<'a>,
        mut visit: impl FnMut(&mut Surroundings<'a>, u32, u8),
    ) {
        for voq in 0..self.shape.voqs {
            let id = self.queue_id(index, voq as u8, vc);
            let mut next = self.queue(id).head;
            while next != NONE {
                let packet = next;
                next = around.pool[packet].next;
                let carries_data = around.fabric.direction(around.pool[packet].kind).carries_data();
                if let Some(output) = self.queued_for(id, packet, around).filter(|_| carries_data) {
                    visit(around, packet, output);
                }
            }
        }
    }

    /// The port that a queued packet waits for, if that is known.
    fn queued_for(&self, id: QueueId, packet: u32, around: &Surroundings<'_>) -> Option<u8> {
        if self.routes_on_arrival() {
            return Some(id.voq);
        }
        let queue = self.queue(id);
        if queue.head == packet && queue.is_settled() {
            return Some(queue.port);
        }
        let (class, entry) = self.entry(id, around.fabric);
        let only = around.only_port(self.inputs[id.index as usize].router, class, entry, &around.pool[packet].header);
        only.or_else(|| self.node_port(id, packet, around))
    }
}
