//! Random schedules.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use std::fmt::Write;

/// An operation of a rank as text without a label, which may name ranks below some number.
fn operation(ranks: u32) -> impl Strategy<Value = String> {
    let tag = prop_oneof![
        Just(String::new()),
        Just(" tag -1".to_owned()),
        any::<u32>().prop_map(|tag| format!(" tag {tag}"))
    ];
    let place =
        |word: &'static str| prop_oneof![Just(String::new()), any::<u8>().prop_map(move |at| format!(" {word} {at}"))];
    let size = prop_oneof![0..100_u64, any::<u64>()];
    let peer = prop_oneof![(0..ranks).prop_map(i64::from), Just(-1)];
    (0..3, size, peer, tag, place("cpu"), place("nic")).prop_map(|(kind, size, peer, tag, cpu, nic)| {
        match (kind, peer) {
            (0, _) => format!("calc {size}{cpu}"),
            (1, 0..) => format!("send {size}b to {peer}{tag}{cpu}{nic}"),
            _ => format!("recv {size}b from {peer}{tag}{cpu}{nic}"),
        }
    })
}

/// The body of a rank. Operations wait for those behind them in an order of their own, so never for themselves, but often for one
/// further down in the text.
fn body(ranks: u32) -> impl Strategy<Value = String> {
    let operations = vec(operation(ranks), 0..30);
    let waits = vec((any::<Index>(), any::<Index>(), any::<bool>()), 0..60);
    (operations, waits, any::<bool>()).prop_map(|(operations, waits, turned)| {
        let mut text = String::new();
        for (number, operation) in operations.iter().enumerate() {
            writeln!(text, "o{number}: {operation}").expect("memory");
        }
        for (one, other, at_end) in waits.into_iter().filter(|_| !operations.is_empty()) {
            let (one, other) = (one.index(operations.len()), other.index(operations.len()));
            let (low, high) = (one.min(other), one.max(other));
            let (waits, first) = if turned { (low, high) } else { (high, low) };
            if waits != first {
                writeln!(text, "o{waits} {} o{first}", if at_end { "requires" } else { "irequires" }).expect("memory");
            }
        }
        text
    })
}

/// The text of a schedule.
pub fn texts() -> impl Strategy<Value = String> {
    (1..5_u32).prop_flat_map(|ranks| {
        vec(body(ranks), ranks as usize).prop_map(move |bodies| {
            let mut text = format!("num_ranks {ranks}\n");
            for (rank, body) in bodies.iter().enumerate() {
                write!(text, "rank {rank} {{\n{body}}}\n").expect("memory");
            }
            text
        })
    })
}
