//! Programs that nodes run: who computes, sends and waits for whom.
//!
//! [`Steps`] is a program of some ranks, each of which goes through steps of its own: it computes, sends, and waits
//! for what it is sent. [`COLLECTIVES`] lists the programs that scenario files can name: collective operations in
//! their usual algorithms, halo exchanges and a training step. [`Repeated`] runs one of them several times.
//! [`SteppingProgram`] makes of such steps a [`Program`](tailback_workload::Program) that a network drives. Its ranks send and
//! receive by an [`Endpoint`], which matches messages as MPI does it. A [`GoalProgram`] is one of a trace or schedule in the format GOAL, a
//! [`MessageList`] one of messages that wait for nothing.
//!
//! **What this crate must never know:** networks, nodes and how time passes; it counts ranks, flits and link cycles.
//!
//! **The invariant it keeps:** what a rank does in a step is a pure function of the rank and the step; each message
//! that a rank sends is received by exactly one step of another rank, under a tag that no other message of that pair
//! has, and no order of delivery makes a rank wait for ever.

mod collectives;
mod endpoint;
#[cfg(test)]
mod endpoint_tests;
mod goal_program;
mod goal_rank;
#[cfg(test)]
mod interpreter;
mod matching;
mod message_list;
mod repeated;
mod snapshot;
mod stepping;
mod steps;

pub use collectives::{Built, COLLECTIVES, CollectiveModel, MESSAGE_FLITS_MAX, Setting};
pub use endpoint::{Done, Endpoint, Message, Transport};
pub use goal_program::{GoalError, GoalProgram, Scale};
pub use matching::{Arrived, Matching, Source};
pub use message_list::{ListedMessage, MessageList};
pub use repeated::Repeated;
pub use stepping::SteppingProgram;
pub use steps::{Receive, Send, Step, Steps};
