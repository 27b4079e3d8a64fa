//! Numbers with the confidence that runs give them.

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
}

impl Measured {
    /// A number without an interval.
    #[must_use]
    pub const fn alone(value: f64) -> Self {
        Self { value, half_width: None }
    }

    /// This by another number.
    #[must_use]
    pub fn by(self, other: Self) -> Self {
        let value = self.value / other.value;
        let half_width = self.pair(other, |own, others| own.hypot(value * others) / other.value.abs());
        Self { value, half_width }
    }

    /// This less another number.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        Self { value: self.value - other.value, half_width: self.pair(other, f64::hypot) }
    }

    /// This and another number.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { value: self.value + other.value, half_width: self.pair(other, f64::hypot) }
    }

    /// The same number so many times as large.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, half_width: self.half_width.map(|half| half * factor.abs()) }
    }

    fn pair(self, other: Self, join: impl Fn(f64, f64) -> f64) -> Option<f64> {
        Some(join(self.half_width?, other.half_width?))
    }
}

/// The largest of some numbers, with its own interval; none of none.
pub fn largest(numbers: impl IntoIterator<Item = Measured>) -> Option<Measured> {
    numbers.into_iter().max_by(|a, b| a.value.total_cmp(&b.value))
}

/// The smallest of some numbers, with its own interval; none of none.
pub fn smallest(numbers: impl IntoIterator<Item = Measured>) -> Option<Measured> {
    numbers.into_iter().min_by(|a, b| a.value.total_cmp(&b.value))
}

/// The sum of some numbers; none of none.
pub fn sum(numbers: impl IntoIterator<Item = Measured>) -> Option<Measured> {
    numbers.into_iter().reduce(Measured::plus)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Measured = Measured { value: 8.0, half_width: Some(0.3) };
    const B: Measured = Measured { value: 4.0, half_width: Some(0.4) };

    #[test]
    fn intervals_of_independent_runs_add_as_squares() {
        assert_eq!(A.plus(B), Measured { value: 12.0, half_width: Some(0.5) });
        assert_eq!(A.less(B), Measured { value: 4.0, half_width: Some(0.5) });
        // 3.75 % and 10 % of a ratio of 2.
        let ratio = A.by(B);
        assert!((ratio.half_width.expect("both have one") - 2.0 * 0.0375_f64.hypot(0.1)).abs() < 1e-12);
        assert_eq!(A.times(-2.0), Measured { value: -16.0, half_width: Some(0.6) });
    }

    #[test]
    fn a_number_without_an_interval_leaves_none() {
        for number in [A.by(Measured::alone(2.0)), Measured::alone(1.0).less(A), A.plus(Measured::alone(0.0))] {
            assert_eq!(number.half_width, None);
        }
    }

    #[test]
    fn extremes_keep_their_own_interval() {
        assert_eq!(largest([A, B]), Some(A));
        assert_eq!(smallest([A, B]), Some(B));
        assert_eq!(largest([]), None);
    }
}
