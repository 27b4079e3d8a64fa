//! A worker's end of a [mailbox](super::mailbox).
//!
//! Two threads carry what is said between the files there and a pair of sockets.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::mailbox::Mailbox;
use super::protocol::{Assignment, Channel, Message, Order};

/// How often it is looked whether the lease is still there.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often a job that has nothing to say shows that it is alive.
pub(crate) const ALIVE_EVERY: Duration = Duration::from_secs(10);
/// How long to wait before something is written again that could not be.
const WRITE_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// No job is started as often.
const STARTS_MAX: u32 = 10_000;

/// What carries messages into the folder.
pub(super) struct Answers {
    /// This end of the connection.
    stream: UnixStream,
    carrying: JoinHandle<()>,
}

/// The worker's end of a connection by a folder; none if nobody waits for the job.
pub(super) fn connect(path: &Path) -> io::Result<Option<(UnixStream, Answers)>> {
    let mailbox = Mailbox::at(path);
    if !mailbox.has_lease() {
        return Ok(None);
    }
    let (start, messages) = begin(&mailbox)?;
    let found = mailbox.found(start);
    fs::create_dir_all(&found)?;
    let assignment = Box::new(Assignment { attempt: found, ..mailbox.assignment()? });
    let (ours, theirs) = UnixStream::pair()?;
    let (mut orders, answers) = (Channel::new(theirs.try_clone()?), Channel::new(theirs.try_clone()?));
    orders.send(&Order::Begin { assignment, is_last: true })?;
    let look = move || {
        while mailbox.has_lease() {
            thread::sleep(LOOK_EVERY);
        }
        // What the server could not remove because it was being written, nobody wants.
        mailbox.revoke();
        // So the worker sees that its server does not want it any more.
        let _ = theirs.shutdown(Shutdown::Write);
    };
    thread::Builder::new().name("lease".to_owned()).spawn(look)?;
    let carrying = thread::Builder::new().name("messages".to_owned()).spawn(move || carry(answers, messages))?;
    Ok(Some((ours.try_clone()?, Answers { stream: ours, carrying })))
}

/// Begins the messages of this start of the job; whoever was started before has begun his.
fn begin(mailbox: &Mailbox) -> io::Result<(u32, File)> {
    for start in 0..STARTS_MAX {
        match OpenOptions::new().append(true).create_new(true).open(mailbox.messages(start)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            file => return Ok((start, file?)),
        }
    }
    Err(io::Error::other("this job was started too often"))
}

/// Writes down messages until the worker has no more.
fn carry(mut answers: Channel, mut messages: File) {
    loop {
        let line = match answers.receive::<Message>(Some(ALIVE_EVERY)) {
            Ok(Some(message)) => serde_json::to_vec(&message).map(|line| [line, b"\n".to_vec()].concat()),
            Ok(None) => Ok(b"\n".to_vec()),
            Err(_) => return,
        };
        match line {
            Ok(line) => write_down(&mut messages, &line),
            Err(error) => tracing::error!(%error, "a message is left out"),
        }
    }
}

/// Writes all of a line, again and again if it must be: a disk that is full now may have room later.
fn write_down(messages: &mut File, line: &[u8]) {
    let mut rest = line;
    loop {
        match messages.write(rest) {
            Ok(bytes) => rest = &rest[bytes..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::warn!(%error, "a message cannot be written; it is tried again");
                thread::sleep(WRITE_AGAIN_AFTER);
            }
        }
        if rest.is_empty() {
            break;
        }
    }
    // Other machines see what is on disk. If it cannot be put there now, it is with the next message.
    let _ = messages.sync_data();
}

impl Answers {
    /// Waits until all that was said is in the folder. Nothing can be said afterwards.
    pub(super) fn finish(self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        // It panics for no reason.
        let _ = self.carrying.join();
    }
}

#[cfg(test)]
mod tests {
    use super::super::mailbox::Messages;
    use super::super::protocol::Ending;
    use super::*;

    fn mailbox(folder: &Path) -> Mailbox {
        let mailbox = Mailbox::at(folder.join("array/0"));
        mailbox.make(&Assignment::of_a_test(3)).expect("it can be made");
        mailbox
    }

    fn connected(mailbox: &Mailbox) -> (Channel, Answers) {
        let (stream, answers) = connect(mailbox.path()).expect("it can be read").expect("it has a lease");
        (Channel::new(stream), answers)
    }

    #[test]
    fn what_is_said_arrives_before_the_job_ends() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mailbox = mailbox(folder.path());
        for start in 0..2 {
            let (mut channel, answers) = connected(&mailbox);
            let Ok(Some(Order::Begin { assignment, is_last: true })) = channel.receive(None) else {
                panic!("it is told what to do")
            };
            assert_eq!((assignment.threads, &assignment.attempt), (3, &mailbox.found(start)));
            assert!(assignment.attempt.is_dir(), "it has a folder of its own");
            channel.send(&Message::Ended(Ending::Suspended)).expect("it is taken");
            answers.finish();
        }
        let mut messages = Messages::of(mailbox);
        assert_eq!(messages.next().expect("it is there"), Some(Message::Ended(Ending::Suspended)));
        assert_eq!(messages.next().expect("it is there"), Some(Message::Ended(Ending::Suspended)));
        assert_eq!(messages.position().0, 1, "each start has a file");
    }

    #[test]
    fn a_job_whose_lease_is_gone_ends() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mailbox = mailbox(folder.path());
        let (mut channel, _answers) = connected(&mailbox);
        assert!(matches!(channel.receive::<Order>(None), Ok(Some(_))));
        mailbox.revoke();
        let gone = channel.receive::<Order>(None).expect_err("the server does not want it");
        assert_eq!(gone.kind(), ErrorKind::UnexpectedEof);
        assert!(connect(mailbox.path()).expect("it can be looked for").is_none());
    }
}
