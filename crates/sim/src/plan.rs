//! What running a scenario will take.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_network::{Arbiter, Basic, CrossbarPorts, Crosspoints, NetworkPlan, Partition, Plain, Sorting};
use tailback_report::Cell;
use tailback_scenario::{PartitionChoice, Scenario};
use tailback_topology::{Peer, Port, Topology};
use tailback_workload::Traffic;

use crate::interface_memory::interface_bytes;
use crate::recorder::record_plan;
use crate::trees;

/// What running a scenario will take, found out without building it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Nodes of the network.
    pub nodes: u32,
    /// Its routers.
    pub routers: u32,
    /// Links between routers, counted once per direction.
    pub links: u64,
    /// Regions that are simulated on their own for a window at a time.
    pub regions: u32,
    /// The length of a window in ticks: the shortest latency between regions. `None` with a single region.
    pub lookahead_ticks: Option<u64>,
    /// What routers are compiled for: `plain` and `sorting` ones are quicker than `general` ones.
    pub microarchitecture: &'static str,
    /// Whether routers are plain.
    pub plain_routers: bool,
    /// Bytes that the run will take, about, if the network takes what it is offered.
    pub memory_bytes: u64,
    /// What sources take on top that cannot send what they have.
    pub backlog: Backlog,
}

/// Messages that wait at their sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Bytes that they take at most: if the network takes none of them.
    pub bytes_max: u64,
    /// Whether a limit of queues bounds them, and not only the length of the run.
    pub is_limited: bool,
}

/// A node: its state, its processes with their random streams, its events and those of its link.
const NODE_BYTES: u64 = 700;
/// A port of a plain router with its event and mail storage, and what others have on top for each channel: basic ones whose links are not started by
/// events a queue and its credits, general ones output queues and more.
const PLAIN_PORT_BYTES: u64 = 400;
const BASIC_CHANNEL_BYTES: u64 = 32;
const GENERAL_CHANNEL_BYTES: u64 = 160;
/// A packet with the events that it causes and the mail that it travels in.
const PACKET_BYTES: u64 = 160;
/// A message that waits at its source, and one that is kept there until it has arrived.
const MESSAGE_BYTES: u64 = 40;
const COPY_BYTES: u64 = 32;
/// A row of a link without its channels, its cells in the table, and what becomes of a cell in files, which servers hold at once.
const LINK_ROW_BYTES: u64 = 12;
const LINK_CELLS: u64 = 12;
const LINK_CELL_FILE_BYTES: u64 = 6;
/// A row of a congestion tree in the run and in what was found, its cells in the table, and what becomes of them in files.
const TREE_ROW_BYTES: u64 = 700;
/// There are fewer congestion trees than one for so many nodes, unless a network takes much less than it is offered.
const NODES_PER_TREE: u64 = 8;

impl Plan {
    /// What running `scenario` will take on the threads that it asks for, or on one if it leaves that open.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        Self::on(scenario, scenario.execution.threads.unwrap_or(1) as usize)
    }

    /// What running `scenario` on so many threads will take.
    #[must_use]
    pub fn on(scenario: &Scenario, threads: usize) -> Self {
        Self::on_while(scenario, threads, &|| true).expect("it is wanted to the end")
    }

    /// The same for as long as it is `wanted`, which is asked for between its steps: of a network of millions of nodes each takes some tenths of a second.
    #[must_use]
    pub fn on_while(scenario: &Scenario, threads: usize, wanted: &dyn Fn() -> bool) -> Option<Self> {
        let go_on = || wanted().then_some(());
        go_on()?;
        let network = network_plan(scenario, Regions::of(scenario, threads));
        go_on()?;
        let topology = network.topology.as_ref();
        let plain_routers = network.suits::<Plain>();
        let links = links_between_routers(topology);
        go_on()?;
        let lookahead_ticks = network.partition.lookahead(topology, &network.spec);
        go_on()?;
        let memory_bytes =
            memory(scenario, &network).saturating_add(record_bytes(scenario, network.partition.regions()));
        Some(Self {
            nodes: topology.nodes(),
            routers: topology.routers(),
            links,
            regions: network.partition.regions(),
            lookahead_ticks,
            microarchitecture: microarchitecture(&network),
            plain_routers,
            memory_bytes,
            backlog: Backlog::new(scenario),
        })
    }
}

/// What the routers of a network are compiled for.
fn microarchitecture(network: &NetworkPlan) -> &'static str {
    if network.suits::<Plain>() {
        "plain"
    } else if network.suits::<Sorting>() {
        "sorting"
    } else if network.suits::<Crosspoints>() {
        "crosspoints"
    } else if network.suits::<Basic>() {
        "basic"
    } else {
        "general"
    }
}

/// How many links there are between routers.
fn links_between_routers(topology: &dyn Topology) -> u64 {
    let leads_on = |router, port| matches!(topology.peer(router, port as Port), Peer::Router { .. });
    let of_router = |router| (0..topology.ports(router)).filter(|&port| leads_on(router, port)).count() as u64;
    (0..topology.routers()).map(of_router).sum()
}

/// What the network takes, without what is written down.
pub(crate) fn memory(scenario: &Scenario, network: &NetworkPlan) -> u64 {
    let (spec, topology) = (&network.spec, network.topology.as_ref());
    let departures = network.departure_bytes();
    let of_channel = if network.suits::<Plain>() {
        0
    } else if network.suits::<Basic>() && network.departs_at_once() {
        BASIC_CHANNEL_BYTES
    } else {
        GENERAL_CHANNEL_BYTES
    };
    // By output, of each input: when it was served last.
    let connections = |kind| if kind == CrossbarPorts::PerChannel { spec.vcs() as u64 } else { 1 };
    let pairs = connections(spec.router.crossbar_inputs) * connections(spec.router.crossbar_outputs);
    let by_age = spec.router.output_arbiter == Arbiter::LeastRecentlyServed;
    let turns = |ports: u64| if by_age { ports * pairs * size_of::<u32>() as u64 } else { 0 };
    // Storage is for the largest router, but what is for ports that others lack is never touched.
    let of_router = |router| {
        let ports = u64::from(topology.ports(router));
        let per_node = spec.router.destination_queue.map_or(1, |_| u64::from(topology.nodes()));
        let queues = if spec.router.virtual_output_queues { ports } else { per_node };
        ports * (PLAIN_PORT_BYTES + of_channel * spec.vcs() as u64 * queues + departures + turns(ports))
    };
    let Population { packets, messages, offered } = Population::of(scenario, topology);
    (0..topology.routers()).map(of_router).sum::<u64>()
        + u64::from(topology.nodes()) * NODE_BYTES
        + packets * PACKET_BYTES
        + messages * message_bytes(scenario)
        + interface_bytes(scenario, offered)
}

fn message_bytes(scenario: &Scenario) -> u64 {
    MESSAGE_BYTES + if scenario.protocol.built.hooks().copies { COPY_BYTES } else { 0 }
}

/// What is written down about a run: by each region, by all of them together, and as a table at the end.
pub(crate) fn record_bytes(scenario: &Scenario, regions: u32) -> u64 {
    let plan = record_plan(scenario);
    let record = plan.record_bytes(plan.window.until);
    record
        .saturating_mul(u64::from(regions) + 1)
        .saturating_add(plan.series_bytes())
        .saturating_add(plan.messages_bytes())
        .saturating_add(links_bytes(scenario))
        .saturating_add(trees_bytes(scenario))
}

/// What is written down of congestion trees, as far as it can be told before.
fn trees_bytes(scenario: &Scenario) -> u64 {
    let Some(every) = scenario.measure.trees_every else { return 0 };
    let instants = (scenario.measure.warmup + scenario.measure.cycles) / every;
    let trees = u64::from(scenario.topology.built.graph().nodes()).div_ceil(NODES_PER_TREE);
    instants.saturating_mul(trees).min(trees::ROWS_MAX as u64) * TREE_ROW_BYTES
}

/// What is written down of links, in the run and in what was found, and its table.
fn links_bytes(scenario: &Scenario) -> u64 {
    let Some(sampling) = scenario.measure.links else { return 0 };
    let (topology, vcs) = (scenario.topology.built.graph(), scenario.network.vcs() as u64);
    let rows = (scenario.measure.warmup + scenario.measure.cycles) / sampling.every;
    let rows = rows * sampling.rows_at_once(topology.as_ref());
    let of_cell = size_of::<Cell>() as u64 + LINK_CELL_FILE_BYTES;
    rows * (2 * (LINK_ROW_BYTES + 4 * vcs) + (LINK_CELLS + vcs) * of_cell)
}

impl Backlog {
    fn new(scenario: &Scenario) -> Self {
        let cycles = (scenario.measure.warmup + scenario.measure.cycles) as f64;
        let (mut sources, mut messages) = (0, 0.0);
        for traffic in &scenario.workload.flows {
            sources += u64::from(traffic.sources.len());
            messages += messages_offered(traffic, cycles);
        }
        // Copies of what was dropped are kept beside what the limit counts.
        let keeps_copies = scenario.protocol.built.hooks().copies;
        let limit = scenario.network.nic.queue_limit.filter(|_| !keeps_copies);
        let allowed = limit.map_or(u64::MAX, |limit| sources.saturating_mul(limit.into()));
        let bytes_max = (messages as u64).min(allowed).saturating_mul(message_bytes(scenario));
        Self { bytes_max, is_limited: limit.is_some() }
    }
}

/// How many messages a flow has to send in so many cycles, at most.
fn messages_offered(traffic: &Traffic, cycles: f64) -> f64 {
    let load = traffic.phases().iter().map(|phase| phase.load).fold(0.0, f64::max);
    let by_load = load * f64::from(traffic.sources.len()) * cycles / traffic.size.mean();
    match traffic.messages() {
        Some(messages) if traffic.is_timed() => messages as f64,
        Some(messages) => by_load.min(messages as f64),
        None => by_load,
    }
}

/// For how many cycles a packet is in the network: a path has links of each class twice at most, nearly, and at full load it waits several times
/// as long as it travels.
fn crossing_cycles(scenario: &Scenario) -> f64 {
    let spec = &scenario.network;
    let latency: u64 = spec.links.iter().map(|link| u64::from(link.latency)).sum();
    let load_of = |traffic: &Traffic| match traffic.is_timed() || traffic.job.is_some() {
        true => 1.0, // all at once, or whenever there is something to send
        false => traffic.phases().iter().map(|phase| phase.load).fold(0.0, f64::max),
    };
    let load = scenario.workload.flows.iter().map(load_of).sum::<f64>().min(1.0);
    (2.0 + 6.0 * load) * latency as f64 / f64::from(spec.ticks_per_cycle) + 100.0
}

/// What there may be of packets and messages.
struct Population {
    /// Packets that may be in the network at once.
    packets: u64,
    /// Messages that may wait at their sources at once.
    messages: u64,
    /// Messages of the whole run.
    offered: u64,
}

impl Population {
    fn of(scenario: &Scenario, topology: &dyn Topology) -> Self {
        let spec = &scenario.network;
        let cycles = scenario.measure.warmup + scenario.measure.cycles;
        // Those of flows that end may all wait at once, others for as long as packets cross.
        let (mut flits, mut messages, mut ending) = (0.0, 0.0, 0.0);
        for traffic in &scenario.workload.flows {
            let offered = messages_offered(traffic, cycles as f64);
            flits += offered * traffic.size.mean();
            *if traffic.messages().is_some() { &mut ending } else { &mut messages } += offered;
        }
        let share = (crossing_cycles(scenario) / cycles.max(1) as f64).min(1.0);
        let buffers: u64 = spec.input_buffers.iter().map(|&flits| u64::from(flits)).sum::<u64>() * spec.vcs() as u64;
        let room = u64::from(topology.routers()) * u64::from(topology.radix()) * buffers;
        let packets = (flits * share).min(room as f64) / f64::from(spec.packet_flits_max);
        Self {
            packets: packets as u64,
            messages: (messages * share + ending) as u64,
            offered: (messages + ending) as u64,
        }
    }
}

/// How a scenario's routers are dealt out to regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Regions {
    /// At most so many regions of whole domains.
    Domains(u32),
    /// One for each router.
    Routers,
}

impl Regions {
    /// What a scenario asks for, or what pays off on so many threads.
    pub fn of(scenario: &Scenario, threads: usize) -> Self {
        match scenario.execution.partition {
            PartitionChoice::Auto => Self::Domains(Partition::regions_that_pay(
                scenario.topology.built.graph().as_ref(),
                &scenario.network,
                threads as u32,
            )),
            PartitionChoice::Domains { regions_max } => Self::Domains(regions_max),
            PartitionChoice::Routers => Self::Routers,
            PartitionChoice::Single => Self::Domains(1),
        }
    }
}

/// The network of a scenario.
pub(crate) fn network_plan(scenario: &Scenario, regions: Regions) -> NetworkPlan {
    let topology = scenario.topology.built.graph();
    let partition = match regions {
        Regions::Domains(regions_max) => Partition::by_domain(topology.as_ref(), regions_max),
        Regions::Routers => Partition::by_router(topology.as_ref()),
    };
    let classes = scenario.protocol.built.classes();
    let ticks = |cycles: u64| cycles * u64::from(scenario.clock.ticks_per_cycle);
    NetworkPlan {
        routings: classes.iter().map(|class| Arc::clone(scenario.routings.of(class.routing))).collect(),
        spec: scenario.network.clone(),
        workload: scenario.workload.clone(),
        seed: scenario.seed,
        protocol: Arc::clone(&scenario.protocol.built),
        topology,
        partition,
        measured: ticks(scenario.measure.warmup)..ticks(scenario.measure.warmup + scenario.measure.cycles),
    }
}
