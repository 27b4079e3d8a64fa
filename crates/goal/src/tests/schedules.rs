//! Both forms say the same.

use proptest::prelude::*;

use super::generated::texts;
use super::{binary, open, operations, text, walk};

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
