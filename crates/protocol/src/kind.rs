//! Kinds of packets: what the network knows of them.

use serde::{Deserialize, Serialize};

use crate::PathUse;

/// A kind of packet: its number among those that its protocol declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PacketKind(u8);

impl PacketKind {
    /// Lossless data, the first kind of every protocol.
    pub const DATA: Self = Self(0);

    /// The kind with a number.
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// Its number, as an index into [`crate::Protocol::kinds`].
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What packets of a kind carry, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// A part of a message; must arrive.
    Data,
    /// A part of a message; switches may drop it.
    LossyData,
    /// Control for a source.
    Feedback,
    /// Control for a source, from a router: one of its data packets has been dropped, and must be sent again.
    Nack,
    /// Control for a sink.
    Request,
    /// Control for a sink: what is left of a data packet for it that a router has trimmed. The sink tells the source, by feedback.
    Trimmed,
}

impl Direction {
    /// Whether packets carry a part of a message.
    #[inline]
    #[must_use]
    pub const fn carries_data(self) -> bool {
        matches!(self, Self::Data | Self::LossyData)
    }

    /// Whether packets are control for a sink.
    #[inline]
    #[must_use]
    pub const fn asks_sink(self) -> bool {
        matches!(self, Self::Request | Self::Trimmed)
    }
}

/// A kind of packet, as a protocol declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindDeclaration {
    /// The name of several packets of it in reports, in lower case with underscores.
    pub name: &'static str,
    /// What they carry, and to whom.
    pub direction: Direction,
    /// Their traffic class.
    pub class: u8,
    /// The flits of one if it is a control packet. Data packets have the sizes that their messages give them.
    pub flits: u16,
    /// Words of payload that travel with each: what [`Control`](crate::Control) and marks have no place for.
    pub payload_words: u8,
    /// Whether their path is recorded, or they take a recorded one.
    pub path: PathUse,
}

impl KindDeclaration {
    /// The name of one packet of it, for people.
    #[must_use]
    pub fn singular(&self) -> String {
        let words = self.name.replace('_', " ");
        match (words.strip_suffix("ies"), words.strip_suffix('s')) {
            (Some(stem), _) => format!("{stem}y"),
            (None, Some(stem)) => stem.to_owned(),
            (None, None) => words,
        }
    }

    /// Lossless data of the first traffic class.
    pub const DATA: Self =
        Self { name: "data", direction: Direction::Data, class: 0, flits: 0, payload_words: 0, path: PathUse::None };

    /// Data that switches may drop.
    #[must_use]
    pub const fn lossy_data(name: &'static str, class: u8) -> Self {
        Self { name, direction: Direction::LossyData, class, flits: 0, payload_words: 0, path: PathUse::None }
    }

    /// Control packets of one flit.
    #[must_use]
    pub const fn control(name: &'static str, direction: Direction, class: u8) -> Self {
        Self { name, direction, class, flits: 1, payload_words: 0, path: PathUse::None }
    }

    /// The same with payload.
    #[must_use]
    pub const fn with_payload(self, words: u8) -> Self {
        Self { payload_words: words, ..self }
    }

    /// The same for requests whose path is recorded, so that answers can take it in reverse.
    #[must_use]
    pub const fn recording_path(self) -> Self {
        Self { path: PathUse::Records, ..self }
    }

    /// The same for feedback that takes the recorded path of a request in reverse: [`Control::along`](crate::Control::along).
    #[must_use]
    pub const fn on_recorded_path(self) -> Self {
        Self { path: PathUse::Follows, ..self }
    }

    /// The same with another size.
    #[must_use]
    pub const fn of_flits(self, flits: u16) -> Self {
        Self { flits, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_is_named_after_several() {
        let name = |name| KindDeclaration::control(name, Direction::Feedback, 1).singular();
        assert_eq!(["grants", "retries", "speculative_data"].map(name), ["grant", "retry", "speculative data"]);
    }
}
