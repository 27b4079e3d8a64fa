//! Data in the order in which it was offered, for protocols that ask for it.

use std::collections::BTreeMap;

/// What has arrived of data before what comes first: by flow, then by message and place in it.
#[derive(Debug)]
pub(super) struct Order<T> {
    waiting: BTreeMap<(u32, u32), BTreeMap<(usize, u32), T>>,
    /// By flow: the message that was come to, and how many of its packets are done.
    done: BTreeMap<(u32, u32), (usize, u32)>,
}

impl<T> Order<T> {
    pub fn new() -> Self {
        Self { waiting: BTreeMap::new(), done: BTreeMap::new() }
    }

    /// A packet has arrived. Returns those that are in order now, and how many wait at its node. `messages` are all that have been
    /// offered: source, destination, and packets.
    pub fn add(&mut self, place: (usize, u32), item: T, messages: &[(u32, u32, u32)]) -> (Vec<T>, usize) {
        let (from, to, _) = messages[place.0];
        self.waiting.entry((from, to)).or_default().insert(place, item);
        let waiting = self.waiting.get_mut(&(from, to)).expect("it has just been there");
        let done = self.done.entry((from, to)).or_default();
        let mut in_order = Vec::new();
        for (message, &(source, destination, packets)) in messages.iter().enumerate().skip(done.0) {
            if (source, destination) != (from, to) {
                continue;
            }
            // Of a message that was not the last one before nothing is done.
            let first = if message == done.0 { done.1 } else { 0 };
            let next: Vec<_> = (first..packets).map_while(|index| waiting.remove(&(message, index))).collect();
            *done = (message, first + next.len() as u32);
            in_order.extend(next);
            if done.1 < packets {
                break;
            }
        }
        let at_node = self.waiting.iter().filter(|((_, node), _)| *node == to);
        (in_order, at_node.map(|(_, waiting)| waiting.len()).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_early_waits() {
        // Two packets from 0 to 1, one from 2 to 1, and one more from 0 to 1.
        let messages = [(0, 1, 2), (2, 1, 1), (0, 1, 1)];
        let mut order = Order::new();
        assert_eq!(order.add((2, 0), "d", &messages), (vec![], 1));
        assert_eq!(order.add((0, 1), "b", &messages), (vec![], 2));
        assert_eq!(order.add((1, 0), "c", &messages), (vec!["c"], 2), "another flow waits for nobody");
        assert_eq!(order.add((0, 0), "a", &messages), (vec!["a", "b", "d"], 0));
        let more = [(0, 1, 2), (2, 1, 1), (0, 1, 1), (2, 1, 1), (0, 1, 1)];
        assert_eq!(order.add((4, 0), "e", &more), (vec!["e"], 0), "what was offered later comes later");
    }
}
