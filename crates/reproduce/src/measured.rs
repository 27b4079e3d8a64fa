//! Numbers with the confidence that runs give them.

use serde::{Deserialize, Serialize};

/// A number, with half the width of its 95 % confidence interval where it has one.
///
/// What is computed from several numbers has an interval if all of them have: runs are independent, so relative or absolute
/// widths add as squares. That is first order, which is enough for the few percent that intervals are wide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The number.
    pub value: f64,
    /// Half the width of its interval.
    pub half_width: Option<f64>,
    /// Whether it is the number itself or only an end of where that lies.
    pub bound: Bound,
}

/// What a number says about the one that is meant: runs may have ended before all was there that it is the mean of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// It is this one.
    #[default]
    Exact,
    /// It is not smaller.
    AtLeast,
    /// It is not larger.
    AtMost,
    /// It may be anything.
    Unknown,
}

impl Bound {
    /// Whether the number itself is known.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        matches!(self, Self::Exact)
    }

    /// That of the number with the opposite sign.
    const fn opposite(self) -> Self {
        match self {
            Self::AtLeast => Self::AtMost,
            Self::AtMost => Self::AtLeast,
            same => same,
        }
    }

    /// That of a number that grows with two others.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exact, bound) | (bound, Self::Exact) => bound,
            (one, other) if one == other => one,
            _ => Self::Unknown,
        }
    }

    /// As it is said before a number.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::AtLeast => "at least ",
            Self::AtMost => "at most ",
            Self::Unknown => "perhaps ",
        }
    }
}

impl Measured {
    /// A number without an interval.
    #[must_use]
    pub const fn alone(value: f64) -> Self {
        Self { value, half_width: None, bound: Bound::Exact }
    }

    /// The least that a number can be.
    #[must_use]
    pub const fn at_least(value: f64) -> Self {
        Self { value, half_width: None, bound: Bound::AtLeast }
    }

    /// This by another number.
    #[must_use]
    pub fn by(self, other: Self) -> Self {
        let value = self.value / other.value;
        let half_width = self.pair(other, |own, others| own.hypot(value * others) / other.value.abs());
        // A ratio grows with the first and falls with the second as long as neither can be below zero.
        let grows = self.value >= 0.0 && other.value > 0.0 && other.bound != Bound::AtMost;
        let bound = match self.bound.and(other.bound.opposite()) {
            Bound::Exact => Bound::Exact,
            bound if grows => bound,
            _ => Bound::Unknown,
        };
        Self { value, half_width, bound }
    }

    /// This less another number.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        let bound = self.bound.and(other.bound.opposite());
        Self { value: self.value - other.value, half_width: self.pair(other, f64::hypot), bound }
    }

    /// This and another number.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let bound = self.bound.and(other.bound);
        Self { value: self.value + other.value, half_width: self.pair(other, f64::hypot), bound }
    }

    /// The same number so many times as large.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let bound = if factor < 0.0 { self.bound.opposite() } else { self.bound };
        Self { value: self.value * factor, half_width: self.half_width.map(|half| half * factor.abs()), bound }
    }

    /// The same number with an interval that reaches at least so far to each side, where that is known.
    #[must_use]
    pub fn at_least_as_wide(self, half_width: Option<f64>) -> Self {
        Self { half_width: self.half_width.into_iter().chain(half_width).reduce(f64::max), ..self }
    }

    fn pair(self, other: Self, join: impl Fn(f64, f64) -> f64) -> Option<f64> {
        Some(join(self.half_width?, other.half_width?))
    }
}

/// The largest of some numbers, with its own interval; none of none.
pub fn largest(numbers: impl IntoIterator<Item = Measured>) -> Option<Measured> {
    extreme(numbers, |number, best| number.value >= best.value)
}

/// The smallest of some numbers, with its own interval; none of none.
pub fn smallest(numbers: impl IntoIterator<Item = Measured>) -> Option<Measured> {
    extreme(numbers, |number, best| number.value < best.value)
}

/// The number that goes before all others. It grows with each of them, so the bounds of all are its own.
fn extreme(
    numbers: impl IntoIterator<Item = Measured>,
    before: impl Fn(&Measured, &Measured) -> bool,
) -> Option<Measured> {
    numbers.into_iter().reduce(|best, number| {
        let bound = best.bound.and(number.bound);
        Measured { bound, ..if before(&number, &best) { number } else { best } }
    })
}

/// The sum of some numbers; none of none.
pub fn sum(numbers: impl IntoIterator<Item = Measured>) -> Option<Measured> {
    numbers.into_iter().reduce(Measured::plus)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Measured = Measured { value: 8.0, half_width: Some(0.3), bound: Bound::Exact };
    const B: Measured = Measured { value: 4.0, half_width: Some(0.4), bound: Bound::Exact };

    #[test]
    fn intervals_of_independent_runs_add_as_squares() {
        assert_eq!(A.plus(B), Measured { value: 12.0, half_width: Some(0.5), ..A });
        assert_eq!(A.less(B), Measured { value: 4.0, half_width: Some(0.5), ..A });
        // 3.75 % and 10 % of a ratio of 2.
        let ratio = A.by(B);
        assert!((ratio.half_width.expect("both have one") - 2.0 * 0.0375_f64.hypot(0.1)).abs() < 1e-12);
        assert_eq!(A.times(-2.0), Measured { value: -16.0, half_width: Some(0.6), ..A });
    }

    #[test]
    fn an_interval_grows_to_what_it_is_at_least() {
        let wide = |least| A.at_least_as_wide(least).half_width;
        assert_eq!([wide(None), wide(Some(0.2)), wide(Some(0.5))], [Some(0.3), Some(0.3), Some(0.5)]);
        let alone = Measured::alone(1.0);
        assert_eq!([None, Some(0.2)].map(|least| alone.at_least_as_wide(least).half_width), [None, Some(0.2)]);
    }

    #[test]
    fn a_number_without_an_interval_leaves_none() {
        for number in [A.by(Measured::alone(2.0)), Measured::alone(1.0).less(A), A.plus(Measured::alone(0.0))] {
            assert_eq!(number.half_width, None);
        }
    }

    #[test]
    fn what_is_computed_of_bounds_is_one_where_that_follows() {
        let (two, least) = (Measured::alone(2.0), Measured::at_least(6.0));
        let most = least.times(-1.0);
        assert_eq!((most.value, most.bound), (-6.0, Bound::AtMost));
        let bounds = [
            (least.by(two), Bound::AtLeast),
            (two.by(least), Bound::AtMost),
            (least.by(least), Bound::Unknown),
            (most.by(two), Bound::Unknown),
            (two.by(two.less(least).times(-1.0)), Bound::AtMost),
            (two.by(two.less(least.times(-1.0))), Bound::AtMost),
            (two.by(Measured { bound: Bound::AtMost, ..two }), Bound::Unknown),
            (two.by(two), Bound::Exact),
            (least.less(two), Bound::AtLeast),
            (two.less(least), Bound::AtMost),
            (least.plus(least), Bound::AtLeast),
            (least.plus(most), Bound::Unknown),
            (largest([two, least]).expect("there are two"), Bound::AtLeast),
            (smallest([two, least]).expect("there are two"), Bound::AtLeast),
        ];
        for (number, bound) in bounds {
            assert_eq!(number.bound, bound, "{number:?}");
        }
    }

    #[test]
    fn extremes_keep_their_own_interval() {
        assert_eq!(largest([A, B]), Some(A));
        assert_eq!(smallest([A, B]), Some(B));
        assert_eq!(largest([]), None);
    }
}
