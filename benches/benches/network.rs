//! A whole network: the dragonfly of 1,056 nodes and 33 groups, at half load and nearly empty. An element is a
//! packet-hop.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use tailback_benches::networks::{GLOBAL_TICKS, Running, dragonfly};
use tailback_benches::per_element;
use tailback_engine::{Executor, Rayon, Sequential, Tick};
use tailback_network::Plain;

/// The windows in one step are so many that it does some thousand packet-hops.
fn measure(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, load: f64, windows: u32, executor: &impl Executor) {
    let mut network = Running::<Plain>::new(dragonfly(4, load), 4_000, executor);
    per_element(group, name, || network.advance(Tick::from(windows * GLOBAL_TICKS), executor));
}

fn network(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("network");
    measure(&mut group, "load-0.5", 0.5, 1, &Sequential);
    measure(&mut group, "load-0.001", 0.001, 100, &Sequential);
    let two = Rayon::new(2).expect("threads start");
    measure(&mut group, "load-0.5-rayon-2", 0.5, 1, &two);
}

criterion_group! { name = benches; config = tailback_benches::criterion(); targets = network }
criterion_main!(benches);
