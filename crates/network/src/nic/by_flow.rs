//! What nodes have for each of those that they send to or receive from.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

/// Maps from 64-bit numbers that are looked up, never gone through in their order.
pub(super) type ByKey<T> = HashMap<u64, T, BuildHasherDefault<KeyHasher>>;

/// One key for two numbers.
#[inline]
pub(super) fn both_as_key(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// Something for each flow: by a node of the region and any node of the network.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    from = "Saved<T>",
    into = "Saved<T>",
    bound(serialize = "T: Copy + PartialEq + Serialize", deserialize = "T: Copy + PartialEq + Deserialize<'de>")
)]
pub(super) struct ByFlow<T> {
    nodes: u32,
    others: u32,
    /// What flows have that nothing else is known of: most of them, it may be.
    none: T,
    entries: Entries<T>,
}

#[derive(Clone, Debug)]
enum Entries<T> {
    /// A place for each flow, which is found without a hash.
    Table(Vec<T>),
    /// Those that have something else, where tables would be large.
    Map(ByKey<T>),
}

/// The largest networks whose flows have places in tables have so many flows, from each node to each: tables take as much of all regions together,
/// however many there are.
pub const TABLE_FLOWS_MAX: u64 = 1 << 21;

impl<T: Copy + PartialEq> ByFlow<T> {
    /// For flows between so many nodes of the region and so many of the network, which have `none`.
    pub fn new(nodes: u32, others: u32, none: T) -> Self {
        Self::with_table_up_to(TABLE_FLOWS_MAX, nodes, others, none)
    }

    fn with_table_up_to(most: u64, nodes: u32, others: u32, none: T) -> Self {
        let entries = if u64::from(others).pow(2) <= most {
            Entries::Table(vec![none; place(nodes, 0, others)])
        } else {
            Entries::Map(ByKey::default())
        };
        Self { nodes, others, none, entries }
    }

    #[inline]
    pub fn get(&self, node: u32, other: u32) -> T {
        match &self.entries {
            Entries::Table(table) => table[place(node, other, self.others)],
            Entries::Map(map) => map.get(&both_as_key(node, other)).copied().unwrap_or(self.none),
        }
    }

    /// What a flow has, to be changed.
    #[inline]
    pub fn get_mut(&mut self, node: u32, other: u32) -> &mut T {
        match &mut self.entries {
            Entries::Table(table) => &mut table[place(node, other, self.others)],
            Entries::Map(map) => map.entry(both_as_key(node, other)).or_insert(self.none),
        }
    }

    /// A flow has nothing else from now on.
    #[inline]
    pub fn clear(&mut self, node: u32, other: u32) {
        match &mut self.entries {
            Entries::Table(table) => table[place(node, other, self.others)] = self.none,
            Entries::Map(map) => _ = map.remove(&both_as_key(node, other)),
        }
    }

    /// What each flow has that has something else, in order.
    #[allow(clippy::disallowed_methods, reason = "it is put in order here")]
    pub fn list(&self) -> Vec<((u32, u32), T)> {
        let split = |key: u64| ((key >> 32) as u32, key as u32);
        let is_known = |&(_, value): &(_, T)| value != self.none;
        match &self.entries {
            Entries::Table(table) => {
                let flows = (0..self.nodes).flat_map(|node| (0..self.others).map(move |other| (node, other)));
                flows.zip(table.iter().copied()).filter(is_known).collect()
            }
            Entries::Map(map) => {
                let found = map.iter().map(|(&key, &value)| (split(key), value));
                let mut found: Vec<_> = found.filter(is_known).collect();
                found.sort_unstable_by_key(|&(flow, _)| flow);
                found
            }
        }
    }

    /// Of how many nodes of the region, and of how many of the network, flows are.
    pub fn sizes(&self) -> (u32, u32) {
        (self.nodes, self.others)
    }
}

#[inline]
fn place(node: u32, other: u32, others: u32) -> usize {
    node as usize * others as usize + other as usize
}

/// What is written of it.
#[derive(Serialize, Deserialize)]
struct Saved<T> {
    nodes: u32,
    others: u32,
    none: T,
    list: Vec<((u32, u32), T)>,
}

impl<T: Copy + PartialEq> From<ByFlow<T>> for Saved<T> {
    fn from(flows: ByFlow<T>) -> Self {
        Self { nodes: flows.nodes, others: flows.others, none: flows.none, list: flows.list() }
    }
}

impl<T: Copy + PartialEq> From<Saved<T>> for ByFlow<T> {
    fn from(Saved { nodes, others, none, list }: Saved<T>) -> Self {
        let mut flows = Self::new(nodes, others, none);
        list.into_iter().for_each(|((node, other), value)| *flows.get_mut(node, other) = value);
        flows
    }
}

/// A hasher for keys that are spread well by one multiplication.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are 64-bit numbers")
    }

    fn write_u64(&mut self, key: u64) {
        let product = u128::from(key) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::written_and_read;
    use super::*;

    proptest! {
        /// Flows get values, 7 among them, which is that of none, and lose them.
        #[test]
        fn tables_and_maps_are_the_same(
            changes in prop::collection::vec((0..3_u32, 0..5_u32, prop::option::of(5..9_u32)), 0..40),
        ) {
            let (mut table, mut map) = (ByFlow::new(3, 5, 7), ByFlow::with_table_up_to(24, 3, 5, 7));
            prop_assert!(matches!((&table.entries, &map.entries), (Entries::Table(_), Entries::Map(_))));
            let mut expected = std::collections::BTreeMap::new();
            for (node, other, change) in changes {
                for flows in [&mut table, &mut map] {
                    match change {
                        Some(value) => *flows.get_mut(node, other) = value,
                        None => flows.clear(node, other),
                    }
                }
                expected.insert((node, other), change.unwrap_or(7));
            }
            expected.retain(|_, value| *value != 7);
            let expected: Vec<_> = expected.into_iter().collect();
            for flows in [&table, &map, &written_and_read(&table), &written_and_read(&map)] {
                prop_assert_eq!(&flows.list(), &expected);
                prop_assert_eq!(flows.get(1, 4), expected.iter().find(|(flow, _)| *flow == (1, 4)).map_or(7, |(_, value)| *value));
            }
        }
    }
}
