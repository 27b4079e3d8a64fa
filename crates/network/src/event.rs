//! What happens at a given tick, in eight bytes.

use serde::{Deserialize, Serialize};
use tailback_engine::{Kinds, Scheduled};

/// An event of a region.
///
/// From the top down: four bits of kind, 28 bits of target, 32 bits of payload. The order of the numbers is the order in
/// which the events of a tick are handled: first all that changes what routers and nodes know, then, after the routers
/// have allocated their crossbars, what links and nodes start. Nothing in this order depends on how the network is
/// cut into regions, but for payloads, and no two events of a tick agree in all else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Event(u64);

/// The kinds of events, in the order in which they are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EventKind {
    /// The first flit of packet `payload` arrives at a port.
    Arrival = 0,
    /// A port gets credits: payload is virtual channel and flits. A port that leads to a node hears instead until when the node pauses its link.
    Credit = 1,
    /// The crossbar is done with an input of a port; payload is the virtual channel if channels have inputs of their own.
    InputFree = 2,
    /// The crossbar is done with an output of a port; payload likewise.
    OutputFree = 3,
    /// A departing packet has made room in the output queue of a port.
    RoomFree = 4,
    /// The head of a queue of a port may ask for the crossbar; payload is virtual channel and VOQ.
    HeadReady = 5,
    /// The head of a queue of a port may have waited for too long; payload is virtual channel, VOQ and the number of this
    /// announcement.
    HeadTimeout = 6,
    /// A timer of the protocol's part of a router is due: that of the router with this port; payload is its token.
    SwitchTimer = 7,
    /// Target [`ARRIVED`]: notice `payload` of a routing agent has had the time to arrive. Target [`BROADCAST`]: all routing agents of
    /// a region tell the others of their domain something.
    Notice = 8,
    /// A port may send the next packet on its link.
    LinkStart = 9,
    /// A node gets credits: payload is virtual channel and flits.
    NodeCredit = 10,
    /// A message of the control network is due, or a timer of a controller: which, the control network knows.
    ControlMessage = 11,
    /// The last flit of packet `payload` arrives at a node.
    Delivery = 12,
    /// A node's link is free again.
    NodeLink = 13,
    /// A node has a message to send.
    Message = 14,
    /// Something that waits at a node may be sent now; payload is the number of this announcement.
    Due = 15,
}

impl EventKind {
    const ALL: [Self; KINDS] = [
        Self::Arrival,
        Self::Credit,
        Self::InputFree,
        Self::OutputFree,
        Self::RoomFree,
        Self::HeadReady,
        Self::HeadTimeout,
        Self::SwitchTimer,
        Self::Notice,
        Self::LinkStart,
        Self::NodeCredit,
        Self::ControlMessage,
        Self::Delivery,
        Self::NodeLink,
        Self::Message,
        Self::Due,
    ];
}

/// The targets of notices: one that has arrived, and the time to send some.
pub(crate) const ARRIVED: u32 = 0;
pub(crate) const BROADCAST: u32 = 1;

/// How many ports of routers, and how many nodes, a region can have.
pub(crate) const TARGETS_MAX: u32 = 1 << 28;

impl Event {
    /// At a port or a node, as the region numbers it.
    #[inline]
    pub fn at(kind: EventKind, target: u32, payload: u32) -> Self {
        debug_assert!(target < TARGETS_MAX);
        Self(u64::from(kind as u8) << 60 | u64::from(target) << 32 | u64::from(payload))
    }

    /// All of it, and the event of which that is all.
    pub fn word(self) -> u64 {
        self.0
    }

    pub fn of_word(word: u64) -> Self {
        Self(word)
    }

    /// Its kind.
    pub fn kind(self) -> EventKind {
        EventKind::ALL[Scheduled::kind(&self)]
    }

    /// All of it but what depends on how the network is cut into regions: where it happens, and, for kinds of which
    /// there can be several at a port in one tick, the payload.
    fn identity(self) -> u64 {
        match self.kind() {
            EventKind::Arrival | EventKind::Delivery => self.0 >> 32,
            _ => self.0,
        }
    }

    /// Whether the order of two events matters, and nothing that is the same everywhere says which it is. Credits that a
    /// dropped packet and another give back at once are the same, and so are two timers with one token, and control messages.
    fn ties(self, other: Self) -> bool {
        use EventKind::{ControlMessage, Credit, NodeCredit, SwitchTimer};
        let same = matches!(self.kind(), Credit | NodeCredit | SwitchTimer | ControlMessage);
        self.identity() == other.identity() && !same
    }

    /// The same event with another payload.
    #[inline]
    pub fn with_payload(self, payload: u32) -> Self {
        Self(self.0 >> 32 << 32 | u64::from(payload))
    }

    /// The port or node, as the region numbers it.
    #[inline]
    pub fn target(self) -> u32 {
        (self.0 >> 32) as u32 & (TARGETS_MAX - 1)
    }

    #[inline]
    pub fn payload(self) -> u32 {
        self.0 as u32
    }
}

const KINDS: usize = EventKind::Due as usize + 1;

/// The kinds that come before routers allocate, those of them that are rare, and the kinds that concern nodes.
pub(crate) const EARLY: Kinds = (1 << EventKind::LinkStart as u32) - 1;
pub(crate) const RARE: Kinds = EARLY & (Kinds::MAX << EventKind::RoomFree as u32);
pub(crate) const OF_NODES: Kinds = Kinds::MAX << EventKind::NodeCredit as u32;

/// Whether a kind is among some.
#[inline]
pub(crate) fn has(kinds: Kinds, kind: EventKind) -> bool {
    kinds & 1 << kind as u32 != 0
}

impl Scheduled for Event {
    const KINDS: usize = KINDS;

    #[inline]
    fn kind(&self) -> usize {
        (self.0 >> 60) as usize
    }
}

/// Puts events of a kind in order of target.
pub(crate) fn sort(events: &mut [Event]) {
    events.sort_unstable();
    debug_assert!(events.windows(2).all(|pair| !pair[0].ties(pair[1])), "a tie in {events:?}");
}

/// Credits of a virtual channel as a payload.
#[inline]
pub(crate) fn credit(vc: u8, flits: u16) -> u32 {
    u32::from(vc) << 16 | u32::from(flits)
}

/// The node that a credit payload is for, where buffers have a queue for each.
#[inline]
pub(crate) fn credited_node(payload: u32) -> u8 {
    (payload >> 24) as u8
}

/// The virtual channel and the flits of a credit payload.
#[inline]
pub(crate) fn credited(payload: u32) -> (u8, u16) {
    ((payload >> 16) as u8, payload as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_keep_what_they_are_made_of() {
        let event = Event::at(EventKind::Credit, 0xf12_34ab, credit(15, 65_535));
        assert_eq!((event.kind(), event.target()), (EventKind::Credit, 0xf12_34ab));
        assert_eq!(credited(event.payload()), (15, 65_535));
        let event = Event::at(EventKind::Message, 0xabc_def1, 7);
        assert_eq!((event.kind(), event.target(), event.payload()), (EventKind::Message, 0xabc_def1, 7));
    }
}
