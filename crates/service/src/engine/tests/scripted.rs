//! What becomes of runs whose workers do as they are told here.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::*;
use crate::worker::protocol::{Ending, Message, Results};

/// What one worker after the other says; the last of them for all that follow.
struct Scripted {
    scripts: Mutex<VecDeque<Script>>,
    counts: Arc<Counts>,
}

/// What a worker says, one thing after the other, and then nothing more.
type Script = Vec<Result<Message, RunFailure>>;

#[derive(Default)]
struct Counts {
    started: AtomicU32,
    revoked: AtomicU32,
    /// Whether workers go on without the server.
    go_on: AtomicBool,
    kept: Mutex<BTreeSet<i64>>,
}

struct ScriptedLease {
    script: VecDeque<Result<Message, RunFailure>>,
    counts: Arc<Counts>,
}

impl Workers for Scripted {
    fn start(&self, assignment: &Assignment) -> Result<Box<dyn Lease>, StoreError> {
        assert!(assignment.attempt.is_dir(), "there is a folder for what is found");
        self.counts.started.fetch_add(1, Ordering::Relaxed);
        let mut scripts = self.scripts.lock().expect("nobody has panicked");
        let script = if scripts.len() > 1 { scripts.pop_front() } else { scripts.front().cloned() };
        let (script, counts) = (script.unwrap_or_default().into(), self.counts.clone());
        Ok(Box::new(ScriptedLease { script, counts }))
    }

    fn keep_only(&self, runs: &BTreeSet<i64>) {
        self.counts.kept.lock().expect("nobody has panicked").clone_from(runs);
    }
}

impl Lease for ScriptedLease {
    fn next(&mut self, _: Duration) -> Result<Option<Message>, RunFailure> {
        std::thread::yield_now();
        self.script.pop_front().transpose()
    }

    fn release(&mut self) -> bool {
        self.script = VecDeque::from([Ok(Message::Ended(Ending::Suspended))]);
        self.counts.go_on.load(Ordering::Relaxed)
    }

    fn memory_bytes(&self) -> Option<u64> {
        None
    }
}

impl Drop for ScriptedLease {
    fn drop(&mut self) {
        self.counts.revoked.fetch_add(1, Ordering::Relaxed);
    }
}

fn began(cycle: u64) -> Result<Message, RunFailure> {
    Ok(Message::Began { cycle, wall: Duration::ZERO })
}

fn succeeded() -> Result<Message, RunFailure> {
    let results = Results {
        artifacts: Vec::new(),
        summary: Default::default(),
        result_digest: "abc".to_owned(),
        packet_hops: 7,
        peak_memory_bytes: None,
    };
    Ok(Message::Ended(Ending::Succeeded(results)))
}

fn lost() -> Result<Message, RunFailure> {
    Err(RunFailure::new(FailureReason::WorkerLost, "it is gone"))
}

/// An engine with such workers and a run called `one`, which it carries out.
fn carried_out(folder: &std::path::Path, scripts: Vec<Script>, limits: Limits) -> (Engine, Arc<Counts>) {
    let counts = Arc::<Counts>::default();
    let workers = Scripted { scripts: Mutex::new(scripts.into()), counts: counts.clone() };
    let engine = engine_with(folder, limits, Box::new(workers));
    accept(&engine, "one");
    engine.spawn(carry_out).expect("a thread can be started");
    (engine, counts)
}

fn one_at_a_time() -> Limits {
    Limits { concurrent_runs_max: 1, ..Limits::default() }
}

fn run(engine: &Engine) -> Run {
    stored(engine, "one").run
}

/// How the run has ended, when the engine has, too.
fn ended(engine: &Engine) -> Run {
    until(|| state(engine, "one").0.has_ended());
    engine.stop();
    let run = run(engine);
    engine.shared.store.close();
    run
}

#[test]
fn a_run_is_tried_again_where_its_worker_is_lost() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let scripts = vec![vec![began(0), lost()], vec![lost()], vec![began(50), succeeded()]];
    let (engine, counts) = carried_out(folder.path(), scripts, one_at_a_time());
    let run = ended(&engine);
    assert_eq!((run.state, run.failed_attempts, run.restarts), (State::Succeeded, 2, 1), "{:?}", run.failure);
    assert_eq!(run.result_digest, "abc");
    assert_eq!(counts.revoked.load(Ordering::Relaxed), 3, "no worker is left");
    assert!(!folder.path().join("attempts").read_dir().is_ok_and(|mut left| left.next().is_some()), "nor a folder");
}

#[test]
fn a_run_that_loses_each_worker_fails() {
    let panicked = RunFailure::new(FailureReason::Panicked, "the simulator panicked: oh");
    let poisoned = vec![began(0), Ok(Message::Ended(Ending::Failed(panicked)))];
    for (script, reason) in [(vec![lost()], FailureReason::WorkerLost), (poisoned, FailureReason::Panicked)] {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (engine, counts) = carried_out(folder.path(), vec![script], Limits { attempts_max: 2, ..one_at_a_time() });
        let run = ended(&engine);
        let failure = run.failure.expect("it has failed");
        assert_eq!((run.state, failure.reason, run.failed_attempts), (State::Failed, reason, 2));
        assert!(failure.message.ends_with("it was tried 2 times"), "{}", failure.message);
        assert_eq!(counts.started.load(Ordering::Relaxed), 2);
    }
}

#[test]
fn a_run_that_fails_by_itself_is_not_tried_again() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let deadlock = RunFailure::new(FailureReason::Deadlock, "deadlock");
    let scripts = vec![vec![began(0), Ok(Message::Ended(Ending::Failed(deadlock.clone())))]];
    let (engine, counts) = carried_out(folder.path(), scripts, one_at_a_time());
    let run = ended(&engine);
    assert_eq!((run.state, run.failure, run.failed_attempts), (State::Failed, Some(deadlock), 0));
    assert_eq!(counts.started.load(Ordering::Relaxed), 1);
}

#[test]
fn a_worker_that_takes_too_long_or_that_nobody_wants_any_more_is_revoked() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let scripts = vec![vec![Ok(Message::Began { cycle: 0, wall: Duration::from_secs(100) })]];
    let (engine, counts) = carried_out(folder.path(), scripts, Limits { wall_time_s_max: 100, ..one_at_a_time() });
    let run = ended(&engine);
    assert_eq!(run.failure.map(|failure| failure.reason), Some(FailureReason::WallTime));
    assert_eq!(counts.revoked.load(Ordering::Relaxed), 1);

    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (engine, counts) = carried_out(folder.path(), vec![vec![began(0)]], one_at_a_time());
    until(|| state(&engine, "one").0 == State::Running);
    assert_eq!(cancel(&engine, "one").state, State::Cancelling);
    assert_eq!(ended(&engine).state, State::Cancelled);
    assert_eq!(counts.revoked.load(Ordering::Relaxed), 1);
}

#[test]
fn a_run_waits_for_the_next_start_when_the_server_stops() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (engine, counts) = carried_out(folder.path(), vec![vec![began(0)]], one_at_a_time());
    until(|| state(&engine, "one").0 == State::Running);
    engine.stop();
    assert_eq!((run(&engine).state, run(&engine).failed_attempts), (State::Running, 0));
    assert_eq!(counts.revoked.load(Ordering::Relaxed), 1);
    engine.shared.store.close();
}

#[test]
fn a_worker_that_goes_on_without_the_server_is_found_by_the_next() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (engine, counts) = carried_out(folder.path(), vec![vec![began(0)]], one_at_a_time());
    counts.go_on.store(true, Ordering::Relaxed);
    until(|| state(&engine, "one").0 == State::Running);
    engine.stop();
    assert_eq!((run(&engine).state, run(&engine).failed_attempts), (State::Running, 0));
    engine.shared.store.close();
    drop(engine);
    let counts = Arc::<Counts>::default();
    let workers = Scripted { scripts: Mutex::new([vec![began(7), succeeded()]].into()), counts: counts.clone() };
    let engine = engine_with(folder.path(), one_at_a_time(), Box::new(workers));
    let number = stored(&engine, "one").number;
    assert_eq!(*counts.kept.lock().expect("nobody has panicked"), BTreeSet::from([number]));
    engine.spawn(carry_out).expect("a thread can be started");
    assert_eq!(ended(&engine).state, State::Succeeded);
}
