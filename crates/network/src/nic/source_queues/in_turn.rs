//! Queues of destinations that take turns by number, whatever injection queue they are in.

use serde::{Deserialize, Serialize};

use crate::packet::NONE;

const BITS: usize = u64::BITS as usize;

/// Which destinations wait in each injection queue, and whose turn it is at each node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct InTurn {
    destinations: u32,
    injection_queues_per_node: usize,
    /// For each injection queue a bit for each destination that waits in it.
    waiting: Vec<u64>,
    /// For each injection queue how many do.
    counts: Vec<u32>,
    /// For each node a bit for each of its injection queues in which any does.
    occupied: Vec<u32>,
    /// For each node and destination its queue, while it waits in an injection queue.
    queues: Vec<u32>,
    /// The destination that each node served last.
    last: Vec<u32>,
}

impl InTurn {
    pub fn new(nodes: usize, injection_queues_per_node: usize, destinations: u32) -> Self {
        let words = nodes * injection_queues_per_node * words(destinations);
        // Destination 0 has the first turn.
        let queues = vec![NONE; nodes * destinations as usize];
        Self {
            destinations,
            injection_queues_per_node,
            waiting: vec![0; words],
            counts: vec![0; nodes * injection_queues_per_node],
            occupied: vec![0; nodes],
            queues,
            last: vec![destinations - 1; nodes],
        }
    }

    fn waiting(&self, position: usize) -> &[u64] {
        let words = words(self.destinations);
        &self.waiting[position * words..(position + 1) * words]
    }

    fn bit(&mut self, position: usize, destination: u32) -> (&mut u64, u64) {
        let place = position * words(self.destinations) + destination as usize / BITS;
        (&mut self.waiting[place], 1 << (destination as usize % BITS))
    }

    /// The queue of a destination, which does not wait, waits in an injection queue from now on.
    pub fn put(&mut self, position: usize, destination: u32, queue: u32) {
        let (node, injection_queue) = self.place(position);
        let (word, bit) = self.bit(position, destination);
        *word |= bit;
        self.counts[position] += 1;
        self.occupied[node] |= 1 << injection_queue;
        self.queues[node * self.destinations as usize + destination as usize] = queue;
    }

    /// The queue of a destination, which waits in an injection queue, does so no more.
    pub fn take(&mut self, position: usize, destination: u32) {
        let (node, injection_queue) = self.place(position);
        let (word, bit) = self.bit(position, destination);
        *word &= !bit;
        self.counts[position] -= 1;
        if self.counts[position] == 0 {
            self.occupied[node] &= !(1 << injection_queue);
        }
    }

    /// The node of an injection queue, and which of its injection queues it is.
    fn place(&self, position: usize) -> (usize, usize) {
        (position / self.injection_queues_per_node, position % self.injection_queues_per_node)
    }

    /// A bit for each injection queue of a node in which any destination waits.
    #[inline]
    pub fn occupied(&self, node: u32) -> u32 {
        self.occupied[node as usize]
    }

    /// The queue of a destination that waits.
    #[inline]
    pub fn queue(&self, node: u32, destination: u32) -> u32 {
        self.queues[node as usize * self.destinations as usize + destination as usize]
    }

    /// A node serves a destination, which waits no more in an injection queue.
    pub fn serve(&mut self, node: u32, position: usize, destination: u32) {
        self.take(position, destination);
        self.last[node as usize] = destination;
    }

    /// The first destination after the one that `node` served last, of those that wait in an injection queue of it.
    #[inline]
    pub fn first(&self, node: u32, position: usize) -> Option<u32> {
        let from = (self.last[node as usize] + 1) % self.destinations;
        let waiting = self.waiting(position);
        let start = from as usize / BITS;
        let after = waiting[start] & (u64::MAX << (from as usize % BITS));
        // The word of the start comes twice: its end first, its beginning last.
        let words = (start + 1..waiting.len()).chain(0..=start).map(|word| (word, waiting[word]));
        let (word, bits) = std::iter::once((start, after)).chain(words).find(|(_, bits)| *bits != 0)?;
        Some((word * BITS) as u32 + bits.trailing_zeros())
    }

    /// How many destinations have their turn at a node before this one.
    pub fn distance(&self, node: u32, destination: u32) -> u32 {
        (destination + self.destinations - 1 - self.last[node as usize]) % self.destinations
    }
}

fn words(destinations: u32) -> usize {
    (destinations as usize).div_ceil(BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_after_the_last_that_was_served_comes_next() {
        let mut turns = InTurn::new(2, 3, 150);
        assert_eq!(turns.first(1, 4), None);
        for destination in [3, 70, 149] {
            turns.put(4, destination, 7 + destination);
        }
        for (last, next) in [(149, 3), (0, 3), (2, 3), (3, 70), (69, 70), (70, 149), (148, 149)] {
            turns.last[1] = last;
            assert_eq!((turns.first(1, 4), turns.first(1, 3)), (Some(next), None), "after {last}");
            assert_eq!(turns.distance(1, next), (next + 149 - last) % 150, "after {last}");
        }
        assert_eq!(turns.queue(1, 70), 77);
        turns.take(4, 149);
        assert_eq!((turns.occupied(0), turns.occupied(1)), (0, 0b10), "injection queue 4 is the second of node 1");
        assert_eq!(turns.first(1, 4), Some(3), "all around, to the beginning of the word that it began in");
        [3, 70].into_iter().for_each(|destination| turns.take(4, destination));
        assert_eq!((turns.first(1, 4), turns.occupied(1)), (None, 0));
    }
}
