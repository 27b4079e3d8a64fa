//! Virtual channels for packets that take the paths of others in reverse.
//!
//! Such a packet does not ask a routing agent, but it makes only moves that the algorithm of its traffic class has named: in each
//! router it takes the first virtual channel that one of [`Routing::moves`] leads to. Where the kinds of channels have an order, the
//! proof that nothing waits in a circle holds for it as well. Whether there is such a move wherever a path can lead is found out
//! once, by following all sequences of kinds of channels that paths can have, backwards.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use tailback_topology::{Peer, Port, RouterId, Topology};

use crate::deadlock::order;
use crate::{ChannelKind, Routing};

/// The virtual channels of packets of a traffic class that take paths in reverse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReverseChannels {
    /// By the channel that a packet holds, if any, and the class of the next one.
    vcs: BTreeMap<(Option<ChannelKind>, u8), u8>,
}

/// Why paths cannot be taken in reverse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Irreversible {
    /// What comes in by a port of a router does not come from where the port leads.
    OneWay(RouterId, Port),
    /// The kinds of channels of one of the two algorithms have a cycle.
    Cycle(Vec<ChannelKind>),
    /// A packet that holds a channel of one kind has no channel of a class to go on by.
    NoChannel(ChannelKind, u8),
    /// A path can have so many routers.
    TooLong(usize),
}

impl fmt::Display for Irreversible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneWay(router, port) => write!(f, "the link at port {port} of router {router} leads one way only"),
            Self::Cycle(kinds) => write!(f, "{} kinds of channels have no order in which paths use them", kinds.len()),
            Self::NoChannel(held, class) => write!(
                f,
                "a packet on virtual channel {} of channel class {} finds no virtual channel of class {class} to go on by",
                held.vc, held.class
            ),
            Self::TooLong(routers) => write!(f, "a path can have {routers} routers, which are too many to be recorded"),
        }
    }
}

impl ReverseChannels {
    /// Those for packets that `back` routes in other cases, on paths of at most `routers_max` routers that packets take which `forth`
    /// routes.
    ///
    /// # Errors
    /// When some path cannot be taken in reverse, or it cannot be shown that packets do not wait in a circle then.
    pub fn new(forth: &dyn Routing, back: &dyn Routing, routers_max: usize) -> Result<Self, Irreversible> {
        let reversed = reversed_classes(forth.topology().as_ref())?;
        let moves = back.moves();
        order(&moves).map_err(Irreversible::Cycle)?;
        let channels = Self::of(&moves, reversed.keys().copied());
        let mut edges = forth.moves();
        edges.extend(forth.opportunities());
        let order = order(&edges).map_err(Irreversible::Cycle)?;
        let longest = forth.path_routers_max().unwrap_or_else(|| routers_in_order(&edges, &order));
        if longest > routers_max {
            return Err(Irreversible::TooLong(longest));
        }
        channels.check(&edges, &order, &reversed).map(|()| channels)
    }

    /// The first channels that moves lead to. Packets start by the first channel of each class.
    fn of(moves: &[(ChannelKind, ChannelKind)], classes: impl Iterator<Item = u8>) -> Self {
        let mut vcs: BTreeMap<(Option<ChannelKind>, u8), u8> = BTreeMap::new();
        let mut allow = |held: Option<ChannelKind>, to: ChannelKind| {
            let vc = vcs.entry((held, to.class)).or_insert(to.vc);
            *vc = to.vc.min(*vc);
        };
        for &(from, to) in moves {
            allow(Some(from), to);
            allow(None, from);
            allow(None, to);
        }
        for class in classes {
            vcs.entry((None, class)).or_insert(0); // nothing ever goes on from there
        }
        Self { vcs }
    }

    /// The virtual channel of a class that a packet takes next, which holds some channel or has just started.
    #[must_use]
    pub fn next(&self, held: Option<ChannelKind>, class: u8) -> Option<u8> {
        self.vcs.get(&(held, class)).copied()
    }

    /// Follows all sequences of kinds of channels backwards.
    fn check(
        &self,
        edges: &[(ChannelKind, ChannelKind)],
        kinds: &[ChannelKind],
        reversed: &BTreeMap<u8, BTreeSet<u8>>,
    ) -> Result<(), Irreversible> {
        let classes = |kind: ChannelKind| reversed.get(&kind.class).into_iter().flatten().copied();
        let starts = kinds.iter().flat_map(|&kind| classes(kind).map(move |class| (kind, class)));
        let start = |(kind, class)| self.next(None, class).map(|vc| (kind, ChannelKind { class, vc }));
        let mut waiting: Vec<(ChannelKind, ChannelKind)> = starts.filter_map(start).collect();
        let mut seen: BTreeSet<_> = waiting.iter().copied().collect();
        while let Some((forth, held)) = waiting.pop() {
            for &(before, _) in edges.iter().filter(|edge| edge.1 == forth) {
                for class in classes(before) {
                    let vc = self.next(Some(held), class).ok_or(Irreversible::NoChannel(held, class))?;
                    let next = (before, ChannelKind { class, vc });
                    if seen.insert(next) {
                        waiting.push(next);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The most routers that a packet meets if it goes through kinds of channels in their order.
fn routers_in_order(edges: &[(ChannelKind, ChannelKind)], order: &[ChannelKind]) -> usize {
    let mut links: BTreeMap<ChannelKind, usize> = BTreeMap::new();
    for to in order {
        let before = edges.iter().filter(|edge| edge.1 == *to).map(|edge| links[&edge.0]).max();
        links.insert(*to, before.unwrap_or(0) + 1);
    }
    links.values().max().unwrap_or(&1) + 1
}

/// By class of channels between routers, the classes of those that lead the other way.
fn reversed_classes(topology: &dyn Topology) -> Result<BTreeMap<u8, BTreeSet<u8>>, Irreversible> {
    let mut reversed: BTreeMap<u8, BTreeSet<u8>> = BTreeMap::new();
    for router in 0..topology.routers() {
        for port in 0..topology.ports(router) {
            let port = port as Port;
            let peer = topology.peer(router, port);
            if peer != topology.feeder(router, port) {
                return Err(Irreversible::OneWay(router, port));
            }
            if let Peer::Router { router: far, port: far_port } = peer {
                let class = topology.channel_class(router, port);
                reversed.entry(class).or_default().insert(topology.channel_class(far, far_port));
            }
        }
    }
    Ok(reversed)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tailback_topology::{Arrangement, Butterfly, ClusterSize, Dragonfly, FatTree, MultiCluster};

    use super::*;
    use crate::{ChannelChoice, ClusterRing, DestinationTag, Minimal, NearestCommonAncestor, UpChoice, VcSequence};

    fn minimal(vcs: &str) -> Minimal {
        let topology = Arc::new(Dragonfly::new(1, 3, 1, 4, Arrangement::Palmtree).unwrap());
        Minimal::new(topology, VcSequence::parse(vcs, &["l", "l?gl?"]).unwrap())
    }

    #[test]
    fn a_path_in_reverse_uses_channels_in_the_order_of_its_own_hops() {
        let routing = minimal("l0 g0 l1");
        let channels = ReverseChannels::new(&routing, &routing, 4).unwrap();
        let (local, global) = (1, 2);
        let held = |class, vc| Some(ChannelKind { class, vc });
        // Also of a path that has only the last two hops of the sequence, or the first two.
        assert_eq!((channels.next(None, local), channels.next(None, global)), (Some(0), Some(0)));
        assert_eq!(channels.next(held(local, 0), global), Some(0));
        assert_eq!(channels.next(held(global, 0), local), Some(1));
        assert_eq!(channels.next(held(local, 1), global), None);
        assert_eq!(ReverseChannels::new(&routing, &routing, 3), Err(Irreversible::TooLong(4)));
    }

    #[test]
    fn paths_round_a_ring_of_sixteen_clusters_go_through_nine() {
        let size = ClusterSize { nodes_per_leaf: 2, leaves: 2, spines: 2 };
        let topology = Arc::new(MultiCluster::equal(16, size, 1, 1).unwrap());
        let routing = ClusterRing::new(topology, ChannelChoice::Spread);
        assert!(ReverseChannels::new(&routing, &routing, 27).is_ok());
        assert_eq!(ReverseChannels::new(&routing, &routing, 26), Err(Irreversible::TooLong(27)));
    }

    #[test]
    fn trees_are_reversible_and_one_way_links_and_cycles_are_not() {
        let tree = Arc::new(FatTree::k_ary_n_tree(3, 3).unwrap());
        let routing = NearestCommonAncestor::new(tree, UpChoice::Random, 2);
        assert!(ReverseChannels::new(&routing, &routing, 5).is_ok());
        let routing = DestinationTag::new(Arc::new(Butterfly::new(2, 3).unwrap()), 1);
        let one_way = ReverseChannels::new(&routing, &routing, 15).unwrap_err();
        assert!(
            matches!(one_way, Irreversible::OneWay(..)) && one_way.to_string().contains("one way only"),
            "{one_way}"
        );
        let routing = minimal("l0 g0 l0");
        let cycle = ReverseChannels::new(&routing, &routing, 15).unwrap_err();
        assert!(matches!(cycle, Irreversible::Cycle(_)), "{cycle}");
    }
}
