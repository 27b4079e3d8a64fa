//! Why a run has no findings.

use tailback_engine::{ExchangeError, SnapshotError};
use tailback_network::Discrepancy;

/// Why a run has no findings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Packets wait for each other.
    #[error("deadlock: packets in {} buffers have waited for each other in a circle since cycle {since_cycle}", circle.len())]
    Deadlock {
        /// The last cycle in which a packet crossed a router.
        since_cycle: u64,
        /// The buffers, a line for each.
        circle: Vec<String>,
    },
    /// Flits or credits do not add up: a mistake in the simulator.
    #[error("the simulation went wrong in cycle {cycle}: {reason}")]
    Inconsistent {
        /// The cycle in which it was noticed.
        cycle: u64,
        /// What does not add up.
        reason: Discrepancy,
    },
    /// The threads cannot be started.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// Why not.
        reason: String,
    },
    /// The processes that simulate it cannot go on together.
    #[error(transparent)]
    Ranks(#[from] ExchangeError),
    /// Another process of the run tells why.
    #[error("the first rank tells why")]
    Elsewhere,
    /// A state cannot be written or read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}
