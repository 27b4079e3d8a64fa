//! What all regions of a network share and nothing changes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_engine::Tick;
use tailback_routing::{ClassChannels, Routing};
use tailback_topology::Topology;
use tailback_workload::Workload;

use crate::spec::{AllocationOrder, Arbiter, CreditCheck, CrossbarPorts, NetworkSpec, QueuePer, Release};

/// A network without its state.
#[derive(Debug)]
pub(crate) struct Fabric {
    pub spec: NetworkSpec,
    pub topology: Arc<dyn Topology>,
    /// The routing of each traffic class.
    pub routings: Vec<Arc<dyn Routing>>,
    pub workload: Workload,
    pub seed: u64,
    pub shape: Shape,
    pub rules: Rules,
    /// The virtual channels of each traffic class.
    pub channels: Vec<ClassChannels>,
    /// The traffic class of each virtual channel: by link class, then by virtual channel.
    class_of_vc: Vec<u8>,
}

/// How the state of a router is laid out, the same for all routers of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// Ports of the largest router.
    pub ports: usize,
    /// Words of a set of ports.
    pub words: usize,
    /// Virtual channels in use per port, the most of any link class.
    pub vcs: usize,
    /// Queues per virtual channel: one, or one per output.
    pub rows: usize,
    /// Crossbar connections per port on the input side: one, or one per channel.
    pub inputs: usize,
    /// Crossbar connections per port on the output side: one, or one per channel.
    pub outputs: usize,
    /// Output queues per port.
    pub lanes: usize,
    /// Packets that an output queue can hold; 0 where they have no bound or their departures are not kept.
    pub departures: usize,
}

/// What routers look up at each step, in one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub head_delay: Tick,
    pub crossbar_delay: Tick,
    /// Ticks per link cycle, and from one allocation to the next, less one: both are powers of two.
    link_mask: Tick,
    allocation_mask: Tick,
    /// Whether credits are claimed before packets cross.
    pub claims_first: bool,
    /// Whether ports have one output queue, whose packets have claimed what they need: then the time at which a packet
    /// departs is known when it crosses.
    pub departs_in_order: bool,
    /// Whether output queues have a bound, and departing packets make room only when they are gone.
    pub bounded: bool,
    pub releases_late: bool,
    /// Whether packets need a virtual channel of their own before they cross.
    pub vc_allocation: bool,
    /// Whether each input chooses one packet, and by turns alone: then the first that can cross is the one.
    pub takes_turns: bool,
    /// Whether all packets of an input that could cross are offered to their outputs.
    pub offers_all: bool,
    /// Whether some routing decides anew at each attempt.
    pub revises: bool,
    /// Whether packets are routed when they arrive, not when they are heads.
    pub routes_on_arrival: bool,
}

impl Fabric {
    pub fn new(
        spec: NetworkSpec,
        topology: Arc<dyn Topology>,
        routings: Vec<Arc<dyn Routing>>,
        workload: Workload,
        seed: u64,
    ) -> Self {
        let shape = Shape::of(&spec, topology.as_ref());
        let mut class_of_vc = vec![0; spec.links.len() * shape.vcs];
        for link_class in 0..spec.links.len() {
            for (number, class) in spec.classes.iter().enumerate() {
                let first = usize::from(class.first_vc[link_class]);
                let vcs = first..first + usize::from(class.vcs[link_class]);
                class_of_vc[link_class * shape.vcs..][vcs].fill(number as u8);
            }
        }
        let channels = spec.classes.iter().map(|class| ClassChannels {
            first: class.first_vc.clone(),
            count: class.vcs.clone(),
            capacity: spec.input_buffers.clone(),
        });
        let channels = channels.collect();
        let rules = Rules::of(&spec, &routings, shape.lanes);
        Self { spec, topology, routings, workload, seed, shape, rules, channels, class_of_vc }
    }

    /// The output queue that a virtual channel of a link class leads through.
    #[inline]
    pub fn lane(&self, link_class: u8, vc: u8) -> usize {
        match self.spec.router.output_queues.per {
            QueuePer::Port => 0,
            QueuePer::Class => self.class_of(link_class, vc).into(),
            QueuePer::Channel => vc.into(),
        }
    }

    /// The traffic class that a virtual channel of a link class belongs to.
    #[inline]
    pub fn class_of(&self, link_class: u8, vc: u8) -> u8 {
        self.class_of_vc[usize::from(link_class) * self.shape.vcs + usize::from(vc)]
    }

    /// Flits of the input buffer of a virtual channel that a link of this class feeds; 0 if it is not in use.
    pub fn capacity(&self, link_class: u8, vc: usize) -> u16 {
        let link_class = usize::from(link_class);
        let in_use = |class: &crate::ClassSpec| {
            let first = usize::from(class.first_vc[link_class]);
            (first..first + usize::from(class.vcs[link_class])).contains(&vc)
        };
        if self.spec.classes.iter().any(in_use) { self.spec.input_buffers[link_class] } else { 0 }
    }
}

impl Rules {
    fn of(spec: &NetworkSpec, routings: &[Arc<dyn Routing>], lanes: usize) -> Self {
        let router = &spec.router;
        let one_priority = spec.classes.iter().all(|class| class.priority == spec.classes[0].priority);
        let offers_all =
            router.order == AllocationOrder::OutputFirst || router.crossbar_inputs == CrossbarPorts::PerChannel;
        Self {
            head_delay: router.head_delay,
            crossbar_delay: router.crossbar_delay,
            link_mask: Tick::from(spec.ticks_per_cycle) - 1,
            allocation_mask: router.allocation_period - 1,
            claims_first: router.credits == CreditCheck::Crossbar,
            departs_in_order: router.credits == CreditCheck::Crossbar && lanes == 1,
            bounded: router.output_queues.flits.is_some(),
            releases_late: router.output_queues.release == Release::End,
            vc_allocation: router.vc_allocation,
            takes_turns: !offers_all && one_priority && router.input_arbiter == Arbiter::RoundRobin,
            offers_all,
            revises: routings.iter().any(|routing| routing.revises()),
            routes_on_arrival: router.virtual_output_queues,
        }
    }

    /// The first tick at or after `tick` at which links may start.
    #[inline]
    pub fn link_tick(&self, tick: Tick) -> Tick {
        (tick + self.link_mask) & !self.link_mask
    }

    /// The first tick at or after `tick` at which routers allocate.
    #[inline]
    pub fn allocation_tick(&self, tick: Tick) -> Tick {
        (tick + self.allocation_mask) & !self.allocation_mask
    }
}

impl Shape {
    fn of(spec: &NetworkSpec, topology: &dyn Topology) -> Self {
        let ports = topology.radix() as usize;
        let vcs = spec.vcs();
        let connections = |kind| match kind {
            CrossbarPorts::PerPort => 1,
            CrossbarPorts::PerChannel => vcs,
        };
        let lanes = match spec.router.output_queues.per {
            QueuePer::Port => 1,
            QueuePer::Class => spec.classes.len(),
            QueuePer::Channel => vcs,
        };
        let smallest = if spec.acknowledgement_class.is_some() { 1 } else { spec.packet_flits_min };
        let packets = spec.router.output_queues.flits.map_or(0, |flits| flits / u32::from(smallest));
        Self {
            ports,
            words: ports.div_ceil(64),
            vcs,
            rows: if spec.router.virtual_output_queues { ports } else { 1 },
            inputs: connections(spec.router.crossbar_inputs),
            outputs: connections(spec.router.crossbar_outputs),
            lanes,
            departures: (packets as usize).next_power_of_two(),
        }
    }
}
