//! Congestion management by marked packets, for multistage networks: Renato's proposal, Pfister's implementation of what
//! InfiniBand leaves open, and MVCM with its ablations.
//!
//! Switches mark packets, sinks send the marks back with an acknowledgement of each packet, and sources limit what is
//! unacknowledged, how fast packets follow each other, or both. All three have the same parts, put together in `protocol`:
//!
//! | part | module | what differs |
//! |---|---|---|
//! | switch | `marks` | which packets are marked: one of four rules |
//! | sink | `protocol` | nothing |
//! | source | `sender` | how a flow responds: `renato`, `pfister`, `mvcm` |
//!
//! `README.md` has the rules, each parameter with its place in the paper, and what had to be interpreted.
//!
//! **What this crate must never know:** anything but the seam: no network, no engine, no topology.
//!
//! **The invariant it keeps:** no flow has more packets unacknowledged than its window was when the last of them left, nothing
//! is dropped, and a flow that waits is asked about again whenever its wait may have become shorter.

mod marks;
mod mvcm;
mod parameters;
mod pfister;
mod protocol;
mod renato;
mod response;
mod sender;
#[cfg(test)]
mod tests;

pub use mvcm::MVCM;
pub use pfister::PFISTER;
pub use renato::RENATO;
