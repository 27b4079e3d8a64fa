//! Explicit congestion notification, as InfiniBand has it: routers mark packets where queues form, destinations tell
//! sources of marks, and sources leave pauses between packets to that destination.
//!
//! Nothing is dropped and nothing sent twice. `README.md` has the rules, each parameter with its place in the paper, and
//! what had to be interpreted.
//!
//! **What this crate must never know:** anything but the seam: no network, no engine, no topology.
//!
//! **The invariant it keeps:** a packet leaves no sooner after the end of the one before it to the same destination than the
//! pause that is in force by then, if there was a pause when that one left and has been since. A packet that leaves while
//! there is none is not noted: the next one leaves at once, even if a mark has come meanwhile. Packets to others are not
//! held up.

mod model;
mod pause;
mod protocol;

pub use model::ECN;
pub use pause::Pacing;
pub use protocol::{Carrier, Ecn};
