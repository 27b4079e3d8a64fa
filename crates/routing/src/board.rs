//! What routers of a domain tell each other.

use serde::{Deserialize, Serialize};

/// What a router tells the others of its domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// A few bits.
    pub word: u64,
    /// Some numbers; none if that has not changed.
    pub list: Vec<u16>,
}

/// The last notice of each router of a domain that has had the time to arrive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    words: Vec<u64>,
    lists: Vec<Vec<u16>>,
    /// The sum of all lists, number by number.
    sums: Vec<u32>,
}

impl Board {
    /// An empty board of a domain of `routers` routers.
    #[must_use]
    pub fn new(routers: usize) -> Self {
        Self { words: vec![0; routers], lists: vec![Vec::new(); routers], sums: Vec::new() }
    }

    /// Puts up the notice of the router at `member` of the domain, and takes down the one before.
    pub fn post(&mut self, member: usize, notice: Notice) {
        self.words[member] = notice.word;
        if notice.list.is_empty() {
            return;
        }
        self.sums.resize(self.sums.len().max(notice.list.len()), 0);
        for (sum, &number) in self.sums.iter_mut().zip(&self.lists[member]) {
            *sum -= u32::from(number);
        }
        for (sum, &number) in self.sums.iter_mut().zip(&notice.list) {
            *sum += u32::from(number);
        }
        self.lists[member] = notice.list;
    }

    /// The bits that the router at `member` has told.
    #[inline]
    #[must_use]
    pub fn word(&self, member: usize) -> u64 {
        self.words[member]
    }

    /// The number at `index` that the router at `member` has told; 0 if it has told none.
    #[inline]
    #[must_use]
    pub fn number(&self, member: usize, index: usize) -> u16 {
        self.lists[member].get(index).copied().unwrap_or(0)
    }

    /// The sum of the numbers at `index` that all routers but the one at `member` have told.
    #[inline]
    #[must_use]
    pub fn sum_of_others(&self, member: usize, index: usize) -> u32 {
        let all = self.sums.get(index).copied().unwrap_or(0);
        all - u32::from(self.number(member, index))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_are_those_of_the_last_lists(posts in prop::collection::vec((0usize..4, prop::collection::vec(0u16..9, 0..5)), 0..30)) {
            let mut board = Board::new(4);
            let mut last = vec![Vec::new(); 4];
            for (member, list) in posts {
                board.post(member, Notice { word: list.len() as u64, list: list.clone() });
                prop_assert_eq!(board.word(member), list.len() as u64);
                if !list.is_empty() {
                    last[member] = list;
                }
            }
            for member in 0..4 {
                for index in 0..6 {
                    prop_assert_eq!(board.number(member, index), last[member].get(index).copied().unwrap_or(0));
                    let others = (0..4).filter(|&other| other != member);
                    let sum: u16 = others.map(|other| last[other].get(index).copied().unwrap_or(0)).sum();
                    prop_assert_eq!(board.sum_of_others(member, index), u32::from(sum));
                }
            }
        }
    }
}
