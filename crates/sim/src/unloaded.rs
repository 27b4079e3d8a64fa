//! What a message takes in an empty network: what slowdowns are measured by.

use std::sync::Arc;

use tailback_engine::Stream;
use tailback_network::{NetworkSpec, ZeroLoad};
use tailback_routing::{Board, Routing, minimal};
use tailback_scenario::Scenario;
use tailback_topology::{NodeId, Topology};

use crate::trace::{Imagined, empty_board, walk};

/// An empty network.
#[derive(Debug)]
pub(crate) struct Unloaded {
    graph: Arc<dyn Topology>,
    routing: Arc<dyn Routing>,
    spec: NetworkSpec,
    board: Board,
}

impl Unloaded {
    /// The network of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let graph = scenario.topology.built.graph();
        // Where there is no routing of that name, all paths are minimal.
        let routing = minimal(&scenario.topology.built).unwrap_or_else(|| Arc::clone(&scenario.routing.built));
        Self { board: empty_board(graph.as_ref()), graph, routing, spec: scenario.network.clone() }
    }

    /// Ticks from the creation of a message of `flits` to the arrival of its last flit, on a minimal path whose buffers are as large
    /// as its links are long: its packets follow each other without a gap.
    pub fn ticks(&self, source: NodeId, destination: NodeId, flits: u32) -> u64 {
        let mut random = Stream::new(1, 0, 0);
        let path = walk(self.graph.as_ref(), (source, destination), |router, entry, header| {
            let view = Imagined { graph: self.graph.as_ref(), spec: &self.spec, router, rumour: 0, board: &self.board };
            self.routing.agent(router).route(entry, header, &view, &mut random)
        });
        let (links, _) = path.expect("routing takes a packet to its destination");
        ZeroLoad::new(&self.spec, &links, flits).total()
    }
}
