//! A router as tests want it.

use std::collections::BTreeMap;

use tailback_topology::Port;

use crate::{Board, PortSet, View};

/// A router of a group of four: all its buffers are of the same size, and what is in them is said.
pub(super) struct Sketch {
    /// Flits in use, by port and channel; none where nothing is said.
    pub(super) used: BTreeMap<(Port, u8), u32>,
    pub(super) board: Board,
    /// The ports that admit no packet.
    pub(super) shut: PortSet,
    /// Whether packets are asked about for the first time.
    pub(super) first_time: bool,
}

impl Sketch {
    /// Flits of each buffer, and of each link's round trip.
    pub(super) const CAPACITY: u32 = 100;
    pub(super) const ROUND_TRIP: u32 = 20;

    /// An empty router, which has been told nothing.
    pub(super) fn new() -> Self {
        Self { used: BTreeMap::new(), board: Board::new(4), shut: PortSet::default(), first_time: true }
    }

    /// The same with flits behind some ports, in the buffer of the first channel.
    pub(super) fn with(mut self, ports: impl IntoIterator<Item = Port>, flits: u32) -> Self {
        self.used.extend(ports.into_iter().map(|port| ((port, 0), flits)));
        self
    }
}

impl View for Sketch {
    fn channels(&self, _: Port) -> u8 {
        8
    }

    fn occupancy(&self, port: Port, vc: u8) -> u32 {
        self.used.get(&(port, vc)).copied().unwrap_or(0)
    }

    fn capacity(&self, _: Port, _: u8) -> u32 {
        Self::CAPACITY
    }

    fn waiting(&self, port: Port) -> u32 {
        self.port_occupancy(port).saturating_sub(Self::ROUND_TRIP)
    }

    fn admits(&self, port: Port, _: u8) -> bool {
        !self.shut.contains(port)
    }

    fn board(&self) -> &Board {
        &self.board
    }

    fn is_first_time(&self) -> bool {
        self.first_time
    }
}
