//! Fat trees: k-ary n-trees, two-level trees, and everything between.
//!
//! A tree has levels of switches, 1 at the bottom. A switch of level `l` has `children[l]` children below it
//! (nodes, for level 1) and `parents[l]` parents above it, each joined by `parallel[l]` links. These are
//! the extended generalised fat trees of Öhring et al. with parallel links.
//!
//! A switch is known by its level, the subtree it roots (`subtree`), and which of the switches that
//! root the same subtree it is (`twin`). Inside a level switches are counted by subtree, then by twin.

use crate::{
    LinkClass, Locator, NODES_MAX, NodeId, Peer, Port, RouterId, Topology, TopologyError, at_most, in_range, radix_fits,
};

/// What all switches of one level have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Level {
    children: u32,
    parents: u32,
    /// Links to each child.
    parallel_down: u32,
    /// Links to each parent.
    parallel_up: u32,
    /// Switches that root the same subtree.
    twins: u32,
    /// Subtrees of this level in the tree.
    subtrees: u32,
    /// Nodes below one switch.
    nodes_below: u32,
    /// Routers of lower levels: the number of the first one of this level.
    first: RouterId,
    /// Where in a locator the digit sits that tells which child a node is below.
    digit_shift: u32,
    digit_bits: u32,
    /// The links that lead up from one switch of each lower level, multiplied.
    paths_up_to_here: u32,
}

/// A fat tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FatTree {
    levels: Vec<Level>,
    routers: u32,
    nodes: u32,
    radix: u32,
}

/// Where a switch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreePosition {
    /// Its level; 1 is the bottom.
    pub level: u32,
    /// The subtree it roots, counted inside its level.
    pub subtree: u32,
    /// Which of the switches that root this subtree it is.
    pub twin: u32,
}

impl FatTree {
    /// The names of the kinds of links: those above level 1, above level 2, and so on.
    pub const LINK_CLASSES: &[&str] = &[
        "terminal", "level1", "level2", "level3", "level4", "level5", "level6", "level7", "level8", "level9",
        "level10", "level11", "level12", "level13", "level14", "level15",
    ];

    /// The most levels a tree can have.
    pub const LEVELS_MAX: u32 = Self::LINK_CLASSES.len() as u32;

    /// A tree whose level-`l` switches have `children[l - 1]` children and, unless they are at the top,
    /// `parents[l - 1]` parents with `parallel[l - 1]` links to each.
    ///
    /// # Errors
    /// When the lists do not fit together, a count is 0, or there is too much of it.
    pub fn new(children: &[u32], parents: &[u32], parallel: &[u32]) -> Result<Self, TopologyError> {
        let height = children.len() as u32;
        in_range("levels", height, 1, Self::LEVELS_MAX)?;
        in_range("levels with parents", parents.len() as u32, height - 1, height - 1)?;
        in_range("levels with parallel links", parallel.len() as u32, height - 1, height - 1)?;
        for &count in children.iter().chain(parents).chain(parallel) {
            in_range("a count of children, parents or parallel links", count, 1, crate::RADIX_MAX)?;
        }
        let nodes: u64 = children.iter().map(|&m| u64::from(m)).try_fold(1, u64::checked_mul).unwrap_or(u64::MAX);
        at_most("nodes", nodes, NODES_MAX)?;
        let mut levels: Vec<Level> = Vec::new();
        let (mut first, mut twins, mut below, mut shift, mut paths) = (0u64, 1u64, 1u64, 0, 1u32);
        for (l, &m) in children.iter().enumerate() {
            let parallel_down = if l == 0 { 1 } else { parallel[l - 1] };
            let parents_here = parents.get(l).copied().unwrap_or(0);
            let parallel_up = parallel.get(l).copied().unwrap_or(0);
            twins *= if l == 0 { 1 } else { u64::from(parents[l - 1]) };
            below *= u64::from(m);
            radix_fits(u64::from(m) * u64::from(parallel_down) + u64::from(parents_here) * u64::from(parallel_up))?;
            at_most("routers", first + nodes / below * twins, 1 << 28)?;
            let digit_bits = m.next_power_of_two().trailing_zeros();
            levels.push(Level {
                children: m,
                parents: parents_here,
                parallel_down,
                parallel_up,
                twins: twins as u32,
                subtrees: (nodes / below) as u32,
                nodes_below: below as u32,
                first: first as u32,
                digit_shift: shift,
                digit_bits,
                paths_up_to_here: paths,
            });
            paths = paths.saturating_mul((parents_here * parallel_up).max(1));
            first += nodes / below * twins;
            shift += digit_bits;
        }
        in_range("bits of a node's address", shift, 0, 32)?;
        let radix = levels.iter().map(|l| l.children * l.parallel_down + l.parents * l.parallel_up).max().unwrap_or(0);
        Ok(Self { levels, routers: first as u32, nodes: nodes as u32, radix })
    }

    /// The k-ary n-tree: `n` levels of switches with `k` children and `k` parents.
    ///
    /// # Errors
    /// As for [`FatTree::new`].
    pub fn k_ary_n_tree(k: u32, n: u32) -> Result<Self, TopologyError> {
        in_range("k", k, 1, crate::RADIX_MAX / 2)?;
        in_range("n", n, 1, Self::LEVELS_MAX)?;
        let upper = vec![k; n as usize - 1];
        Self::new(&vec![k; n as usize], &upper, &vec![1; n as usize - 1])
    }

    /// The k-ary n-fly with links in both directions: the k-ary n-tree, up to the numbers of nodes. Half of one has half as many switches in
    /// each stage, and switches before the last stage have two links to each of half as many neighbours there.
    ///
    /// # Errors
    /// As for [`FatTree::new`]; half of one needs two stages, and an even number of links.
    pub fn bidirectional_fly(k: u32, n: u32, half: bool) -> Result<Self, TopologyError> {
        if !half {
            return Self::k_ary_n_tree(k, n);
        }
        in_range("k", k, 2, crate::RADIX_MAX / 2)?;
        in_range("n", n, 2, Self::LEVELS_MAX)?;
        if k % 2 == 1 {
            return Err(TopologyError::OddHalf { k });
        }
        let (n, mut children) = (n as usize, vec![k; n as usize]);
        let (mut parents, mut parallel) = (vec![k; n - 1], vec![1; n - 1]);
        (children[n - 1], parents[n - 2], parallel[n - 2]) = (k / 2, k / 2, 2);
        Self::new(&children, &parents, &parallel)
    }

    /// Leaf switches with nodes, each joined to each spine switch by `parallel` links.
    ///
    /// # Errors
    /// As for [`FatTree::new`].
    pub fn two_level(nodes_per_leaf: u32, leaves: u32, spines: u32, parallel: u32) -> Result<Self, TopologyError> {
        Self::new(&[nodes_per_leaf, leaves], &[spines], &[parallel])
    }

    /// How many levels of switches there are.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.levels.len() as u32
    }

    /// Where `router` is.
    #[must_use]
    pub fn position(&self, router: RouterId) -> TreePosition {
        let index = self.levels.partition_point(|level| level.first <= router) - 1;
        let level = &self.levels[index];
        let inside = router - level.first;
        TreePosition { level: index as u32 + 1, subtree: inside / level.twins, twin: inside % level.twins }
    }

    /// The router at `position`.
    #[must_use]
    pub fn router_at(&self, position: TreePosition) -> RouterId {
        let level = self.level(position.level);
        level.first + position.subtree * level.twins + position.twin
    }

    /// The ports of a level-`level` switch that lead down to child `child`.
    #[must_use]
    pub fn ports_down(&self, level: u32, child: u32) -> std::ops::Range<u32> {
        let parallel = self.level(level).parallel_down;
        child * parallel..(child + 1) * parallel
    }

    /// The ports of a level-`level` switch that lead up, those to the same parent next to each other.
    #[must_use]
    pub fn ports_up(&self, level: u32) -> std::ops::Range<u32> {
        let level = self.level(level);
        let down = level.children * level.parallel_down;
        down..down + level.parents * level.parallel_up
    }

    /// Which child of its ancestors at `level` the node at `locator` is below.
    #[must_use]
    pub fn child_towards(&self, level: u32, locator: Locator) -> u32 {
        let level = self.level(level);
        locator.0 >> level.digit_shift & ((1 << level.digit_bits) - 1)
    }

    /// A number that spreads destinations evenly over the links up from a level-`level` switch, taken modulo
    /// their count: switches of each level use another part of the destination's number (D-mod-K). Taken modulo their count it spreads them
    /// over the parallel links down to such a switch as well.
    #[must_use]
    pub fn spread(&self, level: u32, locator: Locator) -> u32 {
        let digit = |(index, level): (usize, &Level)| {
            self.child_towards(index as u32 + 1, locator) * (level.nodes_below / level.children)
        };
        let node: u32 = self.levels.iter().enumerate().map(digit).sum();
        node / self.level(level).paths_up_to_here
    }

    /// What a locator of a node below a level-`level` switch has in common with those of all others there:
    /// equal prefixes mean the same subtree.
    #[must_use]
    pub fn prefix(&self, level: u32, locator: Locator) -> u32 {
        let level = self.level(level);
        locator.0.checked_shr(level.digit_shift + level.digit_bits).unwrap_or(0)
    }

    /// The prefix of all nodes below `router`.
    #[must_use]
    pub fn prefix_below(&self, router: RouterId) -> u32 {
        let position = self.position(router);
        let first_node = position.subtree * self.level(position.level).nodes_below;
        self.prefix(position.level, self.locator(first_node))
    }

    /// The classes of the links of a shortest path between two leaves: up to an ancestor of both and down, on whichever links.
    #[must_use]
    pub fn shortest_path(&self, from: RouterId, to: RouterId) -> Vec<LinkClass> {
        let up = 1..=self.levels_up(from, to) as u8;
        up.clone().chain(up.rev()).map(LinkClass).collect()
    }

    /// How many levels above two leaves their nearest common ancestors are.
    fn levels_up(&self, from: RouterId, to: RouterId) -> u32 {
        let (mut from, mut to, mut up) = (self.position(from).subtree, self.position(to).subtree, 0);
        for level in &self.levels[1..] {
            if from == to {
                break;
            }
            (from, to, up) = (from / level.children, to / level.children, up + 1);
        }
        up
    }

    fn level(&self, level: u32) -> &Level {
        &self.levels[level as usize - 1]
    }

    fn class_up(level: u32) -> u8 {
        level as u8
    }

    /// Down channels come after all up channels, from the top level to the bottom.
    fn class_down(&self, level: u32) -> u8 {
        (2 * self.height() - level) as u8
    }
}

impl Topology for FatTree {
    fn name(&self) -> &'static str {
        "fat-tree"
    }

    fn describe(&self) -> String {
        let list = |of: fn(&Level) -> u32, levels: &[Level]| {
            levels.iter().map(|level| of(level).to_string()).collect::<Vec<_>>().join(",")
        };
        let upper = &self.levels[..self.levels.len() - 1];
        format!(
            "fat tree of {} levels with {} children, {} parents and {} parallel links per level",
            self.height(),
            list(|l| l.children, &self.levels),
            if upper.is_empty() { "no".to_owned() } else { list(|l| l.parents, upper) },
            if upper.is_empty() { "no".to_owned() } else { list(|l| l.parallel_up, upper) },
        )
    }

    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn routers(&self) -> u32 {
        self.routers
    }

    fn ports(&self, router: RouterId) -> u32 {
        self.ports_up(self.position(router).level).end
    }

    fn radix(&self) -> u32 {
        self.radix
    }

    fn peer(&self, router: RouterId, port: Port) -> Peer {
        let TreePosition { level, subtree, twin } = self.position(router);
        let here = self.level(level);
        let port = u32::from(port);
        let up = self.ports_up(level);
        if port >= up.end {
            return Peer::Nothing;
        }
        if port >= up.start {
            let (parent, link) = ((port - up.start) / here.parallel_up, (port - up.start) % here.parallel_up);
            let above = self.level(level + 1);
            let (child, subtree) = (subtree % above.children, subtree / above.children);
            let router = self.router_at(TreePosition { level: level + 1, subtree, twin: twin + parent * here.twins });
            return Peer::Router { router, port: (self.ports_down(level + 1, child).start + link) as Port };
        }
        if level == 1 {
            return Peer::Node(subtree * here.children + port);
        }
        let (child, link) = (port / here.parallel_down, port % here.parallel_down);
        let below = self.level(level - 1);
        let position =
            TreePosition { level: level - 1, subtree: subtree * here.children + child, twin: twin % below.twins };
        let port = self.ports_up(level - 1).start + twin / below.twins * below.parallel_up + link;
        Peer::Router { router: self.router_at(position), port: port as Port }
    }

    fn link_class(&self, router: RouterId, port: Port) -> LinkClass {
        let level = self.position(router).level;
        LinkClass(if u32::from(port) < self.ports_up(level).start { level - 1 } else { level } as u8)
    }

    fn link_classes(&self) -> &[&'static str] {
        &Self::LINK_CLASSES[..self.levels.len()]
    }

    fn attachment(&self, node: NodeId) -> (RouterId, Port) {
        let children = self.level(1).children;
        (node / children, (node % children) as Port)
    }

    fn locator(&self, node: NodeId) -> Locator {
        let digit = |level: &Level| node / (level.nodes_below / level.children) % level.children;
        Locator(self.levels.iter().fold(0, |bits, level| bits | digit(level) << level.digit_shift))
    }

    fn distance(&self, from: RouterId, to: RouterId) -> u32 {
        2 * self.levels_up(from, to)
    }

    fn domains(&self) -> u32 {
        if self.height() == 1 { 1 } else { self.level(self.height()).children }
    }

    fn domain(&self, router: RouterId) -> u32 {
        let TreePosition { level, subtree, twin } = self.position(router);
        if level == self.height() {
            return twin % self.domains();
        }
        let below_top = self.level(self.height() - 1);
        subtree / (below_top.nodes_below / self.level(level).nodes_below)
    }

    fn channel_class(&self, router: RouterId, port: Port) -> u8 {
        let level = self.position(router).level;
        if u32::from(port) >= self.ports_up(level).start {
            Self::class_up(level)
        } else if level == 1 {
            0
        } else {
            self.class_down(level)
        }
    }

    fn channel_class_name(&self, class: u8) -> String {
        let class = u32::from(class);
        match class {
            0 => "terminal".to_owned(),
            up if up < self.height() => format!("up from level {up}"),
            down => format!("down from level {}", 2 * self.height() - down),
        }
    }

    fn router_name(&self, router: RouterId) -> String {
        let TreePosition { level, subtree, twin } = self.position(router);
        format!("router {router} (level {level}, subtree {subtree}, twin {twin})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_well_known_trees() {
        let size = |tree: FatTree| (tree.nodes(), tree.routers(), tree.radix());
        assert_eq!(size(FatTree::k_ary_n_tree(4, 3).unwrap()), (64, 48, 8));
        assert_eq!(size(FatTree::k_ary_n_tree(2, 5).unwrap()), (32, 80, 4));
        assert_eq!(size(FatTree::two_level(12, 12, 12, 1).unwrap()), (144, 24, 24));
        assert_eq!(size(FatTree::two_level(16, 8, 4, 4).unwrap()), (128, 12, 32));
        assert_eq!(size(FatTree::k_ary_n_tree(8, 1).unwrap()), (8, 1, 8));
    }

    /// Section 4.3 of the MVCM paper, and what follows for the other networks that it names.
    #[test]
    fn bidirectional_flies_have_the_sizes_of_the_papers() {
        let size = |k, n, half| {
            let tree = FatTree::bidirectional_fly(k, n, half).unwrap();
            (tree.nodes(), tree.routers(), tree.radix())
        };
        assert_eq!(size(4, 3, false), (64, 48, 8));
        assert_eq!(size(4, 4, false), (256, 256, 8));
        assert_eq!(size(8, 3, false), (512, 192, 16));
        assert_eq!(size(2, 3, false), (8, 12, 4));
        assert_eq!(size(4, 5, false), (1024, 1280, 8));
        assert_eq!(size(4, 5, true), (512, 640, 8), "128 of them in each stage");
        let half = FatTree::new(&[4, 4, 4, 4, 2], &[4, 4, 4, 2], &[1, 1, 1, 2]).unwrap();
        let fly = FatTree::bidirectional_fly(4, 5, true).unwrap();
        let peers = |tree: &FatTree| -> Vec<Peer> {
            (0..tree.routers())
                .flat_map(|router| (0..8).map(move |port| (router, port)))
                .map(|(r, p)| tree.peer(r, p))
                .collect()
        };
        assert_eq!(peers(&fly), peers(&half));
        let refused = |k, n| FatTree::bidirectional_fly(k, n, true).unwrap_err().to_string();
        assert_eq!(refused(3, 3), "half of a 3-ary network would have half of 3 links");
        assert_eq!(refused(4, 1), "n = 1 is outside 2..=16");
    }

    #[test]
    fn a_two_level_tree_joins_each_leaf_to_each_spine() {
        let tree = FatTree::two_level(2, 3, 2, 2).unwrap();
        for leaf in 0..3u32 {
            for spine in 0..2u32 {
                for link in 0..2u32 {
                    let peer = tree.peer(leaf, (2 + spine * 2 + link) as Port);
                    assert_eq!(peer, Peer::Router { router: 3 + spine, port: (leaf * 2 + link) as Port });
                }
            }
        }
    }

    #[test]
    fn impossible_trees_are_refused() {
        let error = FatTree::two_level(200, 4, 100, 1).unwrap_err();
        assert_eq!(error.to_string(), "a router would need 300 ports, the limit is 256");
        let error = FatTree::k_ary_n_tree(64, 6).unwrap_err();
        assert_eq!(error.to_string(), "the network would have 68719476736 nodes, the limit is 268435456");
        let error = FatTree::k_ary_n_tree(2, 17).unwrap_err();
        assert_eq!(error.to_string(), "n = 17 is outside 1..=16");
    }
}
