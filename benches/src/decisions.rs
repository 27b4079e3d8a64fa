//! Routing decisions as packets meet them on their paths: at sources, in transit and at destinations, in the shares in
//! which they come.

use std::hint::black_box;

use tailback_random::Stream;
use tailback_routing::{Agent, Board, Header, PortVc, Routing, View};
use tailback_topology::{Peer, Port, RouterId, Topology};

/// The longest path that a packet may take; a longer one goes in circles.
const HOPS_MAX: usize = 64;

/// A packet that an agent has to decide about.
#[derive(Clone, Copy, Debug)]
struct Case {
    router: RouterId,
    entry: PortVc,
    header: Header,
}

/// The agents of a network, and what they have to decide.
pub struct Decisions {
    agents: Vec<Box<dyn Agent>>,
    /// By router.
    queues: Vec<Queues>,
    cases: Vec<Case>,
    stream: Stream,
}

/// What an agent sees: queues of lengths that never change, but differ from port to port and channel to channel.
#[derive(Debug)]
struct Queues {
    router: RouterId,
    /// Virtual channels, by port.
    channels: Vec<u8>,
    /// Nobody has told anything.
    board: Board,
}

impl View for Queues {
    #[inline]
    fn channels(&self, port: Port) -> u8 {
        self.channels[usize::from(port)]
    }

    #[inline]
    fn occupancy(&self, port: Port, vc: u8) -> u32 {
        (self.router * 7 + u32::from(port) * 37 + u32::from(vc) * 11) % 32
    }

    #[inline]
    fn capacity(&self, _port: Port, _vc: u8) -> u32 {
        32
    }

    #[inline]
    fn waiting(&self, port: Port) -> u32 {
        self.port_occupancy(port).saturating_sub(16)
    }

    #[inline]
    fn admits(&self, _port: Port, _vc: u8) -> bool {
        true
    }

    #[inline]
    fn board(&self) -> &Board {
        &self.board
    }
}

impl Queues {
    fn new(routing: &dyn Routing, router: RouterId) -> Self {
        let (topology, needed) = (routing.topology(), routing.virtual_channels());
        let channels = |port| needed[topology.link_class(router, port as Port).index()];
        let board = Board::new(topology.routers() as usize);
        Self { router, channels: (0..topology.ports(router)).map(channels).collect(), board }
    }
}

impl Decisions {
    /// Sends packets from random nodes to random nodes until there are `count` decisions.
    #[must_use]
    pub fn new(routing: &dyn Routing, count: usize) -> Self {
        let topology = routing.topology();
        let routers = 0..topology.routers();
        let agents = routers.clone().map(|router| routing.agent(router)).collect();
        let queues = routers.map(|router| Queues::new(routing, router)).collect();
        let mut decisions = Self { agents, queues, cases: Vec::with_capacity(count), stream: Stream::new(1, 2, 3) };
        while decisions.cases.len() < count {
            decisions.send_packet(topology.as_ref());
        }
        decisions.cases.truncate(count);
        decisions
    }

    /// Notes all decisions about one packet.
    fn send_packet(&mut self, topology: &dyn Topology) {
        let [source, destination] = [(); 2].map(|()| self.stream.below(topology.nodes()));
        let (router, port) = topology.injection(source);
        let header = Header::new(topology.locator(destination));
        let mut case = Case { router, entry: PortVc { port, vc: 0 }, header };
        for _ in 0..HOPS_MAX {
            self.cases.push(case);
            let agent = &mut self.agents[case.router as usize];
            let step = agent.route(case.entry, &case.header, &self.queues[case.router as usize], &mut self.stream);
            match topology.peer(case.router, step.port) {
                Peer::Router { router, port } => {
                    case = Case { router, entry: PortVc { port, vc: step.vc }, header: step.header };
                }
                peer => return assert_eq!(peer, Peer::Node(destination), "the packet went astray"),
            }
        }
        panic!("a packet from node {source} to node {destination} goes in circles");
    }

    /// Has all of them decided again; returns how many that were.
    pub fn decide(&mut self) -> u64 {
        for case in &self.cases {
            let router = case.router as usize;
            let agent = &mut self.agents[router];
            black_box(agent.route(case.entry, &case.header, &self.queues[router], &mut self.stream));
        }
        self.cases.len() as u64
    }
}
