//! Data in order: sources number the packets of a flow, and sinks are told of a packet when all before it have arrived.
//!
//! A flow is what one node sends another. The number of a packet travels as its last word of payload, and is the same when the
//! packet is sent again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::by_flow::{ByFlow, flow};
use crate::packet::Packet;
use crate::payload::Told;
use crate::time::Time;

/// The numbers that the flows of a region's sources have come to: by node and destination. They are looked up, and written in order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "BTreeMap<(u32, u32), u32>", into = "BTreeMap<(u32, u32), u32>")]
pub(crate) struct Numbering(ByFlow<u32>);

impl From<BTreeMap<(u32, u32), u32>> for Numbering {
    fn from(saved: BTreeMap<(u32, u32), u32>) -> Self {
        Self(saved.into_iter().map(|((node, destination), next)| (flow(node, destination), next)).collect())
    }
}

impl From<Numbering> for BTreeMap<(u32, u32), u32> {
    fn from(Numbering(flows): Numbering) -> Self {
        flows.into_iter().map(|(key, next)| (both(key), next)).collect()
    }
}

/// The node and the other one of the key of a flow.
fn both(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

impl Numbering {
    /// The number of the first of so many packets of a flow, which are numbered from there on.
    pub fn take(&mut self, node: u32, destination: u32, packets: u32) -> u32 {
        let next = self.0.entry(flow(node, destination)).or_default();
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
    pub told: Told,
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
#[serde(from = "Saved", into = "Saved")]
pub(crate) struct Resequencing {
    /// By node and source.
    flows: ByFlow<Flow>,
    /// By node: packets that wait. As many as nodes that have received anything need.
    waiting: Vec<u32>,
}

/// What is written of them.
#[derive(Serialize, Deserialize)]
struct Saved {
    flows: BTreeMap<(u32, u32), Flow>,
    waiting: Vec<u32>,
}

impl From<Saved> for Resequencing {
    fn from(Saved { flows, waiting }: Saved) -> Self {
        let flows = flows.into_iter().map(|((node, source), state)| (flow(node, source), state)).collect();
        Self { flows, waiting }
    }
}

impl From<Resequencing> for Saved {
    fn from(Resequencing { flows, waiting }: Resequencing) -> Self {
        Self { flows: flows.into_iter().map(|(key, state)| (both(key), state)).collect(), waiting }
    }
}

impl Resequencing {
    /// How many packets wait.
    pub fn waiting(&self) -> u64 {
        self.waiting.iter().copied().map(u64::from).sum()
    }

    /// A packet has arrived at a node. Appends those that are in order now to a list.
    ///
    /// # Panics
    /// When more than `most` packets wait at the node: the protocol said that it would not let that happen.
    pub fn add(&mut self, node: u32, number: u32, held: Held, most: u32, in_order: &mut Vec<Held>) {
        let flow = self.flows.entry(flow(node, held.packet.source)).or_default();
        if self.waiting.len() <= node as usize {
            self.waiting.resize(node as usize + 1, 0);
        }
        let waiting = &mut self.waiting[node as usize];
        if number != flow.next {
            assert!(flow.waiting.insert(number, held).is_none(), "two packets of a flow have the same number");
            *waiting += 1;
            assert!(*waiting <= most, "the protocol lets more than {most} packets wait for their order at a node");
            return;
        }
        in_order.push(held);
        flow.next = flow.next.wrapping_add(1);
        while let Some(held) = flow.waiting.remove(&flow.next) {
            flow.next = flow.next.wrapping_add(1);
            *waiting -= 1;
            in_order.push(held);
        }
    }
}
