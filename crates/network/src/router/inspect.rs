//! What others see of routers: audits, the search for deadlocks, whoever counts, and the cache.

use super::{Microarchitecture, PortId, Routers};
use crate::packet::Pool;
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

    fn visit_inputs(&self, index: u32, pool: &Pool, visit: &mut dyn FnMut(Held)) {
        let (port, first) = (self.port_id(index), self.queue_index(self.queue_id(index, 0, 0)));
        let queues = &self.queues[first..][..self.shape.voqs * self.shape.vcs];
        for (number, queue) in queues.iter().enumerate() {
            let vc = (number % self.shape.vcs) as u8;
            let head = queue.routed.then_some((queue.port, queue.vc, queue.vcs));
            let wants = std::iter::once(head).chain(std::iter::repeat(None));
            for (packet, wants) in pool.list(queue.head).zip(wants) {
                visit(Held::Input { port, vc, packet, wants });
            }
        }
    }

    /// Free flits in the buffer of a virtual channel at the other end of a port's link.
    pub fn credits(&self, port: PortId, vc: u8) -> u16 {
        self.credit(self.port_index(port), vc)
    }
}
