//! In which order a node tries to send of its injection queues.

use super::source_queues::SourceQueues;
use crate::Observer;
use crate::region::NetworkRegion;
use crate::router::Microarchitecture;

/// The order in which a node tries to send of its injection queues.
pub(super) struct Attempts {
    last: usize,
    step: usize,
    /// A bit for each that had no room in its channel, where destinations take turns by number: each has a channel then.
    had_no_room: u32,
}

const _: () = assert!(tailback_hardware::VCS_MAX <= u32::BITS as usize);

impl Attempts {
    #[inline]
    pub fn next(&mut self, node: u32, sources: &mut SourceQueues) -> Option<usize> {
        if sources.take_turns() {
            return sources.next_turn(node, self.had_no_room);
        }
        let count = sources.injection_queues_per_node();
        self.step += 1;
        let next = self.last + self.step;
        (self.step <= count).then(|| if next < count { next } else { next - count })
    }

    #[inline]
    pub fn had_no_room(&mut self, injection_queue: usize) {
        self.had_no_room |= 1 << injection_queue;
    }
}

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
    /// The injection queues of a node from the one after that which sent last.
    #[inline]
    pub(super) fn attempts(&self, node: u32) -> Attempts {
        let record = &self.nodes.nodes[node as usize];
        // A single message is as soon tried.
        let full = if self.nodes.sources.take_turns() && record.waiting > 1 { self.full_channels(node) } else { 0 };
        Attempts { last: record.last_injection_queue.into(), step: 0, had_no_room: full }
    }

    /// The injection queues of a node whose channel has no room for anything, where destinations take turns by number. None where sources
    /// are asked, who hear about packets without room as well, or where more than room is needed.
    fn full_channels(&self, node: u32) -> u32 {
        let class = &self.fabric.spec.classes[0];
        let (first, count) = (usize::from(class.first_vc[0]), usize::from(class.vcs[0]));
        let have_channels = self.nodes.sources.injection_queues_per_node() == count;
        if M::TRACES || !have_channels || !self.protocol.sources.is_empty() || self.nodes.rooms.exist() {
            return 0;
        }
        let free = &self.nodes.free[node as usize * self.fabric.shape.vcs + first..][..count];
        free.iter().rev().fold(0, |full, &free| full << 1 | u32::from(free == 0))
    }
}
