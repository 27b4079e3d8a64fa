//! Random streams, one per entity and purpose, and the draws that models make from them.
//!
//! **What this crate must never know:** who draws, and what for.
//!
//! **The invariant it keeps:** the same key gives the same draws on every machine. So no draw goes through the
//! system's mathematics library, whose last bit differs between versions: logarithms come from a
//! portable implementation, and all else is integer arithmetic.

mod stream;

pub use stream::Stream;

/// The gaps between the successes of a coin that is thrown once per step: geometric, at least 1.
///
/// Drawing the gap once costs the same as throwing the coin once, so a process that acts rarely costs nothing
/// in between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometric {
    /// `1 / ln(1 - p)`, or 0 for a coin that always succeeds.
    scale: f64,
}

impl Geometric {
    /// The gaps of a coin that succeeds with `probability`.
    ///
    /// # Panics
    /// When the probability is not in `(0, 1]`.
    #[must_use]
    pub fn new(probability: f64) -> Self {
        assert!(probability > 0.0 && probability <= 1.0, "{probability} is not a probability in (0, 1]");
        Self { scale: if probability < 1.0 { 1.0 / libm::log1p(-probability) } else { 0.0 } }
    }

    /// The steps until the next success.
    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> u64 {
        if self.scale == 0.0 {
            return 1;
        }
        1 + (libm::log(stream.unit()) * self.scale) as u64
    }
}

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

    fn stream() -> Stream {
        Stream::new(5, 6, 7)
    }

    #[test]
    fn geometric_gaps_have_the_coins_distribution() {
        for probability in [0.001, 0.1, 0.5, 0.9] {
            let gaps = Geometric::new(probability);
            let mut stream = stream();
            let draws: Vec<u64> = (0..40_000).map(|_| gaps.sample(&mut stream)).collect();
            let mean = draws.iter().sum::<u64>() as f64 / 40_000.0;
            let deviation = (1.0 - probability).sqrt() / probability / 200.0;
            assert!((mean - 1.0 / probability).abs() < 5.0 * deviation, "p = {probability}: mean {mean}");
            let ones = draws.iter().filter(|&&gap| gap == 1).count() as f64 / 40_000.0;
            assert!((ones - probability).abs() < 0.0125, "p = {probability}: {ones} of the gaps are 1");
            assert!(draws.iter().all(|&gap| gap >= 1));
        }
        assert_eq!(Geometric::new(1.0).sample(&mut stream()), 1);
    }

    #[test]
    fn weights_are_kept_and_nothing_falls_through() {
        let choice = Weighted::new(&[1.0, 0.0, 3.0, 0.0]);
        let mut counts = [0; 4];
        let mut stream = stream();
        for _ in 0..40_000 {
            counts[choice.sample(&mut stream)] += 1;
        }
        assert_eq!(counts[1] + counts[3], 0);
        assert!((9_500..10_500).contains(&counts[0]), "{counts:?}");
    }

    /// Golden values: all result digests stand on them.
    #[test]
    fn logarithms_are_the_same_everywhere() {
        let gaps = Geometric::new(0.01);
        let mut stream = stream();
        let draws: Vec<u64> = (0..8).map(|_| gaps.sample(&mut stream)).collect();
        assert_eq!(draws, [25, 271, 111, 152, 65, 43, 1, 9]);
    }
}
