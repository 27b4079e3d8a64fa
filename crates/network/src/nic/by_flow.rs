//! Maps by flow: what nodes have for each of those that they send to or receive from.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Something for each flow: by node and destination, or by source and message.
pub(super) type ByFlow<T> = HashMap<u64, T, BuildHasherDefault<KeyHasher>>;

/// The key of what a node sends to a destination.
pub(super) fn flow(node: u32, destination: u32) -> u64 {
    u64::from(node) << 32 | u64::from(destination)
}

/// A hasher for keys that are spread well by one multiplication. Maps with it are looked up, never gone through.
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
