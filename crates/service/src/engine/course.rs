//! The course of a run: its samples, or as many of them as are kept, spread over all of it.
//!
//! Samples are of use while a run goes on, and afterwards to see what it went through. Those that are not written down yet
//! are written with each checkpoint, so that a run that goes on from there goes on with its course too.
//!
//! **The invariant it keeps:** never more than allowed are kept, in the order of their cycles, and about as many are left
//! out between any two.

use crate::domain::TakenSample;
use crate::store::{Store, StoreError, samples};

/// The samples of a run so far.
#[derive(Debug)]
pub(super) struct Course {
    kept: Vec<TakenSample>,
    kept_max: usize,
    /// Of so many samples the first is kept.
    one_of: u64,
    /// Samples since the last that was kept.
    since: u64,
    /// How many of those that are kept are in the store; none if others than these are.
    written: Option<usize>,
}

impl Course {
    /// Of a run that goes on from a cycle, with what was written down before. Samples from behind that cycle are
    /// forgotten: it is simulated again.
    pub(super) fn new(mut kept: Vec<TakenSample>, reached: u64, kept_max: u32) -> Self {
        let found = kept.len();
        kept.retain(|taken| taken.sample.cycle <= reached);
        let written = (kept.len() == found).then_some(found);
        // Numbers of samples follow each other, unless something else was written down between them.
        let gaps = kept.windows(2).map(|pair| pair[1].sequence.abs_diff(pair[0].sequence));
        let one_of = gaps.min().unwrap_or(1).max(1);
        Self { kept, kept_max: kept_max as usize, one_of, since: 0, written }
    }

    /// There is a new sample.
    pub(super) fn put(&mut self, sample: TakenSample) {
        self.since += 1;
        if !self.kept.is_empty() && self.since < self.one_of {
            return;
        }
        self.since = 0;
        self.kept.push(sample);
        if self.kept.len() > self.kept_max {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            // With nothing allowed, nothing stays.
            self.kept.truncate(self.kept_max);
            self.one_of *= 2;
            self.written = None;
        }
    }

    /// Writes down what is not written yet.
    pub(super) fn write(&mut self, store: &Store, number: i64) -> Result<(), StoreError> {
        if self.written == Some(self.kept.len()) {
            return Ok(());
        }
        let (replace, from) = (self.written.is_none(), self.written.unwrap_or(0));
        let new = self.kept[from..].to_vec();
        store.write_blocking(move |writing| {
            if replace {
                samples::delete(writing, number)?;
            }
            samples::insert(writing, number, &new)
        })?;
        self.written = Some(self.kept.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Sample;

    fn sample(number: u64) -> TakenSample {
        let sample = Sample { cycle: number * 10, ..Sample::default() };
        TakenSample { sequence: number as i64, time_ms: 0, sample }
    }

    fn numbers(course: &Course) -> Vec<i64> {
        course.kept.iter().map(|sample| sample.sequence).collect()
    }

    proptest! {
        #[test]
        fn however_many_there_are_those_kept_are_few_and_spread_evenly(
            count in 1u64..3000, kept_max in 1u32..40, restart in 0u64..3000,
        ) {
            let mut course = Course::new(Vec::new(), 0, kept_max);
            for number in 1..=count {
                course.put(sample(number));
                if number == restart {
                    course = Course::new(course.kept, number * 10, kept_max);
                }
            }
            let kept = numbers(&course);
            prop_assert!(!kept.is_empty() && kept.len() <= kept_max as usize);
            prop_assert_eq!(kept[0], 1);
            let gaps: Vec<i64> = kept.windows(2).map(|pair| pair[1] - pair[0]).collect();
            // A restart begins to count anew, which may tear one gap open.
            let (least, most) = (gaps.iter().min().copied().unwrap_or(1), gaps.iter().max().copied().unwrap_or(1));
            prop_assert!(most <= 4 * least, "{:?}", kept);
            prop_assert!(least as u64 <= 4 * count.div_ceil(u64::from(kept_max)), "{:?}", kept);
        }
    }

    #[test]
    fn what_is_simulated_again_is_forgotten() {
        let course = Course::new((1..=9).map(sample).collect(), 45, 100);
        assert_eq!(numbers(&course), [1, 2, 3, 4]);
        assert_eq!(course.written, None, "the store has others");
        assert_eq!(Course::new((1..=9).map(sample).collect(), 90, 100).written, Some(9));
    }
}
