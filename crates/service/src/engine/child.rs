//! A process that is started for a worker, and what it says on standard error.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::domain::{FailureReason, RunFailure};
use crate::worker::protocol::{Channel, Message};

/// A process, killed when this is dropped.
pub(super) struct Spawned {
    child: Child,
    /// What passes on what it says on standard error, and keeps the last of it.
    said: Option<JoinHandle<Vec<String>>>,
}

impl Spawned {
    /// A process that a command makes by `start`, and the connection to it: that is its standard input, and if it is to answer there also its standard
    /// output.
    pub(super) fn new(
        mut command: Command,
        answers_on_output: bool,
        start: impl FnOnce(Command) -> io::Result<Child>,
    ) -> io::Result<(Self, Channel)> {
        let (ours, theirs) = UnixStream::pair()?;
        let output = if answers_on_output { Stdio::from(OwnedFd::from(theirs.try_clone()?)) } else { Stdio::null() };
        command.stdin(OwnedFd::from(theirs)).stdout(output).stderr(Stdio::piped());
        // Whoever interrupts the server at a terminal lets it end its workers in its own way.
        command.process_group(0);
        let mut child = start(command)?;
        let said = child
            .stderr
            .take()
            .map(|said| std::thread::Builder::new().name("worker-says".to_owned()).spawn(move || pass_on(said)));
        let mut spawned = Self { child, said: None };
        spawned.said = said.transpose()?;
        Ok((spawned, Channel::new(ours)))
    }

    /// The number of the process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// What the worker says next; none if it says nothing for so long. If it is lost, how it ended, and the last lines that it has said.
    pub(super) fn next(
        &mut self,
        channel: &mut Channel,
        wait_max: Duration,
    ) -> Result<Option<Message>, (ExitStatus, Vec<String>)> {
        channel.receive(Some(wait_max)).map_err(|error| {
            // A worker that ends with an order that it has not read resets the connection.
            if !matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) {
                tracing::error!(%error, "what a worker says cannot be understood");
                let _ = self.child.kill();
            }
            self.wait_with_said()
        })
    }

    /// Waits for its end; how it ended, and the last lines that it has said.
    pub(super) fn wait_with_said(&mut self) -> (ExitStatus, Vec<String>) {
        let status = self.child.wait().unwrap_or_default();
        let said = self.said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        (status, said)
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        self.wait_with_said();
    }
}

/// Lines that are kept of what a worker says, and bytes of a line.
const LINES_KEPT: usize = 8;
const LINE_BYTES_MAX: u64 = 16 << 10;

/// Passes on what a worker says as it is, for it writes the log as the server does; gives the last lines of it.
fn pass_on(said: ChildStderr) -> Vec<String> {
    let mut lines = VecDeque::new();
    let mut said = BufReader::new(said);
    let mut line = Vec::new();
    while said.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
        // Nobody may be there to read it.
        let _ = io::stderr().write_all(&line);
        lines.push_back(String::from_utf8_lossy(&line).trim_end().to_owned());
        if lines.len() > LINES_KEPT {
            lines.pop_front();
        }
        line.clear();
    }
    lines.into()
}

/// The failure of a run that took more memory than it may have.
pub(super) fn too_much(allowed: u64) -> RunFailure {
    let allowed = allowed.div_ceil(1 << 20);
    let message = format!("the run took more than the {allowed} MiB of memory that it may have");
    RunFailure::new(FailureReason::Memory, message)
}

/// Why a worker has ended that did not say so.
pub(super) fn lost(status: ExitStatus, said: &[String], memory_bytes_max: u64) -> RunFailure {
    // As a program of this language ends that is refused memory.
    if said.iter().any(|line| line.starts_with("memory allocation of ")) {
        return too_much(memory_bytes_max);
    }
    let message = format!("the process that simulated it {}", describe(status, &[]));
    RunFailure { details: said.to_vec(), ..RunFailure::new(FailureReason::WorkerLost, message) }
}

/// How a process has ended, with the last that it said.
pub(super) fn describe(status: ExitStatus, said: &[String]) -> String {
    let last = said.last().map_or_else(String::new, |last| format!(": {last}"));
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was ended by signal {signal}{last}"),
        (_, Some(code)) => format!("ended with code {code}{last}"),
        _ => format!("ended{last}"),
    }
}
