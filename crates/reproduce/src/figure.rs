//! A figure of a paper, as its file has it.

use tailback_scenario::{Diagnostics, Document, Formula};

use crate::claim::Claim;
use crate::experiment::{Experiment, Scale, Scaling};
use crate::panel::Panel;
use crate::read::read_figure;
use crate::results::Results;
use crate::scoreboard::digest_of_scenarios;
use crate::sheet::Sheet;
use crate::{Finding, Row, rows};

/// What a figure is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Runs of the scenario in a file beside that of the figure.
    Scenario(String),
    /// A formula: nothing is run.
    Formula,
}

/// A formula with the values of a point and seed.
#[derive(Clone, Debug)]
pub struct Computation {
    /// The place of the point among all points.
    pub point: usize,
    /// The place of the seed among those of the point.
    pub seed: usize,
    /// What is computed.
    pub formula: Formula,
}

/// A figure of a paper.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// Where in the paper it is.
    pub source: String,
    /// What it is made of.
    pub basis: Basis,
    /// Whether it is quick enough at [`Scale::Quick`] to be checked after each change.
    pub ci: bool,
    /// What is drawn.
    pub panels: Vec<Panel>,
    /// What is tabulated.
    pub sheets: Vec<Sheet>,
    /// What the paper says about it.
    pub claims: Vec<Claim>,
    /// The runs, before any scale.
    pub(crate) experiment: Experiment,
    /// What each scale changes.
    pub(crate) scalings: [Scaling; 2],
}

impl Figure {
    /// Reads the text of a figure file that people know as `name`.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn read(name: &str, text: &str) -> Result<Self, Diagnostics> {
        Document::read(name, text).read_as(read_figure)
    }

    /// The runs at a scale.
    #[must_use]
    pub fn experiment(&self, scale: Scale) -> Experiment {
        let mut experiment = self.experiment.clone();
        experiment.rescale(&self.scalings[scale as usize]);
        experiment
    }

    /// What is computed at a scale: everything if the figure is made of a formula, and nothing else.
    ///
    /// # Errors
    /// All mistakes in values.
    pub fn computations(&self, scale: Scale) -> Result<Vec<Computation>, Diagnostics> {
        if self.basis != Basis::Formula {
            return Ok(Vec::new());
        }
        let experiment = self.experiment(scale);
        let base = experiment.base(&Document::read(&self.title, ""));
        let runs = experiment.sweep.runs(&base);
        runs.map(|run| Ok(Computation { point: run.point, seed: run.seed, formula: run.document.formula()? })).collect()
    }

    /// The digest of all scenarios that it is made of at a scale: equal if the same is run.
    ///
    /// # Errors
    /// All mistakes in one of the scenarios, or in one of the formulas.
    pub fn scenarios(&self, scenario: &Document, scale: Scale) -> Result<String, Diagnostics> {
        let mut texts = Vec::new();
        if matches!(self.basis, Basis::Scenario(_)) {
            let experiment = self.experiment(scale);
            for run in experiment.sweep.runs(&experiment.base(scenario)) {
                texts.push(run.document.resolve()?.digest);
            }
        }
        texts.extend(self.computations(scale)?.into_iter().map(|computation| computation.formula.text));
        Ok(digest_of_scenarios(texts.iter().map(String::as_str)))
    }

    /// What has been found about each claim that is made at a scale.
    #[must_use]
    pub fn findings(&self, scale: Scale, results: &Results) -> Vec<(&Claim, Finding)> {
        let judged = self.claims.iter().filter_map(|claim| claim.judge(scale, results).map(|found| (claim, found)));
        judged.collect()
    }

    /// The same as it is written down.
    #[must_use]
    pub fn rows(&self, paper: &str, name: &str, scale: Scale, results: &Results) -> Vec<Row> {
        rows(paper, name, scale, &self.findings(scale, results))
    }
}
