//! The path of a request, which answers take in reverse.

use serde::{Deserialize, Serialize};

/// What packets of a kind have to do with recorded paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathUse {
    /// Nothing.
    #[default]
    None,
    /// Routers record the port by which one has come in.
    Records,
    /// One leaves each router by the port that was recorded there, the last one first.
    Follows,
}

/// The ports by which a request came into the routers on its way. Protocols only pass it on: [`Control::along`](crate::Control::along).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedPath([u64; RecordedPath::WORDS]);

impl RecordedPath {
    /// The words that it takes: with these it has room for 18 clusters in a ring, three routers in each of ten.
    pub const WORDS: usize = 4;
    /// The most routers on it: their number takes a byte, and so does each port.
    pub const ROUTERS_MAX: usize = 8 * Self::WORDS - 1;

    /// The path in some words.
    #[must_use]
    pub fn from_words(words: [u64; Self::WORDS]) -> Self {
        Self(words)
    }

    /// The words that it is in.
    #[must_use]
    pub fn words(&self) -> [u64; Self::WORDS] {
        self.0
    }

    /// How many routers are on it that have not been left.
    #[must_use]
    pub fn routers(&self) -> usize {
        self.byte(0).into()
    }

    /// A packet has come into a router by a port.
    ///
    /// # Panics
    /// After too many routers.
    pub fn record(&mut self, port: u8) {
        let routers = self.routers();
        assert!(routers < Self::ROUTERS_MAX, "a path has more than {routers} routers");
        self.set_byte(routers + 1, port);
        self.set_byte(0, routers as u8 + 1);
    }

    /// A packet that takes it in reverse has come into the next router. Returns the port by which it leaves, unless no router
    /// is left.
    pub fn step_back(&mut self) -> Option<u8> {
        let left = self.byte(0).checked_sub(1)?;
        self.set_byte(0, left);
        Some(self.port())
    }

    /// The port by which a packet leaves that has stepped back.
    #[must_use]
    pub fn port(&self) -> u8 {
        self.byte(self.routers() + 1)
    }

    /// The same before the last step back: another packet takes its place in that router.
    #[must_use]
    pub fn before_step(mut self) -> Self {
        self.set_byte(0, self.routers() as u8 + 1);
        self
    }

    fn byte(&self, index: usize) -> u8 {
        (self.0[index / 8] >> (index % 8 * 8)) as u8
    }

    fn set_byte(&mut self, index: usize, byte: u8) {
        let shift = index % 8 * 8;
        let word = &mut self.0[index / 8];
        *word = *word & !(0xff << shift) | u64::from(byte) << shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_back_in_reverse() {
        let mut path = RecordedPath::default();
        (0..RecordedPath::ROUTERS_MAX as u8).for_each(|router| path.record(255 - router));
        for router in (0..RecordedPath::ROUTERS_MAX as u8).rev() {
            assert_eq!(path.step_back(), Some(255 - router));
            assert_eq!(path.port(), 255 - router);
            assert_eq!(path.before_step().step_back(), Some(255 - router));
        }
        assert_eq!((path.step_back(), path.routers()), (None, 0));
    }
}
