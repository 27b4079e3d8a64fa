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
    /// Whether it has been sent on a path that is not minimal between groups.
    pub nonminimal: bool,
    /// The entropy value that its protocol has given it, for routing that hashes packets to paths.
    pub entropy: u16,
}

/// The header of a packet that starts towards any destination. Only [`crate::Routing::possible`] sees it.
pub const ANYWHERE: Header = Header { addresses: u64::MAX << 32, leg: 0, nonminimal: false, entropy: 0 };

impl Header {
    /// The header of a packet that starts towards `destination`.
    #[must_use]
    pub fn new(destination: Locator) -> Self {
        Self { addresses: u64::from(destination.0) << 32, leg: 0, nonminimal: false, entropy: 0 }
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
