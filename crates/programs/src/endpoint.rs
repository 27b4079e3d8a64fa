//! How a rank sends and receives: messages are matched as MPI does it, and large ones wait until somebody wants them.
//!
//! A message of up to [`Transport::eager_flits`] is sent at once (*eager*), and it is done for its sender. For a larger one its sender
//! announces it, sends it when the receiver has answered that it is wanted (*rendezvous*), and is done when it has left, or with the answer.
//!
//! Messages are matched by the rank that they come from and by tag. Of those that match, the one that was sent first goes to the receive that
//! was posted first, whatever order the network delivers in: messages between two ranks are numbered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tailback_workload::{Action, Part, Want};

use crate::matching::{Arrived, Matching, Source};

/// How messages are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// The largest message that is sent without asking.
    pub eager_flits: u64,
    /// The size of the announcement of a larger one, and of the answer.
    pub control_flits: u32,
    /// When the send of a larger one is done.
    pub announced_send: AnnouncedSend,
}

/// When a send is done whose message was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnouncedSend {
    /// When the message has left, as what it was sent from may be used again then.
    Left,
    /// When it is known that a receive has taken it, as LogGOPSim has it.
    Matched,
}

impl Transport {
    /// All messages are sent without asking.
    pub const EAGER: Self = Self { eager_flits: u64::MAX, control_flits: 1, announced_send: AnnouncedSend::Left };

    /// Whether ranks must be told that messages have left.
    #[must_use]
    pub fn hears_of_departures(&self) -> bool {
        self.eager_flits != u64::MAX && self.announced_send == AnnouncedSend::Left
    }

    /// How many messages cross the network for one of `flits`.
    #[must_use]
    pub fn messages(&self, flits: u32) -> u64 {
        if self.is_eager(flits) { 1 } else { 3 }
    }

    fn is_eager(&self, flits: u32) -> bool {
        u64::from(flits) <= self.eager_flits
    }
}

/// What a rank has started is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// This send.
    Send(u32),
    /// This receive.
    Receive(u32),
}

/// The four kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Eager,
    Announcement,
    Answer,
    Data,
}

/// What is told with a message: its kind in the two highest bits, its number among those from its sender to its receiver, its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    kind: Kind,
    number: u32,
    tag: u32,
}

/// Numbers go round before they reach this.
const NUMBERS: u32 = 1 << 30;

impl Word {
    fn pack(self) -> u64 {
        (self.kind as u64) << 62 | u64::from(self.number) << 32 | u64::from(self.tag)
    }

    fn unpack(word: u64) -> Self {
        let kind = [Kind::Eager, Kind::Announcement, Kind::Answer, Kind::Data][(word >> 62) as usize];
        Self { kind, number: (word >> 32) as u32 & (NUMBERS - 1), tag: word as u32 }
    }
}

/// A large message that has been announced.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Announced {
    flits: u32,
    tag: u32,
    send: u32,
}

/// What has come from another rank.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Inbound {
    /// The number of the next message to be matched.
    next: u32,
    /// What has come before its turn, by number: whether it is an announcement, and its tag.
    early: BTreeMap<u32, (bool, u32)>,
}

/// The part of a rank that sends and receives.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Endpoint {
    /// By rank: the number of the next message to it.
    outbound: BTreeMap<u32, u32>,
    inbound: BTreeMap<u32, Inbound>,
    matching: Matching,
    /// By rank and number: what has been announced to it and not answered, or not left.
    announced: BTreeMap<(u32, u32), Announced>,
    /// By rank and number: the receives whose data is on its way.
    coming: BTreeMap<(u32, u32), u32>,
}

impl Endpoint {
    /// Starts to send a message; returns whether that is done.
    pub fn send(&mut self, message: Message, transport: &Transport, actions: &mut Vec<Action>) -> bool {
        let Message { to, tag, flits, send } = message;
        let next = self.outbound.entry(to).or_default();
        let number = *next;
        *next = (*next + 1) % NUMBERS;
        if transport.is_eager(flits) {
            let word = Word { kind: Kind::Eager, number, tag }.pack();
            actions.push(Action::Send { to, flits, word });
            return true;
        }
        self.announced.insert((to, number), Announced { flits, tag, send });
        let word = Word { kind: Kind::Announcement, number, tag }.pack();
        actions.push(Action::Send { to, flits: transport.control_flits, word });
        false
    }

    /// Posts a receive; returns whether it is done, as what it wants is there.
    pub fn receive(&mut self, source: Source, receive: u32, transport: &Transport, actions: &mut Vec<Action>) -> bool {
        match self.matching.post(source, receive) {
            None => false,
            Some(arrived) => self.take(arrived, receive, transport, actions),
        }
    }

    /// A message has arrived; `done` gets what is done with it.
    pub fn received(
        &mut self,
        from: u32,
        word: u64,
        transport: &Transport,
        actions: &mut Vec<Action>,
        done: &mut Vec<Done>,
    ) {
        let Word { kind, number, tag } = Word::unpack(word);
        match kind {
            Kind::Eager | Kind::Announcement => {
                let inbound = self.inbound.entry(from).or_default();
                inbound.early.insert(number, (kind == Kind::Announcement, tag));
                while let Some(arrived) = self.next_in_order(from) {
                    if let Some(receive) = self.matching.arrive(arrived)
                        && self.take(arrived, receive, transport, actions)
                    {
                        done.push(Done::Receive(receive));
                    }
                }
            }
            Kind::Answer => {
                let Announced { flits, tag, send } = self.announced[&(from, number)];
                actions.push(Action::Send { to: from, flits, word: Word { kind: Kind::Data, number, tag }.pack() });
                if transport.announced_send == AnnouncedSend::Matched {
                    self.announced.remove(&(from, number));
                    done.push(Done::Send(send));
                }
            }
            Kind::Data => {
                let receive = self.coming.remove(&(from, number)).expect("data comes that was asked for");
                done.push(Done::Receive(receive));
            }
        }
    }

    /// A message has left.
    pub fn sent(&mut self, to: u32, word: u64, done: &mut Vec<Done>) {
        let Word { kind, number, .. } = Word::unpack(word);
        if kind == Kind::Data {
            let announced = self.announced.remove(&(to, number)).expect("data is sent that was announced");
            done.push(Done::Send(announced.send));
        }
    }

    /// What a message is with which this word is told.
    #[must_use]
    pub fn part(word: u64) -> Part {
        let Word { kind, number, .. } = Word::unpack(word);
        match kind {
            Kind::Eager => Part::Whole,
            Kind::Announcement => Part::Announcement(number),
            Kind::Answer => Part::Answer(number),
            Kind::Data => Part::Data(number),
        }
    }

    /// Whether what is told with a message says that it carries data, and is no announcement or answer.
    #[must_use]
    pub fn is_data(word: u64) -> bool {
        matches!(Word::unpack(word).kind, Kind::Eager | Kind::Data)
    }

    /// What is waited for.
    #[must_use]
    pub fn wants(&self) -> Vec<Want> {
        let answers = self.announced.iter().map(|(&(to, _), announced)| Want {
            of: Some(to),
            what: format!("rank {to} to receive a message with tag {}", announced.tag),
        });
        let data = self
            .coming
            .keys()
            .map(|&(from, _)| Want { of: Some(from), what: format!("a message that rank {from} has announced") });
        self.matching.wants().chain(answers).chain(data).collect()
    }

    /// The next in order from a rank, if it has come.
    fn next_in_order(&mut self, from: u32) -> Option<Arrived> {
        let inbound = self.inbound.get_mut(&from)?;
        let number = inbound.next;
        let (announced, tag) = inbound.early.remove(&number)?;
        inbound.next = (number + 1) % NUMBERS;
        Some(Arrived { from, tag, number: announced.then_some(number) })
    }

    /// A receive gets what has arrived; returns whether that is all.
    fn take(&mut self, arrived: Arrived, receive: u32, transport: &Transport, actions: &mut Vec<Action>) -> bool {
        let Arrived { from, tag, number } = arrived;
        let Some(number) = number else { return true };
        self.coming.insert((from, number), receive);
        let word = Word { kind: Kind::Answer, number, tag }.pack();
        actions.push(Action::Send { to: from, flits: transport.control_flits, word });
        false
    }
}

/// A message to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The rank that it is for.
    pub to: u32,
    /// Its tag.
    pub tag: u32,
    /// Its size.
    pub flits: u32,
    /// What its sender calls the send.
    pub send: u32,
}
