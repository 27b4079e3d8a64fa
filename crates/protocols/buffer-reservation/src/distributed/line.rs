//! A queue of requests or grants in front of a link, which takes one at a time.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::pace::Pace;

/// A request or a grant in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Item {
    pub input: u32,
    pub output: u32,
    /// For how many packets it is.
    pub packets: u32,
    /// The switch of the stage that it came from.
    pub from: u32,
}

/// A queue: first in, first out, whomever it waits for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    items: VecDeque<Item>,
    /// By queue at the other end of the link: room that is left there for what comes from here. Empty if there is always room.
    room: Vec<u32>,
    /// The most room that there is.
    places: u32,
    pace: Pace,
}

/// What a link does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It takes the first item.
    Takes(Item),
    /// It waits, for an alarm at this tick if there is one, or for what comes.
    Waits(Option<u64>),
}

impl Line {
    /// A queue of a link to where there is always room.
    pub fn without_end(pace: Pace) -> Self {
        Self { items: VecDeque::new(), room: Vec::new(), places: 0, pace }
    }

    /// A queue of a link to so many queues, with so many places each for what comes from here.
    pub fn to_queues(queues: u32, places: u32, pace: Pace) -> Self {
        Self { items: VecDeque::new(), room: vec![places; queues as usize], places, pace }
    }

    pub fn push(&mut self, item: Item) {
        self.items.push_back(item);
    }

    /// There is room for one more item in a queue at the other end.
    pub fn add_room(&mut self, queue: u32) {
        let room = &mut self.room[queue as usize];
        *room += 1;
        assert!(*room <= self.places, "more room comes back than there is in queue {queue}");
    }

    pub fn alarmed(&mut self) {
        self.pace.alarmed();
    }

    /// What the link does now; `queue` is the one at the other end that an item goes to.
    pub fn next(&mut self, now: u64, queue: impl Fn(&Item) -> u32) -> Next {
        let Some(item) = self.items.front() else { return Next::Waits(None) };
        let place = queue(item) as usize;
        if self.room.get(place) == Some(&0) {
            return Next::Waits(None);
        }
        if !self.pace.is_free(now) {
            return Next::Waits(self.pace.alarm());
        }
        self.pace.serve(now);
        if let Some(room) = self.room.get_mut(place) {
            *room -= 1;
        }
        let taken = self.items.pop_front();
        if self.items.is_empty() {
            // It begins at the first place again, and not behind the one that it has just left, so that it stays in the cache.
            self.items.clear();
        }
        taken.map_or(Next::Waits(None), Next::Takes)
    }

    /// For how many packets the items in the queue are.
    #[cfg(test)]
    pub fn packets(&self) -> usize {
        self.items.iter().map(|item| item.packets as usize).sum()
    }

    /// Whether it is empty, and all room is back.
    #[cfg(test)]
    pub fn is_at_rest(&self) -> bool {
        self.items.is_empty() && self.room.iter().all(|&room| room == self.places)
    }
}
