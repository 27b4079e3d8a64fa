//! Network interfaces: where messages wait, become packets, and are put together again.

mod lanes;
mod receive;
mod send;
mod state;

pub(crate) use state::NodeState;
