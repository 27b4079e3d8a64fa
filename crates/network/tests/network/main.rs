//! Tests of whole networks, with random topologies, routers and flows.

mod by_hand;
mod congestion;
mod conservation;
mod contention;
mod deadlock;
mod determinism;
mod entropy;
mod exact;
mod gate;
mod meter;
mod notes;
mod one_way;
mod order;
mod protocols;
mod relay;
mod renato;
mod resequenced;
mod reverse;
mod routers;
mod sample;
mod scheduler;
mod trim;
