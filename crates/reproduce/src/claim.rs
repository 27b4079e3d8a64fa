//! What a paper says, and whether it holds.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::experiment::Scale;
use crate::measure::Measure;
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
    /// The verdict, by the number alone.
    pub verdict: Verdict,
    /// Why there is no number.
    pub note: Option<String>,
}

impl Expectation {
    /// Whether a number is what it has to be.
    #[must_use]
    pub fn holds(self, number: f64) -> bool {
        match self {
            Self::Below(limit) => number <= limit,
            Self::Above(limit) => number >= limit,
            Self::Between(low, high) => (low..=high).contains(&number),
            Self::About(value, within) => (number - value).abs() <= within,
        }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(limit) => write!(f, "at most {limit}"),
            Self::Above(limit) => write!(f, "at least {limit}"),
            Self::Between(low, high) => write!(f, "{low} to {high}"),
            Self::About(value, within) => write!(f, "{value} ± {within}"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
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
        self.judgement(scale).map(|judgement| judgement.judge(results))
    }
}

impl Judgement {
    fn judge(&self, results: &Results) -> Finding {
        let without_number = |verdict, note| Finding { measured: None, half_width: None, verdict, note: Some(note) };
        match self.measure.over_seeds(results) {
            Err(Absent::NotRun(what)) => without_number(Verdict::NotRun, what),
            Err(Absent::Undefined(what)) => without_number(Verdict::Fail, what),
            Ok((mean, half_width)) => {
                let verdict = if self.expect.holds(mean) { Verdict::Pass } else { Verdict::Fail };
                Finding { measured: Some(mean), half_width, verdict, note: None }
            }
        }
    }
}
