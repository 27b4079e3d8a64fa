//! The packets from a node to another: which of them are traced, and what keeps them in the interface.
//!
//! **The invariant it keeps:** only the region of the source decides, and by what happens in the source alone.

use std::collections::BTreeMap;

use tailback_engine::Tick;
use tailback_topology::NodeId;

use super::{Blocked, MessageTrace, Story};
use crate::packet::Packet;
use crate::time::Time;

/// The packets that a node sends another, data and control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedPackets {
    /// The node that sends them.
    pub source: NodeId,
    /// The node that they are for.
    pub destination: NodeId,
    /// The first that are traced leave at this tick or later.
    pub from: Tick,
    /// The most that are traced.
    pub most: u32,
}

/// Which packets a region has marked as traced.
#[derive(Clone, Debug)]
pub(super) struct PacketTrace {
    plan: TracedPackets,
    /// Those that have left, and those of them that are traced.
    sent: u64,
    traced: u32,
    /// By message and index: what packets wait for that are still in the interface.
    stories: BTreeMap<(u32, u32), Story>,
}

impl PacketTrace {
    pub fn of(plan: TracedPackets) -> Self {
        Self { plan, sent: 0, traced: 0, stories: BTreeMap::new() }
    }

    fn is_between(&self, source: NodeId, destination: NodeId) -> bool {
        (source, destination) == (self.plan.source, self.plan.destination)
    }

    /// Packets that are left out, as enough are traced.
    pub fn left_out(&self) -> u64 {
        self.sent - u64::from(self.traced)
    }
}

impl MessageTrace {
    /// Whether packets are traced, and not a message.
    pub fn is_of_packets(&self) -> bool {
        self.packets.is_some()
    }

    /// A packet leaves its node: whether it is one of those that are traced.
    pub fn takes(&mut self, packet: &Packet, now: Time) -> bool {
        let Some(packets) = &mut self.packets else { return false };
        if !packets.is_between(packet.source, packet.destination) || Tick::from(now) < packets.plan.from {
            return false;
        }
        packets.sent += 1;
        let takes = packets.traced < packets.plan.most;
        packets.traced += u32::from(takes);
        takes
    }

    /// The next packet of a message cannot leave its node, from now on.
    pub fn keeps(&mut self, (source, destination): (NodeId, NodeId), name: (u32, u32), blocked: Blocked, now: Time) {
        let Some(packets) = &mut self.packets else { return };
        if packets.is_between(source, destination) && packets.traced < packets.plan.most {
            packets.stories.entry(name).or_default().turn(blocked, now.into());
        }
    }

    /// What a packet has waited for that leaves its node.
    pub fn story_of(&mut self, packet: &Packet) -> Story {
        let is_here = |packets: &PacketTrace| packets.is_between(packet.source, packet.destination);
        let packets = self.packets.as_mut().filter(|packets| is_here(packets));
        packets.and_then(|packets| packets.stories.remove(&(packet.message, packet.index()))).unwrap_or_default()
    }
}
