//! Writes a schedule as text.

use std::io::{self, ErrorKind, Write};

use crate::block::Records;
use crate::layout::Node;
use crate::schedule::Rank;
use crate::{BinaryError, Kind, Operation, Schedule};

/// Writes a schedule as text. Operations are called `l0`, `l1`, ... in their order, and all that they wait for comes behind
/// them.
///
/// # Errors
/// When the text cannot be written, or the schedule not be read any more.
pub fn binary_to_text(schedule: &Schedule, text: &mut impl Write) -> io::Result<()> {
    writeln!(text, "num_ranks {}", schedule.ranks())?;
    for rank in 0..schedule.ranks() {
        writeln!(text, "\nrank {rank} {{")?;
        let mut written = Ok(());
        let visited = schedule.visit_operations(rank, |index, operation| {
            if written.is_ok() {
                written = write_operation(text, index, operation);
            }
        });
        visited.map_err(unreadable)?;
        written?;
        write_requirements(schedule, schedule.rank(rank, 0).map_err(unreadable)?, text)?;
        writeln!(text, "}}")?;
    }
    text.flush()
}

fn write_operation(text: &mut impl Write, index: u32, operation: Operation) -> io::Result<()> {
    let tag = match operation.kind {
        Kind::Send { to, size, tag } => {
            write!(text, "l{index}: send {size}b to {to}")?;
            tag
        }
        Kind::Receive { from: Some(from), size, tag } => {
            write!(text, "l{index}: recv {size}b from {from}")?;
            tag
        }
        Kind::Receive { from: None, size, tag } => {
            write!(text, "l{index}: recv {size}b from -1")?;
            tag
        }
        Kind::Calc { nanoseconds } => {
            write!(text, "l{index}: calc {nanoseconds}")?;
            Some(0)
        }
    };
    match tag {
        Some(0) => {}
        Some(tag) => write!(text, " tag {tag}")?,
        None => write!(text, " tag -1")?,
    }
    for (word, number) in [("cpu", operation.cpu), ("nic", operation.nic)] {
        if number > 0 {
            write!(text, " {word} {number}")?;
        }
    }
    writeln!(text)
}

fn write_requirements(schedule: &Schedule, rank: &Rank, text: &mut impl Write) -> io::Result<()> {
    let (mut nodes, mut edges) = (Records::default(), Records::default());
    nodes.restart(rank.nodes());
    edges.restart(rank.edges());
    let mut first = 0_u32;
    while let Some(bytes) = nodes.next(&*schedule.file)? {
        let node = Node::decode(&bytes);
        for (word, span) in [("requires", node.requires), ("irequires", node.irequires)] {
            for _ in 0..span.count {
                // The file may have changed since it was checked.
                let operation = edges.next(&*schedule.file)?.ok_or(ErrorKind::InvalidData)?;
                writeln!(text, "l{} {word} l{first}", u32::from_le_bytes(operation))?;
            }
        }
        first += 1;
    }
    Ok(())
}

fn unreadable(error: BinaryError) -> io::Error {
    match error {
        BinaryError::Read(error) => error,
        error => io::Error::new(ErrorKind::InvalidData, error),
    }
}
