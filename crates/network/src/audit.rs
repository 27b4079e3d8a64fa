//! Does everything add up?
//!
//! At any window boundary, the room of each buffer is either free as its sender knows, or claimed by a packet that is in
//! it or on its way to it, or comes back as a credit that is on its way. And all flits that sources have offered wait at
//! their source, are in the network, or have arrived. An audit counts both over the whole network.

use std::fmt;

use tailback_engine::{Simulation, Tick};
use tailback_protocol::Direction;
use tailback_topology::{NodeId, Peer, Port, RouterId};

use crate::event::{Event, EventKind, credited};
use crate::fabric::Fabric;
use crate::nic::RetransmitBuffer;
use crate::packet::Packet;
use crate::router::{Held, Microarchitecture, PortId};
use crate::{NetworkRegion, Observer};

/// What a network holds at the time of an audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Data flits that wait at their sources.
    pub waiting_flits: u64,
    /// Data flits in the network.
    pub flits_under_way: u64,
    /// Data packets in the network.
    pub packets_under_way: u64,
    /// Control packets in the network or waiting to enter it.
    pub control_packets: u64,
    /// Data flits that routers have dropped and sources have not sent again.
    pub dropped_flits: u64,
    /// Data flits that have arrived.
    pub received_flits: u64,
    /// Data packets that have arrived and wait at their nodes: for others before them, or for the egress line.
    pub packets_held_at_nodes: u64,
    /// Data flits that sources have offered and that were not lost at once.
    pub offered_flits: u64,
}

/// Something that does not add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Discrepancy {
    /// The room of a buffer at the end of a link.
    Link {
        /// The router that sends into the buffer, by its port.
        router: RouterId,
        /// The port.
        port: Port,
        /// The virtual channel, counted through all classes.
        vc: u8,
        /// How many flits the buffer has room for.
        capacity: i64,
        /// How many are accounted for.
        found: i64,
    },
    /// The room of an injection buffer.
    Injection {
        /// The node that sends into the buffer.
        node: NodeId,
        /// The virtual channel, counted through all classes.
        vc: u8,
        /// How many flits the buffer has room for.
        capacity: i64,
        /// How many are accounted for.
        found: i64,
    },
    /// Flits.
    Flits(Holdings),
}

impl fmt::Display for Discrepancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link { router, port, vc, capacity, found } => write!(
                f,
                "credits do not add up: behind port {port} of router {router}, VC {vc}, a buffer has room for \
                 {capacity} flits, and {found} are accounted for"
            ),
            Self::Injection { node, vc, capacity, found } => write!(
                f,
                "credits do not add up: the injection buffer of node {node}, VC {vc}, has room for {capacity} \
                 flits, and {found} are accounted for"
            ),
            Self::Flits(holdings) => write!(f, "flits do not add up: {holdings:?}"),
        }
    }
}

impl std::error::Error for Discrepancy {}

/// Counts everything in a network that stands at a window boundary.
///
/// # Errors
/// When something does not add up.
pub fn audit<O: Observer, M: Microarchitecture>(
    simulation: &Simulation<NetworkRegion<O, M>>,
) -> Result<Holdings, Discrepancy> {
    let Some(first) = simulation.regions().next() else { return Ok(Holdings::default()) };
    let mut ledger = Ledger::new(&first.fabric);
    for (index, region) in simulation.regions().enumerate() {
        ledger.count(region);
        for mail in simulation.in_transit(index) {
            for (event, packet) in &mail.packets {
                ledger.arriving(region, *event, packet);
            }
            for &(_, event) in &mail.credits {
                ledger.credit(region, event);
            }
        }
    }
    ledger.balance()
}

/// What is accounted for.
struct Ledger<'a> {
    fabric: &'a Fabric,
    /// By the sending port and virtual channel.
    links: Vec<i64>,
    /// By node and virtual channel.
    injections: Vec<i64>,
    /// Data flits that were dropped and have not been sent again.
    dropped_flits: i64,
    holdings: Holdings,
}

impl<'a> Ledger<'a> {
    fn new(fabric: &'a Fabric) -> Self {
        let (shape, topology) = (fabric.shape, &fabric.topology);
        Self {
            fabric,
            links: vec![0; topology.routers() as usize * shape.ports * shape.vcs],
            injections: vec![0; topology.nodes() as usize * shape.vcs],
            dropped_flits: 0,
            holdings: Holdings::default(),
        }
    }

    /// Counts what a region holds.
    fn count<O: Observer, M: Microarchitecture>(&mut self, region: &NetworkRegion<O, M>) {
        let vcs = self.fabric.shape.vcs as u8;
        for (number, &router) in region.router_ids.iter().enumerate() {
            for port in 0..self.fabric.topology.ports(router) {
                for vc in 0..vcs {
                    let id = PortId { router: number as u32, port: port as Port };
                    self.add_link(router, id.port, vc, region.routers.credits(id, vc));
                }
            }
        }
        for (number, &node) in region.node_ids.iter().enumerate() {
            for vc in 0..vcs {
                self.add_injection(node, vc, region.nodes.free[number * usize::from(vcs) + usize::from(vc)]);
            }
            for control in region.nodes.control_heads(number) {
                self.holdings.control_packets += region.pool.list(control).count() as u64;
            }
        }
        region.routers.visit_packets(&region.pool, &mut |held| self.held(region, held));
        for (_, event) in region.wheel.entries() {
            match event.kind() {
                EventKind::Arrival | EventKind::Delivery => {
                    self.arriving(region, event, &region.pool[event.payload()]);
                }
                EventKind::Credit | EventKind::NodeCredit => self.credit(region, event),
                _ => {}
            }
        }
        self.holdings.waiting_flits += region.nodes.sources.waiting_flits();
        self.holdings.waiting_flits += region.nodes.copies.iter().map(RetransmitBuffer::withheld_flits).sum::<u64>();
        self.dropped_flits += region.nodes.flits_dropped;
        self.holdings.offered_flits += region.nodes.flits_offered;
        self.holdings.received_flits += region.nodes.flits_received;
        self.holdings.packets_held_at_nodes += region.nodes.resequencing.waiting() + region.nodes.egress.leaving();
    }

    fn held<O, M>(&mut self, region: &NetworkRegion<O, M>, held: Held) {
        match held {
            Held::Input { port, vc, packet, .. } => {
                self.in_buffer(region, port, vc, region.pool[packet].flits);
                self.under_way(&region.pool[packet]);
            }
            Held::Output { port, vc, packet, credited } => {
                if credited {
                    let router = region.router_ids[port.router as usize];
                    self.add_link(router, port.port, vc, region.pool[packet].flits);
                }
                self.under_way(&region.pool[packet]);
            }
        }
    }

    /// A packet is on its way to a port or a node of a region, as the event says.
    fn arriving<O, M: Microarchitecture>(&mut self, region: &NetworkRegion<O, M>, event: Event, packet: &Packet) {
        if event.kind() == EventKind::Arrival {
            let id = region.routers.port_id(event.target());
            self.in_buffer(region, id, packet.vc, packet.flits);
        }
        self.under_way(packet);
    }

    /// Flits are in the input buffer of a port, or claim room in it: they count for whoever feeds it.
    fn in_buffer<O, M>(&mut self, region: &NetworkRegion<O, M>, port: PortId, vc: u8, flits: u16) {
        let router = region.router_ids[port.router as usize];
        if u32::from(port.port) >= self.fabric.topology.ports(router) {
            return; // what a router itself sends takes no credits
        }
        match self.fabric.topology.feeder(router, port.port) {
            Peer::Node(node) => self.add_injection(node, vc, flits),
            Peer::Router { router, port } => self.add_link(router, port, vc, flits),
            Peer::Nothing => unreachable!("nothing comes in by a port that nothing feeds"),
        }
    }

    fn credit<O, M: Microarchitecture>(&mut self, region: &NetworkRegion<O, M>, event: Event) {
        let (vc, flits) = credited(event.payload());
        if event.kind() == EventKind::Credit {
            let PortId { router, port } = region.routers.port_id(event.target());
            self.add_link(region.router_ids[router as usize], port, vc, flits);
        } else {
            self.add_injection(region.node_ids[event.target() as usize], vc, flits);
        }
    }

    fn under_way(&mut self, packet: &Packet) {
        let direction = self.fabric.direction(packet.kind);
        if direction.carries_data() {
            self.holdings.flits_under_way += u64::from(packet.flits);
            self.holdings.packets_under_way += 1;
            return;
        }
        self.holdings.control_packets += 1;
        match direction {
            Direction::Nack => self.dropped_flits += i64::from(packet.about_flits),
            Direction::Trimmed => self.dropped_flits += i64::from(packet.word),
            _ => {}
        }
    }

    fn add_link(&mut self, router: RouterId, port: Port, vc: u8, flits: u16) {
        let port = router as usize * self.fabric.shape.ports + usize::from(port);
        self.links[port * self.fabric.shape.vcs + usize::from(vc)] += i64::from(flits);
    }

    fn add_injection(&mut self, node: NodeId, vc: u8, flits: u16) {
        self.injections[node as usize * self.fabric.shape.vcs + usize::from(vc)] += i64::from(flits);
    }

    fn balance(self) -> Result<Holdings, Discrepancy> {
        let (fabric, shape) = (self.fabric, self.fabric.shape);
        for (index, &found) in self.links.iter().enumerate() {
            let (port, vc) = (index / shape.vcs, index % shape.vcs);
            let (router, port) = ((port / shape.ports) as RouterId, (port % shape.ports) as Port);
            let exists = u32::from(port) < fabric.topology.ports(router);
            if !exists || !matches!(fabric.topology.peer(router, port), Peer::Router { .. }) {
                continue;
            }
            let capacity = i64::from(fabric.capacity(fabric.topology.link_class(router, port).0, vc));
            if found != capacity {
                return Err(Discrepancy::Link { router, port, vc: vc as u8, capacity, found });
            }
        }
        for (index, &found) in self.injections.iter().enumerate() {
            let (node, vc) = ((index / shape.vcs) as NodeId, index % shape.vcs);
            let capacity = i64::from(fabric.capacity(0, vc));
            if found != capacity {
                return Err(Discrepancy::Injection { node, vc: vc as u8, capacity, found });
            }
        }
        let holdings = Holdings { dropped_flits: self.dropped_flits as u64, ..self.holdings };
        let Holdings { waiting_flits, flits_under_way, received_flits, offered_flits, .. } = holdings;
        let left = i64::try_from(waiting_flits + flits_under_way + received_flits).expect("flits can be counted");
        if self.dropped_flits < 0 || offered_flits as i64 != left + self.dropped_flits {
            return Err(Discrepancy::Flits(holdings));
        }
        Ok(holdings)
    }
}

/// The tick up to which a network has been simulated without any packet crossing a router: the larger the gap to
/// now, the more it looks as if packets waited for each other.
pub fn last_hop<O: Observer, M: Microarchitecture>(simulation: &Simulation<NetworkRegion<O, M>>) -> Tick {
    simulation.regions().map(|region| Tick::from(region.routers.last_hop())).max().unwrap_or(0)
}
