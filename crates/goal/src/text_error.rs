//! Why a text is no schedule.

use std::io;

use thiserror::Error;

use crate::LINE_BYTES_MAX;

/// What is wrong with a text, and where.
#[derive(Debug, Error)]
#[error("line {line}{}: {reason}", in_rank(*.rank))]
pub struct TextError {
    /// The line, from 1 on.
    pub line: u64,
    /// The rank that it is in, if it is in one.
    pub rank: Option<u32>,
    /// What is wrong.
    #[source]
    pub reason: TextReason,
}

/// What is wrong with a line, or with what it ends.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TextReason {
    /// The text cannot be read.
    #[error("the text cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The binary form cannot be written.
    #[error("the binary form cannot be written: {0}")]
    Write(#[source] io::Error),
    /// A line goes on and on.
    #[error("the line has more than {LINE_BYTES_MAX} bytes: break it")]
    LineTooLong,
    /// Something else was expected.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What may be here.
        expected: &'static str,
        /// What is here.
        found: String,
    },
    /// A comment stands behind a statement.
    #[error("a comment stands behind a statement: give it a line of its own")]
    CommentBehindStatement,
    /// A number does not fit.
    #[error("{field} does not fit: the largest is {largest}")]
    TooLarge {
        /// What the number is.
        field: &'static str,
        /// The largest it may be.
        largest: u64,
    },
    /// There are too many ranks, or none.
    #[error("{declared} ranks are declared: a schedule has 1 to {most}")]
    Ranks {
        /// How many.
        declared: u64,
        /// How many there may be.
        most: u32,
    },
    /// The number of ranks comes late or not at all.
    #[error("the number of ranks is not known yet: begin with `num_ranks`")]
    NoRanks,
    /// The number of ranks comes twice.
    #[error("the number of ranks is declared a second time: leave one of them")]
    RanksTwice,
    /// A rank comes early or late.
    #[error("rank {found} is out of order: rank {expected} is next")]
    RankOutOfOrder {
        /// The rank that is next.
        expected: u32,
        /// The rank that is there.
        found: u64,
    },
    /// A rank begins in another.
    #[error("a rank begins inside a rank: close the one before it with `}}`")]
    MissingBrace,
    /// The text ends in a rank.
    #[error("the text ends inside the rank: close it with `}}`")]
    EndsInRank,
    /// The text ends in a comment.
    #[error("the text ends inside a comment: close it with `*/`")]
    EndsInComment,
    /// The text ends too early.
    #[error("the text ends before rank {next}: {ranks} ranks are declared")]
    EndsEarly {
        /// The rank that is next.
        next: u32,
        /// How many there are to be.
        ranks: u32,
    },
    /// The other rank does not exist.
    #[error("there is no rank {peer}: the last one is {last}")]
    NoSuchPeer {
        /// The other rank.
        peer: u32,
        /// The last rank.
        last: u32,
    },
    /// No operation of the rank has this label.
    #[error("no operation of this rank has the label `{label}`")]
    UnknownLabel {
        /// The label.
        label: String,
    },
    /// The operation of a label comes later.
    #[error("the label `{label}` is used before its definition in line {defined}: move this line behind it")]
    UsedBeforeDefinition {
        /// The label.
        label: String,
        /// The line that defines it.
        defined: u64,
    },
    /// An operation can never start.
    #[error("the operation `{label}` waits, by way of others or at once, for itself")]
    Circle {
        /// A label of the operation.
        label: String,
    },
    /// A rank has too many operations.
    #[error("the rank has more than {0} operations")]
    TooManyOperations(u32),
    /// A rank has too many requirements.
    #[error("the rank has more than {0} requirements")]
    TooManyRequirements(u32),
}

fn in_rank(rank: Option<u32>) -> String {
    rank.map_or_else(String::new, |rank| format!(" (rank {rank})"))
}
