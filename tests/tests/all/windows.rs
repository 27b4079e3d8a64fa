//! Windows cost what happens in them: regions are as many as pay off, and one thread is the caller's own.

use std::ops::ControlFlow;
use std::thread;

use tailback_scenario::{Document, Scenario};
use tailback_sim::{Plan, Run};

/// A scenario of benches with overrides.
fn bench(name: &str, overrides: &[&str]) -> Scenario {
    let path = format!("{}/../configs/bench/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the scenario is there");
    let document = overrides.iter().fold(Document::read(name, &text), |document, set| document.with(set));
    document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// The tree of 512 hosts whose links are all one cycle long, with overrides.
fn tree(overrides: &[&str]) -> Scenario {
    bench("tree-512", &[&["measure.warmup=500", "measure.cycles=3000"], overrides].concat())
}

fn digest(mut run: Run<'_>) -> String {
    run.finish(|_| ControlFlow::Continue(())).expect("nothing goes wrong");
    run.findings().expect("everything adds up").digest()
}

#[test]
fn one_thread_is_the_callers_own() {
    let scenario = tree(&[]);
    for threads in [0, 1] {
        let run = Run::new(&scenario, threads).expect("there is nothing to start");
        assert_eq!(run.ask_each_thread(|| thread::current().id()), [thread::current().id()]);
        let mut run = run;
        let (own, mut seen) = (thread::current().id(), 0);
        run.finish(|_| {
            assert_eq!(thread::current().id(), own, "no other thread simulates");
            seen += 1;
            ControlFlow::Continue(())
        })
        .expect("nothing goes wrong");
        assert!(seen > 0);
    }
}

#[test]
fn regions_are_as_many_as_pay_off() {
    let regions = |scenario: &Scenario, threads| Plan::on(scenario, threads).regions;
    let short = tree(&[]);
    assert_eq!(regions(&short, 1), 1, "a window of one cycle is not worth a second region");
    assert_eq!(regions(&short, 2), 2, "but it is worth a second thread");
    let long = tree(&["links.level4.latency=100"]);
    assert_eq!((regions(&long, 1), regions(&long, 8)), (1, 2), "one thread has all of it in the cache");
    let small = tree(&["nic.packet_flits=1112"]);
    assert_eq!(regions(&small, 2), 1, "little happens in a window");
    assert_eq!(regions(&tree(&["execution.regions=2"]), 1), 2, "who asks for regions gets them");
    assert_eq!(regions(&tree(&["execution.partition=domain"]), 1), 2);
    assert_eq!(regions(&tree(&["execution.partition=router"]), 1), 640);
}

/// A dragonfly of groups of eight routers, 33 unless overrides say otherwise.
fn dragonfly(overrides: &[&str]) -> Scenario {
    bench("dragonfly-1k", overrides)
}

#[test]
fn regions_are_as_large_as_caches_and_enough_for_all_threads() {
    let regions = |scenario: &Scenario, threads| Plan::on(scenario, threads).regions;
    let large = dragonfly(&[]);
    assert_eq!(regions(&large, 1), 2, "3,960 ports with three events for each 8 flits in 100 cycles are 148,500");
    assert_eq!((regions(&large, 2), regions(&large, 8)), (8, 32), "four for each thread");
    assert_eq!(regions(&large, 16), 33, "but no more than groups");
    assert_eq!(regions(&dragonfly(&["topology.dragonfly.g=9"]), 1), 1);
    assert_eq!(regions(&dragonfly(&["links.global.latency=1000"]), 1), 29, "more happens in a longer window");
    let slow = ["global", "local", "injection", "ejection"].map(|link| format!("links.{link}.cycles_per_flit=10"));
    let slow = slow.each_ref().map(String::as_str);
    assert_eq!(regions(&dragonfly(&slow), 1), 1, "a tenth happens where packets keep a link ten times as long");
}

/// Who watches may stop a run, keeps its checkpoints and tells its progress.
#[test]
fn whoever_watches_is_asked_in_one_region_and_where_links_are_long_too() {
    let long = ["links.level4.latency=2500", "execution.partition=domain"];
    for (overrides, regions) in [(&["execution.partition=single"][..], 1), (&long, 2)] {
        let scenario = tree(overrides);
        assert_eq!(Plan::on(&scenario, 1).regions, regions);
        let (mut run, mut seen) = (Run::new(&scenario, 1).expect("there is nothing to start"), vec![0]);
        run.finish(|progress| {
            seen.push(progress.cycle);
            ControlFlow::Continue(())
        })
        .expect("nothing goes wrong");
        let longest = seen.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(longest <= Some(1000) && seen.last() >= Some(&2500), "{regions} regions: {seen:?}");
    }
}

#[test]
fn a_run_is_taken_up_on_any_number_of_threads() {
    let scenario = tree(&["traffic.load=0.7"]);
    let run = |threads| Run::new(&scenario, threads).expect("threads start");
    let expected = digest(run(1));
    assert_eq!(digest(run(2)), expected);
    for (before, after) in [(1, 2), (2, 1)] {
        let mut first = run(before);
        first.advance(1234, |_| ControlFlow::Continue(())).expect("nothing goes wrong");
        let bytes = first.save().expect("a run can be written");
        let mut second = run(after);
        second.load(&bytes).expect("and read");
        assert_eq!(digest(second), expected, "on {before} threads, then on {after}");
    }
}
