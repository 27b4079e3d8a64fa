//! The memory of attempts: what each has in use now, and the most that those that are over had.
//!
//! **The invariant it keeps:** there are as many runs by name as are simulated at once, and nothing stays of one that is over
//! but a number in a histogram.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Meters;
use super::histogram::{Counted, Histogram, Memory};

/// The memory of all attempts.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// By a number of its own: the run of the attempt, and bytes.
    in_use: Mutex<BTreeMap<u64, (String, u64)>>,
    started: AtomicU64,
    peaks: Histogram<Memory>,
}

impl Attempts {
    /// What is in use by each run of which that is known. Attempts under one name are one.
    pub(super) fn in_use(&self) -> BTreeMap<String, u64> {
        let mut by_run = BTreeMap::new();
        for (run, bytes) in self.in_use.lock().unwrap_or_else(PoisonError::into_inner).values() {
            *by_run.entry(run.clone()).or_default() += bytes;
        }
        by_run
    }

    pub(super) fn peaks(&self) -> Counted {
        self.peaks.counted()
    }
}

/// The memory of the worker that carries out an attempt; none when this is dropped.
pub(crate) struct MemoryUsed {
    meters: Arc<Meters>,
    number: u64,
    run: String,
    bytes: Option<u64>,
    peak: u64,
}

impl MemoryUsed {
    /// Of an attempt to carry out a run that is told of by this name.
    pub(crate) fn of(meters: &Arc<Meters>, run: String) -> Self {
        let number = meters.attempts.started.fetch_add(1, Ordering::Relaxed);
        Self { meters: meters.clone(), number, run, bytes: None, peak: 0 }
    }

    /// The worker has so much in use now.
    pub(crate) fn set(&mut self, bytes: u64) {
        if self.bytes != Some(bytes) {
            self.bytes = Some(bytes);
            self.had(bytes);
            let mut in_use = self.meters.attempts.in_use.lock().unwrap_or_else(PoisonError::into_inner);
            in_use.entry(self.number).or_insert_with(|| (self.run.clone(), 0)).1 = bytes;
        }
    }

    /// The worker has had so much in use at some time.
    pub(crate) fn had(&mut self, bytes: u64) {
        self.peak = self.peak.max(bytes);
    }
}

impl Drop for MemoryUsed {
    fn drop(&mut self) {
        let attempts = &self.meters.attempts;
        // Of one that was over before anybody looked, or that is a job elsewhere, it is not known.
        if self.peak > 0 {
            attempts.peaks.count(self.peak);
        }
        attempts.in_use.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_names_for_as_long_as_they_are_simulated() {
        let meters = Arc::new(Meters::default());
        let named = |name: &str| MemoryUsed::of(&meters, name.to_owned());
        let (mut one, mut hidden, mut other) = (named("one"), named(""), named(""));
        assert!(meters.attempts.in_use().is_empty(), "nothing is known yet");
        one.set(7 << 20);
        one.set(5 << 20);
        hidden.set(1 << 20);
        other.set(2 << 20);
        let in_use = [(String::new(), 3 << 20), ("one".to_owned(), 5 << 20)];
        assert_eq!(meters.attempts.in_use(), BTreeMap::from(in_use));
        other.had(40 << 20);
        drop((one, hidden, other, named("never seen")));
        assert!(meters.attempts.in_use().is_empty());
        let Counted { count, sum, .. } = meters.attempts.peaks();
        assert_eq!((count, sum), (3, f64::from((7 + 1 + 40) << 20)));
    }
}
