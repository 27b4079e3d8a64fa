//! When messages arrive.

use std::sync::Arc;

/// The process by which the messages of a source arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrival {
    /// In each cycle with the same chance.
    Bernoulli,
    /// In bursts: a source sends messages back to back for a while, then rests for a while. Both times are
    /// geometric, which is what exponential times are in whole messages and whole cycles.
    Bursts {
        /// The mean number of messages in a burst, at least 1.
        messages_mean: f64,
        /// Whether all messages of a burst go to the same destination.
        same_destination: bool,
        /// Cycles that the line takes for a flit by which messages come in.
        cycles_per_flit: u32,
    },
    /// In slots as long as a message, of which each has one message at most of all flows of a node that have this process.
    Slots {
        /// Cycles of a slot for each flit of a message.
        cycles_per_flit: u32,
    },
    /// In these cycles, which ascend: a message in each.
    At(Arc<[u64]>),
}
