//! A scenario has one result, however many ranks share it, and whichever go on with it. Here ranks are threads that have
//! nothing in common but an exchange.

use tailback_scenario::Scenario;
use tailback_sim::{Ending, InProcess, Run};

use super::matrix::{digest, go_on};
use crate::scenarios::resolve;

/// What is done with a run that each rank has built.
type Task<'t, T> = dyn Fn(&mut Run<'_>) -> T + Sync + 't;

/// Has so many ranks do something together; gives what the first one says.
fn together<T: Send>(scenario: &Scenario, ranks: usize, threads: usize, task: &Task<'_, T>) -> T {
    let rank = |exchange: InProcess| {
        let mut run = Run::together(scenario, threads, Box::new(exchange)).expect("threads start");
        task(&mut run)
    };
    std::thread::scope(|scope| {
        let exchanges = InProcess::ranks(ranks).into_iter();
        let ranks: Vec<_> = exchanges.map(|exchange| scope.spawn(move || rank(exchange))).collect();
        let mut said: Vec<T> = ranks.into_iter().map(|rank| rank.join().expect("it does not panic")).collect();
        said.swap_remove(0)
    })
}

/// The digest of a run to its end; none on other ranks than the first.
fn finish(run: &mut Run<'_>) -> Option<String> {
    let ending = run.finish(go_on).unwrap_or_else(|failure| panic!("{failure}: {failure:?}"));
    assert_eq!(ending, Ending::Reached);
    let is_first = run.gather().expect("all are there");
    is_first.then(|| run.findings().unwrap_or_else(|failure| panic!("{failure}")).digest())
}

/// On 1 to 4 ranks of 1 and 2 threads, also if others have begun.
fn check(name: &str, overrides: &[&str]) {
    let scenario = resolve(name, overrides);
    let expected = digest(&scenario, 0);
    // Some end long before their last cycle.
    let cycle = ((scenario.measure.warmup + scenario.measure.cycles) / 3).min(1000);
    for ranks in 1..=4 {
        for threads in [1, 2] {
            let found = together(&scenario, ranks, threads, &finish);
            assert_eq!(found.as_ref(), Some(&expected), "{name} on {ranks} ranks of {threads} threads");
        }
        let save = |run: &mut Run<'_>| {
            run.advance(cycle, go_on).expect("nothing goes wrong");
            run.save_together().expect("it can be written")
        };
        let state = together(&scenario, ranks, 1, &save).expect("the first rank has it");
        let go_on = |run: &mut Run<'_>| {
            run.load(&state).expect("it can be read");
            assert_eq!(run.progress().cycle, cycle);
            finish(run)
        };
        let found = together(&scenario, 5 - ranks, 1 + ranks % 2, &go_on);
        assert_eq!(found.as_ref(), Some(&expected), "{name}, begun by {ranks} ranks and ended by {}", 5 - ranks);
        let mut alone = Run::new(&scenario, 0).expect("it starts");
        assert_eq!(go_on(&mut alone), Some(expected.clone()), "{name}, begun by {ranks} ranks and ended by none");
    }
}

#[test]
fn dragonflies() {
    check("dragonfly-piggyback", &[]);
    check("dragonfly-ectn", &["execution.partition=router"]);
    check("dragonfly-long-links", &[]);
}

/// Nothing moves for as long as packets are on long links, which all ranks have to find out together.
#[test]
fn standstills() {
    check("dragonfly-long-links", &["execution.deadlock_after=\"3 cycles\"", "traffic.load=0.002"]);
}

#[test]
fn trees_and_flies() {
    check("tree-hash", &["execution.partition=domain"]);
    check("fly-ecn", &["execution.partition=router"]);
    check("cluster-mixed", &[]);
}

#[test]
fn protocols() {
    check("protocol-comprehensive", &[]);
    check("protocol-mvcm", &["execution.partition=domain"]);
    check("clos-central", &["execution.partition=router"]);
}

/// They end when all is done, which no rank knows alone.
#[test]
fn programs() {
    check("program-collectives", &["execution.partition=domain"]);
    check("program-schedules", &[]);
    check("program-shared-nodes", &[]);
}
