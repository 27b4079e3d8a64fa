//! Carrying out a run by workers, in as many attempts as it may have.
//!
//! **The invariant it keeps:** when an attempt ends, its worker is gone, has nothing to do, or does what counts for nothing; unless the server stops and
//! leaves it to the next. Gone is what it has left but for the results of a run that has succeeded and its last checkpoint.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::course::Course;
use super::queue::{Control, Task};
use super::workers::Lease;
use super::{Found, Outcome, RETRY_AFTER, Shared, failed, transitions, wait_for};
use crate::admission::WORKER_BYTES;
use crate::domain::{FailureReason, Run, RunFailure, Sample, State, TakenSample, now_ms};
use crate::meters::MemoryUsed;
use crate::store::runs;
use crate::store::{StoreError, events, files, samples};
use crate::watch::Channel;
use crate::worker::protocol::{Assignment, Ending, Message};

/// How long a worker may say nothing before it is looked whether anything else is to be done.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Sequence numbers that are reserved at once for samples.
const RESERVED: i64 = 256;

/// The folder of an attempt, removed when it is dropped unless what is in it was taken in.
pub(super) struct AttemptFolder(PathBuf);

impl AttemptFolder {
    pub(super) fn make(shared: &Shared, number: i64) -> Result<Self, StoreError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // A worker of a server that was killed may not have noticed yet: its folder has the number of another process.
        let name = (u64::from(std::process::id()) << 32) | (count & u64::from(u32::MAX));
        files::make_attempt(shared.store.folder(), number, name).map(Self)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for AttemptFolder {
    fn drop(&mut self) {
        files::remove_all(&self.0);
    }
}

/// Carries out a run: if an attempt fails, it is tried again from the last checkpoint, unless it was the last it may have.
pub(super) fn carry_out(shared: &Shared, task: &Task, control: &Control) -> Result<Outcome, StoreError> {
    loop {
        let failure = match attempt(shared, task, control)? {
            Outcome::Failed(failure) if failure.reason.ends_an_attempt() => failure,
            // It was told to by somebody else, a scheduler whose time for it is up, and has written a checkpoint.
            Outcome::Suspended if !shared.queue.is_stopping() => continue,
            outcome => return Ok(outcome),
        };
        tracing::warn!(error = failure.message, details = ?failure.details, "an attempt has failed");
        shared.meters.attempt_failed();
        match transitions::attempt_failed(shared, task, &failure)? {
            (State::Running, count) if count < shared.limits.attempts_max => shared.queue.pause(RETRY_AFTER),
            (State::Running, count) => {
                let message = format!("{}; it was tried {count} times", failure.message);
                return Ok(Outcome::Failed(RunFailure { message, ..failure }));
            }
            _ => return Ok(Outcome::Cancelled),
        }
        if shared.queue.is_stopping() {
            return Ok(Outcome::Suspended);
        }
    }
}

fn attempt(shared: &Shared, task: &Task, control: &Control) -> Result<Outcome, StoreError> {
    let (stored, scenario) = shared.store.read_blocking(|connection| {
        let stored = runs::get_number(connection, task.number)?;
        let scenario = runs::scenario(connection, &stored)?;
        Ok((stored, scenario))
    })?;
    // It may have been asked to stop before it waited, when there was no thread to be told.
    if !matches!(stored.run.state, State::Pending | State::Running) {
        return Ok(Outcome::Cancelled);
    }
    let limits = &shared.limits;
    let (folder, execution) = (AttemptFolder::make(shared, task.number)?, stored.run.execution);
    let wall_max = Duration::from_secs(limits.wall_time_s_max);
    let wall_max = execution.wall_time_max.map_or(wall_max, |wanted| wanted.min(wall_max));
    let assignment = Assignment {
        run: task.run.clone(),
        number: task.number,
        sweep: task.sweep.clone(),
        scenario,
        threads: execution.threads.unwrap_or(0),
        version: shared.version.clone(),
        data: shared.store.folder().to_owned(),
        attempt: folder.path().to_owned(),
        // Runs that an earlier version has accepted may have what was estimated, which left out the process itself.
        memory_bytes_max: task.memory_bytes.max(WORKER_BYTES),
        wall_s_max: wall_max.as_secs(),
        artifact_bytes_max: limits.artifact_bytes(execution.artifact_bytes_max),
        sample_interval_ms: limits.sample_interval_ms,
        checkpoint_interval_ms: limits.checkpoint_interval_ms,
    };
    let lease = loop {
        match shared.workers.start(&assignment) {
            Ok(lease) => break lease,
            Err(_) if control.is_cancelled() => return Ok(Outcome::Cancelled),
            Err(error) => wait_for(&shared.queue, &error.to_string())?,
        }
    };
    let attempt = Attempt {
        shared,
        task,
        control,
        lease,
        folder,
        channel: shared.hub.channel(&task.run),
        numbers: Numbers { free: 0..0, written: 0 },
        course: Course::new(Vec::new(), 0, limits.samples_kept_max),
        memory: MemoryUsed::of(&shared.meters, name_in_metrics(&stored.run)),
        wall_max,
        ends_at: None,
        is_suspended: false,
    };
    attempt.follow()
}

/// What a run is called in metrics, which everybody reads who is let in: nothing, if not everybody may know of it.
fn name_in_metrics(run: &Run) -> String {
    if run.private || !run.project.is_empty() { String::new() } else { run.id.clone() }
}

/// Numbers for samples.
struct Numbers {
    free: Range<i64>,
    /// What had been written down about the run when they were reserved.
    written: u64,
}

/// A worker at work.
struct Attempt<'r> {
    shared: &'r Shared,
    task: &'r Task,
    control: &'r Control,
    lease: Box<dyn Lease>,
    folder: AttemptFolder,
    /// To those who watch the run.
    channel: Arc<Channel>,
    numbers: Numbers,
    course: Course,
    memory: MemoryUsed,
    wall_max: Duration,
    /// When it has had all the time that it may; none before it has begun.
    ends_at: Option<Instant>,
    is_suspended: bool,
}

impl Attempt<'_> {
    /// Does what the worker makes necessary, until it ends.
    fn follow(mut self) -> Result<Outcome, StoreError> {
        let outcome = loop {
            if self.control.is_cancelled() {
                break Outcome::Cancelled;
            }
            if self.shared.queue.is_stopping() && !self.is_suspended {
                if self.lease.release() {
                    break Outcome::Suspended;
                }
                self.is_suspended = true;
            }
            if self.ends_at.is_some_and(|at| Instant::now() > at) {
                break self.took_too_long();
            }
            if let Some(bytes) = self.lease.memory_bytes() {
                self.memory.set(bytes);
            }
            match self.lease.next(LOOK_EVERY) {
                Ok(None) => {}
                Ok(Some(Message::Began { cycle, wall })) => {
                    if !transitions::begin(self.shared, self.task, cycle)? {
                        break Outcome::Cancelled;
                    }
                    let number = self.task.number;
                    let kept = self.shared.store.read_blocking(|connection| samples::list(connection, number))?;
                    self.course = Course::new(kept, cycle, self.shared.limits.samples_kept_max);
                    self.ends_at = Instant::now().checked_add(self.wall_max.saturating_sub(wall));
                }
                Ok(Some(Message::Sample(sample))) => self.put_sample(sample),
                Ok(Some(Message::Checkpoint { bytes, took })) => {
                    self.shared.meters.checkpoint(bytes, took);
                    self.write_course();
                }
                Ok(Some(Message::Ended(ending))) => {
                    self.write_course();
                    return Ok(self.end(ending));
                }
                // It was killed with the server, by whoever stops all processes at once.
                Err(_) if self.is_suspended => break Outcome::Suspended,
                Err(failure) => break Outcome::Failed(failure),
            }
        };
        self.write_course();
        Ok(outcome)
    }

    fn end(mut self, ending: Ending) -> Outcome {
        match ending {
            Ending::Succeeded(results) => {
                self.memory.had(results.peak_memory_bytes.unwrap_or(0));
                Outcome::Succeeded(Found {
                    left: Some((self.folder, results.artifacts)),
                    summary: Some(results.summary),
                    result_digest: results.result_digest,
                    packet_hops: results.packet_hops,
                    note: String::new(),
                })
            }
            Ending::Failed(failure) => Outcome::Failed(failure),
            Ending::Suspended => Outcome::Suspended,
        }
    }

    /// Its course is for people, and no reason to end a run.
    fn write_course(&mut self) {
        if let Err(error) = self.course.write(&self.shared.store, self.task.number) {
            tracing::warn!(%error, "samples are not kept");
        }
    }

    /// A sample that gets no number is left out: the next one tells more.
    fn put_sample(&mut self, sample: Sample) {
        // Whatever has been written down since the numbers were reserved has larger ones: they are of no use any more.
        let written = self.channel.written();
        if self.numbers.written != written || self.numbers.free.is_empty() {
            let number = self.task.number;
            let reserved = self.shared.store.write_blocking(move |w| events::reserve(w, number, RESERVED));
            match reserved {
                Ok(free) => self.numbers = Numbers { free, written },
                Err(error) => tracing::warn!(%error, "a sample is left out"),
            }
        }
        self.shared.meters.sample();
        if let Some(sequence) = self.numbers.free.next() {
            let taken = TakenSample { sequence, time_ms: now_ms(), sample };
            self.course.put(taken);
            self.channel.put_sample(taken);
        }
    }

    fn took_too_long(&self) -> Outcome {
        let seconds = self.wall_max.as_secs_f64();
        failed(FailureReason::WallTime, format!("the run took longer than {seconds} s, which is all that it may"))
    }
}
