//! Workers as jobs of Slurm: the cluster's own scheduler says where and when each runs.
//!
//! A job is started by `srun`, which waits for its turn and then carries standard input and output to and from the node. The worker there shares the
//! server's folder by the file system, as those of this machine do. If its node or the server is lost, the connection ends, and the run goes on from its
//! last checkpoint in another job.

mod site;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::child::{Spawned, describe, lost};
use super::process::WorkerCommand;
use super::workers::{Lease, Workers};
use crate::domain::RunFailure;
use crate::store::StoreError;
use crate::worker::protocol::{Assignment, Channel, Message, Order};
use crate::worker::with_base;

pub use site::SlurmSite;

/// The program that starts jobs.
const STARTER: &str = "srun";

/// How long a job may take to end once nobody waits for it, before it is told to, and how long after that.
const END_WITHIN: Duration = Duration::from_secs(2);
const OBEY_WITHIN: Duration = Duration::from_secs(10);
/// How often it is looked whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What Slurm adds to the time that a run may take: to start, and to write down what was found.
const GRACE_MINUTES: u64 = 10;

/// Jobs of Slurm, one for each attempt of a run.
pub(crate) struct Jobs {
    starter: PathBuf,
    worker: WorkerCommand,
    /// What else `srun` is told: the partition, the account.
    options: Vec<OsString>,
}

impl Jobs {
    /// Makes sure that there is a Slurm.
    pub(crate) fn new(worker: WorkerCommand, options: &[String]) -> Result<Self, StoreError> {
        Self::started_by(STARTER.into(), worker, options)
    }

    fn started_by(starter: PathBuf, worker: WorkerCommand, options: &[String]) -> Result<Self, StoreError> {
        let broken = |why: String| StoreError::Broken(format!("{} starts no jobs: {why}", starter.display()));
        let found = Command::new(&starter).arg("--version").output().map_err(|error| broken(error.to_string()))?;
        if !found.status.success() {
            return Err(broken(describe(found.status, &[])));
        }
        Ok(Self { starter, worker, options: options.iter().map(OsString::from).collect() })
    }

    /// What starts the job of an attempt. What it takes is what its plan says.
    fn command(&self, assignment: &Assignment) -> Command {
        let Assignment { threads, memory_bytes_max, wall_s_max, .. } = *assignment;
        let mebibytes = with_base(memory_bytes_max, threads).div_ceil(1 << 20);
        let minutes = wall_s_max.div_ceil(60).saturating_add(GRACE_MINUTES);
        let mut command = Command::new(&self.starter);
        command
            .args(["--ntasks=1", "--nodes=1", "--quiet", "--unbuffered", "--kill-on-bad-exit=1"])
            .arg(format!("--job-name=tailback-{}", assignment.run))
            .arg(format!("--cpus-per-task={}", threads.max(1)))
            .arg(format!("--mem={mebibytes}M"))
            .arg(format!("--time={minutes}"))
            .args(&self.options)
            .arg("--")
            .arg(&self.worker.program)
            .args(&self.worker.arguments);
        command
    }
}

impl Workers for Jobs {
    fn start(&self, assignment: &Assignment) -> Result<Box<dyn Lease>, StoreError> {
        let spawned = Spawned::new(self.command(assignment), true, |mut command| command.spawn());
        let (spawned, mut channel) =
            spawned.map_err(|error| StoreError::Broken(format!("cannot start {}: {error}", self.starter.display())))?;
        // It is read when the job has its turn.
        let begin = Order::Begin { assignment: Box::new(assignment.clone()), is_last: true };
        if let Err(error) = channel.send(&begin) {
            tracing::warn!(%error, "a job does not take its assignment");
        }
        Ok(Box::new(JobLease { spawned, channel, memory_bytes_max: assignment.memory_bytes_max }))
    }
}

struct JobLease {
    spawned: Spawned,
    channel: Channel,
    memory_bytes_max: u64,
}

impl Lease for JobLease {
    fn next(&mut self, wait_max: Duration) -> Result<Option<Message>, RunFailure> {
        let memory_bytes_max = self.memory_bytes_max;
        self.spawned.next(&mut self.channel, wait_max).map_err(|(status, said)| lost(status, &said, memory_bytes_max))
    }

    fn suspend(&mut self) {
        if let Err(error) = self.channel.send(&Order::Suspend) {
            tracing::warn!(%error, "a job cannot be told to write a checkpoint");
        }
    }

    /// It is in use on another machine, where Slurm holds the job to it.
    fn memory_bytes(&self) -> Option<u64> {
        None
    }
}

impl Drop for JobLease {
    /// A worker that runs ends as its connection does. One that waits for its turn has to be told, or Slurm would start it for nobody.
    fn drop(&mut self) {
        self.channel.close();
        if self.ends_within(END_WITHIN) {
            return;
        }
        if let Some(starter) = Pid::from_raw(self.spawned.id() as i32) {
            // It may have ended meanwhile.
            let _ = kill_process(starter, Signal::TERM);
        }
        if !self.ends_within(OBEY_WITHIN) {
            tracing::warn!("a job does not end");
        }
    }
}

impl JobLease {
    fn ends_within(&mut self, most: Duration) -> bool {
        let began = Instant::now();
        while !self.spawned.has_ended() {
            if began.elapsed() > most {
                return false;
            }
            thread::sleep(LOOK_EVERY);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{FailureReason, ScenarioSource};

    fn assignment() -> Assignment {
        Assignment {
            run: "one".to_owned(),
            number: 1,
            scenario: ScenarioSource::default(),
            threads: 3,
            version: String::new(),
            data: PathBuf::new(),
            attempt: PathBuf::new(),
            memory_bytes_max: 100 << 20,
            wall_s_max: 3601,
            artifact_bytes_max: 0,
            sample_interval_ms: 0,
            checkpoint_interval_ms: 0,
        }
    }

    /// Jobs that a program starts which is none of Slurm's.
    fn jobs(starter: &str) -> Result<Jobs, StoreError> {
        let worker = WorkerCommand { program: "/shared/tailback".into(), arguments: vec!["worker".into()] };
        Jobs::started_by(starter.into(), worker, &["--partition=batch".to_owned()])
    }

    #[test]
    fn a_job_takes_what_its_run_may() {
        let command = jobs("true").expect("it says that it is there").command(&assignment());
        let said: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let has = |argument: &str| said.iter().any(|said| said == argument);
        assert!(has("--job-name=tailback-one") && has("--cpus-per-task=3"), "{said:?}");
        assert!(has("--mem=188M"), "with 64 MiB for the process and 8 for each thread: {said:?}");
        assert!(has("--time=71"), "61 minutes and ten: {said:?}");
        assert_eq!(said[said.len() - 4..], ["--partition=batch", "--", "/shared/tailback", "worker"]);
    }

    #[test]
    fn without_a_slurm_no_server_starts() {
        let missing = jobs("/nowhere/srun").err().expect("it is not there");
        assert!(missing.to_string().contains("/nowhere/srun starts no jobs"), "{missing}");
        assert!(jobs("false").is_err());
    }

    #[test]
    fn a_job_that_cannot_be_started_is_a_lost_worker() {
        // It is told the options of srun, and refuses them.
        let mut lease = jobs("true").expect("it is there").start(&assignment()).expect("it starts");
        let lost = lease.next(Duration::from_secs(60)).expect_err("it has ended");
        assert_eq!(lost.reason, FailureReason::WorkerLost);
    }
}
