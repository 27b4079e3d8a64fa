//! What control packets say.

use serde::{Deserialize, Serialize};

use crate::{PacketKind, RecordedPath};

/// A packet of a message, as its source names it. A name is used again only when the message before is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PacketRef {
    /// The message.
    pub message: u32,
    /// The packet's place in it.
    pub index: u32,
}

/// A packet that carries no data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// Its kind.
    pub kind: PacketKind,
    /// The node that it comes from, or in whose name a router sends it.
    pub from: u32,
    /// The node that it is for.
    pub to: u32,
    /// The packet, or the message by its first packet, that it is about.
    pub about: PacketRef,
    /// The flits that it is about: of a request those to come, of a NACK and of a trimmed packet those that were dropped.
    pub flits: u32,
    /// The tick that it names, if any. What is for a sink names none.
    pub time: Option<u64>,
    /// Marks that the data packet had when it arrived.
    pub marks: u8,
    /// Its entropy value, by which routing may choose its path: of acknowledgements and trimmed packets that of the data packet.
    pub entropy: u16,
    /// Words that its kind declares as payload; what is not given is 0.
    pub payload: Vec<u64>,
    /// Of a kind whose path is recorded the path so far; of one that takes a recorded path that path.
    pub path: RecordedPath,
}

impl Control {
    /// One that says nothing but what it is.
    #[must_use]
    #[inline]
    pub fn new(kind: PacketKind, from: u32, to: u32, about: PacketRef) -> Self {
        Self {
            kind,
            from,
            to,
            about,
            flits: 0,
            time: None,
            marks: 0,
            entropy: 0,
            payload: Vec::new(),
            path: RecordedPath::default(),
        }
    }

    /// The same about so many flits.
    #[must_use]
    pub fn flits(self, flits: u32) -> Self {
        Self { flits, ..self }
    }

    /// The same with payload.
    #[must_use]
    #[inline]
    pub fn payload(self, words: &[u64]) -> Self {
        Self { payload: words.to_vec(), ..self }
    }

    /// The same along the path of a request in reverse, from where the request is; or along what is left of the path of another
    /// packet that takes one.
    #[must_use]
    pub fn along(self, request: &Self) -> Self {
        Self { path: request.path, ..self }
    }

    /// The same naming a tick.
    #[must_use]
    pub fn time(self, time: u64) -> Self {
        Self { time: Some(time), ..self }
    }
}
