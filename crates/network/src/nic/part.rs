//! Packets are made of what their messages say.

use tailback_routing::Header;

use super::source::SendAs;
use crate::fabric::Fabric;
use crate::packet::{NONE, Packet, index_and_flags};
use crate::time::Time;

/// What a packet has from its message.
pub(super) struct Part {
    pub created: Time,
    pub destination: u32,
    pub message: u32,
    pub traffic: u16,
    pub index: u32,
    pub last: bool,
}

impl Part {
    /// The packet, as it leaves `source`.
    #[inline]
    pub fn packet(&self, source: u32, flits: u16, send_as: SendAs, fabric: &Fabric, now: Time) -> Packet {
        let &Self { created, destination, message, traffic, index, last } = self;
        Packet {
            created,
            injected: now,
            head_at: now,
            tail_lag: 0,
            next: NONE,
            source,
            destination,
            message,
            header: Header::new(fabric.locator(destination)),
            flits,
            index_and_flags: index_and_flags(index, last),
            traffic,
            class: send_as.class,
            vc: 0,
            vcs: 1,
            hops: 0,
            kind: send_as.kind,
            marks: send_as.marks,
            about_flits: 0,
            word: 0,
        }
    }
}
