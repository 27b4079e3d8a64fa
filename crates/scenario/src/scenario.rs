//! What a document resolves to.

use std::sync::Arc;

use tailback_hardware::NetworkSpec;
use tailback_protocol::{Protocol, Station};
use tailback_routing::Routing;
use tailback_routing::deadlock::Proof;
use tailback_topology::AnyTopology;
use tailback_workload::Workload;

use crate::diagnostic::Diagnostics;
use crate::network::Routings;
use crate::protocol::station;

/// A scenario in which nothing is left open.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What people call it.
    pub title: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// Link cycles.
    pub clock: Clock,
    /// The graph.
    pub topology: Chosen<AnyTopology>,
    /// The routing of data.
    pub routing: Chosen<Arc<dyn Routing>>,
    /// The same by how traffic classes are routed.
    pub routings: Routings,
    /// Congestion control.
    pub protocol: Chosen<Arc<dyn Protocol>>,
    /// Routers, links and network interfaces.
    pub network: NetworkSpec,
    /// Who sends what.
    pub workload: Workload,
    /// When to measure.
    pub measure: Measure,
    /// How to run it. Nothing in it can change results.
    pub execution: Execution,
    /// Why packets cannot wait for each other in a circle.
    pub proof: Proof,
    /// The scenario as a file in which everything is said.
    pub text: String,
    /// SHA-256 of the part of that text that can change results.
    pub digest: String,
    /// What to change in the document before the next version, which will not accept it.
    pub notes: Diagnostics,
}

impl Scenario {
    /// What its protocol is told of the network as a whole.
    #[must_use]
    pub fn station(&self) -> Station {
        station(&self.network, self.topology.built.graph().as_ref())
    }
}

/// A model that was chosen by name.
#[derive(Clone, Debug)]
pub struct Chosen<T> {
    /// Its name.
    pub name: &'static str,
    /// What it was built to.
    pub built: T,
}

/// Link cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The length of one in femtoseconds, if it is known.
    pub cycle_fs: Option<u64>,
    /// Steps of the crossbar in one.
    pub ticks_per_cycle: u32,
    /// Bytes of a flit, if they are known.
    pub flit_bytes: Option<u64>,
}

/// When to measure, in link cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Cycles before anything is measured.
    pub warmup: u64,
    /// Cycles that are measured, at most.
    pub cycles: u64,
    /// Whether it ends before if all messages of flows that end have arrived.
    pub until_drained: bool,
    /// Cycles from one point of the time series to the next, if there is to be one.
    pub series: Option<u64>,
    /// Whether it shows latencies when messages were created, not when they arrive.
    pub series_by_creation: bool,
    /// Whether what arrives is counted by source.
    pub by_source: bool,
    /// Whether each message of flows that end is written down.
    pub messages: bool,
    /// Cycles from one time at which congestion trees are looked for to the next, if they are.
    pub trees_every: Option<u64>,
    /// What is written down of links, if anything is.
    pub links: Option<LinkSampling>,
}

/// What is written down of single links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSampling {
    /// Cycles from one row of a link to the next.
    pub every: u64,
    /// The set of the classes of links it is written down of, as bits.
    pub classes: u64,
    /// What has a row of its own.
    pub rows: LinkRows,
}

/// What has a row of its own in the series of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkRows {
    /// Each link.
    Links,
    /// The links of a kind that leave a router, together.
    Routers,
}

/// How to run a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Threads; `None` for as many as there are, 0 for the sequential executor.
    pub threads: Option<u32>,
    /// How routers are dealt out to regions.
    pub partition: PartitionChoice,
    /// Bytes that the run may take, if that is not left to whoever runs it.
    pub memory_bytes: Option<u64>,
    /// Ticks that packets may stand still everywhere before the run is given up.
    pub deadlock_after: u64,
}

/// How routers are dealt out to regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionChoice {
    /// By the natural pieces of the topology, in as many regions as pay off.
    Auto,
    /// By the natural pieces of the topology, in at most so many regions.
    Domains {
        /// The most regions.
        regions_max: u32,
    },
    /// A region for each router.
    Routers,
    /// One region.
    Single,
}
