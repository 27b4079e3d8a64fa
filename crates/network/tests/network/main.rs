//! Tests of whole networks, with random topologies, routers and flows.

mod by_hand;
mod conservation;
mod contention;
mod deadlock;
mod determinism;
mod exact;
mod notes;
mod one_way;
mod order;
mod protocols;
mod relay;
mod sample;
