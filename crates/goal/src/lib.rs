//! GOAL schedules: what each rank of a parallel program sends, receives and computes, and what waits for what.
//!
//! A schedule comes as text that people and generators write, or in the binary form that simulators read.
//! [`text_to_binary`] and [`binary_to_text`] turn one into the other. A [`Schedule`] is a binary file that was checked from
//! end to end; it is read piece by piece where it lies. A [`Front`] knows which operations of a rank may start.
//!
//! `README.md` has both forms, their limits, and what had to be interpreted.
//!
//! **What this crate must never know:** networks, time, and where files lie; readers and writers are passed in.
//!
//! **The invariant it keeps:** a schedule that was opened can be walked to its end: each operation of each rank gets its
//! turn once all it waits for has started or finished, and memory follows the operations that are waited for, not the file.

mod binary_error;
mod block;
mod check;
mod circle;
mod front;
mod gather;
mod labels;
mod layout;
mod line;
mod operation;
mod read_at;
mod schedule;
mod statement;
mod text;
mod text_error;
mod write_binary;
mod write_text;

#[cfg(test)]
mod tests;

pub use binary_error::{BinaryError, OperationFault};
pub use block::{Cache, EDGE_BLOCK_BYTES, NODE_BLOCK_BYTES};
pub use front::Front;
pub use layout::RANKS_MAX;
pub use operation::{Kind, Operation};
pub use read_at::ReadAt;
pub use schedule::{RankCounts, Schedule};
pub use text::{LINE_BYTES_MAX, Summary, text_to_binary, text_to_binary_within};
pub use text_error::{TextError, TextReason};
pub use write_text::binary_to_text;
