//! The Channel Reservation Protocol (Michelogiannakis, Jiang, Becker, Dally, SC'13).
//!
//! Each over-subscribed channel and each way to a node has a [table](table::Table) of how much of it is free in the time slots to come. One request
//! for a segment of a message goes to its node and loses, channel by channel, the slots in which there is no room; the node grants one of those that are
//! left and suit its own table, or has the request come again. The grant goes back by the same path and takes the slot in each table;
//! where there is no room any more it becomes a retry. Meanwhile packets are sent *speculatively*, and routers may drop them.
//!
//! | part | does |
//! |---|---|
//! | `source` | one segment at a time for each destination: asks, speculates, sends what was granted |
//! | `switch` | drops what has waited for too long; keeps the tables of [channels](channel::Channel) |
//! | `destination` | chooses slots, grants them, acknowledges speculative packets |
//!
//! `README.md` has each parameter with its place in the paper, and what had to be interpreted.
//!
//! **What this crate must never know:** anything but the seam and what reservation protocols share: no network, no engine, no
//! topology.
//!
//! **The invariant it keeps:** no more is reserved of a cell than it holds, and what is released was reserved.

pub mod channel;
mod destination;
mod model;
mod protocol;
mod source;
mod switch;
pub mod table;
mod words;

pub use destination::SlotChoice;
pub use model::CRP;
pub use protocol::Crp;
pub use source::{AskWhen, Asking};

/// Traffic classes by number.
mod class {
    /// Data that may be dropped.
    pub const SPECULATIVE: u8 = 1;
    /// What sources are told.
    pub const RESPONSES: u8 = 2;
    /// What nodes are asked.
    pub const REQUESTS: u8 = 3;
}

/// Kinds of packets, in the order in which they are declared.
pub mod kind {
    use tailback_protocol::PacketKind;

    /// Data that may be dropped.
    pub const SPECULATIVE: PacketKind = PacketKind::new(1);
    /// The answer to speculative data that has arrived.
    pub const ACKNOWLEDGEMENT: PacketKind = PacketKind::new(2);
    /// The answer to data that was dropped.
    pub const NACK: PacketKind = PacketKind::new(3);
    /// What asks for a time.
    pub const REQUEST: PacketKind = PacketKind::new(4);
    /// What names a time.
    pub const GRANT: PacketKind = PacketKind::new(5);
    /// What says that a request is to come again.
    pub const RETRY: PacketKind = PacketKind::new(6);

    /// The names of those without data in reports.
    pub(crate) const ACKNOWLEDGEMENTS: &str = "acknowledgements";
    pub(crate) const NACKS: &str = "nacks";
    pub(crate) const REQUESTS: &str = "requests";
    pub(crate) const GRANTS: &str = "grants";
    pub(crate) const RETRIES: &str = "retries";
    pub(crate) const CONTROL: &[&str] = &[ACKNOWLEDGEMENTS, NACKS, REQUESTS, GRANTS, RETRIES];
}

/// A mark that lossless data starts with whose message is too small to reserve: tables deduct it as it passes.
const SMALL: u8 = 1;
