//! What happens at a given tick, in eight bytes.

use serde::{Deserialize, Serialize};

/// An event of a region.
///
/// From the top down: four bits of kind, 28 bits of place, 32 bits of payload. The order of the numbers is the order in
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
    /// A port gets credits: payload is virtual channel and flits.
    Credit = 1,
    /// The crossbar is done with an input of a port; payload is the virtual channel if channels have inputs of their own.
    InputFree = 2,
    /// The crossbar is done with an output of a port; payload likewise.
    OutputFree = 3,
    /// A departing packet has made room in the output queue of a port.
    RoomFree = 4,
    /// The head of a queue of a port may ask for the crossbar; payload is virtual channel and row.
    HeadReady = 5,
    /// The head of a queue of a port has lost patience; payload is virtual channel, row and the number of this announcement.
    Impatience = 6,
    /// Notice `payload` of a routing agent has had the time to arrive.
    Notice = 7,
    /// All routing agents of a region tell the others of their domain something.
    Broadcast = 8,
    /// A port may send the next packet on its link.
    LinkStart = 9,
    /// A node gets credits: payload is virtual channel and flits.
    NodeCredit = 10,
    /// The last flit of packet `payload` arrives at a node.
    Delivery = 11,
    /// A node's link is free again.
    NodeLink = 12,
    /// A node has a message to send.
    Message = 13,
    /// Something that waits at a node may be sent now; payload is the number of this announcement.
    Due = 14,
}

impl EventKind {
    const ALL: [Self; KINDS] = [
        Self::Arrival,
        Self::Credit,
        Self::InputFree,
        Self::OutputFree,
        Self::RoomFree,
        Self::HeadReady,
        Self::Impatience,
        Self::Notice,
        Self::Broadcast,
        Self::LinkStart,
        Self::NodeCredit,
        Self::Delivery,
        Self::NodeLink,
        Self::Message,
        Self::Due,
    ];
}

/// How many routers, and how many nodes, a region can have.
pub(crate) const ROUTERS_MAX: u32 = 1 << 20;
pub(crate) const NODES_MAX: u32 = 1 << 28;

impl Event {
    /// At a port of a router, both as the region numbers them.
    #[inline]
    pub fn at_port(kind: EventKind, router: u32, port: u8, payload: u32) -> Self {
        debug_assert!(router < ROUTERS_MAX);
        Self(u64::from(kind as u8) << 60 | u64::from(router) << 40 | u64::from(port) << 32 | u64::from(payload))
    }

    /// At a node, as the region numbers it.
    #[inline]
    pub fn at_node(kind: EventKind, node: u32, payload: u32) -> Self {
        debug_assert!(node < NODES_MAX);
        Self(u64::from(kind as u8) << 60 | u64::from(node) << 32 | u64::from(payload))
    }

    /// The number of its kind.
    #[inline]
    fn kind_index(self) -> usize {
        (self.0 >> 60) as usize
    }

    /// Its kind.
    pub fn kind(self) -> EventKind {
        EventKind::ALL[self.kind_index()]
    }

    /// All of it but what depends on how the network is cut into regions: where it happens, and, for kinds of which
    /// there can be several at a port in one tick, the payload.
    fn place(self) -> u64 {
        match self.kind() {
            EventKind::Arrival | EventKind::Delivery => self.0 >> 32,
            _ => self.0,
        }
    }

    /// Whether the order of two events matters, and nothing that is the same everywhere says which it is. Credits that a
    /// dropped packet and another give back at once are the same.
    fn ties(self, other: Self) -> bool {
        let credits = matches!(self.kind(), EventKind::Credit | EventKind::NodeCredit);
        self.place() == other.place() && !credits
    }

    /// The same event with another payload.
    #[inline]
    pub fn with_payload(self, payload: u32) -> Self {
        Self(self.0 >> 32 << 32 | u64::from(payload))
    }

    #[inline]
    pub fn router(self) -> u32 {
        (self.0 >> 40) as u32 & (ROUTERS_MAX - 1)
    }

    #[inline]
    pub fn port(self) -> u8 {
        (self.0 >> 32) as u8
    }

    #[inline]
    pub fn node(self) -> u32 {
        (self.0 >> 32) as u32 & (NODES_MAX - 1)
    }

    #[inline]
    pub fn payload(self) -> u32 {
        self.0 as u32
    }
}

const KINDS: usize = EventKind::Due as usize + 1;
const LATE: u16 = u16::MAX << EventKind::LinkStart as u8;
const OF_NODES: u16 = u16::MAX << EventKind::NodeCredit as u8;

/// The events of one tick, by kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct TickEvents {
    /// Set of the kinds there are.
    kinds: u16,
    by_kind: [Vec<Event>; KINDS],
}

impl TickEvents {
    #[inline]
    pub fn push(&mut self, event: Event) {
        let kind = event.kind_index();
        self.kinds |= 1 << kind;
        self.by_kind[kind].push(event);
    }

    /// Whether there are any that come before routers allocate.
    #[inline]
    pub fn any_early(&self) -> bool {
        self.kinds & !LATE != 0
    }

    /// Whether there are any that concern nodes.
    #[inline]
    pub fn any_of_nodes(&self) -> bool {
        self.kinds & OF_NODES != 0
    }

    /// Those of a kind.
    #[inline]
    pub fn of(&self, kind: EventKind) -> impl Iterator<Item = Event> {
        self.by_kind[kind as usize].iter().copied()
    }

    /// Puts those of each kind in order of place.
    pub fn sort(&mut self) {
        for events in &mut self.by_kind {
            events.sort_unstable();
            debug_assert!(events.windows(2).all(|pair| !pair[0].ties(pair[1])), "a tie in {events:?}");
        }
    }

    pub fn clear(&mut self) {
        while self.kinds != 0 {
            self.by_kind[self.kinds.trailing_zeros() as usize].clear();
            self.kinds &= self.kinds - 1;
        }
    }
}

/// Credits of a virtual channel as a payload.
#[inline]
pub(crate) fn credit(vc: u8, flits: u16) -> u32 {
    u32::from(vc) << 16 | u32::from(flits)
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
        let event = Event::at_port(EventKind::Credit, 0xf_1234, 0xab, credit(15, 65_535));
        assert_eq!((event.kind_index(), event.router(), event.port()), (EventKind::Credit as usize, 0xf_1234, 0xab));
        assert_eq!(credited(event.payload()), (15, 65_535));
        let event = Event::at_node(EventKind::Message, 0xabc_def1, 7);
        assert_eq!((event.kind_index(), event.node(), event.payload()), (EventKind::Message as usize, 0xabc_def1, 7));
    }
}
