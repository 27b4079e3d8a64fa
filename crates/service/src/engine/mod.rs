//! The threads that see to it that runs are carried out: none of them is one of those that serve calls.
//!
//! A thread takes a task from the [queue](queue), has it carried out by a [worker](workers), and settles how it ended. A
//! panic while it does so is the failure of that run, and of nothing else.
//!
//! **The invariant it keeps:** whatever happens to a thread, the run that it had is in a last state afterwards, or will be
//! taken up again by the next start of the server.

mod attempt;
mod cancel;
mod child;
pub(crate) mod control_groups;
mod course;
mod idle;
pub(crate) mod process;
pub(crate) mod queue;
mod retry;
mod reuse;
pub(crate) mod slurm;
pub(crate) mod sweep;
mod sweep_details;
mod transitions;
pub(crate) mod workers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::descriptors;
use crate::domain::{Artifact, FailureReason, RunFailure, State, Summary};
use crate::limits::Limits;
use crate::meters::Meters;
use crate::store::artifacts;
use crate::store::runs::{self, Stored};
use crate::store::{Store, StoreError, Writing, files};
use crate::trace_context;
use crate::watch::Hub;
use crate::worker::panic_message;
use attempt::AttemptFolder;
use queue::{Control, Kind, Queue, Task, Work};
use transitions::{Consequences, End};
use workers::Workers;

/// How long to wait before trying again to write down how a run ended.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The threads that carry out runs.
pub(crate) struct Engine {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What all threads work with.
pub(crate) struct Shared {
    pub store: Arc<Store>,
    pub hub: Arc<Hub>,
    pub limits: Arc<Limits>,
    pub meters: Arc<Meters>,
    pub queue: Queue,
    /// The version of the program, as it stands in reports: checkpoints of others are not used.
    pub version: String,
    /// What carries out runs.
    pub workers: Box<dyn Workers>,
    sweeps: sweep::Sweeps,
}

/// How carrying out a task has ended.
pub(crate) enum Outcome {
    /// With results.
    Succeeded(Found),
    /// In another last state, with what there is.
    Ended(State, Option<RunFailure>, Box<Found>),
    /// Without results.
    Failed(RunFailure),
    /// Because somebody asked for it.
    Cancelled,
    /// Because the server stops: it will go on.
    Suspended,
    /// Not yet: it waits to be simulated.
    Waiting,
}

/// What is left behind.
#[derive(Default)]
pub(crate) struct Found {
    /// Files, with the folder that they are in.
    left: Option<(AttemptFolder, Vec<Artifact>)>,
    summary: Option<Summary>,
    result_digest: String,
    packet_hops: u64,
    note: String,
}

fn failed(reason: FailureReason, message: impl Into<String>) -> Outcome {
    Outcome::Failed(RunFailure::new(reason, message))
}

impl From<StoreError> for Outcome {
    fn from(error: StoreError) -> Self {
        match error {
            // The next start tries again.
            StoreError::Closed => Self::Suspended,
            error => Self::Failed((&error).into()),
        }
    }
}

impl Engine {
    /// Starts the threads, and takes up again what was not finished when the server stopped last.
    pub(crate) fn start(
        store: Arc<Store>,
        hub: Arc<Hub>,
        limits: Arc<Limits>,
        meters: Arc<Meters>,
        version: String,
        workers: Box<dyn Workers>,
    ) -> Result<Self, StoreError> {
        let engine = Self::without_threads(store, hub, limits, meters, version, workers)?;
        engine.spawn(carry_out)?;
        Ok(engine)
    }

    fn without_threads(
        store: Arc<Store>,
        hub: Arc<Hub>,
        limits: Arc<Limits>,
        meters: Arc<Meters>,
        version: String,
        workers: Box<dyn Workers>,
    ) -> Result<Self, StoreError> {
        let queue = Queue::new(&limits);
        let sweeps = sweep::Sweeps::default();
        let shared = Arc::new(Shared { store, hub, limits, meters, queue, version, workers, sweeps });
        let engine = Self { shared, threads: Mutex::default() };
        engine.recover()?;
        Ok(engine)
    }

    fn spawn(
        &self,
        work: impl Fn(&Shared, &Task, &Control) -> Outcome + Clone + Send + 'static,
    ) -> Result<(), StoreError> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        // One more than runs are simulated at once: what takes no threads of simulations waits for none of them.
        let kinds = std::iter::once(Kind::Light);
        let kinds = kinds.chain((0..self.shared.limits.concurrent_runs_max.max(1)).map(|_| Kind::Any));
        for (index, kind) in kinds.enumerate() {
            let (shared, work) = (self.shared.clone(), work.clone());
            let thread = std::thread::Builder::new().name(format!("engine-{index}"));
            let thread = thread.spawn(move || work_until_stopped(&shared, kind, work));
            threads.push(thread.map_err(|error| StoreError::Broken(format!("cannot start a thread: {error}")))?);
        }
        Ok(())
    }

    /// Lets everything wait again that has not reached a last state.
    fn recover(&self) -> Result<(), StoreError> {
        let shared = &self.shared;
        let found = shared.store.read_blocking(runs::not_ended)?;
        let kept = shared.limits.events_kept_max;
        let goes_on = |stored: &&Stored| stored.damage.is_none() && stored.run.state != State::Cancelling;
        shared.workers.keep_only(&found.iter().filter(goes_on).map(|stored| stored.number).collect());
        for stored in found {
            let (number, progress) = (stored.number, stored.run.progress);
            if stored.damage.is_some() {
                let failed = move |w: &mut Writing<'_>| transitions::end(w, number, End::of(State::Failed), kept);
                follow_up(shared, &shared.store.write_blocking(failed)?);
            } else if stored.run.sweep.is_some() {
                if progress.children_ended == progress.children {
                    shared.queue.put([Task::finish_sweep(&stored)]);
                }
            } else if stored.run.state == State::Cancelling {
                let end = move |w: &mut Writing<'_>| transitions::end(w, number, End::of(State::Cancelled), kept);
                follow_up(shared, &shared.store.write_blocking(end)?);
            } else {
                shared.queue.put([Task::of(&stored)]);
            }
        }
        Ok(())
    }

    /// Places for runs that are to be accepted.
    pub(crate) fn queue(&self) -> &Queue {
        &self.shared.queue
    }

    /// Runs write their checkpoints, and their threads end.
    pub(crate) fn stop(&self) {
        self.shared.queue.stop();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("an engine thread has panicked");
            }
        }
    }
}

fn carry_out(shared: &Shared, task: &Task, control: &Control) -> Outcome {
    let outcome = patiently(&shared.queue, descriptors::are_short, || match task.work {
        Work::Simulate => attempt::carry_out(shared, task, control),
        Work::FinishSweep => sweep::finish(shared, task),
        Work::Reuse => reuse::carry_out(shared, task, control),
    });
    outcome.unwrap_or_else(Outcome::from)
}

/// Does something again that has failed for want of file descriptors or of room on the disk, until there is some or the
/// server stops: that is no reason for a run to fail. By the time it is asked, the want may have passed, so everything has a
/// second try.
fn patiently<T>(
    queue: &Queue,
    are_short: impl Fn() -> bool,
    mut work: impl FnMut() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut is_second = false;
    loop {
        match work() {
            Err(error) if error.passes() => wait_for(queue, &error.to_string())?,
            Err(StoreError::Broken(problem)) if are_short() => wait_for(queue, &problem)?,
            Err(StoreError::Broken(_)) if !is_second => is_second = true,
            other => return other,
        }
    }
}

/// Waits a while for something that may pass.
fn wait_for(queue: &Queue, problem: &str) -> Result<(), StoreError> {
    if queue.is_stopping() {
        return Err(StoreError::Closed);
    }
    tracing::warn!(problem, "it is tried again");
    queue.pause(RETRY_AFTER);
    Ok(())
}

fn work_until_stopped(shared: &Shared, kind: Kind, work: impl Fn(&Shared, &Task, &Control) -> Outcome) {
    while let Some((task, control)) = shared.queue.take(kind) {
        let span = tracing::info_span!("run", run = %task.run);
        trace_context::go_on(&span, &task.traceparent);
        let _entered = span.enter();
        tracing::info!(work = ?task.work, "begins");
        let outcome = catch_unwind(AssertUnwindSafe(|| work(shared, &task, &control)));
        let outcome = outcome.unwrap_or_else(|panic| {
            failed(FailureReason::Panicked, format!("the simulator panicked: {}", panic_message(&*panic)))
        });
        settle(shared, &task, outcome);
        shared.queue.done(&control);
    }
}

/// Writes down how a task ended, again and again if it must be.
fn settle(shared: &Shared, task: &Task, outcome: Outcome) {
    let (mut state, mut failure, mut found) = match outcome {
        Outcome::Suspended => return tracing::info!("is suspended"),
        Outcome::Waiting => return tracing::info!("waits to be simulated"),
        Outcome::Succeeded(found) => (State::Succeeded, None, found),
        Outcome::Ended(state, failure, found) => (state, failure, *found),
        Outcome::Failed(failure) => (State::Failed, Some(failure), Found::default()),
        Outcome::Cancelled => (State::Cancelled, None, Found::default()),
    };
    let artifacts = match take_in(shared, task, found.left.take()) {
        Ok(artifacts) => artifacts,
        Err(StoreError::Closed) => return tracing::info!("is suspended"),
        Err(error) => {
            files::remove_run(shared.store.folder(), task.number);
            (state, failure, found) = (State::Failed, Some((&error).into()), Found::default());
            Vec::new()
        }
    };
    tracing::info!(?state, error = failure.as_ref().map(|failure| failure.message.as_str()), "ends");
    loop {
        let end = End {
            state,
            failure: failure.clone(),
            note: found.note.clone(),
            summary: found.summary,
            packet_hops: found.packet_hops,
            result_digest: found.result_digest.clone(),
            artifacts: artifacts.clone(),
        };
        let (number, kept) = (task.number, shared.limits.events_kept_max);
        match shared.store.write_blocking(move |writing| transitions::end(writing, number, end, kept)) {
            Ok(consequences) => {
                files::remove_all(&files::checkpoint(shared.store.folder(), task.number));
                if state == State::Succeeded
                    && !task.sweep.is_empty()
                    && let Err(error) = shared.sweeps.put(shared, task)
                {
                    tracing::error!(%error, "cannot tell the sweep");
                }
                return follow_up(shared, &consequences);
            }
            // The server stops: the next start takes it up again.
            Err(StoreError::Closed) => return,
            Err(error) => tracing::error!(%error, "cannot write down how a run ended"),
        }
        if shared.queue.is_stopping() {
            return;
        }
        shared.queue.pause(RETRY_AFTER);
    }
}

/// Makes what an attempt has left the files of its run.
fn take_in(
    shared: &Shared,
    task: &Task,
    left: Option<(AttemptFolder, Vec<Artifact>)>,
) -> Result<Vec<Artifact>, StoreError> {
    let Some((attempt, artifacts)) = left else { return Ok(Vec::new()) };
    let take_in = || artifacts::take_in(shared.store.folder(), task.number, attempt.path());
    patiently(&shared.queue, descriptors::are_short, take_in)?;
    Ok(artifacts)
}

fn follow_up(shared: &Shared, consequences: &Consequences) {
    shared.queue.put(consequences.finish.iter().map(Task::finish_sweep));
}

#[cfg(test)]
mod tests;
