//! Each routing algorithm of the registry, with default parameters, on a topology of its kind. An element is a decision.
//!
//! A new algorithm is measured as soon as it is in the registry.

use criterion::{Criterion, criterion_group, criterion_main};
use tailback_benches::decisions::Decisions;
use tailback_benches::{models, per_element};
use tailback_routing::ROUTINGS;

fn routing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("routing");
    for model in ROUTINGS {
        let routing = models::routing(model.name, &models::topology_for(model));
        let mut decisions = Decisions::new(routing.as_ref(), 8192);
        per_element(&mut group, model.name, || decisions.decide());
    }
}

criterion_group! { name = benches; config = tailback_benches::criterion(); targets = routing }
criterion_main!(benches);
