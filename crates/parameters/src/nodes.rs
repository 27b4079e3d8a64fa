//! Sets of nodes.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A set of nodes. Copies share what it lists, and nodes that follow each other are not listed at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSet(Members);

/// Nodes that follow each other are always a range, so that equal sets are equal here.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Members {
    Range(Range<u32>),
    /// In ascending order, each once.
    List(Arc<[u32]>),
}

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
        Self(Members::Range(0..nodes))
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
        if members.is_empty() { Err(NodeSetError::Empty) } else { Ok(Self::ascending(members)) }
    }

    /// The nodes from `from` to before `until`, of a network of `nodes` nodes.
    ///
    /// # Errors
    /// When one does not exist, or there is none.
    pub fn range(from: u64, until: u64, nodes: u32) -> Result<Self, NodeSetError> {
        if from >= until {
            return Err(NodeSetError::Empty);
        }
        if until > u64::from(nodes) {
            return Err(NodeSetError::NoSuchNode { node: from.max(nodes.into()), nodes });
        }
        Ok(Self(Members::Range(from as u32..until as u32)))
    }

    /// Nodes in ascending order, each once.
    #[must_use]
    pub fn ascending(members: Vec<u32>) -> Self {
        debug_assert!(members.windows(2).all(|pair| pair[0] < pair[1]), "in ascending order, each once");
        match (members.first(), members.last()) {
            (Some(&first), Some(&last)) if (last - first) as usize + 1 != members.len() => {
                Self(Members::List(members.into()))
            }
            (Some(&first), Some(&last)) => Self(Members::Range(first..last + 1)),
            _ => Self(Members::Range(0..0)),
        }
    }

    /// The nodes that are in one of the sets, or in several.
    #[must_use]
    pub fn union(sets: &[Self]) -> Self {
        if let [only] = sets {
            return only.clone();
        }
        let mut members: Vec<u32> = sets.iter().flat_map(Self::iter).collect();
        members.sort_unstable();
        members.dedup();
        Self::ascending(members)
    }

    /// The members that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self::ascending(self.iter().filter(|&node| !other.contains(node)).collect())
    }

    /// How many members there are.
    #[must_use]
    #[inline]
    pub fn len(&self) -> u32 {
        match &self.0 {
            Members::Range(range) => range.end - range.start,
            Members::List(list) => list.len() as u32,
        }
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The nodes from the first to before the last, if they follow each other.
    #[must_use]
    pub fn as_range(&self) -> Option<Range<u32>> {
        match &self.0 {
            Members::Range(range) => Some(range.clone()),
            Members::List(_) => None,
        }
    }

    /// Whether `node` is a member.
    #[must_use]
    #[inline]
    pub fn contains(&self, node: u32) -> bool {
        self.position(node).is_some()
    }

    /// How many members come before `node`, if it is one.
    #[must_use]
    #[inline]
    pub fn position(&self, node: u32) -> Option<u32> {
        match &self.0 {
            Members::Range(range) => range.contains(&node).then(|| node - range.start),
            Members::List(list) => list.binary_search(&node).ok().map(|position| position as u32),
        }
    }

    /// The member that comes after so many others.
    ///
    /// # Panics
    /// When there are not that many.
    #[must_use]
    #[inline]
    pub fn get(&self, position: u32) -> u32 {
        match &self.0 {
            Members::Range(range) => {
                assert!(position < range.end - range.start, "the set has fewer members");
                range.start + position
            }
            Members::List(list) => list[position as usize],
        }
    }

    /// All members, in ascending order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> {
        (0..self.len()).map(|position| self.get(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(list: &[u64]) -> NodeSet {
        NodeSet::of(list, 8).unwrap()
    }

    #[test]
    fn sets_are_what_their_members_are() {
        assert_eq!(set(&[3, 1, 2]), NodeSet::range(1, 4, 8).unwrap());
        assert_eq!(set(&[3, 1, 2]).as_range(), Some(1..4));
        let gaps = set(&[6, 1, 4]);
        assert_eq!((gaps.len(), gaps.as_range()), (3, None));
        assert_eq!(gaps.iter().collect::<Vec<_>>(), [1, 4, 6]);
        for set in [gaps, NodeSet::all(8), NodeSet::range(2, 5, 8).unwrap()] {
            let members: Vec<u32> = set.iter().collect();
            assert_eq!(set, NodeSet::ascending(members.clone()));
            assert!((0..8).all(|node| set.contains(node) == members.contains(&node)));
            assert!(set.iter().all(|node| set.get(set.position(node).unwrap()) == node));
        }
    }

    #[test]
    fn sets_are_joined_and_taken_away() {
        assert_eq!(NodeSet::union(&[set(&[1, 4]), NodeSet::range(2, 4, 8).unwrap()]), set(&[1, 2, 3, 4]));
        assert_eq!(NodeSet::union(&[]), NodeSet::ascending(Vec::new()));
        assert_eq!(NodeSet::all(4).without(&set(&[1, 2])), set(&[0, 3]));
        assert!(NodeSet::all(4).without(&NodeSet::all(8)).is_empty());
    }

    #[test]
    fn impossible_sets_are_refused() {
        let error = |list: &[u64]| NodeSet::of(list, 4).unwrap_err().to_string();
        assert_eq!(error(&[1, 4]), "node 4 does not exist: the network has nodes 0..=3");
        assert_eq!(error(&[2, 1, 2]), "node 2 is listed twice");
        assert_eq!(error(&[]), "no node is left");
        for (from, until, why) in [
            (0, 9, NodeSetError::NoSuchNode { node: 4, nodes: 4 }),
            (u64::MAX - 1, u64::MAX, NodeSetError::NoSuchNode { node: u64::MAX - 1, nodes: 4 }),
            (3, 3, NodeSetError::Empty),
            (3, 1, NodeSetError::Empty),
        ] {
            assert_eq!(NodeSet::range(from, until, 4), Err(why));
        }
    }
}
