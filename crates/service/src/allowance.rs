//! How much a scenario may ask for.

use tailback_scenario::Bounds;

use crate::limits::Limits;

/// Overrides of all runs of a sweep together may have so many times the bytes that a scenario may have.
const OVERRIDES_OF_SWEEP: u64 = 16;

/// How much a scenario may ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    pub bounds: Bounds,
    /// Bytes of a scenario with its overrides.
    pub scenario_bytes: usize,
    /// Runs of a sweep, and bytes of the overrides of all of them.
    pub sweep_runs: u64,
    pub sweep_override_bytes: u64,
}

/// Steps of programs that a check goes through: they take it a second or two.
const PROGRAM_STEPS: u64 = 1 << 26;
/// States of packets on their paths that a check looks at: they take it less than a second, and some 40 MiB. From 458,752 on, seven
/// eighths of a power of two, the table of those that were met would take twice as much.
const PATH_STATES: u64 = 450_000;

/// What a check takes a few MiB for: see [`Allowance::modest`].
const MODEST: Allowance = Allowance {
    bounds: Bounds {
        nodes: 50_000,
        listed_nodes: 100_000,
        group_pairs: 300_000,
        set_values: 50_000,
        program_steps: 1 << 18,
        path_states: 50_000,
        // What names files is checked as a large one.
        text_bytes: 64 << 10,
    },
    scenario_bytes: 64 << 10,
    sweep_runs: 64,
    sweep_override_bytes: 64 << 10,
};

impl Allowance {
    /// What the limits say.
    pub(crate) fn of(limits: &Limits) -> Self {
        let Limits { nodes_max, listed_nodes_max: listed_nodes, group_pairs_max: group_pairs, .. } = *limits;
        let (program_steps, path_states) = (PROGRAM_STEPS, PATH_STATES);
        let text_bytes = limits.file_text_bytes_max;
        let nodes = nodes_max.into();
        let bounds =
            Bounds { nodes, listed_nodes, group_pairs, program_steps, path_states, text_bytes, ..Bounds::default() };
        Self {
            bounds,
            scenario_bytes: limits.scenario_bytes_max as usize,
            sweep_runs: limits.sweep_runs_max.into(),
            sweep_override_bytes: OVERRIDES_OF_SWEEP * u64::from(limits.scenario_bytes_max),
        }
    }

    /// So little of it that several of them can be checked at once: with nodes, lists, values and texts of this size none
    /// takes more than 16 MiB.
    pub(crate) fn modest(limits: &Limits) -> Self {
        let (allowed, modest) = (Self::of(limits), MODEST);
        Self {
            bounds: Bounds {
                nodes: modest.bounds.nodes.min(allowed.bounds.nodes),
                listed_nodes: modest.bounds.listed_nodes.min(allowed.bounds.listed_nodes),
                group_pairs: modest.bounds.group_pairs.min(allowed.bounds.group_pairs),
                set_values: modest.bounds.set_values.min(allowed.bounds.set_values),
                program_steps: modest.bounds.program_steps.min(allowed.bounds.program_steps),
                path_states: modest.bounds.path_states.min(allowed.bounds.path_states),
                text_bytes: modest.bounds.text_bytes.min(allowed.bounds.text_bytes),
            },
            scenario_bytes: modest.scenario_bytes.min(allowed.scenario_bytes),
            sweep_runs: modest.sweep_runs.min(allowed.sweep_runs),
            sweep_override_bytes: modest.sweep_override_bytes.min(allowed.sweep_override_bytes),
        }
    }
}
