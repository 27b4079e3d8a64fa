//! The protocol's source is asked and told, and what it wants is done.

use tailback_protocol::{Control, Direction, Offered, Outgoing, PacketKind, PacketRef, Party, SourceAction, Verdict};

use super::due::{Again, What};
use crate::Observer;
use crate::event::{Event, EventKind};
use crate::packet::{NONE, Packet};
use crate::payload::Told;
use crate::region::NetworkRegion;
use crate::router::Microarchitecture;
use crate::time::Time;
use tailback_hardware::TICKS_MAX;

/// What a data packet is sent as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SendAs {
    pub kind: PacketKind,
    pub class: u8,
    pub marks: u8,
}

/// What packets are sent as that nobody is asked about.
pub(super) const LOSSLESS: SendAs = SendAs { kind: PacketKind::DATA, class: 0, marks: 0 };

/// The answer of a source about a packet.
pub(super) enum Answer {
    /// The packet may leave.
    Go(SendAs),
    /// It may not leave now, nor may any other for its destination.
    Parked,
}

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
    /// Asks whether the next packet of an injection queue, of `flits` flits, may leave.
    pub(super) fn ask(&mut self, node: u32, injection_queue: usize, flits: u16, now: Time) -> Answer {
        let packet = self.outgoing(node, injection_queue, flits);
        let mut actions = std::mem::take(&mut self.protocol.actions);
        let verdict = self.protocol.sources[node as usize].may_send(&packet, now.into(), &mut actions);
        self.trace_verdict(node, &packet, verdict, &actions, now);
        self.act(node, &mut actions, now);
        self.protocol.actions = actions;
        if !matches!(verdict, Verdict::Send { .. }) {
            self.nodes.sources.refuse(node, injection_queue, now);
        }
        debug_assert_eq!(
            self.nodes.sources.first_destination(node, injection_queue),
            Some(packet.destination),
            "a source that is asked opens no queue that has its turn before"
        );
        match verdict {
            Verdict::Send { kind, marks } => Answer::Go(SendAs { marks, ..self.send_as(kind) }),
            Verdict::NotBefore(tick) => {
                let destination = self.nodes.sources.park(node, injection_queue);
                // A tick that is over would be asked about for ever in this one.
                let tick = tick.max(u64::from(now) + 1);
                if tick <= TICKS_MAX {
                    self.wait_until(node, tick, What::Queue { destination });
                }
                Answer::Parked
            }
            Verdict::Hold => {
                let destination = self.nodes.sources.park(node, injection_queue);
                self.nodes.due[node as usize].hold(destination);
                Answer::Parked
            }
        }
    }

    /// What a packet of a kind is sent as, without marks.
    pub(super) fn send_as(&self, kind: PacketKind) -> SendAs {
        SendAs { kind, class: self.fabric.kinds[kind.index()].class, marks: 0 }
    }

    /// The next packet of an injection queue, as sources see it. Its message gets its name now, if copies are kept.
    fn outgoing(&mut self, node: u32, injection_queue: usize, flits: u16) -> Outgoing {
        let source = self.node_ids[node as usize];
        let message = self.nodes.sources.front(node, injection_queue).expect("a message waits");
        let mut message_flits = message.flits_left;
        if self.fabric.hooks.copies {
            let copies = &mut self.nodes.copies[node as usize];
            if message.serial == NONE {
                message.serial = copies.keep(message, self.fabric.spec.packet_flits_max);
                Self::trace_name(&mut self.trace, &self.fabric, source, message);
                if self.fabric.hooks.resequencing.is_some() {
                    let packets = message.flits_left.div_ceil(self.fabric.spec.packet_flits_max.into());
                    let first = self.nodes.numbering.take(node, message.destination, packets);
                    copies.get_mut(message.serial).first_number = first;
                }
            }
            message_flits = copies.get(message.serial).flits;
        }
        let packet = PacketRef { message: message.serial, index: message.index };
        Outgoing { packet, source, destination: message.destination, flits, message_flits }
    }

    /// A data packet gets its entropy value and its payload before it leaves, and what a program tells with its message.
    #[cold]
    pub(super) fn complete_packet(&mut self, node: u32, packet: u32, told: Told, now: Time) {
        if self.fabric.hooks.entropy {
            let outgoing = self.departing(node, packet);
            let entropy = self.protocol.sources[node as usize].entropy(&outgoing, now.into());
            self.pool[packet].header.entropy = entropy;
        }
        if self.payloads.exist() {
            self.write_payload(node, packet, now);
            self.payloads.set_told(packet, told);
        }
    }

    fn write_payload(&mut self, node: u32, packet: u32, now: Time) {
        self.payloads.clear(packet);
        let words = self.fabric.kinds[self.pool[packet].kind.index()].payload_words;
        if words > 0 && !self.protocol.sources.is_empty() {
            let outgoing = self.departing(node, packet);
            let payload = self.payloads.of_mut(packet, words);
            self.protocol.sources[node as usize].write_payload(&outgoing, now.into(), payload);
        }
        if self.fabric.hooks.resequencing.is_some() {
            let number = self.number(node, packet);
            self.payloads.set_number(packet, number);
        }
    }

    /// The number of a packet that leaves in its flow. Where copies are kept a message got its numbers with its name, as its packets may leave
    /// in any order and again.
    fn number(&mut self, node: u32, packet: u32) -> u32 {
        let packet = &self.pool[packet];
        match self.nodes.copies.get(node as usize) {
            Some(copies) => copies.get(packet.message).first_number.wrapping_add(packet.index()),
            None => self.nodes.numbering.take(node, packet.destination, 1),
        }
    }

    /// A data packet that leaves, as sources see it.
    fn departing(&self, node: u32, packet: u32) -> Outgoing {
        let record = &self.pool[packet];
        let (packet, flits) = (record.name(), record.flits);
        let (source, destination) = (record.source, record.destination);
        let copies = self.nodes.copies.get(node as usize);
        let message_flits = copies.map_or(flits.into(), |copies| copies.get(packet.message).flits);
        Outgoing { packet, source, destination, flits, message_flits }
    }

    /// A packet has left, for the first time, at a node that has a source.
    pub(super) fn has_departed(&mut self, node: u32, packet: u32, refused_since: Option<Time>, now: Time) {
        self.note_held(packet, refused_since, now);
        if self.fabric.hooks.departures {
            self.tell_departure(node, packet, now);
        }
    }

    /// Tells the observer of a packet that has left, if the source did not let it go at once.
    pub(super) fn note_held(&mut self, packet: u32, refused_since: Option<Time>, now: Time) {
        if let Some(since) = refused_since {
            self.observer.packet_held(&self.pool[packet], since.into(), now.into());
        }
    }

    fn tell_departure(&mut self, node: u32, packet: u32, now: Time) {
        let outgoing = self.departing(node, packet);
        self.protocol.sources[node as usize].sent(&outgoing, now.into());
    }

    /// A data packet has left, which nobody acknowledges if it is lossless.
    #[inline(always)]
    pub(super) fn forget_if_gone(&mut self, node: u32, packet: u32, now: Time) {
        if self.fabric.hooks.unacknowledged && self.fabric.direction(self.pool[packet].kind) == Direction::Data {
            self.forget_gone(node, packet, now);
        }
    }

    fn forget_gone(&mut self, node: u32, packet: u32, now: Time) {
        let outgoing = self.departing(node, packet);
        let mut actions = std::mem::take(&mut self.protocol.actions);
        self.protocol.sources[node as usize].gone(&outgoing, now.into(), &mut actions);
        self.trace_actions(node, false, &actions, now);
        actions.push(SourceAction::Forget(outgoing.packet));
        self.act(node, &mut actions, now);
        self.protocol.actions = actions;
    }

    /// Tells that a message is offered.
    pub(super) fn tell_offer(&mut self, node: u32, destination: u32, flits: u32, now: Time) {
        let mut actions = std::mem::take(&mut self.protocol.actions);
        let message = Offered { source: self.node_ids[node as usize], destination, flits };
        self.protocol.sources[node as usize].offered(&message, now.into(), &mut actions);
        self.act(node, &mut actions, now);
        self.protocol.actions = actions;
    }

    /// A control packet for the source has arrived.
    pub(super) fn on_control(&mut self, node: u32, slot: u32, packet: &Packet, now: Time) {
        if self.fabric.direction(packet.kind) == Direction::Nack {
            self.nodes.flits_dropped += i64::from(packet.about_flits);
        }
        let control = packet.control(slot, &self.payloads, &self.fabric).expect("only control packets come here");
        let mut actions = std::mem::take(&mut self.protocol.actions);
        let latency = u64::from(now - packet.injected);
        self.protocol.sources[node as usize].on_control(&control, latency, now.into(), &mut actions);
        self.trace_actions(node, packet.is_traced(), &actions, now);
        self.act(node, &mut actions, now);
        self.protocol.actions = actions;
    }

    /// Does what the source wants.
    pub(super) fn act(&mut self, node: u32, actions: &mut Vec<SourceAction>, now: Time) {
        for action in &*actions {
            match *action {
                SourceAction::Control(ref control) => self.send_control(node, control, now),
                SourceAction::Forget(packet) => {
                    if self.nodes.copies[node as usize].forget(packet.message) {
                        self.trace_forgotten(node, packet.message, now);
                        self.protocol.sources[node as usize].done(packet.message);
                    }
                }
                SourceAction::Withhold { message } => self.withhold(node, message),
                SourceAction::Resume { message, at } => {
                    if self.nodes.copies[node as usize].get(message).rest_flits > 0 {
                        self.send_from(node, at, Again::Rest { message }, now);
                    }
                }
                SourceAction::Resend { packet: PacketRef { message, index }, kind, at } => {
                    self.send_from(node, at, Again::Packet { message, index, kind }, now);
                }
                SourceAction::Open { destination } => {
                    if self.nodes.due[node as usize].open(destination) {
                        self.open(node, destination, now);
                    }
                }
                SourceAction::OpenAll => {
                    let held = self.nodes.due[node as usize].open_all();
                    held.into_iter().for_each(|destination| self.open(node, destination, now));
                }
                SourceAction::Timer { at, token } => {
                    self.wait_until(node, at.max(u64::from(now) + 1), What::Timer { token });
                }
                SourceAction::Tell { to, words, after } => {
                    self.control_network.send(Party::Source(self.node_ids[node as usize]), to, words, after);
                }
            }
        }
        actions.clear();
    }

    /// Asks again about the packets for a destination.
    #[inline]
    fn open(&mut self, node: u32, destination: u32, now: Time) {
        self.nodes.sources.unpark(node, self.node_ids[node as usize], destination);
        self.make_ready(node, now);
    }

    /// Takes what is left of a message out of its send queue.
    fn withhold(&mut self, node: u32, name: u32) {
        let copy = self.nodes.copies[node as usize].get_mut(name);
        let Some((rest, refused_since)) = self.nodes.sources.withdraw(node, copy.destination, name) else { return };
        (copy.rest_index, copy.rest_flits, copy.rest_refused_since) = (rest.index, rest.flits_left, refused_since);
        let record = &mut self.nodes.nodes[node as usize];
        (record.waiting, record.withheld) = (record.waiting - 1, record.withheld + 1);
    }

    /// Puts a control packet among those of its class.
    pub(super) fn send_control(&mut self, node: u32, control: &Control, now: Time) {
        let mut packet = Packet::of_control(control, &self.fabric, now);
        self.trace_control(control, &mut packet);
        let slot = self.pool.insert(packet);
        self.payloads.set_control(slot, control, &self.fabric.kinds[control.kind.index()]);
        self.nodes.nodes[node as usize].control_waiting += 1;
        let class = self.pool[slot].class;
        let list = self.nodes.control_list(node, class);
        let last = std::mem::replace(&mut list.last, slot);
        if list.first == NONE {
            list.first = slot;
        } else {
            self.pool[last].next = slot;
        }
        self.make_ready(node, now);
    }

    /// Lets something be sent from a tick on.
    fn send_from(&mut self, node: u32, tick: u64, again: Again, now: Time) {
        if tick <= now.into() {
            self.line_up(node, again);
            self.make_ready(node, now);
        } else {
            self.wait_until(node, tick, What::Again(again));
        }
    }

    /// Puts something behind what may be sent.
    fn line_up(&mut self, node: u32, again: Again) {
        let due = &mut self.nodes.due[node as usize];
        match again {
            Again::Packet { kind, .. } if self.fabric.direction(kind) == Direction::LossyData => {
                due.lossy.push_back(again);
            }
            _ => due.lossless.push_back(again),
        }
    }

    /// Lets something wait until a tick that lies ahead.
    pub(super) fn wait_until(&mut self, node: u32, tick: u64, what: What) {
        // Beyond the end of time nothing is sent.
        let at = Time::try_from(tick).unwrap_or(Time::MAX);
        let announcement = self.nodes.due[node as usize].wait(at, what);
        if let Some(number) = announcement {
            self.announce(node, at, number);
        }
    }

    fn announce(&mut self, node: u32, at: Time, number: u32) {
        if u64::from(at) <= TICKS_MAX {
            self.wheel.schedule(at.into(), Event::at(EventKind::Due, node, number));
        }
    }

    /// The time of something that waits has come.
    pub(crate) fn release_due(&mut self, node: u32, announcement: u32, now: Time) {
        if !self.nodes.due[node as usize].is_announced(announcement) {
            return; // something else was to come sooner
        }
        while let Some(what) = self.nodes.due[node as usize].take(now) {
            match what {
                What::Again(again) => self.line_up(node, again),
                What::Queue { destination } => {
                    self.nodes.sources.unpark(node, self.node_ids[node as usize], destination);
                }
                What::Timer { token } => self.on_timer(node, token, now),
                What::SinkTimer { token } => self.on_sink_timer(node, token, now),
                What::Egress => self.leave_in_order(node, now),
                What::Start { seat } => self.tell_rank(node, seat, None, now),
                What::Elapsed { seat, token } => self.tell_rank(node, seat, Some(token), now),
                What::WithinNode(message) => self.arrive_within_node(node, message, now),
            }
        }
        if let Some((at, number)) = self.nodes.due[node as usize].next_announcement() {
            self.announce(node, at, number);
        }
        self.make_ready(node, now);
    }

    fn on_timer(&mut self, node: u32, token: u32, now: Time) {
        let mut actions = std::mem::take(&mut self.protocol.actions);
        self.protocol.sources[node as usize].on_timer(token, now.into(), &mut actions);
        self.trace_actions(node, false, &actions, now);
        self.act(node, &mut actions, now);
        self.protocol.actions = actions;
    }
}
