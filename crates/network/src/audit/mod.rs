//! Does everything add up?
//!
//! At any window boundary, the room of each buffer is either free as its sender knows, or claimed by a packet that is in
//! it or on its way to it, or comes back as a credit that is on its way. And all flits that sources have offered wait at
//! their source, are in the network, or have arrived. An audit counts both over the whole network.
//!
//! Ranks that hold a part of a network each [count](Ledger::of) what they hold, tell each other what they have found of
//! buffers that others [feed](Ledger::take_abroad), and [balance](Ledger::balance) those that they feed themselves.

mod ledger;

use std::fmt;

use serde::{Deserialize, Serialize};

use tailback_engine::{Simulation, Tick};
use tailback_topology::{NodeId, Port, RouterId, Topology};

pub use self::ledger::Ledger;
use crate::router::Microarchitecture;
use crate::{NetworkRegion, Observer};

/// What a network holds at the time of an audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    Ledger::of(simulation).balance().and_then(Balance::holdings)
}

/// A buffer by whoever sends into it, to a virtual channel that is counted through all classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Fed {
    Link(RouterId, Port, u8),
    Injection(NodeId, u8),
}

/// What is accounted for in a buffer that another rank feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abroad {
    buffer: Fed,
    found: i64,
}

impl Abroad {
    /// The router whose region feeds the buffer.
    #[must_use]
    pub fn router(&self, topology: &dyn Topology) -> RouterId {
        match self.buffer {
            Fed::Link(router, ..) => router,
            Fed::Injection(node, _) => topology.injection(node).0,
        }
    }
}

/// What is left when all buffers of some regions have been found to add up: of all regions together flits have to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Balance {
    holdings: Holdings,
    /// Data flits that were dropped here less those that were sent again here.
    dropped_flits: i64,
}

impl Balance {
    /// Adds what other regions hold.
    pub fn merge(&mut self, other: &Self) {
        let (mine, theirs) = (&mut self.holdings, &other.holdings);
        mine.waiting_flits += theirs.waiting_flits;
        mine.flits_under_way += theirs.flits_under_way;
        mine.packets_under_way += theirs.packets_under_way;
        mine.control_packets += theirs.control_packets;
        mine.received_flits += theirs.received_flits;
        mine.packets_held_at_nodes += theirs.packets_held_at_nodes;
        mine.offered_flits += theirs.offered_flits;
        self.dropped_flits += other.dropped_flits;
    }

    /// What all regions hold.
    ///
    /// # Errors
    /// When flits do not add up.
    pub fn holdings(self) -> Result<Holdings, Discrepancy> {
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
