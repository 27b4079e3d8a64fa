//! Random models, small enough to run in a moment.

use std::ops::ControlFlow;

use proptest::prelude::*;
use tailback_engine::{Executor, Simulation, Tick};
use tailback_phold::{Phold, PholdRegion};

/// A model, and a tick up to which a run of it takes a moment.
#[derive(Clone, Debug)]
pub struct Sample {
    pub model: Phold,
    pub end: Tick,
}

/// All kinds of models: few and many processes, short and long delays, jobs that stay and jobs that wander.
pub fn samples() -> impl Strategy<Value = Sample> {
    // Means far above the least delay send jobs through all levels of the timing wheel.
    let mean = prop_oneof![1 => Just(0.0), 3 => 0.1f64..50.0, 1 => 200.0f64..20_000.0];
    let remote = prop_oneof![1 => Just(0.0), 1 => Just(1.0), 3 => 0.0f64..1.0];
    (1u32..40, 0u32..6, 1u64..150, mean, remote, any::<u64>(), 1u32..3_000).prop_map(
        |(processes, jobs_per_process, delay_ticks_min, delay_ticks_mean, remote, seed, events_per_process)| {
            let model = Phold { processes, jobs_per_process, delay_ticks_min, delay_ticks_mean, remote, seed };
            let jobs = f64::from(jobs_per_process.max(1));
            let delay = delay_ticks_min as f64 + delay_ticks_mean;
            let end = (f64::from(events_per_process / processes + 1) / jobs * delay) as Tick;
            Sample { model, end }
        },
    )
}

/// Some ways to deal the processes of a model out to regions; the first is one region for all.
pub fn partitions(model: &Phold, other: u32) -> Vec<u32> {
    let mut regions = vec![1, 2.min(model.processes), 1 + other % model.processes, model.processes];
    regions.dedup();
    regions
}

/// Simulates everything before `end`.
pub fn run(simulation: &mut Simulation<PholdRegion>, end: Tick, executor: &impl Executor) {
    simulation.run_until(end, executor, |_| ControlFlow::Continue(()));
}
