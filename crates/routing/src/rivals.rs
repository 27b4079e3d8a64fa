//! Outputs that could become better than the one that a packet waits for.

use crate::PortSet;

/// Other outputs on which the decision to wait for an output depends: of routers with links of one class, by one virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rivals {
    /// The set of the ports, of the first 64.
    pub ports: u64,
    /// The virtual channel, counted inside the traffic class.
    pub vc: u8,
    /// What makes the packet decide anew.
    pub better: Better,
}

/// What has to happen at some outputs for one of them to be better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// One of them admits the packet, and no more than so much of the buffer behind it is in use, in ten thousandths: see
    /// [`View::open`](crate::View::open).
    Open {
        /// The most that may be in use.
        used_max: u32,
        /// Whether any has so little in use already, and only does not admit the packet: see [`OpenPorts`](crate::OpenPorts).
        any_emptier: bool,
    },
    /// In all buffers behind them together, or on the way there, are fewer flits than so many: see
    /// [`View::occupancy_of_all`](crate::View::occupancy_of_all).
    Emptier {
        /// So many.
        flits: u32,
    },
}

impl Rivals {
    /// Nothing that happens at another output matters.
    pub const NONE: Self = Self { ports: 0, vc: 0, better: Better::Emptier { flits: 0 } };

    /// Some ports and what has to happen there. None, if a port is not among the first 64.
    #[inline]
    #[must_use]
    pub fn new(ports: PortSet, vc: u8, better: Better) -> Option<Self> {
        ports.first_word().map(|ports| Self { ports, vc, better })
    }
}
