//! The shorter way round the ring of clusters; inside a cluster up to a spine and down.

use std::ops::Range;
use std::sync::Arc;

use tailback_parameters::{Choice, Kind, Parameter};
use tailback_random::{Stream, scramble};
use tailback_topology::{
    AnyTopology, ClusterAddress, ClusterPosition, Locator, MultiCluster, Port, RouterId, Topology,
};

use super::legs::Legs;
use crate::registry::{RoutingModel, needs};
use crate::{Agent, ChannelKind, Header, PortVc, Routing, Step, Validity, View};

/// How a packet chooses among the channels that lead towards its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelChoice {
    /// By its entropy value if its protocol gives it one, else at random.
    Spread,
    /// By a hash of its source, its destination and its entropy value.
    Flow,
}

/// The entry in the list of algorithms.
pub(crate) const CLUSTER_RING: RoutingModel = RoutingModel {
    name: "cluster-ring",
    topology: "multi-cluster",
    summary: "the shorter way round the ring of clusters; inside a cluster up to a random spine, if need be, and down",
    parameters: &[Parameter {
        name: "channel",
        kind: Kind::Choice(&[
            Choice {
                word: "spread",
                help: "the one that the packet's entropy value names if its protocol gives it one, else a random one for each packet",
            },
            Choice {
                word: "flow",
                help: "the one that a hash of source, destination and, if the protocol sets one, the packet's entropy value names",
            },
        ]),
        default: Some("\"spread\""),
        help: "how packets choose among the channels to the next cluster",
    }],
    build: |topology, values| {
        let AnyTopology::MultiCluster(topology) = topology else { return Err(needs(&CLUSTER_RING, topology)) };
        let choice = if values.text("channel") == "flow" { ChannelChoice::Flow } else { ChannelChoice::Spread };
        Ok(Arc::new(ClusterRing::new(Arc::clone(topology), choice)))
    },
};

/// Routing round a ring of clusters.
///
/// The first router in a cluster chooses the channel by which a packet leaves it, and writes its number, from 1 on, into the
/// header; a crossing takes it out again.
#[derive(Clone, Debug)]
pub struct ClusterRing {
    topology: Arc<MultiCluster>,
    choice: ChannelChoice,
    legs: Legs,
}

impl ClusterRing {
    /// On `topology`.
    #[must_use]
    pub fn new(topology: Arc<MultiCluster>, choice: ChannelChoice) -> Self {
        let legs = Legs::new(topology.clusters(), topology.crossings_max() as u8);
        Self { topology, choice, legs }
    }

    fn make_agent(&self, router: RouterId) -> RingAgent {
        let position = self.topology.position(router);
        RingAgent { router, position, up: self.topology.ports_up(position.cluster), routing: self.clone() }
    }

    /// The moves of packets on a leg that are in a cluster.
    fn moves_in(&self, cluster: u32, leg: u8, moves: &mut Vec<(ChannelKind, ChannelKind)>) {
        let kind = |class, vc| ChannelKind { class, vc };
        let (up, down) = (MultiCluster::up_class(cluster), MultiCluster::down_class(cluster));
        moves.push((kind(up, leg), kind(down, leg)));
        for forward in self.ways(cluster) {
            let Some((next, next_leg)) = self.crossing(cluster, leg, forward) else { continue };
            let across = kind(MultiCluster::across_class(cluster, forward), self.legs.channel_across(leg));
            moves.push((kind(down, leg), across));
            moves.push((across, kind(MultiCluster::up_class(next), next_leg)));
            // Where a leaf has several channels a packet may go on at once.
            if self.ways(next).any(|way| way == forward) && self.crossing(next, next_leg, forward).is_some() {
                let on = kind(MultiCluster::across_class(next, forward), self.legs.channel_across(next_leg));
                moves.push((across, on));
            }
        }
    }

    /// The directions in which channels leave a cluster: whether they lead to the next one.
    fn ways(&self, cluster: u32) -> impl Iterator<Item = bool> {
        let (forward, backward) = self.topology.channel_counts(cluster);
        [(true, forward), (false, backward)].into_iter().filter(|(_, count)| *count > 0).map(|(forward, _)| forward)
    }

    /// The cluster and the leg behind a crossing.
    fn crossing(&self, cluster: u32, leg: u8, forward: bool) -> Option<(u32, u8)> {
        let clusters = self.topology.clusters();
        let next = if forward { cluster + 1 } else { cluster + clusters - 1 } % clusters;
        self.legs.next(leg, cluster, forward).map(|leg| (next, leg))
    }
}

impl Routing for ClusterRing {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        vec![1, self.legs.count(), self.legs.channels_across()]
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(self.make_agent(router))
    }

    fn is_oblivious(&self) -> bool {
        true
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        let mut moves = Vec::new();
        for cluster in 0..self.topology.clusters() {
            (0..self.legs.count()).for_each(|leg| self.moves_in(cluster, leg, &mut moves));
        }
        moves
    }

    /// The moves of a ring with a dateline follow each other all the way round, and packets go half of it.
    fn path_routers_max(&self) -> Option<usize> {
        let clusters = self.topology.crossings_max() as usize + 1;
        Some(3 * clusters) // leaf, spine, leaf
    }

    fn possible(&self, router: RouterId, _entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        let agent = self.make_agent(router);
        if !header.is_anywhere() {
            return agent.possible(header, steps);
        }
        for cluster in 0..self.topology.clusters() {
            for leaf in 0..self.topology.size(cluster).leaves {
                agent.possible(header.towards(MultiCluster::locator_of_leaf(cluster, leaf)), steps);
            }
        }
    }

    fn describe(&self) -> String {
        let choice = match self.choice {
            ChannelChoice::Spread => "spread over",
            ChannelChoice::Flow => "by flow on",
        };
        format!("the shorter way round the ring, {choice} the channels between clusters")
    }
}

struct RingAgent {
    router: RouterId,
    position: ClusterPosition,
    /// The ports of leaves that lead up.
    up: Range<u32>,
    routing: ClusterRing,
}

/// Where a packet leaves its cluster, or the network.
struct Exit {
    leaf: u32,
    port: Port,
    /// The virtual channel there, and the header of the packet beyond.
    vc: u8,
    header: Header,
}

impl RingAgent {
    fn address(&self, destination: Locator) -> ClusterAddress {
        self.routing.topology.address(destination)
    }

    /// The channels that lead on, if the packet's destination is in another cluster.
    fn channels(&self, header: &Header) -> Option<Range<u32>> {
        let (here, there) = (self.position.cluster, self.address(header.destination()).cluster);
        (here != there).then(|| self.routing.topology.channels_towards(here, there))
    }

    /// Which of `count` channels a packet takes, unless that is drawn.
    fn chosen(&self, entry: PortVc, header: &Header, count: u32) -> Option<u32> {
        let label = match self.routing.choice {
            _ if count == 1 => return Some(0),
            ChannelChoice::Spread if header.entropy == 0 => return None,
            ChannelChoice::Spread => u64::from(self.position.cluster) << 16 | u64::from(header.entropy),
            ChannelChoice::Flow => {
                let source = u64::from(self.router) << 8 | u64::from(entry.port);
                scramble(source) ^ (u64::from(header.destination().0) << 16 | u64::from(header.entropy))
            }
        };
        Some((((scramble(label) >> 32) * u64::from(count)) >> 32) as u32)
    }

    /// The header of a packet whose channel out of this cluster is known, if it needs one and can be known without a draw.
    fn directed(&self, entry: PortVc, header: &Header) -> Option<Header> {
        let Some(channels) = self.channels(header).filter(|_| header.via() == 0) else { return Some(*header) };
        let index = self.chosen(entry, header, channels.len() as u32)?;
        Some(header.by_way_of(channels.start + index + 1))
    }

    /// Where a packet leaves this cluster whose channel is known.
    fn exit(&self, header: Header) -> Exit {
        let (topology, ClusterAddress { cluster, leaf, port }) =
            (&self.routing.topology, self.address(header.destination()));
        let here = self.position.cluster;
        if cluster == here {
            return Exit { leaf, port, vc: 0, header };
        }
        let channel = header.via() - 1;
        let (leaf, port) = topology.channel_place(here, channel);
        let forward = channel < topology.channel_counts(here).0;
        let (_, leg) = self.routing.crossing(here, header.leg, forward).expect("packets go at most half round");
        let vc = self.routing.legs.channel_across(header.leg);
        Exit { leaf, port, vc, header: Header { leg, ..header.by_way_of(0) } }
    }

    fn step(port: u32, vc: u8, header: Header) -> Step {
        Step { port: port as Port, vc, vcs: 1, validity: Validity::Always, header }
    }

    /// The step towards an exit, if there is only one.
    fn only_step(&self, header: Header) -> Option<Step> {
        let exit = self.exit(header);
        if !self.position.is_leaf {
            return Some(Self::step(exit.leaf, header.leg, header));
        }
        (exit.leaf == self.position.index).then(|| Self::step(exit.port.into(), exit.vc, exit.header))
    }

    fn possible(&self, header: Header, steps: &mut Vec<Step>) {
        let headers: Vec<Header> = match self.channels(&header) {
            Some(channels) if header.via() == 0 => channels.map(|channel| header.by_way_of(channel + 1)).collect(),
            _ => vec![header],
        };
        for header in headers {
            match self.only_step(header) {
                Some(step) => steps.push(step),
                None => steps.extend(self.up.clone().map(|port| Self::step(port, header.leg, header))),
            }
        }
    }
}

impl Agent for RingAgent {
    fn route(&mut self, entry: PortVc, header: &Header, _view: &dyn View, random: &mut Stream) -> Step {
        let header = self.directed(entry, header).unwrap_or_else(|| {
            let channels = self.channels(header).expect("nothing else is drawn here");
            header.by_way_of(channels.start + random.below(channels.len() as u32) + 1)
        });
        self.only_step(header)
            .unwrap_or_else(|| Self::step(self.up.start + random.below(self.up.len() as u32), header.leg, header))
    }

    fn ejects(&self, _entry: PortVc, header: &Header) -> bool {
        let ClusterAddress { cluster, leaf, .. } = self.address(header.destination());
        let ClusterPosition { cluster: here, index, is_leaf } = self.position;
        is_leaf && (cluster, leaf) == (here, index)
    }

    fn only_port(&self, entry: PortVc, header: &Header) -> Option<Port> {
        self.only_step(self.directed(entry, header)?).map(|step| step.port)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tailback_topology::ClusterSize;

    use super::*;
    use crate::multi_cluster::legs::START;

    const SMALL: ClusterSize = ClusterSize { nodes_per_leaf: 2, leaves: 4, spines: 2 };

    fn ring(clusters: u32, choice: ChannelChoice) -> ClusterRing {
        let topology = MultiCluster::equal(clusters, SMALL, 2, 2).unwrap();
        ClusterRing::new(Arc::new(topology), choice)
    }

    fn channels_of(routing: &ClusterRing, headers: impl Iterator<Item = (Port, Header)>) -> BTreeMap<Option<u32>, u32> {
        let agent = routing.make_agent(0);
        let mut counts = BTreeMap::new();
        for (port, header) in headers {
            let chosen = agent.directed(PortVc { port, vc: 0 }, &header).map(|header| header.via());
            *counts.entry(chosen).or_default() += 1;
        }
        counts
    }

    #[test]
    fn entropy_values_name_channels_and_flows_keep_theirs() {
        let far = MultiCluster::locator_of_leaf(1, 3);
        let header = Header::new(far);
        let spread = ring(2, ChannelChoice::Spread);
        // Without a value the channel is drawn.
        assert_eq!(channels_of(&spread, std::iter::once((0, header))), BTreeMap::from([(None, 1)]));
        let values = || (1..2001u16).map(|value| (0, header.with_entropy(value)));
        let counts = channels_of(&spread, values());
        assert!(counts.len() == 2 && counts.values().all(|count| (900..1100).contains(count)), "{counts:?}");
        let by_flow = ring(2, ChannelChoice::Flow);
        assert_eq!(channels_of(&by_flow, std::iter::repeat_n((1, header), 9)).len(), 1);
        assert_eq!(channels_of(&by_flow, values()).len(), 2);
    }

    #[test]
    fn a_packet_changes_legs_where_it_crosses() {
        let mut steps = Vec::new();
        let routing = ring(5, ChannelChoice::Spread);
        let to = Header::new(MultiCluster::locator_of_leaf(2, 0));
        let (leaf, port) = routing.topology.channel_place(0, 0);
        let router = routing.topology.leaf(0, leaf);
        routing.possible(router, PortVc::OWN, to.by_way_of(1), &mut steps);
        assert_eq!(steps.len(), 1);
        let Step { port: left_by, vc, header, .. } = steps[0];
        assert_eq!((left_by, vc, header.leg, header.via()), (port, 0, 1, 0));
        assert_eq!(START, to.leg);
    }
}
