//! What queues consist of: messages, destinations, and lists of them.

use serde::{Deserialize, Serialize};

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
    pub(super) next: u32,
}

impl Waiting {
    pub fn new(created: Time, destination: u32, flits: u32, serial: u32, traffic: u16, told: Told) -> Self {
        Self { created, destination, flits_left: flits, serial, traffic, index: 0, drawn_vc: None, told, next: NONE }
    }
}

/// The messages for one destination.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Destination {
    /// The node that they wait at, and where they go.
    pub node: u32,
    pub destination: u32,
    pub first: u32,
    pub last: u32,
    /// The next destination of the ring.
    pub next: u32,
    /// Since when the first packet waits, if the source did not let it go when it was first asked.
    pub refused_since: Option<Time>,
}

/// A list of messages, or of destinations: its first and last element.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct List {
    pub first: u32,
    pub last: u32,
}

pub(crate) const EMPTY: List = List { first: NONE, last: NONE };

/// Records in slots that are used again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Store<T> {
    pub records: Vec<T>,
    pub free: Vec<u32>,
}

impl<T> Store<T> {
    pub fn new() -> Self {
        Self { records: Vec::new(), free: Vec::new() }
    }

    pub fn insert(&mut self, record: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.records[slot as usize] = record;
            return slot;
        }
        self.records.push(record);
        self.records.len() as u32 - 1
    }
}

/// Appends a destination to an injection queue's ring.
pub(super) fn append(injection_queue: &mut List, queue: u32, destinations: &mut [Destination]) {
    destinations[queue as usize].next = NONE;
    let last = std::mem::replace(&mut injection_queue.last, queue);
    if injection_queue.first == NONE {
        injection_queue.first = queue;
    } else {
        destinations[last as usize].next = queue;
    }
}
