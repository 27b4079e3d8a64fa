//! The receiving side of a node.

use crate::{Control, PacketKind, PacketRef};

/// A data packet that has arrived, all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// What it is.
    pub kind: PacketKind,
    /// Who sent it.
    pub from: u32,
    /// Who received it.
    pub to: u32,
    /// What its source calls it.
    pub packet: PacketRef,
    /// Its size.
    pub flits: u16,
    /// What it was marked with on its way.
    pub marks: u8,
}

/// The machine that answers what arrives at a node.
pub trait Sink: Send {
    /// A data packet has arrived.
    fn take(&mut self, arrival: &Arrival, now: u64, replies: &mut Vec<Control>);

    /// A control packet for the receiving side has arrived: a reservation.
    fn hear(&mut self, _control: &Control, _now: u64, _replies: &mut Vec<Control>) {}

    /// Appends what it remembers to `bytes`, if it remembers anything.
    fn save(&self, _bytes: &mut Vec<u8>) {}

    /// Takes from the front of `bytes` what [`Sink::save`] has written. `None` if it is not there.
    fn load(&mut self, _bytes: &mut &[u8]) -> Option<()> {
        Some(())
    }
}
