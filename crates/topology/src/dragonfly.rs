//! The dragonfly: groups of fully connected routers, joined by global links.
//!
//! A group has `a` routers, each with `p` nodes and `h` global links, so `a·h` global links leave it. They
//! are numbered by their offset `router·h + port`. With `g = a·h + 1` groups there is exactly one link
//! between any two groups. With fewer groups the offsets are filled in rows: a full row holds one link to
//! each other group, the last row may be partial and then joins each group to those at a chosen set of
//! distances around the ring of groups, the same for all groups and spread as evenly as it goes.

use crate::{
    LinkClass, Locator, NODES_MAX, NodeId, Peer, Port, RADIX_MAX, RouterId, Topology, TopologyError, at_most, in_range,
    radix_fits,
};

/// How the offsets of a row are dealt out to the other groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// The `i`-th offset leads `i + 1` groups back, the far end is the `i`-th from the end: consecutive
    /// offsets of a router lead to consecutive groups, on both sides (Camarero et al.).
    Palmtree,
    /// The offsets lead to the other groups in ascending order of their numbers.
    Absolute,
}

/// One end of a global link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalLink {
    /// The router inside its group.
    pub router: u32,
    /// The port of that router.
    pub port: Port,
}

/// A dragonfly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dragonfly {
    p: u32,
    a: u32,
    h: u32,
    g: u32,
    arrangement: Arrangement,
    /// The distances that the partial last row joins, ascending; closed under `d → g - d`.
    partial_row: Vec<u32>,
}

impl Dragonfly {
    /// Links inside a group.
    pub const LOCAL: LinkClass = LinkClass(1);
    /// Links between groups.
    pub const GLOBAL: LinkClass = LinkClass(2);

    /// A dragonfly of `g` groups of `a` routers, each with `p` nodes and `h` global links.
    ///
    /// # Errors
    /// When there are more groups than can be joined, routers need too many ports, or there is too much of it.
    pub fn new(p: u32, a: u32, h: u32, g: u32, arrangement: Arrangement) -> Result<Self, TopologyError> {
        in_range("p", p, 1, RADIX_MAX)?;
        in_range("a", a, 1, RADIX_MAX)?;
        in_range("h", h, u32::from(g > 1), RADIX_MAX)?;
        in_range("g", g, 1, 1 << 16)?;
        radix_fits(u64::from(p) + u64::from(a) - 1 + u64::from(h))?;
        let links = u64::from(a) * u64::from(h);
        if u64::from(g) > links + 1 {
            return Err(TopologyError::TooManyGroups { groups: g.into(), links });
        }
        at_most("nodes", u64::from(p) * u64::from(a) * u64::from(g), NODES_MAX)?;
        let partial_row = if g > 1 { partial_row(g, links as u32 % (g - 1)) } else { Vec::new() };
        Ok(Self { p, a, h, g, arrangement, partial_row })
    }

    /// Nodes per router.
    #[must_use]
    pub fn nodes_per_router(&self) -> u32 {
        self.p
    }

    /// Routers per group.
    #[must_use]
    pub fn routers_per_group(&self) -> u32 {
        self.a
    }

    /// Global links per router.
    #[must_use]
    pub fn global_links_per_router(&self) -> u32 {
        self.h
    }

    /// Groups.
    #[must_use]
    pub fn groups(&self) -> u32 {
        self.g
    }

    /// The group of a router, and its number inside the group.
    #[must_use]
    pub fn position(&self, router: RouterId) -> (u32, u32) {
        (router / self.a, router % self.a)
    }

    /// The router `in_group` of `group`.
    #[must_use]
    pub fn router_at(&self, group: u32, in_group: u32) -> RouterId {
        group * self.a + in_group
    }

    /// The port of the router at `from` that leads to the router at `to` of the same group.
    #[must_use]
    pub fn local_port(&self, from: u32, to: u32) -> Port {
        debug_assert!(from != to && from < self.a && to < self.a);
        (self.p + if to < from { to } else { to - 1 }) as Port
    }

    /// The links from `from` to `to`, by ascending offset.
    #[must_use]
    pub fn global_links(&self, from: u32, to: u32) -> Vec<GlobalLink> {
        let offsets = (0..self.rows()).filter_map(|row| self.offset_towards(row, from, to));
        offsets.map(|offset| GlobalLink { router: offset / self.h, port: self.global_port(offset) }).collect()
    }

    /// Whether several links lead from some group to another one.
    #[must_use]
    pub fn joins_groups_by_several_links(&self) -> bool {
        self.rows() > 1
    }

    /// The classes of the links of a shortest path.
    #[must_use]
    pub fn shortest_path(&self, from: RouterId, to: RouterId) -> Vec<LinkClass> {
        let ((g1, r1), (g2, r2)) = (self.position(from), self.position(to));
        if g1 == g2 {
            return if r1 == r2 { Vec::new() } else { vec![Self::LOCAL] };
        }
        let paths = (0..self.rows()).filter_map(|row| {
            let near = self.offset_towards(row, g1, g2)?;
            let far = self.offset_towards(row, g2, g1)?;
            Some((near / self.h != r1, far / self.h != r2))
        });
        let local_links = |&(before, after): &(bool, bool)| u32::from(before) + u32::from(after);
        // Two groups that the partial row does not join are still joined by every full one.
        let (before, after) = paths.min_by_key(local_links).expect("there is at least one full row");
        let local = |there: bool| there.then_some(Self::LOCAL);
        local(before).into_iter().chain([Self::GLOBAL]).chain(local(after)).collect()
    }

    /// Takes the address of a node apart: its group, the number of its router in the group, its port there.
    #[must_use]
    pub fn locate(locator: Locator) -> (u32, u32, Port) {
        (locator.0 >> 16, locator.0 >> 8 & 0xff, locator.0 as Port)
    }

    fn global_port(&self, offset: u32) -> Port {
        (self.p + self.a - 1 + offset % self.h) as Port
    }

    /// The number of rows, the partial one included.
    fn rows(&self) -> u32 {
        if self.g == 1 {
            return 0;
        }
        self.full_rows() + u32::from(!self.partial_row.is_empty())
    }

    fn full_rows(&self) -> u32 {
        self.a * self.h / (self.g - 1)
    }

    /// The offset of the link in `row` that leads from group `from` to group `to`.
    fn offset_towards(&self, row: u32, from: u32, to: u32) -> Option<u32> {
        if from == to {
            return None;
        }
        let back = (from + self.g - to) % self.g;
        let index = if row < self.full_rows() {
            match self.arrangement {
                Arrangement::Palmtree => back - 1,
                Arrangement::Absolute => to - u32::from(to > from),
            }
        } else {
            let rank = self.partial_row.binary_search(&back).ok()? as u32;
            match self.arrangement {
                Arrangement::Palmtree => rank,
                Arrangement::Absolute => self.partial_peer_rank(from, rank),
            }
        };
        Some(row * (self.g - 1) + index)
    }

    /// The group that `offset` of group `from` leads to, if any, and the row of that link.
    fn across(&self, from: u32, offset: u32) -> Option<(u32, u32)> {
        let (row, index) = (offset / (self.g - 1), offset % (self.g - 1));
        let to = if row < self.full_rows() {
            match self.arrangement {
                Arrangement::Palmtree => (from + self.g - index - 1) % self.g,
                Arrangement::Absolute => index + u32::from(index >= from),
            }
        } else {
            match self.arrangement {
                Arrangement::Palmtree => (from + self.g - self.partial_row.get(index as usize)?) % self.g,
                Arrangement::Absolute if index as usize >= self.partial_row.len() => return None,
                Arrangement::Absolute => {
                    // Which number of the row has a rank is found like the rank of a number: both are the same turn and reversal.
                    let place = self.partial_peer_rank(from, index);
                    (from + self.g - self.partial_row[place as usize]) % self.g
                }
            }
        };
        Some((to, row))
    }

    /// Where the group that is the `place`-th distance of the partial row before `group` is among all that the row joins it to, in ascending
    /// order: those up to `group` with the largest distance first, then those that are counted round.
    fn partial_peer_rank(&self, group: u32, place: u32) -> u32 {
        let split = self.partial_row.partition_point(|&back| back <= group) as u32;
        if place < split { split - 1 - place } else { split + self.partial_row.len() as u32 - 1 - place }
    }
}

/// `count` distances out of `1..g`, or one fewer when that cannot be symmetric, closed under `d → g - d`
/// and spread evenly.
fn partial_row(g: u32, count: u32) -> Vec<u32> {
    let half = (g - 1) / 2; // distances below g/2 come in pairs {d, g - d}
    let with_opposite = g.is_multiple_of(2) && !count.is_multiple_of(2);
    let pairs = count / 2;
    let mut row: Vec<u32> = (0..pairs).map(|i| 1 + i * half / pairs.max(1)).flat_map(|d| [d, g - d]).collect();
    if with_opposite {
        row.push(g / 2);
    }
    row.sort_unstable();
    row
}

impl Topology for Dragonfly {
    fn name(&self) -> &'static str {
        "dragonfly"
    }

    fn describe(&self) -> String {
        let arrangement = match self.arrangement {
            Arrangement::Palmtree => "palmtree",
            Arrangement::Absolute => "absolute",
        };
        format!("dragonfly with p={} a={} h={} g={}, {arrangement} arrangement", self.p, self.a, self.h, self.g)
    }

    fn nodes(&self) -> u32 {
        self.p * self.routers()
    }

    fn routers(&self) -> u32 {
        self.a * self.g
    }

    fn ports(&self, _router: RouterId) -> u32 {
        self.radix()
    }

    fn radix(&self) -> u32 {
        self.p + self.a - 1 + self.h
    }

    fn peer(&self, router: RouterId, port: Port) -> Peer {
        let (group, in_group) = self.position(router);
        let port = u32::from(port);
        if port < self.p {
            return Peer::Node(router * self.p + port);
        }
        if port < self.p + self.a - 1 {
            let index = port - self.p;
            let other = index + u32::from(index >= in_group);
            return Peer::Router { router: self.router_at(group, other), port: self.local_port(other, in_group) };
        }
        if self.g == 1 {
            return Peer::Nothing;
        }
        let offset = in_group * self.h + (port - self.p - (self.a - 1));
        let Some((to, row)) = self.across(group, offset) else { return Peer::Nothing };
        let far = self.offset_towards(row, to, group).expect("rows are symmetric");
        Peer::Router { router: self.router_at(to, far / self.h), port: self.global_port(far) }
    }

    fn link_class(&self, _router: RouterId, port: Port) -> LinkClass {
        match u32::from(port) {
            port if port < self.p => LinkClass::TERMINAL,
            port if port < self.p + self.a - 1 => Self::LOCAL,
            _ => Self::GLOBAL,
        }
    }

    fn link_classes(&self) -> &[&'static str] {
        &["terminal", "local", "global"]
    }

    fn attachment(&self, node: NodeId) -> (RouterId, Port) {
        (node / self.p, (node % self.p) as Port)
    }

    fn locator(&self, node: NodeId) -> Locator {
        let (router, port) = self.attachment(node);
        let (group, in_group) = self.position(router);
        Locator(group << 16 | in_group << 8 | u32::from(port))
    }

    fn distance(&self, from: RouterId, to: RouterId) -> u32 {
        self.shortest_path(from, to).len() as u32
    }

    fn domains(&self) -> u32 {
        self.g
    }

    fn domain(&self, router: RouterId) -> u32 {
        router / self.a
    }

    fn channel_class(&self, router: RouterId, port: Port) -> u8 {
        self.link_class(router, port).0
    }

    fn channel_class_name(&self, class: u8) -> String {
        self.link_classes()[usize::from(class)].to_owned()
    }

    fn router_name(&self, router: RouterId) -> String {
        let (group, in_group) = self.position(router);
        format!("router {router} (group {group}, place {in_group})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_palmtree_of_the_literature() {
        let topology = Dragonfly::new(2, 4, 2, 9, Arrangement::Palmtree).unwrap();
        assert_eq!((topology.nodes(), topology.routers(), topology.radix()), (72, 36, 7));
        for group in 0..9 {
            for offset in 0..8 {
                let port = 2 + 3 + (offset % 2) as Port;
                let peer = topology.peer(group * 4 + offset / 2, port);
                let (to, far) = ((group + 9 - (offset + 1)) % 9, 7 - offset);
                assert_eq!(peer, Peer::Router { router: to * 4 + far / 2, port: 5 + (far % 2) as Port });
            }
        }
    }

    #[test]
    fn the_absolute_arrangement() {
        let topology = Dragonfly::new(2, 4, 2, 9, Arrangement::Absolute).unwrap();
        for group in 0..9u32 {
            for index in 0..8u32 {
                let to = if index < group { index } else { index + 1 };
                assert_eq!(
                    topology.global_links(group, to),
                    [GlobalLink { router: index / 2, port: 5 + (index % 2) as Port }]
                );
            }
        }
    }

    /// The links of a row that does not reach all groups as well.
    #[test]
    fn links_of_a_row_lead_to_groups_in_ascending_order() {
        for (a, h, g) in [(4, 2, 6), (8, 4, 10), (6, 3, 12), (4, 4, 13), (24, 3, 50)] {
            let topology = Dragonfly::new(1, a, h, g, Arrangement::Absolute).unwrap();
            let in_row = topology.partial_row.len() as u32;
            assert!(in_row > 1, "a={a} h={h} g={g}");
            for group in 0..g {
                let first = topology.full_rows() * (g - 1);
                let offsets = first..first + in_row;
                let peers: Vec<u32> =
                    offsets.clone().map(|offset| topology.across(group, offset).expect("it leads on").0).collect();
                assert!(peers.is_sorted_by(|one, next| one < next) && !peers.contains(&group), "{peers:?}");
                let places = peers.iter().map(|&to| topology.offset_towards(topology.full_rows(), group, to));
                assert!(places.eq(offsets.map(Some)));
                assert_eq!(topology.across(group, first + in_row), None);
            }
        }
    }

    #[test]
    fn parallel_links_are_spread_evenly() {
        for (a, h, g) in [(4, 2, 3), (4, 2, 4), (8, 4, 10), (8, 4, 7), (6, 3, 6), (4, 4, 13), (2, 1, 2), (3, 1, 2)] {
            for arrangement in [Arrangement::Palmtree, Arrangement::Absolute] {
                let topology = Dragonfly::new(1, a, h, g, arrangement).unwrap();
                let counts: Vec<usize> = (0..g)
                    .flat_map(|x| (0..g).filter(move |&y| y != x).map(move |y| (x, y)))
                    .map(|(x, y)| topology.global_links(x, y).len())
                    .collect();
                let (min, max) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
                assert!(max - min <= 1, "a={a} h={h} g={g}: from {min} to {max} links");
                let open = (a * h * g) as usize - counts.iter().sum::<usize>();
                assert!(open <= g as usize, "a={a} h={h} g={g}: {open} open ports");
            }
        }
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let error = |p, a, h, g| Dragonfly::new(p, a, h, g, Arrangement::Palmtree).unwrap_err().to_string();
        assert_eq!(
            error(2, 4, 2, 10),
            "10 groups cannot be joined: a group has a·h = 8 global links and reaches at most 9 groups"
        );
        assert_eq!(error(100, 100, 100, 2), "a router would need 299 ports, the limit is 256");
        assert_eq!(error(0, 4, 2, 9), "p = 0 is outside 1..=256");
        assert_eq!(error(1, 4, 0, 2), "h = 0 is outside 1..=256");
    }
}
