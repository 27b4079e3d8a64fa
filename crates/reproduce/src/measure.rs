//! How a number is computed from the results of a figure: a small closed vocabulary, whose words can be combined.

use tailback_report::Estimate;

use crate::experiment::Experiment;
use crate::quantity::{Quantity, SeriesColumn};
use crate::results::{Absent, Results, same};
use crate::series::Sample;
use crate::signal;

/// How a number is computed from results.
#[derive(Clone, Debug)]
pub enum Measure {
    /// A figure at a place of a curve.
    Value(At),
    /// The largest along a curve.
    Largest(Along),
    /// The smallest along a curve.
    Smallest(Along),
    /// The mean of the points of a curve.
    Average(Along),
    /// Where a figure, as a share of what runs to the right, first falls below 95 %: of the accepted load, if nothing else is
    /// said, the load at which what is accepted no longer is what is offered. Between points on a straight line; at the end of a curve that never does.
    Saturation(Along),
    /// How far two curves are apart at most, in percent of the second.
    Apart(Apart),
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
    /// How long after the event a time series stays within some percent of its final value.
    Settling(Timed, f64, (f64, f64)),
    /// How long after the event it has first gone some percent of the way from its value before to its final value.
    Reaching(Timed, f64, (f64, f64), (f64, f64)),
    /// The amplitude of its oscillation.
    Amplitude(Timed),
    /// The period of its oscillation.
    Period(Timed),
}

/// A figure at a place of a curve.
#[derive(Clone, Debug)]
pub struct At {
    /// The curve.
    pub curve: String,
    /// What is measured.
    pub quantity: Quantity,
    /// What runs to the right, if that is not clear.
    pub axis: Option<String>,
    /// The place; none if the curve has only one.
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
    /// The place on the curve; none if it has only one.
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

/// The mean over all seeds, with half the width of its 95 % confidence interval where there is one, or why there is none.
pub type Number = Result<(f64, Option<f64>), Absent>;

/// What is accepted below this share of what is offered counts as saturation, as in reports.
const SATURATION: f64 = tailback_report::SATURATION_THRESHOLD;
/// A correlation that is not worth to be called a period.
const CORRELATION_MIN: f64 = 0.1;

impl Measure {
    /// The number that a seed gives.
    ///
    /// # Errors
    /// When a run is missing, or has no such number.
    pub fn evaluate(&self, results: &Results, seed: usize) -> Result<f64, Absent> {
        let each = |measures: &[Self]| -> Result<Vec<f64>, Absent> {
            measures.iter().map(|measure| measure.evaluate(results, seed)).collect()
        };
        match self {
            Self::Value(at) => at.evaluate(results, seed),
            Self::Largest(along) => Ok(along.values(results, seed)?.fold(f64::MIN, f64::max)),
            Self::Smallest(along) => Ok(along.values(results, seed)?.fold(f64::MAX, f64::min)),
            Self::Average(along) => {
                let values: Vec<f64> = along.values(results, seed)?.collect();
                Ok(values.iter().sum::<f64>() / values.len() as f64)
            }
            Self::Saturation(along) => Ok(saturation(&along.points(results, seed)?)),
            Self::Apart(apart) => apart.evaluate(results, seed),
            Self::Order(order) => order.evaluate(results, seed),
            Self::Ratio(both) => match each(both.as_slice())?.as_slice() {
                [_, 0.0] => Err(Absent::Undefined("it would be a number divided by zero".to_owned())),
                both => Ok(both[0] / both[1]),
            },
            Self::Difference(both) => each(both.as_slice()).map(|both| both[0] - both[1]),
            Self::Sum(several) => Ok(each(several)?.into_iter().sum()),
            Self::LargestOf(several) => Ok(each(several)?.into_iter().fold(f64::MIN, f64::max)),
            Self::SmallestOf(several) => Ok(each(several)?.into_iter().fold(f64::MAX, f64::min)),
            Self::During(timed) => timed.mean(results, seed, (timed.from, timed.until)),
            Self::Settling(timed, percent, last) => {
                let level = timed.mean(results, seed, *last)?;
                found(
                    signal::settling(&timed.samples(results, seed)?, level, *percent),
                    "it does not settle in that span of time",
                )
            }
            Self::Reaching(timed, percent, before, last) => {
                let (from, to) = (timed.mean(results, seed, *before)?, timed.mean(results, seed, *last)?);
                let time = signal::reaching(&timed.samples(results, seed)?, from, to, *percent);
                found(time, "it does not get that far")
            }
            Self::Amplitude(timed) => {
                found(signal::amplitude(&timed.samples(results, seed)?), "there are too few values for an amplitude")
            }
            Self::Period(timed) => {
                found(signal::period(&timed.samples(results, seed)?, CORRELATION_MIN), "nothing comes back")
            }
        }
    }

    /// Half the width of the confidence interval that a single run gives, where it gives one.
    #[must_use]
    pub fn ci95(&self, results: &Results, seed: usize) -> Option<f64> {
        let Self::Value(at) = self else { return None };
        let outcome = results.at(&at.curve, at.axis.as_deref(), at.at, seed).ok()?;
        at.quantity.ci95_of(&outcome.report)
    }

    /// The mean over all seeds, and half the width of its 95 % confidence interval where there is one.
    ///
    /// # Errors
    /// When a run is missing, or has no such number.
    pub fn over_seeds(&self, results: &Results) -> Number {
        let numbers: Result<Vec<f64>, Absent> = (0..results.seeds()).map(|seed| self.evaluate(results, seed)).collect();
        let numbers = numbers?;
        let estimate = Estimate::from_samples(&numbers).expect("there is at least one seed");
        let single = || if numbers.len() == 1 { self.ci95(results, 0) } else { None };
        Ok((estimate.mean, estimate.half_width_95.or_else(single)))
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
            Self::Largest(along) | Self::Smallest(along) | Self::Average(along) | Self::Saturation(along) => {
                vec![&mut along.curve]
            }
            Self::Apart(apart) => vec![&mut apart.along.curve, &mut apart.other],
            Self::Order(order) => order.curves.iter_mut().flatten().collect(),
            Self::Ratio(both) | Self::Difference(both) => both.iter_mut().flat_map(Self::curves).collect(),
            Self::Sum(several) | Self::LargestOf(several) | Self::SmallestOf(several) => {
                several.iter_mut().flat_map(Self::curves).collect()
            }
            Self::During(timed)
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
            Self::Largest(along) | Self::Smallest(along) | Self::Average(along) | Self::Saturation(along) => {
                along.check(experiment, &along.curve)
            }
            Self::Apart(apart) => {
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
    fn evaluate(&self, results: &Results, seed: usize) -> Result<f64, Absent> {
        let outcome = results.at(&self.curve, self.axis.as_deref(), self.at, seed)?;
        found(self.quantity.of(&outcome.report), "the runs have no such figure")
    }
}

impl Along {
    fn holds(&self, x: f64) -> bool {
        let after = self.from.is_none_or(|from| x > from || same(x, from));
        after && self.until.is_none_or(|until| x < until || same(x, until))
    }

    /// The places and the values in the range, at least one.
    fn points(&self, results: &Results, seed: usize) -> Result<Vec<(f64, f64)>, Absent> {
        self.points_of(&self.curve, results, seed)
    }

    fn points_of(&self, curve: &str, results: &Results, seed: usize) -> Result<Vec<(f64, f64)>, Absent> {
        let mut points = Vec::new();
        for (x, outcome) in results.curve(curve, self.axis.as_deref(), seed)? {
            if self.holds(x) {
                points.push((x, found(self.quantity.of(&outcome.report), "the runs have no such figure")?));
            }
        }
        let nothing = || Absent::Undefined(format!("\"{curve}\" has no point in that range"));
        if points.is_empty() { Err(nothing()) } else { Ok(points) }
    }

    fn values(&self, results: &Results, seed: usize) -> Result<impl Iterator<Item = f64>, Absent> {
        Ok(self.points(results, seed)?.into_iter().map(|(_, value)| value))
    }

    fn check(&self, experiment: &Experiment, curve: &str) -> Result<(), String> {
        let points = experiment.curve(curve, self.axis.as_deref())?;
        let any = points.iter().any(|(x, _)| self.holds(*x));
        if any { Ok(()) } else { Err(format!("\"{curve}\" has no point in that range")) }
    }
}

impl Apart {
    fn evaluate(&self, results: &Results, seed: usize) -> Result<f64, Absent> {
        let others = self.along.points_of(&self.other, results, seed)?;
        let mut most: f64 = 0.0;
        for (x, value) in self.along.points(results, seed)? {
            if let Some((_, other)) = others.iter().find(|(place, _)| same(*place, x)) {
                most = most.max(100.0 * (value / other - 1.0).abs());
            }
        }
        Ok(most)
    }
}

impl Order {
    fn evaluate(&self, results: &Results, seed: usize) -> Result<f64, Absent> {
        let read = |curve: &String| self.along.points_of(curve, results, seed);
        let ranks: Result<Vec<Vec<_>>, _> =
            self.curves.iter().map(|rank| rank.iter().map(read).collect::<Result<Vec<_>, _>>()).collect();
        let mut least = f64::INFINITY;
        for pair in ranks?.windows(2) {
            for (lower, upper) in pair[0].iter().flat_map(|lower| pair[1].iter().map(move |upper| (lower, upper))) {
                for (x, value) in lower {
                    if let Some((_, above)) = upper.iter().find(|(place, _)| same(*place, *x)) {
                        least = least.min(above / value);
                    }
                }
            }
        }
        found(least.is_finite().then_some(least), "these curves have no place in common")
    }
}

impl Timed {
    fn all(&self, results: &Results, seed: usize) -> Result<Vec<Sample>, Absent> {
        let Trace { curve, column, axis, at, bin } = &self.trace;
        let outcome = results.at(curve, axis.as_deref(), *at, seed)?;
        Ok(signal::binned(results.samples(outcome, column)?, *bin))
    }

    fn samples(&self, results: &Results, seed: usize) -> Result<Vec<Sample>, Absent> {
        Ok(between(self.all(results, seed)?, (self.from, self.until)))
    }

    fn mean(&self, results: &Results, seed: usize, span: (f64, f64)) -> Result<f64, Absent> {
        let what = "nothing was delivered in that span of time";
        found(signal::mean(&between(self.all(results, seed)?, span)), what)
    }
}

fn between(samples: Vec<Sample>, (from, until): (f64, f64)) -> Vec<Sample> {
    samples.into_iter().filter(|sample| from <= sample.time && sample.time < until).collect()
}

/// The place at which values first fall below a share of their places, on the line between two points.
fn saturation(points: &[(f64, f64)]) -> f64 {
    let excess = |(x, value): (f64, f64)| value - SATURATION * x;
    match points.iter().position(|&point| excess(point) < 0.0) {
        None => points[points.len() - 1].0,
        Some(0) => points[0].0,
        Some(place) => {
            let (before, after) = (points[place - 1], points[place]);
            let share = excess(before) / (excess(before) - excess(after));
            before.0 + share * (after.0 - before.0)
        }
    }
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
