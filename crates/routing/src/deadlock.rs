//! Proof that packets cannot wait for each other in a circle.
//!
//! A packet that holds a channel may wait for the next one on its path. Routing is free of deadlock if the graph of
//! these dependencies has no cycle (Dally and Seitz). The proof goes by kinds of channels first: if already
//! the kinds cannot depend on each other in a circle, nothing can, however large the network. Otherwise every
//! path of every packet is followed, and either there is no cycle after all, or it is found and named.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use tailback_topology::{Peer, Port, RouterId, Topology};

use crate::{ANYWHERE, ChannelKind, Header, PortVc, Routing, Step};

/// How many states of packets the exact search looks at before it gives up.
pub const STATES_MAX: u64 = 20_000_000;
/// After how many of them it asks again whether anybody waits for it.
const ASKS_EACH: u64 = 1 << 10;

/// A proof that routing is free of deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Kinds of channels have an order in which packets use them.
    ByKind(Vec<ChannelKind>),
    /// All paths were followed: this many channels and dependencies, and no cycle.
    Exact {
        /// Channels that packets use.
        channels: usize,
        /// Pairs of channels such that a packet on one may wait for the other.
        dependencies: usize,
    },
}

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// There is a cycle: each channel may wait for the next, and the last for the first.
    Cycle(Vec<Channel>),
    /// The kinds of channels have a cycle, and the network is too large to see whether it is real.
    TooLarge(Vec<ChannelKind>),
    /// Nobody waits for it any more.
    Unwanted,
}

/// A virtual channel of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Channel {
    /// The router that sends by it.
    pub from: RouterId,
    /// The port there.
    pub port: Port,
    /// The router that receives by it.
    pub to: RouterId,
    /// The virtual channel, counted inside the traffic class.
    pub vc: u8,
}

/// Proves that `routing` is free of deadlock, or says why it is not.
///
/// # Errors
/// When there is a cycle, or the network is too large to tell.
pub fn prove(routing: &dyn Routing) -> Result<Proof, Unproven> {
    prove_while(routing, STATES_MAX, &|| true)
}

/// The same by so many states of packets at most, and for as long as it is `wanted`.
///
/// # Errors
/// When there is a cycle, the network is too large to tell, or the proof is not wanted any more.
pub fn prove_while(routing: &dyn Routing, states_max: u64, wanted: &dyn Fn() -> bool) -> Result<Proof, Unproven> {
    match order(&routing.moves()) {
        Ok(order) => Ok(Proof::ByKind(order)),
        Err(kinds) => match Search::new(routing).run_while(states_max, wanted) {
            Some(dependencies) if wanted() => dependencies.verdict(),
            None if wanted() => Err(Unproven::TooLarge(kinds)),
            _ => Err(Unproven::Unwanted),
        },
    }
}

/// Proves it by following all paths, even where kinds of channels would do. `None` if the network is too large.
pub fn prove_exactly(routing: &dyn Routing) -> Option<Result<Proof, Unproven>> {
    Search::new(routing).run().map(|dependencies| dependencies.verdict())
}

/// All moves between kinds of channels that packets really make, by following all paths. `None` if the network is
/// too large.
pub fn moves_made(routing: &dyn Routing) -> Option<BTreeSet<(ChannelKind, ChannelKind)>> {
    let topology = routing.topology();
    let kind = |channel: &Channel| channel.kind(topology.as_ref());
    let search = Search::new(routing).run()?;
    Some(search.edges.iter().flat_map(|(from, tos)| tos.iter().map(move |to| (kind(from), kind(to)))).collect())
}

impl Proof {
    /// One line for people.
    #[must_use]
    pub fn describe(&self, topology: &dyn Topology) -> String {
        match self {
            Self::ByKind(order) if order.is_empty() => "no packet on a link waits for another link".to_owned(),
            Self::ByKind(order) => {
                let names: Vec<_> = order.iter().map(|kind| kind.describe(topology)).collect();
                format!("packets use channels in the order {}", names.join(", "))
            }
            Self::Exact { channels, dependencies } => {
                format!("{dependencies} dependencies among {channels} channels, and no cycle")
            }
        }
    }
}

impl Unproven {
    /// The cycle, a line for each of its channels.
    #[must_use]
    pub fn describe(&self, topology: &dyn Topology) -> Vec<String> {
        match self {
            Self::Cycle(channels) => channels.iter().map(|channel| channel.describe(topology)).collect(),
            Self::TooLarge(kinds) => kinds.iter().map(|kind| kind.describe(topology)).collect(),
            Self::Unwanted => Vec::new(),
        }
    }
}

impl fmt::Display for Unproven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle(channels) => {
                write!(f, "packets on {} channels can wait for each other in a circle", channels.len())
            }
            Self::TooLarge(kinds) => write!(
                f,
                "packets on {} kinds of channels may wait for each other in a circle, and the network is too large \
                 to see whether they do",
                kinds.len()
            ),
            Self::Unwanted => f.write_str("nobody waits for it any more"),
        }
    }
}

impl Channel {
    fn kind(&self, topology: &dyn Topology) -> ChannelKind {
        ChannelKind { class: topology.channel_class(self.from, self.port), vc: self.vc }
    }

    fn describe(&self, topology: &dyn Topology) -> String {
        let class = topology.channel_class_name(topology.channel_class(self.from, self.port));
        format!("{} -> {}, {class}, VC {}", topology.router_name(self.from), topology.router_name(self.to), self.vc)
    }
}

impl ChannelKind {
    fn describe(self, topology: &dyn Topology) -> String {
        format!("{} VC {}", topology.channel_class_name(self.class), self.vc)
    }
}

/// The states of packets that have been met. There can be millions, and each is asked for at each step.
#[allow(clippy::disallowed_types, reason = "it is asked whether it has a state, never gone through")]
type Seen = std::collections::HashSet<(RouterId, PortVc, Header)>;

/// Follows all paths of all packets.
struct Search<'a> {
    routing: &'a dyn Routing,
    topology: std::sync::Arc<dyn Topology>,
    seen: Seen,
    waiting: Vec<(Channel, RouterId, PortVc, Header)>,
    edges: BTreeMap<Channel, BTreeSet<Channel>>,
}

struct Dependencies {
    edges: BTreeMap<Channel, BTreeSet<Channel>>,
}

impl<'a> Search<'a> {
    fn new(routing: &'a dyn Routing) -> Self {
        let topology = routing.topology();
        Self { routing, topology, seen: Seen::default(), waiting: Vec::new(), edges: BTreeMap::new() }
    }

    fn run(self) -> Option<Dependencies> {
        self.run_while(STATES_MAX, &|| true)
    }

    fn run_while(mut self, states_max: u64, wanted: &dyn Fn() -> bool) -> Option<Dependencies> {
        let (mut steps, mut looked_at) = (Vec::new(), 0u64);
        let mut may_go_on = |seen: usize| {
            looked_at += 1;
            seen as u64 <= states_max && (!looked_at.is_multiple_of(ASKS_EACH) || wanted())
        };
        for router in 0..self.topology.routers() {
            let injects = |port: &u32| matches!(self.topology.feeder(router, *port as Port), Peer::Node(_));
            let Some(terminal) = (0..self.topology.ports(router)).find(injects) else { continue };
            if !may_go_on(self.seen.len()) {
                return None;
            }
            let entry = PortVc { port: terminal as Port, vc: 0 };
            self.routing.possible(router, entry, ANYWHERE, &mut steps);
            for step in steps.drain(..) {
                self.follow(router, None, step);
            }
        }
        while let Some((channel, router, entry, header)) = self.waiting.pop() {
            if !may_go_on(self.seen.len()) {
                return None;
            }
            self.routing.possible(router, entry, header, &mut steps);
            for step in steps.drain(..) {
                self.follow(router, Some(channel), step);
            }
        }
        Some(Dependencies { edges: self.edges })
    }

    /// A packet at `router`, which holds `held`, may make `step`.
    fn follow(&mut self, router: RouterId, held: Option<Channel>, step: Step) {
        let Peer::Router { router: to, port: far } = self.topology.peer(router, step.port) else { return };
        for vc in step.vc..step.vc + step.vcs {
            let channel = Channel { from: router, port: step.port, to, vc };
            self.edges.entry(channel).or_default();
            if let Some(held) = held {
                self.edges.entry(held).or_default().insert(channel);
            }
            let entry = PortVc { port: far, vc };
            if self.seen.insert((to, entry, step.header)) {
                self.waiting.push((channel, to, entry, step.header));
            }
        }
    }
}

impl Dependencies {
    fn verdict(&self) -> Result<Proof, Unproven> {
        let edges = || self.edges.iter().flat_map(|(from, tos)| tos.iter().map(move |to| (*from, *to)));
        match order(&edges().collect::<Vec<_>>()) {
            Ok(_) => Ok(Proof::Exact { channels: self.edges.len(), dependencies: edges().count() }),
            Err(cycle) => Err(Unproven::Cycle(cycle)),
        }
    }
}

/// The nodes of a graph in an order that all its edges follow, or a shortest cycle through some node on one.
pub(crate) fn order<T: Copy + Ord>(edges: &[(T, T)]) -> Result<Vec<T>, Vec<T>> {
    let mut successors: BTreeMap<T, Vec<T>> = BTreeMap::new();
    let mut predecessors: BTreeMap<T, usize> = BTreeMap::new();
    for &(from, to) in edges {
        successors.entry(from).or_default().push(to);
        predecessors.entry(from).or_default();
        *predecessors.entry(to).or_default() += 1;
    }
    let nodes: Vec<T> = predecessors.keys().copied().collect();
    let mut ready: VecDeque<T> = nodes.iter().copied().filter(|node| predecessors[node] == 0).collect();
    let mut order = Vec::new();
    while let Some(node) = ready.pop_front() {
        order.push(node);
        for next in successors.get(&node).into_iter().flatten() {
            let left = predecessors.get_mut(next).expect("all nodes are counted");
            *left -= 1;
            if *left == 0 {
                ready.push_back(*next);
            }
        }
    }
    if order.len() == nodes.len() {
        return Ok(order);
    }
    // What is left has a cycle, or hangs behind one.
    let left: BTreeSet<T> = nodes.iter().copied().filter(|node| predecessors[node] > 0).collect();
    let starts = nodes.iter().filter(|node| left.contains(node));
    let cycle = starts.filter_map(|&start| shortest_cycle(start, &successors)).next();
    Err(cycle.expect("a graph without an order has a cycle"))
}

fn shortest_cycle<T: Copy + Ord>(start: T, successors: &BTreeMap<T, Vec<T>>) -> Option<Vec<T>> {
    let mut came_from: BTreeMap<T, T> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for &next in successors.get(&node).into_iter().flatten() {
            if next == start {
                let mut cycle = vec![node];
                while let Some(&previous) = came_from.get(cycle.last().expect("it has its last node")) {
                    cycle.push(previous);
                }
                cycle.reverse();
                return Some(cycle);
            }
            came_from.entry(next).or_insert_with(|| {
                queue.push_back(next);
                node
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use tailback_parameters::{Kind, Value, Values};
    use tailback_topology::{
        AnyTopology, Arrangement, Butterfly, ClusterSize, Dragonfly, FatTree, MultiCluster, SingleSwitch,
    };

    use super::*;
    use crate::{Minimal, ROUTINGS, VcSequence};

    #[test]
    fn orders_and_cycles_are_found() {
        assert_eq!(order(&[(1, 2), (2, 3), (1, 3)]), Ok(vec![1, 2, 3]));
        assert_eq!(order(&[(1, 2), (2, 3), (3, 4), (4, 2), (3, 2)]), Err(vec![2, 3]));
        assert_eq!(order(&[(5, 5)]), Err(vec![5]));
        assert_eq!(order::<u8>(&[]), Ok(vec![]));
    }

    /// One local channel for both ends of a path: the classic mistake in dragonflies.
    #[test]
    fn a_dragonfly_with_one_local_channel_has_a_cycle() {
        let topology = Arc::new(Dragonfly::new(1, 3, 1, 4, Arrangement::Palmtree).unwrap());
        let sequence = VcSequence::parse("l0 g0 l0", &["l", "l?gl?"]).unwrap();
        let routing = Minimal::new(Arc::clone(&topology), sequence);
        let Err(Unproven::Cycle(cycle)) = prove(&routing) else { panic!("the cycle goes unseen") };
        for (index, channel) in cycle.iter().enumerate() {
            let next = cycle[(index + 1) % cycle.len()];
            assert_eq!(channel.to, next.from, "channels of a cycle join: {cycle:?}");
            assert_eq!(channel.vc, 0);
        }
        let lines = Unproven::Cycle(cycle).describe(topology.as_ref());
        assert!(lines[0].contains("local, VC 0") || lines[0].contains("global, VC 0"), "{lines:?}");
    }

    #[test]
    fn a_search_ends_when_it_has_seen_enough_or_nobody_waits_for_it() {
        let topology = Arc::new(Dragonfly::new(4, 8, 4, 33, Arrangement::Palmtree).unwrap());
        let sequence = VcSequence::parse("l0 g0 l0", &["l", "l?gl?"]).unwrap();
        let routing = Minimal::new(topology, sequence);
        assert!(matches!(prove_while(&routing, STATES_MAX, &|| true), Err(Unproven::Cycle(_))));
        assert!(matches!(prove_while(&routing, 100, &|| true), Err(Unproven::TooLarge(_))));
        let asks = std::cell::Cell::new(0);
        let wanted = || asks.replace(asks.get() + 1) < 1;
        assert_eq!(prove_while(&routing, STATES_MAX, &wanted), Err(Unproven::Unwanted));
        assert_eq!(asks.get(), 3, "it was asked twice while it searched, and once at the end");
    }

    fn all_values(model: &crate::RoutingModel) -> Vec<Values> {
        let mut all = vec![Values::default()];
        for parameter in model.parameters {
            let options: Vec<Value> = match parameter.kind {
                Kind::Choice(choices) => choices.iter().map(|c| Value::Text(c.word.to_owned())).collect(),
                Kind::Text => vec![Value::Text(parameter.default.unwrap().trim_matches('"').to_owned())],
                Kind::Integer { .. } => vec![Value::Integer(parameter.default.unwrap().parse::<u64>().unwrap())],
                other => panic!("no values for {other:?}"),
            };
            all = all
                .iter()
                .flat_map(|values| {
                    options.iter().map(move |option| {
                        let mut values = values.clone();
                        values.set(parameter.name, option.clone());
                        values
                    })
                })
                .collect();
        }
        all
    }

    /// For each algorithm and all its choices: it has a proof, following all paths agrees, and it makes only
    /// moves that it has named.
    fn check(topology: &AnyTopology) {
        for model in ROUTINGS.iter().filter(|model| model.topology == topology.graph().name()) {
            for values in all_values(model) {
                let Ok(routing) = (model.build)(topology, &values) else { continue };
                let context = format!("{} on {}", routing.describe(), topology.graph().describe());
                assert!(matches!(prove(routing.as_ref()), Ok(Proof::ByKind(_))), "{context}");
                let opportunities: BTreeSet<_> = routing.opportunities().into_iter().collect();
                if opportunities.is_empty() {
                    assert!(prove_exactly(routing.as_ref()).unwrap().is_ok(), "{context}");
                }
                let waits: BTreeSet<_> = routing.moves().into_iter().collect();
                let named: BTreeSet<_> = waits.union(&opportunities).copied().collect();
                let made = moves_made(routing.as_ref()).unwrap();
                assert!(made.is_subset(&named), "{context} makes {:?}", made.difference(&named));
            }
        }
    }

    /// The escape argument: wherever a packet is that has taken an opportunity, it may wait for a channel that comes later
    /// in the order, or for its destination.
    #[test]
    fn after_an_opportunity_there_is_always_a_later_channel_to_wait_for() {
        // In the second and the third some routers have open ports instead of links to other groups, or nothing else.
        let checked: usize = [(4, 2, 9), (3, 1, 3), (4, 2, 3)].into_iter().map(|(a, h, g)| escapes_in(a, h, g)).sum();
        assert!(checked > 10_000, "only {checked} states were seen");
    }

    /// The number of states of packets that were seen in a dragonfly, by all algorithms that take opportunities.
    fn escapes_in(a: u32, h: u32, g: u32) -> usize {
        let topology = AnyTopology::Dragonfly(Arc::new(Dragonfly::new(1, a, h, g, Arrangement::Palmtree).unwrap()));
        let mut checked = 0;
        for model in ROUTINGS.iter().filter(|model| model.topology == "dragonfly") {
            for values in all_values(model) {
                let Ok(routing) = (model.build)(&topology, &values) else { continue };
                if routing.opportunities().is_empty() {
                    continue;
                }
                let Ok(Proof::ByKind(order)) = prove(routing.as_ref()) else { panic!("there is an order") };
                checked += escapes(routing.as_ref(), &order);
            }
        }
        checked
    }

    /// Follows all paths of all packets; wherever one is, some step leads to a node or to a channel later in the order.
    fn escapes(routing: &dyn Routing, order: &[ChannelKind]) -> usize {
        let graph = routing.topology();
        let rank = |kind: ChannelKind| order.iter().position(|known| *known == kind).expect("channels are ordered");
        let mut seen: BTreeSet<(RouterId, PortVc, Header)> = BTreeSet::new();
        let mut open: Vec<(RouterId, PortVc, Header)> = Vec::new();
        for destination in 0..graph.nodes() {
            let header = Header::new(graph.locator(destination));
            open.extend((0..graph.routers()).map(|router| (router, PortVc { port: 0, vc: 0 }, header)));
        }
        while let Some(state) = open.pop() {
            if !seen.insert(state) {
                continue;
            }
            let (router, entry, header) = state;
            let own = match graph.feeder(router, entry.port) {
                Peer::Router { router: from, port } => {
                    Some(rank(ChannelKind { class: graph.channel_class(from, port), vc: entry.vc }))
                }
                _ => None,
            };
            let mut steps = Vec::new();
            routing.possible(router, entry, header, &mut steps);
            let escapes = |step: &Step| match graph.peer(router, step.port) {
                Peer::Router { .. } => {
                    let next = ChannelKind { class: graph.channel_class(router, step.port), vc: step.vc };
                    own.is_none_or(|own| rank(next) > own)
                }
                Peer::Node(_) => true,
                Peer::Nothing => panic!("router {router} has nothing behind port {}", step.port),
            };
            assert!(steps.iter().any(escapes), "a packet is caught in router {router}: {header:?} by {entry:?}");
            for step in steps {
                if let Peer::Router { router: next, port } = graph.peer(router, step.port) {
                    open.push((next, PortVc { port, vc: step.vc }, step.header));
                }
            }
        }
        seen.len()
    }

    #[test]
    fn a_single_switch_is_free_of_deadlock() {
        check(&AnyTopology::SingleSwitch(Arc::new(SingleSwitch::new(4).unwrap())));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn dragonflies_are_free_of_deadlock(a in 1u32..5, h in 1u32..3, share in 0.0f64..1.0, palmtree in any::<bool>()) {
            let g = 1 + (share * f64::from(a * h)).round() as u32;
            let arrangement = if palmtree { Arrangement::Palmtree } else { Arrangement::Absolute };
            check(&AnyTopology::Dragonfly(Arc::new(Dragonfly::new(1, a, h, g, arrangement).unwrap())));
        }

        #[test]
        fn fat_trees_are_free_of_deadlock(
            children in prop::collection::vec(1u32..4, 1..5), parents in prop::collection::vec(1u32..4, 4),
            parallel in prop::collection::vec(1u32..3, 4),
        ) {
            let upper = children.len() - 1;
            let tree = FatTree::new(&children, &parents[..upper], &parallel[..upper]).unwrap();
            check(&AnyTopology::FatTree(Arc::new(tree)));
        }

        #[test]
        fn multi_clusters_are_free_of_deadlock(
            leaves in prop::collection::vec(1u32..4, 1..13), channels in prop::collection::vec(1u32..4, 12),
        ) {
            let size = |leaves| ClusterSize { nodes_per_leaf: 1, leaves, spines: 2 };
            let sizes: Vec<ClusterSize> = leaves.into_iter().map(size).collect();
            let joints = if sizes.len() > 2 { sizes.len() } else { sizes.len() - 1 };
            let topology = MultiCluster::new(&sizes, &channels[..joints], 6).unwrap();
            check(&AnyTopology::MultiCluster(Arc::new(topology)));
        }

        #[test]
        fn butterflies_are_free_of_deadlock((k, n) in prop_oneof![(1u32..4, 1u32..5), (4u32..7, 1u32..3)]) {
            check(&AnyTopology::Butterfly(Arc::new(Butterfly::new(k, n).unwrap())));
        }
    }
}
