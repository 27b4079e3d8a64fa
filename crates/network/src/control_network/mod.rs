//! The control network: messages between sources, sinks and controllers beside the data network, which all take the same time
//! unless their senders have them take longer.
//!
//! **The invariant it keeps:** in which order messages are received depends on who sends them and when, and not on the
//! partition.

mod calendar;
mod receivers;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_engine::{Channel, Outbox, Tick, Wheel};
use tailback_protocol::{Controller, ControllerAction, Party, Words, remember, write_down};

use self::calendar::{Calendar, Due, SenderRank};
use self::receivers::{ByReceiver, Receiver};
use crate::event::Event;
use crate::fabric::Fabric;
use crate::packet::NONE;
use crate::partition::Partition;
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
    /// By controller: its region and its number among those of the region.
    controllers: Arc<[(u32, u32)]>,
    regions: u32,
}

impl Parties {
    /// Those of a network whose nodes went where `nodes` says; none if it has no control network.
    pub fn new(fabric: &Fabric, nodes: &[(u32, u32)], partition: &Partition) -> Option<Self> {
        let network = fabric.protocol.control_network(&fabric.station())?;
        assert!(network.latency > 0, "a control network takes time");
        let (regions, controllers_from) = (partition.regions(), partition.controllers_from());
        // They are dealt out to regions in turn.
        let place = |number| ((number + controllers_from) % regions, number / regions);
        let controllers = (0..network.controllers).map(place).collect();
        Some(Self { latency: network.latency, nodes: nodes.into(), controllers, regions })
    }

    /// The channels that messages need between regions: everybody reaches everybody.
    pub fn channels(&self) -> impl Iterator<Item = Channel> {
        let (regions, delay) = (self.regions, self.latency);
        let others = move |from: u32| (0..regions).filter(move |&to| to != from);
        (0..regions).flat_map(move |from| others(from).map(move |to| Channel { from, to, delay }))
    }
}

/// The part of a node that a message is for, by the node's number in the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recipient {
    Source(u32),
    Sink(u32),
}

/// What a region has to do with the control network. Empty where there is none.
#[derive(Default)]
pub(crate) struct ControlNetwork {
    parties: Option<Parties>,
    /// By region: where it stands among the receivers of this one; none for this one itself.
    regions: Vec<Option<u32>>,
    /// How many nodes the region has. Whoever receives something here has a number: the sources of the nodes, their sinks, the controllers.
    nodes: u32,
    /// The number of the first controller that is simulated here, and all of them: their numbers are as far apart as there are regions.
    first_controller: u32,
    controllers: Vec<Box<dyn Controller>>,
    /// Messages of this tick that are not on their way yet, and how long each takes beyond the latency.
    outgoing: Vec<(Tick, ControlMessage)>,
    /// How many messages controllers have sent in this tick to somebody here, which are on their way.
    sent: u64,
    /// What is due.
    calendar: Calendar,
    today: Today,
    /// What controllers want done: empty, and kept for its memory.
    actions: Vec<ControllerAction>,
}

/// What is due in this tick; between ticks nothing, and kept for its memory.
#[derive(Debug)]
struct Today {
    due: Vec<Due>,
    by_receiver: ByReceiver,
    /// The receiver whose turn it is, and the place of what is due for it next.
    receiver: u32,
    next: u32,
}

impl Default for Today {
    fn default() -> Self {
        Self { due: Vec::new(), by_receiver: ByReceiver::default(), receiver: 0, next: NONE }
    }
}

/// Where somebody is.
enum Whereabouts {
    /// In another region, which this one knows by this number.
    Elsewhere(u32),
    /// Here, as the receiver of this number.
    Here(u32),
}

impl ControlNetwork {
    /// What region `index` of so many nodes has to do with it, which knows other regions by `receiver`.
    pub fn new(
        fabric: &Fabric,
        parties: Option<&Parties>,
        index: u32,
        nodes: u32,
        receiver: &dyn Fn(u32) -> u32,
    ) -> Self {
        let (Some(parties), Some(network)) = (parties, fabric.protocol.control_network(&fabric.station())) else {
            return Self::default();
        };
        let station = fabric.station();
        let is_mine = |&number: &u32| parties.controllers[number as usize].0 == index;
        let mine = (0..network.controllers).filter(is_mine);
        let first_controller = mine.clone().next().unwrap_or_default();
        let build = |number| {
            let controller = fabric.protocol.controller(number, &station);
            controller.expect("a protocol builds the controllers that it declares")
        };
        let controllers: Vec<_> = mine.map(build).collect();
        let receivers = 2 * nodes as usize + controllers.len();
        Self {
            regions: (0..parties.regions).map(|to| (to != index).then(|| receiver(to))).collect(),
            parties: Some(parties.clone()),
            nodes,
            first_controller,
            controllers,
            today: Today { by_receiver: ByReceiver::new(receivers), ..Today::default() },
            ..Self::default()
        }
    }

    fn parties(&self) -> &Parties {
        self.parties.as_ref().expect("a protocol that sends messages declares a control network")
    }

    /// A message is to be sent in this tick, which takes `after` ticks more than the latency.
    #[inline]
    pub fn send(&mut self, from: Party, to: Party, words: Words, after: Tick) {
        self.outgoing.push((after, ControlMessage { from, to, words }));
    }

    /// Whether messages are to be sent in this tick, or have been.
    #[inline]
    pub fn is_sending(&self) -> bool {
        !self.outgoing.is_empty() || self.sent > 0
    }

    /// Sends the messages of this tick; tells how many there are.
    pub fn dispatch(&mut self, now: Tick, wheel: &mut Wheel<Event>, outbox: &mut Outbox<NetworkMail>) -> u64 {
        self.calendar.move_to(now);
        let mut outgoing = std::mem::take(&mut self.outgoing);
        let messages = outgoing.len() as u64 + std::mem::take(&mut self.sent);
        let earliest = now.saturating_add(self.parties().latency);
        for (after, message) in outgoing.drain(..) {
            let at = earliest.saturating_add(after);
            match self.find(message.to) {
                Whereabouts::Elsewhere(receiver) => {
                    outbox.mail(receiver, at).out_of_band.push((at, OutOfBand::Message(message)));
                }
                Whereabouts::Here(to) => {
                    self.calendar.put(at, Due::new(to, SenderRank::of(message.from), message.words), wheel);
                }
            }
        }
        self.outgoing = outgoing;
        messages
    }

    /// Where somebody is. Always inline, as most who ask do so for each message.
    #[inline(always)]
    fn find(&self, party: Party) -> Whereabouts {
        let parties = self.parties();
        let (before, (region, number)) = match party {
            Party::Source(node) => (0, parties.nodes[node as usize]),
            Party::Sink(node) => (self.nodes, parties.nodes[node as usize]),
            Party::Controller(number) => (2 * self.nodes, parties.controllers[number as usize]),
        };
        match self.regions[region as usize] {
            Some(receiver) => Whereabouts::Elsewhere(receiver),
            None => Whereabouts::Here(before + number),
        }
    }

    /// A message from another region will arrive here.
    pub fn expect(&mut self, at: Tick, ControlMessage { from, to, words }: ControlMessage, wheel: &mut Wheel<Event>) {
        let Whereabouts::Here(to) = self.find(to) else { panic!("a message for {to:?} is in the wrong region") };
        self.calendar.put(at, Due::new(to, SenderRank::of(from), words), wheel);
    }

    /// Begins with what is due in this tick, for which its event stands.
    pub fn begin(&mut self, now: Tick) {
        let Today { due, by_receiver, .. } = &mut self.today;
        due.clear();
        self.calendar.take(now, due);
        by_receiver.sort(due);
    }

    /// Takes what is due next in this tick: a message for a part of a node, and who has sent it. Controllers are told.
    pub fn take(&mut self, now: Tick, wheel: &mut Wheel<Event>) -> Option<(Recipient, Party, Words)> {
        loop {
            let Today { due, by_receiver, receiver, next } = &mut self.today;
            if *next != NONE {
                let due = &due[*next as usize];
                *next = due.next;
                let (from, words) = (due.from().party().expect("nodes have other timers"), due.message());
                let node = receiver.checked_sub(self.nodes);
                return Some((node.map_or(Recipient::Source(*receiver), Recipient::Sink), from, words));
            }
            let Receiver { number, first } = by_receiver.take(due)?;
            match number.checked_sub(2 * self.nodes) {
                Some(controller) => self.tell_controller(controller, first, now, wheel),
                None => (*receiver, *next) = (number, first),
            }
        }
    }

    /// Tells a controller, by its place among those of the region, of all that is due for it; `first` is the place of the first.
    fn tell_controller(&mut self, place: u32, first: u32, now: Tick, wheel: &mut Wheel<Event>) {
        let mut actions = std::mem::take(&mut self.actions);
        let controller = &mut self.controllers[place as usize];
        let mut due = first;
        while due != NONE {
            let message = &self.today.due[due as usize];
            match message.from().party() {
                Some(from) => controller.on_message(from, message.words(), now, &mut actions),
                None => controller.on_timer(message.words()[0] as u32, now, &mut actions),
            }
            due = message.next;
        }
        let number = self.first_controller + place * self.regions.len() as u32;
        let (from, own) = (Party::Controller(number), 2 * self.nodes + place);
        let earliest = now.saturating_add(self.parties().latency);
        for action in &actions {
            match *action {
                ControllerAction::Tell { to, words, after } => match self.find(to) {
                    Whereabouts::Elsewhere(_) => self.send(from, to, words, after),
                    Whereabouts::Here(to) => {
                        self.sent += 1;
                        let due = Due::new(to, SenderRank::of(from), words);
                        self.calendar.put(earliest.saturating_add(after), due, wheel);
                    }
                },
                ControllerAction::Timer { at, token } => {
                    let due = Due::new(own, SenderRank::TIMER, Words::from([u64::from(token)]));
                    self.calendar.put(at.max(now + 1), due, wheel);
                }
            }
        }
        actions.clear();
        self.actions = actions;
    }

    pub fn save(&self, bytes: &mut Vec<u8>) {
        self.controllers.iter().for_each(|controller| controller.save(bytes));
        write_down(&self.calendar, bytes);
    }

    pub fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.controllers.iter_mut().try_for_each(|controller| controller.load(bytes))?;
        self.calendar = remember(bytes)?;
        Some(())
    }
}
