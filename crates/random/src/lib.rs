//! Random streams, one per entity and purpose, and the draws that models make from them.
//!
//! **What this crate must never know:** who draws, and what for.
//!
//! **The invariant it keeps:** the same key gives the same draws on every machine. So no draw goes through the
//! system's mathematics library, whose last bit differs between versions: logarithms come from a
//! portable implementation, and all else is integer arithmetic.

mod geometric;
mod stream;

pub use geometric::Geometric;
pub use stream::{Stream, scramble};

/// A choice among weighted alternatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted {
    /// Upper ends of the alternatives' shares of `0..2³²`, ascending; the last is 2³².
    ends: Vec<u64>,
}

impl Weighted {
    /// A choice in which alternative `i` has the share `weights[i]` of all weights.
    ///
    /// # Panics
    /// When there is no weight, one is negative, or their sum is not positive and finite.
    #[must_use]
    pub fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        assert!(total > 0.0 && total.is_finite() && weights.iter().all(|&w| w >= 0.0), "{weights:?} are not weights");
        let mut sum = 0.0;
        let mut ends: Vec<u64> = weights
            .iter()
            .map(|weight| {
                sum += weight;
                (sum / total * (1u64 << 32) as f64) as u64
            })
            .collect();
        // Rounding must not leave a sliver at the end that no alternative owns.
        let last = weights.iter().rposition(|&w| w > 0.0).expect("some weight is positive");
        ends[last..].fill(1 << 32);
        Self { ends }
    }

    /// The index of the chosen alternative.
    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> usize {
        let draw = u64::from(rand_core::Rng::next_u32(stream));
        self.ends.partition_point(|&end| end <= draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_kept_and_nothing_falls_through() {
        let choice = Weighted::new(&[1.0, 0.0, 3.0, 0.0]);
        let mut counts = [0; 4];
        let mut stream = Stream::new(5, 6, 7);
        for _ in 0..40_000 {
            counts[choice.sample(&mut stream)] += 1;
        }
        assert_eq!(counts[1] + counts[3], 0);
        assert!((9_500..10_500).contains(&counts[0]), "{counts:?}");
    }
}
