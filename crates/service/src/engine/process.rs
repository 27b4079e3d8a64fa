//! Workers as processes of this machine.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::child::{Spawned, describe, lost, too_much};
use super::control_groups::{Group, Groups};
use super::idle::{IDLE_MAX, Idle, RUNS_MAX, Worker};
use super::workers::{Lease, Workers};
use crate::domain::RunFailure;
use crate::meters::Meters;
use crate::store::StoreError;
use crate::worker::protocol::{Assignment, Channel, Ending, Message, Order};
use crate::worker::{bytes_in_proc, give_way, with_base};

/// How often it is looked how much memory a worker has in use.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The program that carries out runs, and the arguments that make it a worker.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl WorkerCommand {
    /// The program that runs now, with these arguments.
    #[must_use]
    pub fn this_program(arguments: &[&str]) -> Self {
        // What is run there is the same as now, even if the file has been replaced meanwhile.
        let running = PathBuf::from("/proc/self/exe");
        let program =
            if running.exists() { running } else { std::env::current_exe().unwrap_or_else(|_| "tailback".into()) };
        Self { program, arguments: arguments.iter().map(OsString::from).collect() }
    }

    /// The same by the name of its file, which other machines have to have as well.
    #[must_use]
    pub fn this_program_anywhere(arguments: &[&str]) -> Self {
        let program = std::env::current_exe().unwrap_or_else(|_| "tailback".into());
        Self { program, ..Self::this_program(arguments) }
    }
}

/// Processes, each of which carries out one run at a time. One whose run has succeeded may [take another](super::idle).
pub(crate) struct Processes {
    command: WorkerCommand,
    groups: Option<Groups>,
    starter: Starter,
    idle: Arc<Idle>,
    meters: Arc<Meters>,
}

/// A thread that starts processes. It gives way to those that serve calls, and so do the processes from the beginning: to be
/// loaded takes a worker most of the time that it costs. It also ends those that have nothing to do.
struct Starter(Sender<Start>);

struct Start {
    command: Command,
    started: Sender<io::Result<Child>>,
}

impl Starter {
    /// Processes give way by so many steps.
    fn start(nice: u32, idle: Arc<Idle>) -> io::Result<Self> {
        let (starts, wanted) = channel::<Start>();
        let start = move || {
            give_way(nice);
            loop {
                match wanted.recv_timeout(IDLE_MAX / 2) {
                    // Whoever wants it waits for it.
                    Ok(Start { mut command, started }) => drop(started.send(command.spawn())),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                idle.end_older(IDLE_MAX);
            }
        };
        std::thread::Builder::new().name("worker-starts".to_owned()).spawn(start)?;
        Ok(Self(starts))
    }

    fn spawn(&self, command: Command) -> io::Result<Child> {
        let (started, child) = channel();
        let is_gone = || io::Error::other("the thread that starts workers is gone");
        self.0.send(Start { command, started }).map_err(|_| is_gone())?;
        child.recv().map_err(|_| is_gone())?
    }
}

impl Processes {
    /// Makes sure that workers can be started. They give way to others on the machine by `nice` steps.
    pub(crate) fn new(command: WorkerCommand, nice: u32, meters: Arc<Meters>) -> Result<Self, StoreError> {
        let idle = Arc::<Idle>::default();
        let starter = Starter::start(nice, idle.clone());
        let starter = starter.map_err(|error| StoreError::Broken(format!("cannot start a thread: {error}")))?;
        let processes = Self { command, groups: None, starter, idle, meters };
        let (mut child, channel) = processes.spawn()?;
        // A worker that is not given anything ends.
        drop(channel);
        let ended = child.wait_with_said();
        if ended.0.success() {
            return Ok(processes);
        }
        let program = processes.command.program.display();
        Err(StoreError::Broken(format!("{program} is no worker: {}", describe(ended.0, &ended.1))))
    }

    /// With a control group for each that is started from now on, if there are any to be had.
    pub(crate) fn in_groups(mut self, groups: Option<Groups>) -> Self {
        self.groups = groups;
        self
    }

    fn spawn(&self) -> Result<(Spawned, Channel), StoreError> {
        let WorkerCommand { program, arguments } = &self.command;
        let mut command = Command::new(program);
        // To name the places of a panic takes more memory than a worker may allocate, and it would be lost in the middle of that.
        command.args(arguments).env("RUST_BACKTRACE", "0").env("RUST_LIB_BACKTRACE", "0");
        Spawned::new(command, |command| self.starter.spawn(command))
            .map_err(|error| StoreError::Broken(format!("cannot start a worker, {}: {error}", program.display())))
    }
}

impl Processes {
    /// A process that may have so much memory: one that waits for a run, or a new one.
    fn worker(&self, bytes: u64) -> Result<Worker, StoreError> {
        while let Some(worker) = self.idle.take() {
            // One whose limit cannot be changed ends.
            if worker.group.as_ref().is_none_or(|group| group.allow(bytes)) {
                return Ok(worker);
            }
        }
        let group = self.groups.as_ref().and_then(|groups| groups.make(bytes));
        let (spawned, channel) = self.spawn()?;
        self.meters.worker_started();
        // As long as it has no assignment, a worker takes next to nothing.
        let group = group.filter(|group| group.put(spawned.id()));
        Ok(Worker { spawned, group, channel, runs: 0 })
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.idle.end_older(Duration::ZERO);
    }
}

impl Workers for Processes {
    fn start(&self, assignment: &Assignment) -> Result<Box<dyn Lease>, StoreError> {
        let Assignment { memory_bytes_max, threads, .. } = *assignment;
        let assignment = Box::new(assignment.clone());
        let mut worker = self.worker(with_base(memory_bytes_max, threads))?;
        worker.runs += 1;
        let begin = Order::Begin { assignment, is_last: worker.runs >= RUNS_MAX };
        // A worker that is dead already cannot be told anything: that it is lost is found when it says nothing.
        if let Err(error) = worker.channel.send(&begin) {
            tracing::warn!(%error, "a worker does not take its assignment");
        }
        let (idle, worker) = (self.idle.clone(), Some(worker));
        Ok(Box::new(ProcessLease {
            worker,
            idle,
            memory_bytes_max,
            memory_bytes: None,
            look_at: Instant::now() + LOOK_EVERY,
            has_succeeded: false,
            is_suspended: false,
        }))
    }
}

struct ProcessLease {
    /// Until this is dropped.
    worker: Option<Worker>,
    idle: Arc<Idle>,
    memory_bytes_max: u64,
    /// What the worker had in use when it was last looked at.
    memory_bytes: Option<u64>,
    /// When it is looked at next. To look takes some of the time of a short run, and there is nothing to see at its beginning.
    look_at: Instant,
    has_succeeded: bool,
    is_suspended: bool,
}

impl Drop for ProcessLease {
    fn drop(&mut self) {
        // One that was told to suspend may not have read it yet.
        if let Some(worker) = self.worker.take().filter(|_| self.has_succeeded && !self.is_suspended) {
            self.idle.put(worker);
        }
    }
}

impl Lease for ProcessLease {
    fn next(&mut self, wait_max: Duration) -> Result<Option<Message>, RunFailure> {
        let memory_bytes_max = self.memory_bytes_max;
        let Some(Worker { spawned, group, channel, .. }) = &mut self.worker else { return Ok(None) };
        if Instant::now() >= self.look_at {
            self.memory_bytes = bytes_in_proc(format!("/proc/{}/status", spawned.id()), "VmRSS");
            self.look_at = Instant::now() + LOOK_EVERY;
        }
        if self.memory_bytes.is_some_and(|bytes| bytes > memory_bytes_max) {
            return Err(too_much(memory_bytes_max));
        }
        let message = spawned.next(channel, wait_max).map_err(|(status, said)| {
            if group.as_ref().is_some_and(Group::has_taken_too_much) {
                return too_much(memory_bytes_max);
            }
            lost(&describe(status, &[]), &said, memory_bytes_max)
        })?;
        self.has_succeeded = matches!(message, Some(Message::Ended(Ending::Succeeded(_))));
        Ok(message)
    }

    fn release(&mut self) -> bool {
        self.is_suspended = true;
        if let Some(Err(error)) = self.worker.as_mut().map(|worker| worker.channel.send(&Order::Suspend)) {
            tracing::warn!(%error, "a worker cannot be told to write a checkpoint");
        }
        false
    }

    fn memory_bytes(&self) -> Option<u64> {
        self.memory_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::control_groups::tests::pretended;
    use super::*;
    use crate::domain::FailureReason;

    /// A program that reads what it is given and says nothing is a worker as good as any, until it is lost.
    fn reader() -> WorkerCommand {
        WorkerCommand { program: "cat".into(), arguments: Vec::new() }
    }

    /// How a worker is told to be lost that was killed, after the system has written so many kills down; and its group.
    fn killed(kills: u32) -> (FailureReason, PathBuf, bool) {
        let (mount, groups) = pretended();
        let own = mount.path().join("system.slice/tailback.service/worker-0");
        let processes = Processes::new(reader(), 0, Arc::default()).expect("it ends").in_groups(Some(groups));
        let mut lease = processes.start(&Assignment::of_a_test(2)).expect("it starts");
        let limit = std::fs::read_to_string(own.join("memory.max")).expect("it is limited");
        assert_eq!(limit, (180 << 20).to_string(), "with 64 MiB for the process and 8 for each thread");
        let id = std::fs::read_to_string(own.join("cgroup.procs")).expect("it is in there");
        std::fs::write(own.join("memory.events"), format!("oom_kill {kills}\n")).expect("it can be written");
        let id = rustix::process::Pid::from_raw(id.parse().expect("a number")).expect("it is none of the system");
        rustix::process::kill_process(id, rustix::process::Signal::KILL).expect("it runs");
        let lost = lease.next(Duration::from_secs(60)).expect_err("it is gone");
        drop(lease);
        (lost.reason, own.clone(), own.exists())
    }

    #[test]
    fn workers_give_way_from_the_beginning() {
        use rustix::process::{Pid, getpriority_process};
        let own = getpriority_process(None).expect("it can be asked");
        let processes = Processes::new(reader(), 3, Arc::default()).expect("it ends");
        let (worker, _channel) = processes.spawn().expect("it starts");
        let worker = Pid::from_raw(worker.id() as i32).expect("it is none of the system");
        assert_eq!(getpriority_process(Some(worker)).expect("it runs"), (own + 3).min(19));
        assert_eq!(getpriority_process(None).expect("it can be asked"), own);
    }

    #[test]
    fn workers_write_no_backtraces() {
        let processes = Processes::new(reader(), 0, Arc::default()).expect("it ends");
        let (worker, _channel) = processes.spawn().expect("it starts");
        let place = format!("/proc/{}/environ", worker.id());
        // Whoever starts a process may go on a moment before the system has put its environment there.
        let read = || std::fs::read(&place).expect("it can be read");
        let environment = std::iter::repeat_with(read).find(|read| !read.is_empty()).expect("it is there in the end");
        for variable in ["RUST_BACKTRACE=", "RUST_LIB_BACKTRACE="] {
            let of_it = |set: &&[u8]| set.starts_with(variable.as_bytes());
            let set: Vec<&[u8]> = environment.split(|&byte| byte == 0).filter(of_it).collect();
            assert_eq!(set, [format!("{variable}0").as_bytes()]);
        }
    }

    #[test]
    fn a_worker_that_the_system_has_ended_for_its_memory_has_taken_too_much() {
        for (kills, reason) in [(1, FailureReason::Memory), (0, FailureReason::WorkerLost)] {
            let (found, group, is_left) = killed(kills);
            assert_eq!((found, is_left), (reason, false), "{}", group.display());
        }
    }
}
