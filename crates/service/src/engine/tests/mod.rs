//! What a thread survives: work that goes wrong in any way.

mod cancelling;
mod scripted;

use std::time::Instant;

use rusqlite::Connection;

use super::*;
use crate::domain::{Execution, Run, ScenarioSource};
use crate::store::runs::New;
use crate::store::{Told, Writing, events};
use crate::worker::protocol::Assignment;
use workers::Lease;

/// For work that needs none.
struct NoWorkers;

impl Workers for NoWorkers {
    fn start(&self, _: &Assignment) -> Result<Box<dyn Lease>, StoreError> {
        Err(StoreError::Broken("there are no workers".to_owned()))
    }
}

/// An engine without threads, in a folder of its own.
pub(super) fn engine(folder: &std::path::Path) -> Engine {
    engine_with(folder, Limits { concurrent_runs_max: 1, ..Limits::default() }, Box::new(NoWorkers))
}

fn engine_with(folder: &std::path::Path, limits: Limits, workers: Box<dyn Workers>) -> Engine {
    let hub = Arc::new(Hub::default());
    let meters = Arc::<Meters>::default();
    let told = Told { hub: hub.clone(), meters: meters.clone() };
    let store = Arc::new(Store::open(folder, false, told).expect("the folder can be used"));
    Engine::without_threads(store, hub, Arc::new(limits), meters, "test".to_owned(), workers)
        .expect("it can be started")
}

/// A run of nothing: what is done with it does not look at its scenario.
fn new(id: &str, execution: Execution) -> New {
    let run = Run { id: id.to_owned(), execution, ..Run::default() };
    New {
        run,
        scenario: ScenarioSource::default(),
        document_hash: runs::document_hash(""),
        threads: 1,
        memory_bytes: 1,
    }
}

fn accept(engine: &Engine, id: &str) {
    accept_as(engine, new(id, Execution::default()));
}

fn accept_as(engine: &Engine, new: New) {
    let insert = move |writing: &mut Writing<'_>| {
        let mut stored = runs::insert(writing, &new)?;
        events::append_state(writing, &mut stored, 100)?;
        Ok(stored)
    };
    let stored = engine.shared.store.write_blocking(insert).expect("it can be written");
    engine.shared.queue.put([Task::of(&stored)]);
}

fn stored(engine: &Engine, id: &str) -> Stored {
    engine.shared.store.read_blocking(|connection| runs::get(connection, id)).expect("it is there")
}

fn state(engine: &Engine, id: &str) -> (State, Option<RunFailure>) {
    let run = stored(engine, id).run;
    (run.state, run.failure)
}

/// Makes a call of the server.
fn call<T>(call: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("it can be started").block_on(call)
}

/// Asks a run to stop; gives it as it is then.
fn cancel(engine: &Engine, id: &str) -> Run {
    call(engine.cancel(id.to_owned(), |_| Ok(()))).expect("it can be").run
}

/// Waits for what other threads do.
fn until(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing happens");
        std::thread::yield_now();
    }
}

/// A failure with more to say than anybody reads.
fn endless_failure() -> RunFailure {
    let details = (0..1_000).map(|index| format!("buffer {index} waits for {}", "ä".repeat(10_000))).collect();
    RunFailure { details, ..RunFailure::new(FailureReason::Deadlock, "ü".repeat(1 << 20)) }
}

#[test]
fn what_is_kept_of_a_failure_or_a_note_is_bounded_however_much_there_is_to_say() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let engine = engine(folder.path());
    accept(&engine, "bad");
    accept(&engine, "noted");
    let work = |shared: &Shared, task: &Task, _: &Control| {
        if task.run == "noted" {
            return Outcome::Succeeded(Found { note: "n".repeat(1 << 20), ..Found::default() });
        }
        transitions::attempt_failed(shared, task, &endless_failure()).expect("it can be written");
        Outcome::Failed(endless_failure())
    };
    engine.spawn(work).expect("a thread can be started");
    until(|| state(&engine, "bad").0.has_ended() && state(&engine, "noted").0.has_ended());
    let query = "SELECT sum(length(content)) + (SELECT sum(length(content)) FROM runs) FROM events";
    let bytes = |connection: &Connection| Ok(connection.query_row(query, [], |row| row.get::<_, i64>(0))?);
    let bytes = engine.shared.store.read_blocking(bytes).expect("it can be read");
    assert!(bytes < 512 << 10, "{bytes} bytes are kept");
    let failure = state(&engine, "bad").1.expect("it has failed");
    assert!(failure.message.ends_with('…') && failure.details[0].ends_with('…'), "what was cut is told");
    assert!(failure.details[0].starts_with("buffer 0 waits for ä"));
    assert_eq!(failure.details.last().map(String::as_str), Some("and 936 more"));
    engine.stop();
    engine.shared.store.close();
}

#[test]
fn a_panic_fails_its_run_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let engine = engine(folder.path());
    accept(&engine, "bad");
    accept(&engine, "good");
    let work = |_: &Shared, task: &Task, _: &Control| {
        assert_ne!(task.run, "bad", "this one is bad");
        Outcome::Succeeded(Found::default())
    };
    engine.spawn(work).expect("a thread can be started");
    until(|| state(&engine, "good").0.has_ended());
    let (failed, error) = state(&engine, "bad");
    let error = error.expect("it has failed");
    assert_eq!((failed, error.reason), (State::Failed, FailureReason::Panicked));
    assert!(error.message.contains("this one is bad"), "{}", error.message);
    assert_eq!(state(&engine, "good"), (State::Succeeded, None));
    engine.stop();
    engine.shared.store.close();
}

#[test]
fn what_is_suspended_waits_for_the_next_start() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    {
        let engine = engine(folder.path());
        accept(&engine, "one");
        let work = |shared: &Shared, task: &Task, _: &Control| {
            transitions::begin(shared, task, 0).expect("it can be written");
            while !shared.queue.is_stopping() {
                std::thread::yield_now();
            }
            Outcome::Suspended
        };
        engine.spawn(work).expect("a thread can be started");
        until(|| state(&engine, "one").0 == State::Running);
        engine.stop();
        engine.shared.store.close();
    }
    let engine = engine(folder.path());
    engine
        .spawn(|shared, task, _| {
            assert!(transitions::begin(shared, task, 7).expect("it can be written"));
            Outcome::Succeeded(Found::default())
        })
        .expect("a thread can be started");
    until(|| state(&engine, "one").0 == State::Succeeded);
    assert_eq!(stored(&engine, "one").run.restarts, 1);
    engine.stop();
    engine.shared.store.close();
}

#[test]
fn a_want_of_descriptors_or_room_is_waited_for_and_other_failures_are_not() {
    let queue = Queue::new(&Limits::default());
    let broken = || Err::<(), _>(StoreError::Broken("cannot open".to_owned()));
    let calls = std::cell::Cell::new(0);
    let count = || calls.replace(calls.get() + 1);
    // It passes between two tries, unseen.
    assert_eq!(patiently(&queue, || false, || if count() < 1 { broken() } else { Ok(()) }), Ok(()));
    assert_eq!(calls.replace(0), 2);
    let counted = || {
        count();
        broken()
    };
    assert_eq!(patiently(&queue, || false, counted), broken());
    assert_eq!(calls.replace(0), 2);
    assert_eq!(patiently(&queue, || true, || if count() < 1 { broken() } else { Ok(()) }), Ok(()));
    // Where it is known that it was for want of one, nobody asks.
    let short = || Err::<(), _>(StoreError::Descriptors("cannot open".to_owned()));
    calls.set(0);
    assert_eq!(patiently(&queue, || false, || if count() < 1 { short() } else { Ok(()) }), Ok(()));
    calls.set(0);
    let full = || Err::<(), _>(StoreError::Full);
    assert_eq!(
        patiently(&queue, || false, || if count() < 1 { full() } else { Ok(()) }),
        Ok(()),
        "somebody makes room"
    );
    queue.stop();
    assert_eq!(patiently(&queue, || true, broken), Err(StoreError::Closed), "the next start tries again");
    assert_eq!(patiently(&queue, || false, full), Err(StoreError::Closed));
}
