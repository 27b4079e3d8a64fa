//! Receiving: packets arrive, become messages again, and are acknowledged.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use serde::{Deserialize, Serialize};
use tailback_protocol::PacketKind;
use tailback_routing::Header;

use super::lanes::KeyHasher;
use crate::Observer;
use crate::observer::MessageDelivery;
use crate::packet::{NONE, Packet};
use crate::region::NetworkRegion;
use crate::router::Microarchitecture;
use crate::time::Time;

/// What has arrived of messages of several packets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<(u64, Arrived)>", into = "Vec<(u64, Arrived)>")]
pub(crate) struct Reassembly(HashMap<u64, Arrived, BuildHasherDefault<KeyHasher>>);

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Arrived {
    flits: u32,
    packets: u32,
    /// How many packets there are, once the last one has arrived.
    total: Option<u32>,
}

impl From<Vec<(u64, Arrived)>> for Reassembly {
    fn from(entries: Vec<(u64, Arrived)>) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl From<Reassembly> for Vec<(u64, Arrived)> {
    fn from(reassembly: Reassembly) -> Self {
        let mut entries: Self = reassembly.0.into_iter().collect();
        entries.sort_unstable_by_key(|&(key, _)| key);
        entries
    }
}

impl Reassembly {
    /// Adds a packet; returns the size of its message when it is whole.
    fn add(&mut self, packet: &Packet) -> Option<u32> {
        if packet.last && packet.index == 0 {
            return Some(packet.flits.into());
        }
        let key = u64::from(packet.source) << 32 | u64::from(packet.message);
        let arrived = self.0.entry(key).or_default();
        arrived.flits += u32::from(packet.flits);
        arrived.packets += 1;
        if packet.last {
            arrived.total = Some(u32::from(packet.index) + 1);
        }
        if arrived.total != Some(arrived.packets) {
            return None;
        }
        self.0.remove(&key).map(|arrived| arrived.flits)
    }
}

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
    /// The last flit of a packet arrives at its destination.
    pub(crate) fn deliver(&mut self, node: u32, packet: u32, now: Time) {
        let packet = self.pool.remove(packet);
        assert_eq!(packet.destination, self.node_ids[node as usize], "a packet arrived at the wrong node");
        self.observer.packet_delivered(&packet, now.into());
        if packet.kind != PacketKind::Data {
            return;
        }
        self.nodes.flits_received += u64::from(packet.flits);
        if let Some(flits) = self.nodes.reassembly.add(&packet) {
            let Packet { source, destination, traffic, .. } = packet;
            let (tick, created) = (now.into(), packet.created());
            self.observer.message_delivered(&MessageDelivery { tick, created, source, destination, traffic, flits });
        }
        if let Some(class) = self.fabric.spec.acknowledgement_class {
            self.acknowledge(node, class, &packet, now);
        }
    }

    /// Puts an acknowledgement of a data packet among the control packets of its destination.
    fn acknowledge(&mut self, node: u32, class: u8, packet: &Packet, now: Time) {
        let acknowledgement = Packet {
            created: now,
            injected: now,
            head_at: now,
            tail_lag: 0,
            next: NONE,
            source: packet.destination,
            destination: packet.source,
            message: packet.message,
            header: Header::new(self.fabric.topology.locator(packet.source)),
            flits: 1,
            index: packet.index,
            traffic: packet.traffic,
            class,
            vc: 0,
            vcs: 1,
            hops: 0,
            last: true,
            kind: PacketKind::Acknowledgement,
        };
        let place = self.pool.insert(acknowledgement);
        let record = &mut self.nodes.nodes[node as usize];
        let last = std::mem::replace(&mut record.control_tail, place);
        if record.control_head == NONE {
            record.control_head = place;
        } else {
            self.pool[last].next = place;
        }
        self.make_ready(node);
    }
}
