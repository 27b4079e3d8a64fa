//! Sending again: packets that were dropped, and what was withheld of messages.

use super::due::Again;
use super::part::Part;
use super::retransmit::KeptMessage;
use super::source::LOSSLESS;
use crate::Observer;
use crate::region::NetworkRegion;
use crate::router::Microarchitecture;
use crate::time::Time;

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
    /// Sends something whose time has come, if there is room for it: what is lossless first.
    #[inline(never)]
    pub(super) fn inject_due(&mut self, node: u32, now: Time) -> bool {
        let Some(due) = self.nodes.due.get(node as usize) else { return false };
        let heads = [due.lossless.front().copied(), due.lossy.front().copied()];
        heads
            .into_iter()
            .enumerate()
            .any(|(line, head)| head.is_some_and(|again| self.inject_again(node, again, line == 1, now)))
    }

    /// Sends the first of what may be sent, lossless or lossy, if there is room for it.
    fn inject_again(&mut self, node: u32, again: Again, lossy: bool, now: Time) -> bool {
        let (message, index, send_as) = match again {
            Again::Packet { message, index, kind } => (message, index, self.send_as(kind)),
            Again::Rest { message } => (message, self.nodes.copies[node as usize].get(message).rest_index, LOSSLESS),
        };
        let most = u32::from(self.fabric.spec.packet_flits_max);
        let copy = self.nodes.copies[node as usize].get(message);
        let &KeptMessage { created, destination, traffic, told, .. } = copy;
        let flits = (copy.flits - index * most).min(most) as u16;
        let last = index * most + u32::from(flits) == copy.flits;
        let part = Part { created, destination, message, traffic, index, last };
        let Some(vc) = self.next_channel_with_room(node, send_as.class, flits) else { return false };
        let due = &mut self.nodes.due[node as usize];
        let line = if lossy { &mut due.lossy } else { &mut due.lossless };
        line.pop_front();
        let mut refused_since = None;
        if let Again::Rest { .. } = again {
            let copy = self.nodes.copies[node as usize].get_mut(message);
            refused_since = copy.rest_refused_since.take();
            copy.rest_index += 1;
            copy.rest_flits -= u32::from(flits);
            if copy.rest_flits > 0 {
                due.lossless.push_back(again);
            } else {
                self.nodes.nodes[node as usize].withheld -= 1;
            }
        }
        let packet = self.pool.insert(part.packet(self.node_ids[node as usize], flits, send_as, &self.fabric, now));
        if self.fabric.completes_packets {
            self.complete_packet(node, packet, told, now);
        }
        self.launch(node, packet, vc, now);
        self.note_held(packet, refused_since, now);
        if let Again::Packet { .. } = again {
            self.nodes.flits_dropped -= i64::from(flits);
            self.observer.packet_sent_again(&self.pool[packet], now.into());
        }
        self.forget_if_gone(node, packet, now);
        if last && self.fabric.has_programs && matches!(again, Again::Rest { .. }) {
            self.tell_sent(node, traffic, destination, told, now);
        }
        true
    }
}
