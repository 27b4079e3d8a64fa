//! What is due on the control network, by tick.
//!
//! **The invariant it keeps:** for each tick in which something is due there is one event, and what was put first is first, wherever
//! it is kept.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use tailback_engine::{Tick, Wheel};
use tailback_protocol::{Party, Words};

use crate::event::{Event, EventKind};
use crate::packet::NONE;

/// Ticks that have a list of their own.
const NEAR_TICKS: usize = 256;

/// Who has sent what is due, as one number: in the order in which a receiver gets what is due in a tick, which is that of parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct SenderRank(u64);

impl SenderRank {
    /// In the place of the sender of a timer: behind all others.
    pub const TIMER: Self = Self(3 << 32);

    #[inline]
    pub const fn of(party: Party) -> Self {
        Self(match party {
            Party::Source(node) => node as u64,
            Party::Sink(node) => 1 << 32 | node as u64,
            Party::Controller(number) => 2 << 32 | number as u64,
        })
    }

    /// The sender, unless it is a timer.
    #[inline]
    pub fn party(self) -> Option<Party> {
        match self.0 >> 32 {
            0 => Some(Party::Source(self.0 as u32)),
            1 => Some(Party::Sink(self.0 as u32)),
            2 => Some(Party::Controller(self.0 as u32)),
            _ => None,
        }
    }
}

/// A message for somebody here, or a timer of a controller: two of them take a line of the cache, as there are many in each tick.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Due {
    /// Its receiver, as the region numbers them.
    pub to: u32,
    /// The place of the next one for its receiver, in its tick.
    #[serde(skip)]
    pub next: u32,
    /// Its sender, and in the lowest [`COUNT_BITS`] how many words it has.
    #[serde(deserialize_with = "from_and_count")]
    from_and_count: u64,
    words: [u64; Words::MAX],
}

/// Bits of a number of words.
const COUNT_BITS: u32 = 2;

const _: () = assert!(Words::MAX < 1 << COUNT_BITS && size_of::<Due>() == 32);

/// Refuses more words than there is room for.
fn from_and_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let found = u64::deserialize(deserializer)?;
    let fits = found % (1 << COUNT_BITS) <= Words::MAX as u64;
    if fits { Ok(found) } else { Err(D::Error::custom("a message has more words than there is room for")) }
}

impl Due {
    #[inline]
    pub fn new(to: u32, SenderRank(from): SenderRank, words: Words) -> Self {
        Self { to, next: NONE, from_and_count: from << COUNT_BITS | words.len() as u64, words: words.kept() }
    }

    /// Its sender.
    #[inline]
    pub fn from(&self) -> SenderRank {
        SenderRank(self.from_and_count >> COUNT_BITS)
    }

    #[inline]
    fn count(&self) -> usize {
        (self.from_and_count % (1 << COUNT_BITS)) as usize
    }

    /// What it says: of a timer its token.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words[..self.count()]
    }

    /// The same, to be passed on.
    #[inline]
    pub fn message(&self) -> Words {
        Words::first(self.count(), self.words)
    }
}

/// What is due, by tick: lists for the near future, which are used again, and a map for what lies further ahead.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub(super) struct Calendar {
    /// Ticks before this one are over.
    floor: Tick,
    /// By tick, modulo their number: what is due then. There are none before something is put.
    near: Vec<Vec<Due>>,
    /// Lists that are empty, the one used last at the end: it is used next, as it is still in the cache of the core.
    spare: Vec<Vec<Due>>,
    /// What was put when its tick was too far ahead for these.
    far: BTreeMap<Tick, Vec<Due>>,
}

impl Calendar {
    /// Time has come to `now`: all before is over.
    #[inline]
    pub fn move_to(&mut self, now: Tick) {
        self.floor = now;
    }

    /// Something is due at a tick that lies ahead.
    #[inline]
    pub fn put(&mut self, at: Tick, due: Due, wheel: &mut Wheel<Event>) {
        debug_assert!(at >= self.floor, "nothing is due in the past");
        if at - self.floor < NEAR_TICKS as Tick
            && let Some(list) = self.near.get_mut(at as usize % NEAR_TICKS).filter(|list| !list.is_empty())
        {
            list.push(due);
        } else {
            self.put_apart(at, due, wheel);
        }
    }

    /// The same where nothing is due in that tick yet, or where it is too far ahead for a list of its own.
    #[cold]
    fn put_apart(&mut self, at: Tick, due: Due, wheel: &mut Wheel<Event>) {
        if self.near.is_empty() {
            self.near.resize_with(NEAR_TICKS, Vec::new);
        }
        let is_near = at - self.floor < NEAR_TICKS as Tick;
        let is_first = !self.far.contains_key(&at);
        let list = if is_near { &mut self.near[at as usize % NEAR_TICKS] } else { self.far.entry(at).or_default() };
        if list.capacity() == 0 {
            *list = self.spare.pop().unwrap_or_default();
        }
        list.push(due);
        if is_first {
            wheel.schedule(at, Event::at(EventKind::ControlMessage, 0, 0));
        }
    }

    /// Takes all that is due in this tick, for which its event stands, into a list that is empty.
    pub fn take(&mut self, now: Tick, list: &mut Vec<Due>) {
        debug_assert!(list.is_empty(), "all of a tick is handled in it");
        self.move_to(now);
        // What lay far ahead was put before what was put when its tick was near.
        let far = if self.far.is_empty() { None } else { self.far.remove(&now) };
        let near = &mut self.near[now as usize % NEAR_TICKS];
        let emptied = match far {
            None => std::mem::replace(list, std::mem::take(near)),
            Some(mut far) => {
                far.append(near);
                std::mem::replace(list, far)
            }
        };
        self.spare.push(emptied);
        debug_assert!(!list.is_empty(), "an event stands for what is due");
    }
}

/// What is written of it: what is due, by tick.
#[derive(Serialize, Deserialize)]
struct Saved {
    floor: Tick,
    due: BTreeMap<Tick, Vec<Due>>,
}

impl From<Calendar> for Saved {
    fn from(Calendar { floor, near, spare: _, mut far }: Calendar) -> Self {
        for (place, list) in near.into_iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            let ahead = (place as Tick).wrapping_sub(floor) % NEAR_TICKS as Tick;
            far.entry(floor + ahead).or_default().extend(list);
        }
        Self { floor, due: far }
    }
}

impl From<Saved> for Calendar {
    fn from(Saved { floor, due }: Saved) -> Self {
        // What is near as well: it comes before what is put from now on.
        let near = if due.is_empty() { Vec::new() } else { vec![Vec::new(); NEAR_TICKS] };
        Self { floor, near, spare: Vec::new(), far: due }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailback_protocol::{remember, write_down};

    use super::*;

    #[test]
    fn a_message_of_too_many_words_is_refused() {
        for (words, is_refused) in [(Words::MAX, false), (Words::MAX + 1, true)] {
            let due = Due { from_and_count: words as u64, ..Due::new(0, SenderRank::TIMER, Words::default()) };
            let mut bytes = Vec::new();
            write_down(&due, &mut bytes);
            assert_eq!(remember::<Due>(&mut bytes.as_slice()).is_none(), is_refused, "{words} words");
        }
    }

    proptest! {
        /// Against a map: what is due comes in its tick, all of it, and in the order in which it was put, also when the calendar is written
        /// down and read back in between. Each tick has one event.
        #[test]
        fn a_calendar_is_a_map_by_tick(
            steps in prop::collection::vec((prop::collection::vec(1u64..1000, 0..5), any::<bool>()), 1..60),
        ) {
            let (mut calendar, mut wheel) = (Calendar::default(), Wheel::new(100));
            let mut expected = BTreeMap::<Tick, Vec<u32>>::new();
            let (mut now, mut serial) = (0, 0);
            for (delays, is_saved) in steps {
                for delay in delays {
                    // Mostly short delays, some long ones.
                    let at = now + if delay % 3 == 0 { delay } else { delay % 30 + 1 };
                    calendar.put(at, Due::new(serial, SenderRank::TIMER, Words::default()), &mut wheel);
                    expected.entry(at).or_default().push(serial);
                    serial += 1;
                }
                if is_saved {
                    let mut bytes = Vec::new();
                    write_down(&calendar, &mut bytes);
                    calendar = remember(&mut bytes.as_slice()).expect("it was written");
                }
                prop_assert!(wheel.entries().iter().map(|&(tick, _)| tick).eq(expected.keys().copied()));
                let Some((next, serials)) = expected.pop_first() else { continue };
                now = next;
                wheel.take(now, |_| {});
                let mut list = Vec::new();
                calendar.take(now, &mut list);
                prop_assert_eq!(list.iter().map(|due| due.to).collect::<Vec<_>>(), serials);
            }
        }
    }
}
