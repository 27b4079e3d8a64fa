//! The allocator of one router: a single switch whose inputs always have something to send. An element is a grant, which
//! is a packet of one flit that crosses; what its source, its links and its credits cost is in it.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use tailback_benches::networks::{Running, saturated_switch};
use tailback_benches::per_element;
use tailback_engine::Sequential;
use tailback_network::{General, Microarchitecture, Plain};

fn measure<M: Microarchitecture>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str) {
    for ports in [16, 64] {
        let mut switch = Running::<M>::new(saturated_switch(ports), 1_000, &Sequential);
        per_element(group, format!("{name}-{ports}-ports"), || switch.advance(1_000, &Sequential));
    }
}

fn allocator(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("allocator");
    measure::<Plain>(&mut group, "plain");
    measure::<General>(&mut group, "general");
}

criterion_group! { name = benches; config = tailback_benches::criterion(); targets = allocator }
criterion_main!(benches);
