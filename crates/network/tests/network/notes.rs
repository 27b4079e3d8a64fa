//! The observer of tests. There is one, as each further one is a further compilation of networks.

use serde::{Deserialize, Serialize};
use tailback_engine::{Simulation, Tick};
use tailback_network::{MessageDelivery, Microarchitecture, NetworkRegion, Observer, Offer, Packet};

/// Counts everything, and sums up a fingerprint of each report in a way that does not depend on their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub offered: u64,
    pub lost: u64,
    /// By kind of packet, by its number.
    pub packets: [u64; 8],
    pub messages: u64,
    pub latency_ticks: u64,
    /// Packets that their protocol held, and for how long.
    pub held: u64,
    pub held_ticks: u64,
    /// The longest path of any packet.
    pub hops_max: u8,
    pub fingerprint: u64,
}

impl Tally {
    fn note(&mut self, fields: &[u64]) {
        // FNV-1a over the words: enough to tell runs apart.
        let hash = fields.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &field| {
            (hash ^ field).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
        });
        self.fingerprint = self.fingerprint.wrapping_add(hash);
    }

    fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.lost += other.lost;
        self.packets.iter_mut().zip(other.packets).for_each(|(sum, count)| *sum += count);
        self.messages += other.messages;
        self.latency_ticks += other.latency_ticks;
        self.held += other.held;
        self.held_ticks += other.held_ticks;
        self.hops_max = self.hops_max.max(other.hops_max);
        self.fingerprint = self.fingerprint.wrapping_add(other.fingerprint);
    }

    /// The sum over all regions.
    pub fn of<M: Microarchitecture>(simulation: &Simulation<NetworkRegion<NoteTaker, M>>) -> Self {
        let mut sum = Self::default();
        simulation.regions().for_each(|region| sum.add(&region.observer().tally));
        sum
    }
}

impl Observer for Tally {
    fn message_offered(&mut self, offer: &Offer) {
        self.offered += u64::from(!offer.lost);
        self.lost += u64::from(offer.lost);
        self.note(&[1, offer.tick, offer.node.into(), offer.traffic.into(), offer.flits.into(), offer.lost.into()]);
    }

    fn packet_delivered(&mut self, packet: &Packet, tick: Tick) {
        self.packets[packet.kind.index()] += 1;
        self.hops_max = self.hops_max.max(packet.hops);
        let identity = [packet.source, packet.destination, packet.message, packet.index(), packet.hops.into()];
        let mut fields = identity.map(u64::from).to_vec();
        fields.extend([2, tick, packet.created(), packet.injected()]);
        self.note(&fields);
    }

    fn packet_held(&mut self, packet: &Packet, since: Tick, tick: Tick) {
        self.held += 1;
        self.held_ticks += tick - since;
        self.note(&[4, since, tick, packet.source.into(), packet.message.into(), packet.index().into()]);
    }

    fn message_delivered(&mut self, delivery: &MessageDelivery) {
        let MessageDelivery { tick, created, source, destination, traffic, flits } = *delivery;
        self.messages += 1;
        self.latency_ticks += tick - created;
        self.note(&[3, tick, created, source.into(), destination.into(), traffic.into(), flits.into()]);
    }
}

/// Counts, and keeps the packets that arrive if it is to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NoteTaker {
    tally: Tally,
    #[serde(skip)]
    packets: Option<Vec<(Tick, Packet)>>,
}

impl NoteTaker {
    /// One that keeps packets.
    pub fn of_packets() -> Self {
        Self { packets: Some(Vec::new()), ..Self::default() }
    }

    /// All packets in order of arrival.
    pub fn packets(&self) -> &[(Tick, Packet)] {
        self.packets.as_ref().expect("it keeps packets")
    }
}

impl Observer for NoteTaker {
    fn message_offered(&mut self, offer: &Offer) {
        self.tally.message_offered(offer);
    }

    fn packet_delivered(&mut self, packet: &Packet, tick: Tick) {
        self.tally.packet_delivered(packet, tick);
        if let Some(packets) = &mut self.packets {
            packets.push((tick, packet.clone()));
        }
    }

    fn packet_held(&mut self, packet: &Packet, since: Tick, tick: Tick) {
        self.tally.packet_held(packet, since, tick);
    }

    fn message_delivered(&mut self, delivery: &MessageDelivery) {
        self.tally.message_delivered(delivery);
    }
}
