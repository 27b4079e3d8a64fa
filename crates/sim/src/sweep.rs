//! What is said about sweeps beside their points.

use serde::{Deserialize, Serialize};
use tailback_report::Table;
use tailback_scenario::{Axis, SEEDS_MAX, Scenario, Sweep, Variant};

/// What is said about a sweep as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepManifest {
    /// The title of the scenario.
    pub title: String,
    /// The digest of the scenario without anything varied.
    pub scenario_digest: String,
    /// The columns of what is varied.
    pub axes: Vec<String>,
    /// The one of them that is the offered load.
    pub load_axis: Option<String>,
    /// The cycles that all runs warm up, unless that is varied. Earlier builds did not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_cycles: Option<u64>,
    /// What its variants are, of which tables name those that rows are of. Earlier builds did not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantSettings>,
}

/// A variant of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantSettings {
    /// Its name.
    pub name: String,
    /// What it sets, as `--set` has it.
    pub set: Vec<String>,
}

impl SweepManifest {
    /// What is said about a sweep of `base`.
    #[must_use]
    pub fn new(base: &Scenario, sweep: &Sweep) -> Self {
        let axes: Vec<String> = sweep.axes.iter().map(|axis| axis.path.clone()).collect();
        let load_axis = sweep.load_axis().map(|index| axes[index].clone());
        let is_varied = axes.iter().any(|axis| axis == "measure.warmup");
        let warmup_cycles = (!is_varied).then_some(base.measure.warmup);
        let settings =
            |variant: &Variant| VariantSettings { name: variant.name.clone(), set: variant.assignments.clone() };
        Self {
            title: base.title.clone(),
            scenario_digest: base.digest.clone(),
            axes,
            load_axis,
            warmup_cycles,
            variants: sweep.variants.iter().map(settings).collect(),
        }
    }

    /// A table of the sweep with what tells of which one it is.
    #[must_use]
    pub fn with_origin(&self, table: Table) -> Table {
        table.with_metadata("scenario_digest", &self.scenario_digest)
    }
}

/// Lays what is asked for over what a document says: axes go before those of the same path, seeds are counted from 1.
/// Tells whether anything is varied then.
///
/// # Errors
/// A sentence about what cannot be varied so.
pub fn vary(sweep: &mut Sweep, axes: Vec<Axis>, seeds: Option<u64>, run_saturated: bool) -> Result<bool, String> {
    let given = Sweep { axes, ..Sweep::default() };
    given.problem().map_or(Ok(()), Err)?;
    for axis in given.axes {
        match sweep.axes.iter_mut().find(|known| known.path == axis.path) {
            Some(known) => *known = axis,
            None => sweep.axes.push(axis),
        }
    }
    if let Some(seeds) = seeds {
        if seeds > SEEDS_MAX {
            return Err(format!("{seeds} seeds are more than the limit of {SEEDS_MAX}"));
        }
        sweep.seeds = (1..=seeds).collect();
    }
    sweep.problem().map_or(Ok(()), Err)?;
    sweep.stop_when_saturated &= !run_saturated;
    Ok(!sweep.axes.is_empty() || !sweep.variants.is_empty() || sweep.seeds.len() > 1)
}
