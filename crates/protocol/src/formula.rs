//! What a family of protocols computes without a network: the formulas of its papers, and models small enough to need nothing else.

use tailback_parameters::{BuildError, Parameter, Values};

/// A formula with a name and parameters. Figures whose curves are computed name it as others name a scenario.
#[derive(Clone, Copy, Debug)]
pub struct FormulaModel {
    /// Its name in figure files.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// The numbers that it gives.
    pub results: &'static [FormulaResult],
    /// Whether these values can be computed in a time that somebody waits for.
    pub check: fn(&Values) -> Result<(), BuildError>,
    /// Computes the numbers, in the order of `results`. What draws by chance draws from the seed.
    pub compute: fn(&Values, seed: u64) -> Vec<f64>,
}

/// A number that a formula gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormulaResult {
    /// What figures call it, behind `formula.`.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
}
