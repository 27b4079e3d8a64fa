//! From a sweep to the runs that it is made of.

use serde::{Deserialize, Serialize};
use tailback_scenario::{Axis, Scenario, Sweep};

/// A run of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepRun {
    /// The index of its point.
    pub point: usize,
    /// The index of its seed.
    pub seed: usize,
    /// What is to be laid over the document of the sweep, each as `path=value`.
    pub overrides: Vec<String>,
}

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
}

impl SweepManifest {
    /// What is said about a sweep of `base`.
    #[must_use]
    pub fn new(base: &Scenario, sweep: &Sweep) -> Self {
        let axes: Vec<String> = sweep.axes.iter().map(|axis| axis.path.clone()).collect();
        let load_axis = sweep.load_axis().map(|index| axes[index].clone());
        Self { title: base.title.clone(), scenario_digest: base.digest.clone(), axes, load_axis }
    }
}

/// Lays what is asked for over what a document says: axes go before those of the same path, seeds are counted from 1.
/// Tells whether anything is varied then.
pub fn vary(sweep: &mut Sweep, axes: Vec<Axis>, seeds: Option<u64>, run_saturated: bool) -> bool {
    for axis in axes {
        match sweep.axes.iter_mut().find(|known| known.path == axis.path) {
            Some(known) => *known = axis,
            None => sweep.axes.push(axis),
        }
    }
    if let Some(seeds) = seeds {
        sweep.seeds = (1..=seeds).collect();
    }
    sweep.stop_when_saturated &= !run_saturated;
    !sweep.axes.is_empty() || !sweep.variants.is_empty() || sweep.seeds.len() > 1
}

/// All runs of a sweep, point by point.
#[must_use]
pub fn sweep_runs(sweep: &Sweep) -> Vec<SweepRun> {
    let seeds: Vec<Option<u64>> = match sweep.seeds.as_slice() {
        [] => vec![None],
        seeds => seeds.iter().copied().map(Some).collect(),
    };
    let mut runs = Vec::new();
    for (point, what) in sweep.points().into_iter().enumerate() {
        let settings = what.settings.iter().map(|(path, value)| format!("{path}={value}"));
        let varied: Vec<String> = what.assignments.iter().cloned().chain(settings).collect();
        for (seed, number) in seeds.iter().enumerate() {
            let seeded = number.map(|number| format!("seed={number}"));
            runs.push(SweepRun { point, seed, overrides: varied.iter().cloned().chain(seeded).collect() });
        }
    }
    runs
}
