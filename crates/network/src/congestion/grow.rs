//! Who stands behind whom: pure graphs, without a network.

use std::collections::BTreeMap;

use super::Cause;

/// What the head of a queue waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WaitsFor {
    /// A link that leaves the same router.
    Link(u32),
    /// Room in one of these buffers.
    Buffers(Vec<u32>),
}

/// A queue that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueueState {
    /// The buffer that it is in.
    pub buffer: u32,
    pub waits_for: WaitsFor,
}

/// A tree of queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grown {
    /// The link that all of them wait for in the end, and why.
    pub root: u32,
    pub cause: Cause,
    /// The queues, by their places, the nearest to the root first.
    pub members: Vec<u32>,
    /// How many buffers stand one behind the other.
    pub depth: u32,
}

/// The trees of some queues, by root. `stopped` is by buffer; `cause` tells why some queues wait for a link, if they have to.
pub(super) fn grow(queues: &[QueueState], stopped: &[bool], cause: impl Fn(&[u32]) -> Option<Cause>) -> Vec<Grown> {
    let (mut at_link, mut at_buffer) = (BTreeMap::<u32, Vec<u32>>::new(), BTreeMap::<u32, Vec<u32>>::new());
    for (place, queue) in (0..).zip(queues) {
        match &queue.waits_for {
            WaitsFor::Link(link) => at_link.entry(*link).or_default().push(place),
            WaitsFor::Buffers(buffers) => {
                buffers.iter().for_each(|&buffer| at_buffer.entry(buffer).or_default().push(place));
            }
        }
    }
    let holds_others_up = |&place: &u32| stopped[queues[place as usize].buffer as usize];
    let root = |(root, members): (u32, Vec<u32>)| {
        let cause = members.iter().any(holds_others_up).then(|| cause(&members))??;
        Some(Grown { root, cause, members, depth: 1 })
    };
    let mut trees: Vec<Grown> = at_link.into_iter().filter_map(root).collect();
    let mut taken = vec![false; queues.len()];
    trees.iter().flat_map(|tree| &tree.members).for_each(|&place| taken[place as usize] = true);
    // All trees grow by a level at a time, so each queue is of the nearest.
    let mut seen = vec![0; trees.len()];
    loop {
        let mut grew = false;
        for (tree, seen) in trees.iter_mut().zip(&mut seen) {
            let level = *seen..tree.members.len();
            *seen = level.end;
            for place in level {
                let buffer = queues[tree.members[place] as usize].buffer;
                // What waits for a buffer is all of one tree.
                let behind = at_buffer.remove(&buffer).unwrap_or_default();
                let news = behind.into_iter().filter(|&place| !std::mem::replace(&mut taken[place as usize], true));
                tree.members.extend(news);
            }
            if tree.members.len() > *seen {
                (tree.depth, grew) = (tree.depth + 1, true);
            }
        }
        if !grew {
            return trees;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_link(buffer: u32, link: u32) -> QueueState {
        QueueState { buffer, waits_for: WaitsFor::Link(link) }
    }

    fn at_buffers(buffer: u32, buffers: &[u32]) -> QueueState {
        QueueState { buffer, waits_for: WaitsFor::Buffers(buffers.to_vec()) }
    }

    fn busy(_: &[u32]) -> Option<Cause> {
        Some(Cause::Rate)
    }

    #[test]
    fn a_tree_has_whoever_waits_for_whoever_waits_for_the_root() {
        let queues = [at_link(0, 7), at_link(1, 7), at_buffers(2, &[0]), at_buffers(3, &[2]), at_buffers(4, &[5])];
        let stopped = [true, false, true, true, true, true];
        let trees = grow(&queues, &stopped, busy);
        assert_eq!(trees, [Grown { root: 7, cause: Cause::Rate, members: vec![0, 1, 2, 3], depth: 3 }]);
    }

    #[test]
    fn there_is_none_where_nobody_is_held_up_or_the_link_is_idle() {
        let queues = [at_link(0, 7), at_link(1, 7)];
        assert!(grow(&queues, &[false, false], busy).is_empty());
        assert!(grow(&queues, &[true, true], |_| None).is_empty());
    }

    #[test]
    fn a_queue_between_two_trees_is_of_the_nearest_and_then_of_the_first() {
        let queues =
            [at_link(0, 7), at_link(1, 8), at_buffers(2, &[1]), at_buffers(3, &[0, 2]), at_buffers(4, &[0, 1])];
        let trees = grow(&queues, &[true; 5], busy);
        assert_eq!(trees[0], Grown { root: 7, cause: Cause::Rate, members: vec![0, 3, 4], depth: 2 });
        assert_eq!(trees[1], Grown { root: 8, cause: Cause::Rate, members: vec![1, 2], depth: 2 });
    }

    #[test]
    fn a_circle_without_a_root_is_no_tree() {
        let queues = [at_buffers(0, &[1]), at_buffers(1, &[0]), at_link(2, 7), at_buffers(3, &[2])];
        assert_eq!(
            grow(&queues, &[true; 4], busy),
            [Grown { root: 7, cause: Cause::Rate, members: vec![2, 3], depth: 2 }]
        );
    }
}
