//! The source's machine is asked and told, and what it wants is done.

use tailback_protocol::{Control, Outgoing, PacketKind, PacketRef, SourceAction, Verdict};

use super::due::What;
use crate::Observer;
use crate::event::{Event, EventKind};
use crate::packet::{NONE, Packet};
use crate::region::NetworkRegion;
use crate::router::Microarchitecture;
use crate::time::Time;
use tailback_hardware::TICKS_MAX;

/// What a packet leaves as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guise {
    pub kind: PacketKind,
    pub class: u8,
    pub marks: u8,
}

/// As what packets leave that nobody is asked about.
pub(super) const PLAIN: Guise = Guise { kind: PacketKind::Data, class: 0, marks: 0 };

/// What became of asking.
pub(super) enum Answer {
    /// The packet may leave.
    Go(Guise),
    /// It may not leave now, nor may any other for its destination.
    Parked,
}

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
    /// Asks whether the next packet of a lane, of `flits` flits, may leave.
    pub(super) fn ask(&mut self, node: u32, lane: usize, flits: u16, now: Time) -> Answer {
        let packet = self.outgoing(node, lane, flits);
        let mut actions = std::mem::take(&mut self.machines.actions);
        let verdict = self.machines.sources[node as usize].turn(&packet, now.into(), &mut actions);
        self.act(node, &mut actions, now);
        self.machines.actions = actions;
        match verdict {
            Verdict::NotBefore(tick) => {
                let destination = self.nodes.sources.park(node, lane);
                if tick <= TICKS_MAX {
                    self.wait_until(node, tick, What::Queue { destination, lane: lane as u8 }, now);
                }
                Answer::Parked
            }
            Verdict::Send { kind, class, marks } => Answer::Go(Guise { kind, class, marks }),
        }
    }

    /// The next packet of a lane, as machines see it. Its message gets its name now, if copies are kept.
    fn outgoing(&mut self, node: u32, lane: usize, flits: u16) -> Outgoing {
        let source = self.node_ids[node as usize];
        let message = self.nodes.sources.front(node, lane).expect("a message waits");
        let mut message_flits = message.flits_left;
        if self.fabric.hooks.copies {
            let copies = &mut self.nodes.copies[node as usize];
            if message.serial == NONE {
                message.serial = copies.keep(message, self.fabric.spec.packet_flits_max);
            }
            message_flits = copies.get(message.serial).flits;
        }
        let packet = PacketRef { message: message.serial, index: message.index };
        Outgoing { packet, source, destination: message.destination, flits, message_flits }
    }

    /// Tells that a packet has left, for the first time.
    pub(super) fn tell_departure(&mut self, node: u32, packet: u32, now: Time) {
        let record = &self.pool[packet];
        let (packet, flits) = (record.name(), record.flits);
        let (source, destination) = (record.source, record.destination);
        let outgoing = Outgoing { packet, source, destination, flits, message_flits: flits.into() };
        self.machines.sources[node as usize].sent(&outgoing, now.into());
    }

    /// A control packet for the source has arrived.
    pub(super) fn hear(&mut self, node: u32, packet: &Packet, now: Time) {
        if packet.kind == PacketKind::Refusal {
            self.nodes.flits_refused += u64::from(packet.dropped_flits);
        }
        let mut actions = std::mem::take(&mut self.machines.actions);
        let latency = u64::from(now - packet.injected);
        self.machines.sources[node as usize].hear(&packet.control(), latency, now.into(), &mut actions);
        self.act(node, &mut actions, now);
        self.machines.actions = actions;
    }

    /// Does what the source's machine wants.
    fn act(&mut self, node: u32, actions: &mut Vec<SourceAction>, now: Time) {
        for action in actions.drain(..) {
            match action {
                SourceAction::Control(control) => self.send_control(node, &control, now),
                SourceAction::Forget(packet) => {
                    if self.nodes.copies[node as usize].forget(packet.message) {
                        self.machines.sources[node as usize].done(packet.message);
                    }
                }
                SourceAction::Withhold { message } => self.withhold(node, message),
                SourceAction::Resume { message, class, at } => {
                    if self.nodes.copies[node as usize].get(message).rest_flits > 0 {
                        self.wait_until(node, at, What::Rest { message, class }, now);
                    }
                }
                SourceAction::Resend { packet: PacketRef { message, index }, kind, class, at } => {
                    self.wait_until(node, at, What::Packet { message, index, kind, class }, now);
                }
            }
        }
    }

    /// Takes what is left of a message out of its send queue.
    fn withhold(&mut self, node: u32, name: u32) {
        let copy = self.nodes.copies[node as usize].get_mut(name);
        let Some(rest) = self.nodes.sources.withdraw(node, copy.destination, name) else { return };
        (copy.rest_index, copy.rest_flits) = (rest.index, rest.flits_left);
        self.nodes.nodes[node as usize].waiting -= 1;
    }

    /// Puts a control packet among those of its class.
    pub(super) fn send_control(&mut self, node: u32, control: &Control, now: Time) {
        let place = self.pool.insert(Packet::of_control(control, &self.fabric, now));
        self.nodes.nodes[node as usize].control_waiting += 1;
        let list = self.nodes.control_list(node, control.class);
        let last = std::mem::replace(&mut list.last, place);
        if list.first == NONE {
            list.first = place;
        } else {
            self.pool[last].next = place;
        }
        self.make_ready(node, now);
    }

    /// Lets something wait until a tick, or lines it up if that is not later than now.
    fn wait_until(&mut self, node: u32, tick: u64, what: What, now: Time) {
        if tick <= now.into() {
            self.nodes.due[node as usize].line_up(what);
            self.make_ready(node, now);
            return;
        }
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
        let due = &mut self.nodes.due[node as usize];
        if !due.is_announced(announcement) {
            return; // something else was to come sooner
        }
        while let Some(what) = due.take(now) {
            match what {
                What::Queue { destination, lane } => self.nodes.sources.unpark(node, lane.into(), destination),
                _ => due.line_up(what),
            }
        }
        if let Some((at, number)) = due.next_announcement() {
            self.announce(node, at, number);
        }
        self.make_ready(node, now);
    }
}
