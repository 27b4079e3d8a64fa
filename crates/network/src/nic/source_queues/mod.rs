//! Messages that wait at their nodes.
//!
//! A node has one *injection queue* of waiting messages, or one per virtual channel where destinations are dealt out to
//! channels, or take them in turn. An injection queue is a list of messages in order of arrival, or a ring of queues, one for each
//! destination that something waits for. Queues exist only while they hold something. Or queues of destinations take turns by number, all of
//! a node together.

mod in_turn;
mod saved;

use serde::{Deserialize, Serialize};
use tailback_hardware::InjectionVc;
use tailback_protocol::Routes;

use self::in_turn::InTurn;
use self::saved::Saved;
use super::by_flow::{ByFlow, flow};
use crate::fabric::Fabric;
use crate::packet::NONE;
use crate::payload::Told;
use crate::time::Time;

/// A message that waits, as a whole or with what is left of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub created: Time,
    pub destination: u32,
    /// Flits that are not yet in packets.
    pub flits_left: u32,
    /// Its serial number at its source.
    pub serial: u32,
    pub traffic: u16,
    /// The index of its next packet.
    pub index: u32,
    /// The virtual channel that was drawn for its next packet.
    pub drawn_vc: Option<u8>,
    /// What a program tells with it.
    pub told: Told,
    next: u32,
}

impl Waiting {
    pub fn new(created: Time, destination: u32, flits: u32, serial: u32, traffic: u16, told: Told) -> Self {
        Self { created, destination, flits_left: flits, serial, traffic, index: 0, drawn_vc: None, told, next: NONE }
    }
}

/// The messages for one destination.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Destination {
    key: u64,
    first: u32,
    last: u32,
    /// The next destination of the ring.
    next: u32,
}

/// A list of messages, or of destinations: its first and last element.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct List {
    pub first: u32,
    pub last: u32,
}

pub(super) const EMPTY: List = List { first: NONE, last: NONE };

/// Records in slots that are used again.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Store<T> {
    records: Vec<T>,
    free: Vec<u32>,
}

impl<T> Store<T> {
    fn new() -> Self {
        Self { records: Vec::new(), free: Vec::new() }
    }

    fn insert(&mut self, record: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.records[slot as usize] = record;
            return slot;
        }
        self.records.push(record);
        self.records.len() as u32 - 1
    }
}

/// All waiting messages of a region.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub(crate) struct SourceQueues {
    order: Order,
    dealing: Dealing,
    injection_queues_per_node: usize,
    injection_queues: Vec<List>,
    messages: Store<Waiting>,
    destinations: Store<Destination>,
    /// The destinations that something waits for: by node and destination.
    directory: ByFlow<u32>,
    /// The injection queue of the next packet of each flow that has sent one, where flows take them in turn.
    turns: ByFlow<u8>,
    /// Where destinations take turns by number.
    in_turn: Option<InTurn>,
}

/// How destinations are dealt out to injection queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Dealing {
    /// There is one.
    One,
    /// In equal consecutive shares of so many nodes.
    Shares { nodes: u32 },
    /// The packets of a flow take them in turn. All flows begin at the first one if they are in step.
    Turns { in_step: bool },
}

/// In which order the messages of an injection queue are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Order {
    Fifo,
    PerDestination,
    /// Destinations take turns by number.
    InTurn,
}

impl SourceQueues {
    pub fn new(fabric: &Fabric, nodes: usize) -> Self {
        let vcs = usize::from(fabric.spec.classes[0].vcs[0]);
        let (dealing, injection_queues_per_node) = match fabric.spec.nic.vc_choice {
            InjectionVc::ByDestination if vcs > 1 => (Dealing::Shares { nodes: fabric.topology.nodes() }, vcs),
            InjectionVc::Rotation { in_step } if vcs > 1 => (Dealing::Turns { in_step }, vcs),
            _ => (Dealing::One, 1),
        };
        let order = match fabric.spec.nic.queues {
            tailback_hardware::SourceQueues::Fifo => Order::Fifo,
            tailback_hardware::SourceQueues::PerDestination => Order::PerDestination,
            tailback_hardware::SourceQueues::InTurn => Order::InTurn,
        };
        let in_turn = || InTurn::new(nodes, injection_queues_per_node, fabric.topology.nodes());
        Self {
            order,
            dealing,
            injection_queues_per_node,
            injection_queues: vec![EMPTY; nodes * injection_queues_per_node],
            messages: Store::new(),
            destinations: Store::new(),
            directory: ByFlow::default(),
            turns: ByFlow::default(),
            in_turn: (order == Order::InTurn).then(in_turn),
        }
    }

    pub fn injection_queues_per_node(&self) -> usize {
        self.injection_queues_per_node
    }

    /// Where an injection queue of a node is among those of all nodes.
    #[inline]
    fn position(&self, node: u32, injection_queue: usize) -> usize {
        node as usize * self.injection_queues_per_node + injection_queue
    }

    /// The injection queue of the next packet that a node, whose number in the network is `source`, sends to a destination.
    #[inline]
    fn injection_queue_of(&self, node: u32, source: u32, destination: u32) -> usize {
        match self.dealing {
            Dealing::One => 0,
            Dealing::Shares { nodes } => {
                (u64::from(destination) * self.injection_queues_per_node as u64 / u64::from(nodes)) as usize
            }
            Dealing::Turns { in_step } => self.injection_queue_in_turn(node, source, destination, in_step),
        }
    }

    /// The same where the packets of a flow take injection queues in turn. Apart, so that others do not carry its code.
    #[cold]
    fn injection_queue_in_turn(&self, node: u32, source: u32, destination: u32, in_step: bool) -> usize {
        match self.turns.get(&flow(node, destination)) {
            Some(&turn) => turn.into(),
            None => {
                let routes = Routes { count: self.injection_queues_per_node as u32, in_step };
                routes.first(source, destination) as usize
            }
        }
    }

    /// Adds a message of a node, whose number in the network is `source`, at the end of its queue.
    pub fn push(&mut self, node: u32, source: u32, message: Waiting) {
        let destination = message.destination;
        let injection_queue = self.injection_queue_of(node, source, destination);
        let slot = self.messages.insert(message);
        let position = self.position(node, injection_queue);
        let injection_queue = &mut self.injection_queues[position];
        if self.order == Order::Fifo {
            let last = std::mem::replace(&mut injection_queue.last, slot);
            if injection_queue.first == NONE {
                injection_queue.first = slot;
            } else {
                self.messages.records[last as usize].next = slot;
            }
            return;
        }
        let key = flow(node, destination);
        if let Some(&queue) = self.directory.get(&key) {
            let queue = &mut self.destinations.records[queue as usize];
            let last = std::mem::replace(&mut queue.last, slot);
            if queue.first == NONE {
                queue.first = slot; // what it held was withdrawn
            } else {
                self.messages.records[last as usize].next = slot;
            }
            return;
        }
        let queue = self.destinations.insert(Destination { key, first: slot, last: slot, next: NONE });
        self.directory.insert(key, queue);
        self.put(position, queue);
    }

    /// The first queue of an injection queue, if there is one.
    #[inline]
    fn first(&self, node: u32, position: usize) -> u32 {
        if self.take_turns() { self.first_in_turn(node, position) } else { self.injection_queues[position].first }
    }

    /// The same where destinations take turns by number. Apart, so that others do not carry its code.
    #[cold]
    fn first_in_turn(&self, node: u32, position: usize) -> u32 {
        let Some(turns) = &self.in_turn else { return NONE };
        turns.first(node, position).map_or(NONE, |destination| turns.queue(node, destination))
    }

    /// The destination that an injection queue serves next, where destinations have queues.
    pub fn first_destination(&self, node: u32, injection_queue: usize) -> Option<u32> {
        let first = self.first(node, self.position(node, injection_queue));
        (first != NONE && self.order != Order::Fifo).then(|| self.destinations.records[first as usize].key as u32)
    }

    /// Takes `queue`, which is the first of an injection queue, out of it.
    #[inline]
    fn take_first(&mut self, position: usize, queue: u32) {
        let Destination { key, next, .. } = self.destinations.records[queue as usize];
        match &mut self.in_turn {
            None => self.injection_queues[position].first = next,
            Some(turns) => turns.take(position, key as u32),
        }
    }

    /// Puts a queue into an injection queue: behind all others, if they do not take turns by number.
    #[inline]
    fn put(&mut self, position: usize, queue: u32) {
        match &mut self.in_turn {
            None => append(&mut self.injection_queues[position], queue, &mut self.destinations.records),
            Some(turns) => {
                let destination = self.destinations.records[queue as usize].key as u32;
                turns.put(position, destination, queue);
            }
        }
    }

    /// Of the injection queues of a node in which destinations wait for their turn by number, and which are not among those `tried`, the one whose first
    /// has its turn next.
    #[cold]
    pub fn next_turn(&self, node: u32, tried: u32) -> Option<usize> {
        let turns = self.in_turn.as_ref()?;
        let mut left = turns.occupied(node) & !tried;
        let mut next: Option<(u32, usize)> = None;
        while left != 0 {
            let injection_queue = left.trailing_zeros() as usize;
            left &= left - 1;
            let first = turns.first(node, self.position(node, injection_queue)).expect("one waits there");
            let found = (turns.distance(node, first), injection_queue);
            next = Some(next.map_or(found, |next| next.min(found)));
        }
        next.map(|(_, injection_queue)| injection_queue)
    }

    /// Whether destinations take turns by number.
    #[inline]
    pub fn take_turns(&self) -> bool {
        self.order == Order::InTurn
    }

    /// The message whose packet is next in an injection queue. Always inline: it is asked for at each attempt to send.
    #[inline(always)]
    pub fn front(&mut self, node: u32, injection_queue: usize) -> Option<&mut Waiting> {
        let first = self.first(node, self.position(node, injection_queue));
        if first == NONE {
            return None;
        }
        let mut message = match self.order {
            Order::Fifo => first,
            Order::PerDestination | Order::InTurn => self.destinations.records[first as usize].first,
        };
        if message == NONE {
            message = self.skip_withdrawn(node, injection_queue)?;
        }
        Some(&mut self.messages.records[message as usize])
    }

    /// Takes queues away from which all that they held was withdrawn, until there is one with a message.
    #[cold]
    fn skip_withdrawn(&mut self, node: u32, injection_queue: usize) -> Option<u32> {
        let position = self.position(node, injection_queue);
        loop {
            let first = self.first(node, position);
            if first == NONE {
                return None;
            }
            let queue = &self.destinations.records[first as usize];
            if queue.first != NONE {
                return Some(queue.first);
            }
            let key = queue.key;
            self.take_first(position, first);
            self.directory.remove(&key);
            self.destinations.free.push(first);
            if self.take_turns() {
                return None; // the next may be in another injection queue
            }
        }
    }

    /// Takes a packet's worth off the front message, and says what that was before. With a queue for each destination it is the
    /// next one's turn.
    #[inline]
    pub fn advance(&mut self, node: u32, injection_queue: usize, flits: u16) -> Waiting {
        let message = self.front(node, injection_queue).expect("a packet came from a message");
        let before = message.clone();
        message.flits_left -= u32::from(flits);
        message.index += 1;
        message.drawn_vc = None;
        let (done, next) = (message.flits_left == 0, message.next);
        let position = self.position(node, injection_queue);
        if self.take_turns() {
            self.advance_in_turn(node, position, done.then_some(next));
            return before;
        }
        let injection_queue = &mut self.injection_queues[position];
        if self.order == Order::Fifo {
            if done {
                self.messages.free.push(injection_queue.first);
                injection_queue.first = next;
            }
            return before;
        }
        let first = injection_queue.first;
        let queue = &mut self.destinations.records[first as usize];
        injection_queue.first = queue.next;
        if done {
            self.messages.free.push(queue.first);
            queue.first = next;
        }
        if matches!(self.dealing, Dealing::Turns { .. }) {
            self.take_turn(position, first);
        } else if queue.first == NONE {
            self.directory.remove(&queue.key);
            self.destinations.free.push(first);
        } else {
            append(injection_queue, first, &mut self.destinations.records);
        }
        before
    }

    /// The first queue of an injection queue has had its turn; `next` is the message after its first one, if that is done.
    #[cold]
    fn advance_in_turn(&mut self, node: u32, position: usize, next: Option<u32>) {
        let first = self.first_in_turn(node, position);
        let queue = &mut self.destinations.records[first as usize];
        if let Some(next) = next {
            self.messages.free.push(std::mem::replace(&mut queue.first, next));
        }
        let (key, is_empty) = (queue.key, queue.first == NONE);
        if let Some(turns) = &mut self.in_turn {
            turns.serve(node, position, key as u32);
        }
        if matches!(self.dealing, Dealing::Turns { .. }) {
            self.take_turn(position, first);
        } else if is_empty {
            self.directory.remove(&key);
            self.destinations.free.push(first);
        } else {
            self.put(position, first);
        }
    }

    /// The queue of a destination, which has been taken out of an injection queue, goes on in the next one of its node, if it
    /// holds anything. Apart, for the same reason.
    #[cold]
    fn take_turn(&mut self, position: usize, queue: u32) {
        let turn = position % self.injection_queues_per_node;
        let next_turn = (turn + 1) % self.injection_queues_per_node;
        let Destination { key, first, .. } = self.destinations.records[queue as usize];
        self.turns.insert(key, next_turn as u8);
        if first == NONE {
            self.directory.remove(&key);
            self.destinations.free.push(queue);
        } else {
            self.put(position - turn + next_turn, queue);
        }
    }

    /// Takes the first queue of an injection queue out of its ring, until it is put back; returns its destination. Only where
    /// destinations have queues.
    pub fn park(&mut self, node: u32, injection_queue: usize) -> u32 {
        let position = self.position(node, injection_queue);
        let first = self.first(node, position);
        self.take_first(position, first);
        self.destinations.records[first as usize].key as u32
    }

    /// Puts the queue of a destination back into the ring of its injection queue; the number of the node in the network is `source`.
    pub fn unpark(&mut self, node: u32, source: u32, destination: u32) {
        let injection_queue = self.injection_queue_of(node, source, destination);
        let queue = self.directory[&flow(node, destination)];
        self.put(self.position(node, injection_queue), queue);
    }

    /// Takes what is left of message `serial` out of its queue, whose first it is, if anything is left. Only where
    /// destinations have queues.
    pub fn withdraw(&mut self, node: u32, destination: u32, serial: u32) -> Option<Waiting> {
        let queue = *self.directory.get(&flow(node, destination))?;
        let queue = &mut self.destinations.records[queue as usize];
        let first = queue.first;
        let record = self.messages.records.get_mut(first as usize).filter(|message| message.serial == serial)?;
        let message = record.clone();
        record.flits_left = 0;
        queue.first = message.next;
        self.messages.free.push(first);
        Some(message)
    }

    /// The flits of all messages that wait: slots that are free have none left.
    pub fn waiting_flits(&self) -> u64 {
        self.messages.records.iter().map(|message| u64::from(message.flits_left)).sum()
    }
}

/// Appends a destination to an injection queue's ring.
fn append(injection_queue: &mut List, queue: u32, destinations: &mut [Destination]) {
    destinations[queue as usize].next = NONE;
    let last = std::mem::replace(&mut injection_queue.last, queue);
    if injection_queue.first == NONE {
        injection_queue.first = queue;
    } else {
        destinations[last as usize].next = queue;
    }
}
