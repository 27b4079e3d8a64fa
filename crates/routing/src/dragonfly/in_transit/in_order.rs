//! Counters that are counted down in the order in which packets began to cross.
//!
//! A packet that cuts through crosses as slowly as its flits arrive, and packets that began later for the same counter may be
//! gone before it. Where counters are counted down in order, those go on to count until it is gone as well: the program of
//! the paper's authors keeps the ends of crossings in such queues. With few nodes per router this is what makes counters reach
//! their thresholds.

use std::collections::VecDeque;

/// A packet that counts: the queue it came from, and whether its tail has left that.
type Crossing = (u16, bool);

/// Packets that have begun to cross and still count, by counter, in the order in which they began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Crossings(Vec<VecDeque<Crossing>>);

/// Those of the counters by output, and by group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InOrder {
    pub by_output: Crossings,
    pub by_group: Crossings,
}

impl Crossings {
    /// A packet of a queue begins to cross that counts for `counter`.
    pub fn begin(&mut self, counter: u16, queue: u16) {
        self.0[usize::from(counter)].push_back((queue, false));
    }

    /// The tail of a packet that counts for `counter` has left its queue. Returns how many do not count any more.
    pub fn end(&mut self, counter: u16, queue: u16) -> u16 {
        let crossings = &mut self.0[usize::from(counter)];
        match crossings.iter_mut().find(|crossing| **crossing == (queue, false)) {
            Some((_, ended)) => *ended = true,
            None => return 1, // it has not crossed: the router has dropped it
        }
        let gone = crossings.iter().take_while(|(_, ended)| *ended).count();
        crossings.drain(..gone);
        gone as u16
    }
}

impl InOrder {
    pub fn new(ports: usize, groups: usize) -> Self {
        let [by_output, by_group] = [ports, groups].map(|counters| Crossings(vec![VecDeque::new(); counters]));
        Self { by_output, by_group }
    }

    /// The tail of a packet that counts for an output, and perhaps for a group, has left its queue. Returns how many of each do not count any more. Apart,
    /// so that counters that are counted down at once do not carry its code.
    #[cold]
    pub fn end(&mut self, output: u16, group: Option<u16>, queue: u16) -> (u16, u16) {
        let of_group = group.map_or(0, |group| self.by_group.end(group, queue));
        (self.by_output.end(output, queue), of_group)
    }

    pub fn save(&self, bytes: &mut Vec<u8>) {
        for crossings in self.by_output.0.iter().chain(&self.by_group.0) {
            bytes.extend((crossings.len() as u16).to_le_bytes());
            let words = crossings.iter().flat_map(|&(queue, ended)| [queue, ended.into()]);
            bytes.extend(words.flat_map(u16::to_le_bytes));
        }
    }

    pub fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let mut next = || {
            let (word, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u16::from_le_bytes(*word))
        };
        for crossings in self.by_output.0.iter_mut().chain(&mut self.by_group.0) {
            let count = next()?;
            *crossings = (0..count).map(|_| Some((next()?, next()? != 0))).collect::<Option<_>>()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_began_later_counts_until_what_began_before_is_gone() {
        let mut crossing = InOrder::new(2, 1);
        crossing.by_output.begin(0, 7); // as slowly as it arrives
        crossing.by_output.begin(0, 8);
        crossing.by_output.begin(1, 9);
        assert_eq!(crossing.by_output.end(0, 8), 0, "that of queue 7 is still crossing");
        assert_eq!(crossing.by_output.end(1, 9), 1, "each counter has an order of its own");
        crossing.by_output.begin(0, 8);
        let mut bytes = Vec::new();
        crossing.save(&mut bytes);
        let (mut twin, mut rest) = (InOrder::new(2, 1), bytes.as_slice());
        assert_eq!(twin.load(&mut rest), Some(()));
        assert!(rest.is_empty() && twin == crossing);
        assert_eq!(crossing.by_output.end(0, 7), 2);
        assert_eq!(crossing.by_output.end(0, 8), 1);
        assert_eq!(crossing.by_output.end(0, 8), 1, "a packet that is dropped has not begun");
    }
}
