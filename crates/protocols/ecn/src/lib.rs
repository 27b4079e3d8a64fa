//! Explicit congestion notification, as InfiniBand has it: routers mark packets where queues form, destinations tell
//! sources of marks, and sources leave pauses between packets to that destination.
//!
//! Nothing is dropped and nothing sent twice. `README.md` has the rules, each parameter with its place in the paper, and
//! what had to be interpreted.
//!
//! **What this crate must never know:** anything but the seam: no network, no engine, no topology.
//!
//! **The invariant it keeps:** two packets from one source to one destination are never closer to each other than the
//! pause that is in force when the second one leaves; sources to other destinations are not held up.

mod model;
mod pause;
mod protocol;

pub use model::ECN;
pub use pause::Pacing;
pub use protocol::{Carrier, Ecn};
