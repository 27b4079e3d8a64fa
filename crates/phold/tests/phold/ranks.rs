//! The digest is the same however many ranks share a simulation, and so is what they write down together.

use std::ops::ControlFlow;

use proptest::prelude::*;
use tailback_engine::{
    ExchangeError, Executor, FIGURES, InProcess, Notice, Outcome, Ranks, Rayon, Region as _, Sequential, Simulation,
    Snapshot as _, Tick, Watcher,
};
use tailback_phold::{Phold, PholdRegion};

use crate::sample::{Sample, run, samples};

/// Lets one rank stop all after some windows.
struct Stopper {
    windows: u32,
    /// Events of all ranks, as they have been told last.
    events: u64,
}

impl Watcher<PholdRegion> for Stopper {
    fn figures(&mut self, simulation: &Simulation<PholdRegion>) -> [u64; FIGURES] {
        [simulation.regions().map(PholdRegion::events).sum(), 0, 0, 0]
    }

    fn watch(&mut self, _: Tick, notices: &[Notice]) -> ControlFlow<()> {
        self.events = notices.iter().map(|notice| notice.figures[0]).sum();
        self.windows = self.windows.saturating_sub(1);
        if self.windows > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// What the first rank has gathered at the end, or when the last rank has stopped all after some windows.
fn together(
    sample: &Sample,
    (regions, ranks): (u32, usize),
    windows: u32,
    executor: fn() -> Pool,
    state: Option<&[u8]>,
) -> (Outcome, Vec<u8>) {
    let rank = |exchange: InProcess, is_last: bool| {
        let mut ranks = Ranks::new(Box::new(exchange), &vec![1; regions as usize]);
        let mut simulation = sample.model.part(regions, ranks.mine()).with_observation_every(3);
        if let Some(mut state) = state {
            simulation.load(&mut state).expect("it was written by its like");
        }
        let mut stopper = Stopper { windows: if is_last { windows } else { u32::MAX }, events: 0 };
        let outcome = match executor() {
            Pool::One => advance(&mut simulation, sample.end, &Sequential, &mut ranks, &mut stopper),
            Pool::Two(pool) => advance(&mut simulation, sample.end, &pool, &mut ranks, &mut stopper),
        };
        let mut bytes = Vec::new();
        let mut take = |piece: &[u8]| bytes.extend_from_slice(piece);
        simulation.save_together(&mut ranks, &mut take).expect("it can be gathered");
        assert_eq!(bytes.is_empty(), !ranks.is_first());
        (outcome.expect("all ranks are there"), bytes)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = InProcess::ranks(ranks)
            .into_iter()
            .enumerate()
            .map(|(number, exchange)| scope.spawn(move || rank(exchange, number + 1 == ranks)))
            .collect();
        let mut found: Vec<_> = threads.into_iter().map(|rank| rank.join().expect("it does not panic")).collect();
        assert!(found.iter().all(|(outcome, _)| *outcome == found[0].0), "all ranks end alike");
        found.swap_remove(0)
    })
}

enum Pool {
    One,
    Two(Rayon),
}

fn two() -> Pool {
    Pool::Two(Rayon::new(2).expect("threads start").eager())
}

fn advance(
    simulation: &mut Simulation<PholdRegion>,
    end: Tick,
    executor: &impl Executor,
    ranks: &mut Ranks,
    stopper: &mut Stopper,
) -> Result<Outcome, ExchangeError> {
    simulation.run_until_together(end, executor, ranks, stopper)
}

fn read(sample: &Sample, regions: u32, mut state: &[u8]) -> Simulation<PholdRegion> {
    let mut simulation = sample.model.simulation(regions);
    simulation.load(&mut state).expect("it was written by its like");
    assert!(state.is_empty());
    simulation
}

proptest! {
    // Each case is a dozen runs with threads of their own.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn ranks_find_what_one_process_finds(sample in samples(), regions in 1u32..9, windows in 1u32..20) {
        let regions = regions.min(sample.model.processes);
        let mut alone = sample.model.simulation(regions);
        run(&mut alone, sample.end, &Sequential);
        let expected = Phold::digest(&alone);
        let mut written = Vec::new();
        alone.save(&mut written).expect("it can be written");
        for ranks in 1..=4 {
            for executor in [|| Pool::One, two] {
                let (outcome, state) = together(&sample, (regions, ranks), u32::MAX, executor, None);
                prop_assert_eq!(outcome, Outcome::Reached);
                let simulation = read(&sample, regions, &state);
                prop_assert_eq!(Phold::digest(&simulation), expected, "{} ranks", ranks);
                prop_assert_eq!(simulation.now(), sample.end);
                prop_assert!(state == written, "{} ranks write what one process writes", ranks);
            }
            // Stopped, written down, and continued by other ranks, and by one process.
            let (_, state) = together(&sample, (regions, ranks), windows, || Pool::One, None);
            let (_, end) = together(&sample, (regions, 5 - ranks), u32::MAX, two, Some(&state));
            prop_assert_eq!(Phold::digest(&read(&sample, regions, &end)), expected, "{} ranks, then others", ranks);
            let mut simulation = read(&sample, regions, &state);
            run(&mut simulation, sample.end, &Sequential);
            prop_assert_eq!(Phold::digest(&simulation), expected, "{} ranks, then none", ranks);
        }
    }
}
