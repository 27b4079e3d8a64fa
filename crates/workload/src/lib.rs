//! Traffic: who sends how much to whom, and when.
//!
//! A [`Workload`] is a list of named [`Traffic`]s. Each has sources that act on their own, a [`Pattern`] that
//! tells where their messages go, a size distribution, and an arrival process; pattern and load may change at
//! given times. Each source is a [`Process`] that draws when it acts next, so sources that rest cost nothing.
//! Or a traffic is the messages of a [`Job`], whose ranks wait for each other's: a [`Program`] is a seam, of which this crate has no
//! implementation.
//!
//! **What this crate must never know:** networks, and how time passes; it counts link cycles.
//!
//! **The invariant it keeps:** what a source does depends only on the seed, its node and the place of its traffic in
//! the list, and where flows share slots on what those before it are offered, never on what other sources or the network do; what a
//! rank does, only on what it is told.

mod arrival;
mod nodes;
mod pattern;
mod process;
mod program;
mod registry;
mod size;
mod slots;
mod traffic;

pub use arrival::Arrival;
pub use nodes::draw_distinct;
pub use pattern::{Groups, Pattern, PatternError};
pub use process::{Process, Request};
pub use program::{Action, Job, Machine, Part, Program, RANKS_PER_NODE_MAX, Want, WithinNode};
pub use registry::{
    ARRIVALS, ArrivalModel, LOAD_MIN, MESSAGE_FLITS_MAX, PATTERNS, PatternModel, SIZES, SLOTS_LOAD_MIN, Setting,
    SizeModel,
};
pub use size::MessageSize;
pub use tailback_parameters::{NodeSet, NodeSetError};
pub use traffic::{Phase, Traffic, Workload};
