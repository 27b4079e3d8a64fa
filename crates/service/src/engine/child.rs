//! A process that is started for a worker, and what it says on standard error.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::domain::{FailureReason, RunFailure};
use crate::worker::protocol::{Channel, Message};

/// A process, killed when this is dropped.
pub(super) struct Spawned {
    child: Child,
    /// What it says on standard error, and the thread that passes it on.
    said: Option<(Arc<Said>, JoinHandle<()>)>,
}

impl Spawned {
    /// A process that a command makes by `start`, and the connection to it, which is its standard input.
    pub(super) fn new(
        mut command: Command,
        start: impl FnOnce(Command) -> io::Result<Child>,
    ) -> io::Result<(Self, Channel)> {
        let (ours, theirs) = UnixStream::pair()?;
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::piped());
        // Whoever interrupts the server at a terminal lets it end its workers in its own way.
        command.process_group(0);
        let mut child = start(command)?;
        let said = child.stderr.take().map(|said| Arc::new(Said::of(OwnedFd::from(said).into())));
        let mut spawned = Self { child, said: None };
        if let Some(said) = said {
            let passing = said.clone();
            let thread = std::thread::Builder::new().name("worker-says".to_owned());
            spawned.said = Some((said, thread.spawn(move || passing.pass_on())?));
        }
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

    /// Whether it has said nothing so far.
    pub(super) fn is_silent(&self) -> bool {
        self.said.as_ref().is_some_and(|(said, _)| said.is_nothing())
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
        let Some((said, passing)) = self.said.take() else { return (status, Vec::new()) };
        // It does not panic.
        let _ = passing.join();
        (status, said.lines().last.drain(..).collect())
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
pub(super) const LINES_KEPT: usize = 8;
pub(super) const LINE_BYTES_MAX: usize = 16 << 10;

/// What a worker says on standard error.
struct Said {
    pipe: File,
    /// Nobody reads from the pipe without it: what is in neither of them was not said.
    lines: Mutex<Lines>,
}

/// The last lines, and the beginning of the next.
#[derive(Default)]
struct Lines {
    last: VecDeque<String>,
    begun: Vec<u8>,
}

impl Said {
    fn of(pipe: File) -> Self {
        Self { pipe, lines: Mutex::default() }
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on what it says as it is, for it writes the log as the server does, and keeps the last of it.
    fn pass_on(&self) {
        let mut piece = [0; LINE_BYTES_MAX];
        while self.waits(None) {
            let mut lines = self.lines();
            match (&self.pipe).read(&mut piece) {
                Ok(bytes @ 1..) => lines.put(&piece[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        self.lines().end_line();
    }

    /// Whether there is anything to read, which the end of the pipe is, too; for how long that is waited for, or for ever.
    fn waits(&self, wait_max: Option<&Timespec>) -> bool {
        loop {
            match poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], wait_max) {
                Err(Errno::INTR) => {}
                found => return found != Ok(0),
            }
        }
    }

    fn is_nothing(&self) -> bool {
        let lines = self.lines();
        lines.last.is_empty() && lines.begun.is_empty() && !self.waits(Some(&Timespec::default()))
    }
}

impl Lines {
    fn put(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.begun.extend_from_slice(part);
            if part.ends_with(b"\n") || self.begun.len() >= LINE_BYTES_MAX {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.begun);
        if line.is_empty() {
            return;
        }
        // Nobody may be there to read it.
        let _ = io::stderr().write_all(&line);
        if self.last.len() == LINES_KEPT {
            self.last.pop_front();
        }
        self.last.push_back(String::from_utf8_lossy(&line).trim_end().to_owned());
    }
}

/// The failure of a run that took more memory than it may have.
pub(super) fn too_much(allowed: u64) -> RunFailure {
    let allowed = allowed.div_ceil(1 << 20);
    let message = format!("the run took more than the {allowed} MiB of memory that it may have");
    RunFailure::new(FailureReason::Memory, message)
}

/// Why a worker has ended that did not say so.
pub(super) fn lost(how: &str, said: &[String], memory_bytes_max: u64) -> RunFailure {
    // As a program of this language ends that is refused memory.
    if said.iter().any(|line| line.starts_with("memory allocation of ")) {
        return too_much(memory_bytes_max);
    }
    let message = format!("the process that simulated it {how}");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_whole_and_what_is_in_the_pipe_counts_as_said() {
        let (reader, mut writer) = io::pipe().expect("there are pipes");
        let said = Said::of(OwnedFd::from(reader).into());
        assert!(said.is_nothing());
        writer.write_all(b"one\ntw").expect("it is read");
        assert!(!said.is_nothing(), "though nobody has read it");
        writer.write_all(b"o").expect("it is read");
        (3..=LINES_KEPT + 1).for_each(|line| write!(writer, "\n{line}").expect("it is read"));
        drop(writer);
        said.pass_on();
        let lines = &said.lines().last;
        assert_eq!((lines.len(), lines[0].as_str()), (LINES_KEPT, "two"), "{lines:?}");
        assert_eq!(lines[LINES_KEPT - 1], (LINES_KEPT + 1).to_string());
    }
}
