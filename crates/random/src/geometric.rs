//! Gaps between rare events.

use rand_core::Rng as _;

use crate::Stream;

/// The gaps between the successes of a coin that is thrown once per step: geometric, at least 1.
///
/// Drawing the gap once costs the same as throwing the coin once, so a process that acts rarely costs nothing
/// in between.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometric(Method);

#[derive(Clone, Debug, PartialEq)]
enum Method {
    /// The coin always succeeds.
    Always,
    /// For coins that succeed often: look up how far the draw reaches.
    Table(Box<Table>),
    /// For coins that succeed rarely: by a logarithm, scaled with `1 / ln(1 - p)`.
    Logarithm(f64),
}

/// Below this probability the table would be too short.
const RARE: f64 = 1.0 / 32.0;
const STEPS: usize = 128;

/// The first steps of a run of failures.
#[derive(Clone, Debug, PartialEq)]
struct Table {
    /// The chance that the first `k + 1` throws all fail, in units of 2⁻³².
    survival: [u32; STEPS],
    /// By the highest bits of a draw: a number of throws that it is sure to survive.
    sure: [u8; 32],
}

impl Geometric {
    /// The gaps of a coin that succeeds with `probability`.
    ///
    /// # Panics
    /// When the probability is not in `(0, 1]`.
    #[must_use]
    pub fn new(probability: f64) -> Self {
        assert!(probability > 0.0 && probability <= 1.0, "{probability} is not a probability in (0, 1]");
        Self(if probability == 1.0 {
            Method::Always
        } else if probability >= RARE {
            Method::Table(Box::new(Table::new(probability)))
        } else {
            Method::Logarithm(1.0 / libm::log1p(-probability))
        })
    }

    /// The steps until the next success.
    #[inline(always)]
    pub fn sample(&self, stream: &mut Stream) -> u64 {
        match &self.0 {
            Method::Always => 1,
            Method::Table(table) => table.sample(stream),
            Method::Logarithm(scale) => by_logarithm(*scale, stream),
        }
    }
}

/// Apart, as those who look it up would save registers for it.
#[inline(never)]
fn by_logarithm(scale: f64, stream: &mut Stream) -> u64 {
    ((libm::log(stream.unit()) * scale) as u64).saturating_add(1)
}

impl Table {
    fn new(probability: f64) -> Self {
        let mut chance = 1.0;
        let survival = [(); STEPS].map(|()| {
            chance *= 1.0 - probability;
            (chance * (1u64 << 32) as f64) as u32
        });
        let mut sure = [0; 32];
        for (bits, sure) in sure.iter_mut().enumerate() {
            // All draws with these highest bits are below this one.
            let above = (bits as u64 + 1) << 27;
            *sure = survival.iter().take_while(|&&chance| u64::from(chance) >= above).count() as u8;
        }
        Self { survival, sure }
    }

    #[inline(always)]
    fn sample(&self, stream: &mut Stream) -> u64 {
        let mut gap = 1;
        loop {
            let draw = stream.next_u32();
            let mut failures = usize::from(self.sure[(draw >> 27) as usize]);
            while failures < STEPS && draw < self.survival[failures] {
                failures += 1;
            }
            gap += failures as u64;
            if failures < STEPS {
                return gap;
            }
            // What comes after so many failures is like a new beginning.
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(probability: f64, count: usize) -> Vec<u64> {
        let gaps = Geometric::new(probability);
        let mut stream = Stream::new(5, 6, 7);
        (0..count).map(|_| gaps.sample(&mut stream)).collect()
    }

    #[test]
    fn gaps_have_the_coins_distribution() {
        for probability in [0.001, 0.03, 0.0313, 0.1, 0.5, 0.9] {
            let draws = draws(probability, 40_000);
            let mean = draws.iter().sum::<u64>() as f64 / 40_000.0;
            let deviation = (1.0 - probability).sqrt() / probability / 200.0;
            assert!((mean - 1.0 / probability).abs() < 5.0 * deviation, "p = {probability}: mean {mean}");
            for steps in [1, 2, 5, 20, 100, 200] {
                let longer = draws.iter().filter(|&&gap| gap > steps).count() as f64 / 40_000.0;
                let expected = (1.0 - probability).powi(steps as i32);
                assert!((longer - expected).abs() < 0.0125, "p = {probability}: {longer} are longer than {steps}");
            }
            assert!(draws.iter().all(|&gap| gap >= 1));
        }
        assert_eq!(draws(1.0, 3), [1, 1, 1]);
    }

    #[test]
    fn a_coin_that_hardly_ever_succeeds_does_not() {
        assert!(draws(f64::MIN_POSITIVE, 100).iter().all(|&gap| gap > u64::MAX / 2));
        assert!(draws(1e-320, 100).iter().all(|&gap| gap > u64::MAX / 2));
    }

    /// Golden values: all result digests stand on them.
    #[test]
    fn gaps_are_the_same_everywhere() {
        assert_eq!(draws(0.01, 8), [25, 271, 111, 152, 65, 43, 1, 9]);
        assert_eq!(draws(0.1, 8), [4, 3, 6, 26, 28, 11, 2, 15]);
    }
}
