//! What is accounted for in the buffers of some regions.
//!
//! **The invariant it keeps:** a buffer is counted by whoever feeds it, and balanced there.

use std::collections::BTreeMap;

use tailback_engine::Simulation;
use tailback_protocol::Direction;
use tailback_topology::{NodeId, Peer, Port, RouterId};

use super::{Abroad, Balance, Discrepancy, Fed};
use crate::event::{Event, EventKind, credited};
use crate::fabric::Fabric;
use crate::nic::RetransmitBuffer;
use crate::packet::Packet;
use crate::router::{Held, Microarchitecture, PortId};
use crate::{NetworkRegion, Observer};

/// Not a router or node of these regions.
const ELSEWHERE: u32 = u32::MAX;

/// What is accounted for.
#[derive(Debug)]
pub struct Ledger<'a> {
    /// None where there are no regions.
    fabric: Option<&'a Fabric>,
    /// By router and by node: their number among those of the regions.
    routers: Vec<u32>,
    nodes: Vec<u32>,
    /// By the sending port and virtual channel.
    links: Vec<i64>,
    /// By node and virtual channel.
    injections: Vec<i64>,
    /// Of buffers that other ranks feed.
    abroad: BTreeMap<Fed, i64>,
    balance: Balance,
}

impl<'a> Ledger<'a> {
    /// Counts what the regions hold that are held here, at a window boundary.
    pub fn of<O: Observer, M: Microarchitecture>(simulation: &'a Simulation<NetworkRegion<O, M>>) -> Self {
        let fabric = simulation.regions().next().map(|first| first.fabric.as_ref());
        let mut ledger = Self {
            fabric,
            routers: Vec::new(),
            nodes: Vec::new(),
            links: Vec::new(),
            injections: Vec::new(),
            abroad: BTreeMap::new(),
            balance: Balance::default(),
        };
        let Some(fabric) = fabric else { return ledger };
        ledger.make_room(fabric, simulation.regions());
        for (index, region) in simulation.held().zip(simulation.regions()) {
            ledger.count(fabric, region);
            for mail in simulation.in_transit(index) {
                for (event, packet) in &mail.packets {
                    ledger.arriving(fabric, region, *event, packet);
                }
                for &(_, event) in &mail.credits {
                    ledger.credit(region, event);
                }
            }
        }
        ledger
    }

    fn make_room<'r, O: 'r, M: Microarchitecture + 'r>(
        &mut self,
        fabric: &Fabric,
        regions: impl Iterator<Item = &'r NetworkRegion<O, M>>,
    ) {
        self.routers = vec![ELSEWHERE; fabric.topology.routers() as usize];
        self.nodes = vec![ELSEWHERE; fabric.topology.nodes() as usize];
        let (mut routers, mut nodes) = (0, 0);
        for region in regions {
            for (&router, number) in region.router_ids.iter().zip(routers..) {
                self.routers[router as usize] = number;
            }
            for (&node, number) in region.node_ids.iter().zip(nodes..) {
                self.nodes[node as usize] = number;
            }
            routers += region.router_ids.len() as u32;
            nodes += region.node_ids.len() as u32;
        }
        self.links = vec![0; routers as usize * fabric.shape.ports * fabric.shape.vcs];
        self.injections = vec![0; nodes as usize * fabric.shape.vcs];
    }

    /// Takes out what was found of buffers that other ranks feed.
    pub fn take_abroad(&mut self) -> impl Iterator<Item = Abroad> + use<> {
        std::mem::take(&mut self.abroad).into_iter().map(|(buffer, found)| Abroad { buffer, found })
    }

    /// Adds what another rank has found of a buffer that is fed here.
    pub fn add(&mut self, abroad: Abroad) {
        match abroad.buffer {
            Fed::Link(router, port, vc) => self.add_link(router, port, vc, abroad.found),
            Fed::Injection(node, vc) => self.add_injection(node, vc, abroad.found),
        }
    }

    /// Counts what a region holds.
    fn count<O: Observer, M: Microarchitecture>(&mut self, fabric: &Fabric, region: &NetworkRegion<O, M>) {
        let vcs = fabric.shape.vcs as u8;
        for (number, &router) in region.router_ids.iter().enumerate() {
            for port in 0..fabric.topology.ports(router) {
                for vc in 0..vcs {
                    let id = PortId { router: number as u32, port: port as Port };
                    self.add_link(router, id.port, vc, region.routers.credits(id, vc).into());
                }
            }
        }
        for (number, &node) in region.node_ids.iter().enumerate() {
            for vc in 0..vcs {
                let free = region.nodes.free[number * usize::from(vcs) + usize::from(vc)];
                self.add_injection(node, vc, free.into());
            }
            for control in region.nodes.control_heads(number) {
                self.balance.holdings.control_packets += region.pool.list(control).count() as u64;
            }
        }
        region.routers.visit_packets(&region.pool, &mut |held| self.held(fabric, region, held));
        for (_, event) in region.wheel.entries() {
            match event.kind() {
                EventKind::Arrival | EventKind::Delivery => {
                    self.arriving(fabric, region, event, &region.pool[event.payload()]);
                }
                EventKind::Credit | EventKind::NodeCredit => self.credit(region, event),
                _ => {}
            }
        }
        self.balance.holdings.waiting_flits += region.nodes.sources.waiting_flits();
        self.balance.holdings.waiting_flits +=
            region.nodes.copies.iter().map(RetransmitBuffer::withheld_flits).sum::<u64>();
        self.balance.dropped_flits += region.nodes.flits_dropped;
        self.balance.holdings.offered_flits += region.nodes.flits_offered;
        self.balance.holdings.received_flits += region.nodes.flits_received;
        self.balance.holdings.packets_held_at_nodes +=
            region.nodes.resequencing.waiting() + region.nodes.egress.leaving();
    }

    fn held<O, M>(&mut self, fabric: &Fabric, region: &NetworkRegion<O, M>, held: Held) {
        match held {
            Held::Input { port, vc, packet, .. } => {
                self.in_buffer(fabric, region, port, vc, region.pool[packet].flits);
                self.under_way(fabric, &region.pool[packet]);
            }
            Held::Output { port, vc, packet, credited } => {
                if credited {
                    let router = region.router_ids[port.router as usize];
                    self.add_link(router, port.port, vc, region.pool[packet].flits.into());
                }
                self.under_way(fabric, &region.pool[packet]);
            }
        }
    }

    /// A packet is on its way to a port or a node of a region, as the event says.
    fn arriving<O, M: Microarchitecture>(
        &mut self,
        fabric: &Fabric,
        region: &NetworkRegion<O, M>,
        event: Event,
        packet: &Packet,
    ) {
        if event.kind() == EventKind::Arrival {
            let id = region.routers.port_id(event.target());
            self.in_buffer(fabric, region, id, packet.vc, packet.flits);
        }
        self.under_way(fabric, packet);
    }

    /// Flits are in the input buffer of a port, or claim room in it: they count for whoever feeds it.
    fn in_buffer<O, M>(&mut self, fabric: &Fabric, region: &NetworkRegion<O, M>, port: PortId, vc: u8, flits: u16) {
        let router = region.router_ids[port.router as usize];
        if u32::from(port.port) >= fabric.topology.ports(router) {
            return; // what a router itself sends takes no credits
        }
        match fabric.topology.feeder(router, port.port) {
            Peer::Node(node) => self.add_injection(node, vc, flits.into()),
            Peer::Router { router, port } => self.add_link(router, port, vc, flits.into()),
            Peer::Nothing => unreachable!("nothing comes in by a port that nothing feeds"),
        }
    }

    fn credit<O, M: Microarchitecture>(&mut self, region: &NetworkRegion<O, M>, event: Event) {
        let (vc, flits) = credited(event.payload());
        if event.kind() == EventKind::Credit {
            let PortId { router, port } = region.routers.port_id(event.target());
            let router = region.router_ids[router as usize];
            let Fabric { rules, topology, .. } = region.fabric.as_ref();
            let is_pause = rules.nodes_pause && matches!(topology.peer(router, port), Peer::Node(_));
            if !is_pause {
                self.add_link(router, port, vc, flits.into());
            }
        } else {
            self.add_injection(region.node_ids[event.target() as usize], vc, flits.into());
        }
    }

    fn under_way(&mut self, fabric: &Fabric, packet: &Packet) {
        let direction = fabric.direction(packet.kind);
        if direction.carries_data() {
            self.balance.holdings.flits_under_way += u64::from(packet.flits);
            self.balance.holdings.packets_under_way += 1;
            return;
        }
        self.balance.holdings.control_packets += 1;
        match direction {
            Direction::Nack => self.balance.dropped_flits += i64::from(packet.about_flits),
            Direction::Trimmed => self.balance.dropped_flits += i64::from(packet.word),
            _ => {}
        }
    }

    fn add_link(&mut self, router: RouterId, port: Port, vc: u8, flits: i64) {
        let number = self.routers[router as usize];
        match self.fabric.map(|fabric| fabric.shape).filter(|_| number != ELSEWHERE) {
            Some(shape) => {
                let port = number as usize * shape.ports + usize::from(port);
                self.links[port * shape.vcs + usize::from(vc)] += flits;
            }
            None => *self.abroad.entry(Fed::Link(router, port, vc)).or_default() += flits,
        }
    }

    fn add_injection(&mut self, node: NodeId, vc: u8, flits: i64) {
        let number = self.nodes[node as usize];
        match self.fabric.map(|fabric| fabric.shape.vcs).filter(|_| number != ELSEWHERE) {
            Some(vcs) => self.injections[number as usize * vcs + usize::from(vc)] += flits,
            None => *self.abroad.entry(Fed::Injection(node, vc)).or_default() += flits,
        }
    }

    /// Compares what is accounted for with the buffers that are fed here, once [all](Self::add) have told what they found of these.
    ///
    /// # Errors
    /// When the credits of one do not add up.
    pub fn balance(self) -> Result<Balance, Discrepancy> {
        let Some(fabric) = self.fabric else { return Ok(self.balance) };
        let (shape, topology) = (fabric.shape, fabric.topology.as_ref());
        let known = |numbers: &'_ [u32]| -> Vec<(u32, usize)> {
            let known = (0..).zip(numbers).filter(|(_, number)| **number != ELSEWHERE);
            known.map(|(id, &number)| (id, number as usize)).collect()
        };
        for (router, number) in known(&self.routers) {
            for port in (0..topology.ports(router)).map(|port| port as Port) {
                if !matches!(topology.peer(router, port), Peer::Router { .. }) {
                    continue;
                }
                let class = topology.link_class(router, port).0;
                let found = &self.links[(number * shape.ports + usize::from(port)) * shape.vcs..][..shape.vcs];
                for (vc, &found) in found.iter().enumerate() {
                    let capacity = i64::from(fabric.capacity(class, vc));
                    if found != capacity {
                        return Err(Discrepancy::Link { router, port, vc: vc as u8, capacity, found });
                    }
                }
            }
        }
        for (node, number) in known(&self.nodes) {
            for (vc, &found) in self.injections[number * shape.vcs..][..shape.vcs].iter().enumerate() {
                let capacity = i64::from(fabric.capacity(0, vc));
                if found != capacity {
                    return Err(Discrepancy::Injection { node, vc: vc as u8, capacity, found });
                }
            }
        }
        Ok(self.balance)
    }
}
