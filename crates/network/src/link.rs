//! Where the ports of a region's routers lead.

use serde::{Deserialize, Serialize};

use crate::time::Time;

/// What a port is joined to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FarKind {
    /// A node of this region.
    Node,
    /// A port of a router.
    Router,
    /// Nothing.
    Open,
}

/// A port's link, both of its directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Where the region at the other end stands among the receivers of this one; [`Link::INSIDE`] if it is this one.
    pub receiver: u32,
    /// The port or node there, as its region numbers it.
    pub far: u32,
    /// From sending to arrival, away from the router.
    pub latency: Time,
    /// From sending to arrival of a credit that the router returns.
    pub credit_latency: Time,
    /// From one flit to the next, away from the router.
    pub flit_ticks: u16,
    /// The link class.
    pub class: u8,
    /// What is at the other end.
    pub kind: FarKind,
}

impl Link {
    /// The receiver of a link that does not leave its region.
    pub const INSIDE: u32 = u32::MAX;

    /// The link of a port that is joined to nothing.
    pub const OPEN: Self = Self {
        receiver: Self::INSIDE,
        far: 0,
        latency: 0,
        credit_latency: 0,
        flit_ticks: 0,
        class: 0,
        kind: FarKind::Open,
    };
}
