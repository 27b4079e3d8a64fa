//! Where the ports of a region's routers lead, and what feeds them.

use serde::{Deserialize, Serialize};

use crate::time::Time;

/// What a port is joined to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FarKind {
    /// A node.
    Node,
    /// A port of a router.
    Router,
    /// Nothing.
    Open,
}

/// The other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// What is there.
    pub kind: FarKind,
    /// Where its region stands among the receivers of this one; [`FarEnd::INSIDE`] if it is this one.
    pub receiver: u32,
    /// The port or node there, as its region numbers it.
    pub target: u32,
}

impl FarEnd {
    /// The receiver of what does not leave its region.
    pub const INSIDE: u32 = u32::MAX;

    /// The end of no link.
    pub const OPEN: Self = Self { kind: FarKind::Open, receiver: Self::INSIDE, target: 0 };
}

/// The link that leaves by a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLink {
    /// Where packets go.
    pub to: FarEnd,
    /// The link class.
    pub class: u8,
    /// From sending to arrival.
    pub latency: Time,
    /// From one flit to the next.
    pub flit_ticks: u16,
}

impl OutputLink {
    /// No link.
    pub const OPEN: Self = Self { to: FarEnd::OPEN, class: 0, latency: 0, flit_ticks: 0 };
}

/// The link that comes in by a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputLink {
    /// Where packets come from, and credits go.
    pub from: FarEnd,
    /// The link class.
    pub class: u8,
    /// From returning a credit to its arrival.
    pub credit_latency: Time,
}

impl InputLink {
    /// No link.
    pub const OPEN: Self = Self { from: FarEnd::OPEN, class: 0, credit_latency: 0 };
}

/// The links of a port, either of which may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortLinks {
    pub output: OutputLink,
    pub input: InputLink,
}
