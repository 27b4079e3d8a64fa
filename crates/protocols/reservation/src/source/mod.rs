//! The sending side.

mod by_message;
mod by_packet;
mod by_size;

pub(crate) use by_message::ByMessage;
pub(crate) use by_packet::{ByPacket, Escalation, OnNack};
pub(crate) use by_size::BySize;

use tailback_protocol::{PacketKind, PacketRef, SourceAction};

/// The order to send a packet again, as lossless data, from `at` on.
pub fn resend(packet: PacketRef, at: u64) -> SourceAction {
    SourceAction::Resend { packet, kind: PacketKind::DATA, at }
}
