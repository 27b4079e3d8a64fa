//! Tests of the crate as a whole.

mod damage;
mod example;
mod fronts;
mod generated;
mod public_examples;
mod schedules;
mod texts;

use std::io::Cursor;
use std::sync::Arc;

use crate::{BinaryError, Cache, Front, Operation, Schedule, Summary, TextError, binary_to_text, text_to_binary};

/// The binary form of a text.
fn convert(text: &str) -> Result<(Vec<u8>, Summary), TextError> {
    let mut binary = Cursor::new(Vec::new());
    let summary = text_to_binary(text.as_bytes(), &mut binary)?;
    Ok((binary.into_inner(), summary))
}

/// The binary form of a good text.
fn binary(text: &str) -> Vec<u8> {
    convert(text).unwrap_or_else(|error| panic!("{error}")).0
}

/// Opens a binary form.
fn open(bytes: &[u8]) -> Result<Schedule, BinaryError> {
    Schedule::open(Arc::new(bytes.to_vec()))
}

/// The schedule of a good text.
fn schedule(text: &str) -> Schedule {
    open(&binary(text)).unwrap_or_else(|error| panic!("{error}"))
}

/// The text of a schedule.
fn text(schedule: &Schedule) -> String {
    let mut text = Vec::new();
    binary_to_text(schedule, &mut text).expect("memory can be written");
    String::from_utf8(text).expect("text")
}

/// All operations of a rank, read in a row and one by one.
fn operations(schedule: &Schedule, rank: u32) -> Vec<Operation> {
    let (mut operations, mut cache) = (Vec::new(), Cache::default());
    let mut visit = |index, operation| {
        assert_eq!(index as usize, operations.len());
        assert_eq!(schedule.operation(rank, index, &mut cache).expect("it is there"), operation);
        operations.push(operation);
    };
    schedule.visit_operations(rank, &mut visit).expect("the rank is there");
    operations
}

/// Walks a rank to its end, always with the operation that `choose` picks of those that are ready. Gives the order.
fn walk(schedule: &Schedule, rank: u32, mut choose: impl FnMut(usize) -> usize) -> Vec<u32> {
    let (mut front, mut ready, mut order) = (Front::new(schedule, rank), Vec::new(), Vec::new());
    front.begin(schedule, &mut ready).expect("readable");
    while !ready.is_empty() {
        let (operation, _) = ready.remove(choose(ready.len()));
        front.started(operation, schedule, &mut ready).expect("readable");
        front.finished(operation, schedule, &mut ready).expect("readable");
        order.push(operation);
    }
    assert!(front.is_done(), "no operation waits for ever");
    assert_eq!(front.waiting_count(), 0);
    order
}
