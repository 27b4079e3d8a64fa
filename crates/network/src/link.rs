//! Where the ports of a region's routers lead.

use serde::{Deserialize, Serialize};

/// What a port is joined to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Far {
    /// A node of this region, by its number there.
    Node(u32),
    /// A port of a router, both by their numbers in their region.
    Router { region: u32, router: u32, port: u8 },
    /// Nothing.
    Open,
}

/// A port's link, both of its directions. Times are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Link {
    pub far: Far,
    /// From sending to arrival, away from the router.
    pub latency: u32,
    /// From sending to arrival of a credit that the router returns.
    pub credit_latency: u32,
    /// From one flit to the next, away from the router.
    pub flit_ticks: u16,
    /// The link class.
    pub class: u8,
}

impl Link {
    #[inline]
    pub fn is_terminal(&self) -> bool {
        matches!(self.far, Far::Node(_))
    }
}
