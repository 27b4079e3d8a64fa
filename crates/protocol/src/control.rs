//! What packets are, and what control packets say.

use serde::{Deserialize, Serialize};

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PacketKind {
    /// It carries a part of a message, and arrives.
    Data,
    /// It tells a source that one of its data packets has arrived.
    Acknowledgement,
    /// It carries a part of a message, and may be dropped on its way.
    SpeculativeData,
    /// It tells a source that one of its packets has been dropped, and perhaps from when on it may come again.
    Refusal,
    /// It asks for a time from which on some flits may come.
    Reservation,
    /// It names such a time.
    Grant,
    /// It tells a source that one of its data packets has met congestion.
    Notification,
}

impl PacketKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Data,
        Self::Acknowledgement,
        Self::SpeculativeData,
        Self::Refusal,
        Self::Reservation,
        Self::Grant,
        Self::Notification,
    ];

    /// Whether it carries a part of a message.
    #[inline]
    #[must_use]
    pub const fn carries_data(self) -> bool {
        matches!(self, Self::Data | Self::SpeculativeData)
    }

    /// Several of them, in words with underscores.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Acknowledgement => "acknowledgements",
            Self::SpeculativeData => "speculative_data",
            Self::Refusal => "refusals",
            Self::Reservation => "reservations",
            Self::Grant => "grants",
            Self::Notification => "notifications",
        }
    }
}

/// A packet of a message, as its source names it. A name is used again only when the message before is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PacketRef {
    /// The message.
    pub message: u32,
    /// The packet's place in it.
    pub index: u16,
}

/// A packet of one flit that carries no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// What it is.
    pub kind: PacketKind,
    /// Its traffic class.
    pub class: u8,
    /// The node it comes from, or speaks for.
    pub from: u32,
    /// The node it is for.
    pub to: u32,
    /// The packet, or the message by its first packet, that it is about.
    pub about: PacketRef,
    /// The flits that it is about: of a reservation those to come, of a refusal those that were dropped.
    pub flits: u32,
    /// The tick that it names, if any.
    pub time: Option<u64>,
    /// Marks that the data packet had when it arrived.
    pub marks: u8,
}

impl Control {
    /// One that says nothing but what it is.
    #[must_use]
    pub fn new(kind: PacketKind, class: u8, from: u32, to: u32, about: PacketRef) -> Self {
        Self { kind, class, from, to, about, flits: 0, time: None, marks: 0 }
    }

    /// The same about so many flits.
    #[must_use]
    pub fn flits(self, flits: u32) -> Self {
        Self { flits, ..self }
    }

    /// The same naming a tick.
    #[must_use]
    pub fn time(self, time: u64) -> Self {
        Self { time: Some(time), ..self }
    }
}
