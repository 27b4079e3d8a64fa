//! A folder by which a server and the job that works for it talk, which share a file system and nothing else.
//!
//! | file | whose | what it says |
//! |---|---|---|
//! | `lease` | the server's | as long as it is there, the job has the run |
//! | `assignment` | the server's | what is to be done; written before the job is submitted |
//! | `job` | the server's | what Slurm calls the job; written when Slurm has accepted it |
//! | `messages.K` | the job's, started for the `K`-th time | a message in each line; an empty line now and again, as a sign of life |
//! | `found.K` | the same | a folder for what it finds |
//! | `output` | Slurm's | what the job says on standard error |
//!
//! A folder has the name of one attempt, drawn at random, and is never used again. No file has two writers, none is locked, and nobody compares clocks: a
//! job is alive if it has said more since it was looked at last. A job that is started again, as its node was lost, begins `messages.K` anew; what the lost
//! job still says or finds is not read any more.
//!
//! | what is gone | what happens |
//! |---|---|
//! | the server, before `job` is there | the next one removes the folder, and submits another job; this one finds no lease, and ends |
//! | the server, later | the job goes on, and ends; the next server reads what it has said meanwhile |
//! | the lease | the job ends as soon as it looks for it, or is told to by Slurm; whatever it does until then is read by nobody |
//! | the job or its node | Slurm starts it again, or says that it has ended: then the run is tried again from its last checkpoint |
//! | Slurm's controller | jobs go on, and nothing is concluded from its silence |
//!
//! **The invariant it keeps:** a message is read as a whole or not at all, and once.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use super::protocol::{Assignment, Message};
use crate::store::StoreError;
use crate::store::files;

const LEASE: &str = "lease";
const ASSIGNMENT: &str = "assignment";
const JOB: &str = "job";
/// What Slurm is told to write down of a job.
pub(crate) const OUTPUT: &str = "output";

/// The folder of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mailbox(PathBuf);

impl Mailbox {
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    #[cfg(test)]
    pub(crate) fn path(&self) -> &std::path::Path {
        &self.0
    }

    /// Makes the folder for a job that is to be submitted.
    pub(crate) fn make(&self, assignment: &Assignment) -> Result<(), StoreError> {
        let text = serde_json::to_vec(assignment).map_err(|error| StoreError::Broken(error.to_string()))?;
        fs::create_dir_all(&self.0).map_err(|error| files::broken("make", &self.0, &error))?;
        files::write(&self.0.join(ASSIGNMENT), &[&text])?;
        files::write(&self.0.join(LEASE), &[])
    }

    pub(crate) fn assignment(&self) -> io::Result<Assignment> {
        Ok(serde_json::from_slice(&fs::read(self.0.join(ASSIGNMENT))?)?)
    }

    /// Writes down that Slurm has accepted the job.
    pub(crate) fn submitted(&self, job: &str) -> Result<(), StoreError> {
        files::write(&self.0.join(JOB), &[job.as_bytes()])
    }

    /// What Slurm calls the job, if it has accepted it.
    pub(crate) fn job(&self) -> io::Result<String> {
        fs::read_to_string(self.0.join(JOB))
    }

    /// Whether the job has the run still. What cannot be looked at now may be there.
    pub(crate) fn has_lease(&self) -> bool {
        // A file system that other machines write to looks again when a file is opened.
        !File::open(self.0.join(LEASE)).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    }

    /// Takes the run from the job, and removes all that it has left here.
    pub(crate) fn revoke(&self) {
        // First of all: the rest takes longer.
        let _ = fs::remove_file(self.0.join(LEASE));
        files::remove_all(&self.0);
        // The folder of the array stays as long as it has other tasks.
        let _ = self.0.parent().map(fs::remove_dir);
    }

    pub(crate) fn output(&self) -> PathBuf {
        self.0.join(OUTPUT)
    }

    /// Where a job writes what it says that is started for the so-manieth time, counted from 0.
    pub(super) fn messages(&self, start: u32) -> PathBuf {
        self.0.join(format!("messages.{start}"))
    }

    /// Where it puts what it finds.
    pub(crate) fn found(&self, start: u32) -> PathBuf {
        self.0.join(format!("found.{start}"))
    }
}

/// What a job says, from the beginning.
#[derive(Debug)]
pub(crate) struct Messages {
    mailbox: Mailbox,
    start: u32,
    /// How much of the file was read.
    read: u64,
    /// What was read last, and how much of it was taken.
    lines: Vec<u8>,
    taken: usize,
}

impl Messages {
    pub(crate) fn of(mailbox: Mailbox) -> Self {
        Self { mailbox, start: 0, read: 0, lines: Vec::new(), taken: 0 }
    }

    /// For which start of the job the last message is, counted from 0.
    pub(crate) fn start(&self) -> u32 {
        self.start
    }

    /// How far it was read: if the job has said anything, even nothing but that it is alive, this is larger afterwards.
    pub(crate) fn position(&self) -> (u32, u64) {
        (self.start, self.read)
    }

    /// The next message, if there is another one.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidData`] for what is no message; others when files cannot be read now.
    pub(crate) fn next(&mut self) -> io::Result<Option<Message>> {
        if let Some(message) = self.take()? {
            return Ok(Some(message));
        }
        self.read_on()?;
        if let Some(message) = self.take()? {
            return Ok(Some(message));
        }
        if self.mailbox.messages(self.start + 1).try_exists()? {
            *self = Self { start: self.start + 1, ..Self::of(self.mailbox.clone()) };
            self.read_on()?;
        }
        self.take()
    }

    fn read_on(&mut self) -> io::Result<()> {
        let mut file = match File::open(self.mailbox.messages(self.start)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            file => file?,
        };
        file.seek(SeekFrom::Start(self.read))?;
        // The beginning of a line stays.
        self.lines.drain(..std::mem::take(&mut self.taken));
        let before = self.lines.len();
        // What was read before an error counts, or it would be read twice.
        let result = file.read_to_end(&mut self.lines);
        self.read += (self.lines.len() - before) as u64;
        result.map(drop)
    }

    fn take(&mut self) -> io::Result<Option<Message>> {
        while let Some(length) = self.lines[self.taken..].iter().position(|&byte| byte == b'\n') {
            let line = &self.lines[self.taken..self.taken + length];
            self.taken += length + 1;
            if !line.trim_ascii().is_empty() {
                let message = serde_json::from_slice(line);
                return Ok(Some(message.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;
    use std::path::Path;

    use super::*;
    use crate::worker::protocol::Ending;

    /// Lets the job say something, as pieces of a file.
    pub(crate) fn say(mailbox: &Mailbox, start: u32, pieces: &[&str]) {
        let mut file =
            OpenOptions::new().create(true).append(true).open(mailbox.messages(start)).expect("it can be written");
        pieces.iter().for_each(|piece| file.write_all(piece.as_bytes()).expect("it can be written"));
    }

    /// A message as a line.
    pub(crate) fn line(message: &Message) -> String {
        serde_json::to_string(message).expect("plain data") + "\n"
    }

    fn mailbox(folder: &Path) -> Mailbox {
        let mailbox = Mailbox::at(folder.join("array/0"));
        mailbox.make(&Assignment::of_a_test(1)).expect("it can be made");
        mailbox
    }

    #[test]
    fn messages_are_read_whole_and_once() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mailbox = mailbox(folder.path());
        let mut messages = Messages::of(mailbox.clone());
        assert_eq!(messages.next().expect("nothing is there"), None);
        let ended = line(&Message::Ended(Ending::Suspended));
        let (first, rest) = ended.split_at(5);
        say(&mailbox, 0, &["\n", first]);
        assert_eq!(messages.next().expect("half of it is none"), None);
        let position = messages.position();
        say(&mailbox, 0, &[rest, "\n\n"]);
        assert_eq!(messages.next().expect("it is whole"), Some(Message::Ended(Ending::Suspended)));
        assert_eq!(messages.next().expect("that was all"), None);
        assert!(messages.position() > position, "it is alive");
        say(&mailbox, 0, &["no message\n"]);
        assert_eq!(messages.next().expect_err("it is none").kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn a_job_that_is_started_again_speaks_for_itself() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mailbox = mailbox(folder.path());
        let began = |cycle| Message::Began { cycle, wall: std::time::Duration::ZERO };
        let mut messages = Messages::of(mailbox.clone());
        say(&mailbox, 0, &[&line(&began(1)), "{\"half"]);
        say(&mailbox, 1, &[&line(&began(2))]);
        assert_eq!(messages.next().expect("it is read"), Some(began(1)));
        assert_eq!((messages.next().expect("it is read"), messages.start()), (Some(began(2)), 1));
        say(&mailbox, 0, &["\n", &line(&began(3))]);
        assert_eq!(messages.next().expect("nobody reads what the lost one says"), None);
    }

    #[test]
    fn a_job_without_a_lease_has_nothing_to_do() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mailbox = mailbox(folder.path());
        assert!(mailbox.has_lease() && mailbox.job().is_err());
        mailbox.submitted("7_0").expect("it can be written");
        assert_eq!(mailbox.job().expect("it is written"), "7_0");
        assert!(mailbox.assignment().expect("it is there").is_same_work(&Assignment::of_a_test(1)));
        mailbox.revoke();
        assert!(!mailbox.has_lease() && !mailbox.path().exists());
    }
}
