//! What a server and a worker tell each other: messages as JSON, each behind its length.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::domain::{Artifact, RunFailure, Sample, ScenarioSource, Summary};

/// No message is longer: an assignment holds a scenario, whose bytes the server limits.
const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// The bytes of a length.
const LENGTH_BYTES: usize = 4;

/// What a worker is to do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Assignment {
    /// The run, and its number.
    pub run: String,
    pub number: i64,
    /// The sweep that it belongs to; empty if it is a run of its own.
    pub sweep: String,
    pub scenario: ScenarioSource,
    /// Threads; 0 for the sequential executor.
    pub threads: u32,
    /// The version of the program, as it stands in reports: checkpoints of others are not used.
    pub version: String,
    /// The server's folder, in which checkpoints are.
    pub data: PathBuf,
    /// A folder of this attempt alone, for what it finds. Nobody else writes there.
    pub attempt: PathBuf,
    pub memory_bytes_max: u64,
    /// The wall time that the run may take, all attempts together.
    pub wall_s_max: u64,
    pub artifact_bytes_max: u64,
    pub sample_interval_ms: u64,
    pub checkpoint_interval_ms: u64,
}

impl Assignment {
    /// Whether it is the same work, whatever folder its results go to.
    pub(crate) fn is_same_work(&self, other: &Self) -> bool {
        Self { attempt: other.attempt.clone(), ..self.clone() } == *other
    }

    /// One that asks for nothing in particular.
    #[cfg(test)]
    pub(crate) fn of_a_test(threads: u32) -> Self {
        Self {
            run: "one".to_owned(),
            number: 1,
            sweep: String::new(),
            scenario: ScenarioSource::default(),
            threads,
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
}

/// What is said to a worker. When the server's end is closed, a worker ends at once.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Order {
    /// To carry out a run. If it `is_last`, or does not succeed, the worker ends afterwards; else it waits for the next.
    Begin { assignment: Box<Assignment>, is_last: bool },
    /// To write a checkpoint, and end: the run goes on later.
    Suspend,
}

/// What a worker says.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) enum Message {
    /// It goes on from a cycle, which had taken so much wall time.
    Began {
        cycle: u64,
        wall: Duration,
    },
    Sample(Sample),
    /// A checkpoint of so many bytes is on disk.
    Checkpoint {
        bytes: usize,
        took: Duration,
    },
    /// The last that it says of a run.
    Ended(Ending),
}

/// How a worker has ended that could say so.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) enum Ending {
    Succeeded(Results),
    Failed(RunFailure),
    /// As it was told to.
    Suspended,
}

/// What a run has found: its files are in the folder of the attempt.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Results {
    pub artifacts: Vec<Artifact>,
    pub summary: Summary,
    pub result_digest: String,
    pub packet_hops: u64,
    /// The most memory that the worker had in use for it, where the system tells. Jobs of earlier builds do not say.
    #[serde(default)]
    pub peak_memory_bytes: Option<u64>,
}

/// One end of the connection between a server and a worker.
#[derive(Debug)]
pub(crate) struct Channel {
    stream: UnixStream,
    /// The beginning of a message that has not arrived as a whole.
    received: Vec<u8>,
}

impl Channel {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Self { stream, received: Vec::new() }
    }

    pub(crate) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let mut bytes = vec![0; LENGTH_BYTES];
        serde_json::to_writer(&mut bytes, message)?;
        let length = bytes.len() - LENGTH_BYTES;
        if length > MESSAGE_BYTES_MAX {
            return Err(io::Error::new(ErrorKind::InvalidInput, format!("a message of {length} bytes is too long")));
        }
        bytes[..LENGTH_BYTES].copy_from_slice(&(length as u32).to_le_bytes());
        self.stream.write_all(&bytes)
    }

    /// The next message; none if it does not arrive within `wait_max`. Without one it is waited for.
    ///
    /// # Errors
    /// When the other end is closed, or says what is no message.
    pub(crate) fn receive<M: DeserializeOwned>(&mut self, wait_max: Option<Duration>) -> io::Result<Option<M>> {
        self.stream.set_read_timeout(wait_max)?;
        loop {
            if let Some(message) = self.take()? {
                return Ok(Some(message));
            }
            let mut piece = [0; 64 << 10];
            match self.stream.read(&mut piece) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => self.received.extend_from_slice(&piece[..bytes]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// A message that has arrived as a whole.
    fn take<M: DeserializeOwned>(&mut self) -> io::Result<Option<M>> {
        let Some((length, rest)) = self.received.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MESSAGE_BYTES_MAX {
            return Err(io::Error::new(ErrorKind::InvalidData, format!("a message of {length} bytes is none")));
        }
        let Some(text) = rest.get(..length) else { return Ok(None) };
        let message = serde_json::from_slice(text)?;
        self.received.drain(..LENGTH_BYTES + length);
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Channel, Channel) {
        let (one, other) = UnixStream::pair().expect("there are sockets");
        (Channel::new(one), Channel::new(other))
    }

    #[test]
    fn messages_arrive_whole_and_in_order() {
        let (mut worker, mut server) = pair();
        let all = [
            Message::Began { cycle: 7, wall: Duration::from_millis(1500) },
            Message::Sample(Sample { cycle: 10, latency_mean: Some(2.5), ..Sample::default() }),
            Message::Ended(Ending::Suspended),
        ];
        assert_eq!(server.receive::<Message>(Some(Duration::from_millis(1))).expect("it is open"), None);
        all.iter().for_each(|message| worker.send(message).expect("somebody reads"));
        for message in &all {
            assert_eq!(server.receive(None).expect("it is open").as_ref(), Some(message));
        }
        drop(worker);
        let closed = server.receive::<Message>(None).expect_err("nobody is there");
        assert_eq!(closed.kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn pieces_are_put_together() {
        let (mut worker, mut server) = pair();
        let text = serde_json::to_vec(&Order::Suspend).expect("plain data");
        let whole = [&(text.len() as u32).to_le_bytes()[..], &text].concat();
        for byte in &whole[..whole.len() - 1] {
            worker.stream.write_all(&[*byte]).expect("somebody reads");
            assert!(server.receive::<Order>(Some(Duration::from_millis(1))).expect("it is open").is_none());
        }
        worker.stream.write_all(&whole[whole.len() - 1..]).expect("somebody reads");
        assert!(matches!(server.receive(None).expect("it is open"), Some(Order::Suspend)));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [&[0xff; 8][..], b"\x02\0\0\0{]", b"\x04\0\0\0null"] {
            let (mut worker, mut server) = pair();
            worker.stream.write_all(bytes).expect("somebody reads");
            assert!(server.receive::<Message>(None).is_err(), "{bytes:?}");
        }
    }
}
