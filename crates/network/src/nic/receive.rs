//! Receiving: packets arrive, become messages again, and are acknowledged.

use serde::{Deserialize, Serialize};
use tailback_hardware::Delivery;
use tailback_protocol::{Arrival, Direction, Party, Sink, SinkAction};

use super::by_flow::{ByKey, both_as_key};
use super::due::What;
use super::resequence::Held;
use crate::Observer;
use crate::control_network::Recipient;
use crate::fabric::Fabric;
use crate::observer::MessageDelivery;
use crate::packet::Packet;
use crate::payload::{Payloads, Told};
use crate::region::NetworkRegion;
use crate::router::Microarchitecture;
use crate::time::Time;

/// What has arrived of messages of several packets: by source and message.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<(u64, Arrived)>", into = "Vec<(u64, Arrived)>")]
pub(crate) struct Reassembly(ByKey<Arrived>);

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
    #[inline(always)]
    fn add(&mut self, packet: &Packet) -> Option<u32> {
        if packet.is_last() && packet.index() == 0 { Some(packet.flits.into()) } else { self.add_part(packet) }
    }

    /// The same of a message of several packets.
    #[inline(never)]
    fn add_part(&mut self, packet: &Packet) -> Option<u32> {
        let key = both_as_key(packet.source, packet.message);
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
        let slot = packet;
        let packet = self.pool.remove(slot);
        assert_eq!(packet.destination, self.node_ids[node as usize], "a packet arrived at the wrong node");
        self.trace_delivery(node, slot, &packet, now);
        self.observer.packet_delivered(&packet, now.into());
        let direction = self.fabric.direction(packet.kind);
        if !direction.carries_data() {
            return self.receive_control(node, slot, &packet, direction, now);
        }
        self.nodes.flits_received += u64::from(packet.flits);
        match self.fabric.hooks.resequencing {
            None => {
                let told = self.payloads.told(slot);
                self.take_data(node, &packet, Payload::Of(slot), told, now);
            }
            Some(most) => self.take_in_order(node, slot, packet, most, now),
        }
    }

    /// The sink of a node is told of a data packet at once, and again when all before it have arrived.
    #[inline(never)]
    fn take_in_order(&mut self, node: u32, slot: u32, packet: Packet, most: u32, now: Time) {
        // Both now: what the sink sends may take the slot that the packet had in the pool.
        let payload = Payload::Of(slot).words(&packet, &self.payloads, &self.fabric).to_vec();
        let (number, told) = (self.payloads.number(slot), self.payloads.told(slot));
        if self.has_sinks() {
            self.tell_sink(node, &packet, Payload::Words(&payload), now, |sink, arrival, now, actions| {
                sink.on_arrival(arrival, now, actions);
            });
        }
        let held = Held { packet, payload, told, arrived: now };
        if self.nodes.resequencing.passes(node, number, held.packet.source) {
            self.put_on_egress(node, held, now);
        } else {
            let mut in_order = std::mem::take(&mut self.nodes.in_order);
            self.nodes.resequencing.add(node, number, held, most, &mut in_order);
            in_order.drain(..).for_each(|held| self.put_on_egress(node, held, now));
            self.nodes.in_order = in_order;
        }
        if let Some(flits) = self.fabric.spec.nic.pause_flits {
            self.nodes.pause_if_behind(node, flits, self.fabric.spec.line_flit_ticks(), now);
        }
    }

    /// A packet that is in order goes on the egress line, if there is one.
    fn put_on_egress(&mut self, node: u32, held: Held, now: Time) {
        let at = self.nodes.egress.leaves_at(node, &held.packet, self.fabric.spec.line_flit_ticks(), now);
        if at == now {
            self.nodes.egress.pass(node, at);
            self.take_held(node, &held, now);
        } else {
            self.nodes.egress.wait(node, held, at);
            self.wait_until(node, at.into(), What::Egress);
        }
    }

    /// The last flit of the next packet on the egress line has left.
    pub(super) fn leave_in_order(&mut self, node: u32, now: Time) {
        let held = self.nodes.egress.take(node);
        self.take_held(node, &held, now);
    }

    /// A node takes a data packet that is in order.
    fn take_held(&mut self, node: u32, Held { packet, payload, told, arrived }: &Held, now: Time) {
        if self.fabric.spec.nic.delivery == Delivery::InOrder {
            self.observer.packet_in_order(packet, (*arrived).into(), now.into());
        }
        self.take_data(node, packet, Payload::Words(payload), *told, now);
    }

    /// A node takes a data packet.
    #[inline(always)]
    fn take_data(&mut self, node: u32, packet: &Packet, payload: Payload<'_>, told: Told, now: Time) {
        let whole = self.nodes.reassembly.add(packet);
        if let Some(flits) = whole {
            let &Packet { source, destination, traffic, .. } = packet;
            let (tick, created) = (now.into(), packet.created());
            self.trace_complete(node, packet, told, now);
            self.observer.message_delivered(&MessageDelivery { tick, created, source, destination, traffic, flits });
        }
        if self.has_sinks() {
            self.tell_sink(node, packet, payload, now, |sink, arrival, now, actions| {
                sink.on_data(arrival, now, actions);
            });
        }
        // Last: what the rank sends may take the slot that the packet had in the pool.
        if whole.is_some() && self.fabric.has_programs {
            self.tell_arrival(node, packet, told, now);
        }
    }

    /// Whether nodes have sinks, as they do with some protocols.
    #[inline]
    fn has_sinks(&self) -> bool {
        !self.protocol.sinks.is_empty()
    }

    /// Tells the sink of a node something about a data packet. A function of its own, as most networks have none.
    #[inline(never)]
    fn tell_sink(
        &mut self,
        node: u32,
        packet: &Packet,
        payload: Payload<'_>,
        now: Time,
        tell: impl FnOnce(&mut dyn Sink, &Arrival<'_>, u64, &mut Vec<SinkAction>),
    ) {
        let mut actions = std::mem::take(&mut self.protocol.sink_actions);
        let &Packet { kind, source: from, destination: to, flits, marks, hops, .. } = packet;
        let payload = payload.words(packet, &self.payloads, &self.fabric);
        let (packet, sent_at, entropy) = (packet.name(), packet.injected(), packet.header.entropy);
        let arrival = Arrival { kind, from, to, packet, flits, marks, entropy, sent_at, hops, payload };
        tell(self.protocol.sinks[node as usize].as_mut(), &arrival, now.into(), &mut actions);
        self.act_as_sink(node, actions, now);
    }

    #[inline(never)]
    fn receive_control(&mut self, node: u32, slot: u32, packet: &Packet, direction: Direction, now: Time) {
        if direction.asks_sink() {
            if direction == Direction::Trimmed {
                self.nodes.flits_dropped += i64::from(packet.word);
            }
            let request = packet.control(slot, &self.payloads, &self.fabric).expect("a request is a control packet");
            let mut actions = std::mem::take(&mut self.protocol.sink_actions);
            self.protocol.sinks[node as usize].on_request(&request, now.into(), &mut actions);
            self.act_as_sink(node, actions, now);
        } else if !self.protocol.sources.is_empty() {
            self.on_control(node, slot, packet, now);
        }
    }

    /// A timer of the sink is due.
    pub(super) fn on_sink_timer(&mut self, node: u32, token: u32, now: Time) {
        let mut actions = std::mem::take(&mut self.protocol.sink_actions);
        self.protocol.sinks[node as usize].on_timer(token, now.into(), &mut actions);
        self.act_as_sink(node, actions, now);
    }

    /// Messages of the control network are due, or timers of controllers.
    pub(crate) fn receive_messages(&mut self, now: Time) {
        self.control_network.begin(now.into());
        while let Some((recipient, from, words)) = self.control_network.take(now.into(), &mut self.wheel) {
            match recipient {
                Recipient::Source(node) => {
                    let mut actions = std::mem::take(&mut self.protocol.actions);
                    self.protocol.sources[node as usize].on_message(from, &words, now.into(), &mut actions);
                    self.act(node, &mut actions, now);
                    self.protocol.actions = actions;
                }
                Recipient::Sink(node) => {
                    let mut actions = std::mem::take(&mut self.protocol.sink_actions);
                    self.protocol.sinks[node as usize].on_message(from, &words, now.into(), &mut actions);
                    self.act_as_sink(node, actions, now);
                }
            }
        }
    }

    /// Does what the sink wants, and keeps the memory of the list.
    fn act_as_sink(&mut self, node: u32, mut actions: Vec<SinkAction>, now: Time) {
        for action in &actions {
            match *action {
                SinkAction::Control(ref control) => self.send_control(node, control, now),
                SinkAction::Timer { at, token } => {
                    self.wait_until(node, at.max(u64::from(now) + 1), What::SinkTimer { token });
                }
                SinkAction::Tell { to, words, after } => {
                    self.control_network.send(Party::Sink(self.node_ids[node as usize]), to, words, after);
                }
            }
        }
        actions.clear();
        self.protocol.sink_actions = actions;
    }
}

/// Where the payload of a packet is.
#[derive(Clone, Copy)]
enum Payload<'a> {
    /// Where that of the packet was with this slot in the pool.
    Of(u32),
    /// Here.
    Words(&'a [u64]),
}

impl<'a> Payload<'a> {
    /// The words that the protocol declares for a packet.
    #[inline]
    fn words(self, packet: &Packet, payloads: &'a Payloads, fabric: &Fabric) -> &'a [u64] {
        match self {
            Self::Of(slot) => payloads.of(slot, fabric.kinds[packet.kind.index()].payload_words),
            Self::Words(words) => words,
        }
    }
}
