//! A histogram of whole numbers with buckets of constant relative width.
//!
//! Values below 256 have a bucket each. Above, every octave is cut into 128 buckets, so that a bucket is at most
//! 1/128 (0.78 %) of its values wide and its middle at most 0.4 % away from any of them. The list of buckets grows to
//! the largest value seen: its length is a function of that value alone, so that two histograms of the same values are
//! equal however they came about.

use serde::{Deserialize, Serialize};

/// The binary logarithm of the number of buckets per octave.
const OCTAVE_BITS: u32 = 7;

/// The number of buckets per octave.
const OCTAVE: usize = 1 << OCTAVE_BITS;

/// How often which values were seen, with exact count, sum, minimum and maximum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
    /// Whole octaves, as many as the maximum needs.
    counts: Vec<u64>,
}

/// Some values that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The smallest of them.
    pub low: u64,
    /// The largest of them.
    pub high: u64,
    /// How many were seen.
    pub count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { count: 0, sum: 0, min: u64::MAX, max: 0, counts: Vec::new() }
    }
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes that one takes whose largest value is `max`.
    #[must_use]
    pub fn bytes_up_to(max: u64) -> u64 {
        ((bucket_of(max) / OCTAVE + 1) * OCTAVE * size_of::<u64>()) as u64
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let index = bucket_of(value);
        if index >= self.counts.len() {
            self.grow(index);
        }
        self.counts[index] += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.counts.resize((index / OCTAVE + 1) * OCTAVE, 0);
    }

    /// Adds everything that `other` has counted.
    pub fn merge(&mut self, other: &Self) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The sum of all values.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The smallest value.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest value.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The mean value: exact but for the rounding of one division.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The value of rank ⌈q·n⌉ (at least 1) among the n counted, from below; `q` is rounded to nine decimals first.
    ///
    /// What is returned is the middle of that value's bucket, rounded down and kept between minimum and maximum: exact
    /// below 256, and above at most 0.4 % off.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let billionths = (q.clamp(0.0, 1.0) * 1e9).round() as u128;
        let rank = (billionths * u128::from(self.count)).div_ceil(1_000_000_000).max(1) as u64;
        let mut seen = 0;
        let bucket = self.buckets().find(|bucket| {
            seen += bucket.count;
            seen >= rank
        })?;
        Some((bucket.low + (bucket.high - bucket.low) / 2).clamp(self.min, self.max))
    }

    /// The buckets that hold something, by ascending values.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let bucket = |(index, &count)| {
            let (low, high) = bounds(index);
            Bucket { low, high, count }
        };
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(bucket)
    }
}

/// The index of the bucket that `value` belongs to.
#[inline]
fn bucket_of(value: u64) -> usize {
    // The lowest octave that is told apart is [128, 256); what lies below it has the same width.
    let shift = (63 - OCTAVE_BITS) - (value | OCTAVE as u64).leading_zeros();
    // The leading one of `value >> shift` counts as one more octave, hence there is no gap after the first.
    ((shift as usize) << OCTAVE_BITS) + (value >> shift) as usize
}

/// The smallest and the largest value of a bucket.
fn bounds(index: usize) -> (u64, u64) {
    let shift = (index >> OCTAVE_BITS).saturating_sub(1) as u32;
    let low = ((index - ((shift as usize) << OCTAVE_BITS)) as u64) << shift;
    (low, low + ((1 << shift) - 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn histogram(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    /// Values of all magnitudes, small ones more often than they would come by themselves.
    fn values() -> impl Strategy<Value = Vec<u64>> {
        let value = (0u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift);
        proptest::collection::vec(value, 0..300)
    }

    #[test]
    fn buckets_leave_no_gap_and_stay_narrow() {
        assert_eq!(bounds(0), (0, 0));
        for index in 1..=bucket_of(u64::MAX) {
            let (low, high) = bounds(index);
            assert_eq!(low, bounds(index - 1).1 + 1, "bucket {index}");
            assert_eq!((bucket_of(low), bucket_of(high)), (index, index));
            assert!((high - low) as f64 <= low as f64 / 128.0, "bucket {index} is too wide");
        }
        assert_eq!(bounds(255), (255, 255));
        assert_eq!(bounds(256), (256, 257));
        assert_eq!(bounds(bucket_of(u64::MAX)).1, u64::MAX);
    }

    #[test]
    fn an_empty_histogram_has_no_figures() {
        let empty = Histogram::new();
        assert_eq!((empty.min(), empty.max(), empty.quantile(0.5)), (None, None, None));
        assert_eq!(empty.mean(), None);
    }

    #[test]
    fn ranks_are_not_disturbed_by_binary_fractions() {
        // 0.07 · 100 is a little more than 7 in binary floating point.
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(histogram(&hundred).quantile(0.07), Some(7));
        assert_eq!(histogram(&hundred).quantile(0.999), Some(100));
        assert_eq!(histogram(&hundred).quantile(0.0), Some(1));
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_sorted_values(values in values(), percent in 0usize..=100) {
            let histogram = histogram(&values);
            let mut sorted = values;
            sorted.sort_unstable();
            let sum: u128 = sorted.iter().map(|&v| u128::from(v)).sum();
            prop_assert_eq!((histogram.count(), histogram.sum()), (sorted.len() as u64, sum));
            prop_assert_eq!((histogram.min(), histogram.max()), (sorted.first().copied(), sorted.last().copied()));
            prop_assert_eq!(histogram.buckets().map(|bucket| bucket.count).sum::<u64>(), sorted.len() as u64);
            let rank = (percent * sorted.len()).div_ceil(100).max(1);
            let exact = sorted.get(rank - 1).copied();
            let found = histogram.quantile(percent as f64 / 100.0);
            prop_assert_eq!(found.is_some(), exact.is_some());
            if let (Some(found), Some(exact)) = (found, exact) {
                prop_assert!(found.abs_diff(exact) as f64 <= exact as f64 * 0.004, "{} instead of {}", found, exact);
            }
        }

        #[test]
        fn merging_is_counting_everything(parts in proptest::collection::vec(values(), 0..5)) {
            let whole = histogram(&parts.concat());
            let mut forward = Histogram::new();
            parts.iter().for_each(|part| forward.merge(&histogram(part)));
            let mut backward = Histogram::new();
            parts.iter().rev().for_each(|part| backward.merge(&histogram(part)));
            prop_assert_eq!(&forward, &whole);
            prop_assert_eq!(&backward, &whole);
        }

        #[test]
        fn it_survives_being_written_down(values in values()) {
            let histogram = histogram(&values);
            let bytes = postcard::to_allocvec(&histogram).unwrap();
            prop_assert_eq!(postcard::from_bytes::<Histogram>(&bytes).unwrap(), histogram);
        }
    }
}
