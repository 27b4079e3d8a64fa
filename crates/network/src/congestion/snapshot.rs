//! What a network looks like at an instant, without its regions.

use tailback_topology::{Peer, Port, RouterId, Topology};

use super::grow::{QueueState, WaitsFor};
use crate::fabric::Fabric;
use crate::router::{InputQueue, Microarchitecture, PortId};
use crate::time::Time;
use crate::{NetworkRegion, Observer};

/// A queue whose head is routed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// The region, the number of the router in it, and the first packet.
    pub region: u32,
    router: u32,
    pub head: u32,
    /// The buffer, and the VOQ of it.
    pub buffer: u32,
    voq: u8,
    /// Where the head wants to go: the port, the first channel that will do, how many.
    pub to: Port,
    first: u8,
    count: u8,
    /// Whether one of them has the credits that it needs.
    pub has_credits: bool,
    /// Whether it is only known where the packet before the head went.
    pub follows: bool,
}

/// What a network looks like. Ports are numbered router by router, buffers of virtual channels port by port, by the port that
/// packets come in by.
pub(super) struct Snapshot<'a> {
    fabric: &'a Fabric,
    topology: &'a dyn Topology,
    ports: usize,
    vcs: usize,
    /// The queues that wait, in order.
    pub queues: Vec<Waiting>,
    /// By buffer: whether it is full, and whether it is stopped.
    full: Vec<bool>,
    pub stopped: Vec<bool>,
}

impl<'a> Snapshot<'a> {
    /// What the network of these regions looks like before tick `now`.
    pub fn new<O: Observer, M: Microarchitecture>(regions: &[&'a NetworkRegion<O, M>], now: Time) -> Self {
        let fabric = regions[0].fabric.as_ref();
        let (topology, shape) = (fabric.topology.as_ref(), fabric.shape);
        let buffers = topology.routers() as usize * shape.ports * shape.vcs;
        let mut snapshot = Self {
            fabric,
            topology,
            ports: shape.ports,
            vcs: shape.vcs,
            queues: Vec::new(),
            full: vec![false; buffers],
            stopped: vec![false; buffers],
        };
        let taken = snapshot.find_short(regions);
        // By buffer: flits that are in it, where they matter; whether a queue of it waits.
        let (mut flits, mut waits) = (vec![0_u32; taken.len()], vec![false; taken.len()]);
        for (number, region) in (0..).zip(regions) {
            region.routers.visit_input_queues(&region.pool, now, fabric.spec.ticks_per_cycle, &mut |queue| {
                let InputQueue { port, voq, vc, head, wants, is_routed, .. } = queue;
                let buffer = snapshot.buffer(region.router_ids[port.router as usize], port.port, vc);
                if taken[buffer as usize] > 0 {
                    let packets = region.pool.list(head);
                    flits[buffer as usize] += packets.map(|slot| u32::from(region.pool[slot].flits)).sum::<u32>();
                }
                if let Some((to, first, count)) = wants {
                    waits[buffer as usize] = true;
                    let (router, has_credits) = (port.router, region.routers.has_credits(&queue));
                    let (region, follows) = (number, !is_routed);
                    let waiting = Waiting { region, router, head, buffer, voq, to, first, count, has_credits, follows };
                    snapshot.queues.push(waiting);
                }
            });
        }
        snapshot.queues.sort_unstable_by_key(|queue| (queue.buffer, queue.voq));
        for (buffer, &taken) in taken.iter().enumerate() {
            snapshot.full[buffer] = taken > 0 && waits[buffer];
            snapshot.stopped[buffer] = snapshot.full[buffer] && 4 * flits[buffer] >= u32::from(taken);
        }
        snapshot
    }

    /// By buffer: the room that is taken as far as its feeder knows, where that lacks credits for a packet; 0 elsewhere.
    fn find_short<O: Observer, M: Microarchitecture>(&self, regions: &[&NetworkRegion<O, M>]) -> Vec<u16> {
        let mut taken = vec![0; self.stopped.len()];
        for region in regions {
            let fabric = &region.fabric;
            let largest = fabric.spec.packet_flits_max;
            for (number, &router) in (0..).zip(&region.router_ids) {
                for port in (0..self.topology.ports(router)).map(|port| port as Port) {
                    for vc in 0..self.vcs as u8 {
                        let credits = region.routers.credits(PortId { router: number, port }, vc);
                        if credits >= largest {
                            continue;
                        }
                        let Peer::Router { router: far, port: far_port } = self.topology.peer(router, port) else {
                            continue;
                        };
                        let capacity = fabric.capacity(self.topology.link_class(router, port).0, vc.into());
                        taken[self.buffer(far, far_port, vc) as usize] = capacity.saturating_sub(credits);
                    }
                }
            }
            for (free, &node) in region.nodes.free.chunks(self.vcs).zip(&region.node_ids) {
                let (router, port) = self.topology.injection(node);
                for (vc, &free) in (0..).zip(free).filter(|(_, free)| **free < largest) {
                    let capacity = fabric.capacity(0, usize::from(vc));
                    taken[self.buffer(router, port, vc) as usize] = capacity.saturating_sub(free);
                }
            }
        }
        taken
    }

    /// What each queue waits for.
    pub fn states(&self) -> Vec<QueueState> {
        let state = |queue: &Waiting| QueueState { buffer: queue.buffer, waits_for: self.waits_for(queue) };
        self.queues.iter().map(state).collect()
    }

    fn waits_for(&self, queue: &Waiting) -> WaitsFor {
        let router = self.router(queue.buffer);
        let link = WaitsFor::Link(self.port_number(router, queue.to));
        let Peer::Router { router: far, port } = self.topology.peer(router, queue.to) else { return link };
        let (own, class) = (queue.first..queue.first + queue.count, self.topology.link_class(router, queue.to).0);
        let full = |vc: &u8| self.full[self.buffer(far, port, *vc) as usize];
        let buffers = |vcs: &mut dyn Iterator<Item = u8>| vcs.map(|vc| self.buffer(far, port, vc)).collect();
        if own.clone().all(|vc| full(&vc)) {
            return WaitsFor::Buffers(buffers(&mut own.clone()));
        }
        if !self.fabric.rules.claims_first {
            // Packets wait for credits in output queues, and may be in front of those of other channels.
            let queue_of = |vc: u8| self.fabric.output_queue(class, vc);
            let same_queue = |vc: &u8| own.clone().any(|own| queue_of(own) == queue_of(*vc));
            let ahead: Vec<u8> = (0..self.vcs as u8).filter(full).filter(same_queue).collect();
            if ahead.iter().any(|vc| !own.contains(vc)) {
                return WaitsFor::Buffers(buffers(&mut ahead.into_iter()));
            }
        }
        link
    }

    /// The region of a queue, and the port there that its head wants to leave by.
    pub fn output_of(&self, queue: usize) -> (usize, PortId) {
        let Waiting { region, router, to, .. } = self.queues[queue];
        (region as usize, PortId { router, port: to })
    }

    /// The router of a buffer.
    pub fn router(&self, buffer: u32) -> RouterId {
        (buffer as usize / self.vcs / self.ports) as RouterId
    }

    /// The port with a number.
    pub fn port(&self, number: u32) -> (RouterId, Port) {
        ((number as usize / self.ports) as RouterId, (number as usize % self.ports) as Port)
    }

    fn port_number(&self, router: RouterId, port: Port) -> u32 {
        (router as usize * self.ports + usize::from(port)) as u32
    }

    fn buffer(&self, router: RouterId, port: Port, vc: u8) -> u32 {
        (self.port_number(router, port) as usize * self.vcs + usize::from(vc)) as u32
    }
}
