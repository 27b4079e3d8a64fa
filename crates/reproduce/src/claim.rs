//! What a paper says, and whether it holds.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::experiment::Scale;
use crate::measure::Measure;
use crate::measured::{Bound, Measured};
use crate::results::{Absent, Results};

/// Something that a paper says about a figure.
#[derive(Clone, Debug)]
pub struct Claim {
    /// A short name, which verdicts are recorded by.
    pub name: String,
    /// The sentence.
    pub says: String,
    /// The paper's value or ordering, and where it stands.
    pub paper: String,
    /// How it is judged, by scale; not at all at scales where it is not made.
    pub judgements: [Option<Judgement>; 2],
    /// What the authors' own program gives, if it contradicts the sentence.
    pub refutation: Option<Refutation>,
}

/// What the program of a paper's authors gives where the paper says something else.
#[derive(Clone, Debug, PartialEq)]
pub struct Refutation {
    /// The same number as that of the claim.
    pub gives: f64,
    /// Of which runs.
    pub at: String,
    /// The file that has them.
    pub evidence: String,
}

/// How a claim is judged.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// How the number is computed.
    pub measure: Measure,
    /// What it has to be.
    pub expect: Expectation,
    /// Why that, and no more or less.
    pub why: String,
    /// What was tried where it does not hold.
    pub tried: Option<String>,
}

/// What a number has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expectation {
    /// At most this.
    Below(f64),
    /// At least this.
    Above(f64),
    /// From one to another.
    Between(f64, f64),
    /// This, and so much more or less.
    About(f64, f64),
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It does.
    Pass,
    /// It does not.
    Fail,
    /// It does not, and the program of the paper's authors contradicts it in the same direction.
    Refuted,
    /// The interval of the number reaches across a bound, or runs ended too early: more or longer ones would have to decide. Or the number or its
    /// interval is none.
    Undecided,
    /// Nobody knows: runs are missing.
    NotRun,
}

/// What has been found about a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The number: the mean over all seeds.
    pub measured: Option<f64>,
    /// Half the width of its 95 % confidence interval, where there is one.
    pub half_width: Option<f64>,
    /// Whether it is the number itself or only an end of where that lies.
    pub bound: Bound,
    /// The verdict, by the whole interval; by the number alone where there is none.
    pub verdict: Verdict,
    /// Why there is no number.
    pub note: Option<String>,
}

impl Expectation {
    /// The least and the largest number that will do.
    fn bounds(self) -> (f64, f64) {
        match self {
            Self::Below(limit) => (f64::NEG_INFINITY, limit),
            Self::Above(limit) => (limit, f64::INFINITY),
            Self::Between(low, high) => (low, high),
            Self::About(value, within) => (value - within, value + within),
        }
    }

    /// Whether a number is too small, too large, or neither.
    fn side(self, number: f64) -> Side {
        let (low, high) = self.bounds();
        if number < low {
            Side::TooSmall
        } else if number > high {
            Side::TooLarge
        } else {
            Side::Inside
        }
    }

    /// Whether a number is what it has to be.
    #[must_use]
    pub fn holds(self, number: f64) -> bool {
        self.side(number) == Side::Inside
    }

    /// The verdict about a number with its interval.
    fn verdict(self, number: Measured) -> Verdict {
        let margin = number.half_width.unwrap_or(0.0);
        // What is no number is neither below nor above any bound, and must not pass for that.
        if !(number.value.is_finite() && margin.is_finite()) {
            return Verdict::Undecided;
        }
        let (low, high) = (number.value - margin, number.value + margin);
        let (low, high) = match number.bound {
            Bound::Exact => (low, high),
            Bound::AtLeast => (low, f64::INFINITY),
            Bound::AtMost => (f64::NEG_INFINITY, high),
            Bound::Unknown => (f64::NEG_INFINITY, f64::INFINITY),
        };
        match (self.side(low), self.side(high)) {
            (Side::Inside, Side::Inside) => Verdict::Pass,
            (low, high) if low == high => Verdict::Fail,
            _ => Verdict::Undecided,
        }
    }
}

/// Why a number of several that are not all known is none.
const ENDED_TOO_EARLY: &str =
    "runs ended before all that was created had arrived, and what is missing could move it either way";

/// Where a number lies, seen from those that will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    TooSmall,
    Inside,
    TooLarge,
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Below(limit) => write!(f, "at most {limit}"),
            Self::Above(limit) => write!(f, "at least {limit}"),
            Self::Between(low, high) => write!(f, "{low} to {high}"),
            Self::About(value, within) => write!(f, "{value} ± {}", without_rounding_error(within)),
        }
    }
}

/// A number without what its last binary digits are off by: 20 percent of 0.035 are 0.007.
fn without_rounding_error(number: f64) -> f64 {
    format!("{number:.12e}").parse().unwrap_or(number)
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
            Self::NotRun => "not_run",
        })
    }
}

impl Claim {
    /// How it is judged at a scale.
    #[must_use]
    pub fn judgement(&self, scale: Scale) -> Option<&Judgement> {
        self.judgements[scale as usize].as_ref()
    }

    /// What has been found about it; nothing at a scale where it is not made.
    #[must_use]
    pub fn judge(&self, scale: Scale, results: &Results) -> Option<Finding> {
        let measure = &self.judgement(scale)?.measure;
        let number = match measure.over_seeds(results) {
            Ok(number) if number.bound != Bound::Unknown => number,
            Ok(_) => return Some(Finding::without_number(Verdict::Undecided, ENDED_TOO_EARLY.to_owned())),
            Err(Absent::NotRun(what)) => return Some(Finding::without_number(Verdict::NotRun, what)),
            Err(Absent::Undefined(what)) => return Some(Finding::without_number(Verdict::Fail, what)),
            Err(Absent::Incomplete(what)) => return Some(Finding::without_number(Verdict::Undecided, what)),
        };
        let number = number.at_least_as_wide(measure.grain(results));
        let Measured { value, half_width, bound } = number;
        let verdict = self.verdict(scale, number)?;
        Some(Finding { measured: Some(value), half_width, bound, verdict, note: None })
    }

    /// The verdict about a number; none at a scale where it is not made.
    pub(crate) fn verdict(&self, scale: Scale, number: Measured) -> Option<Verdict> {
        let expect = self.judgement(scale)?.expect;
        let refutes = |refutation: &Refutation| expect.side(number.value) == expect.side(refutation.gives);
        // What is scaled down is no evidence.
        let contradicted = scale == Scale::Full && self.refutation.as_ref().is_some_and(refutes);
        Some(match expect.verdict(number) {
            Verdict::Fail if contradicted => Verdict::Refuted,
            verdict => verdict,
        })
    }
}

impl Finding {
    fn without_number(verdict: Verdict, why: String) -> Self {
        Self { measured: None, half_width: None, bound: Bound::Exact, verdict, note: Some(why) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_never_passes() {
        let (no_number, endless) = (f64::NAN, f64::INFINITY);
        let cases = [(no_number, None), (endless, None), (1.0, Some(no_number)), (1.0, Some(endless))];
        for (value, half_width) in cases {
            let number = Measured { half_width, ..Measured::alone(value) };
            for expect in [Expectation::Above(0.0), Expectation::Between(-endless, endless)] {
                assert_eq!(expect.verdict(number), Verdict::Undecided, "{number:?}, {expect}");
            }
        }
    }
}
