//! Who waits for whom, when nothing moves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use tailback_engine::Simulation;
use tailback_topology::{Peer, Port, RouterId, Topology};

use crate::router::{Held, Microarchitecture};
use crate::{NetworkRegion, Observer};

/// Packets that wait for each other in a circle: the head of each buffer waits for room in the next, the last one's for
/// room in the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock(Vec<Buffer>);

/// The input buffer of a virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Buffer {
    router: RouterId,
    port: Port,
    vc: u8,
}

impl Deadlock {
    /// How many buffers are on the circle.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none, which cannot be.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A line for each buffer on the circle.
    #[must_use]
    pub fn describe(&self, topology: &dyn Topology) -> Vec<String> {
        let line = |buffer: &Buffer| {
            let from = match topology.feeder(buffer.router, buffer.port) {
                Peer::Router { router, .. } => format!("from {}", topology.router_name(router)),
                Peer::Node(node) => format!("from node {node}"),
                Peer::Nothing => "from nowhere".to_owned(),
            };
            format!("{}, port {} {from}, VC {}", topology.router_name(buffer.router), buffer.port, buffer.vc)
        };
        self.0.iter().map(line).collect()
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packets in {} buffers wait for each other in a circle", self.0.len())
    }
}

/// What the heads of buffers wait for: for room in any one of some others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitGraph(BTreeMap<Buffer, BTreeSet<Buffer>>);

impl WaitGraph {
    /// Adds those of other regions.
    pub fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Packets that wait for each other in a circle, if these are the waits of the whole network and some do.
    #[must_use]
    pub fn deadlock(&self) -> Option<Deadlock> {
        circle(&self.0).map(Deadlock)
    }
}

/// Looks for packets that wait for each other in a circle.
pub fn find_deadlock<O: Observer, M: Microarchitecture>(
    simulation: &Simulation<NetworkRegion<O, M>>,
) -> Option<Deadlock> {
    wait_graph(simulation).deadlock()
}

/// What heads wait for in the regions that are held here.
pub fn wait_graph<O: Observer, M: Microarchitecture>(simulation: &Simulation<NetworkRegion<O, M>>) -> WaitGraph {
    let mut waits: BTreeMap<Buffer, BTreeSet<Buffer>> = BTreeMap::new();
    for region in simulation.regions() {
        let topology = region.fabric.topology.as_ref();
        region.routers.visit_packets(&region.pool, &mut |held| {
            let Held::Input { port, vc, packet, wants: Some((to, first, count)) } = held else { return };
            let router = region.router_ids[port.router as usize];
            let Peer::Router { router: far, port: far_port } = topology.peer(router, to) else { return };
            let to = crate::router::PortId { router: port.router, port: to };
            let flits = region.pool[packet].flits;
            // Any one of the channels that will do would be enough.
            if (first..first + count).all(|vc| region.routers.credits(to, vc) < flits) {
                let here = Buffer { router, port: port.port, vc };
                let there = (first..first + count).map(|vc| Buffer { router: far, port: far_port, vc });
                waits.entry(here).or_default().extend(there);
            }
        });
    }
    WaitGraph(waits)
}

/// A circle in a graph, if there is one: nodes that nothing comes after are taken away until only circles, and what leads
/// to them, are left; then any path runs into one.
fn circle(waits: &BTreeMap<Buffer, BTreeSet<Buffer>>) -> Option<Vec<Buffer>> {
    let mut left = waits.clone();
    loop {
        let moving = |next: &Buffer| !left.contains_key(next);
        let free: Vec<Buffer> = left.iter().filter(|(_, next)| next.iter().any(moving)).map(|(b, _)| *b).collect();
        if free.is_empty() {
            break;
        }
        free.iter().for_each(|buffer| {
            left.remove(buffer);
        });
    }
    let mut path: Vec<Buffer> = vec![*left.keys().next()?];
    loop {
        let last = path.last().expect("a path has its start");
        let next = *left[last].iter().next().expect("who waits, waits for someone");
        if let Some(start) = path.iter().position(|&buffer| buffer == next) {
            return Some(path.split_off(start));
        }
        path.push(next);
    }
}
