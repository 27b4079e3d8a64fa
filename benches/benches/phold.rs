//! PHOLD, the standard benchmark of kernels like ours, as others run it: 16,384 processes with four jobs each, a quarter
//! of the hops to a random process. An element is an event.

use std::ops::ControlFlow;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use tailback_benches::per_element;
use tailback_engine::{Executor, Rayon, Sequential};
use tailback_phold::Phold;

const REGIONS: u32 = 64;

/// Windows in one step.
const WINDOWS: u64 = 10;

fn measure(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, executor: &impl Executor) {
    let model = Phold { processes: 16_384, ..Phold::default() };
    let mut simulation = model.simulation(REGIONS);
    let mut arrivals = 0;
    per_element(group, name, || {
        let end = simulation.now() + WINDOWS * model.delay_ticks_min;
        simulation.run_until(end, executor, |_| ControlFlow::Continue(()));
        let before = std::mem::replace(&mut arrivals, Phold::arrivals(&simulation));
        arrivals - before
    });
}

fn phold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("phold");
    measure(&mut group, "sequential", &Sequential);
    measure(&mut group, "rayon-2", &Rayon::new(2).expect("threads start"));
}

criterion_group! { name = benches; config = tailback_benches::criterion(); targets = phold }
criterion_main!(benches);
