//! Random streams, one per entity and purpose.

use std::convert::Infallible;

use rand_core::{Rng, TryRng};
use rand_pcg::Pcg32;
use serde::{Deserialize, Serialize};

/// A random stream that belongs to one entity and serves one purpose.
///
/// Because no two entities share a stream, the numbers that an entity sees depend only on its own
/// history, whatever region it lives in. A stream is made once and never reseeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream(Pcg32);

impl Stream {
    /// The stream of `entity` for `purpose` under `seed`.
    #[must_use]
    pub fn new(seed: u64, entity: u64, purpose: u64) -> Self {
        let key = scramble(scramble(scramble(seed) ^ entity) ^ purpose);
        Self(Pcg32::new(key, scramble(key)))
    }

    /// A number in `0..bound`, each equally likely.
    ///
    /// # Panics
    /// When `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "there is no number below 0");
        // Lemire's method: the high half of a product is the draw, the low half tells whether the draw
        // fell into the small remainder that would favour some numbers.
        let mut product = u64::from(self.0.next_u32()) * u64::from(bound);
        if (product as u32) < bound {
            let remainder = bound.wrapping_neg() % bound;
            while (product as u32) < remainder {
                product = u64::from(self.0.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }

    /// Leaves out the next `draws` draws of 32 bits.
    pub fn skip(&mut self, draws: u64) {
        self.0.advance(draws);
    }

    /// A number in `(0, 1]`, in steps of 2⁻⁵³: safe to take a logarithm of.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

/// The finaliser of SplitMix64: a bijection in which each input bit changes half the output bits.
#[inline]
#[must_use]
pub fn scramble(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_each_part_of_their_key() {
        let draws = |seed, entity, purpose| {
            let mut stream = Stream::new(seed, entity, purpose);
            [(); 4].map(|()| stream.next_u64())
        };
        let keys = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (0, 0, 0)];
        for (i, &(a, b, c)) in keys.iter().enumerate() {
            assert_eq!(draws(a, b, c), draws(a, b, c));
            for &(x, y, z) in &keys[i + 1..] {
                assert_ne!(draws(a, b, c), draws(x, y, z));
            }
        }
    }

    /// Golden values: all result digests stand on them.
    #[test]
    fn the_first_draws_never_change() {
        let mut stream = Stream::new(42, 7, 3);
        let draws = [(); 4].map(|()| stream.next_u32());
        assert_eq!(draws, [651_167_895, 858_780_283, 946_825_531, 4_010_479_095]);
    }

    #[test]
    fn skipping_draws_is_drawing_them() {
        let mut drawn = Stream::new(1, 2, 3);
        let mut skipped = drawn.clone();
        (0..1000).for_each(|_| {
            drawn.next_u32();
        });
        skipped.skip(1000);
        assert_eq!(drawn, skipped);
    }

    #[test]
    fn bounded_draws_are_even() {
        let mut stream = Stream::new(1, 2, 3);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[stream.below(6) as usize] += 1;
        }
        // Five standard deviations of a binomial with n = 60,000 and p = 1/6 are 456.
        assert!(counts.iter().all(|&n| n.abs_diff(10_000) < 456), "{counts:?}");
    }

    #[test]
    fn unit_draws_stay_in_their_interval() {
        let mut stream = Stream::new(1, 2, 3);
        let draws: Vec<f64> = (0..10_000).map(|_| stream.unit()).collect();
        assert!(draws.iter().all(|&x| x > 0.0 && x <= 1.0));
        let mean = draws.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.015, "{mean}");
    }
}
