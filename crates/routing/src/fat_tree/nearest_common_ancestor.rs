//! Up to the lowest level from which the destination can be reached by going down, then down.

use std::sync::Arc;

use tailback_parameters::{Choice, Kind, Parameter};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, FatTree, Locator, Port, RouterId, Topology};

use crate::registry::{RoutingModel, needs};
use crate::{Agent, ChannelKind, Header, Lane, Routing, Step, Validity, View};

/// How a packet chooses among the links that lead up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpChoice {
    /// At random, each alike.
    Random,
    /// By the number of its destination: all packets to a node take the same path down, and neighbouring
    /// destinations take different ones (D-mod-K).
    Destination,
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
        let up = if values.text("up") == "destination" { UpChoice::Destination } else { UpChoice::Random };
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
        let level = topology.place(router).level;
        let up = topology.ports_up(level);
        NcaAgent {
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

    fn possible(&self, router: RouterId, _entry: Lane, header: Header, steps: &mut Vec<Step>) {
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
        };
        format!("nearest common ancestor, {up} way up, any of {} virtual channels", self.vcs)
    }
}

struct NcaAgent {
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
    fn ports(&self, destination: Locator) -> std::ops::Range<u32> {
        let topology = &self.routing.topology;
        if topology.prefix(self.level, destination) == self.prefix {
            let child = topology.child_towards(self.level, destination);
            child * self.parallel_down..(child + 1) * self.parallel_down
        } else {
            self.first_up..self.first_up + self.ups
        }
    }

    /// Which of `count` equally good ports a packet takes, unless that is drawn.
    #[inline]
    fn chosen(&self, destination: Locator, count: u32) -> Option<u32> {
        match self.routing.up {
            _ if count == 1 => Some(0),
            UpChoice::Random => None,
            UpChoice::Destination => Some(self.routing.topology.spread(self.level, destination) % count),
        }
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
    fn route(&mut self, _entry: Lane, header: &Header, _view: &dyn View, random: &mut Stream) -> Step {
        let ports = self.ports(header.destination());
        let count = ports.len() as u32;
        let index = self.chosen(header.destination(), count).unwrap_or_else(|| random.below(count));
        self.step(ports.start + index, *header)
    }

    fn ejects(&self, _entry: Lane, header: &Header) -> bool {
        self.level == 1 && self.ports(header.destination()).start < self.first_up
    }

    fn only_port(&self, _entry: Lane, header: &Header) -> Option<Port> {
        let ports = self.ports(header.destination());
        self.chosen(header.destination(), ports.len() as u32).map(|index| (ports.start + index) as Port)
    }
}
