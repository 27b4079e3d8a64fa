//! How a number is computed from the results of a figure: a small closed vocabulary, whose words can be combined.

use tailback_report::Estimate;

use crate::experiment::Experiment;
use crate::measured::{Measured, largest, smallest, sum};
use crate::quantity::{Quantity, SeriesColumn};
use crate::results::{Absent, Found, Results, same};
use crate::series::Sample;
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

/// A figure at a point of a curve.
#[derive(Clone, Debug)]
pub struct At {
    /// The curve.
    pub curve: String,
    /// What is measured.
    pub quantity: Quantity,
    /// What runs to the right, if that is not clear.
    pub axis: Option<String>,
    /// Where on the axis; none if the curve has only one.
    pub at: Option<f64>,
}

/// A figure along a curve.
#[derive(Clone, Debug)]
pub struct Along {
    /// The curve.
    pub curve: String,
    /// What is measured.
    pub quantity: Quantity,
    /// What runs to the right, if that is not clear.
    pub axis: Option<String>,
    /// From where, if not from the beginning.
    pub from: Option<f64>,
    /// Until where, if not to the end.
    pub until: Option<f64>,
}

/// Two curves.
#[derive(Clone, Debug)]
pub struct Apart {
    /// The first.
    pub along: Along,
    /// The second.
    pub other: String,
}

/// Several curves, from the lowest to the highest; those in one list are equals.
#[derive(Clone, Debug)]
pub struct Order {
    /// The curves.
    pub curves: Vec<Vec<String>>,
    /// Where they are compared; its curve is not used.
    pub along: Along,
}

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

/// A correlation that is not worth to be called a period.
const CORRELATION_MIN: f64 = 0.1;

/// Why a span of time has no value.
const NOTHING_DELIVERED: &str = "nothing was delivered in that span of time";

impl Measure {
    /// The number that a seed gives.
    ///
    /// # Errors
    /// When a run is missing, or has no such number.
    pub fn evaluate(&self, results: &Results, seed: usize) -> Result<Measured, Absent> {
        let each = |measures: &[Self]| -> Result<Vec<Measured>, Absent> {
            measures.iter().map(|measure| measure.evaluate(results, seed)).collect()
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
            Self::Order(order) => order.evaluate(results, seed),
            Self::Ratio(both) => match each(both.as_slice())?.as_slice() {
                [_, by] if by.value == 0.0 => Err(Absent::Undefined("it would be a number divided by zero".to_owned())),
                both => Ok(both[0].by(both[1])),
            },
            Self::Difference(both) => each(both.as_slice()).map(|both| both[0].less(both[1])),
            Self::Sum(several) => Ok(any(sum(each(several)?))),
            Self::LargestOf(several) => Ok(any(largest(each(several)?))),
            Self::SmallestOf(several) => Ok(any(smallest(each(several)?))),
            Self::During(timed) => timed.mean(results, seed, (timed.from, timed.until)).map(Measured::alone),
            Self::Extreme(which, timed) => Ok(Measured::alone(timed.extreme(*which, results, seed)?.value)),
            Self::ExtremeTime(which, timed) => Ok(Measured::alone(timed.extreme(*which, results, seed)?.time)),
            Self::Settling(timed, percent, last) => {
                let level = timed.mean(results, seed, *last)?;
                let time = signal::settling(&timed.samples(results, seed)?, level, *percent);
                alone(time, "it does not settle in that span of time")
            }
            Self::Reaching(timed, percent, before, last) => {
                let (from, to) = (timed.mean(results, seed, *before)?, timed.mean(results, seed, *last)?);
                let time = signal::reaching(&timed.samples(results, seed)?, from, to, *percent);
                alone(time, "it does not get that far")
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
        let numbers: Result<Vec<_>, Absent> = (0..results.seeds()).map(|seed| self.evaluate(results, seed)).collect();
        let numbers = numbers?;
        if let [only] = numbers[..] {
            return Ok(only);
        }
        let values: Vec<f64> = numbers.iter().map(|number| number.value).collect();
        let estimate = Estimate::from_samples(&values).expect("there is at least one seed");
        Ok(Measured { value: estimate.mean, half_width: estimate.half_width_95 })
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
            Self::Order(order) => order.curves.iter_mut().flatten().collect(),
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
            Self::Value(at) => check_place(experiment, &at.curve, at.axis.as_deref(), at.at),
            Self::Largest(along) | Self::Smallest(along) | Self::Average(along) => {
                along.check(experiment, &along.curve)
            }
            Self::Apart(apart) | Self::Distance(apart) => {
                apart.along.check(experiment, &apart.along.curve)?;
                apart.along.check(experiment, &apart.other)
            }
            Self::Order(order) => {
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
                check_place(experiment, curve, axis.as_deref(), *at)
            }
        }
    }
}

impl At {
    fn evaluate(&self, results: &Results, seed: usize) -> Result<Measured, Absent> {
        measured(&self.quantity, results.at(&self.curve, self.axis.as_deref(), self.at, seed)?)
    }
}

impl Along {
    fn holds(&self, x: f64) -> bool {
        let after = self.from.is_none_or(|from| x > from || same(x, from));
        after && self.until.is_none_or(|until| x < until || same(x, until))
    }

    /// The points in the range, at least one.
    fn points(&self, results: &Results, seed: usize) -> Result<Vec<(f64, Measured)>, Absent> {
        self.points_of(&self.curve, results, seed)
    }

    fn points_of(&self, curve: &str, results: &Results, seed: usize) -> Result<Vec<(f64, Measured)>, Absent> {
        let mut points = Vec::new();
        for (x, found) in results.curve(curve, self.axis.as_deref(), seed)? {
            if self.holds(x) {
                points.push((x, measured(&self.quantity, found)?));
            }
        }
        let nothing = || Absent::Undefined(format!("\"{curve}\" has no point in that range"));
        if points.is_empty() { Err(nothing()) } else { Ok(points) }
    }

    fn values(&self, results: &Results, seed: usize) -> Result<impl Iterator<Item = Measured>, Absent> {
        Ok(self.points(results, seed)?.into_iter().map(|(_, value)| value))
    }

    fn check(&self, experiment: &Experiment, curve: &str) -> Result<(), String> {
        let points = experiment.curve(curve, self.axis.as_deref())?;
        let any = points.iter().any(|(x, _)| self.holds(*x));
        if any { Ok(()) } else { Err(format!("\"{curve}\" has no point in that range")) }
    }
}

impl Apart {
    fn in_percent(&self, results: &Results, seed: usize) -> Result<Measured, Absent> {
        self.farthest(results, seed, |number, other| {
            let ratio = number.by(other);
            Measured { value: (ratio.value - 1.0).abs(), ..ratio }.times(100.0)
        })
    }

    fn as_difference(&self, results: &Results, seed: usize) -> Result<Measured, Absent> {
        self.farthest(results, seed, |number, other| {
            let difference = number.less(other);
            Measured { value: difference.value.abs(), ..difference }
        })
    }

    fn farthest(
        &self,
        results: &Results,
        seed: usize,
        between: impl Fn(Measured, Measured) -> Measured,
    ) -> Result<Measured, Absent> {
        let others = self.along.points_of(&self.other, results, seed)?;
        let points = self.along.points(results, seed)?;
        let apart = points.into_iter().filter_map(|(x, number)| Some(between(number, at_same(&others, x)?)));
        largest(apart).ok_or_else(nothing_in_common)
    }
}

impl Order {
    fn evaluate(&self, results: &Results, seed: usize) -> Result<Measured, Absent> {
        let read = |curve: &String| self.along.points_of(curve, results, seed);
        let ranks: Result<Vec<Vec<_>>, _> =
            self.curves.iter().map(|rank| rank.iter().map(read).collect::<Result<Vec<_>, _>>()).collect();
        let mut ratios = Vec::new();
        for pair in ranks?.windows(2) {
            for (lower, upper) in pair[0].iter().flat_map(|lower| pair[1].iter().map(move |upper| (lower, upper))) {
                ratios.extend(lower.iter().filter_map(|&(x, number)| Some(at_same(upper, x)?.by(number))));
            }
        }
        smallest(ratios).filter(|least| least.value.is_finite()).ok_or_else(nothing_in_common)
    }
}

/// What a curve has at `x`.
fn at_same(points: &[(f64, Measured)], x: f64) -> Option<Measured> {
    points.iter().find(|(other, _)| same(*other, x)).map(|(_, number)| *number)
}

fn nothing_in_common() -> Absent {
    Absent::Undefined("these curves have no point in common".to_owned())
}

impl Timed {
    fn all(&self, results: &Results, seed: usize) -> Result<Vec<Sample>, Absent> {
        let Trace { curve, column, axis, at, bin } = &self.trace;
        let found = results.at(curve, axis.as_deref(), *at, seed)?;
        Ok(signal::binned(results.samples(found, column)?, *bin))
    }

    fn samples(&self, results: &Results, seed: usize) -> Result<Vec<Sample>, Absent> {
        between(self.all(results, seed)?, (self.from, self.until))
    }

    fn mean(&self, results: &Results, seed: usize, span: (f64, f64)) -> Result<f64, Absent> {
        found(signal::mean(&between(self.all(results, seed)?, span)?), NOTHING_DELIVERED)
    }

    fn extreme(&self, which: Extreme, results: &Results, seed: usize) -> Result<Sample, Absent> {
        let nothing = || Absent::Undefined(NOTHING_DELIVERED.to_owned());
        which.of(&self.samples(results, seed)?).ok_or_else(nothing)
    }
}

/// The samples of a span of time, if all of them are complete.
fn between(samples: Vec<Sample>, (from, until): (f64, f64)) -> Result<Vec<Sample>, Absent> {
    let inside: Vec<Sample> = samples.into_iter().filter(|sample| from <= sample.time && sample.time < until).collect();
    match inside.iter().find(|sample| !sample.is_complete()) {
        None => Ok(inside),
        Some(Sample { time, complete, .. }) => {
            let percent = 100.0 * complete;
            Err(Absent::Incomplete(format!(
                "of the packets created {time} cycles after the event {percent:.1} % had arrived when the run ended"
            )))
        }
    }
}

/// A figure of a run, with the interval that the run gives it.
fn measured(quantity: &Quantity, at: &Found) -> Result<Measured, Absent> {
    let value = found(quantity.of(at), "the runs have no such figure")?;
    Ok(Measured { value, half_width: quantity.ci95_of(at) })
}

fn alone(value: Option<f64>, otherwise: &str) -> Result<Measured, Absent> {
    found(value, otherwise).map(Measured::alone)
}

fn found(value: Option<f64>, otherwise: &str) -> Result<f64, Absent> {
    value.filter(|value| value.is_finite()).ok_or_else(|| Absent::Undefined(otherwise.to_owned()))
}

fn check_place(experiment: &Experiment, curve: &str, axis: Option<&str>, at: Option<f64>) -> Result<(), String> {
    let points = experiment.curve(curve, axis)?;
    match at {
        None if points.len() > 1 => Err(format!("\"{curve}\" has {} points; say `at` which", points.len())),
        Some(at) if !points.iter().any(|(x, _)| same(*x, at)) => Err(format!("\"{curve}\" has no point at {at}")),
        _ => Ok(()),
    }
}
