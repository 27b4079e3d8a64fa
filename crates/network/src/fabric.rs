//! What all regions of a network share and nothing changes.

use std::sync::Arc;

use tailback_engine::Tick;
use tailback_protocol::PacketKind;
use tailback_routing::Routing;
use tailback_topology::Topology;
use tailback_workload::Workload;

use crate::spec::{CrossbarPorts, NetworkSpec, QueuePer};

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
    /// The size of the buffer behind each channel: by link class, then by virtual channel. Ejection never blocks.
    pub capacity: Vec<u16>,
    /// The traffic class of each virtual channel: by link class, then by virtual channel.
    pub class_of_vc: Vec<u8>,
    /// Whether routing decides anew at each attempt, by traffic class.
    pub revises: Vec<bool>,
}

/// How the arrays of a router are laid out, the same for all routers of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Ports of the largest router.
    pub ports: usize,
    /// Words of a set of ports.
    pub words: usize,
    /// Virtual channels per port, the most of any link class.
    pub vcs: usize,
    /// Queues per virtual channel: one, or one per output.
    pub rows: usize,
    /// Crossbar connections per port on the input side.
    pub inputs: usize,
    /// Crossbar connections per port on the output side.
    pub outputs: usize,
    /// Output queues per port.
    pub lanes: usize,
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
        let link_classes = spec.links.len();
        let mut capacity = vec![0; link_classes * shape.vcs];
        let mut class_of_vc = vec![0; link_classes * shape.vcs];
        for link_class in 0..link_classes {
            for (number, class) in spec.classes.iter().enumerate() {
                let first = usize::from(class.first_vc[link_class]);
                for vc in first..first + usize::from(class.vcs[link_class]) {
                    capacity[link_class * shape.vcs + vc] = spec.input_buffers[link_class];
                    class_of_vc[link_class * shape.vcs + vc] = number as u8;
                }
            }
        }
        let revises = routings.iter().map(|routing| routing.revises()).collect();
        Self { spec, topology, routings, workload, seed, shape, capacity, class_of_vc, revises }
    }

    /// The first tick at or after `tick` at which links may start.
    #[inline]
    pub fn link_tick(&self, tick: Tick) -> Tick {
        align(tick, Tick::from(self.spec.ticks_per_cycle))
    }

    /// The first tick at or after `tick` at which routers allocate.
    #[inline]
    pub fn allocation_tick(&self, tick: Tick) -> Tick {
        align(tick, self.spec.router.allocation_period)
    }

    /// The output queue that a virtual channel of a link class leads through.
    #[inline]
    pub fn lane(&self, link_class: usize, vc: usize) -> usize {
        match self.spec.router.output_queues.per {
            QueuePer::Port => 0,
            QueuePer::Class => usize::from(self.class_of_vc[link_class * self.shape.vcs + vc]),
            QueuePer::Channel => vc,
        }
    }

    /// The class of packets of a kind.
    pub fn class_of(&self, kind: PacketKind) -> u8 {
        match kind {
            PacketKind::Data => 0,
            PacketKind::Acknowledgement => self.spec.acknowledgement_class.expect("there are acknowledgements"),
        }
    }
}

impl Shape {
    fn of(spec: &NetworkSpec, topology: &dyn Topology) -> Self {
        let ports = topology.radix() as usize;
        let in_use = |link_class: usize| {
            spec.classes.iter().map(|class| class.first_vc[link_class] + class.vcs[link_class]).max().unwrap_or(1)
        };
        let vcs = (0..spec.links.len()).map(in_use).max().unwrap_or(1).max(1).into();
        let connections = |kind| match kind {
            CrossbarPorts::PerPort => 1,
            CrossbarPorts::PerChannel => vcs,
        };
        Self {
            ports,
            words: ports.div_ceil(64),
            vcs,
            rows: if spec.router.virtual_output_queues { ports } else { 1 },
            inputs: connections(spec.router.crossbar_inputs),
            outputs: connections(spec.router.crossbar_outputs),
            lanes: match spec.router.output_queues.per {
                QueuePer::Port => 1,
                QueuePer::Class => spec.classes.len(),
                QueuePer::Channel => vcs,
            },
        }
    }
}

/// The first multiple of `period`, a power of two, at or after `tick`.
#[inline]
fn align(tick: Tick, period: Tick) -> Tick {
    (tick + period - 1) & !(period - 1)
}
