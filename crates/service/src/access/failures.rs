//! Calls that were not let in: they are logged, and those who make many of them have to wait.
//!
//! **The invariant it keeps:** what is remembered is bounded, whoever calls and however often.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::connection::places::Origin;

/// After so long without a failure, one is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);
/// Those who are remembered.
const REMEMBERED_MAX: usize = 1024;
/// So many failures may be mistakes.
const FREE: u32 = 3;
/// The first pause; each failure doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// Who has failed how often.
#[derive(Debug, Default)]
pub(super) struct Failures {
    by_origin: Mutex<HashMap<Origin, (u32, Instant)>>,
}

/// A failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// How many there were from there, with this one.
    pub count: u32,
    /// How long the one who failed is not listened to, if there is no bound to it.
    pub pause: Duration,
}

impl Failure {
    /// Whether it is worth a line of the log: each of the first few, then fewer and fewer.
    pub(super) fn is_logged(&self) -> bool {
        self.count <= FREE || self.count.is_power_of_two()
    }
}

impl Failures {
    /// One more from an address.
    pub(super) fn put(&self, address: IpAddr) -> Failure {
        self.put_at(address, Instant::now())
    }

    fn put_at(&self, address: IpAddr, now: Instant) -> Failure {
        let origin = Origin::from(address);
        let mut known = self.by_origin.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX && !known.contains_key(&origin) {
            known.retain(|_, (_, last)| now.saturating_duration_since(*last) < FORGOTTEN_AFTER);
            let oldest = known.iter().min_by_key(|(_, (_, last))| *last).map(|(origin, _)| *origin);
            if let Some(oldest) = oldest.filter(|_| known.len() >= REMEMBERED_MAX) {
                known.remove(&oldest);
            }
        }
        let (count, last) = known.entry(origin).or_insert((0, now));
        if now.saturating_duration_since(*last) >= FORGOTTEN_AFTER {
            *count = 0;
        }
        (*count, *last) = (count.saturating_add(1), now);
        let doublings = count.checked_sub(FREE + 1);
        let pause = doublings.map_or(Duration::ZERO, |doublings| FIRST_PAUSE.saturating_mul(1 << doublings.min(20)));
        Failure { count: *count, pause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> IpAddr {
        std::net::Ipv4Addr::from_bits(number).into()
    }

    #[test]
    fn who_fails_again_and_again_waits_longer_and_longer() {
        let (failures, began) = (Failures::default(), Instant::now());
        let pauses = [(); 6].map(|()| failures.put_at(address(1), began).pause.as_millis());
        assert_eq!(pauses, [0, 0, 0, 50, 100, 200]);
        assert_eq!(failures.put_at(address(2), began), Failure { count: 1, pause: Duration::ZERO }, "this is another");
        assert_eq!(failures.put_at(address(1), began + FORGOTTEN_AFTER).count, 1, "that is long ago");
        let many =
            (0..100).map(|_| failures.put_at(address(1), began + FORGOTTEN_AFTER)).last().expect("there are some");
        assert!(many.pause > Duration::from_secs(3600) && !many.is_logged());
    }

    #[test]
    fn a_flood_of_peers_is_forgotten_from_its_beginning_on() {
        let (failures, began) = (Failures::default(), Instant::now());
        let at = |second: u32| began + Duration::from_millis(second.into());
        for number in 0..3 * REMEMBERED_MAX as u32 {
            failures.put_at(address(number), at(number));
        }
        assert_eq!(failures.by_origin.lock().expect("nobody panics").len(), REMEMBERED_MAX);
        let last = 3 * REMEMBERED_MAX as u32;
        assert_eq!(failures.put_at(address(last - 1), at(last)).count, 2);
        assert_eq!(failures.put_at(address(0), at(last)).count, 1);
    }
}
