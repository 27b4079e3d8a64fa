//! A network interface to try sources and sinks on: plain maps, nothing clever.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::control_network::Told;
use crate::{
    Control, Direction, Hooks, KindDeclaration, Offered, Outgoing, PacketKind, PacketRef, Party, Sink, SinkAction,
    Source, SourceAction, Verdict,
};

/// A message that is not done.
#[derive(Clone, Debug)]
pub(super) struct Message {
    /// Its number among all messages of the run.
    pub id: usize,
    pub destination: u32,
    pub flits: u32,
    /// Packets that have been sent for the first time.
    pub sent: u32,
    /// Packets that are forgotten.
    forgotten: BTreeSet<u32>,
    withheld: bool,
}

/// What is to be sent from some tick on.
#[derive(Clone, Copy, Debug)]
enum Due {
    Packet(PacketRef, PacketKind),
    Rest(u32),
    Timer(u32),
    SinkTimer(u32),
}

/// What leaves an interface.
#[derive(Clone, Debug)]
pub(super) enum Launch {
    Control(Control),
    Data { kind: PacketKind, packet: PacketRef, marks: u8, again: bool },
}

pub(super) struct Interface {
    node: u32,
    pub source: Option<Box<dyn Source>>,
    pub sink: Option<Box<dyn Sink>>,
    pub messages: BTreeMap<u32, Message>,
    packet_flits_max: u16,
    hooks: Hooks,
    kinds: Vec<KindDeclaration>,
    /// By destination.
    queues: BTreeMap<u32, VecDeque<u32>>,
    not_before: BTreeMap<u32, u64>,
    held: BTreeSet<u32>,
    turn: VecDeque<u32>,
    due: BTreeMap<(u64, u64), Due>,
    serial: u64,
    /// Messages so far, where their names are not used again.
    offered: u32,
    pub control: VecDeque<Control>,
    /// What is to be sent on the control network, and the ticks that it takes beyond its latency.
    pub told: Vec<(Told, u64)>,
}

impl Interface {
    pub fn new(
        node: u32,
        source: Option<Box<dyn Source>>,
        sink: Option<Box<dyn Sink>>,
        packet_flits_max: u16,
        hooks: Hooks,
        kinds: Vec<KindDeclaration>,
    ) -> Self {
        Self {
            node,
            source,
            sink,
            messages: BTreeMap::new(),
            packet_flits_max,
            hooks,
            kinds,
            queues: BTreeMap::new(),
            not_before: BTreeMap::new(),
            held: BTreeSet::new(),
            turn: VecDeque::new(),
            due: BTreeMap::new(),
            serial: 0,
            offered: 0,
            control: VecDeque::new(),
            told: Vec::new(),
        }
    }

    /// Flits of the largest packet.
    pub fn most_flits(&self) -> u16 {
        self.packet_flits_max
    }

    /// Packets of a message.
    fn packets(&self, message: &Message) -> u32 {
        message.flits.div_ceil(self.packet_flits_max.into())
    }

    fn packet_flits(&self, packet: PacketRef) -> u16 {
        let most = u32::from(self.packet_flits_max);
        (self.messages[&packet.message].flits - packet.index * most).min(most) as u16
    }

    pub fn offer(&mut self, id: usize, destination: u32, flits: u32, now: u64) -> Result<(), String> {
        let first = if self.hooks.names_are_unique() { self.offered } else { 0 };
        let name = (first..).find(|name| !self.messages.contains_key(name)).expect("names do not run out");
        self.offered += 1;
        let message = Message { id, destination, flits, sent: 0, forgotten: BTreeSet::new(), withheld: false };
        self.messages.insert(name, message);
        let queue = self.queues.entry(destination).or_default();
        queue.push_back(name);
        if !self.turn.contains(&destination) {
            self.turn.push_back(destination);
        }
        let mut actions = Vec::new();
        if self.hooks.offers
            && let Some(source) = &mut self.source
        {
            source.offered(&Offered { source: self.node, destination, flits }, now, &mut actions);
        }
        self.act(actions)
    }

    /// The next tick after `now` at which something may be sent that may not be sent yet.
    pub fn next_due(&self, now: u64) -> Option<u64> {
        let due = self.due.keys().map(|&(at, _)| at);
        let held = |queue: &u32| self.held.contains(queue) || self.queues[queue].is_empty();
        let waiting = self.not_before.iter().filter(|(queue, _)| !held(queue));
        due.chain(waiting.map(|(_, &at)| at)).filter(|&at| at > now).min()
    }

    pub fn is_idle(&self) -> bool {
        self.messages.is_empty() && self.control.is_empty() && self.source.as_ref().is_none_or(|s| s.is_idle())
    }

    /// Something leaves, if anything can.
    pub fn transmit(&mut self, now: u64) -> Result<Option<Launch>, String> {
        let launch = self.next_launch(now)?;
        if let Some(Launch::Data { kind, packet, .. }) = launch
            && self.hooks.unacknowledged
            && self.kinds.get(kind.index()).is_some_and(|kind| kind.direction == Direction::Data)
        {
            self.forget_gone(packet, now)?;
        }
        Ok(launch)
    }

    /// A packet has left that nobody acknowledges.
    fn forget_gone(&mut self, packet: PacketRef, now: u64) -> Result<(), String> {
        let (mut actions, flits) = (Vec::new(), self.packet_flits(packet));
        let Message { destination, flits: message_flits, .. } = self.messages[&packet.message];
        let outgoing = Outgoing { packet, source: self.node, destination, flits, message_flits };
        if let Some(source) = &mut self.source {
            source.gone(&outgoing, now, &mut actions);
        }
        actions.push(SourceAction::Forget(packet));
        self.act(actions)
    }

    fn next_launch(&mut self, now: u64) -> Result<Option<Launch>, String> {
        if let Some(control) = self.control.pop_front() {
            return Ok(Some(Launch::Control(control)));
        }
        if let Some(launch) = self.transmit_due(now)? {
            return Ok(Some(launch));
        }
        for _ in 0..self.turn.len() {
            let destination = self.turn.pop_front().expect("it has as many as were counted");
            self.turn.push_back(destination);
            let waits = self.not_before.get(&destination).is_some_and(|&at| at > now);
            let ready = !waits && !self.held.contains(&destination);
            let Some(&name) = self.queues[&destination].front().filter(|_| ready) else { continue };
            if let Some(launch) = self.ask(name, now)? {
                return Ok(Some(launch));
            }
        }
        Ok(None)
    }

    fn transmit_due(&mut self, now: u64) -> Result<Option<Launch>, String> {
        let Some((&(at, serial), &due)) = self.due.first_key_value() else { return Ok(None) };
        if at > now {
            return Ok(None);
        }
        self.due.remove(&(at, serial));
        match due {
            Due::Timer(token) => {
                let mut actions = Vec::new();
                self.source.as_mut().expect("only sources set timers").on_timer(token, now, &mut actions);
                self.act(actions)?;
                self.next_launch(now)
            }
            Due::SinkTimer(token) => {
                self.ask_sink(|sink, actions| sink.on_timer(token, now, actions))?;
                self.next_launch(now)
            }
            Due::Packet(packet, kind) => Ok(Some(Launch::Data { kind, packet, marks: 0, again: true })),
            Due::Rest(name) => {
                let message = self.messages.get_mut(&name).ok_or("the rest of a message that is done was resumed")?;
                if !message.withheld {
                    return Err("the rest of a message was resumed that was not withheld".to_owned());
                }
                let packet = PacketRef { message: name, index: message.sent };
                message.sent += 1;
                if message.sent * u32::from(self.packet_flits_max) < message.flits {
                    self.due.insert((at, serial), due);
                }
                Ok(Some(Launch::Data { kind: PacketKind::DATA, packet, marks: 0, again: false }))
            }
        }
    }

    /// Asks whether the next packet of a message may leave.
    fn ask(&mut self, name: u32, now: u64) -> Result<Option<Launch>, String> {
        let message = &self.messages[&name];
        let packet = PacketRef { message: name, index: message.sent };
        let (destination, message_flits) = (message.destination, message.flits);
        let outgoing =
            Outgoing { packet, source: self.node, destination, flits: self.packet_flits(packet), message_flits };
        let mut actions = Vec::new();
        let verdict = match &mut self.source {
            Some(source) => source.may_send(&outgoing, now, &mut actions),
            None => Verdict::Send { kind: PacketKind::DATA, marks: 0 },
        };
        self.act(actions)?;
        if let Some(control) = self.control.pop_front() {
            return Ok(Some(Launch::Control(control)));
        }
        match verdict {
            Verdict::NotBefore(at) if at <= now => Err(format!("a queue is to wait until {at}, and now is {now}")),
            Verdict::NotBefore(at) => {
                self.not_before.insert(destination, at);
                Ok(None)
            }
            Verdict::Hold => {
                self.held.insert(destination);
                Ok(None)
            }
            Verdict::Send { kind, marks } => {
                if self.hooks.departures
                    && let Some(source) = &mut self.source
                {
                    source.sent(&outgoing, now);
                }
                let message = self.messages.get_mut(&name).expect("it is not done");
                message.sent += 1;
                let all_sent = message.sent * u32::from(self.packet_flits_max) >= message.flits;
                if all_sent {
                    self.queues.get_mut(&destination).expect("it was in a queue").pop_front();
                }
                if !self.hooks.copies && all_sent {
                    self.messages.remove(&name);
                }
                Ok(Some(Launch::Data { kind, packet, marks, again: false }))
            }
        }
    }

    /// A control packet for the source has arrived.
    pub fn on_control(&mut self, control: &Control, latency: u64, now: u64) -> Result<(), String> {
        let mut actions = Vec::new();
        match &mut self.source {
            Some(source) => source.on_control(control, latency, now, &mut actions),
            None if self.kinds[control.kind.index()].direction == Direction::Feedback => {}
            None => return Err(format!("there is no source for {control:?}")),
        }
        self.act(actions)
    }

    fn act(&mut self, actions: Vec<SourceAction>) -> Result<(), String> {
        for action in actions {
            match action {
                SourceAction::Control(control) => self.control.push_back(control),
                SourceAction::Forget(packet) => self.forget(packet)?,
                SourceAction::Withhold { message: name } => {
                    let most = u32::from(self.packet_flits_max);
                    let message = self.messages.get_mut(&name).ok_or("a message that is done was withheld")?;
                    if message.sent * most < message.flits {
                        message.withheld = true;
                        self.queues.get_mut(&message.destination).expect("it is queued").retain(|&n| n != name);
                    }
                }
                SourceAction::Resume { message: name, at } => {
                    // Nothing may be left of it.
                    if self.messages.get(&name).is_some_and(|message| message.withheld) {
                        self.insert_due(at, Due::Rest(name));
                    }
                }
                SourceAction::Resend { packet, kind, at } => self.insert_due(at, Due::Packet(packet, kind)),
                SourceAction::Open { destination } => {
                    self.held.remove(&destination);
                }
                SourceAction::OpenAll => self.held.clear(),
                SourceAction::Timer { at, token } => self.insert_due(at, Due::Timer(token)),
                SourceAction::Tell { to, words, after } => {
                    self.told.push(((Party::Source(self.node), to, words), after));
                }
            }
        }
        Ok(())
    }

    /// Tells the sink something, and does what it wants.
    pub fn ask_sink(&mut self, tell: impl FnOnce(&mut dyn Sink, &mut Vec<SinkAction>)) -> Result<(), String> {
        let mut actions = Vec::new();
        tell(self.sink.as_mut().ok_or("there is no sink")?.as_mut(), &mut actions);
        for action in actions {
            match action {
                SinkAction::Control(control) => self.control.push_back(control),
                SinkAction::Timer { at, token } => self.insert_due(at, Due::SinkTimer(token)),
                SinkAction::Tell { to, words, after } => {
                    self.told.push(((Party::Sink(self.node), to, words), after));
                }
            }
        }
        Ok(())
    }

    /// A message has arrived on the control network.
    pub fn on_message(&mut self, (from, to, words): &Told, now: u64) -> Result<(), String> {
        if matches!(to, Party::Sink(_)) {
            return self.ask_sink(|sink, actions| sink.on_message(*from, words, now, actions));
        }
        let mut actions = Vec::new();
        let source = self.source.as_mut().ok_or("there is no source for a message")?;
        source.on_message(*from, words, now, &mut actions);
        self.act(actions)
    }

    fn insert_due(&mut self, at: u64, due: Due) {
        self.due.insert((at, self.serial), due);
        self.serial += 1;
    }

    fn forget(&mut self, packet: PacketRef) -> Result<(), String> {
        let message =
            self.messages.get_mut(&packet.message).ok_or("a packet of a message that is done was forgotten")?;
        if packet.index >= message.sent || !message.forgotten.insert(packet.index) {
            return Err(format!("{packet:?} was forgotten before it was sent, or twice"));
        }
        let (forgotten, message) = (message.forgotten.len(), message.clone());
        if forgotten == self.packets(&message) as usize {
            self.messages.remove(&packet.message);
            self.source.as_mut().expect("only sources forget").done(packet.message);
        }
        Ok(())
    }
}
