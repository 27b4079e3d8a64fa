//! The control network: messages between sources, sinks and controllers beside the data network, which all take the same time
//! unless their senders have them take longer.
//!
//! **The invariant it keeps:** in which order messages are received depends on who sends them and when, and not on the
//! partition.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_engine::{Channel, Outbox, Tick, Wheel};
use tailback_protocol::{Controller, ControllerAction, Party, Words, remember, write_down};

use crate::event::{Event, EventKind};
use crate::fabric::Fabric;
use crate::region::{NetworkMail, OutOfBand};

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ControlMessage {
    pub from: Party,
    pub to: Party,
    pub words: Words,
}

/// Where everybody is who is reached by a control network: found once, for all regions.
#[derive(Clone, Debug)]
pub(crate) struct Parties {
    latency: Tick,
    /// By node: its region and its number there.
    nodes: Arc<[(u32, u32)]>,
    regions: u32,
}

impl Parties {
    /// Those of a network whose nodes went where `nodes` says; none if it has no control network.
    pub fn new(fabric: &Fabric, nodes: &[(u32, u32)], regions: u32) -> Option<Self> {
        let network = fabric.protocol.control_network(&fabric.station())?;
        assert!(network.latency > 0, "a control network takes time");
        Some(Self { latency: network.latency, nodes: nodes.into(), regions })
    }

    /// The channels that messages need between regions: everybody reaches everybody.
    pub fn channels(&self) -> impl Iterator<Item = Channel> {
        let (regions, delay) = (self.regions, self.latency);
        let others = move |from: u32| (0..regions).filter(move |&to| to != from);
        (0..regions).flat_map(move |from| others(from).map(move |to| Channel { from, to, delay }))
    }

    /// The region that somebody is in. Controllers are dealt out to regions in turn.
    fn region(&self, party: Party) -> u32 {
        match party {
            Party::Source(node) | Party::Sink(node) => self.nodes[node as usize].0,
            Party::Controller(number) => number % self.regions,
        }
    }
}

/// What a region has to do with the control network. Empty where there is none.
#[derive(Default)]
pub(crate) struct ControlNetwork {
    parties: Option<Parties>,
    /// By region: where it stands among the receivers of this one; none for this one itself.
    receivers: Vec<Option<u32>>,
    /// The controllers that are simulated here, by their numbers.
    controllers: BTreeMap<u32, Box<dyn Controller>>,
    /// The messages of this tick, and how long each takes beyond the latency.
    outgoing: Vec<(Tick, ControlMessage)>,
    state: State,
    /// What is due in this tick, the last one first; between ticks empty, and kept for its memory.
    today: Vec<(Key, Due)>,
    /// Lists that were used up, for their memory.
    used_up: Vec<Vec<(Key, Due)>>,
    /// What controllers want done: empty, and kept for its memory.
    actions: Vec<ControllerAction>,
}

/// The part of it that changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    /// What is due, by tick: for each there is one event. That of a tick is put in order when the tick has come, as nothing is added to it
    /// then.
    due: BTreeMap<Tick, Vec<(Key, Due)>>,
    /// How often something was put among what is due.
    serial: u64,
}

/// In which order what is due in a tick is handled: by receiver, and sender. Of one sender what was sent first is first; that is so
/// wherever it is simulated, as all of it takes the same path.
///
/// All of it is one number, as each message is compared with several others: from the top the receiver, the sender, and a serial number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key(u128);

impl Key {
    const SERIAL_BITS: u32 = 60;
    const PARTY_BITS: u32 = 34;
    /// In the place of the sender of a timer: behind all others.
    const TIMER: u64 = 3 << 32;

    fn new(to: Party, from: Option<Party>, serial: u64) -> Self {
        debug_assert!(serial >> Self::SERIAL_BITS == 0, "no run has so many messages");
        let from = from.map_or(Self::TIMER, Self::number);
        let parties = u128::from(Self::number(to)) << Self::PARTY_BITS | u128::from(from);
        Self(parties << Self::SERIAL_BITS | u128::from(serial))
    }

    fn number(party: Party) -> u64 {
        match party {
            Party::Source(node) => u64::from(node),
            Party::Sink(node) => 1 << 32 | u64::from(node),
            Party::Controller(number) => 2 << 32 | u64::from(number),
        }
    }

    fn party(number: u64) -> Option<Party> {
        match number >> 32 {
            0 => Some(Party::Source(number as u32)),
            1 => Some(Party::Sink(number as u32)),
            2 => Some(Party::Controller(number as u32)),
            _ => None,
        }
    }

    /// The receiver, and the sender unless it is a timer.
    fn parties(self) -> (Party, Option<Party>) {
        let parties = self.0 >> Self::SERIAL_BITS;
        let [to, from] = [parties >> Self::PARTY_BITS, parties].map(|bits| bits as u64 & ((1 << Self::PARTY_BITS) - 1));
        (Self::party(to).expect("timers receive nothing"), Self::party(from))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Due {
    Words(Words),
    Timer(u32),
}

impl ControlNetwork {
    /// What region `index` has to do with it, which knows other regions by `receiver`.
    pub fn new(fabric: &Fabric, parties: Option<&Parties>, index: u32, receiver: &dyn Fn(u32) -> u32) -> Self {
        let (Some(parties), Some(network)) = (parties, fabric.protocol.control_network(&fabric.station())) else {
            return Self::default();
        };
        let station = fabric.station();
        let mine = (0..network.controllers).filter(|&number| parties.region(Party::Controller(number)) == index);
        let build = |number| {
            let controller = fabric.protocol.controller(number, &station);
            (number, controller.expect("a protocol builds the controllers that it declares"))
        };
        Self {
            receivers: (0..parties.regions).map(|to| (to != index).then(|| receiver(to))).collect(),
            parties: Some(parties.clone()),
            controllers: mine.map(build).collect(),
            ..Self::default()
        }
    }

    /// The number of a node in its region.
    pub fn node_in_region(&self, node: u32) -> u32 {
        self.parties.as_ref().map_or(node, |parties| parties.nodes[node as usize].1)
    }

    /// A message is to be sent in this tick, which takes `after` ticks more than the latency.
    pub fn send(&mut self, from: Party, to: Party, words: Words, after: Tick) {
        self.outgoing.push((after, ControlMessage { from, to, words }));
    }

    /// Whether messages are to be sent in this tick.
    #[inline]
    pub fn is_sending(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Sends the messages of this tick; tells how many there are.
    pub fn dispatch(&mut self, now: Tick, wheel: &mut Wheel<Event>, outbox: &mut Outbox<NetworkMail>) -> u64 {
        let mut outgoing = std::mem::take(&mut self.outgoing);
        let messages = outgoing.len() as u64;
        for (after, message) in outgoing.drain(..) {
            let parties = self.parties.as_ref().expect("a protocol that sends messages declares a control network");
            let at = now.saturating_add(parties.latency).saturating_add(after);
            match self.receivers[parties.region(message.to) as usize] {
                Some(receiver) => outbox.mail(receiver, at).out_of_band.push((at, OutOfBand::Message(message))),
                None => self.expect(at, message, wheel),
            }
        }
        self.outgoing = outgoing;
        messages
    }

    /// A message will arrive here.
    pub fn expect(&mut self, at: Tick, ControlMessage { from, to, words }: ControlMessage, wheel: &mut Wheel<Event>) {
        self.put(at, to, Some(from), Due::Words(words), wheel);
    }

    fn put(&mut self, at: Tick, to: Party, from: Option<Party>, due: Due, wheel: &mut Wheel<Event>) {
        let key = Key::new(to, from, self.state.serial);
        self.state.serial += 1;
        let list = self.state.due.entry(at).or_insert_with(|| {
            wheel.schedule(at, Event::at(EventKind::ControlMessage, 0, 0));
            self.used_up.pop().unwrap_or_default()
        });
        list.push((key, due));
    }

    /// Begins with what is due in this tick, for which its event stands.
    pub fn begin(&mut self, now: Tick) {
        let list = self.state.due.remove(&now).expect("an event stands for what is due");
        let mut used_up = std::mem::replace(&mut self.today, list);
        debug_assert!(used_up.is_empty(), "all of a tick is taken in it");
        self.today.sort_unstable_by_key(|&(key, _)| std::cmp::Reverse(key));
        if used_up.capacity() > 0 {
            used_up.clear();
            self.used_up.push(used_up);
        }
    }

    /// Takes what is due next in this tick: a message for a part of a node. Controllers are told.
    pub fn take(&mut self, now: Tick, wheel: &mut Wheel<Event>) -> Option<ControlMessage> {
        while let Some((key, due)) = self.today.pop() {
            let (to, from) = key.parties();
            let Party::Controller(number) = to else {
                let (Some(from), Due::Words(words)) = (from, due) else { unreachable!("nodes have other timers") };
                return Some(ControlMessage { from, to, words });
            };
            self.tell_controller(number, from, due, now, wheel);
        }
        None
    }

    fn tell_controller(&mut self, number: u32, from: Option<Party>, due: Due, now: Tick, wheel: &mut Wheel<Event>) {
        let own = Party::Controller(number);
        let controller = self.controllers.get_mut(&number).expect("messages are for controllers that there are");
        let mut actions = std::mem::take(&mut self.actions);
        match (from, due) {
            (Some(from), Due::Words(words)) => controller.on_message(from, &words, now, &mut actions),
            (_, Due::Timer(token)) => controller.on_timer(token, now, &mut actions),
            (None, Due::Words(_)) => unreachable!("timers say nothing"),
        }
        for action in actions.drain(..) {
            match action {
                ControllerAction::Tell { to, words, after } => self.send(own, to, words, after),
                ControllerAction::Timer { at, token } => {
                    self.put(at.max(now + 1), own, None, Due::Timer(token), wheel);
                }
            }
        }
        self.actions = actions;
    }

    pub fn save(&self, bytes: &mut Vec<u8>) {
        self.controllers.values().for_each(|controller| controller.save(bytes));
        write_down(&self.state, bytes);
    }

    pub fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.controllers.values_mut().try_for_each(|controller| controller.load(bytes))?;
        self.state = remember(bytes)?;
        Some(())
    }
}
