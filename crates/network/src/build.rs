//! Builds the regions of a network, with nothing in it.

use std::ops::Range;
use std::sync::Arc;

use tailback_engine::{Channel, ChannelMap, Simulation, Tick, Wheel};
use tailback_protocol::Protocol;
use tailback_random::Stream;
use tailback_routing::Routing;
use tailback_topology::{LinkClass, NodeId, Peer, Port, RouterId, Topology};
use tailback_workload::Workload;

use crate::control_network::{ControlNetwork, Parties};
use crate::declarations::Declarations;
use crate::event::TARGETS_MAX;
use crate::fabric::{Fabric, Shape};
use crate::link::{FarEnd, FarKind, InputLink, OutputLink, PortLinks};
use crate::message_trace::{MessageTrace, Tracing};
use crate::nic::{NodeState, Seats};
use crate::packet::Pool;
use crate::partition::Partition;
use crate::payload::Payloads;
use crate::protocol_state::ProtocolState;
use crate::region::ByPort;
use crate::router::{Microarchitecture, Routers, Traced, departure_bytes};
use crate::rules::Rules;
use crate::state_broadcast::{Domains, StateBroadcast};
use crate::{NetworkRegion, Observer};
use tailback_hardware::NetworkSpec;

/// What a network is built from.
#[derive(Clone, Debug)]
pub struct NetworkPlan {
    /// The graph.
    pub topology: Arc<dyn Topology>,
    /// The routing of each traffic class.
    pub routings: Vec<Arc<dyn Routing>>,
    /// Everything else about the network.
    pub spec: NetworkSpec,
    /// Who sends what.
    pub workload: Workload,
    /// The seed of all random streams.
    pub seed: u64,
    /// What is done about congestion.
    pub protocol: Arc<dyn Protocol>,
    /// Who simulates what.
    pub partition: Partition,
    /// When flits are counted that links send.
    pub measured: Range<Tick>,
}

/// The purpose of the random streams of routers; entities are routers.
const ROUTING: u64 = 1 << 33;

impl NetworkPlan {
    /// Whether routers of a microarchitecture can do what the plan asks for.
    #[must_use]
    pub fn suits<M: Microarchitecture>(&self) -> bool {
        let (shape, rules) = self.shape_and_rules();
        M::suits(&shape, &rules)
    }

    /// Whether the time at which a packet departs is known when it crosses, so that links are not started by events.
    #[must_use]
    pub fn departs_at_once(&self) -> bool {
        self.shape_and_rules().1.departs_at_once
    }

    /// The bytes that a port takes at most for departures that are known in advance, where they are.
    #[must_use]
    pub fn departure_bytes(&self) -> u64 {
        if self.departs_at_once() { departure_bytes(&self.spec) } else { 0 }
    }

    fn shape_and_rules(&self) -> (Shape, Rules) {
        let declarations = Declarations::of(self.protocol.as_ref());
        let shape = Shape::of(&self.spec, self.topology.as_ref(), &declarations);
        (shape, Rules::of(&self.spec, &self.routings, &shape, &declarations, &self.measured))
    }

    /// Builds the simulation with routers of microarchitecture `M` and an observer for each region.
    ///
    /// # Panics
    /// When the plan contradicts itself: scenarios are checked before they get here.
    pub fn build<O: Observer, M: Microarchitecture>(
        self,
        observer: impl FnMut(u32) -> O,
    ) -> Simulation<NetworkRegion<O, M>> {
        self.build_with(&MessageTrace::default(), None, observer)
    }

    /// Builds the part of it that a rank holds: some regions one after the other, which send to others all the same.
    ///
    /// # Panics
    /// When the plan contradicts itself, or there are no such regions.
    pub fn build_part<O: Observer, M: Microarchitecture>(
        self,
        held: Range<usize>,
        observer: impl FnMut(u32) -> O,
    ) -> Simulation<NetworkRegion<O, M>> {
        self.build_with(&MessageTrace::default(), Some(held), observer)
    }

    /// The same, and what happens to a message is noted: [`NetworkRegion::trace`]. It changes no result.
    ///
    /// # Panics
    /// When the plan contradicts itself: scenarios are checked before they get here.
    pub fn build_traced<O: Observer>(
        self,
        tracing: impl Into<Tracing>,
        observer: impl FnMut(u32) -> O,
    ) -> Simulation<NetworkRegion<O, Traced>> {
        self.build_with(&MessageTrace::of(tracing.into()), None, observer)
    }

    fn build_with<O: Observer, M: Microarchitecture>(
        self,
        trace: &MessageTrace,
        held: Option<Range<usize>>,
        mut observer: impl FnMut(u32) -> O,
    ) -> Simulation<NetworkRegion<O, M>> {
        let Self { topology, routings, spec, workload, seed, protocol, partition, measured } = self;
        assert_eq!(partition.routers(), topology.routers(), "each router has a region");
        let fabric = Arc::new(Fabric::new(spec, topology, routings, workload, seed, protocol, &measured));
        assert!(M::suits(&fabric.shape, &fabric.rules), "the microarchitecture cannot do what the plan asks for");
        let assignment = Assignment::new(&fabric, &partition);
        let channels = channels(&fabric, &partition, &assignment);
        let held = held.unwrap_or(0..partition.regions() as usize);
        let regions = (held.start as u32..held.end as u32).map(|index| {
            let receiver = |to| channels.position(index, to).unwrap_or(FarEnd::INSIDE);
            build_region(&fabric, &assignment, index, &receiver, trace.clone(), observer(index))
        });
        let regions = regions.collect();
        Simulation::part(regions, held.start, channels)
    }
}

/// Where each router and node went.
struct Assignment {
    /// By router: its region and its number there.
    routers: Vec<(u32, u32)>,
    /// By region: its routers.
    members: Vec<Vec<RouterId>>,
    /// By node: the region of the router that it injects into, and its number there.
    nodes: Vec<(u32, u32)>,
    /// Which routers tell each other something, if any do.
    domains: Option<Domains>,
    /// Who is reached by the protocol's control network, if it has one.
    parties: Option<Parties>,
}

impl Assignment {
    fn new(fabric: &Fabric, partition: &Partition) -> Self {
        let topology = fabric.topology.as_ref();
        let mut members: Vec<Vec<RouterId>> = vec![Vec::new(); partition.regions() as usize];
        let mut nodes = vec![(0, 0); topology.nodes() as usize];
        let mut counts = vec![0u32; partition.regions() as usize];
        let mut routers = Vec::new();
        for router in 0..topology.routers() {
            let region = partition.region_of(router);
            let list = &mut members[region as usize];
            routers.push((region, list.len() as u32));
            list.push(router);
            for port in 0..topology.ports(router) {
                if let Peer::Node(node) = topology.feeder(router, port as Port) {
                    nodes[node as usize] = (region, counts[region as usize]);
                    counts[region as usize] += 1;
                }
            }
        }
        let ports = fabric.shape.ports;
        assert!(members.iter().all(|list| list.len() * ports < TARGETS_MAX as usize), "a region has too many ports");
        assert!(counts.iter().all(|&count| count < TARGETS_MAX), "a region has too many nodes");
        let parties = Parties::new(fabric, &nodes, partition);
        Self { routers, members, nodes, domains: Domains::new(fabric, partition), parties }
    }

    /// The other end of a link, for a region that knows others by what `receiver` makes of their numbers.
    fn end(&self, peer: Peer, ports: u32, receiver: &dyn Fn(u32) -> u32) -> Option<FarEnd> {
        let (kind, (region, target)) = match peer {
            Peer::Nothing => return None,
            Peer::Node(node) => (FarKind::Node, self.nodes[node as usize]),
            Peer::Router { router, port } => {
                let (region, number) = self.routers[router as usize];
                (FarKind::Router, (region, number * ports + u32::from(port)))
            }
        };
        Some(FarEnd { kind, receiver: receiver(region), target })
    }
}

/// The channels between regions: of each link that crosses, for packets one way and for credits the other.
fn channels(fabric: &Fabric, partition: &Partition, assignment: &Assignment) -> ChannelMap {
    let both_ways = |(from, to, class): (u32, u32, LinkClass)| {
        let delay = fabric.spec.links[class.index()].latency.into();
        [Channel { from, to, delay }, Channel { from: to, to: from, delay }]
    };
    let links = partition.crossings(fabric.topology.as_ref()).flat_map(both_ways);
    let notices = assignment.domains.iter().flat_map(Domains::channels);
    let messages = assignment.parties.iter().flat_map(Parties::channels);
    ChannelMap::new(partition.regions(), links.chain(notices).chain(messages))
        .expect("regions exist and links have a latency")
}

/// Builds region `index`, which knows other regions by what `receiver` makes of their numbers.
fn build_region<O: Observer, M: Microarchitecture>(
    fabric: &Arc<Fabric>,
    assignment: &Assignment,
    index: u32,
    receiver: &dyn Fn(u32) -> u32,
    trace: MessageTrace,
    observer: O,
) -> NetworkRegion<O, M> {
    let router_ids = assignment.members[index as usize].clone();
    let mut links = Vec::with_capacity(router_ids.len() * fabric.shape.ports);
    let (mut node_ids, mut injections) = (Vec::new(), Vec::new());
    for (number, &router) in router_ids.iter().enumerate() {
        for port in 0..fabric.shape.ports as u32 {
            if port < fabric.topology.ports(router)
                && let Peer::Node(node) = fabric.topology.feeder(router, port as Port)
            {
                node_ids.push(node);
                injections.push(number as u32 * fabric.shape.ports as u32 + port);
            }
            links.push(port_links(fabric, assignment, receiver, router, port));
        }
    }
    let ejection = |&node: &NodeId| {
        let (router, port) = fabric.topology.attachment(node);
        assignment.end(Peer::Router { router, port }, fabric.shape.ports as u32, receiver).unwrap_or(FarEnd::OPEN)
    };
    let ejections = if fabric.rules.nodes_pause { node_ids.iter().map(ejection).collect() } else { Vec::new() };
    let agents = fabric.routings.iter().flat_map(|routing| router_ids.iter().map(|&router| routing.agent(router)));
    let stream = |&router: &RouterId| Stream::new(fabric.seed, router.into(), ROUTING);
    let mut region = NetworkRegion {
        fabric: Arc::clone(fabric),
        wheel: Wheel::new(horizon(fabric)),
        pool: Pool::default(),
        payloads: Payloads::new(fabric.payload_words(), fabric.added_payload()),
        routers: Routers::new(fabric, &links),
        broadcasts: StateBroadcast::new(
            assignment.domains.as_ref(),
            fabric.spec.classes.len(),
            index,
            receiver,
            &router_ids,
        ),
        control_network: ControlNetwork::new(
            fabric,
            assignment.parties.as_ref(),
            index,
            node_ids.len() as u32,
            receiver,
        ),
        nodes: NodeState::new(fabric, &node_ids),
        seats: Seats::new(fabric, &node_ids),
        agents: agents.collect(),
        protocol: ProtocolState::new(fabric, node_ids.len(), &router_ids),
        streams: router_ids.iter().map(stream).collect(),
        trace,
        observer,
        has_others: assignment.members.len() > 1,
        present: 0,
        in_order: Vec::new(),
        by_port: ByPort::new(if fabric.rules.orders_arrivals() { links.len() } else { 0 }),
        router_ids,
        node_ids,
        ejections,
        injections,
    };
    for node in 0..region.node_ids.len() as u32 {
        region.schedule_first_message(node);
        region.schedule_starts(node);
    }
    region.schedule_broadcast();
    region
}

/// The links of a port; the internal one has none.
fn port_links(
    fabric: &Fabric,
    assignment: &Assignment,
    receiver: &dyn Fn(u32) -> u32,
    router: RouterId,
    port: u32,
) -> PortLinks {
    let topology = fabric.topology.as_ref();
    if port >= topology.ports(router) {
        return PortLinks { output: OutputLink::OPEN, input: InputLink::OPEN };
    }
    let port = port as Port;
    let end = |peer| assignment.end(peer, fabric.shape.ports as u32, receiver);
    let spec = |class: LinkClass| fabric.spec.links[class.index()];
    let output = end(topology.peer(router, port)).map_or(OutputLink::OPEN, |to| {
        let class = topology.link_class(router, port);
        OutputLink { to, class: class.0, latency: spec(class).latency, flit_ticks: spec(class).flit_ticks }
    });
    let input = end(topology.feeder(router, port)).map_or(InputLink::OPEN, |from| {
        let class = topology.input_class(router, port);
        let link = if from.kind == FarKind::Node { fabric.spec.injection } else { spec(class) };
        InputLink { from, class: class.0, credit_latency: link.latency }
    });
    PortLinks { output, input }
}

// Routing agents number all virtual channels of a router.
const _: () = assert!(tailback_hardware::VCS_MAX <= tailback_routing::PortVc::VCS_MAX);

/// How far ahead most events lie: the longest latency, and a packet more.
fn horizon(fabric: &Fabric) -> Tick {
    let spec = &fabric.spec;
    let latency = spec.links.iter().map(|link| link.latency).max().unwrap_or(1);
    let flit_ticks = spec.links.iter().map(|link| link.flit_ticks).max().unwrap_or(1);
    Tick::from(latency) + Tick::from(spec.packet_flits_max) * Tick::from(flit_ticks)
}
