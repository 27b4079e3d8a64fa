//! One region, with nothing to exchange: a dragonfly of 72 nodes at half load. An element is a packet-hop.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use tailback_benches::networks::{Running, dragonfly_in_one_region};
use tailback_benches::per_element;
use tailback_engine::Sequential;
use tailback_network::{General, Microarchitecture, Plain};

fn measure<M: Microarchitecture>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str) {
    let mut region = Running::<M>::new(dragonfly_in_one_region(2, 0.5), 5_000, &Sequential);
    per_element(group, name, || region.advance(1_000, &Sequential));
}

fn region(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("region");
    measure::<Plain>(&mut group, "plain");
    measure::<General>(&mut group, "general");
}

criterion_group! { name = benches; config = tailback_benches::criterion(); targets = region }
criterion_main!(benches);
