//! A figure of a paper, as its file has it.

use tailback_scenario::{Diagnostics, Document};

use crate::claim::Claim;
use crate::experiment::{Experiment, Scale, Scaling};
use crate::panel::Panel;
use crate::read::read_figure;
use crate::results::Results;
use crate::sheet::Sheet;
use crate::{Finding, Row, rows};

/// A figure of a paper.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// Where in the paper it is.
    pub source: String,
    /// The file of the scenario, beside that of the figure.
    pub scenario: String,
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
