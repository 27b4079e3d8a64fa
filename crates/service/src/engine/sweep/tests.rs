//! What is known of sweeps, and what is done with it.

use std::ops::ControlFlow;

use tailback_sim::Timing;

use super::*;
use crate::domain::{Progress, Run, ScenarioSource};
use crate::engine::queue::{Kind, Work};
use crate::engine::tests::engine;
use crate::engine::{Engine, settle};
use crate::store::runs::New;

const DOCUMENT: &str = r#"routing = "minimal"
topology = { dragonfly = { p = 1, a = 2, h = 1, g = 3 } }
traffic = [{ load = 0.1 }]
measure = { warmup = 10, cycles = 20 }
"#;

/// A report in which the network is saturated.
fn saturated() -> String {
    let scenario = Document::read("scenario", DOCUMENT).resolve().expect("it is good");
    let mut run = tailback_sim::Run::new(&scenario, 1).expect("it can be simulated");
    run.finish(|_| ControlFlow::Continue(())).expect("it comes to its end");
    let timing = Timing { wall_s: 1.0, cpu_s: 1.0, peak_rss_bytes: None };
    let mut report = run.findings().expect("it has ended").report(&scenario, "test", &timing);
    report.total.saturated = true;
    report.to_json()
}

/// A sweep of two loads, the lower of which has succeeded: it, and its two runs.
fn accept(engine: &Engine, report: &str) -> [Stored; 3] {
    let over = vec!["traffic.load=0.1,0.2".to_owned()];
    let sweep = Some(SweepRequest { over, ..SweepRequest::default() });
    let progress = Progress { children: 2, children_ended: 1, ..Progress::default() };
    let sweep = Run { id: "curve".to_owned(), state: State::Running, sweep, progress, ..Run::default() };
    let child = |child_number, state| {
        let (id, parent_id) = (format!("curve.{child_number}"), sweep.id.clone());
        Run { id, parent_id, child_number, state, ..Run::default() }
    };
    let runs = [child(1, State::Succeeded), child(2, State::Pending)];
    let runs = [sweep.clone()].into_iter().chain(runs).map(|run| New {
        run,
        scenario: ScenarioSource { document: DOCUMENT.into(), ..ScenarioSource::default() },
        document_hash: runs::document_hash(DOCUMENT),
        threads: 1,
        memory_bytes: 1,
    });
    let (runs, folder) = (runs.collect::<Vec<_>>(), engine.shared.store.folder().to_owned());
    let file = File::new("report.json", report);
    let insert = move |writing: &mut Writing<'_>| {
        let stored = runs.iter().map(|new| runs::insert(writing, new)).collect::<Result<Vec<_>, _>>()?;
        let to = files::artifacts(&folder, stored[1].number);
        std::fs::create_dir_all(&to).expect("there is room");
        let written = artifacts::write(&to, &[file], u64::MAX).expect("there is room");
        artifacts::insert(writing, stored[1].number, &written)?;
        Ok(stored.try_into().expect("there are three"))
    };
    engine.shared.store.write_blocking(insert).expect("it can be written")
}

fn run(engine: &Engine, of: &Stored) -> Run {
    engine.shared.store.read_blocking(|connection| runs::get_number(connection, of.number)).expect("it is there").run
}

fn known(engine: &Engine) -> Vec<i64> {
    engine.shared.sweeps.known().keys().copied().collect()
}

#[test]
fn what_is_not_needed_is_ended_by_whoever_has_it() {
    let report = saturated();
    for is_taken in [false, true] {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let engine = engine(folder.path());
        let shared = &engine.shared;
        let [sweep, low, high] = accept(&engine, &report);
        shared.queue.put([Task::of(&high)]);
        let taken = is_taken.then(|| shared.queue.take(Kind::Any).expect("it waits"));
        shared.sweeps.put(shared, &Task::of(&low)).expect("it can be told");
        if let Some((task, control)) = taken {
            assert_eq!((run(&engine, &high).state, control.is_cancelled()), (State::Cancelling, true));
            settle(shared, &task, Outcome::Cancelled);
            shared.queue.done(&control);
        }
        let ended = run(&engine, &high);
        assert_eq!((ended.state, ended.beyond_end, ended.note.as_str()), (State::Cancelled, true, BEYOND_END));
        assert_eq!(shared.queue.counts(), (1, 0), "all have ended");
        let (table, _) = shared.queue.take(Kind::Light).expect("it waits");
        assert_eq!((table.number, table.work), (sweep.number, Work::FinishSweep));
        shared.store.close();
    }
}

#[test]
fn of_what_has_ended_or_is_deleted_nothing_is_known_whatever_its_name() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (engine, report) = (engine(folder.path()), saturated());
    let shared = &engine.shared;
    let [sweep, low, _] = accept(&engine, &report);
    let put = |low: &Stored| shared.sweeps.put(shared, &Task::of(low)).expect("it can be told");
    put(&low);
    assert_eq!(known(&engine), [sweep.number]);
    let delete = |writing: &mut Writing<'_>| runs::delete(writing, "curve").map(drop);
    shared.store.write_blocking(delete).expect("it can be written");
    let [other, other_low, other_high] = accept(&engine, &report);
    put(&low);
    assert_eq!(run(&engine, &other_high).state, State::Pending, "that is of another sweep");
    shared.queue.put([Task::of(&other_high)]);
    put(&other_low);
    assert_eq!((run(&engine, &other_high).state, known(&engine)), (State::Cancelled, vec![other.number]));
    // Its table is made; a thread tells late how a run has ended.
    shared.sweeps.forget(other.number);
    put(&other_low);
    assert_eq!(known(&engine), [0; 0]);
    shared.store.close();
}
