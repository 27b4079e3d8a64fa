//! Sets of which the next member in turn is found without looking at all others: what arbiters choose from.

use serde::{Deserialize, Serialize};

const BITS: usize = u64::BITS as usize;

/// How sets of numbers below some bound lie among words: a bit for each number, and behind these, if that is more than a word, a bit for each word
/// of them that is not 0. All is in one piece, as there is such a set for each node or more, and each is used about once in the time of a packet:
/// small ones are to take little of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Layout {
    words: usize,
}

impl Layout {
    fn below(bound: usize) -> Self {
        Self { words: bound.div_ceil(BITS) }
    }

    /// Words of a set.
    #[inline]
    fn len(self) -> usize {
        if self.words > 1 { self.words + self.words.div_ceil(BITS) } else { self.words }
    }

    /// The set that begins at a place among words.
    #[inline]
    fn set(self, bits: &[u64], at: usize) -> Set<'_> {
        Set { bits: &bits[at..][..self.len()], words: self.words }
    }

    #[inline]
    fn insert(self, bits: &mut [u64], at: usize, number: usize) {
        let index = number / BITS;
        bits[at + index] |= 1 << (number % BITS);
        if self.words > 1 {
            bits[at + self.words + index / BITS] |= 1 << (index % BITS);
        }
    }

    #[inline]
    fn remove(self, bits: &mut [u64], at: usize, number: usize) {
        self.keep(bits, at, number / BITS, !(1 << (number % BITS)));
    }

    /// Takes away those members of a word that have no bit in `among`.
    #[inline]
    fn keep(self, bits: &mut [u64], at: usize, index: usize, among: u64) {
        let word = &mut bits[at + index];
        *word &= among;
        if *word == 0 && self.words > 1 {
            bits[at + self.words + index / BITS] &= !(1 << (index % BITS));
        }
    }
}

/// The members of a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Set<'b> {
    bits: &'b [u64],
    words: usize,
}

impl<'b> Set<'b> {
    /// A bit for each word that is not 0; if there is one, that word.
    #[inline]
    fn filled(self) -> &'b [u64] {
        if self.words > 1 { &self.bits[self.words..] } else { self.bits }
    }

    pub fn is_empty(self) -> bool {
        self.filled().iter().all(|&word| word == 0)
    }

    /// The first member at or behind `start`, and around.
    #[inline]
    pub fn next_from(self, start: usize) -> Option<usize> {
        if let &[word] = self.bits {
            let behind = word & u64::MAX.checked_shl(start as u32).unwrap_or(0);
            let among = if behind == 0 { word } else { behind };
            return (among != 0).then(|| among.trailing_zeros() as usize);
        }
        self.at_or_above(start).or_else(|| self.at_or_above(0))
    }

    /// All members, in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> + use<'b> {
        std::iter::successors(self.at_or_above(0), move |&last| self.at_or_above(last + 1))
    }

    fn at_or_above(self, start: usize) -> Option<usize> {
        let index = start / BITS;
        if index >= self.words {
            return None;
        }
        let here = self.bits[index] & (!0 << (start % BITS));
        if here != 0 {
            return Some(index * BITS + here.trailing_zeros() as usize);
        }
        let behind = index + 1;
        if behind == self.words {
            return None;
        }
        let filled = self.filled();
        let later = |at: usize| if at == behind / BITS { filled[at] & (!0 << (behind % BITS)) } else { filled[at] };
        let (at, bits) = (behind / BITS..filled.len()).map(|at| (at, later(at))).find(|&(_, bits)| bits != 0)?;
        let index = at * BITS + bits.trailing_zeros() as usize;
        Some(index * BITS + self.bits[index].trailing_zeros() as usize)
    }
}

/// A set of numbers below some bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Members {
    layout: Layout,
    bits: Vec<u64>,
}

impl Members {
    /// An empty set of numbers below `bound`.
    pub fn below(bound: usize) -> Self {
        let layout = Layout::below(bound);
        Self { layout, bits: vec![0; layout.len()] }
    }

    #[inline]
    pub fn insert(&mut self, number: usize) {
        self.layout.insert(&mut self.bits, 0, number);
    }

    #[inline]
    pub fn remove(&mut self, number: usize) {
        self.layout.remove(&mut self.bits, 0, number);
    }

    #[inline]
    pub fn set(&self) -> Set<'_> {
        self.layout.set(&self.bits, 0)
    }
}

/// Members in groups, each of which is open or not: only members of open groups have a turn. Each member is in one group at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gated {
    layout: Layout,
    /// The members of open groups, those of each group, and a bit for each group that is closed.
    bits: Vec<u64>,
    /// Where these begin.
    closed_from: usize,
}

/// Where the members of open groups are.
const READY: usize = 0;

impl Gated {
    /// Numbers below `bound` in `groups` groups, all of them open.
    pub fn below(bound: usize, groups: usize) -> Self {
        let layout = Layout::below(bound);
        let closed_from = (groups + 1) * layout.len();
        Self { layout, bits: vec![0; closed_from + groups.div_ceil(BITS)], closed_from }
    }

    /// Where the members of a group are.
    #[inline]
    fn members(&self, group: usize) -> usize {
        (group + 1) * self.layout.len()
    }

    #[inline]
    fn is_open(&self, group: usize) -> bool {
        self.bits[self.closed_from + group / BITS] >> (group % BITS) & 1 == 0
    }

    #[inline]
    pub fn insert(&mut self, number: usize, group: usize) {
        let members = self.members(group);
        self.layout.insert(&mut self.bits, members, number);
        if self.is_open(group) {
            self.layout.insert(&mut self.bits, READY, number);
        }
    }

    #[inline]
    pub fn remove(&mut self, number: usize, group: usize) {
        let members = self.members(group);
        self.layout.remove(&mut self.bits, members, number);
        self.layout.remove(&mut self.bits, READY, number);
    }

    /// Opens or closes a group.
    #[inline]
    pub fn set_open(&mut self, group: usize, open: bool) {
        if self.is_open(group) == open {
            return;
        }
        self.bits[self.closed_from + group / BITS] ^= 1 << (group % BITS);
        let (layout, members) = (self.layout, self.members(group));
        if open {
            (0..layout.len()).for_each(|word| self.bits[READY + word] |= self.bits[members + word]);
        } else {
            for index in 0..layout.words {
                let among = !self.bits[members + index];
                layout.keep(&mut self.bits, READY, index, among);
            }
        }
    }

    /// The members of open groups.
    #[inline]
    pub fn ready(&self) -> Set<'_> {
        self.layout.set(&self.bits, READY)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gated_members_are_those_of_open_groups(
            bound in prop::sample::select(vec![5000, 64, 20]),
            steps in prop::collection::vec((0..4u8, 0..5000usize, 0..3usize), 0..200),
            start in 0..5000usize,
        ) {
            let start = start % bound;
            let (mut gated, mut found) = (Gated::below(bound, 3), Members::below(bound));
            let (mut members, mut open) = (BTreeSet::new(), [true; 3]);
            for (what, number, group) in steps {
                let number = number % bound;
                match what {
                    0 | 1 => if (0..3).all(|group| !members.contains(&(number, group))) {
                        gated.insert(number, group);
                        members.insert((number, group));
                        found.insert(number);
                    },
                    2 => if members.remove(&(number, group)) {
                        gated.remove(number, group);
                        found.remove(number);
                    },
                    _ => {
                        open[group] = !open[group];
                        gated.set_open(group, open[group]);
                    }
                }
            }
            let all: BTreeSet<_> = members.iter().map(|&(number, _)| number).collect();
            let ready: BTreeSet<_> = members.iter().filter(|member| open[member.1]).map(|&(number, _)| number).collect();
            prop_assert!(found.set().iter().eq(all.iter().copied()));
            prop_assert!(gated.ready().iter().eq(ready.iter().copied()));
            prop_assert_eq!(found.set().is_empty(), all.is_empty());
            prop_assert_eq!(gated.ready().is_empty(), ready.is_empty());
            prop_assert_eq!(gated.ready().next_from(start), ready.range(start..).chain(&ready).next().copied());
        }
    }
}
