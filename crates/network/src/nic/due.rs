//! What is to be sent from some time on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use serde::{Deserialize, Serialize};
use tailback_protocol::PacketKind;

use crate::time::Time;

/// What may be sent beside new packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Again {
    /// A packet that was dropped, as what.
    Packet { message: u32, index: u32, kind: PacketKind },
    /// What was withheld of a message, as lossless data.
    Rest { message: u32 },
}

/// A message between ranks of a program that run on the same node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct WithinNode {
    /// Where the ranks sit.
    pub from: u32,
    pub to: u32,
    /// What is told with it.
    pub word: u64,
}

/// What waits for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum What {
    /// Something that may be sent then.
    Again(Again),
    /// The queue of a destination whose next packet is asked about again then.
    Queue { destination: u32 },
    /// A timer of the source.
    Timer { token: u32 },
    /// A timer of the sink.
    SinkTimer { token: u32 },
    /// The next packet that waits for the egress line has left.
    Egress,
    /// The rank of a program that sits here starts.
    Start { seat: u32 },
    /// What it waits for is over.
    Elapsed { seat: u32, token: u32 },
    /// A message has come to a rank from another of the same node.
    WithinNode(WithinNode),
}

/// From when on; of equal times, what was said first is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Due {
    at: Time,
    serial: u32,
    what: What,
}

/// What waits for its time at a node, and what has reached it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DueQueue {
    waiting: BinaryHeap<Reverse<Due>>,
    serial: u32,
    /// When the next event comes, and its number: only the latest counts.
    announced: Option<Time>,
    announcements: u32,
    /// What may be sent: lossless data, then lossy data.
    pub lossless: VecDeque<Again>,
    pub lossy: VecDeque<Again>,
    /// The destinations that the source holds until it opens them; of each, how many it had held before.
    held: BTreeMap<u32, u64>,
    /// How many it has held so far.
    holds: u64,
}

impl DueQueue {
    /// Whether something may be sent.
    pub fn is_ready(&self) -> bool {
        !self.lossless.is_empty() || !self.lossy.is_empty()
    }

    /// The source holds a destination. It is asked about none that it holds, so it does not hold this one yet.
    pub fn hold(&mut self, destination: u32) {
        let before = self.held.insert(destination, self.holds);
        debug_assert!(before.is_none(), "node {destination} is held twice");
        self.holds += 1;
    }

    /// The source opens a destination; returns whether it held it.
    pub fn open(&mut self, destination: u32) -> bool {
        self.held.remove(&destination).is_some()
    }

    /// The source opens all that it holds, in the order in which they were held: what has been sent is held behind what waits longer, so that
    /// destinations take turns also where only one packet may leave each time.
    pub fn open_all(&mut self) -> Vec<u32> {
        let mut held: Vec<(u32, u64)> = std::mem::take(&mut self.held).into_iter().collect();
        held.sort_unstable_by_key(|&(_, before)| before);
        held.into_iter().map(|(destination, _)| destination).collect()
    }

    /// Lets something wait until `at`. Returns the number of the announcement to make for that time, if one is needed.
    pub fn wait(&mut self, at: Time, what: What) -> Option<u32> {
        self.waiting.push(Reverse(Due { at, serial: self.serial, what }));
        self.serial = self.serial.wrapping_add(1);
        self.announce(at)
    }

    /// Takes something whose time has come.
    pub fn take(&mut self, now: Time) -> Option<What> {
        if self.waiting.peek()?.0.at > now {
            return None;
        }
        self.waiting.pop().map(|due| due.0.what)
    }

    /// The next announcement is here; returns whether it is the latest.
    pub fn is_announced(&mut self, announcement: u32) -> bool {
        let latest = announcement == self.announcements;
        if latest {
            self.announced = None;
        }
        latest
    }

    /// The time of the next announcement and its number, if one is needed.
    pub fn next_announcement(&mut self) -> Option<(Time, u32)> {
        let at = self.waiting.peek()?.0.at;
        self.announce(at).map(|number| (at, number))
    }

    fn announce(&mut self, at: Time) -> Option<u32> {
        if self.announced.is_some_and(|announced| announced <= at) {
            return None;
        }
        self.announced = Some(at);
        self.announcements = self.announcements.wrapping_add(1);
        Some(self.announcements)
    }
}

#[cfg(test)]
mod tests {
    use super::super::written_and_read;
    use super::*;

    #[test]
    fn what_a_source_holds_is_written() {
        let mut queue = DueQueue::default();
        [5, 9, 3, 7].into_iter().for_each(|destination| queue.hold(destination));
        let mut queue = written_and_read(&queue);
        assert_eq!((queue.open(9), queue.open(9)), (true, false), "each once");
        // What is held again comes behind what was held all the time.
        assert!(queue.open(5));
        queue.hold(5);
        assert_eq!(queue.open_all(), [3, 7, 5], "in the order in which they were held");
        assert!(queue.open_all().is_empty(), "each once");
    }
}
