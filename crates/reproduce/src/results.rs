//! What the runs of a figure have found, as far as they have been made.

use tailback_report::Report;

use crate::experiment::{Experiment, same};
use crate::quantity::SeriesColumn;
use crate::series::{Sample, Series};

/// What a run has found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its report.
    pub report: Report,
    /// Its time series, if it has one.
    pub series: Option<Series>,
}

/// What is known at a point.
#[derive(Clone, Debug)]
pub enum Found {
    /// Of a run.
    Run(Box<Outcome>),
    /// Of a formula: its numbers by name.
    Computed(Vec<(&'static str, f64)>),
}

impl Found {
    /// What a run has found, if it is one.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Run(outcome) => Some(outcome),
            Self::Computed(_) => None,
        }
    }
}

impl From<Outcome> for Found {
    fn from(outcome: Outcome) -> Self {
        Self::Run(Box::new(outcome))
    }
}

impl From<Vec<(&'static str, f64)>> for Found {
    fn from(numbers: Vec<(&'static str, f64)>) -> Self {
        Self::Computed(numbers)
    }
}

/// Why there is no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// A run that it needs has not been made.
    NotRun(String),
    /// All runs are there, and what is asked for is not in them.
    Undefined(String),
    /// All runs are there, and have ended too early.
    Incomplete(String),
}

impl Absent {
    /// Which of several reasons is told: that of the lowest rank.
    fn rank(&self) -> u8 {
        match self {
            Self::NotRun(_) => 0,
            Self::Incomplete(_) => 1,
            Self::Undefined(_) => 2,
        }
    }
}

/// Both of two, or why there is no number. A run that is missing goes before one that ended too early, and both before what is not in runs: of
/// what is not all there nobody can say yet that it fails.
pub(crate) fn both_of<A, B>(one: Result<A, Absent>, other: Result<B, Absent>) -> Result<(A, B), Absent> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(one), Err(other)) => Err(if other.rank() < one.rank() { other } else { one }),
        (Err(why), _) | (_, Err(why)) => Err(why),
    }
}

/// The same of several; of equal reasons the first.
pub(crate) fn all_of<T>(parts: impl IntoIterator<Item = Result<T, Absent>>) -> Result<Vec<T>, Absent> {
    let mut all = Ok(Vec::new());
    for part in parts {
        all = both_of(all, part).map(|(mut all, part)| {
            all.push(part);
            all
        });
    }
    all
}

/// What the runs of an experiment have found.
#[derive(Clone, Debug)]
pub struct Results {
    experiment: Experiment,
    /// By point, then by seed.
    found: Vec<Vec<Option<Found>>>,
}

impl Results {
    /// Of an experiment of which nothing has been run.
    #[must_use]
    pub fn new(experiment: Experiment) -> Self {
        let none = vec![None; experiment.sweep.runs_per_point()];
        let found = vec![none; experiment.sweep.points().len()];
        Self { experiment, found }
    }

    /// Adds what a run has found, or a formula gives.
    ///
    /// # Panics
    /// When the experiment has no such point or seed.
    pub fn put(&mut self, point: usize, seed: usize, found: impl Into<Found>) {
        self.found[point][seed] = Some(found.into());
    }

    /// The runs that there are.
    #[must_use]
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// How many seeds each point has.
    #[must_use]
    pub fn seeds(&self) -> usize {
        self.experiment.sweep.runs_per_point()
    }

    /// What all runs have found.
    pub fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.found.iter().flatten().flatten().filter_map(Found::outcome)
    }

    /// The points of a curve with what a seed has found, from left to right.
    ///
    /// # Errors
    /// When there is no such curve, or a run of it is missing.
    pub fn curve(&self, name: &str, axis: Option<&str>, seed: usize) -> Result<Vec<(f64, &Found)>, Absent> {
        let points = self.experiment.curve(name, axis).map_err(Absent::Undefined)?;
        points.into_iter().map(|(x, point)| Ok((x, self.found_at(point, seed)?))).collect()
    }

    /// What a seed has found at a place of a curve, or at its only one.
    ///
    /// # Errors
    /// When there is no such place, or it has not been run.
    pub fn at(&self, curve: &str, axis: Option<&str>, at: Option<f64>, seed: usize) -> Result<&Found, Absent> {
        let points = self.experiment.curve(curve, axis).map_err(Absent::Undefined)?;
        let point = match (at, points.as_slice()) {
            (None, [(_, point)]) => Some(*point),
            (None, _) => return Err(Absent::Undefined(format!("\"{curve}\" has several points; say `at` which"))),
            (Some(at), points) => points.iter().find(|(x, _)| same(*x, at)).map(|(_, point)| *point),
        };
        let nothing = || Absent::Undefined(format!("\"{curve}\" has no point at {}", at.unwrap_or_default()));
        self.found_at(point.ok_or_else(nothing)?, seed)
    }

    fn found_at(&self, point: usize, seed: usize) -> Result<&Found, Absent> {
        self.found[point][seed].as_ref().ok_or_else(|| {
            let point = &self.experiment.sweep.points()[point];
            let settings: Vec<_> = point.settings.iter().map(|(path, value)| format!("{path} = {value}")).collect();
            Absent::NotRun(format!("{} {} has not been run", point.variant, settings.join(", ")).trim().to_owned())
        })
    }

    /// The time series of a run, in times from the event on.
    ///
    /// # Errors
    /// When there is none.
    pub fn samples(&self, found: &Found, column: &SeriesColumn) -> Result<Vec<Sample>, Absent> {
        let series = found.outcome().and_then(|outcome| outcome.series.as_ref());
        let series = series.ok_or_else(|| Absent::Undefined("the runs have no time series".to_owned()))?;
        series.samples(column, self.experiment.event).map_err(Absent::Undefined)
    }
}
