//! What routers, links and network interfaces are made of.
//!
//! A [`NetworkSpec`] is plain numbers: whoever simulates a network, checks a plan or explains a latency reads the
//! same record. Beside it are the parameters from which it is made ([`parameters`]), the rules that a usable one
//! keeps ([`check`]), and the latency that follows from it when nothing is in the way ([`ZeroLoad`]).
//!
//! **What this crate must never know:** how any of it is simulated, and how files look.
//!
//! **The invariant it keeps:** a network whose spec passes [`check`] can be built and does not block itself: every
//! packet fits every buffer it may have to wait in, and queues do not couple virtual channels.

mod limits;
pub mod parameters;
mod spec;
mod zero_load;

pub use limits::{Problem, RoutingNeeds, TICKS_MAX, check};
pub use spec::*;
pub use zero_load::ZeroLoad;
