//! Rotation: where the packets of a flow take several routes in turn, interfaces and protocols agree on which.

use tailback_random::scramble;

/// Routes that the packets of each flow take in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routes {
    /// How many there are; 1 where routing is free to choose.
    pub count: u32,
    /// Whether all flows begin at the first one, and not each at one that is drawn for it.
    pub in_step: bool,
}

impl Routes {
    /// One: where routing chooses, protocols know of no more.
    pub const ONE: Self = Self::drawn(1);

    /// So many, with first ones that are drawn. If all flows began at the same one, their packets would meet at it again and again.
    #[must_use]
    pub const fn drawn(count: u32) -> Self {
        Self { count, in_step: false }
    }

    /// The route that the first packet of a flow takes; the next packet takes the next route, and so on around.
    #[must_use]
    pub fn first(self, source: u32, destination: u32) -> u32 {
        if self.in_step {
            return 0;
        }
        let hash = scramble(u64::from(source) << 32 | u64::from(destination)) >> 32;
        ((hash * u64::from(self.count)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows() -> impl Iterator<Item = (u32, u32)> {
        (0..64).flat_map(|source| (0..64).map(move |destination| (source, destination)))
    }

    #[test]
    fn flows_begin_at_all_routes_alike() {
        let mut counts = [0; 8];
        flows().for_each(|(source, destination)| counts[Routes::drawn(8).first(source, destination) as usize] += 1);
        assert!(counts.iter().all(|count| (440..=584).contains(count)), "{counts:?}");
        assert_eq!(Routes::ONE.first(3, 4), 0);
    }

    #[test]
    fn flows_in_step_begin_at_the_first_route() {
        let routes = Routes { count: 8, in_step: true };
        assert!(flows().all(|(source, destination)| routes.first(source, destination) == 0));
    }
}
