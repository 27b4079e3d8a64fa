//! Clusters joined in a ring by too few channels.
//!
//! A cluster is a tree of two levels: leaf routers with nodes, each joined to each spine router. Neighbours in the ring are joined by
//! channels, each of which takes a port more of a leaf router on either side. The channels of a cluster are counted through, those
//! to the next cluster first, and are dealt out to its leaves as evenly as it goes: each has a leaf of its own where there are
//! enough. Two clusters are neighbours once, not twice.
//!
//! Routers are counted cluster by cluster, leaves before spines.

mod graph;

use std::iter::repeat_n;

use crate::{
    LinkClass, Locator, NODES_MAX, NodeId, Port, RADIX_MAX, RouterId, TopologyError, at_most, in_range, radix_fits,
};

/// What a cluster is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterSize {
    /// Nodes of a leaf router.
    pub nodes_per_leaf: u32,
    /// Leaf routers.
    pub leaves: u32,
    /// Spine routers.
    pub spines: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cluster {
    size: ClusterSize,
    first_node: NodeId,
    first_router: RouterId,
    /// Channels to the next cluster, and to the one before.
    forward: u32,
    backward: u32,
}

/// Clusters of two-level trees in a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiCluster {
    clusters: Vec<Cluster>,
    nodes: u32,
    routers: u32,
    radix: u32,
}

/// Where a router is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterPosition {
    /// Its cluster.
    pub cluster: u32,
    /// Its number among the leaves, or among the spines.
    pub index: u32,
    /// Whether it is a leaf.
    pub is_leaf: bool,
}

/// The address of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterAddress {
    /// Its cluster.
    pub cluster: u32,
    /// Its leaf in the cluster.
    pub leaf: u32,
    /// Its port.
    pub port: Port,
}

const LEAF_BITS: u32 = 8;
const PORT_BITS: u32 = 8;

impl MultiCluster {
    /// Links between leaf and spine routers.
    pub const LOCAL: LinkClass = LinkClass(1);
    /// Channels between clusters.
    pub const CHANNEL: LinkClass = LinkClass(2);
    /// The names of the kinds of links.
    pub const LINK_CLASSES: &[&str] = &["terminal", "level1", "inter-cluster"];
    /// The most clusters that there can be.
    pub const CLUSTERS_MAX: u32 = 31;

    /// The class of the channels of a cluster that lead up from leaves.
    #[must_use]
    pub fn up_class(cluster: u32) -> u8 {
        (4 * cluster + 1) as u8
    }

    /// The class of the channels of a cluster that lead down from spines.
    #[must_use]
    pub fn down_class(cluster: u32) -> u8 {
        (4 * cluster + 2) as u8
    }

    /// The class of the channels that lead from a cluster to the next one, or to the one before.
    #[must_use]
    pub fn across_class(cluster: u32, forward: bool) -> u8 {
        (4 * cluster + if forward { 3 } else { 4 }) as u8
    }

    /// Clusters of some sizes. `channels[k]` join cluster `k` with the next one, counted round; with two clusters there is one such
    /// number, with one none. A leaf has at most `channels_per_leaf` of them.
    ///
    /// # Errors
    /// When a cluster has no path to another, channels find no leaf, lists do not fit together, or there is too much of something.
    pub fn new(sizes: &[ClusterSize], channels: &[u32], channels_per_leaf: u32) -> Result<Self, TopologyError> {
        let count = sizes.len() as u32;
        in_range("clusters", count, 1, Self::CLUSTERS_MAX)?;
        let joints = if count > 2 { count } else { count - 1 };
        in_range("numbers of channels, one for each pair of neighbours", channels.len() as u32, joints, joints)?;
        in_range("channels_per_leaf", channels_per_leaf, 1, RADIX_MAX)?;
        let (mut clusters, mut nodes, mut routers, mut radix) = (Vec::new(), 0u64, 0u64, 0);
        for (index, &size) in (0u32..).zip(sizes) {
            let ClusterSize { nodes_per_leaf, leaves, spines } = size;
            for (name, value) in [("nodes_per_leaf", nodes_per_leaf), ("leaves", leaves), ("spines", spines)] {
                in_range(name, value, 1, RADIX_MAX)?;
            }
            let before = if index > 0 { Some(index - 1) } else { (count > 2).then(|| count - 1) };
            let channels_at = |joint: u32| channels.get(joint as usize).copied().unwrap_or(0);
            let (forward, backward) = (channels_at(index), before.map_or(0, channels_at));
            for (joint, joined) in [(Some(index).filter(|&j| j < joints), forward), (before, backward)] {
                if let (Some(joint), 0) = (joint, joined) {
                    return Err(TopologyError::ClustersWithoutPath { one: joint, other: (joint + 1) % count });
                }
            }
            let (needed, places) = (forward.saturating_add(backward), u64::from(leaves) * u64::from(channels_per_leaf));
            if u64::from(needed) > places {
                return Err(TopologyError::ChannelsWithoutLeaf { cluster: index, channels: needed, places });
            }
            let ports = u64::from(nodes_per_leaf) + u64::from(spines) + u64::from(needed.div_ceil(leaves));
            radix_fits(ports)?;
            radix = radix.max(ports as u32).max(leaves);
            clusters.push(Cluster { size, first_node: nodes as u32, first_router: routers as u32, forward, backward });
            nodes += u64::from(nodes_per_leaf) * u64::from(leaves);
            routers += u64::from(leaves) + u64::from(spines);
        }
        at_most("nodes", nodes, NODES_MAX)?;
        Ok(Self { clusters, nodes: nodes as u32, routers: routers as u32, radix })
    }

    /// `clusters` equal clusters, with `channels` between neighbours.
    ///
    /// # Errors
    /// As for [`MultiCluster::new`].
    pub fn equal(
        clusters: u32,
        size: ClusterSize,
        channels: u32,
        channels_per_leaf: u32,
    ) -> Result<Self, TopologyError> {
        in_range("clusters", clusters, 1, Self::CLUSTERS_MAX)?;
        let joints = if clusters > 2 { clusters } else { clusters - 1 };
        Self::new(&vec![size; clusters as usize], &vec![channels; joints as usize], channels_per_leaf)
    }

    /// How many clusters there are.
    #[must_use]
    pub fn clusters(&self) -> u32 {
        self.clusters.len() as u32
    }

    /// How many consecutive nodes each cluster has, if all have as many.
    #[must_use]
    pub fn nodes_per_cluster(&self) -> Option<u32> {
        let nodes = |cluster: &Cluster| cluster.size.nodes_per_leaf * cluster.size.leaves;
        let first = nodes(&self.clusters[0]);
        self.clusters.iter().all(|cluster| nodes(cluster) == first).then_some(first)
    }

    /// The most channels between clusters on a shortest way round the ring.
    #[must_use]
    pub fn crossings_max(&self) -> u32 {
        self.clusters() / 2
    }

    /// What a cluster is made of.
    #[must_use]
    pub fn size(&self, cluster: u32) -> ClusterSize {
        self.clusters[cluster as usize].size
    }

    /// Where `router` is.
    #[must_use]
    pub fn position(&self, router: RouterId) -> ClusterPosition {
        let index = self.clusters.partition_point(|cluster| cluster.first_router <= router) - 1;
        let cluster = &self.clusters[index];
        let (inside, leaves) = (router - cluster.first_router, cluster.size.leaves);
        let is_leaf = inside < leaves;
        ClusterPosition { cluster: index as u32, index: if is_leaf { inside } else { inside - leaves }, is_leaf }
    }

    /// A leaf of a cluster.
    #[must_use]
    pub fn leaf(&self, cluster: u32, leaf: u32) -> RouterId {
        self.clusters[cluster as usize].first_router + leaf
    }

    /// The ports of the leaves of a cluster that lead up.
    #[must_use]
    pub fn ports_up(&self, cluster: u32) -> std::ops::Range<u32> {
        let size = self.size(cluster);
        size.nodes_per_leaf..size.nodes_per_leaf + size.spines
    }

    /// The channels of a cluster, counted through, that lead the shortest way round the ring to another one: both ways if they
    /// are equally long.
    #[must_use]
    pub fn channels_towards(&self, from: u32, to: u32) -> std::ops::Range<u32> {
        let Cluster { forward, backward, .. } = self.clusters[from as usize];
        let count = self.clusters();
        let ahead = (to + count - from) % count;
        match (2 * ahead).cmp(&count) {
            std::cmp::Ordering::Less => 0..forward,
            std::cmp::Ordering::Equal => 0..forward + backward,
            std::cmp::Ordering::Greater => forward..forward + backward,
        }
    }

    /// The leaf of a cluster that a channel of it is at, and the port there.
    #[must_use]
    pub fn channel_place(&self, cluster: u32, channel: u32) -> (u32, Port) {
        let all = self.channels(cluster);
        let leaf = channel * self.size(cluster).leaves / all;
        (leaf, (self.ports_up(cluster).end + channel - self.channels_before(cluster, leaf)) as Port)
    }

    /// Takes the address of a node apart.
    #[must_use]
    pub fn address(&self, locator: Locator) -> ClusterAddress {
        ClusterAddress {
            cluster: locator.0 >> (LEAF_BITS + PORT_BITS),
            leaf: locator.0 >> PORT_BITS & ((1 << LEAF_BITS) - 1),
            port: locator.0 as Port,
        }
    }

    /// The address of the first node of a leaf.
    #[must_use]
    pub fn locator_of_leaf(cluster: u32, leaf: u32) -> Locator {
        Locator(cluster << (LEAF_BITS + PORT_BITS) | leaf << PORT_BITS)
    }

    /// How many channels lead from a cluster to the next one, and to the one before. The former are the first.
    #[must_use]
    pub fn channel_counts(&self, cluster: u32) -> (u32, u32) {
        let Cluster { forward, backward, .. } = self.clusters[cluster as usize];
        (forward, backward)
    }

    fn channels(&self, cluster: u32) -> u32 {
        let (forward, backward) = self.channel_counts(cluster);
        forward + backward
    }

    /// The channels at lower leaves of a cluster: the number of the first one at `leaf`.
    fn channels_before(&self, cluster: u32, leaf: u32) -> u32 {
        (leaf * self.channels(cluster)).div_ceil(self.size(cluster).leaves)
    }

    /// The other end of a channel: its cluster, and its number there.
    fn other_end(&self, cluster: u32, channel: u32) -> (u32, u32) {
        let (count, Cluster { forward, .. }) = (self.clusters(), self.clusters[cluster as usize]);
        if channel < forward {
            let next = (cluster + 1) % count;
            (next, self.clusters[next as usize].forward + channel)
        } else {
            ((cluster + count - 1) % count, channel - forward)
        }
    }

    fn cluster_of_node(&self, node: NodeId) -> u32 {
        self.clusters.partition_point(|cluster| cluster.first_node <= node) as u32 - 1
    }

    fn address_of(&self, node: NodeId) -> ClusterAddress {
        let cluster = self.cluster_of_node(node);
        let inside = node - self.clusters[cluster as usize].first_node;
        let each = self.size(cluster).nodes_per_leaf;
        ClusterAddress { cluster, leaf: inside / each, port: (inside % each) as Port }
    }

    /// The classes of the links of a shortest path between two leaves, those inside clusters first.
    #[must_use]
    pub fn shortest_path(&self, from: RouterId, to: RouterId) -> Vec<LinkClass> {
        let [from, to] = [from, to].map(|leaf| self.position(leaf));
        let ahead = (to.cluster + self.clusters() - from.cluster) % self.clusters();
        let crossings = ahead.min(self.clusters() - ahead);
        let inside = self.distances(from, to.cluster)[to.index as usize] - crossings;
        let links = |class, count| repeat_n(class, count as usize);
        links(Self::LOCAL, inside).chain(links(Self::CHANNEL, crossings)).collect()
    }

    /// By leaf of `to`, the least links from a leaf of `from` on the shortest way round the ring.
    fn distances(&self, from: ClusterPosition, to: u32) -> Vec<u32> {
        let leaves = |cluster| self.size(cluster).leaves as usize;
        let within = |mut entries: Vec<u32>| {
            let nearest = entries.iter().min().copied().unwrap_or(0);
            entries.iter_mut().for_each(|links| *links = (*links).min(nearest + 2));
            entries
        };
        let mut here = vec![2; leaves(from.cluster)];
        here[from.index as usize] = 0;
        let mut front = vec![(from.cluster, here)];
        while front[0].0 != to {
            let mut next: Vec<(u32, Vec<u32>)> = Vec::new();
            for (cluster, links) in front {
                for channel in self.channels_towards(cluster, to) {
                    let (far, far_channel) = self.other_end(cluster, channel);
                    let reached = links[self.channel_place(cluster, channel).0 as usize] + 1;
                    let entry = next.iter().position(|(cluster, _)| *cluster == far).unwrap_or_else(|| {
                        next.push((far, vec![u32::MAX - 2; leaves(far)]));
                        next.len() - 1
                    });
                    let landed = &mut next[entry].1[self.channel_place(far, far_channel).0 as usize];
                    *landed = reached.min(*landed);
                }
            }
            front = next.into_iter().map(|(cluster, links)| (cluster, within(links))).collect();
        }
        front.swap_remove(0).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Peer, Topology};

    const PAPER: ClusterSize = ClusterSize { nodes_per_leaf: 12, leaves: 12, spines: 12 };

    #[test]
    fn the_network_of_the_crp_paper() {
        let topology = MultiCluster::equal(2, PAPER, 4, 1).unwrap();
        assert_eq!((topology.nodes(), topology.routers(), topology.radix()), (288, 48, 25));
        // Four leaves of each cluster have a port more, and lead to the same leaf of the other.
        let channels: Vec<u32> = (0..24).filter(|&router| topology.ports(router) == 25).collect();
        assert_eq!(channels, [0, 3, 6, 9]);
        assert_eq!(topology.peer(3, 24), Peer::Router { router: 27, port: 24 });
        assert_eq!(topology.channels_towards(0, 1), 0..4);
        // Up, down, across, up, down.
        assert_eq!((topology.distance(1, 26), topology.distance(3, 27), topology.distance(0, 1)), (5, 1, 2));
        let (inside, across) = (MultiCluster::LOCAL, MultiCluster::CHANNEL);
        assert_eq!(topology.shortest_path(1, 26), [inside, inside, inside, inside, across]);
        assert_eq!(topology.shortest_path(3, 27), [across]);
        assert_eq!(topology.shortest_path(0, 0), []);
    }

    #[test]
    fn a_ring_goes_the_shorter_way_and_both_ways_to_the_opposite_cluster() {
        let topology = MultiCluster::equal(4, PAPER, 4, 1).unwrap();
        assert_eq!(topology.channels_towards(0, 1), 0..4);
        assert_eq!(topology.channels_towards(0, 3), 4..8);
        assert_eq!(topology.channels_towards(0, 2), 0..8);
        assert_eq!((topology.crossings_max(), topology.distance(2, 50)), (2, 8));
    }

    #[test]
    fn impossible_clusters_are_refused_with_the_numbers() {
        let refused = |sizes: &[ClusterSize], channels: &[u32]| MultiCluster::new(sizes, channels, 1).unwrap_err();
        let small = ClusterSize { leaves: 6, ..PAPER };
        assert_eq!(refused(&[PAPER; 2], &[0]).to_string(), "clusters 0 and 1 are joined by no channel");
        assert_eq!(refused(&[PAPER; 3], &[1, 1, 0]).to_string(), "clusters 2 and 0 are joined by no channel");
        let message = "cluster 1 has 8 channels to other clusters, and its leaves have places for 6";
        assert_eq!(refused(&[PAPER, small, PAPER], &[4, 4, 4]).to_string(), message);
        let message = "numbers of channels, one for each pair of neighbours = 2 is outside 3..=3";
        assert_eq!(refused(&[PAPER; 3], &[1, 1]).to_string(), message);
        let wide = ClusterSize { nodes_per_leaf: 128, spines: 128, ..PAPER };
        assert_eq!(refused(&[wide; 2], &[1]).to_string(), "a router would need 257 ports, the limit is 256");
    }
}
