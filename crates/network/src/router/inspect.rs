//! What others see of routers: audits, the search for deadlocks, whoever counts, and the cache.

use super::decision::Decision;
use super::{Microarchitecture, PortId, Routers};
use crate::packet::{NONE, Pool};
use crate::time::Time;

/// A packet that a router holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It is in the input buffer of virtual channel `vc` of `port`.
    Input {
        /// The port.
        port: PortId,
        /// The virtual channel.
        vc: u8,
        /// The packet.
        packet: u32,
        /// Where it wants to go, if it is a head and routed: the port, the first channel that will do, how many.
        wants: Option<(u8, u8, u8)>,
    },
    /// It is in the output queue of `port`, and will leave by channel `vc`.
    Output {
        /// The port.
        port: PortId,
        /// The virtual channel.
        vc: u8,
        /// The packet.
        packet: u32,
        /// Whether it has taken its credits.
        credited: bool,
    },
}

/// A queue of an input that holds packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputQueue {
    /// The port.
    pub port: PortId,
    /// Which of the queues of the virtual channel.
    pub voq: u8,
    /// The virtual channel.
    pub vc: u8,
    /// The first packet.
    pub head: u32,
    /// Its flits.
    pub flits: u16,
    /// Where the head wants to go: the port, the first channel that will do, how many. If it has not been routed, where the
    /// packet before it went.
    pub wants: Option<(u8, u8, u8)>,
    /// Whether it has been routed.
    pub is_routed: bool,
}

impl<M: Microarchitecture> Routers<M> {
    /// Reads a little of what belongs to a port.
    #[inline]
    pub fn prefetch(&self, port: u32) -> u32 {
        let index = port as usize;
        let queues = index * self.shape.voqs * self.shape.vcs;
        self.inputs[index].connection.busy_until ^ self.outputs[index].connection.busy_until ^ self.queues[queues].head
    }

    /// Reads a little of every port, in order.
    pub fn read_through(&self) -> u32 {
        let inputs = self.inputs.iter().fold(0, |sum, port| sum ^ port.connection.busy_until);
        let outputs = self.outputs.iter().fold(inputs, |sum, port| sum ^ port.connection.busy_until);
        // A cache line holds four queues.
        let queues = self.queues.iter().step_by(4).fold(outputs, |sum, queue| sum ^ queue.head);
        queues ^ self.departures.read_through()
    }

    /// Packets that have crossed a router so far, each counted once per router.
    pub fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// When a packet last crossed a router.
    pub fn last_hop(&self) -> Time {
        self.last_hop
    }

    /// Whether a packet is crossing after tick `now` that was the head of a queue of virtual channel `vc` of a port.
    pub fn is_crossing(&self, port: PortId, vc: u8, now: Time) -> bool {
        let input = self.input(self.queue_id(self.port_index(port), 0, vc));
        input.busy_until > now && input.last_vc == vc
    }

    /// Shows all packets that routers hold.
    pub fn visit_packets(&self, pool: &Pool, visit: &mut dyn FnMut(Held)) {
        debug_assert!(
            !self.rules.counts_routed || self.routed_is_counted(pool),
            "VOQs hold other flits than are counted"
        );
        for index in 0..self.inputs.len() as u32 {
            let port = self.port_id(index);
            self.visit_inputs(index, pool, visit);
            let queues = if self.departs_at_once() { 0 } else { self.shape.output_queues };
            for number in 0..queues {
                let head = self.extras.queues[index as usize * queues + number].head;
                for packet in pool.list(head) {
                    let credited = self.rules.claims_first;
                    visit(Held::Output { port, vc: pool[packet].vc, packet, credited });
                }
            }
        }
    }

    /// Whether it is known of each port how many flits VOQs hold for it.
    fn routed_is_counted(&self, pool: &Pool) -> bool {
        let mut found = vec![0u32; self.inputs.len()];
        for (queues, input) in self.queues.chunks(self.shape.voqs * self.shape.vcs).zip(&self.inputs) {
            for (number, queue) in queues.iter().enumerate() {
                let flits: u32 = pool.list(queue.head).map(|packet| u32::from(pool[packet].flits)).sum();
                found[input.first_port as usize + number / self.shape.vcs] += flits;
            }
        }
        self.extras.routed == found
    }

    fn visit_inputs(&self, index: u32, pool: &Pool, visit: &mut dyn FnMut(Held)) {
        let (port, first) = (self.port_id(index), self.queue_index(self.queue_id(index, 0, 0)));
        let queues = &self.queues[first..][..self.shape.voqs * self.shape.vcs];
        for (number, queue) in queues.iter().enumerate() {
            let vc = (number % self.shape.vcs) as u8;
            // What was decided last holds as long as nothing moves, also where it is decided anew at each attempt.
            let is_decided = queue.decision != Decision::Open && queue.vcs > 0;
            let head = is_decided.then_some((queue.port, queue.vc, queue.vcs));
            let wants = std::iter::once(head).chain(std::iter::repeat(None));
            for (packet, wants) in pool.list(queue.head).zip(wants) {
                visit(Held::Input { port, vc, packet, wants });
            }
        }
    }

    /// Shows all queues of inputs that hold packets, as they are before tick `now`. Of a head whose routing decides anew at each
    /// attempt it is known where it wants to go once it has tried, and as long as it may try.
    pub fn visit_input_queues(&self, pool: &Pool, now: Time, cycle: Time, visit: &mut dyn FnMut(InputQueue)) {
        let per_port = self.shape.voqs * self.shape.vcs;
        for (index, queues) in (0..).zip(self.queues.chunks(per_port)) {
            for (number, queue) in queues.iter().enumerate().filter(|(_, queue)| queue.head != NONE) {
                let (voq, vc) = ((number / self.shape.vcs) as u8, (number % self.shape.vcs) as u8);
                let id = self.queue_id(index, voq, vc);
                let (head_at, busy_until) = (pool[queue.head].head_at, self.input(id).busy_until);
                let has_tried = || self.heads(id).asleep & 1 << vc != 0 || head_at.max(busy_until) + cycle <= now;
                let is_routed = queue.vcs > 0 && (queue.is_settled() || has_tried());
                let knows = is_routed || queue.vcs > 0 && head_at + cycle <= now;
                let wants = knows.then_some((queue.port, queue.vc, queue.vcs));
                let (port, head, flits) = (self.port_id(index), queue.head, queue.flits);
                visit(InputQueue { port, voq, vc, head, flits, wants, is_routed });
            }
        }
    }

    /// Whether a channel that will do for the head of a queue has the credits that it needs.
    pub fn has_credits(&self, queue: &InputQueue) -> bool {
        let Some((port, first, count)) = queue.wants else { return false };
        let port = PortId { port, ..queue.port };
        (first..first + count).any(|vc| self.credits(port, vc) >= queue.flits)
    }

    /// Flits that a port's link has sent while it was measured and before tick `now`, which may lie before, inside of or after that
    /// time. Whatever has been granted to the link is taken to follow without a gap, as it does where the link is busy.
    pub fn flits_sent_before(&self, port: PortId, now: Time) -> u32 {
        let output = &self.outputs[self.port_index(port) as usize];
        let granted_from = |time: Time| output.link_free_at.saturating_sub(time) / Time::from(output.flit_ticks.max(1));
        // What leaves after the measured time has not been counted.
        let still_to_send = granted_from(now).saturating_sub(granted_from(self.rules.measured.until));
        output.flits_sent.saturating_sub(still_to_send)
    }

    /// Whether the link of a port sends just before tick `now`, or is going to.
    pub fn is_sending(&self, port: PortId, now: Time) -> bool {
        self.outputs[self.port_index(port) as usize].link_free_at >= now
    }

    /// Whether packets wait for the link of a port that have the credits that they need, beside the one that it sends.
    pub fn link_has_backlog(&self, port: PortId, packet_flits_max: u16, now: Time) -> bool {
        let index = self.port_index(port);
        let output = &self.outputs[index as usize];
        if self.departs_at_once() {
            return output.link_free_at > now + Time::from(packet_flits_max) * Time::from(output.flit_ticks);
        }
        self.rules.claims_first && self.extras.senders[index as usize].filled != 0
    }

    /// Free flits in the buffer of a virtual channel at the other end of a port's link.
    pub fn credits(&self, port: PortId, vc: u8) -> u16 {
        self.credit(self.port_index(port), vc)
    }
}
