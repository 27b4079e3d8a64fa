//! Why a file is no schedule.

use std::io;

use thiserror::Error;

use crate::RANKS_MAX;
use crate::layout::MARK_USED_UP;

/// What is wrong with a binary file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BinaryError {
    /// It cannot be read.
    #[error("the schedule cannot be read: {0}")]
    Read(#[from] io::Error),
    /// It is something else.
    #[error("{}", not_marked(*.0))]
    Mark(u64),
    /// It has too many ranks, or none.
    #[error("the schedule names {0} ranks: there are 1 to {RANKS_MAX}")]
    Ranks(u32),
    /// It ends too early.
    #[error("the schedule has {bytes} bytes, its {what} end at byte {needed}: it was cut off")]
    TooShort {
        /// What does not fit.
        what: &'static str,
        /// Where that ends.
        needed: u64,
        /// Where the file ends.
        bytes: u64,
    },
    /// Something follows the last rank.
    #[error("the schedule has {bytes} bytes, its last rank ends at byte {end}: cut off the rest")]
    TooLong {
        /// Where the last rank ends.
        end: u64,
        /// Where the file ends.
        bytes: u64,
    },
    /// A rank is not where it must be.
    #[error("rank {rank} lies from byte {begin} to {end} of the schedule: the one before it ends at byte {before}")]
    Place {
        /// The rank.
        rank: u32,
        /// Where it begins by the table.
        begin: u64,
        /// Where it ends by the table.
        end: u64,
        /// Where the rank before it, or the table, ends.
        before: u64,
    },
    /// What a rank has does not fit its place.
    #[error("rank {rank} has {bytes} bytes, which do not hold {operations} operations, {roots} roots and some edges")]
    Counts {
        /// The rank.
        rank: u32,
        /// Its bytes by the table.
        bytes: u64,
        /// Its operations.
        operations: u32,
        /// Its roots.
        roots: u32,
    },
    /// Something is wrong with an operation.
    #[error("operation {operation} of rank {rank} {fault}")]
    Operation {
        /// The rank.
        rank: u32,
        /// The operation.
        operation: u32,
        /// What is wrong.
        fault: OperationFault,
    },
    /// The list of roots is wrong.
    #[error("the roots of rank {rank} are not the operations that wait for nothing, in their order")]
    Roots {
        /// The rank.
        rank: u32,
    },
    /// Edges belong to no operation.
    #[error("rank {rank} has {edges} edges, its operations have {used}")]
    Edges {
        /// The rank.
        rank: u32,
        /// The edges there are.
        edges: u64,
        /// Those that operations have.
        used: u64,
    },
    /// The head does not say the largest processor or adapter.
    #[error("an operation of the schedule has {what} {found}, its head names {named} as the largest")]
    Largest {
        /// `cpu` or `nic`.
        what: &'static str,
        /// The largest there is.
        found: u8,
        /// What the head says.
        named: u8,
    },
    /// Somebody asked for what is not there, or a front goes on with another schedule than the one it began with.
    #[error("rank {rank} has no operation {operation}")]
    NoSuchOperation {
        /// The rank.
        rank: u32,
        /// The operation.
        operation: u32,
    },
}

/// What is wrong with an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OperationFault {
    /// Its kind is unknown.
    #[error("is of the unknown kind {0}: 1 sends, 2 receives, 3 computes")]
    Kind(u8),
    /// Its other rank does not exist.
    #[error("names rank {0}, which does not exist")]
    Peer(u32),
    /// Its edges are not behind those of the operation before it.
    #[error("has edges that do not follow those of the one before it")]
    Edges,
    /// It names an operation that does not exist.
    #[error("is waited for by operation {0}, which does not exist")]
    Waiting(u32),
    /// It is waited for by more or fewer than it counts.
    #[error("waits for another number of operations than it counts")]
    Open,
    /// It waits for itself.
    #[error("waits, by way of others or at once, for itself")]
    Circle,
}

fn not_marked(mark: u64) -> String {
    if mark == MARK_USED_UP {
        return "the schedule was used up by a simulator that counts down in its file: convert the text again"
            .to_owned();
    }
    format!("this is no binary schedule: it begins with {mark} and not with 4223")
}
