//! All ways to run a scenario.

use std::ops::ControlFlow;

use tailback_scenario::Scenario;
use tailback_sim::{Ending, Findings, Progress, Run};

use crate::scenarios::resolve;

/// Threads; 0 is the sequential executor. 8 are more than some networks have regions.
const THREADS: &[usize] = &[0, 1, 2, 3, 8];

/// How routers are dealt out to regions.
const PARTITIONS: &[&[&str]] = &[
    &["execution.partition=auto"],
    &["execution.partition=domain"],
    &["execution.partition=domain", "execution.regions=2"],
    &["execution.partition=domain", "execution.regions=3"],
    &["execution.partition=router"],
    &["execution.partition=single"],
];

/// The one digest that a scenario gives in all ways.
pub fn one_digest(name: &str) -> String {
    let scenario = resolve(name, &[]);
    let found = findings(&scenario, 0);
    let (expected, mut cycles) = (found.digest(), Cycles::new(name, found.reached));
    for (index, overrides) in PARTITIONS.iter().enumerate() {
        let other = resolve(name, overrides);
        assert_eq!(other.digest, scenario.digest, "{name}: {overrides:?} changes the scenario");
        for &threads in THREADS {
            let found = digest(&other, threads);
            assert_eq!(found, expected, "{name}: {overrides:?} on {threads} threads changes results");
        }
        // Each partition is restored with another pair of executors.
        let (before, after) = (THREADS[index % THREADS.len()], THREADS[(index + 2) % THREADS.len()]);
        for cycle in [cycles.next(), cycles.next()] {
            let found = restored_digest(&other, cycle, before, after);
            let way = format!("saved in cycle {cycle} by {before} threads, restored to {after}");
            assert_eq!(found, expected, "{name}: {overrides:?}, {way} changes results");
        }
    }
    // Where measuring begins there is something more to remember.
    let found = restored_digest(&scenario, scenario.measure.warmup, 3, 0);
    assert_eq!(found, expected, "{name}: saved when measuring begins changes results");
    expected
}

/// The digest of a run from start to end.
pub fn digest(scenario: &Scenario, threads: usize) -> String {
    findings(scenario, threads).digest()
}

fn findings(scenario: &Scenario, threads: usize) -> Findings {
    finish(&mut Run::new(scenario, threads).expect("threads start"))
}

/// The digest of a run that is written down in `cycle` and taken up by another.
fn restored_digest(scenario: &Scenario, cycle: u64, threads_before: usize, threads_after: usize) -> String {
    let mut first = Run::new(scenario, threads_before).expect("threads start");
    let ending = first.advance(cycle, go_on).expect("nothing goes wrong");
    assert_eq!((ending, first.progress().cycle), (Ending::Reached, cycle));
    let bytes = first.save().expect("a run can be written");
    let mut second = Run::new(scenario, threads_after).expect("threads start");
    second.load(&bytes).expect("and read");
    assert_eq!(second.progress(), first.progress());
    assert!(second.save().expect("it can be written again") == bytes, "what is read back is what was written");
    finish(&mut second).digest()
}

fn finish(run: &mut Run<'_>) -> Findings {
    let ending = run.finish(go_on).unwrap_or_else(|failure| panic!("{failure}: {failure:?}"));
    assert_eq!(ending, Ending::Reached);
    run.findings().unwrap_or_else(|failure| panic!("{failure}"))
}

/// Asks nobody to stop.
pub fn go_on(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Cycles all over a run, by chance but the same each time: SplitMix64, seeded by a name.
struct Cycles {
    state: u64,
    end: u64,
}

impl Cycles {
    fn new(name: &str, end: u64) -> Self {
        let state = name.bytes().fold(7, |state: u64, byte| state.wrapping_mul(31).wrapping_add(byte.into()));
        Self { state, end }
    }

    /// A cycle inside the run.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        1 + (mixed ^ mixed >> 31) % (self.end - 1)
    }
}
