//! Up to the lowest level from which the destination can be reached by going down, then down.

use std::ops::Range;
use std::sync::Arc;

use tailback_parameters::{Choice, Kind, Parameter};
use tailback_random::{Stream, scramble};
use tailback_topology::{AnyTopology, FatTree, Locator, Port, RouterId, Topology};

use crate::registry::{RoutingModel, needs};
use crate::{Agent, ChannelKind, Header, PortVc, Routing, Step, Validity, View};

/// How a packet chooses among the links that lead up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpChoice {
    /// At random, each alike.
    Random,
    /// By the number of its destination: all packets to a node take the same path down, and neighbouring
    /// destinations take different ones (D-mod-K).
    Destination,
    /// By a hash of its source, its destination and its entropy value: all packets of a flow take the same path unless their
    /// protocol gives them different values (ECMP, packet spraying).
    Hash,
}

/// The entry in the list of algorithms.
pub(crate) const NEAREST_COMMON_ANCESTOR: RoutingModel = RoutingModel {
    name: "nearest-common-ancestor",
    topology: "fat-tree",
    summary: "NCA: up to the lowest common ancestor of source and destination, then down",
    parameters: &[
        Parameter {
            name: "up",
            kind: Kind::Choice(&[
                Choice { word: "random", help: "a random link up for each packet and hop" },
                Choice { word: "destination", help: "the link that the destination's number names (D-mod-K)" },
                Choice {
                    word: "hash",
                    help: "the link that a hash of source, destination and, if the protocol sets one, the packet's entropy \
                           value names (ECMP)",
                },
            ]),
            default: Some("\"random\""),
            help: "how packets choose among the links that lead up",
        },
        Parameter {
            name: "vcs",
            kind: Kind::Integer { min: 1, max: 16 },
            default: Some("1"),
            help: "virtual channels on each link; any of them will do for any packet",
        },
    ],
    build: |topology, values| {
        let AnyTopology::FatTree(topology) = topology else { return Err(needs(&NEAREST_COMMON_ANCESTOR, topology)) };
        let up = match values.text("up") {
            "destination" => UpChoice::Destination,
            "hash" => UpChoice::Hash,
            _ => UpChoice::Random,
        };
        Ok(Arc::new(NearestCommonAncestor::new(Arc::clone(topology), up, values.integer("vcs") as u8)))
    },
};

/// Nearest-common-ancestor routing.
#[derive(Clone, Debug)]
pub struct NearestCommonAncestor {
    topology: Arc<FatTree>,
    up: UpChoice,
    vcs: u8,
}

impl NearestCommonAncestor {
    /// On `topology`, with `vcs` virtual channels, all of which will do for any packet.
    #[must_use]
    pub fn new(topology: Arc<FatTree>, up: UpChoice, vcs: u8) -> Self {
        Self { topology, up, vcs }
    }

    fn make_agent(&self, router: RouterId) -> NcaAgent {
        let topology = &self.topology;
        let level = topology.position(router).level;
        let up = topology.ports_up(level);
        NcaAgent {
            router,
            level,
            prefix: topology.prefix_below(router),
            first_up: up.start,
            ups: up.len() as u32,
            parallel_down: topology.ports_down(level, 0).len() as u32,
            routing: self.clone(),
        }
    }
}

impl Routing for NearestCommonAncestor {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        let mut channels = vec![self.vcs; self.topology.link_classes().len()];
        channels[0] = 1;
        channels
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(self.make_agent(router))
    }

    fn is_oblivious(&self) -> bool {
        true
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        // Up channels have the classes 1, 2, … by level, and down channels the classes after them, from the top
        // down: packets climb, turn once at any level, and descend.
        let height = self.topology.height() as u8;
        let top = |class: u8| class == height - 1;
        let mut classes = Vec::new();
        for up in 1..height {
            classes.push((up, 2 * height - (up + 1)));
            if !top(up) {
                classes.push((up, up + 1));
            }
        }
        classes.extend((height..2 * height - 2).map(|down| (down, down + 1)));
        let each = || 0..self.vcs;
        let kinds = |(from, to)| {
            each().flat_map(move |a| {
                each().map(move |b| (ChannelKind { class: from, vc: a }, ChannelKind { class: to, vc: b }))
            })
        };
        classes.into_iter().flat_map(kinds).collect()
    }

    fn possible(&self, router: RouterId, _entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        let agent = self.make_agent(router);
        if header.is_anywhere() {
            let per_leaf = self.topology.ports_up(1).start as usize;
            for node in (0..self.topology.nodes()).step_by(per_leaf) {
                agent.possible(header.towards(self.topology.locator(node)), steps);
            }
        } else {
            agent.possible(header, steps);
        }
    }

    fn describe(&self) -> String {
        let up = match self.up {
            UpChoice::Random => "random",
            UpChoice::Destination => "destination's",
            UpChoice::Hash => "hashed",
        };
        format!("nearest common ancestor, {up} way up, any of {} virtual channels", self.vcs)
    }
}

struct NcaAgent {
    router: RouterId,
    level: u32,
    /// The common prefix of all destinations below this switch.
    prefix: u32,
    first_up: u32,
    ups: u32,
    parallel_down: u32,
    routing: NearestCommonAncestor,
}

impl NcaAgent {
    /// The ports that lead on: one after the other, all equally good.
    #[inline]
    fn ports(&self, destination: Locator) -> Range<u32> {
        let topology = &self.routing.topology;
        if topology.prefix(self.level, destination) == self.prefix {
            let child = topology.child_towards(self.level, destination);
            child * self.parallel_down..(child + 1) * self.parallel_down
        } else {
            self.first_up..self.first_up + self.ups
        }
    }

    /// Which of some equally good ports a packet takes, unless that is drawn.
    #[inline]
    fn chosen(&self, header: &Header, ports: &Range<u32>) -> Option<u32> {
        let count = ports.len() as u32;
        let index = match self.routing.up {
            _ if count == 1 => 0,
            UpChoice::Random => return None,
            UpChoice::Destination => {
                // What comes to this switch has taken, up from the level below, the links of its part of the numbers there. So numbers of that level
                // use all links down alike, and those of this one only one.
                let level = if ports.start < self.first_up { self.level - 1 } else { self.level };
                self.routing.topology.spread(level, header.destination()) % count
            }
            UpChoice::Hash => {
                let hash = scramble(u64::from(header.via()) << 32 | u64::from(self.router)) >> 32;
                ((hash * u64::from(count)) >> 32) as u32
            }
        };
        Some(ports.start + index)
    }

    /// The header of a packet whose flow is known: its first router hashes the flow for all others, as only that one sees by
    /// the port where the packet comes from.
    #[inline]
    fn with_flow(&self, entry: PortVc, header: Header) -> Header {
        if self.routing.up != UpChoice::Hash || header.via() != 0 {
            return header;
        }
        let source = u64::from(self.router) << 8 | u64::from(entry.port);
        let label = u64::from(header.destination().0) << 16 | u64::from(header.entropy);
        header.by_way_of((scramble(scramble(source) ^ label) as u32).max(1))
    }

    fn step(&self, port: u32, header: Header) -> Step {
        let terminal = self.level == 1 && port < self.first_up;
        let vcs = if terminal { 1 } else { self.routing.vcs };
        Step { port: port as Port, vc: 0, vcs, validity: Validity::Always, header }
    }

    fn possible(&self, header: Header, steps: &mut Vec<Step>) {
        // Also when destinations name their ports: here a destination stands for all nodes of its leaf.
        steps.extend(self.ports(header.destination()).map(|port| self.step(port, header)));
    }
}

impl Agent for NcaAgent {
    fn route(&mut self, entry: PortVc, header: &Header, _view: &dyn View, random: &mut Stream) -> Step {
        let (ports, header) = (self.ports(header.destination()), self.with_flow(entry, *header));
        let port = self.chosen(&header, &ports).unwrap_or_else(|| ports.start + random.below(ports.len() as u32));
        self.step(port, header)
    }

    fn ejects(&self, _entry: PortVc, header: &Header) -> bool {
        self.level == 1 && self.ports(header.destination()).start < self.first_up
    }

    fn only_port(&self, entry: PortVc, header: &Header) -> Option<Port> {
        let (ports, header) = (self.ports(header.destination()), self.with_flow(entry, *header));
        self.chosen(&header, &ports).map(|port| port as Port)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use tailback_topology::Peer;

    use super::*;

    /// The links up by which packets with some headers leave a switch, as hashing chooses them.
    fn hashed(agent: &NcaAgent, headers: impl Iterator<Item = (u8, Header)>) -> BTreeMap<Port, u32> {
        let mut counts = BTreeMap::new();
        for (port, header) in headers {
            let chosen = agent.only_port(PortVc { port, vc: 0 }, &header).expect("hashing draws nothing");
            *counts.entry(chosen).or_default() += 1;
        }
        counts
    }

    #[test]
    fn a_hash_keeps_flows_together_and_spreads_entropy_values() {
        let tree = Arc::new(FatTree::k_ary_n_tree(4, 3).unwrap());
        let routing = NearestCommonAncestor::new(Arc::clone(&tree), UpChoice::Hash, 1);
        let (leaf, destination) = (routing.make_agent(0), tree.locator(63));
        let header = Header::new(destination);
        // One flow has one path, and several flows have several.
        assert_eq!(hashed(&leaf, std::iter::repeat_n((1, header), 9)).len(), 1);
        let flows = (0..4).flat_map(|port| (16..64).map(move |node| (port, node)));
        let flows = flows.map(|(port, node)| (port, Header::new(tree.locator(node))));
        assert_eq!(hashed(&leaf, flows).len(), 4);
        let values = || (0..4000u16).map(|entropy| header.with_entropy(entropy));
        for agent in [leaf, routing.make_agent(16)] {
            let counts = hashed(&agent, values().map(|header| (1, header)));
            assert!(counts.len() == 4 && counts.values().all(|count| (900..1100).contains(count)), "{counts:?}");
        }
        // What a leaf has chosen does not decide what the switches above it choose.
        let (leaf, above) = (routing.make_agent(0), routing.make_agent(16));
        let both = values().map(|header| {
            let header = leaf.with_flow(PortVc { port: 1, vc: 0 }, header);
            (leaf.chosen(&header, &(4..8)), above.chosen(&header, &(4..8)))
        });
        assert_eq!(both.collect::<BTreeSet<_>>().len(), 16);
    }

    /// By the destination's number all links of a level are used alike, those that lead down beside each other, too.
    #[test]
    fn destinations_are_spread_over_all_links() {
        for tree in [
            FatTree::two_level(4, 2, 1, 4),
            FatTree::two_level(8, 3, 2, 4),
            FatTree::bidirectional_fly(4, 3, true),
            FatTree::new(&[4, 4, 4], &[2, 2], &[2, 2]),
        ] {
            let tree = Arc::new(tree.expect("it exists"));
            let routing = NearestCommonAncestor::new(Arc::clone(&tree), UpChoice::Destination, 1);
            let mut used: BTreeMap<(RouterId, Port), u32> = BTreeMap::new();
            for (source, destination) in
                (0..tree.nodes()).flat_map(|source| (0..tree.nodes()).map(move |destination| (source, destination)))
            {
                let (mut router, header) = (tree.attachment(source).0, Header::new(tree.locator(destination)));
                while let Some(port) = routing.make_agent(router).only_port(PortVc::OWN, &header)
                    && let Peer::Router { router: next, .. } = tree.peer(router, port)
                {
                    *used.entry((router, port)).or_default() += 1;
                    router = next;
                }
                assert_eq!(router, tree.attachment(destination).0);
            }
            let mut by_class: BTreeMap<u8, BTreeSet<u32>> = BTreeMap::new();
            for router in 0..tree.routers() {
                for port in (0..tree.ports(router)).map(|port| port as Port) {
                    if let Peer::Router { .. } = tree.peer(router, port) {
                        let uses = used.get(&(router, port)).copied().unwrap_or(0);
                        by_class.entry(tree.channel_class(router, port)).or_default().insert(uses);
                    }
                }
            }
            let alike = by_class.values().all(|uses| uses.len() == 1 && !uses.contains(&0));
            assert!(alike, "{}: by channel class {by_class:?}", tree.describe());
        }
    }
}
