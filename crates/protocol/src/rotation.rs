//! Rotation: where the packets of a flow take several routes in turn, interfaces and protocols agree on which.

use tailback_random::scramble;

/// The route that the first packet of a flow takes, of `routes`; the next packet takes the next route, and so on around.
///
/// Flows begin at different routes: if all began at the same one, their packets would meet at it again and again.
#[must_use]
pub fn first_route(source: u32, destination: u32, routes: u32) -> u32 {
    let hash = scramble(u64::from(source) << 32 | u64::from(destination)) >> 32;
    ((hash * u64::from(routes)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_begin_at_all_routes_alike() {
        let mut counts = [0; 8];
        for (source, destination) in (0..64).flat_map(|source| (0..64).map(move |destination| (source, destination))) {
            counts[first_route(source, destination, 8) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (440..=584).contains(count)), "{counts:?}");
        assert_eq!(first_route(3, 4, 1), 0);
    }
}
