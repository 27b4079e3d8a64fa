//! Verdicts that are kept, and how many there are of each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tailback_report::Digest;

use crate::claim::{Claim, Finding, Verdict};
use crate::experiment::Scale;
use crate::measured::{Bound, Measured};
use crate::render::Row;

/// The verdicts of a paper that are expected to stay as they are: by figure and scale.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Record(pub BTreeMap<String, BTreeMap<String, RecordedFigure>>);

/// The verdicts of a figure at a scale.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedFigure {
    /// Seconds that it took, if it was made in one go or several.
    pub wall_s: f64,
    /// Seconds of all cores together.
    pub cpu_s: f64,
    /// What was run.
    #[serde(flatten)]
    pub runs: RecordedRuns,
    /// The claims, by name.
    pub claims: BTreeMap<String, RecordedClaim>,
}

/// The runs that verdicts are about; empty in records of before they were written down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedRuns {
    /// The version of the program.
    pub program: String,
    /// Seeds of each point.
    pub seeds: usize,
    /// How many runs there were.
    pub count: usize,
    /// The [digest](digest_of_scenarios) of all their scenarios: equal if the same was run.
    pub scenarios: String,
}

/// The digest of the digests of scenarios, and of the texts of formulas after them, in order.
#[must_use]
pub fn digest_of_scenarios<'s>(scenarios: impl Iterator<Item = &'s str>) -> String {
    scenarios.fold(Digest::new(), Digest::text).hex()
}

/// The verdict about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedClaim {
    /// The verdict.
    pub verdict: Verdict,
    /// What was found.
    pub measured: Option<f64>,
    /// Half the width of its 95 % confidence interval, where it has one.
    #[serde(default)]
    pub half_width: Option<f64>,
    /// Whether it is the number itself or only an end of where that lies.
    #[serde(default, skip_serializing_if = "Bound::is_exact")]
    pub bound: Bound,
}

impl Record {
    /// What is recorded of a figure at a scale.
    #[must_use]
    pub fn figure(&self, figure: &str, scale: Scale) -> Option<&RecordedFigure> {
        self.0.get(figure)?.get(scale.name())
    }

    /// Records what has been found.
    pub fn put(&mut self, figure: &str, scale: Scale, recorded: RecordedFigure) {
        self.0.entry(figure.to_owned()).or_default().insert(scale.name().to_owned(), recorded);
    }
}

impl RecordedFigure {
    /// What is to be recorded.
    #[must_use]
    pub fn new(findings: &[(&Claim, Finding)], runs: RecordedRuns, wall_s: f64, cpu_s: f64) -> Self {
        let recorded = |(claim, found): &(&Claim, Finding)| {
            let &Finding { verdict, measured, half_width, bound, .. } = found;
            (claim.name.clone(), RecordedClaim { verdict, measured, half_width, bound })
        };
        Self { wall_s, cpu_s, runs, claims: findings.iter().map(recorded).collect() }
    }

    /// What rows that were written down say about the runs with this [digest](digest_of_scenarios). Those of other runs or of none say nothing, nor
    /// do those of before the names of claims were written down.
    #[must_use]
    pub fn of_rows(rows: &[Row], scenarios: &str) -> Self {
        let is_of_them = |row: &&Row| row.scenarios == scenarios && row.verdict != Verdict::NotRun;
        let recorded = |row: &Row| {
            let &Row { verdict, measured, interval, bound, .. } = row;
            let half_width = interval.map(|[low, high]| (high - low) / 2.0);
            (row.name.clone(), RecordedClaim { verdict, measured, half_width, bound })
        };
        let runs = RecordedRuns { scenarios: scenarios.to_owned(), ..RecordedRuns::default() };
        Self { runs, claims: rows.iter().filter(is_of_them).map(recorded).collect(), ..Self::default() }
    }

    /// What is no longer as it was, claim by claim.
    #[must_use]
    pub fn changes(&self, findings: &[(&Claim, Finding)]) -> Vec<String> {
        let mut changes = Vec::new();
        for (claim, found) in findings {
            match self.claims.get(&claim.name) {
                None => changes.push(format!("{} is {}, and was not recorded", claim.name, found.verdict)),
                Some(before) if before.verdict != found.verdict => {
                    changes.push(format!("{} was {} and is {}", claim.name, before.verdict, found.verdict));
                }
                Some(_) => {}
            }
        }
        let is_gone = |name: &&String| findings.iter().all(|(claim, _)| claim.name != **name);
        let gone = self.claims.keys().filter(is_gone);
        changes.extend(gone.map(|name| format!("{name} is recorded, and no longer claimed")));
        changes
    }

    /// Whether other runs were made than those with this [digest](digest_of_scenarios), as far as it is known which. Whether a number was computed
    /// from them by another measure than that of today is not recorded.
    #[must_use]
    pub fn is_outdated(&self, scenarios: &str) -> bool {
        !self.runs.scenarios.is_empty() && self.runs.scenarios != scenarios
    }

    /// What is recorded about a claim at the scale of the figure. A number is judged by what is expected of it now, which may have changed. Its
    /// interval is at least what the claim says now of the intervals of a series that it is a time of.
    #[must_use]
    pub fn finding(&self, claim: &Claim, scale: Scale) -> Finding {
        let Some(&RecordedClaim { verdict, measured, half_width, bound }) = self.claims.get(&claim.name) else {
            let (measured, half_width, bound) = (None, None, Bound::default());
            return Finding { measured, half_width, bound, verdict: Verdict::NotRun, note: None };
        };
        let grain = claim.judgement(scale).and_then(|judgement| judgement.measure.grain_without_runs());
        let number = measured.map(|value| Measured { value, half_width, bound }.at_least_as_wide(grain));
        let judged = number.and_then(|number| claim.verdict(scale, number));
        let half_width = number.map_or(half_width, |number| number.half_width);
        Finding { measured, half_width, bound, verdict: judged.unwrap_or(verdict), note: None }
    }
}

/// How many verdicts there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Claims that hold.
    pub pass: u64,
    /// Claims that do not.
    pub fail: u64,
    /// Claims that the authors' program contradicts as well.
    pub refuted: u64,
    /// Claims that the runs cannot decide.
    pub undecided: u64,
    /// Claims about runs that have not been made.
    pub not_run: u64,
}

/// Counts verdicts.
#[must_use]
pub fn count(verdicts: impl IntoIterator<Item = Verdict>) -> Count {
    let mut count = Count::default();
    for verdict in verdicts {
        match verdict {
            Verdict::Pass => count.pass += 1,
            Verdict::Fail => count.fail += 1,
            Verdict::Refuted => count.refuted += 1,
            Verdict::Undecided => count.undecided += 1,
            Verdict::NotRun => count.not_run += 1,
        }
    }
    count
}
