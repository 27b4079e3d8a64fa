//! What each source has sent each destination: how fast, and how evenly the network has shared itself among them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// With more pairs than this nothing is told of any.
pub(crate) const PAIRS_MAX: usize = 1 << 16;

/// What has arrived from a source at a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PairRecord {
    /// Flits of messages that have arrived.
    flits: u64,
    /// When the first of them was created.
    first: u64,
    /// When the last of them arrived.
    last: u64,
}

impl PairRecord {
    fn merge(&mut self, other: &Self) {
        self.flits += other.flits;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// What has arrived from each source at each destination.
///
/// **The invariant it keeps:** whether there are too many pairs depends on how many there are in all, however they are dealt out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairRecords {
    pairs: BTreeMap<(u32, u32), PairRecord>,
    /// Whether there are more than are kept.
    too_many: bool,
}

impl PairRecords {
    /// A message has arrived.
    pub(crate) fn completed(&mut self, between: (u32, u32), created: u64, arrived: u64, flits: u32) {
        self.add(between, PairRecord { flits: flits.into(), first: created, last: arrived });
    }

    fn add(&mut self, between: (u32, u32), what: PairRecord) {
        if self.too_many {
            return;
        }
        self.pairs.entry(between).and_modify(|pair| pair.merge(&what)).or_insert(what);
        if self.pairs.len() > PAIRS_MAX {
            *self = Self { too_many: true, ..Self::default() };
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if other.too_many {
            *self = other.clone();
        }
        other.pairs.iter().for_each(|(&between, what)| self.add(between, *what));
    }

    /// Flits per cycle of each pair, in ascending order; none if there are too many pairs.
    pub(crate) fn goodput(&self, ticks_per_cycle: f64) -> Option<Vec<f64>> {
        if self.too_many {
            return None;
        }
        let rate = |pair: &PairRecord| pair.flits as f64 * ticks_per_cycle / (pair.last - pair.first).max(1) as f64;
        let mut rates: Vec<f64> = self.pairs.values().map(rate).collect();
        rates.sort_unstable_by(f64::total_cmp);
        Some(rates)
    }

    /// The bytes that so many pairs take at most.
    pub(crate) fn bytes_up_to(pairs: u64) -> u64 {
        // Nodes of the map are half empty at worst.
        2 * pairs.min(PAIRS_MAX as u64) * (size_of::<(u32, u32)>() + size_of::<PairRecord>()) as u64
    }
}

/// Jain's index of rates with this sum, this sum of squares, of so many; none if all are 0.
pub(crate) fn jain(sum: f64, squares: f64, count: f64) -> Option<f64> {
    (squares > 0.0).then(|| sum * sum / (count * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_measured_from_its_first_message_to_its_last() {
        let (mut whole, mut one, mut other) = (PairRecords::default(), PairRecords::default(), PairRecords::default());
        for (between, created, arrived, flits) in [((0, 1), 10, 20, 5), ((0, 1), 0, 15, 5), ((2, 1), 5, 9, 8)] {
            whole.completed(between, created, arrived, flits);
            if created == 10 { &mut one } else { &mut other }.completed(between, created, arrived, flits);
        }
        assert_eq!(whole.goodput(2.0), Some(vec![1.0, 4.0]));
        one.merge(&other);
        assert_eq!(one, whole);
    }

    #[test]
    fn quantiles_are_values_that_are_there() {
        let figures = crate::Distribution::of_sorted(&[1.0, 2.0, 3.0, 10.0]);
        let found = [figures.mean, figures.min, figures.p50, figures.p95, figures.max];
        assert_eq!((found, figures.samples), ([4.0, 1.0, 2.0, 10.0, 10.0].map(Some), 4));
        let nothing = crate::Distribution::of_sorted(&[]);
        assert_eq!((nothing.mean, nothing.min, nothing.p50), (None, None, None));
    }

    #[test]
    fn too_many_pairs_are_none_whoever_counts_them() {
        let half = |from: u32| {
            let mut pairs = PairRecords::default();
            (from..from + PAIRS_MAX as u32 / 2).for_each(|source| pairs.completed((source, 0), 0, 1, 1));
            pairs
        };
        let (mut both, more) = (half(0), half(PAIRS_MAX as u32 / 2));
        both.merge(&more);
        assert_eq!(both.goodput(1.0).map(|rates| rates.len()), Some(PAIRS_MAX));
        let mut all = both.clone();
        all.completed((u32::MAX, 1), 0, 1, 1);
        assert_eq!(all.goodput(1.0), None);
        both.merge(&all);
        assert_eq!((both.goodput(1.0), all.pairs.len()), (None, 0));
    }
}
