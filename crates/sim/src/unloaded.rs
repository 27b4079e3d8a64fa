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
}

impl Unloaded {
    /// The network of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let topology = scenario.topology.built.clone();
        let graph = topology.graph();
        let (routing, spec) = (Arc::clone(&scenario.routing.built), scenario.network.clone());
        Self { board: empty_board(graph.as_ref()), topology, graph, routing, spec }
    }

    /// Ticks from the creation of a message of `flits` to the arrival of its last flit, on a shortest path whose buffers are as large
    /// as its links are long: its packets follow each other without a gap.
    pub fn ticks(&self, source: NodeId, destination: NodeId, flits: u32) -> u64 {
        let links = match &self.topology {
            AnyTopology::Dragonfly(dragonfly) => {
                let [from, to] = [source, destination].map(|node| dragonfly.attachment(node).0);
                dragonfly.shortest_path(from, to)
            }
            _ => self.only_kind_of_path(source, destination),
        };
        ZeroLoad::new(&self.spec, &links, flits).total()
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
