//! Sets of nodes, and drawing their members.

use std::fmt;

use rand_core::Rng as _;
use tailback_random::Stream;

/// A set of nodes, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSet(Vec<u32>);

/// Why a list of nodes is no set of nodes of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeSetError {
    /// A node that does not exist.
    NoSuchNode {
        /// The node.
        node: u64,
        /// How many nodes there are.
        nodes: u32,
    },
    /// A node twice.
    Twice {
        /// The node.
        node: u32,
    },
    /// More members than nodes.
    TooMany {
        /// The members asked for.
        wanted: u64,
        /// The nodes to choose from.
        available: u32,
    },
    /// No member at all.
    Empty,
}

impl fmt::Display for NodeSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchNode { node, nodes } => {
                write!(f, "node {node} does not exist: the network has nodes 0..={}", nodes - 1)
            }
            Self::Twice { node } => write!(f, "node {node} is listed twice"),
            Self::TooMany { wanted, available } => {
                write!(f, "{wanted} nodes are asked for, there are {available} to choose from")
            }
            Self::Empty => write!(f, "no node is left"),
        }
    }
}

impl NodeSet {
    /// All `nodes` nodes.
    #[must_use]
    pub fn all(nodes: u32) -> Self {
        Self((0..nodes).collect())
    }

    /// The nodes of a list, of a network of `nodes` nodes.
    ///
    /// # Errors
    /// When one does not exist, stands twice, or there is none.
    pub fn of(list: &[u64], nodes: u32) -> Result<Self, NodeSetError> {
        if let Some(&node) = list.iter().find(|&&node| node >= u64::from(nodes)) {
            return Err(NodeSetError::NoSuchNode { node, nodes });
        }
        let mut members: Vec<u32> = list.iter().map(|&node| node as u32).collect();
        members.sort_unstable();
        if let Some(pair) = members.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(NodeSetError::Twice { node: pair[0] });
        }
        if members.is_empty() { Err(NodeSetError::Empty) } else { Ok(Self(members)) }
    }

    /// The nodes that are in none of `others`.
    ///
    /// # Errors
    /// When there is none.
    pub fn outside(others: &[&Self], nodes: u32) -> Result<Self, NodeSetError> {
        let members: Vec<u32> = (0..nodes).filter(|&node| others.iter().all(|set| !set.contains(node))).collect();
        if members.is_empty() { Err(NodeSetError::Empty) } else { Ok(Self(members)) }
    }

    /// The members.
    #[must_use]
    pub fn members(&self) -> &[u32] {
        &self.0
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `node` is a member.
    #[must_use]
    pub fn contains(&self, node: u32) -> bool {
        self.0.binary_search(&node).is_ok()
    }
}

/// Draws `count` different numbers below `bound`, each set alike, in ascending order.
///
/// # Errors
/// When there are not that many.
pub fn draw_distinct(count: u64, bound: u32, stream: &mut Stream) -> Result<NodeSet, NodeSetError> {
    if count > u64::from(bound) {
        return Err(NodeSetError::TooMany { wanted: count, available: bound });
    }
    if count == 0 {
        return Err(NodeSetError::Empty);
    }
    // Selection sampling: each number is taken with the chance that keeps all sets of the right size alike.
    let mut left = count as u32;
    let chosen = (0..bound).filter(|number| {
        let take = stream.below(bound - number) < left;
        left -= u32::from(take);
        take
    });
    Ok(NodeSet(chosen.collect()))
}

/// A permutation of `0..count` that moves every number and consists of one cycle, each such alike.
pub(crate) fn draw_cycle(count: u32, stream: &mut Stream) -> Vec<u32> {
    let mut permutation: Vec<u32> = (0..count).collect();
    for last in (1..count).rev() {
        permutation.swap(last as usize, stream.below(last) as usize);
    }
    // Consumes one more draw, so that sets drawn after it do not depend on the count being odd or even.
    let _ = stream.next_u32();
    permutation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_sets_have_their_size_and_are_even() {
        let mut stream = Stream::new(1, 2, 3);
        let mut counts = [0u32; 10];
        for _ in 0..10_000 {
            let set = draw_distinct(3, 10, &mut stream).unwrap();
            assert_eq!(set.len(), 3);
            assert!(set.members().windows(2).all(|pair| pair[0] < pair[1]));
            set.members().iter().for_each(|&node| counts[node as usize] += 1);
        }
        assert!(counts.iter().all(|&n| n.abs_diff(3000) < 230), "{counts:?}");
    }

    #[test]
    fn cycles_move_everything() {
        let mut stream = Stream::new(1, 2, 3);
        for count in [2, 3, 10, 101] {
            let permutation = draw_cycle(count, &mut stream);
            let (mut node, mut length) = (0, 0);
            loop {
                assert_ne!(permutation[node as usize], node);
                (node, length) = (permutation[node as usize], length + 1);
                if node == 0 {
                    break;
                }
            }
            assert_eq!(length, count);
        }
    }

    #[test]
    fn impossible_sets_are_refused() {
        let error = |list: &[u64]| NodeSet::of(list, 4).unwrap_err().to_string();
        assert_eq!(error(&[1, 4]), "node 4 does not exist: the network has nodes 0..=3");
        assert_eq!(error(&[2, 1, 2]), "node 2 is listed twice");
        assert_eq!(error(&[]), "no node is left");
        let error = draw_distinct(5, 4, &mut Stream::new(1, 1, 1)).unwrap_err();
        assert_eq!(error.to_string(), "5 nodes are asked for, there are 4 to choose from");
        let all = NodeSet::all(4);
        assert_eq!(NodeSet::outside(&[&all], 4), Err(NodeSetError::Empty));
        assert_eq!(NodeSet::outside(&[&NodeSet::of(&[1, 2], 4).unwrap()], 4).unwrap().members(), [0, 3]);
    }
}
