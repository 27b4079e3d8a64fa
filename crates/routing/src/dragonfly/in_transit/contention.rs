//! Contention counters: how many packets want each output, by where their headers are.
//!
//! A packet counts for its minimal output, whichever it takes, from the moment in which its header is at the head of an
//! input queue until its tail has left that queue, or, where counters are counted down in order, until those that began
//! to cross before it do not count any more either ([`InOrder`]).

use super::in_order::InOrder;
use crate::{Notice, PortVc};

/// Nothing is counted for a queue.
const NOBODY: u16 = u16::MAX;

/// The counters of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contention {
    /// By output.
    counts: Vec<u16>,
    /// By group: packets that came from nodes or other groups and go to that group.
    partial: Vec<u16>,
    /// By queue: the output and the group that its head or crossing packet counts for.
    counted: Vec<(u16, u16)>,
    /// What was broadcast last.
    told: Vec<u16>,
    /// Packets that cross, where counters are counted down in order.
    crossing: Option<InOrder>,
}

impl Contention {
    pub fn new(ports: u32, groups: u32, in_order: bool) -> Self {
        Self {
            counts: vec![0; ports as usize],
            partial: vec![0; groups as usize],
            counted: vec![(NOBODY, NOBODY); ports as usize * PortVc::VCS_MAX],
            told: vec![0; groups as usize],
            crossing: in_order.then(|| InOrder::new(ports as usize, groups as usize)),
        }
    }

    /// How many packets want an output.
    #[inline]
    pub fn count(&self, port: u8) -> u32 {
        self.counts[usize::from(port)].into()
    }

    /// How many packets came from nodes or other groups and go to a group.
    #[inline]
    pub fn partial(&self, group: u32) -> u32 {
        self.partial[group as usize].into()
    }

    #[inline]
    pub fn head_arrived(&mut self, entry: PortVc, minimal: u8, leaves_for: Option<u32>) {
        let counted = &mut self.counted[entry.place()];
        debug_assert_eq!(*counted, (NOBODY, NOBODY), "a queue has one head");
        *counted = (minimal.into(), leaves_for.map_or(NOBODY, |group| group as u16));
        self.counts[usize::from(minimal)] += 1;
        if let Some(group) = leaves_for {
            self.partial[group as usize] += 1;
        }
    }

    pub fn head_crosses(&mut self, entry: PortVc) {
        let queue = entry.place();
        if let Some(crossing) = &mut self.crossing {
            let (port, group) = self.counted[queue];
            crossing.by_output.begin(port, queue as u16);
            if group != NOBODY {
                crossing.by_group.begin(group, queue as u16);
            }
        }
    }

    #[inline]
    pub fn tail_left(&mut self, entry: PortVc) {
        let queue = entry.place();
        let (port, group) = std::mem::replace(&mut self.counted[queue], (NOBODY, NOBODY));
        if self.crossing.is_some() {
            return self.tail_left_in_order(port, group, queue as u16);
        }
        self.counts[usize::from(port)] -= 1;
        if group != NOBODY {
            self.partial[usize::from(group)] -= 1;
        }
    }

    /// The same of the head of a queue that is no more counted when those before it are not either.
    #[inline(never)]
    fn tail_left_in_order(&mut self, port: u16, group: u16, queue: u16) {
        let crossing = self.crossing.as_mut().expect("crossings are followed");
        let (of_port, of_group) = crossing.end(port, (group != NOBODY).then_some(group), queue);
        self.counts[usize::from(port)] -= of_port;
        if group != NOBODY {
            self.partial[usize::from(group)] -= of_group;
        }
    }

    /// The counts by group, if they are others than were told the last time.
    pub fn broadcast(&mut self) -> Option<Notice> {
        if self.partial == self.told {
            return None;
        }
        self.told.clone_from(&self.partial);
        Some(Notice { word: 0, list: self.partial.clone() })
    }

    pub fn save(&self, bytes: &mut Vec<u8>) {
        let counted = self.counted.iter().flat_map(|&(port, group)| [port, group]);
        let words = self.counts.iter().chain(&self.partial).chain(&self.told).copied().chain(counted);
        bytes.extend(words.flat_map(u16::to_le_bytes));
        if let Some(crossing) = &self.crossing {
            crossing.save(bytes);
        }
    }

    pub fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let mut next = || {
            let (word, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u16::from_le_bytes(*word))
        };
        for word in self.counts.iter_mut().chain(&mut self.partial).chain(&mut self.told) {
            *word = next()?;
        }
        for (port, group) in &mut self.counted {
            (*port, *group) = (next()?, next()?);
        }
        match &mut self.crossing {
            Some(crossing) => crossing.load(bytes),
            None => Some(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a list of who is there.
        #[test]
        fn counters_stand_for_the_heads_there_are(
            acts in prop::collection::vec((0u8..5, 0u8..PortVc::VCS_MAX as u8, 0u8..5, prop::option::of(0u32..4)), 0..80),
        ) {
            let mut contention = Contention::new(5, 4, false);
            let mut heads: Vec<(PortVc, u8, Option<u32>)> = Vec::new();
            for (port, vc, minimal, group) in acts {
                let channel = PortVc { port, vc };
                match heads.iter().position(|(there, _, _)| *there == channel) {
                    Some(index) => {
                        heads.swap_remove(index);
                        contention.tail_left(channel);
                    }
                    None => {
                        heads.push((channel, minimal, group));
                        contention.head_arrived(channel, minimal, group);
                    }
                }
                for port in 0..5 {
                    let wanted = heads.iter().filter(|(_, minimal, _)| *minimal == port).count();
                    prop_assert_eq!(contention.count(port) as usize, wanted);
                }
                for group in 0..4 {
                    let leaving = heads.iter().filter(|(_, _, leaves)| *leaves == Some(group)).count();
                    prop_assert_eq!(contention.partial(group) as usize, leaving);
                }
            }
            let mut bytes = Vec::new();
            contention.save(&mut bytes);
            let mut twin = Contention::new(5, 4, false);
            let mut rest = bytes.as_slice();
            prop_assert_eq!(twin.load(&mut rest), Some(()));
            prop_assert!(rest.is_empty() && twin == contention);
            let told = contention.broadcast().map(|notice| notice.list);
            let busy = (0..4).any(|group| contention.partial(group) > 0);
            prop_assert_eq!(told.is_some(), busy);
            prop_assert_eq!(contention.broadcast(), None);
        }
    }
}
