//! Tests of whole networks, with random topologies, routers and traffics.

mod conservation;
mod contention;
mod deadlock;
mod determinism;
mod exact;
mod notes;
mod order;
mod sample;
