//! Clusters in a ring as a graph.

use super::{Cluster, ClusterAddress, ClusterPosition, MultiCluster};
use crate::{LinkClass, Locator, NodeId, Peer, Port, RouterId, Topology};

impl Topology for MultiCluster {
    fn name(&self) -> &'static str {
        "multi-cluster"
    }

    fn describe(&self) -> String {
        let list = |of: &dyn Fn(&Cluster) -> u32| {
            let all: Vec<u32> = self.clusters.iter().map(of).collect();
            if all.windows(2).all(|pair| pair[0] == pair[1]) {
                all[0].to_string()
            } else {
                all.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
            }
        };
        format!(
            "{} clusters of {} leaves with {} nodes and {} spines, joined in a ring by {} channels",
            self.clusters(),
            list(&|cluster| cluster.size.leaves),
            list(&|cluster| cluster.size.nodes_per_leaf),
            list(&|cluster| cluster.size.spines),
            self.clusters.iter().map(|cluster| cluster.forward).sum::<u32>(),
        )
    }

    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn routers(&self) -> u32 {
        self.routers
    }

    fn ports(&self, router: RouterId) -> u32 {
        let ClusterPosition { cluster, index, is_leaf } = self.position(router);
        if !is_leaf {
            return self.size(cluster).leaves;
        }
        let channels = self.channels_before(cluster, index + 1) - self.channels_before(cluster, index);
        self.ports_up(cluster).end + channels
    }

    fn radix(&self) -> u32 {
        self.radix
    }

    fn peer(&self, router: RouterId, port: Port) -> Peer {
        if u32::from(port) >= self.ports(router) {
            return Peer::Nothing;
        }
        let (position, port) = (self.position(router), u32::from(port));
        let ClusterPosition { cluster, index, is_leaf } = position;
        let (Cluster { size, first_node, .. }, up) = (self.clusters[cluster as usize], self.ports_up(cluster));
        if !is_leaf {
            return Peer::Router { router: self.leaf(cluster, port), port: (up.start + index) as Port };
        }
        if port < up.start {
            return Peer::Node(first_node + index * size.nodes_per_leaf + port);
        }
        if port < up.end {
            let spine = self.leaf(cluster, size.leaves + port - up.start);
            return Peer::Router { router: spine, port: index as Port };
        }
        let (far, channel) = self.other_end(cluster, self.channels_before(cluster, index) + port - up.end);
        let (leaf, port) = self.channel_place(far, channel);
        Peer::Router { router: self.leaf(far, leaf), port }
    }

    fn link_class(&self, router: RouterId, port: Port) -> LinkClass {
        let (position, port) = (self.position(router), u32::from(port));
        let up = self.ports_up(position.cluster);
        match () {
            () if !position.is_leaf || up.contains(&port) => Self::LOCAL,
            () if port < up.start => LinkClass::TERMINAL,
            () => Self::CHANNEL,
        }
    }

    fn link_classes(&self) -> &[&'static str] {
        Self::LINK_CLASSES
    }

    fn attachment(&self, node: NodeId) -> (RouterId, Port) {
        let ClusterAddress { cluster, leaf, port } = self.address_of(node);
        (self.leaf(cluster, leaf), port)
    }

    fn locator(&self, node: NodeId) -> Locator {
        let ClusterAddress { cluster, leaf, port } = self.address_of(node);
        Locator(Self::locator_of_leaf(cluster, leaf).0 | u32::from(port))
    }

    fn distance(&self, from: RouterId, to: RouterId) -> u32 {
        let to = self.position(to);
        self.distances(self.position(from), to.cluster)[to.index as usize]
    }

    fn domains(&self) -> u32 {
        self.clusters()
    }

    fn domain(&self, router: RouterId) -> u32 {
        self.position(router).cluster
    }

    fn channel_class(&self, router: RouterId, port: Port) -> u8 {
        let ClusterPosition { cluster, index, is_leaf } = self.position(router);
        match self.link_class(router, port) {
            Self::CHANNEL => {
                let channel = self.channels_before(cluster, index) + u32::from(port) - self.ports_up(cluster).end;
                Self::across_class(cluster, channel < self.channel_counts(cluster).0)
            }
            Self::LOCAL if is_leaf => Self::up_class(cluster),
            Self::LOCAL => Self::down_class(cluster),
            _ => 0,
        }
    }

    fn channel_class_name(&self, class: u8) -> String {
        let Some(class) = class.checked_sub(1).map(u32::from) else { return "terminal".to_owned() };
        let cluster = class / 4;
        match class % 4 {
            0 => format!("up in cluster {cluster}"),
            1 => format!("down in cluster {cluster}"),
            2 => format!("forward from cluster {cluster}"),
            _ => format!("backward from cluster {cluster}"),
        }
    }

    fn router_name(&self, router: RouterId) -> String {
        let ClusterPosition { cluster, index, is_leaf } = self.position(router);
        format!("router {router} ({} {index} of cluster {cluster})", if is_leaf { "leaf" } else { "spine" })
    }
}
