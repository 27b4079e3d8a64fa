//! Receiving: packets arrive, become messages again, and are acknowledged.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use serde::{Deserialize, Serialize};
use tailback_protocol::{Arrival, Direction};

use super::source_queues::KeyHasher;
use crate::Observer;
use crate::observer::MessageDelivery;
use crate::packet::Packet;
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
        if packet.is_last() && packet.index() == 0 {
            return Some(packet.flits.into());
        }
        let key = u64::from(packet.source) << 32 | u64::from(packet.message);
        let arrived = self.0.entry(key).or_default();
        arrived.flits += u32::from(packet.flits);
        arrived.packets += 1;
        if packet.is_last() {
            arrived.total = Some(packet.index() + 1);
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
        let place = packet;
        let packet = self.pool.remove(place);
        assert_eq!(packet.destination, self.node_ids[node as usize], "a packet arrived at the wrong node");
        self.observer.packet_delivered(&packet, now.into());
        let direction = self.fabric.direction(packet.kind);
        if !direction.carries_data() {
            return self.receive_control(node, place, &packet, direction, now);
        }
        self.nodes.flits_received += u64::from(packet.flits);
        if let Some(flits) = self.nodes.reassembly.add(&packet) {
            let Packet { source, destination, traffic, .. } = packet;
            let (tick, created) = (now.into(), packet.created());
            self.observer.message_delivered(&MessageDelivery { tick, created, source, destination, traffic, flits });
        }
        if let Some(sink) = self.protocol.sinks.get_mut(node as usize) {
            let Packet { kind, source: from, destination: to, flits, marks, hops, .. } = packet;
            let (packet, sent_at, entropy) = (packet.name(), packet.injected(), packet.header.entropy);
            let payload = self.payloads.of(place, self.fabric.kinds[kind.index()].payload_words);
            let arrival = Arrival { kind, from, to, packet, flits, marks, entropy, sent_at, hops, payload };
            sink.on_data(&arrival, now.into(), &mut self.protocol.replies);
            self.send_replies(node, now);
        }
    }

    fn receive_control(&mut self, node: u32, place: u32, packet: &Packet, direction: Direction, now: Time) {
        if direction.asks_sink() {
            if direction == Direction::Trimmed {
                self.nodes.flits_dropped += i64::from(packet.word);
            }
            let request = packet.control(place, &self.payloads, &self.fabric).expect("a request is a control packet");
            self.protocol.sinks[node as usize].on_request(&request, now.into(), &mut self.protocol.replies);
            self.send_replies(node, now);
        } else if !self.protocol.sources.is_empty() {
            self.on_control(node, place, packet, now);
        }
    }

    fn send_replies(&mut self, node: u32, now: Time) {
        let mut replies = std::mem::take(&mut self.protocol.replies);
        for reply in replies.drain(..) {
            self.send_control(node, &reply, now);
        }
        self.protocol.replies = replies;
    }
}
