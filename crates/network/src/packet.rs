//! Packets, and where a region keeps them.

use serde::{Deserialize, Serialize};
use tailback_engine::Tick;
use tailback_protocol::PacketKind;
use tailback_routing::Header;

use crate::time::Time;

/// A packet: one record of a cache line, however many flits it has.
///
/// Its first flit is where `head_at` says, its last one `tail_lag` ticks behind; the others are spread evenly.
/// While the packet waits at an input or is on a link these are arrivals at the input, in an output queue
/// they are arrivals in that queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Packet {
    pub(crate) created: Time,
    pub(crate) injected: Time,
    /// When its first flit arrives, or arrived, where the packet is.
    pub(crate) head_at: Time,
    /// By how much its last flit is later than its first.
    pub(crate) tail_lag: Time,
    /// The next packet in the same queue.
    pub(crate) next: u32,
    /// The node that sent it.
    pub source: u32,
    /// The node it is for.
    pub destination: u32,
    /// The serial number of its message at its source.
    pub message: u32,
    /// Its index in its message, and flags above that: see [`LAST`], [`AT_LAST_HOP`] and [`TRACED`].
    pub(crate) index_and_flags: u32,
    /// What routing knows of it.
    pub header: Header,
    /// Its size.
    pub flits: u16,
    /// The index of its flow in the workload.
    pub traffic: u16,
    /// Its traffic class.
    pub class: u8,
    /// The virtual channel it is in; once it is routed, the first of those that it may leave by. Counted through
    /// all classes.
    pub(crate) vc: u8,
    /// How many channels it may leave by.
    pub(crate) vcs: u8,
    /// The links between routers that it has taken.
    pub hops: u8,
    /// What it is.
    pub kind: PacketKind,
    /// Marks of the protocol.
    pub(crate) marks: u8,
    /// Of a control packet for a source the flits that it is about.
    pub(crate) about_flits: u16,
    /// Of lossy data the ticks that it has waited in input buffers; of requests and trimmed packets the flits that they are about;
    /// of other control packets the tick that they name, or [`UNNAMED`].
    pub(crate) word: u32,
}

/// No tick is named.
pub(crate) const UNNAMED: u32 = u32::MAX;

/// The bit of [`Packet::index_and_flags`] that says that a packet is the last of its message.
const LAST: u32 = 1 << 31;
/// The bit that says that it has arrived in its last router, where somebody asks for that.
const AT_LAST_HOP: u32 = 1 << 30;
/// The bit that says that it is of a message that is traced, or a control packet about one: it travels with the packet, so regions need
/// not tell each other.
const TRACED: u32 = 1 << 29;

/// More packets than a message can have.
const MESSAGE_PACKETS_MAX: u32 = TRACED;

/// A packet's index in its message, and whether it is the last, in one word.
#[inline]
pub(crate) fn index_and_flags(index: u32, last: bool) -> u32 {
    debug_assert!(index < MESSAGE_PACKETS_MAX, "a message has too many packets");
    index | if last { LAST } else { 0 }
}

/// Room for a packet: exactly one cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
struct Slot(Packet);

const _: () = assert!(size_of::<Slot>() == 64);

impl Packet {
    /// When its message was created.
    #[must_use]
    pub fn created(&self) -> Tick {
        self.created.into()
    }

    /// When its first flit left its source.
    #[must_use]
    pub fn injected(&self) -> Tick {
        self.injected.into()
    }

    /// The marks that its protocol has given it so far.
    #[inline]
    #[must_use]
    pub fn marks(&self) -> u8 {
        self.marks
    }

    /// Its index in its message.
    #[inline]
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index_and_flags & (MESSAGE_PACKETS_MAX - 1)
    }

    /// Whether it is the last of its message.
    #[inline]
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.index_and_flags & LAST != 0
    }

    /// Whether it is known to be in its last router.
    #[inline]
    pub(crate) fn is_at_last_hop(&self) -> bool {
        self.index_and_flags & AT_LAST_HOP != 0
    }

    /// It has arrived in its last router.
    pub(crate) fn set_at_last_hop(&mut self) {
        self.index_and_flags |= AT_LAST_HOP;
    }

    /// Whether it is traced.
    #[inline]
    pub(crate) fn is_traced(&self) -> bool {
        self.index_and_flags & TRACED != 0
    }

    /// It is traced from now on, or not.
    pub(crate) fn set_traced(&mut self, traced: bool) {
        self.index_and_flags = self.index_and_flags & !TRACED | if traced { TRACED } else { 0 };
    }

    /// When its last flit arrives, or arrived, where the packet is.
    #[inline]
    pub(crate) fn tail_at(&self) -> Time {
        self.head_at + self.tail_lag
    }
}

/// No packet: the end of a list.
pub(crate) const NONE: u32 = u32::MAX;

/// The packets of a region. Slots are reused last in, first out; which slot a packet gets has no influence on
/// anything.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pool {
    packets: Vec<Slot>,
    free: Vec<u32>,
}

impl Pool {
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.packets[slot as usize].0 = packet;
            return slot;
        }
        self.packets.push(Slot(packet));
        self.packets.len() as u32 - 1
    }

    #[inline]
    pub fn remove(&mut self, slot: u32) -> Packet {
        self.free.push(slot);
        self.packets[slot as usize].0.clone()
    }

    /// The packets of a list, from `head` on.
    pub fn list(&self, head: u32) -> impl Iterator<Item = u32> {
        let existing = |slot: u32| (slot != NONE).then_some(slot);
        std::iter::successors(existing(head), move |&slot| existing(self[slot].next))
    }

    /// Reads a little of every slot, in order.
    pub fn read_through(&self) -> u32 {
        self.packets.iter().fold(0, |sum, slot| sum ^ slot.0.next)
    }

    /// How many packets there are.
    pub fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

impl std::ops::Index<u32> for Pool {
    type Output = Packet;

    #[inline]
    fn index(&self, slot: u32) -> &Packet {
        &self.packets[slot as usize].0
    }
}

impl std::ops::IndexMut<u32> for Pool {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Packet {
        &mut self.packets[slot as usize].0
    }
}
