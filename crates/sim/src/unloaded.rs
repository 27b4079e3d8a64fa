//! What a message takes in an empty network: what slowdowns are measured by.

use std::sync::Arc;

use tailback_engine::Stream;
use tailback_network::{NetworkSpec, ZeroLoad};
use tailback_routing::{Board, Routing};
use tailback_scenario::Scenario;
use tailback_topology::{AnyTopology, LinkClass, NodeId, Topology};

use crate::trace::{Imagined, empty_board, walk};

/// An empty network.
#[derive(Debug)]
pub(crate) struct Unloaded {
    topology: AnyTopology,
    graph: Arc<dyn Topology>,
    routing: Arc<dyn Routing>,
    spec: NetworkSpec,
    board: Board,
    /// In trees, the path from a node to itself: Clos networks send that through a spine as well.
    within_leaf: Vec<LinkClass>,
}

impl Unloaded {
    /// The network of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let topology = scenario.topology.built.clone();
        let graph = topology.graph();
        let (routing, spec) = (Arc::clone(&scenario.routing.built), scenario.network.clone());
        let board = empty_board(graph.as_ref());
        let mut unloaded = Self { topology, graph, routing, spec, board, within_leaf: Vec::new() };
        if let AnyTopology::FatTree(_) = unloaded.topology {
            unloaded.within_leaf = unloaded.only_kind_of_path(0, 0);
        }
        unloaded
    }

    /// Ticks from the creation of a message of `flits` to the arrival of its last flit, on a shortest path whose buffers are as large
    /// as its links are long: its packets follow each other without a gap.
    pub fn ticks(&self, source: NodeId, destination: NodeId, flits: u32) -> u64 {
        ZeroLoad::new(&self.spec, &self.path(source, destination), flits).total()
    }

    /// The classes of the links of a shortest path between two nodes.
    fn path(&self, source: NodeId, destination: NodeId) -> Vec<LinkClass> {
        let [from, to] = [source, destination].map(|node| self.graph.attachment(node).0);
        match &self.topology {
            AnyTopology::Dragonfly(dragonfly) => dragonfly.shortest_path(from, to),
            AnyTopology::FatTree(_) if from == to => self.within_leaf.clone(),
            AnyTopology::FatTree(tree) => tree.shortest_path(from, to),
            AnyTopology::MultiCluster(clusters) => clusters.shortest_path(from, to),
            AnyTopology::Butterfly(_) | AnyTopology::SingleSwitch(_) => self.only_kind_of_path(source, destination),
        }
    }

    /// The path that routing takes, where all paths between two nodes are alike. Each has agents of its own: what these remember would make the
    /// path of one depend on those before it.
    fn only_kind_of_path(&self, source: NodeId, destination: NodeId) -> Vec<LinkClass> {
        let mut random = Stream::new(1, 0, 0);
        let path = walk(self.graph.as_ref(), (source, destination), |router, entry, header| {
            let view = Imagined { graph: self.graph.as_ref(), spec: &self.spec, router, rumour: 0, board: &self.board };
            self.routing.agent(router).route(entry, header, &view, &mut random)
        });
        path.expect("routing takes a packet to its destination").0
    }
}

#[cfg(test)]
mod tests {
    use tailback_scenario::Document;

    use super::*;

    /// Trees are not asked for their paths, as agents that send each flow by its spines in turn are large.
    #[test]
    fn shortest_paths_of_trees_are_those_that_packets_take() {
        for network in [
            "routing = \"nearest-common-ancestor\"\n[topology.fat-tree]\nchildren = [3, 2, 4]\nparents = [2, 3]\nparallel = [1, 2]",
            "routing = \"nearest-common-ancestor\"\n[topology.fat-tree]\nchildren = [5]\nparents = []\nparallel = []",
            "routing.clos.queues = \"inputs\"\n[topology.two-level-tree]\nnodes_per_leaf = 4\nleaves = 5\nspines = 3",
        ] {
            let text = format!("{network}\n[[traffic]]\nload = 0.1\n[measure]\nwarmup = 0\ncycles = 100");
            let scenario = Document::read("tree.toml", &text).resolve().unwrap_or_else(|said| panic!("{said}"));
            let unloaded = Unloaded::new(&scenario);
            let nodes = unloaded.graph.nodes();
            for (source, destination) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
                let (found, taken) =
                    (unloaded.path(source, destination), unloaded.only_kind_of_path(source, destination));
                assert_eq!(found, taken, "from {source} to {destination}: {network}");
            }
        }
    }
}
