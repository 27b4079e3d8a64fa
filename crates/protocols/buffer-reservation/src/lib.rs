//! Proactive buffer reservations in three-stage Clos networks, after Chrysos, Chen, Kachris and Katevenis: no packet leaves its source
//! before there is room for it in front of its destination.
//!
//! | part | module | what it does |
//! |---|---|---|
//! | source | `adapter` | asks for each packet, holds it until it is granted |
//! | sink | `egress` | returns a credit for each packet in order |
//! | arbiter of an output | `output` | reserves room on the route of a packet, for one input at a time |
//! | central scheduler | `central`, `bank` | all output arbiters, and input arbiters behind them, in one place |
//! | distributed scheduler | `distributed` | output arbiters in the last switches, requests and grants through the others |
//! | reservation over the data network | `in_band` | for any network: arbiters in the sinks, several packets at once |
//! | end-to-end acknowledgement | `end_to_end` | the rival: a window for each flow, and nothing reserved |
//! | formulas | [`throughput`], [`cost`], `formulas` | what the paper computes, and how figures name it |
//!
//! `README.md` has the rules, each parameter with its place in the paper, and what had to be interpreted.
//!
//! **What this crate must never know:** anything but the seam: no network, no engine, no topology.
//!
//! **The invariant it keeps:** no more packets are on their way to an output by one route than the buffer in front of it
//! holds for that route, and each request is granted exactly once. In band it is the node that no more are on their way to.

mod adapter;
mod bank;
mod central;
pub mod cost;
mod distributed;
mod egress;
mod end_to_end;
mod explain;
mod formulas;
mod in_band;
mod output;
mod pace;
mod parameters;
mod shares;
#[cfg(test)]
mod tests;
pub mod throughput;
mod turns;
mod words;

pub use central::CENTRAL_SCHEDULER;
pub use distributed::DISTRIBUTED_SCHEDULER;
pub use end_to_end::END_TO_END_ACKNOWLEDGEMENT;
pub use formulas::{SCHEDULER_COST, SINGLE_STAGE_THROUGHPUT};
pub use in_band::IN_BAND_RESERVATION;
