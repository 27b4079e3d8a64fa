//! What holds for every topology.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::{
    Arrangement, Butterfly, ClusterSize, Dragonfly, FatTree, LinkClass, MultiCluster, NodeId, Peer, Port, RouterId,
    SingleSwitch, Topology,
};

fn check(topology: &dyn Topology) {
    check_links(topology);
    check_nodes(topology);
    check_distances(topology);
}

/// The same, where the two directions between a pair of ports are one link.
fn check_symmetric(topology: &dyn Topology) {
    check(topology);
    check_symmetry(topology);
}

/// All ports of all routers.
fn ports(topology: &dyn Topology) -> impl Iterator<Item = (RouterId, Port)> {
    let of_router = |router| (0..topology.ports(router)).map(move |port| (router, port as Port));
    (0..topology.routers()).flat_map(of_router)
}

fn check_links(topology: &dyn Topology) {
    for router in 0..topology.routers() {
        assert!(topology.ports(router) <= topology.radix());
        assert!(topology.domain(router) < topology.domains());
    }
    for (router, port) in ports(topology) {
        let (class, input_class) = (topology.link_class(router, port), topology.input_class(router, port));
        assert!(class.index().max(input_class.index()) < topology.link_classes().len());
        match topology.peer(router, port) {
            Peer::Node(node) => {
                assert_eq!(topology.attachment(node), (router, port));
                assert_eq!(class, LinkClass::TERMINAL);
            }
            Peer::Router { router: other, port: far } => {
                assert_ne!(router, other, "{}: port {port} of router {router} leads back", topology.describe());
                assert_eq!(topology.feeder(other, far), Peer::Router { router, port });
                assert_eq!(topology.input_class(other, far), class);
                assert_ne!(class, LinkClass::TERMINAL);
            }
            Peer::Nothing => {}
        }
        match topology.feeder(router, port) {
            Peer::Node(node) => {
                assert_eq!(topology.injection(node), (router, port));
                assert_eq!(input_class, LinkClass::TERMINAL);
            }
            Peer::Router { router: other, port: far } => {
                assert_eq!(topology.peer(other, far), Peer::Router { router, port });
            }
            Peer::Nothing => {}
        }
    }
}

fn check_symmetry(topology: &dyn Topology) {
    for (router, port) in ports(topology) {
        let peer = topology.peer(router, port);
        assert_eq!(topology.feeder(router, port), peer);
        if peer != Peer::Nothing {
            assert_eq!(topology.input_class(router, port), topology.link_class(router, port));
        }
    }
    assert!(topology.routers_reach_all_nodes());
}

fn check_nodes(topology: &dyn Topology) {
    let mut locators = Vec::new();
    for node in 0..topology.nodes() {
        let ((ejects, output), (injects, input)) = (topology.attachment(node), topology.injection(node));
        assert_eq!(topology.peer(ejects, output), Peer::Node(node));
        assert_eq!(topology.feeder(injects, input), Peer::Node(node));
        locators.push(topology.locator(node));
    }
    locators.sort_unstable();
    locators.dedup();
    assert_eq!(locators.len(), topology.nodes() as usize, "addresses are unique");
}

/// Distances equal those that a search of the graph finds, with at most one global link on a way, and with as few channels
/// between clusters as there can be.
fn check_distances(topology: &dyn Topology) {
    let all = |place: &dyn Fn(NodeId) -> (RouterId, Port)| {
        (0..topology.nodes()).map(|node| place(node).0).collect::<BTreeSet<RouterId>>()
    };
    let (sources, destinations) = (all(&|node| topology.injection(node)), all(&|node| topology.attachment(node)));
    for from in sources {
        let distance = search(topology, from);
        for &to in &destinations {
            assert_eq!(topology.distance(from, to), distance[to as usize], "{} {from} {to}", topology.describe());
        }
    }
}

/// By router, the links of the shortest way among those by the fewest long links: all ways of a graph without long links.
fn search(topology: &dyn Topology, from: RouterId) -> Vec<u32> {
    let is_long = |router, port| match topology.name() {
        "dragonfly" => topology.link_class(router, port) == Dragonfly::GLOBAL,
        "multi-cluster" => topology.link_class(router, port) == MultiCluster::CHANNEL,
        _ => false,
    };
    let mut best = vec![(u32::MAX, u32::MAX); topology.routers() as usize];
    best[from as usize] = (0, 0);
    let mut waiting = BTreeSet::from([(0, 0, from)]);
    while let Some((long, links, router)) = waiting.pop_first() {
        for port in 0..topology.ports(router) {
            let port = port as Port;
            let Peer::Router { router: next, .. } = topology.peer(router, port) else { continue };
            let reached = (long + u32::from(is_long(router, port)), links + 1);
            if reached < best[next as usize] {
                best[next as usize] = reached;
                waiting.insert((reached.0, reached.1, next));
            }
        }
    }
    best.into_iter().map(|(_, links)| links).collect()
}

/// From each node to each node there is exactly one path, and it crosses so many routers.
fn check_paths(topology: &dyn Topology, routers: u32) {
    for source in 0..topology.nodes() {
        // How many paths lead to each router.
        let mut reached = BTreeMap::from([(topology.injection(source).0, 1u32)]);
        for _ in 1..routers {
            let mut next = BTreeMap::new();
            for (router, paths) in reached {
                for port in 0..topology.ports(router) {
                    let Peer::Router { router, .. } = topology.peer(router, port as Port) else { continue };
                    *next.entry(router).or_default() += paths;
                }
            }
            reached = next;
        }
        for destination in 0..topology.nodes() {
            let (router, _) = topology.attachment(destination);
            assert_eq!(reached.get(&router), Some(&1), "{} {source} {destination}", topology.describe());
        }
    }
}

#[test]
fn single_switches() {
    for nodes in [1, 2, 16, 256] {
        check_symmetric(&SingleSwitch::new(nodes).unwrap());
    }
    assert_eq!(SingleSwitch::new(257).unwrap_err().to_string(), "a router would need 257 ports, the limit is 256");
}

#[test]
fn the_dragonfly_of_the_contention_paper() {
    let topology = Dragonfly::new(8, 16, 8, 129, Arrangement::Palmtree).unwrap();
    assert_eq!((topology.nodes(), topology.routers(), topology.radix()), (16_512, 2064, 31));
    check_links(&topology);
    check_symmetry(&topology);
    check_nodes(&topology);
}

proptest! {
    #[test]
    fn dragonflies(
        p in 1u32..4, a in 1u32..7, h in 1u32..4, share in 0.0f64..1.0, palmtree in any::<bool>(),
    ) {
        let g = 1 + (share * f64::from(a * h)).round() as u32;
        let arrangement = if palmtree { Arrangement::Palmtree } else { Arrangement::Absolute };
        check_symmetric(&Dragonfly::new(p, a, h, g, arrangement).unwrap());
    }

    #[test]
    fn fat_trees(
        children in prop::collection::vec(1u32..5, 1..5), parents in prop::collection::vec(1u32..4, 4),
        parallel in prop::collection::vec(1u32..3, 4),
    ) {
        let upper = children.len() - 1;
        check_symmetric(&FatTree::new(&children, &parents[..upper], &parallel[..upper]).unwrap());
    }

    #[test]
    fn multi_clusters(
        sizes in prop::collection::vec((1u32..4, 1u32..5, 1u32..4), 1..8), channels in prop::collection::vec(1u32..5, 8),
    ) {
        let sizes: Vec<ClusterSize> = sizes
            .into_iter()
            .map(|(nodes_per_leaf, leaves, spines)| ClusterSize { nodes_per_leaf, leaves, spines })
            .collect();
        let joints = if sizes.len() > 2 { sizes.len() } else { sizes.len() - 1 };
        check_symmetric(&MultiCluster::new(&sizes, &channels[..joints], 8).unwrap());
    }

    #[test]
    fn butterflies((k, n) in prop_oneof![(1u32..5, 1u32..5), (5u32..17, 1u32..3)]) {
        let topology = Butterfly::new(k, n).unwrap();
        check(&topology);
        check_paths(&topology, n);
    }
}
