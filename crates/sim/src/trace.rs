//! The paths that packets take through an empty network.

use std::collections::BTreeMap;
use std::sync::Arc;

use tailback_engine::Stream;
use tailback_network::{NetworkSpec, ZeroLoad};
use tailback_routing::{Agent, Board, Header, PortVc, Step, View};
use tailback_scenario::Scenario;
use tailback_topology::{LinkClass, NodeId, Peer, Port, RouterId, Topology};

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
                    zero_load: ZeroLoad::new(&scenario.network, &links, scenario.network.packet_flits_max.into()),
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

/// A router that holds nothing, or about which credits tell anything: so that adaptive routing shows all its paths.
pub(crate) struct Imagined<'a> {
    pub graph: &'a dyn Topology,
    pub spec: &'a NetworkSpec,
    pub router: RouterId,
    /// What is told; nothing for an empty network.
    pub rumour: u32,
    pub board: &'a Board,
}

impl View for Imagined<'_> {
    fn channels(&self, port: Port) -> u8 {
        self.spec.classes[0].vcs[self.graph.link_class(self.router, port).index()]
    }

    fn capacity(&self, port: Port, _: u8) -> u32 {
        self.spec.input_buffers[self.graph.link_class(self.router, port).index()].into()
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

/// What the routers of a domain have told each other in an empty network, which is nothing; as large as the largest domain.
pub(crate) fn empty_board(graph: &dyn Topology) -> Board {
    let mut sizes = vec![0; graph.domains() as usize];
    (0..graph.routers()).for_each(|router| sizes[graph.domain(router) as usize] += 1);
    Board::new(sizes.into_iter().max().unwrap_or(0))
}

/// The path on which `step` takes a packet: the classes of its links between routers, and the virtual channels on them. None if it does
/// not arrive.
pub(crate) fn walk(
    graph: &dyn Topology,
    (source, destination): (NodeId, NodeId),
    mut step: impl FnMut(RouterId, PortVc, &Header) -> Step,
) -> Option<(Vec<LinkClass>, Vec<u8>)> {
    let (mut router, port) = graph.injection(source);
    let mut entry = PortVc { port, vc: 0 };
    let mut header = Header::new(graph.locator(destination));
    let (mut links, mut vcs) = (Vec::new(), Vec::new());
    while links.len() <= HOPS_MAX {
        let step = step(router, entry, &header);
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

pub(crate) struct Tracer<'s> {
    scenario: &'s Scenario,
    graph: Arc<dyn Topology>,
    agents: BTreeMap<RouterId, Box<dyn Agent>>,
    random: Stream,
    board: Board,
}

impl<'s> Tracer<'s> {
    pub(crate) fn new(scenario: &'s Scenario) -> Self {
        let graph = scenario.topology.built.graph();
        let board = empty_board(graph.as_ref());
        Self { scenario, graph, agents: BTreeMap::new(), random: Stream::new(1, 0, 0), board }
    }

    fn trace(&mut self, source: NodeId, destination: NodeId, rumour: u32) -> Option<(Vec<LinkClass>, Vec<u8>)> {
        let Self { scenario, graph, agents, random, board } = self;
        walk(graph.as_ref(), (source, destination), |router, entry, header| {
            let agent = agents.entry(router).or_insert_with(|| scenario.routing.built.agent(router));
            let view = Imagined { graph: graph.as_ref(), spec: &scenario.network, router, rumour, board };
            agent.route(entry, header, &view, random)
        })
    }

    /// The routers that a packet goes through in an empty network, one after the other. None if it does not arrive.
    pub(crate) fn routers(&mut self, source: NodeId, destination: NodeId) -> Option<Vec<RouterId>> {
        let Self { scenario, graph, agents, random, board } = self;
        let mut routers = Vec::new();
        let path = walk(graph.as_ref(), (source, destination), |router, entry, header| {
            routers.push(router);
            let agent = agents.entry(router).or_insert_with(|| scenario.routing.built.agent(router));
            let view = Imagined { graph: graph.as_ref(), spec: &scenario.network, router, rumour: 0, board };
            agent.route(entry, header, &view, random)
        });
        path.map(|_| routers)
    }
}
