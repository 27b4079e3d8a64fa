//! The paths that packets take through an empty network.

use std::collections::BTreeMap;

use tailback_engine::Stream;
use tailback_network::ZeroLoad;
use tailback_routing::{Agent, Board, Header, PortVc, View};
use tailback_scenario::Scenario;
use tailback_topology::{LinkClass, NodeId, Peer, Port, RouterId};

/// A kind of path through the network: the classes of its links in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathType {
    /// The classes of the links between routers, in order.
    pub links: Vec<LinkClass>,
    /// The virtual channels on them, counted inside the traffic class.
    pub vcs: Vec<u8>,
    /// A source and a destination with such a path between them.
    pub example: (NodeId, NodeId),
    /// What the latency of the largest packet is made of when it is alone, in ticks.
    pub zero_load: ZeroLoad,
}

/// Longer paths are not looked for.
const HOPS_MAX: usize = 64;
/// How many destinations are tried from each source, and how often each.
const DESTINATIONS_MAX: u32 = 4096;
const DRAWS: u32 = 12;
/// How many sources are tried.
const SOURCES: u32 = 3;

/// All kinds of paths that routing takes in the network of `scenario`, shortest first. In a large network they are
/// those to a sample of destinations.
#[must_use]
pub fn path_types(scenario: &Scenario) -> Vec<PathType> {
    let mut tracer = Tracer::new(scenario);
    let nodes = scenario.topology.built.graph().nodes();
    let mut found: BTreeMap<(usize, Vec<u8>), PathType> = BTreeMap::new();
    for source in (0..SOURCES.min(nodes)).map(|index| index * (nodes / SOURCES.min(nodes))) {
        for destination in sample(nodes, source) {
            for draw in 0..DRAWS {
                let Some((links, vcs)) = tracer.trace(source, destination, draw / 2 * 16) else { continue };
                let key = (links.len(), links.iter().map(|class| class.0).collect());
                found.entry(key).or_insert_with(|| PathType {
                    zero_load: ZeroLoad::new(&scenario.network, &links, scenario.network.packet_flits_max),
                    links,
                    vcs,
                    example: (source, destination),
                });
            }
        }
    }
    found.into_values().collect()
}

/// Destinations near `source` and all over the network.
fn sample(nodes: u32, source: u32) -> impl Iterator<Item = u32> {
    let near = (0..nodes.min(DESTINATIONS_MAX / 2))
        .map(move |step| ((u64::from(source) + u64::from(step)) % u64::from(nodes)) as u32);
    let stride = (nodes / (DESTINATIONS_MAX / 2)).max(1);
    near.chain((0..nodes).step_by(stride as usize)).filter(move |&node| node != source)
}

struct Tracer<'s> {
    scenario: &'s Scenario,
    agents: BTreeMap<RouterId, Box<dyn Agent>>,
    random: Stream,
    /// What the routers of a domain have told each other, which is nothing; as large as the largest domain.
    board: Board,
}

/// A router that holds nothing, or about which credits tell anything: so that adaptive routing shows all its paths.
struct Imagined<'s> {
    scenario: &'s Scenario,
    router: RouterId,
    /// What is told; nothing for an empty network.
    rumour: u32,
    board: &'s Board,
}

impl View for Imagined<'_> {
    fn channels(&self, port: Port) -> u8 {
        let class = self.scenario.topology.built.graph().link_class(self.router, port);
        self.scenario.network.classes[0].vcs[class.index()]
    }

    fn capacity(&self, port: Port, _: u8) -> u32 {
        let class = self.scenario.topology.built.graph().link_class(self.router, port);
        self.scenario.network.input_buffers[class.index()].into()
    }

    fn waiting(&self, _: Port) -> u32 {
        0
    }

    fn admits(&self, port: Port, vc: u8) -> bool {
        self.rumour == 0 || self.occupancy(port, vc) < self.rumour
    }

    fn board(&self) -> &Board {
        self.board
    }

    fn occupancy(&self, port: Port, _: u8) -> u32 {
        // Any sequence will do that tells different ports apart in different draws.
        self.rumour.wrapping_mul(2_654_435_761).rotate_left(u32::from(port) % 32) % (4 * self.rumour + 1)
    }
}

impl<'s> Tracer<'s> {
    fn new(scenario: &'s Scenario) -> Self {
        let graph = scenario.topology.built.graph();
        let mut sizes = vec![0; graph.domains() as usize];
        (0..graph.routers()).for_each(|router| sizes[graph.domain(router) as usize] += 1);
        let board = Board::new(sizes.into_iter().max().unwrap_or(0));
        Self { scenario, agents: BTreeMap::new(), random: Stream::new(1, 0, 0), board }
    }

    fn trace(&mut self, source: NodeId, destination: NodeId, rumour: u32) -> Option<(Vec<LinkClass>, Vec<u8>)> {
        let graph = self.scenario.topology.built.graph();
        let routing = &self.scenario.routing.built;
        let (mut router, port) = graph.injection(source);
        let mut entry = PortVc { port, vc: 0 };
        let mut header = Header::new(graph.locator(destination));
        let (mut links, mut vcs) = (Vec::new(), Vec::new());
        while links.len() <= HOPS_MAX {
            let agent = self.agents.entry(router).or_insert_with(|| routing.agent(router));
            let view = Imagined { scenario: self.scenario, router, rumour, board: &self.board };
            let step = agent.route(entry, &header, &view, &mut self.random);
            if step.vcs == 0 {
                return None;
            }
            match graph.peer(router, step.port) {
                Peer::Router { router: next, port } => {
                    links.push(graph.link_class(router, step.port));
                    vcs.push(step.vc);
                    (router, entry, header) = (next, PortVc { port, vc: step.vc }, step.header);
                }
                Peer::Node(node) => return (node == destination).then_some((links, vcs)),
                Peer::Nothing => return None,
            }
        }
        None
    }
}
