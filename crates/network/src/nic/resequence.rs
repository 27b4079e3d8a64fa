//! Data in order: sources number the packets of a flow, and sinks are told of a packet when all before it have arrived.
//!
//! A flow is what one node sends another. The number of a packet travels as its last word of payload, and is the same when the
//! packet is sent again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::packet::Packet;
use crate::time::Time;

/// The numbers that the flows of a region's sources have come to: by node and destination.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Numbering(BTreeMap<(u32, u32), u32>);

impl Numbering {
    /// The number of the first of so many packets of a flow, which are numbered from there on.
    pub fn take(&mut self, node: u32, destination: u32, packets: u32) -> u32 {
        let next = self.0.entry((node, destination)).or_default();
        let first = *next;
        *next = next.wrapping_add(packets);
        first
    }
}

/// A packet that has arrived.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Held {
    pub packet: Packet,
    pub payload: Vec<u64>,
    /// What a program tells with its message.
    pub word: u64,
    /// When its last flit arrived.
    pub arrived: Time,
}

/// What has arrived of a flow out of order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Flow {
    /// The number of the next packet in order.
    next: u32,
    waiting: BTreeMap<u32, Held>,
}

/// The packets that wait at the nodes of a region for others before them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Resequencing {
    /// By node and source.
    flows: BTreeMap<(u32, u32), Flow>,
    /// By node: packets that wait.
    waiting: BTreeMap<u32, u32>,
}

impl Resequencing {
    /// How many packets wait.
    pub fn waiting(&self) -> u64 {
        self.waiting.values().copied().map(u64::from).sum()
    }

    /// A packet has arrived at a node. Returns those that are in order now.
    ///
    /// # Panics
    /// When more than `most` packets wait at the node: the protocol said that it would not let that happen.
    pub fn add(&mut self, node: u32, number: u32, held: Held, most: u32) -> Vec<Held> {
        let flow = self.flows.entry((node, held.packet.source)).or_default();
        let waiting = self.waiting.entry(node).or_default();
        if number != flow.next {
            assert!(flow.waiting.insert(number, held).is_none(), "two packets of a flow have the same number");
            *waiting += 1;
            assert!(*waiting <= most, "the protocol lets more than {most} packets wait for their order at a node");
            return Vec::new();
        }
        let mut in_order = vec![held];
        flow.next = flow.next.wrapping_add(1);
        while let Some(held) = flow.waiting.remove(&flow.next) {
            flow.next = flow.next.wrapping_add(1);
            *waiting -= 1;
            in_order.push(held);
        }
        in_order
    }
}
