//! Which message goes to which receive.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use tailback_workload::Want;

/// The tag of a message that receives of all tags take, as a schedule may have it.
pub const ANY_TAG: u32 = u32::MAX;

/// What a receive takes: of any rank, with any tag, where none is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Source {
    /// The rank that it comes from.
    pub from: Option<u32>,
    /// Its tag.
    pub tag: Option<u32>,
}

impl Source {
    fn takes(self, arrived: &Arrived) -> bool {
        self.from.is_none_or(|from| from == arrived.from)
            && self.tag.is_none_or(|tag| [tag, ANY_TAG].contains(&arrived.tag))
    }
}

/// A message, or the announcement of one, that has arrived in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrived {
    /// The rank that it comes from.
    pub from: u32,
    /// Its tag.
    pub tag: u32,
    /// Its number, if it is an announcement.
    pub number: Option<u32>,
}

/// Receives without a message, and messages without a receive. Never do two of them match.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Matching {
    /// How many receives were posted, and how many messages have arrived: their order.
    posts: u64,
    arrivals: u64,
    /// By what they take: the receives, with the order in which they were posted.
    posted: BTreeMap<Source, VecDeque<(u64, u32)>>,
    /// By rank and tag: what has arrived, with its order.
    arrived: BTreeMap<(u32, u32), VecDeque<(u64, Arrived)>>,
}

impl Matching {
    /// Posts a receive; returns the first of what has arrived that it takes.
    pub fn post(&mut self, source: Source, receive: u32) -> Option<Arrived> {
        if let Some(key) = self.first_for(source) {
            return take_first(&mut self.arrived, &key).map(|(_, arrived)| arrived);
        }
        self.posted.entry(source).or_default().push_back((self.posts, receive));
        self.posts += 1;
        None
    }

    /// Something has arrived; returns the receive that gets it: the first that was posted of those that take it.
    pub fn arrive(&mut self, arrived: Arrived) -> Option<u32> {
        let Arrived { from, tag, .. } = arrived;
        if let Some(source) = self.first_posted(&arrived) {
            return take_first(&mut self.posted, &source).map(|(_, receive)| receive);
        }
        self.arrived.entry((from, tag)).or_default().push_back((self.arrivals, arrived));
        self.arrivals += 1;
        None
    }

    /// What the first receive takes that was posted of those which take this.
    fn first_posted(&self, arrived: &Arrived) -> Option<Source> {
        let Arrived { from, tag, .. } = *arrived;
        let first = |source: &Source| self.posted.get(source)?.front().map(|&(order, _)| (order, *source));
        if tag == ANY_TAG {
            let taking = self.posted.keys().filter(|source| source.takes(arrived));
            return taking.filter_map(first).min().map(|(_, source)| source);
        }
        let sources = [(Some(from), Some(tag)), (Some(from), None), (None, Some(tag)), (None, None)];
        let sources = sources.map(|(from, tag)| Source { from, tag });
        sources.iter().filter_map(first).min().map(|(_, source)| source)
    }

    /// What the receives wait for.
    pub fn wants(&self) -> impl Iterator<Item = Want> {
        self.posted.keys().map(|source| {
            let from = source.from.map_or("any rank".to_owned(), |from| format!("rank {from}"));
            let tag = source.tag.map_or("any tag".to_owned(), |tag| format!("tag {tag}"));
            Want { of: source.from, what: format!("a message with {tag} from {from}") }
        })
    }

    /// The rank and tag of the first of what has arrived that a receive takes.
    fn first_for(&self, source: Source) -> Option<(u32, u32)> {
        if let Source { from: Some(from), tag: Some(tag) } = source {
            // What suits all receives has come before it, or not.
            let keys = [(from, tag), (from, ANY_TAG)];
            let waiting = keys.iter().filter_map(|key| Some((self.arrived.get(key)?.front()?.0, *key)));
            return waiting.min().map(|(_, key)| key);
        }
        let fitting = self.arrived.iter().filter_map(|(&key, queue)| {
            let (order, arrived) = queue.front()?;
            source.takes(arrived).then_some((*order, key))
        });
        fitting.min().map(|(_, key)| key)
    }
}

/// Takes the first of a queue, which exists only while it holds something.
fn take_first<K: Ord, T>(queues: &mut BTreeMap<K, VecDeque<T>>, key: &K) -> Option<T> {
    let queue = queues.get_mut(key)?;
    let first = queue.pop_front();
    if queue.is_empty() {
        queues.remove(key);
    }
    first
}
