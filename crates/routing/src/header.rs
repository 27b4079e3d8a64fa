//! What a packet carries for routing.

use serde::{Deserialize, Serialize};
use tailback_topology::Locator;

/// The part of a packet that routing reads and writes.
///
/// The two addresses are one word, so that a header that has just been written is read by words of the same size: else the
/// processor waits until it is in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(C, packed(4))]
pub struct Header {
    /// The bits of the destination's address, see [`Header::destination`], above [`Header::via`].
    pub(crate) addresses: u64,
    /// Which part of its path the packet is on, as the algorithm sees fit; 0 when it starts.
    pub leg: u8,
    /// Why it has left its minimal path, if it has.
    pub nonminimal: Causes,
    /// The entropy value that its protocol has given it, for routing that hashes packets to paths.
    pub entropy: u16,
}

/// Why a packet has left its minimal path: one byte, 0 while it has not.
///
/// Between groups by one of four causes; by a hop inside a group by one of two, which no report tells apart, but which are the causes
/// for which it leaves the group then if that hop obliges it to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Causes(u8);

impl Causes {
    /// It is on its minimal path.
    pub const NONE: Self = Self(0);
    /// Between groups: the algorithm sends every packet by way of a place that it draws.
    pub const DRAWN: Self = Self(1);
    /// Between groups: the queues of the router that decided.
    pub const QUEUES: Self = Self(1 << 1);
    /// Between groups: packets that want the same output there.
    pub const CONTENTION: Self = Self(1 << 2);
    /// Between groups: what other routers of the group have told.
    pub const TOLD: Self = Self(1 << 3);
    /// A hop inside a group, whatever the cause.
    pub const LOCAL: Self = Self(Self::GLOBAL.0 << LOCAL_SHIFT);

    /// All causes of paths that are not minimal between groups.
    const GLOBAL: Self = Self(0xf);

    /// These and others.
    #[inline]
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether any of some is among them.
    #[inline]
    #[must_use]
    pub const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// Whether it has been sent on a path that is not minimal between groups.
    #[inline]
    #[must_use]
    pub const fn is_nonminimal(self) -> bool {
        self.has(Self::GLOBAL)
    }

    /// The causes of a path between groups as those of a hop inside one.
    #[must_use]
    pub const fn inside(self) -> Self {
        Self((self.0 & Self::GLOBAL.0) << LOCAL_SHIFT)
    }

    /// The causes of its hops inside groups as those of a path between groups.
    #[must_use]
    pub const fn between(self) -> Self {
        Self(self.0 >> LOCAL_SHIFT)
    }

    /// As a byte of a letter.
    #[must_use]
    pub const fn byte(self) -> u8 {
        self.0
    }

    /// What [`Causes::byte`] has written.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Self {
        Self(byte)
    }
}

/// From the causes between groups to those inside one.
const LOCAL_SHIFT: u32 = 4;

/// The header of a packet that starts towards any destination. Only [`crate::Routing::possible`] sees it.
pub const ANYWHERE: Header = Header { addresses: u64::MAX << 32, leg: 0, nonminimal: Causes::NONE, entropy: 0 };

impl Header {
    /// The header of a packet that starts towards `destination`.
    #[must_use]
    pub fn new(destination: Locator) -> Self {
        Self { addresses: u64::from(destination.0) << 32, leg: 0, nonminimal: Causes::NONE, entropy: 0 }
    }

    /// The same header with an entropy value.
    #[inline]
    #[must_use]
    pub fn with_entropy(self, entropy: u16) -> Self {
        Self { entropy, ..self }
    }

    /// Where the packet goes before its destination, as the algorithm sees fit; 0 when it starts.
    #[inline]
    #[must_use]
    pub fn via(&self) -> u32 {
        self.addresses as u32
    }

    /// The same header by way of `via`.
    #[inline]
    #[must_use]
    pub fn by_way_of(self, via: u32) -> Self {
        Self { addresses: self.addresses >> 32 << 32 | u64::from(via), ..self }
    }

    /// The address of the destination.
    #[inline]
    #[must_use]
    pub fn destination(&self) -> Locator {
        Locator((self.addresses >> 32) as u32)
    }

    /// Whether the destination is left open.
    #[must_use]
    pub fn is_anywhere(&self) -> bool {
        self.destination() == ANYWHERE.destination()
    }

    /// The same header towards `destination`.
    #[must_use]
    pub fn towards(self, destination: Locator) -> Self {
        Self { addresses: u64::from(destination.0) << 32 | u64::from(self.via()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::Causes;

    #[test]
    fn hops_inside_groups_leave_no_minimal_path() {
        let causes = [Causes::DRAWN, Causes::QUEUES, Causes::CONTENTION, Causes::TOLD];
        for cause in causes {
            assert!(cause.is_nonminimal() && !cause.has(Causes::LOCAL));
            assert!(!cause.inside().is_nonminimal() && cause.inside().has(Causes::LOCAL));
            assert_eq!(cause.inside().between(), cause);
            assert_eq!(causes.iter().filter(|&&other| cause.has(other)).count(), 1);
        }
        let both = Causes::QUEUES.inside().with(Causes::TOLD);
        assert_eq!(Causes::from_byte(both.byte()), both);
        assert!(both.has(Causes::LOCAL) && both.has(Causes::TOLD) && !both.has(Causes::QUEUES));
        assert!(!Causes::NONE.is_nonminimal() && !Causes::NONE.has(Causes::LOCAL));
    }
}
