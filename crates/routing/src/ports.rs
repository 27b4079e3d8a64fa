//! Sets of the ports of a router.

use std::ops::{Range, RangeInclusive};

use tailback_topology::Port;

/// Enough for all ports that a router can have.
const WORDS: usize = 4;

/// A set of ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortSet([u64; WORDS]);

impl PortSet {
    /// A single port.
    #[inline]
    #[must_use]
    pub fn of(port: Port) -> Self {
        let mut set = Self::default();
        set.insert(port);
        set
    }

    /// All ports of a range.
    #[inline]
    #[must_use]
    pub fn from_range(ports: Range<u16>) -> Self {
        let mut set = Self::default();
        ports.for_each(|port| set.insert(port as Port));
        set
    }

    /// The set as one word, if all are among the first 64.
    #[inline]
    #[must_use]
    pub fn first_word(&self) -> Option<u64> {
        let [first, others @ ..] = self.0;
        (others == [0; WORDS - 1]).then_some(first)
    }

    /// Adds a port.
    #[inline]
    pub fn insert(&mut self, port: Port) {
        self.0[usize::from(port) / 64] |= 1 << (port % 64);
    }

    /// Takes a port out, if it is in.
    #[inline]
    pub fn remove(&mut self, port: Port) {
        self.0[usize::from(port) / 64] &= !(1 << (port % 64));
    }

    /// Whether a port is in.
    #[inline]
    #[must_use]
    pub fn contains(&self, port: Port) -> bool {
        self.0[usize::from(port) / 64] & 1 << (port % 64) != 0
    }

    /// How many ports there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        // Most routers have fewer ports than a word has bits.
        let [first, others @ ..] = self.0;
        if others == [0; WORDS - 1] {
            return first.count_ones();
        }
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether there is none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// The ports, smallest first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Port> + use<> {
        let mut words = self.0;
        let mut word = 0;
        // The last word that is not empty.
        let last = (1..WORDS).rev().find(|&word| words[word] != 0).unwrap_or(0);
        std::iter::from_fn(move || {
            while words[word] == 0 {
                if word == last {
                    return None;
                }
                word += 1;
            }
            let bit = words[word].trailing_zeros();
            words[word] &= words[word] - 1;
            Some((word as u32 * 64 + bit) as Port)
        })
    }

    /// The first and the last of all that are neighbours.
    pub(crate) fn runs(self) -> Vec<RangeInclusive<Port>> {
        let mut runs: Vec<RangeInclusive<Port>> = Vec::new();
        for port in self.iter() {
            match runs.last_mut() {
                Some(run) if *run.end() + 1 == port => *run = *run.start()..=port,
                _ => runs.push(port..=port),
            }
        }
        runs
    }

    /// The smallest.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<Port> {
        let word = self.0.iter().position(|&ports| ports != 0)?;
        Some((word as u32 * 64 + self.0[word].trailing_zeros()) as Port)
    }

    /// The one with `index` smaller ones.
    ///
    /// # Panics
    /// When there are no more than `index`.
    #[inline]
    #[must_use]
    pub fn nth(&self, index: u32) -> Port {
        let mut left = index;
        for (word, &ports) in self.0.iter().enumerate() {
            let count = ports.count_ones();
            if left < count {
                let ports = (0..left).fold(ports, |ports, _| ports & (ports - 1));
                return (word as u32 * 64 + ports.trailing_zeros()) as Port;
            }
            left -= count;
        }
        panic!("the index is below the number of ports")
    }

    /// Those for which a condition holds.
    #[inline]
    #[must_use]
    pub fn filter(&self, mut holds: impl FnMut(Port) -> bool) -> Self {
        let mut set = *self;
        for (word, ports) in (0u32..).zip(&mut set.0) {
            let mut left = *ports;
            while left != 0 {
                let port = left & left.wrapping_neg();
                left ^= port;
                if !holds((word * 64 + port.trailing_zeros()) as Port) {
                    *ports ^= port;
                }
            }
        }
        set
    }

    /// What a number comes to that each port adds to, smallest first.
    #[inline]
    #[must_use]
    pub fn sum(&self, mut of: impl FnMut(Port) -> u32) -> u32 {
        let mut sum = 0;
        for (word, &ports) in (0u32..).zip(&self.0) {
            let mut left = ports;
            while left != 0 {
                sum += of((word * 64 + left.trailing_zeros()) as Port);
                left &= left - 1;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_like_a_set(acts in prop::collection::vec((any::<bool>(), any::<u8>()), 0..60), start in 0u16..256) {
            let mut set = PortSet::from_range(start..256.min(start + 9));
            let mut model: BTreeSet<u8> = (start..256.min(start + 9)).map(|port| port as u8).collect();
            for (adds, port) in acts {
                if adds {
                    set.insert(port);
                    model.insert(port);
                } else {
                    set.remove(port);
                    model.remove(&port);
                }
            }
            let ports: Vec<u8> = model.iter().copied().collect();
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), &ports[..]);
            prop_assert_eq!((set.len() as usize, set.is_empty()), (model.len(), model.is_empty()));
            prop_assert_eq!(set.first(), model.first().copied());
            let runs = set.runs();
            prop_assert_eq!(runs.iter().cloned().flatten().collect::<Vec<_>>(), &ports[..]);
            prop_assert!(runs.windows(2).all(|two| u16::from(*two[0].end()) + 1 < u16::from(*two[1].start())));
            for (index, &port) in ports.iter().enumerate() {
                prop_assert_eq!(set.nth(index as u32), port);
                prop_assert_eq!(PortSet::of(port).first(), Some(port));
            }
            let odd: Vec<u8> = ports.into_iter().filter(|port| port % 2 == 1).collect();
            prop_assert_eq!(set.filter(|port| port % 2 == 1).iter().collect::<Vec<_>>(), odd);
        }
    }
}
