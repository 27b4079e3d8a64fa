//! How a number is computed from the results of a figure: a small closed vocabulary, whose words can be combined.

mod points;
mod timed;

use tailback_report::Estimate;

pub use self::points::{Along, Apart, At, Order};
pub use self::timed::{Timed, Trace};
use crate::experiment::Experiment;
use crate::measured::{Measured, largest, smallest, sum};
use crate::results::{Absent, Results, all_of, both_of};
use crate::signal::{self, Extreme};

/// How a number is computed from results.
#[derive(Clone, Debug)]
pub enum Measure {
    /// A figure at a point of a curve.
    Value(At),
    /// The largest along a curve.
    Largest(Along),
    /// The smallest along a curve.
    Smallest(Along),
    /// The mean of the points of a curve.
    Average(Along),
    /// How far two curves are apart at most, in percent of the second.
    Apart(Apart),
    /// How far two curves are apart at most, as a difference.
    Distance(Apart),
    /// How well several curves keep an order: the least ratio of a curve and one that should be below it.
    Order(Order),
    /// How far they are apart at most: the largest such ratio.
    Widest(Order),
    /// The first by the second.
    Ratio(Box<[Self; 2]>),
    /// The first less the second.
    Difference(Box<[Self; 2]>),
    /// All of several together.
    Sum(Vec<Self>),
    /// The largest of several.
    LargestOf(Vec<Self>),
    /// The smallest of several.
    SmallestOf(Vec<Self>),
    /// The mean over a span of time.
    During(Timed),
    /// The highest or the lowest value in a span of time.
    Extreme(Extreme, Timed),
    /// How long after the event it is first there.
    ExtremeTime(Extreme, Timed),
    /// How long after the event a time series stays within some percent of its final value.
    Settling(Timed, f64, (f64, f64)),
    /// How long after the event it has first gone some percent of the way from its value before to its final value.
    Reaching(Timed, f64, (f64, f64), (f64, f64)),
    /// The amplitude of its oscillation.
    Amplitude(Timed),
    /// The period of its oscillation.
    Period(Timed),
}

/// A correlation that is not worth to be called a period.
const CORRELATION_MIN: f64 = 0.1;

impl Measure {
    /// The number that a seed gives.
    ///
    /// # Errors
    /// When a run is missing, or has no such number.
    pub fn evaluate(&self, results: &Results, seed: usize) -> Result<Measured, Absent> {
        let each = |measures: &[Self]| -> Result<Vec<Measured>, Absent> {
            all_of(measures.iter().map(|measure| measure.evaluate(results, seed)))
        };
        let any = |number: Option<Measured>| number.expect("there is at least one");
        match self {
            Self::Value(at) => at.evaluate(results, seed),
            Self::Largest(along) => Ok(any(largest(along.values(results, seed)?))),
            Self::Smallest(along) => Ok(any(smallest(along.values(results, seed)?))),
            Self::Average(along) => {
                let values: Vec<Measured> = along.values(results, seed)?.collect();
                let count = values.len() as f64;
                Ok(any(sum(values)).times(1.0 / count))
            }
            Self::Apart(apart) => apart.in_percent(results, seed),
            Self::Distance(apart) => apart.as_difference(results, seed),
            Self::Order(order) => order.least(results, seed),
            Self::Widest(order) => order.widest(results, seed),
            Self::Ratio(both) => each(both.as_slice()).and_then(|both| quotient(both[0], both[1])),
            Self::Difference(both) => each(both.as_slice()).map(|both| both[0].less(both[1])),
            Self::Sum(several) => Ok(any(sum(each(several)?))),
            Self::LargestOf(several) => Ok(any(largest(each(several)?))),
            Self::SmallestOf(several) => Ok(any(smallest(each(several)?))),
            Self::During(timed) => timed.mean_or_least(results, seed),
            Self::Extreme(which, timed) => Ok(Measured::alone(timed.extreme(*which, results, seed)?.value)),
            Self::ExtremeTime(which, timed) => Ok(Measured::alone(timed.extreme(*which, results, seed)?.time)),
            Self::Settling(timed, percent, last) => {
                let (level, samples) = both_of(timed.mean(results, seed, *last), timed.samples(results, seed))?;
                alone(signal::settling(&samples, level, *percent), "it does not settle in that span of time")
            }
            Self::Reaching(timed, percent, before, last) => {
                let levels = both_of(timed.mean(results, seed, *before), timed.mean(results, seed, *last));
                let ((from, to), samples) = both_of(levels, timed.samples(results, seed))?;
                alone(signal::reaching(&samples, from, to, *percent), "it does not get that far")
            }
            Self::Amplitude(timed) => {
                alone(signal::amplitude(&timed.samples(results, seed)?), "there are too few values for an amplitude")
            }
            Self::Period(timed) => {
                alone(signal::period(&timed.samples(results, seed)?, CORRELATION_MIN), "nothing comes back")
            }
        }
    }

    /// The mean over all seeds. Its interval is Student's over the seeds; of one seed it is what its runs give.
    ///
    /// # Errors
    /// When a run is missing, or has no such number.
    pub fn over_seeds(&self, results: &Results) -> Result<Measured, Absent> {
        let numbers = all_of((0..results.seeds()).map(|seed| self.evaluate(results, seed)))?;
        if let [only] = numbers[..] {
            return Ok(only);
        }
        let values: Vec<f64> = numbers.iter().map(|number| number.value).collect();
        let estimate = Estimate::from_samples(&values).expect("there is at least one seed");
        let bound = sum(numbers).expect("there is at least one seed").bound;
        Ok(Measured { value: estimate.mean, half_width: estimate.half_width_95, bound })
    }

    /// The series of a number that is the time when one of its intervals begins, and is not known any closer than that.
    fn beginning(&self) -> Option<&Timed> {
        match self {
            Self::Settling(timed, ..) | Self::Reaching(timed, ..) => Some(timed),
            _ => None,
        }
    }

    /// How far off a number of these runs may be however many seeds agree on it, as it is when an interval begins.
    pub(crate) fn grain(&self, results: &Results) -> Option<f64> {
        self.beginning()?.interval(results)
    }

    /// The same of a number whose runs are not at hand: as far as the figure says it.
    pub(crate) fn grain_without_runs(&self) -> Option<f64> {
        self.beginning()?.trace.bin
    }

    /// The same about other curves: with each name replaced by what `rename` makes of it.
    #[must_use]
    pub fn renamed(&self, rename: &impl Fn(&str) -> String) -> Self {
        let mut measure = self.clone();
        measure.curves().into_iter().for_each(|curve| *curve = rename(curve));
        measure
    }

    /// The names of all curves that it is about.
    fn curves(&mut self) -> Vec<&mut String> {
        match self {
            Self::Value(at) => vec![&mut at.curve],
            Self::Largest(along) | Self::Smallest(along) | Self::Average(along) => {
                vec![&mut along.curve]
            }
            Self::Apart(apart) | Self::Distance(apart) => vec![&mut apart.along.curve, &mut apart.other],
            Self::Order(order) | Self::Widest(order) => order.curves.iter_mut().flatten().collect(),
            Self::Ratio(both) | Self::Difference(both) => both.iter_mut().flat_map(Self::curves).collect(),
            Self::Sum(several) | Self::LargestOf(several) | Self::SmallestOf(several) => {
                several.iter_mut().flat_map(Self::curves).collect()
            }
            Self::During(timed)
            | Self::Extreme(_, timed)
            | Self::ExtremeTime(_, timed)
            | Self::Settling(timed, ..)
            | Self::Reaching(timed, ..)
            | Self::Amplitude(timed)
            | Self::Period(timed) => vec![&mut timed.trace.curve],
        }
    }

    /// Whether an experiment has what it needs.
    ///
    /// # Errors
    /// A sentence about what it has not.
    pub fn check(&self, experiment: &Experiment) -> Result<(), String> {
        match self {
            Self::Value(at) => experiment.check_place(&at.curve, at.axis.as_deref(), at.at),
            Self::Largest(along) | Self::Smallest(along) | Self::Average(along) => {
                along.check(experiment, &along.curve)
            }
            Self::Apart(apart) | Self::Distance(apart) => {
                apart.along.check(experiment, &apart.along.curve)?;
                apart.along.check(experiment, &apart.other)
            }
            Self::Order(order) | Self::Widest(order) => {
                order.curves.iter().flatten().try_for_each(|curve| order.along.check(experiment, curve))
            }
            Self::Ratio(both) | Self::Difference(both) => both.iter().try_for_each(|m| m.check(experiment)),
            Self::Sum(several) | Self::LargestOf(several) | Self::SmallestOf(several) => {
                several.iter().try_for_each(|m| m.check(experiment))
            }
            Self::During(timed)
            | Self::Extreme(_, timed)
            | Self::ExtremeTime(_, timed)
            | Self::Settling(timed, ..)
            | Self::Reaching(timed, ..)
            | Self::Amplitude(timed)
            | Self::Period(timed) => {
                let Trace { curve, axis, at, .. } = &timed.trace;
                experiment.check_place(curve, axis.as_deref(), *at)
            }
        }
    }
}

/// The first by the second, if that is not zero.
fn quotient(number: Measured, by: Measured) -> Result<Measured, Absent> {
    if by.value == 0.0 {
        return Err(Absent::Undefined("it would be a number divided by zero".to_owned()));
    }
    Ok(number.by(by))
}

/// A value that is there.
fn found(value: Option<f64>, otherwise: &str) -> Result<f64, Absent> {
    value.filter(|value| value.is_finite()).ok_or_else(|| Absent::Undefined(otherwise.to_owned()))
}

/// The same as a number without an interval.
fn alone(value: Option<f64>, otherwise: &str) -> Result<Measured, Absent> {
    found(value, otherwise).map(Measured::alone)
}
