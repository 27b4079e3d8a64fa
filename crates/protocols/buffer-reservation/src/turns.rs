//! Sets of which the next member in turn is found without looking at all others: what arbiters choose from.

use serde::{Deserialize, Serialize};

/// A set of numbers below some bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Members {
    /// A bit for each number.
    words: Vec<u64>,
    /// A bit for each word that is not 0.
    filled: Vec<u64>,
}

const BITS: usize = u64::BITS as usize;

impl Members {
    /// An empty set of numbers below `bound`.
    pub fn below(bound: usize) -> Self {
        let words = bound.div_ceil(BITS);
        Self { words: vec![0; words], filled: vec![0; words.div_ceil(BITS)] }
    }

    #[inline]
    pub fn insert(&mut self, number: usize) {
        let index = number / BITS;
        self.words[index] |= 1 << (number % BITS);
        self.filled[index / BITS] |= 1 << (index % BITS);
    }

    #[inline]
    pub fn remove(&mut self, number: usize) {
        self.keep(number / BITS, !(1 << (number % BITS)));
    }

    /// Takes away those members of a word that have no bit in `among`.
    #[inline]
    fn keep(&mut self, index: usize, among: u64) {
        let word = &mut self.words[index];
        *word &= among;
        if *word == 0 {
            self.filled[index / BITS] &= !(1 << (index % BITS));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.filled.iter().all(|&word| word == 0)
    }

    /// Adds all members of another set.
    fn add(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
        self.filled.iter_mut().zip(&other.filled).for_each(|(word, other)| *word |= other);
    }

    /// Takes away all members of another set.
    fn subtract(&mut self, other: &Self) {
        other.words.iter().enumerate().for_each(|(index, other)| self.keep(index, !other));
    }

    /// The first member at or behind `start`, and around.
    pub fn next_from(&self, start: usize) -> Option<usize> {
        self.at_or_above(start).or_else(|| self.at_or_above(0))
    }

    /// All members, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.at_or_above(0), |&last| self.at_or_above(last + 1))
    }

    fn at_or_above(&self, start: usize) -> Option<usize> {
        let index = start / BITS;
        let here = self.words.get(index)? & (!0 << (start % BITS));
        if here != 0 {
            return Some(index * BITS + here.trailing_zeros() as usize);
        }
        let behind = index + 1;
        if behind == self.words.len() {
            return None;
        }
        let later =
            |at: usize| if at == behind / BITS { self.filled[at] & (!0 << (behind % BITS)) } else { self.filled[at] };
        let (at, bits) = (behind / BITS..self.filled.len()).map(|at| (at, later(at))).find(|&(_, bits)| bits != 0)?;
        let index = at * BITS + bits.trailing_zeros() as usize;
        Some(index * BITS + self.words[index].trailing_zeros() as usize)
    }
}

/// Members in groups, each of which is open or not: only members of open groups have a turn. Each member is in one group at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gated {
    groups: Vec<Members>,
    open: Vec<bool>,
    ready: Members,
}

impl Gated {
    /// Numbers below `bound` in `groups` groups, all of them open.
    pub fn below(bound: usize, groups: usize) -> Self {
        Self { groups: vec![Members::below(bound); groups], open: vec![true; groups], ready: Members::below(bound) }
    }

    pub fn insert(&mut self, number: usize, group: usize) {
        self.groups[group].insert(number);
        if self.open[group] {
            self.ready.insert(number);
        }
    }

    pub fn remove(&mut self, number: usize, group: usize) {
        self.groups[group].remove(number);
        self.ready.remove(number);
    }

    /// Opens or closes a group.
    pub fn set_open(&mut self, group: usize, open: bool) {
        if std::mem::replace(&mut self.open[group], open) == open {
            return;
        }
        if open {
            self.ready.add(&self.groups[group]);
        } else {
            self.ready.subtract(&self.groups[group]);
        }
    }

    /// The members of open groups.
    pub fn ready(&self) -> &Members {
        &self.ready
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
            steps in prop::collection::vec((0..4u8, 0..5000usize, 0..3usize), 0..200),
            start in 0..5000usize,
        ) {
            let (mut gated, mut found) = (Gated::below(5000, 3), Members::below(5000));
            let (mut members, mut open) = (BTreeSet::new(), [true; 3]);
            for (what, number, group) in steps {
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
            prop_assert!(found.iter().eq(all.iter().copied()));
            prop_assert!(gated.ready().iter().eq(ready.iter().copied()));
            prop_assert_eq!(gated.ready().is_empty(), ready.is_empty());
            prop_assert_eq!(gated.ready().next_from(start), ready.range(start..).chain(&ready).next().copied());
        }
    }
}
