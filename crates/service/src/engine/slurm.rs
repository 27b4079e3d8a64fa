//! Workers as jobs of Slurm: the cluster's own scheduler says where and when each runs.
//!
//! Runs of a sweep that begin at about the same time are the tasks of one job array, a single run is an array of one. A task and the server talk by a
//! [folder](crate::worker::mailbox) that they share, and by nothing else: tasks go on when the server is gone, and the next server finds them. What may be lost on the
//! way, and what happens to it, is said there.
//!
//! **The invariant it keeps:** a run has one lease, and only what the job says counts that has it. So a job of which the server does not know whether it
//! has ended does no harm.

mod array;
mod controller;
mod site;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::child::{LINE_BYTES_MAX, LINES_KEPT, lost, too_much};
use super::process::WorkerCommand;
use super::workers::{Lease, Workers};
use crate::domain::RunFailure;
use crate::store::files;
use crate::store::{JOBS, StoreError};
use crate::worker::mailbox::{Mailbox, Messages};
use crate::worker::protocol::{Assignment, Ending, Message, Results};
use controller::{JobState, Programs, Seen};

pub(crate) use controller::Controller;
pub use site::SlurmSite;

/// How often it is looked whether a job has said anything: less and less often as long as it has not.
const LOOK_EVERY: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// A job that Slurm says runs and that shows no sign of life for so long is lost. It shows some [much more often](crate::worker).
const SILENT_MAX: Duration = Duration::from_secs(300);

/// Tasks of Slurm's job arrays, one for each attempt of a run.
pub(crate) struct Jobs {
    controller: Arc<Controller>,
    folder: PathBuf,
    /// Jobs that an earlier server has left, by the number of their runs.
    left: Mutex<BTreeMap<i64, Left>>,
}

struct Left {
    mailbox: Mailbox,
    job: String,
    assignment: Assignment,
}

impl Jobs {
    /// Makes sure that there is a Slurm.
    pub(crate) fn there(worker: WorkerCommand, options: &[String]) -> Result<Controller, StoreError> {
        Controller::of(Programs::default(), worker, options)
    }

    /// Finds in the server's folder what jobs there are already.
    pub(crate) fn begin(controller: Controller, data: &Path) -> Result<Self, StoreError> {
        // On other nodes the server's current directory is not theirs.
        let data = data.canonicalize().map_err(|error| files::broken("find", data, &error))?;
        let jobs = Self { controller: Controller::start(controller)?, folder: data.join(JOBS), left: Mutex::default() };
        for array in subfolders(&jobs.folder) {
            for task in subfolders(&array) {
                jobs.find(Mailbox::at(task));
            }
        }
        Ok(jobs)
    }

    /// Takes up a job that an earlier server has left. Where that had not come to know what Slurm calls it, nobody can ask for it.
    fn find(&self, mailbox: Mailbox) {
        match (mailbox.job(), mailbox.assignment()) {
            (Ok(job), Ok(assignment)) if mailbox.has_lease() => {
                let number = assignment.number;
                let other = self.left().insert(number, Left { mailbox, job, assignment });
                other.into_iter().for_each(|left| self.end(left));
            }
            (Ok(job), _) => {
                mailbox.revoke();
                self.controller.cancel(job);
            }
            _ => mailbox.revoke(),
        }
    }

    fn end(&self, left: Left) {
        tracing::info!(job = left.job, run = left.assignment.run, "a job is not needed any more");
        left.mailbox.revoke();
        self.controller.cancel(left.job);
    }

    fn left(&self) -> MutexGuard<'_, BTreeMap<i64, Left>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The job that has this run already, if there is one that does the same.
    fn adopt(&self, assignment: &Assignment) -> Option<JobLease> {
        let left = self.left().remove(&assignment.number)?;
        if !left.assignment.is_same_work(assignment) {
            // A server of another version has started it, say.
            self.end(left);
            return None;
        }
        tracing::info!(job = left.job, run = assignment.run, "a job of an earlier server goes on");
        let mut lease = JobLease::new(&self.controller, left.mailbox, left.job, assignment);
        lease.catch_up();
        Some(lease)
    }
}

impl Workers for Jobs {
    fn start(&self, assignment: &Assignment) -> Result<Box<dyn Lease>, StoreError> {
        let data = self.folder.parent().unwrap_or(&self.folder).to_owned();
        let assignment = Assignment { data, ..assignment.clone() };
        if let Some(lease) = self.adopt(&assignment) {
            return Ok(Box::new(lease));
        }
        let (mailbox, job) = self.controller.submit(&self.folder, &assignment)?;
        Ok(Box::new(JobLease::new(&self.controller, mailbox, job, &assignment)))
    }

    fn keep_only(&self, runs: &BTreeSet<i64>) {
        let (kept, ended) =
            std::mem::take(&mut *self.left()).into_iter().partition(|(number, _)| runs.contains(number));
        *self.left() = kept;
        let ended: BTreeMap<i64, Left> = ended;
        ended.into_values().for_each(|left| self.end(left));
    }
}

impl Drop for Jobs {
    /// What nobody has taken up goes on, for the next server.
    fn drop(&mut self) {
        self.controller.stop();
    }
}

/// A job that has a run.
struct JobLease {
    controller: Arc<Controller>,
    mailbox: Mailbox,
    job: String,
    messages: Messages,
    /// What was read and not told yet.
    waiting: VecDeque<Message>,
    /// The folder for what is found.
    attempt: PathBuf,
    memory_bytes_max: u64,
    /// When it is looked next whether it has said anything, and how long that is after the last time.
    look_at: Instant,
    pause: Duration,
    /// When it has shown a sign of life last, as far as that is needed.
    heard_at: Instant,
    /// What Slurm has seen until this look is not of this lease.
    since: u64,
    /// At which look Slurm said first that it has ended.
    gone_at: Option<u64>,
    /// At which look it has said that it was suspended, which may be because Slurm will start it again.
    suspended_at: Option<u64>,
    fate: Fate,
}

/// What becomes of a job when its lease is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Revoked,
    /// It has said that it ends.
    Ended,
    /// It goes on without the server.
    Released,
}

impl JobLease {
    fn new(controller: &Arc<Controller>, mailbox: Mailbox, job: String, assignment: &Assignment) -> Self {
        controller.watch(true);
        Self {
            controller: controller.clone(),
            messages: Messages::of(mailbox.clone()),
            mailbox,
            job,
            waiting: VecDeque::new(),
            attempt: assignment.attempt.clone(),
            memory_bytes_max: assignment.memory_bytes_max,
            look_at: Instant::now(),
            pause: LOOK_EVERY[0],
            heard_at: Instant::now(),
            since: controller.looks(),
            gone_at: None,
            suspended_at: None,
            fate: Fate::Revoked,
        }
    }

    /// Reads what it has said to an earlier server, and keeps of that how far it has come.
    fn catch_up(&mut self) {
        let (mut reached, mut ended) = (None, None);
        loop {
            match self.messages.next() {
                Ok(Some(Message::Began { cycle, wall })) => (reached, ended) = (Some((cycle, wall)), None),
                Ok(Some(Message::Sample(sample))) => {
                    reached.iter_mut().for_each(|(cycle, _)| *cycle = sample.cycle.max(*cycle));
                }
                Ok(Some(Message::Checkpoint { .. })) => {}
                Ok(Some(Message::Ended(ending))) => ended = Some(ending),
                // It is found again when it is read on.
                Ok(None) | Err(_) => break,
            }
        }
        self.waiting.extend(reached.map(|(cycle, wall)| Message::Began { cycle, wall }));
        self.waiting.extend(ended.map(Message::Ended));
    }

    /// What it says next, and what Slurm says of it.
    fn look(&mut self) -> Result<Option<Message>, RunFailure> {
        let position = self.messages.position();
        match self.messages.next() {
            Ok(message) => {
                if self.messages.position() != position {
                    (self.heard_at, self.gone_at) = (Instant::now(), None);
                }
                if let Some(message) = message {
                    return self.pass_on(message);
                }
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                tracing::error!(%error, job = self.job, "what a job says cannot be understood");
                return Err(self.lost("says what cannot be understood"));
            }
            // The file system may be away for a moment.
            Err(error) => tracing::warn!(%error, job = self.job, "what a job says cannot be read; it is tried again"),
        }
        self.ask_slurm()
    }

    fn pass_on(&mut self, message: Message) -> Result<Option<Message>, RunFailure> {
        self.suspended_at = None;
        match message {
            Message::Ended(Ending::Suspended) => {
                // Slurm has told it to end. Whether that is for good is known a moment later.
                self.suspended_at = Some(self.controller.looks());
                Ok(None)
            }
            Message::Ended(Ending::Succeeded(results)) => {
                self.take_in(&results)
                    .map_err(|error| self.lost(&format!("has left nothing that can be used: {error}")))?;
                self.fate = Fate::Ended;
                Ok(Some(Message::Ended(Ending::Succeeded(results))))
            }
            message => {
                if matches!(message, Message::Ended(_)) {
                    self.fate = Fate::Ended;
                }
                Ok(Some(message))
            }
        }
    }

    /// Moves what it has found to where it was asked for.
    fn take_in(&self, results: &Results) -> io::Result<()> {
        let found = self.mailbox.found(self.messages.start());
        results.artifacts.iter().try_for_each(|file| fs::rename(found.join(&file.name), self.attempt.join(&file.name)))
    }

    /// What follows from what Slurm has said last. As long as it says nothing, nothing does.
    fn ask_slurm(&mut self) -> Result<Option<Message>, RunFailure> {
        let Seen { look, state } = self.controller.seen(&self.job, self.since);
        match state {
            Some(JobState::Ended(_)) => {}
            Some(JobState::Runs) if self.heard_at.elapsed() > SILENT_MAX => {
                return Err(self.lost(&format!("shows no sign of life for {} s", SILENT_MAX.as_secs())));
            }
            Some(JobState::Runs) => return Ok(None),
            // It has its turn later, once more perhaps.
            Some(JobState::Waits) => {
                if self.suspended_at.is_some_and(|at| look > at) {
                    self.suspended_at = None;
                }
                (self.heard_at, self.gone_at) = (Instant::now(), None);
                return Ok(None);
            }
            None => return Ok(None),
        }
        if self.suspended_at.is_some_and(|at| look > at) {
            self.fate = Fate::Ended;
            return Ok(Some(Message::Ended(Ending::Suspended)));
        }
        // What it has said last may be on its way from the other machine: it has until Slurm says so again.
        match (self.gone_at, state) {
            (Some(at), Some(JobState::Ended(how))) if look > at => {
                self.fate = Fate::Ended;
                Err(if how == "OUT_OF_MEMORY" { too_much(self.memory_bytes_max) } else { self.lost(&ended(&how)) })
            }
            (None, _) => {
                self.gone_at = Some(look);
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn lost(&self, how: &str) -> RunFailure {
        lost(how, &last_lines(&self.mailbox.output()), self.memory_bytes_max)
    }
}

impl Lease for JobLease {
    fn next(&mut self, wait_max: Duration) -> Result<Option<Message>, RunFailure> {
        if let Some(message) = self.waiting.pop_front() {
            return self.pass_on(message);
        }
        let left = self.look_at.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            thread::sleep(left.min(wait_max));
            return Ok(None);
        }
        let found = self.look();
        self.pause = if matches!(found, Ok(None)) { (self.pause * 2).min(LOOK_EVERY[1]) } else { LOOK_EVERY[0] };
        self.look_at = Instant::now() + if matches!(found, Ok(Some(_))) { Duration::ZERO } else { self.pause };
        found
    }

    fn release(&mut self) -> bool {
        self.fate = Fate::Released;
        true
    }

    /// It is in use on another machine, where Slurm holds the job to it.
    fn memory_bytes(&self) -> Option<u64> {
        None
    }
}

impl Drop for JobLease {
    fn drop(&mut self) {
        self.controller.watch(false);
        if self.fate == Fate::Released {
            return;
        }
        self.mailbox.revoke();
        if self.fate == Fate::Revoked {
            self.controller.cancel(self.job.clone());
        }
    }
}

/// How a job has ended, in a sentence that begins with its process.
fn ended(how: &str) -> String {
    match how {
        "" => "ended without a word, and Slurm does not know of it any more".to_owned(),
        how => format!("ended without a word; Slurm says {how}"),
    }
}

/// The last lines of what a job has said on standard error.
fn last_lines(path: &Path) -> Vec<String> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let end = file.metadata()?.len();
        file.seek(SeekFrom::Start(end.saturating_sub(LINE_BYTES_MAX as u64)))?;
        let mut bytes = Vec::new();
        file.take(LINE_BYTES_MAX as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES_KEPT)..].iter().map(|line| line.trim_end().to_owned()).collect()
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    // Without jobs there is no such folder.
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect()
}

#[cfg(test)]
mod tests;
