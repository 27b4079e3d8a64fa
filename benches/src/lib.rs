//! What the benches share: how they measure, and the networks that they measure.
//!
//! Each file in `benches/` measures one layer, from the timing wheel to a whole network. All of them count elements
//! (events, decisions, packet-hops), so criterion prints the time of one and how many there are in a second.
//!
//! `cargo bench -p tailback-benches` runs them all; `--bench network` one of them, and `-- load-0.5` those whose name
//! has that in it. Figures of a busy machine are worth nothing; compare with `-- --save-baseline before`, then
//! `-- --baseline before`.
//!
//! **What this crate must never know:** how anything is implemented. It goes through public interfaces, as users do.

pub mod decisions;
pub mod models;
pub mod networks;
pub mod served;
pub mod side_by_side;
pub mod whole_runs;

use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};

/// How all benches measure: shortly. What a command line says goes first.
#[must_use]
pub fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .sample_size(30)
        .without_plots()
}

/// Measures the cost of one element of something that goes on for ever: `step` does some elements, as many as it
/// sees fit, and says how many.
pub fn per_element(group: &mut BenchmarkGroup<'_, WallTime>, name: impl Into<String>, mut step: impl FnMut() -> u64) {
    group.throughput(Throughput::Elements(1));
    group.bench_function(name, |bencher| bencher.iter_custom(|elements| time(elements, &mut step)));
}

/// The time that `elements` elements take.
fn time(elements: u64, step: &mut impl FnMut() -> u64) -> Duration {
    let start = Instant::now();
    let mut done = 0;
    while done < elements {
        done += step();
    }
    // The last step has done some more than were asked for.
    start.elapsed().mul_f64(elements as f64 / done as f64)
}
