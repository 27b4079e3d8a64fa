//! Processes that have carried out a run and wait for the next.
//!
//! To be loaded takes a worker longer than some runs take. One whose run has succeeded, in little memory and without a word,
//! is as good as a new one. Any other ends, and so does one that has nothing to do for a moment.
//!
//! **The invariant it keeps:** there are never more workers, at work or idle, than there were ever at work at once.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::child::Spawned;
use super::control_groups::Group;
use crate::worker::bytes_in_proc;
use crate::worker::protocol::Channel;

/// The most runs that a worker carries out.
pub(super) const RUNS_MAX: u32 = 50;
/// A worker that has ever had more memory in use does not take another run. A new one has a third of it; and no run may have
/// less than [twice as much](crate::admission::WORKER_BYTES).
const KEPT_BYTES_MAX: u64 = 32 << 20;
/// How long a worker may have nothing to do.
pub(super) const IDLE_MAX: Duration = Duration::from_secs(1);

/// A process that is there for runs.
pub(super) struct Worker {
    pub spawned: Spawned,
    /// Behind the process, for it is removed when that is gone.
    pub group: Option<Group>,
    pub channel: Channel,
    /// How many runs it was given.
    pub runs: u32,
}

impl Worker {
    /// Whether it may take a run after one that has succeeded.
    fn is_as_new(&self) -> bool {
        let status = format!("/proc/{}/status", self.spawned.id());
        // What it has said would be taken for what it says of the next run.
        self.runs < RUNS_MAX
            && self.spawned.is_silent()
            && bytes_in_proc(status, "VmHWM").is_some_and(|peak| peak <= KEPT_BYTES_MAX)
    }
}

/// Those that wait, the one that has waited longest first.
#[derive(Default)]
pub(super) struct Idle {
    workers: Mutex<Vec<(Instant, Worker)>>,
}

impl Idle {
    /// One that has not ended, if there is any: the last that came.
    pub(super) fn take(&self) -> Option<Worker> {
        loop {
            let (_, mut worker) = self.workers().pop()?;
            // Somebody may have killed it.
            if !worker.spawned.has_ended() {
                return Some(worker);
            }
        }
    }

    /// A worker whose run has succeeded waits for the next, or ends.
    pub(super) fn put(&self, worker: Worker) {
        if worker.is_as_new() {
            self.workers().push((Instant::now(), worker));
        }
    }

    /// Ends those that have waited for longer than this.
    pub(super) fn end_older(&self, most: Duration) {
        let ended: Vec<_> = {
            let mut workers = self.workers();
            let count = workers.iter().take_while(|(since, _)| since.elapsed() > most).count();
            workers.drain(..count).collect()
        };
        // Nobody waits for them to be gone.
        drop(ended);
    }

    fn workers(&self) -> MutexGuard<'_, Vec<(Instant, Worker)>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
