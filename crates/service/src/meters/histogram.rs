//! How often something took how long.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets, in milliseconds; what is longer is counted in the last bucket, which has none.
const BOUNDS_MS: [u64; 11] =
    [10, 100, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000, 86_400_000];

/// Durations from milliseconds to days.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    counts: [AtomicU64; BOUNDS_MS.len() + 1],
    sum_ms: AtomicU64,
}

/// What a histogram holds at a moment.
#[derive(Debug, PartialEq)]
pub(super) struct Counted {
    /// Each upper bound in seconds, with how many were not longer: so Prometheus wants it.
    pub up_to: Vec<(f64, u64)>,
    pub count: u64,
    pub sum_s: f64,
}

impl Histogram {
    pub(super) fn count(&self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MS.partition_point(|&bound| bound < ms);
        self.sum_ms.fetch_add(ms, Ordering::Relaxed);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn counted(&self) -> Counted {
        let mut count = 0;
        let mut so_far = self.counts.iter().map(|counter| {
            count += counter.load(Ordering::Relaxed);
            count
        });
        let up_to = BOUNDS_MS.iter().map(|&ms| ms as f64 / 1e3).zip(so_far.by_ref()).collect();
        let count = so_far.next().unwrap_or_default();
        Counted { up_to, count, sum_s: self.sum_ms.load(Ordering::Relaxed) as f64 / 1e3 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_what_is_not_longer() {
        let histogram = Histogram::default();
        for ms in [0, 10, 11, 1_000, 60_001, 1_000_000_000] {
            histogram.count(Duration::from_millis(ms));
        }
        let Counted { up_to, count, sum_s } = histogram.counted();
        assert_eq!((count, sum_s), (6, 1_000_061.022));
        assert!(up_to.is_sorted_by(|one, next| one.0 < next.0 && one.1 <= next.1));
        let at = |seconds: f64| up_to.iter().find(|(bound, _)| *bound == seconds).expect("it is a bound").1;
        assert_eq!([0.01, 0.1, 1.0, 60.0, 300.0, 86_400.0].map(at), [2, 3, 4, 4, 5, 5]);
    }
}
