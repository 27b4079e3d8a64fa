//! Which ports the allocator shall look at: sets at two levels, so that what has nothing to allocate costs nothing.

use serde::{Deserialize, Serialize};

use super::state::InputPort;
use crate::fabric::Shape;

/// The ports that the allocator shall look at, and the routers that have any.
///
/// **The invariant it keeps:** a router with active ports is due, unless it is being allocated.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ActivePorts {
    /// By router: set of ports.
    ports: Vec<u64>,
    routers: Vec<u64>,
    /// Whether any router is due.
    is_due: bool,
}

/// Where a port is among those of its region: its router, the word of ports that it is in, and its bit there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    router: u32,
    word: u32,
    bit: u64,
}

impl InputPort {
    /// Where it is in sets of ports.
    #[inline]
    pub fn place(&self) -> Place {
        Place { router: self.router, word: self.word, bit: 1 << (self.port % 64) }
    }
}

impl ActivePorts {
    pub fn new(shape: &Shape, routers: usize) -> Self {
        Self { ports: vec![0; routers * shape.words], routers: vec![0; routers.div_ceil(64)], is_due: false }
    }

    /// Whether some router has something to allocate.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// A word of the set of ports of a router.
    #[inline]
    pub fn word(&self, number: usize) -> u64 {
        self.ports[number]
    }

    #[inline]
    pub fn add(&mut self, Place { router, word, bit }: Place) {
        let ports = &mut self.ports[word as usize];
        if *ports == 0 {
            self.add_router(router);
        }
        self.ports[word as usize] |= bit;
    }

    #[inline]
    pub fn remove(&mut self, Place { word, bit, .. }: Place) {
        self.ports[word as usize] &= !bit;
    }

    /// A router has ports that the allocator shall look at.
    #[inline]
    pub fn add_router(&mut self, router: u32) {
        self.routers[router as usize / 64] |= 1 << (router % 64);
        self.is_due = true;
    }

    /// Begins an allocation, in which all routers are taken that are due; says how many words of these there are.
    #[inline]
    pub fn begin(&mut self) -> usize {
        self.is_due = false;
        self.routers.len()
    }

    /// Takes a word of the routers that are due.
    #[inline]
    pub fn take_routers(&mut self, word: usize) -> u64 {
        std::mem::take(&mut self.routers[word])
    }
}
