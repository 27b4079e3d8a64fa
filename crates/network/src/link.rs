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
    /// The region at the other end.
    pub far_region: u32,
    /// The router or node there, as its region numbers it.
    pub far: u32,
    /// From sending to arrival, away from the router.
    pub latency: Time,
    /// From sending to arrival of a credit that the router returns.
    pub credit_latency: Time,
    /// From one flit to the next, away from the router.
    pub flit_ticks: u16,
    /// The port at the other end, if a router is there.
    pub far_port: u8,
    /// The link class.
    pub class: u8,
    /// What is at the other end.
    pub kind: FarKind,
}

impl Link {
    /// The flits that are on the way, or stand for credits on the way back, when it is never idle.
    pub fn round_trip(&self) -> u32 {
        2 * self.latency / Time::from(self.flit_ticks.max(1))
    }

    /// The link of a port that is joined to nothing.
    pub const OPEN: Self = Self {
        far_region: 0,
        far: 0,
        latency: 0,
        credit_latency: 0,
        flit_ticks: 0,
        far_port: 0,
        class: 0,
        kind: FarKind::Open,
    };

    /// Whether nothing is at the other end: what waits here the router has said itself.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.kind == FarKind::Open
    }

    #[inline]
    pub fn is_terminal(&self) -> bool {
        self.kind == FarKind::Node
    }
}
