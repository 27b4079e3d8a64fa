//! Both forms say the same.

use proptest::prelude::*;

use super::generated::texts;
use super::{binary, open, operations, text, walk};
use crate::{Cache, Kind};

/// More ranks than the writer keeps entries of the table for.
#[test]
fn tables_of_many_ranks_are_whole() {
    const RANKS: u32 = 10_000;
    let mut original = format!("num_ranks {RANKS}\n");
    for rank in 0..RANKS {
        original.push_str(&format!("rank {rank} {{\nl0: send {rank}b to {}\n}}\n", RANKS - 1 - rank));
    }
    let bytes = binary(&original);
    let schedule = open(&bytes).expect("a good file");
    assert_eq!((schedule.ranks(), schedule.operations(), schedule.bytes_max()), (RANKS, 10_000, 9999));
    for rank in 0..RANKS {
        let kind = schedule.operation(rank, 0, &mut Cache::default()).expect("it is there").kind;
        assert_eq!(kind, Kind::Send { to: RANKS - 1 - rank, size: rank.into(), tag: Some(0) });
    }
    assert_eq!(binary(&text(&schedule)), bytes);
}

/// More operations than blocks of the cache hold, read from the end to the beginning and in jumps.
#[test]
fn operations_are_read_in_any_order() {
    const OPERATIONS: u32 = 2000;
    let body: String = (0..OPERATIONS).map(|operation| format!("calc {operation}\n")).collect();
    let schedule = open(&binary(&format!("num_ranks 2\nrank 0 {{}}\nrank 1 {{\n{body}}}"))).expect("a good file");
    let mut cache = Cache::default();
    let jumps = (0..OPERATIONS).map(|step| step * 701 % OPERATIONS);
    for operation in (0..OPERATIONS).rev().chain(jumps) {
        let kind = schedule.operation(1, operation, &mut cache).expect("it is there").kind;
        assert_eq!(kind, Kind::Calc { nanoseconds: operation.into() });
    }
}

proptest! {
    /// What `text_to_binary` wrote comes back byte by byte.
    #[test]
    fn binary_to_text_and_back_is_the_same_file(original in texts()) {
        let bytes = binary(&original);
        let schedule = open(&bytes).expect("a good file");
        let written = text(&schedule);
        let again = binary(&written);
        prop_assert_eq!(&again, &bytes);
        // And text that this crate wrote comes back letter by letter.
        prop_assert_eq!(text(&open(&again).expect("a good file")), written);
    }

    #[test]
    fn totals_are_sums_of_ranks(original in texts()) {
        let schedule = open(&binary(&original)).expect("a good file");
        let (mut all, mut sends, mut waits) = (0, 0, 0);
        for rank in 0..schedule.ranks() {
            let counts = schedule.counts(rank);
            prop_assert_eq!(operations(&schedule, rank).len(), counts.operations as usize);
            prop_assert_eq!(schedule.roots(rank).expect("readable").len(), counts.roots as usize);
            all += u64::from(counts.operations);
            sends += u64::from(counts.sends);
            waits += u64::from(counts.requirements);
        }
        prop_assert_eq!((schedule.operations(), schedule.sends(), schedule.requirements()), (all, sends, waits));
    }

    #[test]
    fn every_order_of_walking_ends(original in texts(), seed in any::<u64>()) {
        let schedule = open(&binary(&original)).expect("a good file");
        let mut state = seed;
        for rank in 0..schedule.ranks() {
            let mut order = walk(&schedule, rank, |ready| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % ready
            });
            order.sort_unstable();
            prop_assert!(order.into_iter().eq(0..schedule.counts(rank).operations));
        }
    }

    /// Any text is either a schedule or refused.
    #[test]
    fn mutilated_texts_never_panic(original in texts(), at in any::<prop::sample::Index>(), with in "[a-z0-9{}:/* \n-]{0,3}") {
        let at = at.index(original.len() + 1);
        let mutilated = format!("{}{with}{}", &original[..at], original.get(at + 1..).unwrap_or(""));
        if let Ok((bytes, _)) = super::convert(&mutilated) {
            open(&bytes).expect("what was written is good");
        }
    }
}
