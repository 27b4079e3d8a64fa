//! The networks that are measured: dragonflies as in Table I of the papers on them, and single switches.

use std::ops::ControlFlow;
use std::sync::Arc;

use tailback_engine::{Executor, Simulation, Tick};
use tailback_hardware::{
    AllocationOrder, Arbiter, ClassSpec, CreditCheck, CrossbarPorts, Delivery, Ejection, InjectionVc, InputServed,
    InputTurns, LinkArbiter, LinkSpec, NetworkSpec, NicSpec, OutputHeld, OutputQueueSpec, QueuePer, Release,
    RouterSpec, SourceQueues, TurnsKept, TurnsMove,
};
use tailback_network::{Microarchitecture, NetworkPlan, NetworkRegion, Partition, Unobserved};
use tailback_protocol::{Baseline, ClassRouting};
use tailback_routing::Routing;
use tailback_topology::Topology;
use tailback_workload::{Arrival, MessageSize, NodeSet, Pattern, Phase, Traffic, Workload};

use crate::models;

/// Internal steps of a router per link cycle: its crossbar is twice as fast as its links.
pub const TICKS_PER_CYCLE: u32 = 2;

/// The latency of a global link, which is how far groups run ahead of each other.
pub const GLOBAL_TICKS: u32 = 100 * TICKS_PER_CYCLE;

/// A balanced dragonfly of full size (p = h, a = 2h) with minimal routing and uniform traffic, a region for each group.
#[must_use]
pub fn dragonfly(h: u32, load: f64) -> NetworkPlan {
    let h = u64::from(h);
    let any = models::topology("dragonfly", &[("p", h), ("a", 2 * h), ("h", h), ("g", 2 * h * h + 1)]);
    let spec = NetworkSpec {
        links: [1, 10, 100].map(link).into(),
        input_buffers: vec![256, 32, 256],
        classes: vec![ClassSpec { priority: 0, is_control: false, first_vc: vec![0, 0, 0], vcs: vec![3, 3, 2] }],
        ..spec(8)
    };
    plan(any.graph(), models::routing("minimal", &any), spec, load)
}

/// The same dragonfly in one region.
#[must_use]
pub fn dragonfly_in_one_region(h: u32, load: f64) -> NetworkPlan {
    let plan = dragonfly(h, load);
    NetworkPlan { partition: Partition::single(plan.topology.as_ref()), ..plan }
}

/// A single switch whose sources always have something to send: uniform traffic of packets of one flit, which ask
/// most of an allocator, by three virtual channels per input.
#[must_use]
pub fn saturated_switch(ports: u32) -> NetworkPlan {
    let any = models::topology("single-switch", &[("nodes", ports.into())]);
    let spec = NetworkSpec {
        links: vec![link(1)],
        input_buffers: vec![16],
        classes: vec![ClassSpec { priority: 0, is_control: false, first_vc: vec![0], vcs: vec![3] }],
        nic: NicSpec { queue_limit: Some(4), ..NIC },
        ..spec(1)
    };
    plan(any.graph(), models::routing("direct", &any), spec, 1.0)
}

const NIC: NicSpec = NicSpec {
    queues: SourceQueues::Fifo,
    vc_choice: InjectionVc::RoundRobin,
    queue_limit: None,
    delivery: Delivery::Arrival,
    line_flit_ticks: None,
    pause_flits: None,
    side_by_side: false,
};

const ROUTER: RouterSpec = RouterSpec {
    head_delay: 0,
    crossbar_delay: 5 * TICKS_PER_CYCLE,
    allocation_period: TICKS_PER_CYCLE,
    iterations: 1,
    order: AllocationOrder::InputFirst,
    turns_move: TurnsMove::EveryRound,
    turns_kept: TurnsKept::Together,
    input_arbiter: Arbiter::RoundRobin,
    output_arbiter: Arbiter::RoundRobin,
    transit_first: true,
    vc_allocation: false,
    crossbar_inputs: CrossbarPorts::PerPort,
    crossbar_outputs: CrossbarPorts::PerPort,
    virtual_output_queues: false,
    destination_queue: None,
    input_turns: InputTurns::Queues,
    input_served: InputServed::Granted,
    ejection: Ejection::Room,
    ejection_vcs: 1,
    output_held: OutputHeld::Crossing,
    output_queues: OutputQueueSpec {
        flits: Some(32),
        per: QueuePer::Port,
        release: Release::Start,
        link_arbiter: LinkArbiter::Oldest,
        control_limit: None,
    },
    credits: CreditCheck::Crossbar,
    credit_interval: 0,
};

fn link(latency_cycles: u32) -> LinkSpec {
    LinkSpec { latency: latency_cycles * TICKS_PER_CYCLE, flit_ticks: TICKS_PER_CYCLE as u16 }
}

/// What all networks have in common; links, buffers and classes are still to be said.
fn spec(packet_flits: u16) -> NetworkSpec {
    NetworkSpec {
        ticks_per_cycle: TICKS_PER_CYCLE,
        links: Vec::new(),
        injection: link(1),
        input_buffers: Vec::new(),
        classes: Vec::new(),
        packet_flits_max: packet_flits,
        packet_flits_min: packet_flits,
        router: ROUTER,
        nic: NIC,
    }
}

/// Messages of one packet, from all nodes to all.
fn plan(topology: Arc<dyn Topology>, routing: Arc<dyn Routing>, spec: NetworkSpec, load: f64) -> NetworkPlan {
    let all = || NodeSet::all(topology.nodes());
    let pattern = Pattern::uniform(all(), false).expect("there are two nodes");
    let phase = Phase { from_cycle: 0, pattern, load };
    let size = MessageSize::Fixed(spec.packet_flits_max.into());
    let traffic = Traffic::new("uniform".to_owned(), all(), size, Arrival::Bernoulli, vec![phase]);
    NetworkPlan {
        measured: 0..Tick::MAX,
        protocol: Arc::new(Baseline { acknowledge: false, control_routing: ClassRouting::Chosen }),
        partition: Partition::by_domain(topology.as_ref(), u32::MAX),
        routings: vec![routing],
        spec,
        workload: Workload { flows: vec![traffic] },
        seed: 1,
        topology,
    }
}

/// A network at work.
pub struct Running<M: Microarchitecture> {
    simulation: Simulation<NetworkRegion<Unobserved, M>>,
    packet_hops: u64,
}

impl<M: Microarchitecture> Running<M> {
    /// A network that has been run for `warm_up` ticks, until about as many packets arrive as start.
    #[must_use]
    pub fn new(plan: NetworkPlan, warm_up: Tick, executor: &impl Executor) -> Self {
        let mut running = Self { simulation: plan.build(|_| Unobserved), packet_hops: 0 };
        running.advance(warm_up, executor);
        running
    }

    /// Simulates `ticks` more; returns the packet-hops in them.
    pub fn advance(&mut self, ticks: Tick, executor: &impl Executor) -> u64 {
        let end = self.simulation.now() + ticks;
        self.simulation.run_until(end, executor, |_| ControlFlow::Continue(()));
        let before = self.packet_hops;
        self.packet_hops = self.simulation.regions().map(NetworkRegion::packet_hops).sum();
        self.packet_hops - before
    }
}
