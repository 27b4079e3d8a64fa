//! In which order what is due in a tick is handled: by receiver and, of one receiver, by sender.

use super::calendar::Due;
use crate::packet::NONE;

/// What is due for one receiver: the first and the last of a chain.
#[derive(Clone, Copy, Debug)]
struct Chain {
    first: u32,
    last: u32,
    /// Whether it is in the order of its senders.
    is_sorted: bool,
}

/// What is due in one tick by receiver. It is empty between ticks.
#[derive(Debug, Default)]
pub(super) struct ByReceiver {
    /// By receiver; it counts only if there is something for it.
    chains: Vec<Chain>,
    /// Set of the receivers that there is something for.
    receivers: Vec<u64>,
    /// The word of this set that holds the first of them, or one before it.
    word: usize,
    /// The places of a chain that is put in order: empty, and kept for its memory.
    places: Vec<u32>,
}

/// A receiver, and the place of the first of what is due for it. The others follow it: by sender, timers last, and of one sender what was put
/// first is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Receiver {
    pub number: u32,
    pub first: u32,
}

impl ByReceiver {
    /// For so many receivers.
    pub fn new(receivers: usize) -> Self {
        Self {
            chains: vec![Chain { first: NONE, last: NONE, is_sorted: true }; receivers],
            receivers: vec![0; receivers.div_ceil(64)],
            ..Self::default()
        }
    }

    /// Sorts what is due by receiver. Nothing may be left of the tick before.
    pub fn sort(&mut self, due: &mut [Due]) {
        self.word = 0;
        for place in 0..due.len() {
            let (to, from) = (due[place].to, due[place].from());
            due[place].next = NONE;
            let (word, bit) = (&mut self.receivers[to as usize / 64], 1 << (to % 64));
            let chain = &mut self.chains[to as usize];
            if *word & bit == 0 {
                *word |= bit;
                *chain = Chain { first: place as u32, last: place as u32, is_sorted: true };
                continue;
            }
            let last = &mut due[chain.last as usize];
            last.next = place as u32;
            chain.is_sorted &= last.from() <= from;
            chain.last = place as u32;
        }
    }

    /// Takes the next receiver.
    #[inline]
    pub fn take(&mut self, due: &mut [Due]) -> Option<Receiver> {
        while *self.receivers.get(self.word)? == 0 {
            self.word += 1;
        }
        let word = &mut self.receivers[self.word];
        let number = self.word as u32 * 64 + word.trailing_zeros();
        *word &= *word - 1;
        let Chain { first, is_sorted, .. } = self.chains[number as usize];
        let first = if is_sorted { first } else { self.put_in_order(first, due) };
        Some(Receiver { number, first })
    }

    /// Puts a chain in the order of its senders; returns the place of the one that is first then.
    fn put_in_order(&mut self, first: u32, due: &mut [Due]) -> u32 {
        let mut place = first;
        while place != NONE {
            self.places.push(place);
            place = due[place as usize].next;
        }
        self.places.sort_by_key(|&place| due[place as usize].from());
        let mut next = NONE;
        for place in self.places.drain(..).rev() {
            due[place as usize].next = std::mem::replace(&mut next, place);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailback_protocol::{Party, Words};

    use super::super::calendar::SenderRank;
    use super::*;

    /// In the order in which they come at a receiver.
    const SENDERS: [SenderRank; 5] = [
        SenderRank::of(Party::Source(u32::MAX)),
        SenderRank::of(Party::Sink(3)),
        SenderRank::of(Party::Controller(0)),
        SenderRank::of(Party::Controller(2)),
        SenderRank::TIMER,
    ];

    #[test]
    fn a_sender_is_who_it_was() {
        assert!(SENDERS.is_sorted());
        let parties = [Party::Source(u32::MAX), Party::Sink(3), Party::Controller(0), Party::Controller(2)];
        assert!(SENDERS.iter().filter_map(|sender| sender.party()).eq(parties));
    }

    proptest! {
        /// Against a stable sort, for several ticks one after the other.
        #[test]
        fn receivers_come_in_order_and_what_is_for_them_by_sender(
            ticks in prop::collection::vec(prop::collection::vec((0u32..200, prop::sample::select(&SENDERS[..])), 0..40), 1..4),
        ) {
            let mut by_receiver = ByReceiver::new(200);
            for tick in ticks {
                let new = |&(to, from)| Due::new(to, from, Words::default());
                let mut due: Vec<_> = tick.iter().map(new).collect();
                let mut expected: Vec<u32> = (0..due.len() as u32).collect();
                expected.sort_by_key(|&place| (due[place as usize].to, due[place as usize].from()));
                by_receiver.sort(&mut due);
                let mut found = Vec::new();
                while let Some(Receiver { number, first }) = by_receiver.take(&mut due) {
                    let next = |&place: &u32| Some(due[place as usize].next).filter(|&next| next != NONE);
                    let places: Vec<_> = std::iter::successors(Some(first), next).collect();
                    prop_assert!(places.iter().all(|&place| due[place as usize].to == number));
                    found.extend(places);
                }
                prop_assert_eq!(found, expected);
            }
        }
    }
}
