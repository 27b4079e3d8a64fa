//! Points of curves: one, those of a range, and what two curves or more have in common.

use super::{found, quotient};
use crate::experiment::{Experiment, same};
use crate::measured::{Measured, largest, smallest};
use crate::quantity::Quantity;
use crate::results::{Absent, Found, Results, all_of, both_of};

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

impl At {
    pub(super) fn evaluate(&self, results: &Results, seed: usize) -> Result<Measured, Absent> {
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

    pub(super) fn values(&self, results: &Results, seed: usize) -> Result<impl Iterator<Item = Measured>, Absent> {
        Ok(self.points(results, seed)?.into_iter().map(|(_, value)| value))
    }

    pub(super) fn check(&self, experiment: &Experiment, curve: &str) -> Result<(), String> {
        let points = experiment.curve(curve, self.axis.as_deref())?;
        let any = points.iter().any(|(x, _)| self.holds(*x));
        if any { Ok(()) } else { Err(format!("\"{curve}\" has no point in that range")) }
    }
}

impl Apart {
    pub(super) fn in_percent(&self, results: &Results, seed: usize) -> Result<Measured, Absent> {
        self.farthest(results, seed, |number, other| {
            let ratio = quotient(number, other)?;
            Ok(Measured { value: (ratio.value - 1.0).abs(), ..ratio }.times(100.0))
        })
    }

    pub(super) fn as_difference(&self, results: &Results, seed: usize) -> Result<Measured, Absent> {
        self.farthest(results, seed, |number, other| {
            let difference = number.less(other);
            Ok(Measured { value: difference.value.abs(), ..difference })
        })
    }

    fn farthest(
        &self,
        results: &Results,
        seed: usize,
        between: impl Fn(Measured, Measured) -> Result<Measured, Absent>,
    ) -> Result<Measured, Absent> {
        let others = self.along.points_of(&self.other, results, seed);
        let (points, others) = both_of(self.along.points(results, seed), others)?;
        let apart = points.into_iter().filter_map(|(x, number)| Some(between(number, at_same(&others, x)?)));
        largest(all_of(apart)?).ok_or_else(nothing_in_common)
    }
}

impl Order {
    /// The least ratio of a curve to one that should be below it.
    pub(super) fn least(&self, results: &Results, seed: usize) -> Result<Measured, Absent> {
        self.ratios(results, seed).map(|ratios| smallest(ratios).expect("there is at least one"))
    }

    /// The largest.
    pub(super) fn widest(&self, results: &Results, seed: usize) -> Result<Measured, Absent> {
        self.ratios(results, seed).map(|ratios| largest(ratios).expect("there is at least one"))
    }

    /// At each point, of neighbours in this order: at least one.
    fn ratios(&self, results: &Results, seed: usize) -> Result<Vec<Measured>, Absent> {
        let read = |curve: &String| self.along.points_of(curve, results, seed);
        let ranks = all_of(self.curves.iter().map(|rank| all_of(rank.iter().map(read))))?;
        let mut ratios = Vec::new();
        for pair in ranks.windows(2) {
            for (lower, upper) in pair[0].iter().flat_map(|lower| pair[1].iter().map(move |upper| (lower, upper))) {
                ratios.extend(lower.iter().filter_map(|&(x, number)| Some(quotient(at_same(upper, x)?, number))));
            }
        }
        // Where a curve has nothing, as of packets that are dropped, no number says how much more another one has.
        let known: Vec<_> = ratios.iter().filter_map(|ratio| ratio.as_ref().ok().copied()).collect();
        if known.is_empty() {
            return Err(ratios.into_iter().find_map(Result::err).unwrap_or_else(nothing_in_common));
        }
        Ok(known)
    }
}

/// What a curve has at `x`.
fn at_same(points: &[(f64, Measured)], x: f64) -> Option<Measured> {
    points.iter().find(|(other, _)| same(*other, x)).map(|(_, number)| *number)
}

fn nothing_in_common() -> Absent {
    Absent::Undefined("these curves have no point in common".to_owned())
}

/// A figure of a run, with the interval that the run gives it.
fn measured(quantity: &Quantity, at: &Found) -> Result<Measured, Absent> {
    let value = found(quantity.of(at), "the runs have no such figure")?;
    Ok(Measured { half_width: quantity.ci95_of(at), ..Measured::alone(value) })
}
