//! The digest depends on the model alone: not on the executor, the threads, the partition, the length of windows, or a
//! stop and restart in between.

use std::ops::ControlFlow;
use std::sync::LazyLock;

use proptest::prelude::*;
use tailback_engine::{Outcome, Rayon, Sequential, Simulation, Snapshot, SnapshotError};
use tailback_phold::{Phold, PholdRegion};

use crate::sample::{Sample, partitions, run, samples};

/// Started once: threads cost more than the runs they do here.
static POOLS: LazyLock<Vec<Rayon>> =
    LazyLock::new(|| [1, 2, 3, 8].map(|threads| Rayon::new(threads).expect("threads start")).into());

/// The same, which share all windows however short they are.
static EAGER: LazyLock<Vec<Rayon>> =
    LazyLock::new(|| [2, 3, 8].map(|threads| Rayon::new(threads).expect("threads start").eager()).into());

/// One region on one thread: what all else is held against.
fn oracle(sample: &Sample) -> (u64, u64) {
    let mut simulation = sample.model.simulation(1);
    run(&mut simulation, sample.end, &Sequential);
    Phold::digest(&simulation)
}

/// A simulation that has been stopped after `windows` windows, written down, and read into a new one.
fn restarted(sample: &Sample, regions: u32, mut windows: u32, pool: &Rayon) -> Simulation<PholdRegion> {
    let mut first = sample.model.simulation(regions).with_longest_window(1 + sample.end / 20);
    let outcome = first.run_until(sample.end, pool, |_| {
        windows = windows.saturating_sub(1);
        if windows > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let mut bytes = Vec::new();
    first.save(&mut bytes).expect("a simulation can be written");
    let mut second = sample.model.simulation(regions);
    let mut rest = bytes.as_slice();
    second.load(&mut rest).expect("and read");
    assert!(rest.is_empty(), "all that is written is read");
    assert_eq!((second.now(), Phold::digest(&second)), (first.now(), Phold::digest(&first)));
    assert!(outcome == Outcome::Stopped || second.now() == sample.end);
    second
}

proptest! {
    // Each case is some twenty runs.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_digest_is_that_of_one_region_on_one_thread(sample in samples(), other in any::<u32>(), window in 1u64..500) {
        let expected = oracle(&sample);
        for regions in partitions(&sample.model, other) {
            let mut simulation = sample.model.simulation(regions).with_longest_window(window);
            run(&mut simulation, sample.end, &Sequential);
            prop_assert_eq!(Phold::digest(&simulation), expected, "{} regions, one after the other", regions);
            for (pool, threads) in POOLS.iter().zip([1, 2, 3, 8]) {
                let mut simulation = sample.model.simulation(regions);
                run(&mut simulation, sample.end, pool);
                prop_assert_eq!(Phold::digest(&simulation), expected, "{} regions, {} threads", regions, threads);
            }
        }
    }

    /// However the batches of windows are cut, and whoever comes to share them.
    #[test]
    fn the_digest_does_not_depend_on_who_shares_windows(
        sample in samples(), other in any::<u32>(), window in 1u64..500, observed_every in 0u64..500, pool in 0usize..3,
    ) {
        let expected = oracle(&sample);
        for regions in partitions(&sample.model, other) {
            let simulation = sample.model.simulation(regions).with_longest_window(window);
            let mut simulation = simulation.with_observation_every(observed_every);
            run(&mut simulation, sample.end, &EAGER[pool]);
            prop_assert_eq!(Phold::digest(&simulation), expected, "{} regions", regions);
        }
    }

    #[test]
    fn a_stop_and_restart_leaves_no_trace(
        sample in samples(), other in any::<u32>(), windows in 1u32..40, pool in 0usize..4,
    ) {
        let expected = oracle(&sample);
        for regions in partitions(&sample.model, other) {
            let mut simulation = restarted(&sample, regions, windows, &POOLS[pool]);
            run(&mut simulation, sample.end, &Sequential);
            prop_assert_eq!(Phold::digest(&simulation), expected, "{} regions", regions);
        }
    }
}

/// Golden value: it stands on the random streams, the delays and the order of events in a tick.
#[test]
fn the_digest_of_the_default_model_never_changes() {
    let sample = Sample { model: Phold::default(), end: 20_000 };
    assert_eq!(oracle(&sample), (81_873, 284_729_908_468_215_154));
}

#[test]
fn a_snapshot_of_other_regions_is_refused() {
    let model = Phold::default();
    let mut bytes = Vec::new();
    model.simulation(4).save(&mut bytes).expect("a simulation can be written");
    let refused = model.simulation(5).load(&mut bytes.as_slice());
    assert!(matches!(refused, Err(SnapshotError::Mismatch { what: "regions", found: 4, expected: 5 })), "{refused:?}");
}
