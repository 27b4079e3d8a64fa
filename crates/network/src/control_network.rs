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
    /// The tick for which what is due has been put in order, the last one first.
    ordered: Option<Tick>,
    /// What controllers want done: empty, and kept for its memory.
    actions: Vec<ControllerAction>,
}

/// The part of it that changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    /// What is due, by tick. That of a tick is put in order when the tick has come, as nothing is added to it then.
    due: BTreeMap<Tick, Vec<(Key, Due)>>,
    /// How often something was put among what is due.
    serial: u64,
}

/// In which order what is due in a tick is handled: by receiver, and sender. Of one sender what was sent first is first; that is so
/// wherever it is simulated, as all of it takes the same path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key {
    to: Party,
    /// None for timers, which come last.
    from: Sender,
    serial: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Sender {
    Other(Party),
    Timer,
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

    /// Sends the messages of this tick.
    pub fn dispatch(&mut self, now: Tick, wheel: &mut Wheel<Event>, outbox: &mut Outbox<NetworkMail>) {
        for (after, message) in std::mem::take(&mut self.outgoing) {
            let parties = self.parties.as_ref().expect("a protocol that sends messages declares a control network");
            let at = now.saturating_add(parties.latency).saturating_add(after);
            match self.receivers[parties.region(message.to) as usize] {
                Some(receiver) => outbox.mail(receiver, at).out_of_band.push((at, OutOfBand::Message(message))),
                None => self.expect(at, message, wheel),
            }
        }
    }

    /// A message will arrive here.
    pub fn expect(&mut self, at: Tick, ControlMessage { from, to, words }: ControlMessage, wheel: &mut Wheel<Event>) {
        self.put(at, to, Sender::Other(from), Due::Words(words), wheel);
    }

    fn put(&mut self, at: Tick, to: Party, from: Sender, due: Due, wheel: &mut Wheel<Event>) {
        let serial = self.state.serial;
        self.state.serial += 1;
        debug_assert!(self.ordered.is_none_or(|ordered| ordered < at), "nothing is added to what is being handled");
        self.state.due.entry(at).or_default().push((Key { to, from, serial }, due));
        wheel.schedule(at, Event::at(EventKind::ControlMessage, 0, 0));
    }

    /// Takes what is due next, for which an event stands: a message for a part of a node, or nothing if a controller was told.
    pub fn take(&mut self, now: Tick, wheel: &mut Wheel<Event>) -> Option<ControlMessage> {
        let mut list = self.state.due.first_entry().expect("an event stands for each");
        debug_assert_eq!(*list.key(), now, "what is due is due at the time of its event");
        if self.ordered != Some(now) {
            list.get_mut().sort_unstable_by_key(|&(key, _)| std::cmp::Reverse(key));
            self.ordered = Some(now);
        }
        let (Key { to, from, .. }, due) = list.get_mut().pop().expect("a tick has something that is due");
        if list.get().is_empty() {
            list.remove();
        }
        let Party::Controller(number) = to else {
            let (Sender::Other(from), Due::Words(words)) = (from, due) else { unreachable!("nodes have other timers") };
            return Some(ControlMessage { from, to, words });
        };
        let controller = self.controllers.get_mut(&number).expect("messages are for controllers that there are");
        let mut actions = std::mem::take(&mut self.actions);
        match (from, due) {
            (Sender::Other(from), Due::Words(words)) => controller.on_message(from, &words, now, &mut actions),
            (_, Due::Timer(token)) => controller.on_timer(token, now, &mut actions),
            (Sender::Timer, Due::Words(_)) => unreachable!("timers say nothing"),
        }
        for action in actions.drain(..) {
            match action {
                ControllerAction::Tell { to: other, words, after } => self.send(to, other, words, after),
                ControllerAction::Timer { at, token } => {
                    self.put(at.max(now + 1), to, Sender::Timer, Due::Timer(token), wheel);
                }
            }
        }
        self.actions = actions;
        None
    }

    pub fn save(&self, bytes: &mut Vec<u8>) {
        self.controllers.values().for_each(|controller| controller.save(bytes));
        write_down(&self.state, bytes);
    }

    pub fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.controllers.values_mut().try_for_each(|controller| controller.load(bytes))?;
        self.state = remember(bytes)?;
        self.ordered = None;
        Some(())
    }
}
