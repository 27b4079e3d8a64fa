//! The receiving side of a node.

use crate::{Control, PacketKind, PacketRef};

/// A data packet that has arrived, all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// Its kind.
    pub kind: PacketKind,
    /// The node that sent it.
    pub from: u32,
    /// The node that received it.
    pub to: u32,
    /// What its source calls it.
    pub packet: PacketRef,
    /// Its size.
    pub flits: u16,
    /// What it was marked with on its way.
    pub marks: u8,
    /// Its entropy value: [`Source::entropy`](crate::Source::entropy).
    pub entropy: u16,
    /// When its first flit left its source.
    pub sent_at: u64,
    /// The links between routers that it has taken.
    pub hops: u8,
    /// The words that its kind declares as payload.
    pub payload: &'a [u64],
}

impl Arrival<'_> {
    /// What acknowledges it, with its marks and its entropy value.
    #[must_use]
    pub fn acknowledgement(&self, kind: PacketKind) -> Control {
        Control { marks: self.marks, entropy: self.entropy, ..Control::new(kind, self.to, self.from, self.packet) }
    }
}

/// What answers the packets that arrive at a node.
pub trait Sink: Send {
    /// A data packet has arrived.
    fn on_data(&mut self, arrival: &Arrival<'_>, now: u64, replies: &mut Vec<Control>);

    /// A request has arrived, or what is left of a packet that was trimmed.
    fn on_request(&mut self, _request: &Control, _now: u64, _replies: &mut Vec<Control>) {}

    /// Appends what it remembers to `bytes`, if it remembers anything.
    fn save(&self, _bytes: &mut Vec<u8>) {}

    /// Takes from the front of `bytes` what [`Sink::save`] has written. `None` if it is not there.
    fn load(&mut self, _bytes: &mut &[u8]) -> Option<()> {
        Some(())
    }
}
