//! Which runs are not to be kept: a function of what there is, of the limits, and of the time.

use crate::store::ended::Ended;

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// Runs that ended at most so many milliseconds ago.
    pub age_ms_max: Option<u64>,
    /// Of these the youngest whose artifacts take together at most so many bytes.
    pub bytes_max: Option<u64>,
}

/// Why a run is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    TooOld,
    TooLarge,
}

/// What is not to be kept, the oldest first.
pub(super) fn of(mut found: Vec<Ended>, kept: Kept, now_ms: i64) -> Vec<(Ended, Why)> {
    // Of those that ended at the same time, the one that was accepted first is older.
    found.sort_by_key(|run| (run.ended_ms, run.number));
    let age_ms = |run: &Ended| u64::try_from(now_ms.saturating_sub(run.ended_ms)).unwrap_or(0);
    let is_too_old = |run: &Ended| kept.age_ms_max.is_some_and(|age_ms_max| age_ms(run) > age_ms_max);
    // Together they may have more than the numbers of one.
    let mut bytes: u128 = found.iter().filter(|run| !is_too_old(run)).map(|run| u128::from(run.bytes)).sum();
    let mut why = |run: &Ended| {
        if is_too_old(run) {
            return Some(Why::TooOld);
        }
        // One that takes no room makes none.
        let is_too_large = run.bytes > 0 && kept.bytes_max.is_some_and(|bytes_max| bytes > bytes_max.into());
        is_too_large.then(|| {
            bytes -= u128::from(run.bytes);
            Why::TooLarge
        })
    };
    found.into_iter().filter_map(|run| why(&run).map(|why| (run, why))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: i64 = 1_000;

    prop_compose! {
        fn runs()(some in prop::collection::vec((0..=NOW + 100, prop_oneof![Just(0), 1..100u64, Just(u64::MAX)]), 0..30))
            -> Vec<Ended> {
            let ended = |(number, (ended_ms, bytes))| Ended { number, id: number.to_string(), ended_ms, bytes };
            (1..).zip(some).map(ended).collect()
        }
    }

    fn kept() -> impl Strategy<Value = Kept> {
        let limit = || prop::option::of(0..NOW as u64);
        (limit(), limit()).prop_map(|(age_ms_max, bytes_max)| Kept { age_ms_max, bytes_max })
    }

    fn bytes<'r>(runs: impl IntoIterator<Item = &'r Ended>) -> u128 {
        runs.into_iter().map(|run| u128::from(run.bytes)).sum()
    }

    proptest! {
        #[test]
        fn what_is_left_keeps_to_the_limits_and_nothing_else_is_deleted(found in runs(), kept in kept()) {
            let deleted = of(found.clone(), kept, NOW);
            let is_deleted = |run: &&Ended| deleted.iter().any(|(other, _)| other == *run);
            let left: Vec<&Ended> = found.iter().filter(|run| !is_deleted(run)).collect();
            prop_assert_eq!(left.len() + deleted.len(), found.len(), "each is deleted once");
            let too_old = |run: &Ended| kept.age_ms_max.is_some_and(|max| NOW - run.ended_ms > max as i64);
            prop_assert!(!left.iter().any(|run| too_old(run)));
            prop_assert!(kept.bytes_max.is_none_or(|max| bytes(left.iter().copied()) <= max.into()));
            for (run, why) in &deleted {
                prop_assert_eq!(*why == Why::TooOld, too_old(run));
            }
            // The last that is deleted for its room has to be: with it there would be too much.
            if let Some((last, _)) = deleted.iter().rev().find(|(_, why)| *why == Why::TooLarge) {
                let max = kept.bytes_max.expect("there is a limit");
                prop_assert!(bytes(left.iter().copied().chain([last])) > max.into());
            }
        }

        #[test]
        fn the_oldest_go_first_in_whatever_order_they_are_found(
            (found, shuffled) in runs().prop_flat_map(|runs| (Just(runs.clone()), Just(runs).prop_shuffle())), kept in kept(),
        ) {
            let deleted = of(found.clone(), kept, NOW);
            prop_assert_eq!(&deleted, &of(shuffled, kept, NOW));
            let age = |run: &Ended| (run.ended_ms, run.number);
            prop_assert!(deleted.is_sorted_by_key(|(run, _)| age(run)));
            let is_deleted = |run: &Ended| deleted.iter().any(|(other, _)| other == run);
            for run in found.iter().filter(|run| run.bytes > 0 && !is_deleted(run)) {
                prop_assert!(deleted.iter().all(|(other, _)| age(other) < age(run)), "{:?} is older", run);
            }
        }

        #[test]
        fn without_limits_all_is_kept(found in runs()) {
            prop_assert_eq!(of(found, Kept { age_ms_max: None, bytes_max: None }, NOW), []);
        }
    }
}
