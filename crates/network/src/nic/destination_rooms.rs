//! Room for each node of the network in the injection buffers of routers, where these have a queue for each.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::fabric::Fabric;

/// What the nodes of a region have sent into queues for nodes. Empty where there are none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DestinationRooms {
    vcs: usize,
    destinations: usize,
    limit: u16,
    /// By node, virtual channel and destination: flits that are there, or on the way.
    held: Vec<u16>,
    /// Whose packets wait at their sources for room, by node and destination.
    waiting: BTreeSet<(u32, u32)>,
}

impl DestinationRooms {
    /// Those of so many nodes.
    pub fn new(fabric: &Fabric, nodes: usize) -> Self {
        let Some(limit) = fabric.rules.destination_queue else { return Self::default() };
        let (vcs, destinations) = (fabric.shape.vcs, fabric.topology.nodes() as usize);
        assert!(destinations <= 256, "there are queues for 256 nodes at most");
        Self { vcs, destinations, limit, held: vec![0; nodes * vcs * destinations], waiting: BTreeSet::new() }
    }

    /// Whether there are any.
    #[inline]
    pub fn exist(&self) -> bool {
        self.destinations > 0
    }

    fn index(&self, node: u32, vc: u8, destination: u32) -> usize {
        (node as usize * self.vcs + usize::from(vc)) * self.destinations + destination as usize
    }

    /// Whether there is room for a packet.
    pub fn has_room(&self, node: u32, vc: u8, destination: u32, flits: u16) -> bool {
        self.held[self.index(node, vc, destination)] + flits <= self.limit
    }

    /// A packet leaves its node.
    pub fn take(&mut self, node: u32, vc: u8, destination: u32, flits: u16) {
        let held = self.index(node, vc, destination);
        self.held[held] += flits;
    }

    /// What a node has for a destination waits for room.
    pub fn wait(&mut self, node: u32, destination: u32) {
        self.waiting.insert((node, destination));
    }

    /// There is room again. Returns whether something waits for it.
    pub fn free(&mut self, node: u32, vc: u8, destination: u32, flits: u16) -> bool {
        let held = self.index(node, vc, destination);
        self.held[held] -= flits;
        self.waiting.remove(&(node, destination))
    }
}
