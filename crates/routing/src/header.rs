//! What a packet carries for routing.

use serde::{Deserialize, Serialize};
use tailback_topology::Locator;

/// The part of a packet that routing reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Header {
    /// The bits of the destination's address, see [`Header::destination`].
    pub to: u32,
    /// Where the packet goes before that, as the algorithm sees fit.
    pub via: u32,
    /// Which part of its way the packet is on, as the algorithm sees fit; 0 when it starts.
    pub leg: u8,
    /// Whether it has been sent on a way that is not minimal between groups.
    pub detoured: bool,
}

/// The header of a packet that starts towards any destination. Only [`crate::Routing::possible`] sees it.
pub const ANYWHERE: Header = Header { to: u32::MAX, via: 0, leg: 0, detoured: false };

impl Header {
    /// The header of a packet that starts towards `destination`.
    #[must_use]
    pub fn new(destination: Locator) -> Self {
        Self { to: destination.0, via: 0, leg: 0, detoured: false }
    }

    /// The address of the destination.
    #[must_use]
    pub fn destination(&self) -> Locator {
        Locator(self.to)
    }

    /// Whether the destination is left open.
    #[must_use]
    pub fn is_anywhere(&self) -> bool {
        self.to == ANYWHERE.to
    }

    /// The same header towards `destination`.
    #[must_use]
    pub fn towards(self, destination: Locator) -> Self {
        Self { to: destination.0, ..self }
    }
}
