//! Messages that wait at their nodes.
//!
//! A node has one *injection queue* of waiting messages, or one per virtual channel where destinations are dealt out to
//! channels. An injection queue is a list of messages in order of arrival, or a ring of queues, one for each destination that
//! something waits for. Queues exist only while they hold something.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

use crate::fabric::Fabric;
use crate::packet::NONE;
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
    pub word: u64,
    next: u32,
}

impl Waiting {
    pub fn new(created: Time, destination: u32, flits: u32, serial: u32, traffic: u16, word: u64) -> Self {
        Self { created, destination, flits_left: flits, serial, traffic, index: 0, drawn_vc: None, word, next: NONE }
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
    injection_queues_per_node: usize,
    injection_queues: Vec<List>,
    messages: Store<Waiting>,
    destinations: Store<Destination>,
    /// The destinations that something waits for: by node and destination.
    directory: HashMap<u64, u32, BuildHasherDefault<KeyHasher>>,
}

/// In which order the messages of an injection queue are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Order {
    Fifo,
    PerDestination,
}

impl SourceQueues {
    pub fn new(fabric: &Fabric, nodes: usize) -> Self {
        let injection_queues_per_node = match fabric.spec.nic.vc_choice {
            tailback_hardware::InjectionVc::ByDestination => usize::from(fabric.spec.classes[0].vcs[0]),
            _ => 1,
        };
        let order = match fabric.spec.nic.queues {
            tailback_hardware::SourceQueues::Fifo => Order::Fifo,
            tailback_hardware::SourceQueues::PerDestination => Order::PerDestination,
        };
        Self {
            order,
            injection_queues_per_node,
            injection_queues: vec![EMPTY; nodes * injection_queues_per_node],
            messages: Store::new(),
            destinations: Store::new(),
            directory: HashMap::default(),
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

    /// Adds a message at the end of its queue.
    pub fn push(&mut self, node: u32, injection_queue: usize, message: Waiting) {
        let destination = message.destination;
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
        let key = u64::from(node) << 32 | u64::from(destination);
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
        append(injection_queue, queue, &mut self.destinations.records);
    }

    /// The message whose packet is next in an injection queue.
    #[inline]
    pub fn front(&mut self, node: u32, injection_queue: usize) -> Option<&mut Waiting> {
        let first = self.injection_queues[self.position(node, injection_queue)].first;
        if first == NONE {
            return None;
        }
        let mut message = match self.order {
            Order::Fifo => first,
            Order::PerDestination => self.destinations.records[first as usize].first,
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
        let injection_queue = &mut self.injection_queues[position];
        while injection_queue.first != NONE {
            let queue = &self.destinations.records[injection_queue.first as usize];
            if queue.first != NONE {
                return Some(queue.first);
            }
            self.directory.remove(&queue.key);
            self.destinations.free.push(injection_queue.first);
            injection_queue.first = queue.next;
        }
        None
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
        if queue.first == NONE {
            self.directory.remove(&queue.key);
            self.destinations.free.push(first);
        } else {
            append(injection_queue, first, &mut self.destinations.records);
        }
        before
    }

    /// Takes the first queue of an injection queue out of its ring, until it is put back; returns its destination. Only where
    /// destinations have queues.
    pub fn park(&mut self, node: u32, injection_queue: usize) -> u32 {
        let position = self.position(node, injection_queue);
        let injection_queue = &mut self.injection_queues[position];
        let queue = &self.destinations.records[injection_queue.first as usize];
        injection_queue.first = queue.next;
        queue.key as u32
    }

    /// Puts the queue of a destination back into the ring of its injection queue.
    pub fn unpark(&mut self, node: u32, injection_queue: usize, destination: u32) {
        let queue = self.directory[&(u64::from(node) << 32 | u64::from(destination))];
        let position = self.position(node, injection_queue);
        let injection_queue = &mut self.injection_queues[position];
        append(injection_queue, queue, &mut self.destinations.records);
    }

    /// Takes what is left of message `serial` out of its queue, whose first it is, if anything is left. Only where
    /// destinations have queues.
    pub fn withdraw(&mut self, node: u32, destination: u32, serial: u32) -> Option<Waiting> {
        let queue = *self.directory.get(&(u64::from(node) << 32 | u64::from(destination)))?;
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

/// What is written of the waiting messages: the directory follows from the destinations.
#[derive(Serialize, Deserialize)]
struct Saved {
    order: Order,
    injection_queues_per_node: usize,
    injection_queues: Vec<List>,
    messages: Store<Waiting>,
    destinations: Store<Destination>,
}

impl From<SourceQueues> for Saved {
    fn from(queues: SourceQueues) -> Self {
        let SourceQueues { order, injection_queues_per_node, injection_queues, messages, destinations, .. } = queues;
        Self { order, injection_queues_per_node, injection_queues, messages, destinations }
    }
}

impl From<Saved> for SourceQueues {
    fn from(saved: Saved) -> Self {
        let Saved { order, injection_queues_per_node, injection_queues, messages, destinations } = saved;
        let mut directory = HashMap::default();
        if order == Order::PerDestination {
            let free: std::collections::BTreeSet<u32> = destinations.free.iter().copied().collect();
            let used = (0..destinations.records.len() as u32).filter(|queue| !free.contains(queue));
            directory.extend(used.map(|queue| (destinations.records[queue as usize].key, queue)));
        }
        Self { order, injection_queues_per_node, injection_queues, messages, destinations, directory }
    }
}

/// A hasher for keys that are spread well by one multiplication. Maps with it are looked up, never gone through.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are 64-bit numbers")
    }

    fn write_u64(&mut self, key: u64) {
        let product = u128::from(key) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}
