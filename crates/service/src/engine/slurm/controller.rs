//! What is said to Slurm's controller, and what it says: one thread calls its programs, one after the other, so that nobody else waits for it.
//!
//! What comes together while it is busy, or within a moment, is said at once: runs of a sweep as one array, all jobs to be cancelled by one call. As
//! long as there are jobs, it looks every few seconds what has become of them, of all by one call.
//!
//! **The invariant it keeps:** a look that has failed says nothing of any job.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::array::Array;
use crate::engine::child::describe;
use crate::engine::process::WorkerCommand;
use crate::store::StoreError;
use crate::worker::mailbox::Mailbox;
use crate::worker::protocol::Assignment;

/// How long it is waited for more runs after the last, and for how long at most.
const GATHER: Duration = Duration::from_millis(100);
const GATHER_MAX: Duration = Duration::from_secs(1);
/// How often it is looked what has become of jobs.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Jobs that are cancelled by one call.
const CANCELLED_AT_ONCE: usize = 100;

/// The programs by which one talks to the controller.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    pub submit: PathBuf,
    pub look: PathBuf,
    pub cancel: PathBuf,
    pub look_every: Duration,
}

impl Default for Programs {
    fn default() -> Self {
        let [submit, look, cancel] = ["sbatch", "squeue", "scancel"].map(PathBuf::from);
        Self { submit, look, cancel, look_every: LOOK_EVERY }
    }
}

/// What a job does, in as many words as matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobState {
    /// For its first turn, or for another.
    Waits,
    Runs,
    /// For good; in the word of Slurm, which is none if it does not know of the job any more.
    Ended(String),
}

impl JobState {
    fn of(word: &str) -> Self {
        match word {
            "RUNNING" | "COMPLETING" | "SIGNALING" | "STAGE_OUT" | "STOPPED" => Self::Runs,
            "BOOT_FAIL" | "CANCELLED" | "COMPLETED" | "DEADLINE" | "FAILED" | "NODE_FAIL" | "OUT_OF_MEMORY"
            | "PREEMPTED" | "REVOKED" | "TIMEOUT" => Self::Ended(word.to_owned()),
            _ => Self::Waits,
        }
    }
}

/// What was seen of a job: at which look, and what, if there was one since it was asked for.
pub(super) struct Seen {
    pub look: u64,
    pub state: Option<JobState>,
}

pub(crate) struct Controller {
    programs: Programs,
    worker: WorkerCommand,
    /// What else jobs are submitted with: the partition, the account.
    options: Vec<OsString>,
    state: Mutex<State>,
    changed: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct State {
    submissions: Vec<Submission>,
    cancellations: Vec<String>,
    /// Leases of jobs.
    watched: usize,
    /// Looks that went well, and what the last one has seen.
    looks: u64,
    seen: BTreeMap<String, JobState>,
    is_stopping: bool,
}

/// A run that is to be submitted, and who waits for that.
struct Submission {
    jobs: PathBuf,
    assignment: Assignment,
    done: mpsc::Sender<Result<(Mailbox, String), StoreError>>,
}

/// What the thread does next.
enum Work {
    Submit(Vec<Submission>),
    Cancel(Vec<String>),
    Look,
    End,
}

impl Controller {
    /// Makes sure that it can be talked to.
    pub(super) fn of(programs: Programs, worker: WorkerCommand, options: &[String]) -> Result<Self, StoreError> {
        let broken = |why: String| StoreError::Broken(format!("{} starts no jobs: {why}", programs.submit.display()));
        let found =
            Command::new(&programs.submit).arg("--version").output().map_err(|error| broken(error.to_string()))?;
        if !found.status.success() {
            return Err(broken(describe(found.status, &[])));
        }
        let options = options.iter().map(OsString::from).collect();
        let (state, changed, thread) = (Mutex::default(), Condvar::new(), Mutex::default());
        Ok(Self { programs, worker, options, state, changed, thread })
    }

    /// Begins to talk.
    pub(super) fn start(controller: Self) -> Result<Arc<Self>, StoreError> {
        let controller = Arc::new(controller);
        let working = controller.clone();
        let thread = std::thread::Builder::new().name("slurm".to_owned()).spawn(move || working.work());
        let thread = thread.map_err(|error| StoreError::Broken(format!("cannot start a thread: {error}")))?;
        *controller.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(controller)
    }

    /// Says what is to be said still, and nothing afterwards.
    pub(super) fn stop(&self) {
        self.state().is_stopping = true;
        self.changed.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that talks to Slurm has panicked");
        }
    }

    /// Hands in a run, together with others of its sweep if there are any. Gives its folder in `jobs`, and what Slurm calls it.
    pub(super) fn submit(&self, jobs: &Path, assignment: &Assignment) -> Result<(Mailbox, String), StoreError> {
        let (done, is_done) = mpsc::channel();
        let submission = Submission { jobs: jobs.to_owned(), assignment: assignment.clone(), done };
        self.state().submissions.push(submission);
        self.changed.notify_all();
        is_done.recv().unwrap_or(Err(StoreError::Closed))
    }

    /// Tells a job to end, some time soon.
    pub(super) fn cancel(&self, job: String) {
        self.state().cancellations.push(job);
        self.changed.notify_all();
    }

    /// There is a lease more, or one less.
    pub(super) fn watch(&self, more: bool) {
        let mut state = self.state();
        state.watched = if more { state.watched + 1 } else { state.watched - 1 };
        drop(state);
        self.changed.notify_all();
    }

    /// How many looks went well.
    pub(super) fn looks(&self) -> u64 {
        self.state().looks
    }

    /// What was seen of a job since this look.
    pub(super) fn seen(&self, job: &str, since: u64) -> Seen {
        let state = self.state();
        let gone = || JobState::Ended(String::new());
        let seen = (state.looks > since).then(|| state.seen.get(job).cloned().unwrap_or_else(gone));
        Seen { look: state.looks, state: seen }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut looked_at = Instant::now();
        loop {
            match self.next(looked_at) {
                Work::Submit(submissions) => self.submit_all(&submissions),
                Work::Cancel(jobs) => jobs.chunks(CANCELLED_AT_ONCE).for_each(|jobs| self.cancel_all(jobs)),
                Work::Look => {
                    self.look();
                    looked_at = Instant::now();
                }
                Work::End => return,
            }
        }
    }

    /// Waits for something to do. Nothing is submitted by a server that stops.
    fn next(&self, looked_at: Instant) -> Work {
        let mut state = self.state();
        loop {
            if !state.cancellations.is_empty() {
                return Work::Cancel(std::mem::take(&mut state.cancellations));
            }
            if state.is_stopping {
                return Work::End;
            }
            if !state.submissions.is_empty() {
                return Work::Submit(self.gathered(state));
            }
            let rest = self.programs.look_every.saturating_sub(looked_at.elapsed());
            state = match state.watched {
                0 => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                _ if rest.is_zero() => return Work::Look,
                _ => self.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }

    /// All that are to be submitted, when no more come.
    fn gathered(&self, mut state: MutexGuard<'_, State>) -> Vec<Submission> {
        let began = Instant::now();
        loop {
            let known = state.submissions.len();
            state = self.changed.wait_timeout(state, GATHER).unwrap_or_else(PoisonError::into_inner).0;
            if state.submissions.len() == known || began.elapsed() > GATHER_MAX {
                return std::mem::take(&mut state.submissions);
            }
        }
    }

    fn submit_all(&self, submissions: &[Submission]) {
        let Some(jobs) = submissions.first().map(|submission| submission.jobs.clone()) else { return };
        let assignments = submissions.iter().map(|submission| submission.assignment.clone()).collect();
        let arrays = match Array::of(&jobs, assignments) {
            Ok(arrays) => arrays,
            Err(error) => return submissions.iter().for_each(|waiting| drop(waiting.done.send(Err(error.clone())))),
        };
        for array in arrays {
            let submitted = self.submit_array(&array);
            for (task, assignment) in array.tasks().iter().enumerate() {
                let given = submitted.clone().map(|job| (array.mailbox(task), format!("{job}_{task}")));
                let waiting = submissions.iter().find(|waiting| waiting.assignment.number == assignment.number);
                // It waits until it has an answer.
                waiting.into_iter().for_each(|waiting| drop(waiting.done.send(given.clone())));
            }
        }
    }

    fn submit_array(&self, array: &Array) -> Result<String, StoreError> {
        let submitted = array.make().and_then(|()| {
            let job =
                self.call_with(array.command(&self.programs.submit, &self.options), &array.script(&self.worker))?;
            // Behind a semicolon stands the name of the cluster.
            let job = job.split(';').next().unwrap_or_default().trim().to_owned();
            if job.is_empty() || !job.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(StoreError::Broken(format!("{}: `{job}` is no job", self.programs.submit.display())));
            }
            Ok(job)
        });
        let written = submitted.and_then(|job| {
            let write = |task: usize| array.mailbox(task).submitted(&format!("{job}_{task}"));
            (0..array.tasks().len()).try_for_each(write).inspect_err(|_| self.cancel(job.clone()))?;
            Ok(job)
        });
        if written.is_err() {
            array.revoke();
        }
        written
    }

    fn cancel_all(&self, jobs: &[String]) {
        let mut command = Command::new(&self.programs.cancel);
        command.args(jobs);
        // What has ended meanwhile cannot be cancelled. A job that goes on though it should not finds that it has no lease.
        if let Err(error) = self.call_with(command, &[]) {
            tracing::warn!(%error, "a job is not cancelled");
        }
    }

    fn look(&self) {
        let mut command = Command::new(&self.programs.look);
        command.args(["--me", "--array", "--noheader", "--states=all", "--format=%i|%T"]);
        match self.call_with(command, &[]) {
            Ok(told) => {
                let states = told.lines().filter_map(|line| line.trim().split_once('|'));
                let seen = states.map(|(job, word)| (job.to_owned(), JobState::of(word))).collect();
                let mut state = self.state();
                (state.looks, state.seen) = (state.looks + 1, seen);
            }
            Err(error) => tracing::warn!(%error, "Slurm does not say what its jobs do"),
        }
    }

    /// Calls a program, and gives what it says.
    fn call_with(&self, mut command: Command, input: &[u8]) -> Result<String, StoreError> {
        let program = PathBuf::from(command.get_program());
        let broken = |why: String| StoreError::Broken(format!("{}: {why}", program.display()));
        let mut call = || -> std::io::Result<Output> {
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
            // One that does not read all of it says why.
            child.stdin.take().into_iter().for_each(|mut to| drop(to.write_all(input)));
            child.wait_with_output()
        };
        let Output { status, stdout, stderr } = call().map_err(|error| broken(error.to_string()))?;
        if !status.success() {
            let said: Vec<String> = String::from_utf8_lossy(&stderr).lines().map(str::to_owned).collect();
            return Err(broken(describe(status, &said)));
        }
        Ok(String::from_utf8_lossy(&stdout).into_owned())
    }
}
