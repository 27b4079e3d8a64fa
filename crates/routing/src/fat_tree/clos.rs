//! A tree of two levels as the Clos network that it is when it is unfolded: every packet goes through a spine, also to its own leaf.
//!
//! Where crosspoints have queues, the virtual channel of a link names the output of the switch at its end, as buffered crossbars have it; the
//! spine is chosen where a packet is injected, by the channel that it is injected on. Where inputs have queues, a link has one channel, and the leaf
//! sends the packets of each flow by its spines in turn.

use std::sync::Arc;

use tailback_parameters::{BuildError, Choice, Kind, Parameter};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, FatTree, Locator, Port, RouterId, Topology};

use crate::registry::{RoutingModel, needs};
use crate::{Agent, ChannelKind, Header, PortVc, Routing, Step, Validity, View};

/// The entry in the list of algorithms.
pub(crate) const CLOS: RoutingModel = RoutingModel {
    name: "clos",
    topology: "fat-tree",
    summary: "three stages: always through a spine, with queues at crosspoints or at inputs",
    parameters: &[Parameter {
        name: "queues",
        kind: Kind::Choice(&[
            Choice {
                word: "crosspoints",
                help: "a channel for each crosspoint; that of injection names the spine, so flows take spines as `nic.vc_choice` says",
            },
            Choice { word: "inputs", help: "one channel for each link; the packets of a flow take the spines in turn" },
        ]),
        default: Some("\"crosspoints\""),
        help: "where the queues of switches are",
    }],
    build: |topology, values| {
        let AnyTopology::FatTree(topology) = topology else { return Err(needs(&CLOS, topology)) };
        let queues = match values.text("queues") {
            "inputs" => Queues::Inputs,
            _ => Queues::Crosspoints,
        };
        Ok(Arc::new(Clos::new(Arc::clone(topology), queues)?))
    },
};

/// The most nodes where leaves remember the turn of each flow.
const NODES_MAX: u32 = 1 << 12;

/// Where the queues of switches are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// One for each pair of an input and an output.
    Crosspoints,
    /// One for each input.
    Inputs,
}

/// Routing through a three-stage Clos network.
#[derive(Clone, Debug)]
pub struct Clos {
    topology: Arc<FatTree>,
    queues: Queues,
    leaves: u8,
    spines: u8,
    nodes_per_leaf: u8,
}

impl Clos {
    /// On a tree of two levels.
    ///
    /// # Errors
    /// When it has more levels or fewer, parallel links, or switches of more ports than channels can be counted.
    pub fn new(topology: Arc<FatTree>, queues: Queues) -> Result<Self, BuildError> {
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
        if queues == Queues::Inputs && topology.nodes() > NODES_MAX {
            let nodes = topology.nodes();
            return Err(BuildError::new(format!(
                "flows take spines in turn among {NODES_MAX} nodes at most, here are {nodes}"
            ))
            .help("set routing.clos.queues = \"crosspoints\", or take a smaller network"));
        }
        let nodes_per_leaf = topology.ports_up(1).start;
        let (leaves, spines) = (topology.nodes() / nodes_per_leaf, topology.ports_up(1).len() as u32);
        let count = |number: u32, of: &str| {
            u8::try_from(number)
                .map_err(|_| BuildError::new(format!("`clos` routes among 255 {of} at most, and here are {number}")))
        };
        Ok(Self {
            leaves: count(leaves, "leaves")?,
            spines: count(spines, "spines")?,
            nodes_per_leaf: count(nodes_per_leaf, "nodes of a leaf")?,
            topology,
            queues,
        })
    }

    fn make_agent(&self, router: RouterId) -> ClosAgent {
        let is_spine = self.topology.position(router).level == 2;
        ClosAgent { is_spine, turns: Vec::new(), routing: self.clone() }
    }

    /// The same with a turn for each flow, where it sends flows by its spines in turn.
    fn agent_with_turns(&self, router: RouterId) -> ClosAgent {
        let mut agent = self.make_agent(router);
        if !agent.is_spine && self.queues == Queues::Inputs {
            agent.turns = vec![NOT_DRAWN; usize::from(self.nodes_per_leaf) * self.topology.nodes() as usize];
        }
        agent
    }

    /// The spines that a packet may take that is injected by a channel.
    fn spines_by(&self, entry: PortVc) -> std::ops::Range<u32> {
        match self.queues {
            Queues::Crosspoints => entry.vc.into()..u32::from(entry.vc) + 1,
            Queues::Inputs => 0..self.spines.into(),
        }
    }
}

impl Routing for Clos {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.topology) as _
    }

    fn names_injection_channels(&self) -> bool {
        self.queues == Queues::Crosspoints
    }

    fn virtual_channels(&self) -> Vec<u8> {
        if self.queues == Queues::Inputs {
            return vec![1, 1];
        }
        // By the output of the switch that a link leads to: of injection the spines, of the way up the leaves, of the way down the nodes.
        // Both ways of a link have as many: the larger number.
        vec![self.spines, self.leaves.max(self.nodes_per_leaf)]
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(self.agent_with_turns(router))
    }

    fn is_oblivious(&self) -> bool {
        true
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        let (leaves, nodes) = match self.queues {
            Queues::Crosspoints => (self.leaves, self.nodes_per_leaf),
            Queues::Inputs => (1, 1),
        };
        let up = (0..leaves).map(|vc| ChannelKind { class: 1, vc });
        up.flat_map(|up| (0..nodes).map(move |vc| (up, ChannelKind { class: 2, vc }))).collect()
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
            let by = |leaf| self.spines_by(entry).map(move |spine| (leaf, spine));
            steps.extend(wanted.flat_map(by).map(|(leaf, spine)| agent.step_up(spine, towards(leaf, 0))));
        } else {
            steps.extend(
                wanted
                    .flat_map(|leaf| (0..nodes).map(move |node| (leaf, node)))
                    .map(|(leaf, node)| agent.step_down(towards(leaf, node))),
            );
        }
    }

    fn describe(&self) -> String {
        let queues = match self.queues {
            Queues::Crosspoints => "a channel for each crosspoint",
            Queues::Inputs => "in turn for each flow, with one channel",
        };
        format!("Clos network through {} spines, {queues}", self.spines)
    }
}

/// In place of the spine of a flow's next packet: it has sent none.
const NOT_DRAWN: u8 = u8::MAX;

struct ClosAgent {
    is_spine: bool,
    /// At a leaf that sends flows by its spines in turn: for each of its nodes and each destination the spine of the next packet.
    turns: Vec<u8>,
    routing: Clos,
}

impl ClosAgent {
    /// Whether a packet that came in by `entry` is on its way to a spine.
    #[inline]
    fn ascends(&self, entry: PortVc) -> bool {
        !self.is_spine && entry.port < self.routing.nodes_per_leaf as Port
    }

    /// To a spine.
    #[inline]
    fn step_up(&self, spine: u32, header: Header) -> Step {
        let (leaf, _) = self.leaf_and_node(header.destination());
        self.step(u32::from(self.routing.nodes_per_leaf) + spine, leaf, header)
    }

    /// From a spine to a leaf, or from a leaf to a node.
    #[inline]
    fn step_down(&self, header: Header) -> Step {
        let (leaf, node) = self.leaf_and_node(header.destination());
        if self.is_spine { self.step(leaf, node, header) } else { self.step(node, 0, header) }
    }

    /// By a port; where crosspoints have queues, to the one of `output` of the switch behind it.
    #[inline]
    fn step(&self, port: u32, output: u32, header: Header) -> Step {
        let vc = match self.routing.queues {
            Queues::Crosspoints => output as u8,
            Queues::Inputs => 0,
        };
        Step { port: port as Port, vc, vcs: 1, validity: Validity::Always, header }
    }

    /// The spine of the next packet of a flow. The first one's is drawn, so that flows are not in step.
    fn turn(&mut self, entry: PortVc, destination: Locator, random: &mut Stream) -> u32 {
        let (leaf, node) = self.leaf_and_node(destination);
        let routing = &self.routing;
        let destination = leaf * u32::from(routing.nodes_per_leaf) + node;
        let flow = u32::from(entry.port) * routing.topology.nodes() + destination;
        let next = &mut self.turns[flow as usize];
        let spine = if *next == NOT_DRAWN { random.below(routing.spines.into()) as u8 } else { *next };
        *next = (spine + 1) % routing.spines;
        spine.into()
    }

    /// The leaf of a destination, and its port there.
    #[inline]
    fn leaf_and_node(&self, destination: Locator) -> (u32, u32) {
        let topology = &self.routing.topology;
        (topology.child_towards(2, destination), topology.child_towards(1, destination))
    }
}

impl Agent for ClosAgent {
    fn route(&mut self, entry: PortVc, header: &Header, _view: &dyn View, random: &mut Stream) -> Step {
        if !self.ascends(entry) {
            return self.step_down(*header);
        }
        let spine = match self.routing.queues {
            Queues::Crosspoints => entry.vc.into(),
            Queues::Inputs => self.turn(entry, header.destination(), random),
        };
        self.step_up(spine, *header)
    }

    fn ejects(&self, entry: PortVc, _header: &Header) -> bool {
        !self.is_spine && !self.ascends(entry)
    }

    fn only_port(&self, entry: PortVc, header: &Header) -> Option<Port> {
        if !self.ascends(entry) {
            return Some(self.step_down(*header).port);
        }
        let spines = self.routing.spines_by(entry);
        (spines.len() == 1).then(|| self.step_up(spines.start, *header).port)
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        bytes.extend(&self.turns);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let turns = bytes.split_off(..self.turns.len())?;
        self.turns.copy_from_slice(turns);
        // What has been changed on its way must not lead to a port that there is not.
        self.turns.iter().all(|&turn| turn == NOT_DRAWN || turn < self.routing.spines).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clos(queues: Queues) -> Clos {
        Clos::new(Arc::new(FatTree::two_level(2, 2, 2, 1).unwrap()), queues).unwrap()
    }

    #[test]
    fn packets_pass_the_spine_of_their_channel_and_wait_by_their_next_output() {
        let routing = clos(Queues::Crosspoints);
        let (leaf, spine) = (routing.make_agent(0), routing.make_agent(3));
        let to = |node| Header::new(routing.topology.locator(node));
        let by = |step: Step| (step.port, step.vc);
        // From a node, by the second spine, to each node: also to the own leaf, and to the node itself.
        let entry = PortVc { port: 1, vc: 1 };
        let spine_of = |entry: PortVc| routing.spines_by(entry).start;
        assert_eq!(
            (0..4).map(|node| by(leaf.step_up(spine_of(entry), to(node)))).collect::<Vec<_>>(),
            [(3, 0), (3, 0), (3, 1), (3, 1)]
        );
        assert_eq!(
            (0..4).map(|node| by(spine.step_down(to(node)))).collect::<Vec<_>>(),
            [(0, 0), (0, 1), (1, 0), (1, 1)]
        );
        let entry = PortVc { port: 3, vc: 1 };
        assert!(leaf.ejects(entry, &to(1)) && !leaf.ejects(PortVc { port: 1, vc: 0 }, &to(1)));
        assert_eq!(leaf.step_down(to(1)).port, 1);
    }

    #[test]
    fn flows_take_spines_in_turn_where_inputs_have_queues() {
        let routing = Clos::new(Arc::new(FatTree::two_level(4, 4, 4, 1).unwrap()), Queues::Inputs).unwrap();
        assert_eq!(routing.virtual_channels(), [1, 1]);
        let mut leaf = routing.agent_with_turns(0);
        let mut random = Stream::new(1, 2, 3);
        let entry = |port| PortVc { port, vc: 0 };
        let mut taken = |leaf: &mut ClosAgent, port, node, count| -> Vec<u32> {
            (0..count).map(|_| leaf.turn(entry(port), routing.topology.locator(node), &mut random)).collect()
        };
        let first = taken(&mut leaf, 1, 9, 5);
        assert!(first.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 4), "{first:?}");
        // Packets of other flows leave its turn alone, and flows begin where they like.
        let starts: Vec<u32> = (0..16).flat_map(|node| taken(&mut leaf, 2, node, 1)).collect();
        assert!((0..4).all(|spine| starts.contains(&spine)), "{starts:?}");
        let mut bytes = Vec::new();
        leaf.save(&mut bytes);
        assert_eq!(taken(&mut leaf, 1, 9, 1), [(first[4] + 1) % 4]);
        // What is remembered is what is written, and no more than that.
        let mut other = routing.agent_with_turns(0);
        let mut rest = [&bytes[..], &[7]].concat();
        assert_eq!((other.load(&mut &rest[..]), other.turns == bytes), (Some(()), true));
        assert_eq!(other.load(&mut &bytes[1..]), None);
        rest[0] = 4;
        assert_eq!(other.load(&mut &rest[..]), None, "there is no such spine");
        // A packet to its own leaf passes a spine as well, and which one is not known before.
        let own = Header::new(routing.topology.locator(2));
        assert_eq!(leaf.only_port(entry(1), &own), None);
        assert_eq!(leaf.only_port(entry(5), &own), Some(2));
        assert!(
            leaf.turns.len() == 64 && routing.agent_with_turns(4).turns.is_empty(),
            "spines have nothing to choose"
        );
    }

    #[test]
    fn other_trees_are_refused() {
        let refuses = |tree: FatTree| Clos::new(Arc::new(tree), Queues::Inputs).unwrap_err().message;
        assert!(refuses(FatTree::k_ary_n_tree(2, 3).unwrap()).contains("2 levels"));
        assert!(refuses(FatTree::two_level(2, 2, 2, 2).unwrap()).contains("one link"));
        assert!(refuses(FatTree::two_level(32, 129, 32, 1).unwrap()).contains("4096 nodes at most, here are 4128"));
    }
}
