//! Where messages go.

use std::fmt;
use std::sync::Arc;

use tailback_random::{Stream, Weighted};

use crate::NodeSet;
use crate::nodes::draw_cycle;

/// How the nodes of a network fall into groups of equal size: consecutive runs of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// How many groups there are.
    pub count: u32,
    /// The nodes of each.
    pub nodes_each: u32,
}

/// Where the messages of a source go.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// To each of some nodes alike.
    Uniform {
        /// The nodes.
        among: NodeSet,
        /// Whether a source may also draw itself.
        with_self: bool,
    },
    /// To a random node of the group `offset` further on, counted round: ADV+offset.
    Adversarial {
        /// The groups.
        groups: Groups,
        /// How many groups further.
        offset: u32,
        /// The places of the group that messages go to, if not to all: WC-Hot.
        hot: Option<NodeSet>,
    },
    /// To a random other node of the group that the source is in.
    OwnGroup(Groups),
    /// To the source itself, through the network: as in Clos networks, whose inputs and outputs of a number are different hardware.
    Itself,
    /// To each node its own destination.
    Permutation(Arc<[u32]>),
    /// By chance one of several patterns.
    Mix {
        /// The patterns.
        patterns: Vec<Pattern>,
        /// Which share each has of all messages.
        choice: Weighted,
    },
}

/// Why a pattern does not fit a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// A source would have nobody to send to.
    NobodyElse,
    /// The pattern needs a number of nodes that is a power of two.
    NotAPowerOfTwo {
        /// The number of nodes.
        nodes: u32,
    },
    /// Every node would send to itself.
    ToItself {
        /// The offset or shift.
        by: u32,
        /// Modulo which it is 0.
        modulo: u32,
    },
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NobodyElse => write!(f, "a source has nobody but itself to send to"),
            Self::NotAPowerOfTwo { nodes } => write!(f, "there are {nodes} nodes, which is not a power of two"),
            Self::ToItself { by, modulo } => {
                write!(f, "{by} is a multiple of {modulo}: sources would send to where they are")
            }
        }
    }
}

impl Pattern {
    /// To each of `among` alike, never to oneself unless `with_self`.
    ///
    /// # Errors
    /// When that leaves nobody.
    pub fn uniform(among: NodeSet, with_self: bool) -> Result<Self, PatternError> {
        if among.len() < 2 && !with_self {
            return Err(PatternError::NobodyElse);
        }
        Ok(Self::Uniform { among, with_self })
    }

    /// To a random node of the group `offset` further on, or a random one of those at the places `hot` in it.
    ///
    /// # Errors
    /// When that is the own group.
    pub fn adversarial(groups: Groups, offset: u32, hot: Option<NodeSet>) -> Result<Self, PatternError> {
        if offset.is_multiple_of(groups.count) {
            return Err(PatternError::ToItself { by: offset, modulo: groups.count });
        }
        Ok(Self::Adversarial { groups, offset: offset % groups.count, hot })
    }

    /// To a random other node of the own group.
    ///
    /// # Errors
    /// When there is none.
    pub fn own_group(groups: Groups) -> Result<Self, PatternError> {
        if groups.nodes_each < 2 {
            return Err(PatternError::NobodyElse);
        }
        Ok(Self::OwnGroup(groups))
    }

    /// From each of the nodes `among` to the one whose position in that set has all bits turned over; of a network of `nodes`
    /// nodes, the others of which would send to themselves.
    ///
    /// # Errors
    /// When the size of the set is not a power of two, or 1.
    pub fn bit_complement(among: &NodeSet, nodes: u32) -> Result<Self, PatternError> {
        let count = among.len();
        if !count.is_power_of_two() || count < 2 {
            return Err(PatternError::NotAPowerOfTwo { nodes: count });
        }
        Ok(Self::permutation_of(among, nodes, |position| count - 1 - position))
    }

    /// From each of the nodes `among` to the one `by` further on in that set, counted round; of a network of `nodes`
    /// nodes, the others of which would send to themselves.
    ///
    /// # Errors
    /// When that is itself.
    pub fn shift(among: &NodeSet, nodes: u32, by: u32) -> Result<Self, PatternError> {
        let count = among.len();
        if by.is_multiple_of(count) {
            return Err(PatternError::ToItself { by, modulo: count });
        }
        let by = by % count;
        Ok(Self::permutation_of(among, nodes, |position| {
            if position < count - by { position + by } else { position - (count - by) }
        }))
    }

    /// A random permutation of the nodes `among`, in which none sends to itself; of a network of `nodes` nodes, the others of
    /// which would send to themselves.
    ///
    /// # Errors
    /// When there is only one node.
    pub fn random_permutation(among: &NodeSet, nodes: u32, stream: &mut Stream) -> Result<Self, PatternError> {
        if among.len() < 2 {
            return Err(PatternError::NobodyElse);
        }
        let cycle = draw_cycle(among.len(), stream);
        Ok(Self::permutation_of(among, nodes, |position| cycle[position as usize]))
    }

    /// From each of the nodes `among` to the one at the position in that set that `to` says for its own.
    fn permutation_of(among: &NodeSet, nodes: u32, to: impl Fn(u32) -> u32) -> Self {
        let mut destinations: Vec<u32> = (0..nodes).collect();
        for (position, node) in (0..).zip(among.iter()) {
            destinations[node as usize] = among.get(to(position));
        }
        Self::Permutation(destinations.into())
    }

    /// One of `patterns`, in proportion to its weight.
    ///
    /// # Panics
    /// When the lists differ in length or the weights are no weights.
    #[must_use]
    pub fn mix(patterns: Vec<Self>, weights: &[f64]) -> Self {
        assert_eq!(patterns.len(), weights.len(), "each pattern has a weight");
        Self::Mix { patterns, choice: Weighted::new(weights) }
    }

    /// The first of some sources of which messages have nobody to go to but the source itself.
    #[must_use]
    pub fn leaves_alone(&self, sources: &NodeSet) -> Option<u32> {
        match self {
            Self::Uniform { among, with_self } => {
                (among.len() == 1 && !with_self).then(|| among.get(0)).filter(|&node| sources.contains(node))
            }
            Self::Adversarial { .. } | Self::OwnGroup(_) | Self::Itself => None,
            Self::Permutation(destinations) => sources.iter().find(|&node| destinations[node as usize] == node),
            Self::Mix { patterns, .. } => patterns.iter().filter_map(|pattern| pattern.leaves_alone(sources)).min(),
        }
    }

    /// Whether messages of a source may be for the source itself: what is drawn may be that.
    #[must_use]
    pub fn may_choose_source(&self, source: u32) -> bool {
        match self {
            Self::Uniform { among, with_self } => *with_self && among.contains(source),
            Self::Adversarial { .. } | Self::OwnGroup(_) => false,
            Self::Itself => true,
            Self::Permutation(destinations) => destinations[source as usize] == source,
            Self::Mix { patterns, .. } => patterns.iter().any(|pattern| pattern.may_choose_source(source)),
        }
    }

    /// How many permutations it keeps, each a list of all nodes.
    #[must_use]
    pub fn permutations(&self) -> u64 {
        match self {
            Self::Uniform { .. } | Self::Adversarial { .. } | Self::OwnGroup(_) | Self::Itself => 0,
            Self::Permutation(_) => 1,
            Self::Mix { patterns, .. } => patterns.iter().map(Self::permutations).sum(),
        }
    }

    /// The nodes that messages may go to, in ascending order, if the pattern names them.
    #[must_use]
    pub fn destinations(&self) -> Option<NodeSet> {
        match self {
            Self::Uniform { among, .. } => Some(among.clone()),
            Self::Adversarial { .. } | Self::OwnGroup(_) | Self::Itself | Self::Permutation(_) => None,
            Self::Mix { patterns, .. } => {
                patterns.iter().map(Self::destinations).collect::<Option<Vec<_>>>().map(|sets| NodeSet::union(&sets))
            }
        }
    }

    /// The destination of a message from `source`.
    #[inline(always)]
    pub fn destination(&self, source: u32, stream: &mut Stream) -> u32 {
        match self {
            // What is drawn most often, without a call.
            Self::Uniform { among, with_self } => uniform(among, *with_self, source, stream),
            _ => self.destination_by_any(source, stream),
        }
    }

    /// The same by whatever pattern.
    #[inline(never)]
    fn destination_by_any(&self, source: u32, stream: &mut Stream) -> u32 {
        match self {
            Self::Uniform { among, with_self } => uniform(among, *with_self, source, stream),
            Self::Adversarial { groups, offset, hot } => {
                let group = (source / groups.nodes_each + offset) % groups.count;
                let place = match hot {
                    None => stream.below(groups.nodes_each),
                    Some(places) => places.get(stream.below(places.len())),
                };
                group * groups.nodes_each + place
            }
            Self::OwnGroup(groups) => {
                let (first, place) = (source - source % groups.nodes_each, source % groups.nodes_each);
                let drawn = stream.below(groups.nodes_each - 1);
                first + drawn + u32::from(drawn >= place)
            }
            Self::Itself => source,
            Self::Permutation(destinations) => destinations[source as usize],
            Self::Mix { patterns, choice } => patterns[choice.sample(stream)].destination(source, stream),
        }
    }
}

#[inline(always)]
fn uniform(among: &NodeSet, with_self: bool, source: u32, stream: &mut Stream) -> u32 {
    let own = if with_self { None } else { among.position(source) };
    match own {
        Some(own) => {
            let drawn = stream.below(among.len() - 1);
            among.get(drawn + u32::from(drawn >= own))
        }
        None => among.get(stream.below(among.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Stream::new(3, 2, 1)
    }

    fn shares(pattern: &Pattern, source: u32, nodes: u32) -> Vec<f64> {
        let mut counts = vec![0.0; nodes as usize];
        let mut stream = stream();
        for _ in 0..40_000 {
            counts[pattern.destination(source, &mut stream) as usize] += 1.0 / 40_000.0;
        }
        counts
    }

    fn close(shares: &[f64], expected: &[f64]) -> bool {
        shares.iter().zip(expected).all(|(share, expected)| (share - expected).abs() < 0.015)
    }

    #[test]
    fn uniform_with_and_without_self() {
        let without = Pattern::uniform(NodeSet::all(5), false).unwrap();
        assert!(close(&shares(&without, 2, 5), &[0.25, 0.25, 0.0, 0.25, 0.25]));
        assert_eq!(shares(&without, 2, 5)[2], 0.0);
        let with = Pattern::uniform(NodeSet::all(5), true).unwrap();
        assert!(close(&shares(&with, 2, 5), &[0.2; 5]));
        let own = Pattern::own_group(Groups { count: 2, nodes_each: 3 }).unwrap();
        assert!(close(&shares(&own, 4, 6), &[0.0, 0.0, 0.0, 0.5, 0.0, 0.5]));
        assert_eq!(Pattern::own_group(Groups { count: 5, nodes_each: 1 }), Err(PatternError::NobodyElse));
        let some = Pattern::uniform(NodeSet::of(&[1, 3, 4], 5).unwrap(), false).unwrap();
        assert!(close(&shares(&some, 3, 5), &[0.0, 0.5, 0.0, 0.0, 0.5]));
        assert!(close(&shares(&some, 0, 5), &[0.0, 1.0 / 3.0, 0.0, 1.0 / 3.0, 1.0 / 3.0]));
    }

    #[test]
    fn adversarial_goes_to_the_right_group() {
        let hot = Pattern::adversarial(Groups { count: 2, nodes_each: 4 }, 1, NodeSet::range(1, 3, 4).ok()).unwrap();
        assert!(close(&shares(&hot, 0, 8), &[0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0]));
        let pattern = Pattern::adversarial(Groups { count: 3, nodes_each: 2 }, 1, None).unwrap();
        assert!(close(&shares(&pattern, 1, 6), &[0.0, 0.0, 0.5, 0.5, 0.0, 0.0]));
        assert!(close(&shares(&pattern, 4, 6), &[0.5, 0.5, 0.0, 0.0, 0.0, 0.0]));
    }

    #[test]
    fn permutations_are_permutations() {
        let permutations = [
            Pattern::bit_complement(&NodeSet::all(8), 8).unwrap(),
            Pattern::shift(&NodeSet::all(8), 8, 11).unwrap(),
            Pattern::random_permutation(&NodeSet::all(8), 8, &mut stream()).unwrap(),
        ];
        for pattern in permutations {
            let mut destinations: Vec<u32> = (0..8).map(|node| pattern.destination(node, &mut stream())).collect();
            assert!(destinations.iter().zip(0..).all(|(&to, from)| to != from), "{pattern:?}");
            destinations.sort_unstable();
            assert_eq!(destinations, (0..8).collect::<Vec<_>>());
        }
        assert_eq!(Pattern::shift(&NodeSet::all(8), 8, 11).unwrap().destination(6, &mut stream()), 1);
        assert_eq!(Pattern::bit_complement(&NodeSet::all(8), 8).unwrap().destination(6, &mut stream()), 1);
    }

    #[test]
    fn permutations_stay_in_their_set() {
        let among = NodeSet::of(&[1, 2, 4, 6], 8).unwrap();
        let complement = Pattern::bit_complement(&among, 8).unwrap();
        assert_eq!([1, 2, 4, 6].map(|node| complement.destination(node, &mut stream())), [6, 4, 2, 1]);
        let random = Pattern::random_permutation(&among, 8, &mut stream()).unwrap();
        let mut destinations = [1, 2, 4, 6].map(|node| random.destination(node, &mut stream()));
        assert!([1, 2, 4, 6].iter().zip(&destinations).all(|(from, to)| from != to), "{destinations:?}");
        destinations.sort_unstable();
        assert_eq!(destinations, [1, 2, 4, 6]);
        for pattern in [complement, random] {
            assert_eq!(pattern.leaves_alone(&among), None);
            assert_eq!(pattern.leaves_alone(&NodeSet::all(8)), Some(0));
        }
        let alone = NodeSet::of(&[3], 8).unwrap();
        assert!(Pattern::random_permutation(&alone, 8, &mut stream()).is_err());
        assert!(Pattern::bit_complement(&NodeSet::of(&[1, 2, 3], 8).unwrap(), 8).is_err());
    }

    #[test]
    fn a_shift_stays_in_its_set() {
        let among = NodeSet::of(&[1, 4, 6], 8).unwrap();
        let shift = |by| Pattern::shift(&among, 8, by).unwrap();
        assert_eq!([1, 4, 6].map(|node| shift(1).destination(node, &mut stream())), [4, 6, 1]);
        assert_eq!([1, 4, 6].map(|node| shift(5).destination(node, &mut stream())), [6, 1, 4]);
        assert_eq!(shift(1).leaves_alone(&among), None);
        assert_eq!(shift(1).leaves_alone(&NodeSet::all(8)), Some(0));
        assert!(Pattern::shift(&among, 8, 3).is_err());
    }

    #[test]
    fn a_node_can_send_to_itself_on_purpose() {
        assert_eq!(Pattern::Itself.destination(5, &mut stream()), 5);
        assert_eq!(Pattern::Itself.leaves_alone(&NodeSet::all(8)), None);
        let one = |with_self| {
            Pattern::uniform(NodeSet::of(&[5], 8).unwrap(), with_self).map(|p| p.leaves_alone(&NodeSet::all(8)))
        };
        assert_eq!((one(true), one(false)), (Ok(None), Err(PatternError::NobodyElse)));
        let among = |with_self| Pattern::uniform(NodeSet::of(&[2, 5], 8).unwrap(), with_self).unwrap();
        assert_eq!([true, false].map(|with_self| among(with_self).may_choose_source(5)), [true, false]);
        assert!(Pattern::Itself.may_choose_source(5) && !among(true).may_choose_source(4));
        // The unbalanced traffic of switches: half to the own number, the rest to all alike.
        let uniform = Pattern::uniform(NodeSet::all(4), true).unwrap();
        let unbalanced = Pattern::mix(vec![Pattern::Itself, uniform], &[0.5, 0.5]);
        assert!(close(&shares(&unbalanced, 1, 4), &[0.125, 0.625, 0.125, 0.125]));
    }

    #[test]
    fn mixtures_keep_their_weights() {
        let shift = |by| Pattern::shift(&NodeSet::all(4), 4, by).unwrap();
        let mix = Pattern::mix(vec![shift(1), shift(2)], &[3.0, 1.0]);
        assert!(close(&shares(&mix, 0, 4), &[0.0, 0.75, 0.25, 0.0]));
    }

    #[test]
    fn impossible_patterns_are_refused() {
        let message = |error: PatternError| error.to_string();
        let error = Pattern::adversarial(Groups { count: 9, nodes_each: 8 }, 18, None).unwrap_err();
        assert_eq!(message(error), "18 is a multiple of 9: sources would send to where they are");
        assert_eq!(
            message(Pattern::shift(&NodeSet::all(4), 4, 4).unwrap_err()),
            "4 is a multiple of 4: sources would send to where they are"
        );
        assert_eq!(
            message(Pattern::bit_complement(&NodeSet::all(72), 72).unwrap_err()),
            "there are 72 nodes, which is not a power of two"
        );
        assert_eq!(
            message(Pattern::uniform(NodeSet::all(1), false).unwrap_err()),
            "a source has nobody but itself to send to"
        );
    }
}
