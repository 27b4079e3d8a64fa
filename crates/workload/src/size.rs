//! How large messages are.

use tailback_random::{Stream, Weighted};

/// A distribution of message sizes, in flits.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageSize {
    /// All alike.
    Fixed(u32),
    /// Every size between two, each alike.
    Uniform {
        /// The smallest.
        min: u32,
        /// The largest.
        max: u32,
    },
    /// One of some sizes.
    Weighted {
        /// The sizes.
        sizes: Vec<u32>,
        /// How often each comes.
        choice: Weighted,
        /// The mean size.
        mean: f64,
    },
}

impl MessageSize {
    /// One of `sizes`, each in proportion to its share of all messages.
    ///
    /// # Panics
    /// When the lists differ in length or the shares are no weights.
    #[must_use]
    pub fn weighted(sizes: &[u32], shares: &[f64]) -> Self {
        assert_eq!(sizes.len(), shares.len(), "each size has a share");
        let total: f64 = shares.iter().sum();
        let mean = sizes.iter().zip(shares).map(|(&size, share)| f64::from(size) * share).sum::<f64>() / total;
        Self::Weighted { sizes: sizes.to_vec(), choice: Weighted::new(shares), mean }
    }

    /// One of `sizes`, each in proportion to its share of all flits.
    ///
    /// # Panics
    /// When the lists differ in length or the shares are no weights, also by message.
    #[must_use]
    pub fn weighted_by_flits(sizes: &[u32], shares: &[f64]) -> Self {
        let messages: Vec<f64> = sizes.iter().zip(shares).map(|(&size, share)| share / f64::from(size)).collect();
        Self::weighted(sizes, &messages)
    }

    /// The size of all messages, if they are alike.
    #[must_use]
    pub fn fixed(&self) -> Option<u32> {
        match self {
            Self::Fixed(size) => Some(*size),
            Self::Uniform { .. } | Self::Weighted { .. } => None,
        }
    }

    /// The mean size.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(size) => f64::from(*size),
            Self::Uniform { min, max } => f64::from(min + max) / 2.0,
            Self::Weighted { mean, .. } => *mean,
        }
    }

    /// The largest size.
    #[must_use]
    pub fn max(&self) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform { max, .. } => *max,
            Self::Weighted { sizes, .. } => sizes.iter().copied().max().unwrap_or(0),
        }
    }

    /// The size of a message.
    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform { min, max } => min + stream.below(max - min + 1),
            Self::Weighted { sizes, choice, .. } => sizes[choice.sample(stream)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_those_of_the_samples() {
        let sizes = [
            MessageSize::Fixed(8),
            MessageSize::Uniform { min: 1, max: 14 },
            MessageSize::weighted(&[4, 512], &[3.0, 1.0]),
            MessageSize::weighted_by_flits(&[4, 512], &[0.5, 0.5]),
        ];
        for size in sizes {
            let mut stream = Stream::new(1, 2, 3);
            let draws: Vec<u32> = (0..200_000).map(|_| size.sample(&mut stream)).collect();
            let mean = draws.iter().map(|&d| f64::from(d)).sum::<f64>() / 200_000.0;
            assert!((mean / size.mean() - 1.0).abs() < 0.06, "{size:?}: {mean}, not {}", size.mean());
            assert_eq!(draws.iter().copied().max(), Some(size.max()));
        }
    }

    #[test]
    fn shares_of_flits_are_kept() {
        let size = MessageSize::weighted_by_flits(&[4, 512], &[0.5, 0.5]);
        let mut stream = Stream::new(1, 2, 3);
        let draws: Vec<u32> = (0..400_000).map(|_| size.sample(&mut stream)).collect();
        let small: u32 = draws.iter().filter(|&&d| d == 4).sum();
        let large: u32 = draws.iter().filter(|&&d| d == 512).sum();
        let share = f64::from(small) / f64::from(small + large);
        assert!((share - 0.5).abs() < 0.03, "{share}");
    }
}
