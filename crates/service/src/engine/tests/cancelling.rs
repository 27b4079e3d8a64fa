//! Runs that are cancelled, retried or deleted while a thread has them.

use std::sync::mpsc;

use super::*;
use crate::access::Role;
use crate::api_error::ApiError;
use crate::domain::{Progress, RetryRequest, SweepRequest};

type Taken = (Task, Arc<Control>);

/// What a thread would do next.
fn take(engine: &Engine) -> Taken {
    assert_eq!(engine.shared.queue.counts().0, 1, "it waits");
    engine.shared.queue.take(Kind::Any).expect("there is room")
}

fn request(run: &str, request: &str) -> RetryRequest {
    RetryRequest { run_id: run.to_owned(), request_id: request.to_owned() }
}

fn retry(engine: &Engine, id: &str) -> Result<Stored, ApiError> {
    call(engine.retry(request(id, ""), String::new(), |_| Ok(())))
}

#[test]
fn a_run_that_has_the_name_of_another_gets_nothing_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let engine = engine(folder.path());
    accept(&engine, "one");
    let (task, _) = take(&engine);
    let shared = &engine.shared;
    shared.store.write_blocking(|writing| runs::delete(writing, "one")).expect("it can be written");
    accept(&engine, "one");
    assert!(transitions::begin(shared, &task, 0).is_err());
    assert!(transitions::attempt_failed(shared, &task, &endless_failure()).is_err());
    settle(shared, &task, Outcome::Succeeded(Found { result_digest: "abc".to_owned(), ..Found::default() }));
    let run = stored(&engine, "one").run;
    assert_eq!((run.state, run.failed_attempts, run.result_digest.as_str()), (State::Pending, 0, ""));
    shared.store.close();
}

#[test]
fn a_run_that_waits_ends_at_once_and_one_that_a_thread_has_when_the_thread_ends_it() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let limits = Limits { concurrent_runs_max: 2, threads_max: 2, ..Limits::default() };
    let engine = engine_with(folder.path(), limits, Box::new(NoWorkers));
    let shared = &engine.shared;
    for (id, reuse) in [("simulated", false), ("reused", true)] {
        let new = new(id, Execution::default());
        accept_as(&engine, New { run: Run { reuse, ..new.run }, ..new });
        assert_eq!((cancel(&engine, id).state, shared.queue.counts()), (State::Cancelled, (0, 0)));
        retry(&engine, id).expect("it was cancelled");
        let (task, control) = take(&engine);
        assert_eq!((cancel(&engine, id).state, control.is_cancelled()), (State::Cancelling, true));
        let refused = retry(&engine, id).expect_err("a thread has it");
        assert_eq!(refused, ApiError::RunNotEnded { run: id.to_owned(), state: State::Cancelling });
        settle(shared, &task, carry_out(shared, &task, &control));
        assert_eq!(state(&engine, id), (State::Cancelled, None));
        // The thread is not done yet.
        retry(&engine, id).expect("it was cancelled");
        let (again, second) = take(&engine);
        shared.queue.done(&control);
        assert!(transitions::begin(shared, &again, 0).expect("it can be written"));
        settle(shared, &again, Outcome::Succeeded(Found::default()));
        shared.queue.done(&second);
        assert_eq!(state(&engine, id), (State::Succeeded, None));
        assert_eq!((shared.queue.counts(), shared.queue.memory_reserved()), ((0, 0), 0));
    }
    shared.store.close();
}

#[test]
fn who_may_not_change_a_run_changes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let engine = engine(folder.path());
    let refusal = || ApiError::NotAllowed { role: Role::Submit, owner: None };
    accept(&engine, "one");
    let refused = call(engine.cancel("one".to_owned(), move |_| Err(refusal())));
    assert_eq!((refused.err(), engine.shared.queue.counts()), (Some(refusal()), (1, 0)));
    assert_eq!(state(&engine, "one").0, State::Pending);
    cancel(&engine, "one");
    let refused = call(engine.retry(request("one", ""), String::new(), move |_| Err(refusal())));
    assert_eq!((refused.err(), engine.shared.queue.counts()), (Some(refusal()), (0, 0)));
    assert_eq!(state(&engine, "one").0, State::Cancelled);
    engine.shared.store.close();
}

/// Both calls find the sweep as it was; one of them is first to put it back.
#[test]
fn a_request_that_is_made_twice_at_once_puts_a_sweep_back_once() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let engine = engine(folder.path());
    let failed = |id: &str, parent: &str, sweep| {
        let (state, progress) = (State::Failed, Progress { children: 1, children_ended: 1, ..Progress::default() });
        let new = new(id, Execution::default());
        New { run: Run { parent_id: parent.to_owned(), sweep, state, progress, ..new.run }, ..new }
    };
    let runs = [failed("curve", "", Some(SweepRequest::default())), failed("curve.1", "curve", None)];
    let insert = move |writing: &mut Writing<'_>| runs.iter().try_for_each(|new| runs::insert(writing, new).map(drop));
    engine.shared.store.write_blocking(insert).expect("it can be written");
    let (open, gate) = mpsc::channel::<()>();
    let retry = || call(engine.retry(request("curve", "again"), "alice".to_owned(), |_| Ok(())));
    std::thread::scope(|scope| {
        // Whatever is to be written waits.
        let wait = move |_: &mut Writing<'_>| {
            let _ = gate.recv();
            Ok(())
        };
        scope.spawn(|| engine.shared.store.write_blocking(wait));
        let calls = [(); 2].map(|()| scope.spawn(retry));
        until(|| engine.shared.queue.reserved() == 2);
        drop(open);
        for call in calls {
            let run = call.join().expect("it does not panic").expect("it has failed").run;
            assert_eq!((run.state, run.progress.children_ended), (State::Running, 0));
        }
    });
    let (task, _) = take(&engine);
    assert_eq!((task.run.as_str(), task.work), ("curve.1", Work::Simulate));
    engine.shared.store.close();
}
