//! In which order what is due in a tick is handled: by receiver and, of one receiver, by sender.

use super::calendar::Due;

/// No message: the end of a chain.
const NONE: u32 = u32::MAX;

/// The messages for one receiver: the first and the last of a chain.
#[derive(Clone, Copy, Debug)]
struct Chain {
    first: u32,
    last: u32,
}

/// What is due in one tick by receiver. It is empty between ticks.
#[derive(Debug, Default)]
pub(super) struct ByReceiver {
    /// By receiver; it counts only if there is something for it.
    chains: Vec<Chain>,
    /// By message: the next one for its receiver.
    next: Vec<u32>,
    /// Set of the receivers that there is something for.
    receivers: Vec<u64>,
    /// The word of this set that holds the first of them, or one before it.
    word: usize,
}

impl ByReceiver {
    /// For so many receivers.
    pub fn new(receivers: usize) -> Self {
        Self {
            chains: vec![Chain { first: NONE, last: NONE }; receivers],
            receivers: vec![0; receivers.div_ceil(64)],
            ..Self::default()
        }
    }

    /// Sorts what is due by receiver. Nothing may be left of the tick before.
    pub fn sort(&mut self, due: &[Due]) {
        self.word = 0;
        self.next.clear();
        for (number, &Due { to, .. }) in due.iter().enumerate() {
            let number = number as u32;
            self.next.push(NONE);
            let (word, bit) = (&mut self.receivers[to as usize / 64], 1 << (to % 64));
            let chain = &mut self.chains[to as usize];
            if *word & bit == 0 {
                *word |= bit;
                chain.first = number;
            } else {
                self.next[chain.last as usize] = number;
            }
            chain.last = number;
        }
    }

    /// Takes the next receiver, and fills a list with the places of what is due for it: by sender, timers last, and of one sender what was put
    /// first is first.
    pub fn take(&mut self, due: &[Due], places: &mut Vec<u32>) -> Option<u32> {
        places.clear();
        while *self.receivers.get(self.word)? == 0 {
            self.word += 1;
        }
        let word = &mut self.receivers[self.word];
        let to = self.word as u32 * 64 + word.trailing_zeros();
        *word &= *word - 1;
        let mut place = self.chains[to as usize].first;
        let (mut last, mut is_sorted) = (due[place as usize].from, true);
        while place != NONE {
            let from = due[place as usize].from;
            is_sorted &= last <= from;
            last = from;
            places.push(place);
            place = self.next[place as usize];
        }
        if !is_sorted {
            places.sort_by_key(|&place| due[place as usize].from);
        }
        Some(to)
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
                let due: Vec<_> = tick.iter().map(|&(to, from)| Due { to, from, words: Words::default() }).collect();
                let mut expected: Vec<u32> = (0..due.len() as u32).collect();
                expected.sort_by_key(|&place| (due[place as usize].to, due[place as usize].from));
                by_receiver.sort(&due);
                let (mut found, mut places) = (Vec::new(), Vec::new());
                while let Some(to) = by_receiver.take(&due, &mut places) {
                    prop_assert!(!places.is_empty() && places.iter().all(|&place| due[place as usize].to == to));
                    found.extend_from_slice(&places);
                }
                prop_assert_eq!(found, expected);
            }
        }
    }
}
