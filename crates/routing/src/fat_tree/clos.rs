//! A tree of two levels as the Clos network that it is when it is unfolded: every packet goes through a spine, also to its own leaf.
//!
//! The virtual channel of a link names the output of the switch at its end: each crosspoint of a switch has a queue of its own, as
//! buffered crossbars have it. The spine is chosen where a packet is injected, by the channel that it is injected on.

use std::sync::Arc;

use tailback_parameters::BuildError;
use tailback_random::Stream;
use tailback_topology::{AnyTopology, FatTree, Locator, Port, RouterId, Topology};

use crate::registry::{RoutingModel, needs};
use crate::{Agent, ChannelKind, Header, PortVc, Routing, Step, Validity, View};

/// The entry in the list of algorithms.
pub(crate) const CLOS: RoutingModel = RoutingModel {
    name: "clos",
    topology: "fat-tree",
    summary: "three stages: always through the spine that the channel of injection names; a channel for each crosspoint",
    parameters: &[],
    build: |topology, _| {
        let AnyTopology::FatTree(topology) = topology else { return Err(needs(&CLOS, topology)) };
        Ok(Arc::new(Clos::new(Arc::clone(topology))?))
    },
};

/// Routing through a three-stage Clos network.
#[derive(Clone, Debug)]
pub struct Clos {
    topology: Arc<FatTree>,
    leaves: u8,
    spines: u8,
    nodes_per_leaf: u8,
}

impl Clos {
    /// On a tree of two levels.
    ///
    /// # Errors
    /// When it has more levels or fewer, parallel links, or switches of more ports than channels can be counted.
    pub fn new(topology: Arc<FatTree>) -> Result<Self, BuildError> {
        if topology.height() != 2 {
            let levels = topology.height();
            return Err(BuildError::new(format!("`clos` routes in trees of 2 levels, and this one has {levels}"))
                .help("a Clos network of three stages is a tree of leaves and spines: topology.two-level-tree"));
        }
        if topology.ports_down(2, 0).len() > 1 {
            return Err(BuildError::new(
                "`clos` routes where there is one link between a leaf and a spine, and here are more",
            )
            .help("give the tree parallel links by more spines"));
        }
        let nodes_per_leaf = topology.ports_up(1).start;
        let (leaves, spines) = (topology.nodes() / nodes_per_leaf, topology.ports_up(1).len() as u32);
        let count = |number: u32, of: &str| {
            u8::try_from(number)
                .map_err(|_| BuildError::new(format!("`clos` has a channel for each of {number} {of}: too many")))
        };
        Ok(Self {
            leaves: count(leaves, "leaves")?,
            spines: count(spines, "spines")?,
            nodes_per_leaf: count(nodes_per_leaf, "nodes of a leaf")?,
            topology,
        })
    }

    fn make_agent(&self, router: RouterId) -> ClosAgent {
        ClosAgent { is_spine: self.topology.position(router).level == 2, routing: self.clone() }
    }
}

impl Routing for Clos {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        // By the output of the switch that a link leads to: of injection the spines, of the way up the leaves, of the way down the nodes.
        // Both ways of a link have as many: the larger number.
        vec![self.spines, self.leaves.max(self.nodes_per_leaf)]
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(self.make_agent(router))
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        let up = (0..self.leaves).map(|vc| ChannelKind { class: 1, vc });
        up.flat_map(|up| (0..self.nodes_per_leaf).map(move |vc| (up, ChannelKind { class: 2, vc }))).collect()
    }

    fn possible(&self, router: RouterId, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        let agent = self.make_agent(router);
        let (leaves, nodes) = (u32::from(self.leaves), u32::from(self.nodes_per_leaf));
        // Destinations stand for all nodes of their leaf, so a spine may lead to any of those.
        let leaf_of = |header: Header| self.topology.child_towards(2, header.destination());
        let all = header.is_anywhere();
        let towards = |leaf, node| header.towards(self.topology.locator(leaf * nodes + node));
        let wanted = (0..leaves).filter(|&leaf| all || leaf == leaf_of(header));
        if agent.ascends(entry) {
            steps.extend(wanted.map(|leaf| agent.step(entry, towards(leaf, 0))));
        } else {
            steps.extend(
                wanted
                    .flat_map(|leaf| (0..nodes).map(move |node| (leaf, node)))
                    .map(|(leaf, node)| agent.step(entry, towards(leaf, node))),
            );
        }
    }

    fn describe(&self) -> String {
        format!("Clos network through {} spines, a channel for each crosspoint", self.spines)
    }
}

struct ClosAgent {
    is_spine: bool,
    routing: Clos,
}

impl ClosAgent {
    /// Whether a packet that came in by `entry` is on its way to a spine.
    #[inline]
    fn ascends(&self, entry: PortVc) -> bool {
        !self.is_spine && entry.port < self.routing.nodes_per_leaf as Port
    }

    #[inline]
    fn step(&self, entry: PortVc, header: Header) -> Step {
        let (leaf, node) = self.leaf_and_node(header.destination());
        let (port, vc) = if self.is_spine {
            (leaf, node)
        } else if self.ascends(entry) {
            (u32::from(self.routing.nodes_per_leaf) + u32::from(entry.vc), leaf)
        } else {
            (node, 0)
        };
        Step { port: port as Port, vc: vc as u8, vcs: 1, validity: Validity::Always, header }
    }

    /// The leaf of a destination, and its port there.
    #[inline]
    fn leaf_and_node(&self, destination: Locator) -> (u32, u32) {
        let topology = &self.routing.topology;
        (topology.child_towards(2, destination), topology.child_towards(1, destination))
    }
}

impl Agent for ClosAgent {
    fn route(&mut self, entry: PortVc, header: &Header, _view: &dyn View, _random: &mut Stream) -> Step {
        self.step(entry, *header)
    }

    fn ejects(&self, entry: PortVc, _header: &Header) -> bool {
        !self.is_spine && !self.ascends(entry)
    }

    fn only_port(&self, entry: PortVc, header: &Header) -> Option<Port> {
        Some(self.step(entry, *header).port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clos() -> Clos {
        Clos::new(Arc::new(FatTree::two_level(2, 2, 2, 1).unwrap())).unwrap()
    }

    #[test]
    fn packets_pass_the_spine_of_their_channel_and_wait_by_their_next_output() {
        let routing = clos();
        let (leaf, spine) = (routing.make_agent(0), routing.make_agent(3));
        let to = |node| Header::new(routing.topology.locator(node));
        let by = |step: Step| (step.port, step.vc);
        // From a node, by the second spine, to each node: also to the own leaf, and to the node itself.
        let entry = PortVc { port: 1, vc: 1 };
        assert_eq!(
            (0..4).map(|node| by(leaf.step(entry, to(node)))).collect::<Vec<_>>(),
            [(3, 0), (3, 0), (3, 1), (3, 1)]
        );
        let entry = PortVc { port: 0, vc: 1 };
        assert_eq!(
            (0..4).map(|node| by(spine.step(entry, to(node)))).collect::<Vec<_>>(),
            [(0, 0), (0, 1), (1, 0), (1, 1)]
        );
        let entry = PortVc { port: 3, vc: 1 };
        assert!(leaf.ejects(entry, &to(1)) && !leaf.ejects(PortVc { port: 1, vc: 0 }, &to(1)));
        assert_eq!(leaf.step(entry, to(1)).port, 1);
    }

    #[test]
    fn other_trees_are_refused() {
        let refuses = |tree: FatTree| Clos::new(Arc::new(tree)).unwrap_err().message;
        assert!(refuses(FatTree::k_ary_n_tree(2, 3).unwrap()).contains("2 levels"));
        assert!(refuses(FatTree::two_level(2, 2, 2, 2).unwrap()).contains("one link"));
    }
}
