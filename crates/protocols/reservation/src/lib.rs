//! Reservation protocols: SRP, SMSRP, LHRP and their combination (Jiang, Dennison, Dally, SC'15).
//!
//! Packets are first sent *speculatively*: in a class of low priority whose packets routers may drop where queues form.
//! What was dropped is sent again as lossless data, at a time that a [`Schedule`] gives out so that a destination gets no
//! more than it can take. The protocols differ in who asks that schedule, when, and where it is:
//!
//! | | schedule | is asked | drops |
//! |---|---|---|---|
//! | SRP | at the destination | once per message, before its first packet | anywhere, after too much waiting |
//! | SMSRP | at the destination | once per dropped packet | the same |
//! | LHRP | in the last router | by the drop itself; the NACK carries the time | in the last router, above a number of flits |
//! | comprehensive | in the last router | as LHRP for small messages, as SRP for large ones | as LHRP |
//!
//! Sources are two machines: `source::ByPacket` for SMSRP and LHRP, `source::ByMessage` for SRP; the combination is one
//! of each. `README.md` has the state machines, each parameter with its place in the paper, and what had to be
//! interpreted.
//!
//! **What this crate must never know:** anything but the seam: no network, no engine, no topology.
//!
//! **The invariant it keeps:** lossless data is sent only after a grant or a NACK with a time, and not before the time that
//! it names less the time that such word took, but for SRP's messages below `bypass_below`.

mod models;
mod protocols;
mod schedule;
mod sink;
mod source;
mod switch;

pub use models::{COMPREHENSIVE, LHRP, OVERHEAD, SEND_AT, SMSRP, SRP, lead};
pub use protocols::{Comprehensive, FabricDrop, Lhrp, Smsrp, Srp, Terms, Threshold};
pub use schedule::{Lead, Schedule, charged};
pub use source::resend;

/// Traffic classes by number. Protocols have the first few of them, or all.
mod class {
    /// Data that may be dropped.
    pub const SPECULATIVE: u8 = 1;
    /// Acknowledgements and NACKs.
    pub const ANSWERS: u8 = 2;
    /// Reservations.
    pub const RESERVATIONS: u8 = 3;
    /// Grants.
    pub const GRANTS: u8 = 4;
}

/// Kinds of packets, in the order in which protocols declare them; reservations and grants only where there are any.
pub mod kind {
    use tailback_protocol::PacketKind;

    /// Data that may be dropped.
    pub const SPECULATIVE: PacketKind = PacketKind::new(1);
    /// The answer to data that has arrived.
    pub const ACKNOWLEDGEMENT: PacketKind = PacketKind::new(2);
    /// The answer to data that was dropped.
    pub const NACK: PacketKind = PacketKind::new(3);
    /// What asks for a time.
    pub const RESERVATION: PacketKind = PacketKind::new(4);
    /// What names a time.
    pub const GRANT: PacketKind = PacketKind::new(5);

    /// The names of those without data in reports.
    pub(crate) const ACKNOWLEDGEMENTS: &str = "acknowledgements";
    pub(crate) const NACKS: &str = "nacks";
    pub(crate) const RESERVATIONS: &str = "reservations";
    pub(crate) const GRANTS: &str = "grants";
    pub(crate) const CONTROL: &[&str] = &[ACKNOWLEDGEMENTS, NACKS, RESERVATIONS, GRANTS];
}

/// A mark that data packets start with: their message has a reservation of its own.
const RESERVED: u8 = 1;
