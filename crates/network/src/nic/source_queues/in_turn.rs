//! Queues of destinations that take turns by number, whatever injection queue they are in.

use serde::{Deserialize, Serialize};

const BITS: usize = u64::BITS as usize;

/// Which destinations wait in each injection queue, and whose turn it is at each node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct InTurn {
    destinations: u32,
    injection_queues_per_node: usize,
    /// For each node, each word of destinations and each of its injection queues a bit for each destination that waits in it.
    waiting: Vec<u64>,
    /// For each injection queue how many do.
    counts: Vec<u32>,
    /// For each node a bit for each of its injection queues in which any does.
    occupied: Vec<u32>,
    /// The destination that each node served last.
    last: Vec<u32>,
}

/// Which destination comes next, and where it waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Next {
    pub injection_queue: usize,
    pub destination: u32,
}

impl InTurn {
    pub fn new(nodes: usize, injection_queues_per_node: usize, destinations: u32) -> Self {
        Self {
            destinations,
            injection_queues_per_node,
            waiting: vec![0; nodes * injection_queues_per_node * words(destinations)],
            counts: vec![0; nodes * injection_queues_per_node],
            occupied: vec![0; nodes],
            // Destination 0 has the first turn.
            last: vec![destinations - 1; nodes],
        }
    }

    /// The words of a node's injection queues for some destinations.
    #[inline]
    fn waiting(&self, node: u32, word: usize) -> &[u64] {
        let place = (node as usize * words(self.destinations) + word) * self.injection_queues_per_node;
        &self.waiting[place..place + self.injection_queues_per_node]
    }

    fn bit(&mut self, node: u32, injection_queue: usize, destination: u32) -> (&mut u64, u64) {
        let word = node as usize * words(self.destinations) + destination as usize / BITS;
        (&mut self.waiting[word * self.injection_queues_per_node + injection_queue], 1 << (destination as usize % BITS))
    }

    /// A destination waits in an injection queue of a node from now on.
    pub fn put(&mut self, node: u32, injection_queue: usize, destination: u32) {
        let (word, bit) = self.bit(node, injection_queue, destination);
        *word |= bit;
        self.counts[node as usize * self.injection_queues_per_node + injection_queue] += 1;
        self.occupied[node as usize] |= 1 << injection_queue;
    }

    /// A destination waits in an injection queue no more.
    pub fn take(&mut self, node: u32, injection_queue: usize, destination: u32) {
        let (word, bit) = self.bit(node, injection_queue, destination);
        *word &= !bit;
        let count = &mut self.counts[node as usize * self.injection_queues_per_node + injection_queue];
        *count -= 1;
        if *count == 0 {
            self.occupied[node as usize] &= !(1 << injection_queue);
        }
    }

    /// A node serves a destination, which waits no more in an injection queue.
    pub fn serve(&mut self, node: u32, injection_queue: usize, destination: u32) {
        self.take(node, injection_queue, destination);
        self.last[node as usize] = destination;
    }

    /// The first destination after the one that `node` served last, of those that wait in its injection queue.
    #[inline]
    pub fn first(&self, node: u32, injection_queue: usize) -> Option<u32> {
        self.first_of(node, 1 << injection_queue).map(|next| next.destination)
    }

    /// The first of all destinations that wait at a node, without those in injection queues that were `tried`.
    #[inline]
    pub fn next(&self, node: u32, tried: u32) -> Option<Next> {
        self.first_of(node, self.occupied[node as usize] & !tried)
    }

    /// The first destination after the one that `node` served last, of those that wait in any of these injection queues.
    #[inline]
    fn first_of(&self, node: u32, injection_queues: u32) -> Option<Next> {
        if injection_queues == 0 {
            return None;
        }
        let next = self.last[node as usize] + 1;
        let next = if next == self.destinations { 0 } else { next } as usize;
        let (start, before) = (next / BITS, !(u64::MAX << (next % BITS)));
        self.first_in_word(node, injection_queues, start, !before)
            .or_else(|| {
                (start + 1..words(self.destinations))
                    .find_map(|word| self.first_in_word(node, injection_queues, word, u64::MAX))
            })
            .or_else(|| (0..start).find_map(|word| self.first_in_word(node, injection_queues, word, u64::MAX)))
            .or_else(|| self.first_in_word(node, injection_queues, start, before))
    }

    /// The same among the destinations of a word that have a bit in `among`.
    #[inline]
    fn first_in_word(&self, node: u32, injection_queues: u32, word: usize, among: u64) -> Option<Next> {
        let waiting = self.waiting(node, word);
        let mut left = injection_queues;
        let mut all = 0;
        while left != 0 {
            all |= waiting[left.trailing_zeros() as usize];
            left &= left - 1;
        }
        let first = all & among;
        if first == 0 {
            return None;
        }
        let first = first.trailing_zeros();
        let mut left = injection_queues;
        while waiting[left.trailing_zeros() as usize] >> first & 1 == 0 {
            left &= left - 1;
        }
        Some(Next { injection_queue: left.trailing_zeros() as usize, destination: (word * BITS) as u32 + first })
    }
}

#[inline]
fn words(destinations: u32) -> usize {
    (destinations as usize).div_ceil(BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_after_the_last_that_was_served_comes_next() {
        let mut turns = InTurn::new(2, 3, 150);
        assert_eq!((turns.first(1, 1), turns.next(1, 0)), (None, None));
        for (injection_queue, destination) in [(1, 3), (2, 70), (1, 149)] {
            turns.put(1, injection_queue, destination);
        }
        let in_queue = |injection_queue, destination| Some(Next { injection_queue, destination });
        for (last, next, of_1) in
            [(149, 3, 3), (0, 3, 3), (2, 3, 3), (3, 70, 149), (69, 70, 149), (70, 149, 149), (148, 149, 149)]
        {
            turns.last[1] = last;
            assert_eq!(turns.next(1, 0), in_queue(if next == 70 { 2 } else { 1 }, next), "after {last}");
            assert_eq!(turns.next(1, 0b10), in_queue(2, 70), "after {last}, without those of 1");
            assert_eq!(turns.next(1, 0b100), in_queue(1, of_1), "after {last}, without those of 2");
            assert_eq!(
                (turns.first(1, 0), turns.first(1, 1), turns.first(1, 2)),
                (None, Some(of_1), Some(70)),
                "after {last}"
            );
        }
        turns.take(1, 1, 149);
        assert_eq!(turns.first(1, 1), Some(3), "all around, to the beginning of the word that it began in");
        turns.serve(1, 2, 70);
        assert_eq!((turns.next(1, 0), turns.next(0, 0)), (in_queue(1, 3), None));
        turns.serve(1, 1, 3);
        assert_eq!((turns.first(1, 1), turns.occupied, turns.last), (None, vec![0, 0], vec![149, 3]));
    }
}
