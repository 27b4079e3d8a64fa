//! Where non-minimal paths lead: which intermediate groups, routers or nodes there are for a packet, and how one is drawn.
//!
//! A non-minimal path leads to a group, to a router, or to the router of a node; nobody leaves the network on the way, whichever it
//! is. So a node differs from a router in the chances only: routers are all equally likely, while of the nodes the source
//! and the destination of the packet are left out, and with them a part of the chance of their routers, or all of it where
//! a router has one node.

use std::ops::Range;

use tailback_parameters::{BuildError, Choice, Kind, Parameter, Values};
use tailback_random::Stream;
use tailback_topology::{Dragonfly, Topology};

use super::local_routes::LocalRoutes;
use crate::{Header, PortVc};

/// How far a packet follows its non-minimal path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValiantTarget {
    /// Until it is in the intermediate group.
    Group,
    /// Until it is at the intermediate router.
    Router,
    /// Until it is at the router of the intermediate node.
    Node,
}

/// What intermediate groups, routers and nodes are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intermediates {
    /// The whole network. Groups and routers include those of source and destination; nodes do not.
    Anywhere,
    /// All groups but the source's.
    OtherGroups,
    /// All groups but the source's; for packets that stay in their group, that group.
    LikeDestination,
}

/// How far non-minimal paths are followed.
pub(super) const TARGET: Parameter = Parameter {
    name: "target",
    kind: Kind::Choice(&[
        Choice { word: "router", help: "to a random router" },
        Choice { word: "group", help: "to a random group, whatever the router" },
        Choice { word: "node", help: "to the router of a random node that is neither source nor destination" },
    ]),
    default: Some("\"router\""),
    help: "how far a non-minimal path leads before it turns to the destination",
};

/// The parameter that says what they are drawn from.
pub(super) const INTERMEDIATES: Parameter = Parameter {
    name: "intermediates",
    kind: Kind::Choice(&[
        Choice { word: "other-groups", help: "all groups but the source's" },
        Choice {
            word: "anywhere",
            help: "the whole network; groups and routers may be those of source and destination",
        },
        Choice { word: "like-destination", help: "all groups but the source's; inside a group, that group" },
    ]),
    default: Some("\"other-groups\""),
    help: "where the intermediate group, router or node of a non-minimal path is drawn from",
};

/// Where packets on non-minimal paths turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntermediateChoice {
    pub(super) target: ValiantTarget,
    pub(super) intermediates: Intermediates,
}

impl IntermediateChoice {
    /// As [`TARGET`] and [`INTERMEDIATES`] say.
    pub(super) fn build(topology: &Dragonfly, values: &Values) -> Result<Self, BuildError> {
        let target = match values.text(TARGET.name) {
            "group" => ValiantTarget::Group,
            "node" => ValiantTarget::Node,
            _ => ValiantTarget::Router,
        };
        Self::to(target, topology, values)
    }

    /// As [`INTERMEDIATES`] says.
    pub(super) fn to(target: ValiantTarget, topology: &Dragonfly, values: &Values) -> Result<Self, BuildError> {
        let intermediates = match values.text(INTERMEDIATES.name) {
            "anywhere" => Intermediates::Anywhere,
            "like-destination" => Intermediates::LikeDestination,
            _ => Intermediates::OtherGroups,
        };
        if intermediates != Intermediates::Anywhere && topology.groups() < 2 {
            return Err(BuildError::at(INTERMEDIATES.name, "there is only one group, so no intermediate one")
                .help("use `anywhere`, or more groups"));
        }
        let choice = Self { target, intermediates };
        if target == ValiantTarget::Node && choice.nodes_min(topology) < 1 {
            let source = "a packet may find no intermediate node beside its source and its destination";
            return Err(BuildError::at(TARGET.name, source).help("use `router`, or more nodes"));
        }
        Ok(choice)
    }

    /// How many intermediate nodes a packet can choose from that has the fewest.
    fn nodes_min(self, topology: &Dragonfly) -> i64 {
        let (nodes, group) = (i64::from(topology.nodes()), i64::from(nodes_per_group(topology)));
        match self.intermediates {
            Intermediates::Anywhere => nodes - 2,
            Intermediates::OtherGroups => nodes - group - 1,
            Intermediates::LikeDestination => (nodes - group - 1).min(group - 2),
        }
    }

    /// Draws where a packet that came in by `entry` from its source shall turn: a group and a router in it.
    pub(super) fn draw(self, routes: &LocalRoutes, entry: PortVc, header: &Header, random: &mut Stream) -> (u32, u32) {
        if self.target == ValiantTarget::Node {
            return self.draw_node(routes, entry, header, random);
        }
        let topology = &routes.tables.topology;
        let (destination, _, _) = Dragonfly::locate(header.destination());
        let group = match self.intermediates {
            Intermediates::Anywhere => random.below(topology.groups()),
            Intermediates::LikeDestination if destination == routes.group => destination,
            _ => {
                let other = random.below(topology.groups() - 1);
                other + u32::from(other >= routes.group)
            }
        };
        let in_group = match self.target {
            ValiantTarget::Group => 0,
            _ => random.below(topology.routers_per_group()),
        };
        (group, in_group)
    }

    /// Draws a node, and returns where its router is.
    fn draw_node(self, routes: &LocalRoutes, entry: PortVc, header: &Header, random: &mut Stream) -> (u32, u32) {
        let topology = &routes.tables.topology;
        let (p, group_nodes) = (topology.nodes_per_router(), nodes_per_group(topology));
        let node = |group, in_group, port| topology.router_at(group, in_group) * p + u32::from(port);
        let group = |group: u32| group * group_nodes..(group + 1) * group_nodes;
        let source = node(routes.group, routes.in_group, entry.port);
        let (destination_group, in_group, port) = Dragonfly::locate(header.destination());
        let destination = node(destination_group, in_group, port);
        let [source, destination] = [source, destination].map(|node| node..node + 1);
        let (among, except) = match self.intermediates {
            Intermediates::Anywhere => (0..topology.nodes(), [source, destination]),
            Intermediates::LikeDestination if destination_group == routes.group => {
                (group(routes.group), [source, destination])
            }
            _ => (0..topology.nodes(), [group(routes.group), destination]),
        };
        let except = disjoint(except);
        let left_out: u32 = except.iter().map(|span| span.end - span.start).sum();
        let drawn = random.below(among.end - among.start - left_out);
        topology.position(nth_outside(among.start + drawn, &except) / p)
    }

    /// How it is called.
    pub(super) fn describe(self) -> String {
        let target = match self.target {
            ValiantTarget::Group => "group",
            ValiantTarget::Router => "router",
            ValiantTarget::Node => "node",
        };
        let from = match self.intermediates {
            Intermediates::Anywhere => "anywhere",
            Intermediates::OtherGroups => "the other groups",
            Intermediates::LikeDestination => "the other groups, or the own one for packets that stay in it",
        };
        format!("a random {target} from {from}")
    }
}

fn nodes_per_group(topology: &Dragonfly) -> u32 {
    topology.nodes_per_router() * topology.routers_per_group()
}

/// Two spans, of which one may contain the other, in ascending order and without what is in both.
fn disjoint([mut first, mut second]: [Range<u32>; 2]) -> [Range<u32>; 2] {
    if (second.start, first.end) < (first.start, second.end) {
        std::mem::swap(&mut first, &mut second);
    }
    if second.start < first.end {
        second = first.end..first.end;
    }
    [first, second]
}

/// What becomes of a number when those in the spans are skipped.
fn nth_outside(number: u32, skipped: &[Range<u32>; 2]) -> u32 {
    skipped
        .iter()
        .fold(number, |number, span| if number >= span.start { number + (span.end - span.start) } else { number })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use proptest::prelude::*;
    use tailback_topology::Arrangement;

    use super::super::local_routes::RouteTables;
    use super::*;
    use crate::VcSequence;

    fn tables(p: u32, a: u32, h: u32) -> Arc<RouteTables> {
        let topology = Arc::new(Dragonfly::new(p, a, h, a * h + 1, Arrangement::Palmtree).expect("it exists"));
        Arc::new(RouteTables::new(topology, VcSequence::parse("l0", &[]).expect("a channel is a sequence")))
    }

    proptest! {
        #[test]
        fn numbers_outside_two_spans_are_counted_through(
            start in 0u32..20, lengths in prop::array::uniform2(0u32..9), offset in 0u32..30, inside in any::<bool>(),
        ) {
            let first = start..start + lengths[0];
            let second = match inside {
                true => first.start + lengths[0] / 3..first.end - lengths[0] / 3,
                false => first.end + offset..first.end + offset + lengths[1],
            };
            let outside: Vec<u32> = (0..90).filter(|n| !first.contains(n) && !second.contains(n)).collect();
            for spans in [[first.clone(), second.clone()], [second, first]] {
                let skipped = disjoint(spans);
                for (number, &expected) in outside.iter().enumerate() {
                    prop_assert_eq!(nth_outside(number as u32, &skipped), expected);
                }
            }
        }
    }

    /// How often each router of a dragonfly with two nodes per router is drawn by packets from node 0 to `destination`, for
    /// each node that may be drawn.
    fn draws(intermediates: Intermediates, destination: u32) -> BTreeMap<u32, f64> {
        const DRAWS_PER_NODE: f64 = 500.0;
        let tables = tables(2, 2, 1);
        let choice = IntermediateChoice { target: ValiantTarget::Node, intermediates };
        let (entry, header) = (PortVc { port: 0, vc: 0 }, Header::new(tables.topology.locator(destination)));
        let nodes = match intermediates {
            Intermediates::LikeDestination if destination < 4 => 2.0,
            Intermediates::Anywhere => 10.0,
            _ => {
                if destination < 4 {
                    8.0
                } else {
                    7.0
                }
            }
        };
        let mut random = Stream::new(5, 0, 0);
        let mut found = BTreeMap::new();
        for _ in 0..(nodes * DRAWS_PER_NODE) as u32 {
            let (group, in_group) = choice.draw(&tables.routes(0), entry, &header, &mut random);
            *found.entry(tables.topology.router_at(group, in_group)).or_default() += 1.0 / DRAWS_PER_NODE;
        }
        found
    }

    /// Three groups of two routers of two nodes each: each node but source and destination is as likely as any other.
    #[test]
    fn all_nodes_but_source_and_destination_are_equally_likely() {
        let cases = [
            (Intermediates::Anywhere, 11, vec![(0, 1.0), (1, 2.0), (2, 2.0), (3, 2.0), (4, 2.0), (5, 1.0)]),
            (Intermediates::Anywhere, 1, vec![(1, 2.0), (2, 2.0), (3, 2.0), (4, 2.0), (5, 2.0)]),
            (Intermediates::OtherGroups, 5, vec![(2, 1.0), (3, 2.0), (4, 2.0), (5, 2.0)]),
            (Intermediates::OtherGroups, 2, vec![(2, 2.0), (3, 2.0), (4, 2.0), (5, 2.0)]),
            (Intermediates::LikeDestination, 2, vec![(0, 1.0), (1, 1.0)]),
            (Intermediates::LikeDestination, 5, vec![(2, 1.0), (3, 2.0), (4, 2.0), (5, 2.0)]),
        ];
        for (intermediates, destination, expected) in cases {
            let found = draws(intermediates, destination);
            assert_eq!(found.len(), expected.len(), "{intermediates:?} to node {destination}: {found:?}");
            for (router, nodes) in expected {
                let off = (found[&router] - nodes).abs();
                assert!(off < 0.2, "{intermediates:?} to node {destination}: {found:?}");
            }
        }
    }

    #[test]
    fn there_must_be_a_node_to_go_by() {
        let build = |p, a, h, word: &str| {
            let mut values = Values::default();
            values.set("target", tailback_parameters::Value::Text("node".to_owned()));
            values.set("intermediates", tailback_parameters::Value::Text(word.to_owned()));
            IntermediateChoice::build(&tables(p, a, h).topology, &values)
        };
        assert!(build(1, 1, 1, "anywhere").is_err() && build(2, 1, 1, "anywhere").is_ok());
        assert!(build(1, 1, 1, "other-groups").is_err() && build(2, 1, 1, "other-groups").is_ok());
        assert!(build(2, 1, 1, "like-destination").is_err() && build(3, 1, 1, "like-destination").is_ok());
    }
}
