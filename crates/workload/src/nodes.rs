//! Drawing sets of nodes, and orders of them.

use rand_core::Rng as _;
use tailback_parameters::{NodeSet, NodeSetError};
use tailback_random::Stream;

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
    Ok(NodeSet::ascending(chosen.collect()))
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
            set.iter().for_each(|node| counts[node as usize] += 1);
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
        let error = draw_distinct(5, 4, &mut Stream::new(1, 1, 1)).unwrap_err();
        assert_eq!(error.to_string(), "5 nodes are asked for, there are 4 to choose from");
    }
}
