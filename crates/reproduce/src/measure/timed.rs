//! Spans of time series.

use super::found;
use crate::measured::Measured;
use crate::quantity::SeriesColumn;
use crate::results::{Absent, Results};
use crate::series::Sample;
use crate::signal::{self, Extreme};

/// Why a span of time has no value.
const NOTHING_DELIVERED: &str = "nothing was delivered in that span of time";

/// A time series.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The curve.
    pub curve: String,
    /// What is measured.
    pub column: SeriesColumn,
    /// What runs to the right in the sweep, if that is not clear.
    pub axis: Option<String>,
    /// Where on the axis; none if the curve has only one point.
    pub at: Option<f64>,
    /// Cycles that are averaged.
    pub bin: Option<f64>,
}

/// A time series and a span of time, in cycles from the event on.
#[derive(Clone, Debug)]
pub struct Timed {
    /// The series.
    pub trace: Trace,
    /// From when on.
    pub from: f64,
    /// Until when.
    pub until: f64,
}

impl Timed {
    /// The samples of a span of time.
    fn within(&self, results: &Results, seed: usize, (from, until): (f64, f64)) -> Result<Vec<Sample>, Absent> {
        let Trace { curve, column, axis, at, bin } = &self.trace;
        let found = results.at(curve, axis.as_deref(), *at, seed)?;
        let mut samples = signal::binned(results.samples(found, column)?, *bin);
        samples.retain(|sample| from <= sample.time && sample.time < until);
        Ok(samples)
    }

    /// The cycles from one time of a value to the next, where a run says so or the figure.
    pub(super) fn interval(&self, results: &Results) -> Option<f64> {
        let Trace { curve, axis, at, bin, .. } = &self.trace;
        let found = results.at(curve, axis.as_deref(), *at, 0).ok();
        let own = found.and_then(|found| found.outcome()?.series.as_ref()?.interval());
        // Bins that are shorter than the intervals of the series hold one of those or none.
        own.into_iter().chain(*bin).reduce(f64::max)
    }

    pub(super) fn samples(&self, results: &Results, seed: usize) -> Result<Vec<Sample>, Absent> {
        complete(self.within(results, seed, (self.from, self.until))?)
    }

    pub(super) fn mean(&self, results: &Results, seed: usize, span: (f64, f64)) -> Result<f64, Absent> {
        mean_of(&complete(self.within(results, seed, span)?)?)
    }

    /// The mean of a span; where runs ended before all of it had arrived, the least that it can be, if that is known.
    pub(super) fn mean_or_least(&self, results: &Results, seed: usize) -> Result<Measured, Absent> {
        let inside = self.within(results, seed, (self.from, self.until))?;
        let least = signal::least_mean(&inside).filter(|_| self.trace.column.waits());
        match (complete(inside), least) {
            (Err(_), Some(least)) => Ok(Measured::at_least(least)),
            (all, _) => mean_of(&all?).map(Measured::alone),
        }
    }

    pub(super) fn extreme(&self, which: Extreme, results: &Results, seed: usize) -> Result<Sample, Absent> {
        let nothing = || Absent::Undefined(NOTHING_DELIVERED.to_owned());
        which.of(&self.samples(results, seed)?).ok_or_else(nothing)
    }
}

/// The mean of samples, if there are any.
fn mean_of(samples: &[Sample]) -> Result<f64, Absent> {
    found(signal::mean(samples), NOTHING_DELIVERED)
}

/// Samples, if all of them are complete.
fn complete(samples: Vec<Sample>) -> Result<Vec<Sample>, Absent> {
    match samples.iter().find(|sample| !sample.is_complete()) {
        None => Ok(samples),
        Some(Sample { time, complete, .. }) => {
            let percent = 100.0 * complete;
            Err(Absent::Incomplete(format!(
                "of the packets created {time} cycles after the event {percent:.1} % had arrived when the run ended"
            )))
        }
    }
}
