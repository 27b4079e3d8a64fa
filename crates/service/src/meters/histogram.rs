//! How often something took how long, or how much.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a histogram is of, and how it is cut into buckets.
pub(super) trait Measure {
    /// The upper bounds of the buckets; what is more is counted in the last bucket, which has none.
    const BOUNDS: &'static [u64];
    /// How many of what is counted are one of what is told.
    const PER_UNIT: f64;
}

/// Times, counted in milliseconds and told in seconds: up to days.
#[derive(Debug)]
pub(super) struct Time;

impl Measure for Time {
    const BOUNDS: &'static [u64] =
        &[10, 100, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000, 86_400_000];
    const PER_UNIT: f64 = 1e3;
}

/// Memory in bytes: from what the smallest process takes to what the largest machines have.
#[derive(Debug)]
pub(super) struct Memory;

impl Measure for Memory {
    const BOUNDS: &'static [u64] = &[
        16 << 20,
        32 << 20,
        64 << 20,
        128 << 20,
        256 << 20,
        512 << 20,
        1 << 30,
        2 << 30,
        4 << 30,
        8 << 30,
        16 << 30,
        32 << 30,
        64 << 30,
        128 << 30,
        256 << 30,
    ];
    const PER_UNIT: f64 = 1.0;
}

/// How often what is measured was how large.
#[derive(Debug)]
pub(super) struct Histogram<M> {
    counts: Vec<AtomicU64>,
    sum: AtomicU64,
    measure: PhantomData<M>,
}

impl<M: Measure> Default for Histogram<M> {
    fn default() -> Self {
        let counts = (0..=M::BOUNDS.len()).map(|_| AtomicU64::default()).collect();
        Self { counts, sum: AtomicU64::default(), measure: PhantomData }
    }
}

/// What a histogram holds at a moment.
#[derive(Debug, PartialEq)]
pub(super) struct Counted {
    /// Each upper bound, with how many were not more: so Prometheus wants it.
    pub up_to: Vec<(f64, u64)>,
    pub count: u64,
    pub sum: f64,
}

impl Histogram<Time> {
    pub(super) fn count_time(&self, time: Duration) {
        self.count(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    }
}

impl<M: Measure> Histogram<M> {
    pub(super) fn count(&self, value: u64) {
        let bucket = M::BOUNDS.partition_point(|&bound| bound < value);
        self.sum.fetch_add(value, Ordering::Relaxed);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn counted(&self) -> Counted {
        let mut count = 0;
        let mut so_far = self.counts.iter().map(|counter| {
            count += counter.load(Ordering::Relaxed);
            count
        });
        let told = |value: u64| value as f64 / M::PER_UNIT;
        let up_to = M::BOUNDS.iter().map(|&bound| told(bound)).zip(so_far.by_ref()).collect();
        let count = so_far.next().unwrap_or_default();
        Counted { up_to, count, sum: told(self.sum.load(Ordering::Relaxed)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_what_is_not_longer() {
        let histogram = Histogram::<Time>::default();
        for ms in [0, 10, 11, 1_000, 60_001, 1_000_000_000] {
            histogram.count_time(Duration::from_millis(ms));
        }
        let Counted { up_to, count, sum } = histogram.counted();
        assert_eq!((count, sum), (6, 1_000_061.022));
        assert!(up_to.is_sorted_by(|one, next| one.0 < next.0 && one.1 <= next.1));
        let at = |seconds: f64| up_to.iter().find(|(bound, _)| *bound == seconds).expect("it is a bound").1;
        assert_eq!([0.01, 0.1, 1.0, 60.0, 300.0, 86_400.0].map(at), [2, 3, 4, 4, 5, 5]);
    }

    #[test]
    fn memory_is_told_in_bytes() {
        let histogram = Histogram::<Memory>::default();
        [1, 16 << 20, (16 << 20) + 1, 1 << 40].into_iter().for_each(|bytes| histogram.count(bytes));
        let Counted { up_to, count, sum } = histogram.counted();
        assert_eq!((count, sum), (4, (1u64 << 40) as f64 + f64::from(32 << 20) + 2.0));
        assert!(up_to.is_sorted_by(|one, next| one.0 < next.0 && one.1 <= next.1));
        assert_eq!((up_to[0], up_to[1].1, up_to[up_to.len() - 1].1), ((f64::from(16 << 20), 2), 3, 3));
    }
}
