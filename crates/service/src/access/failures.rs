//! Calls that were not let in: they are logged, and those who make many of them have to wait, on the connection that they
//! have and on each that they open.
//!
//! **The invariant it keeps:** what is remembered is bounded, whoever calls and however often; and no new connection waits
//! for longer than those are remembered who have failed.

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

/// Who has failed how often, and when last.
#[derive(Debug)]
pub(crate) struct Failures {
    /// The longest pause.
    pause_max: Duration,
    by_origin: Mutex<HashMap<Origin, (u32, Instant)>>,
}

/// A failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// How many there were from there, with this one.
    pub count: u32,
    /// How long the one who failed is not listened to.
    pub pause: Duration,
}

impl Failure {
    /// Whether it is worth a line of the log: each of the first few, then fewer and fewer.
    pub(super) fn is_logged(&self) -> bool {
        self.count <= FREE || self.count.is_power_of_two()
    }
}

impl Failures {
    /// Of those who are not listened to for up to `pause_max`.
    pub(crate) fn new(pause_max: Duration) -> Self {
        Self { pause_max, by_origin: Mutex::default() }
    }

    /// Has a new connection from an address wait: as long as the one still has to that failed there last, or whoever fails
    /// would get around the pauses by connecting again. Others may have the same address and a good token: they wait once
    /// for each connection, and that is all.
    pub(crate) async fn hold_up_newcomer(&self, address: IpAddr) {
        let wait = self.wait_at(address, Instant::now());
        // Even a sleep of no time takes some.
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }

    /// The longest that it waits.
    pub(crate) fn wait_max(&self) -> Duration {
        self.pause_max.min(FORGOTTEN_AFTER)
    }

    fn wait_at(&self, address: IpAddr, now: Instant) -> Duration {
        let known = self.by_origin.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((count, last)) = known.get(&Origin::from(address)) else { return Duration::ZERO };
        let pause = self.pause_after(*count).min(self.wait_max());
        pause.saturating_sub(now.saturating_duration_since(*last))
    }

    /// The pause of one who has failed so often.
    fn pause_after(&self, count: u32) -> Duration {
        let doublings = count.checked_sub(FREE + 1);
        let pause = doublings.map_or(Duration::ZERO, |doublings| FIRST_PAUSE.saturating_mul(1 << doublings.min(20)));
        pause.min(self.pause_max)
    }

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
        Failure { count: *count, pause: self.pause_after(*count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest pause in these tests.
    const LONGEST: Duration = Duration::from_secs(600);

    fn address(number: u32) -> IpAddr {
        std::net::Ipv4Addr::from_bits(number).into()
    }

    #[test]
    fn who_fails_again_and_again_waits_longer_and_longer() {
        let (failures, began) = (Failures::new(LONGEST), Instant::now());
        let pauses = [(); 6].map(|()| failures.put_at(address(1), began).pause.as_millis());
        assert_eq!(pauses, [0, 0, 0, 50, 100, 200]);
        assert_eq!(failures.put_at(address(2), began), Failure { count: 1, pause: Duration::ZERO }, "this is another");
        assert_eq!(failures.put_at(address(1), began + FORGOTTEN_AFTER).count, 1, "that is long ago");
        let many =
            (0..100).map(|_| failures.put_at(address(1), began + FORGOTTEN_AFTER)).last().expect("there are some");
        assert!(many.pause == LONGEST && !many.is_logged());
    }

    #[test]
    fn a_new_connection_waits_for_what_is_left_of_the_last_pause() {
        let (failures, began) = (Failures::new(LONGEST), Instant::now());
        let after = |ms| began + Duration::from_millis(ms);
        let wait = |number, ms| failures.wait_at(address(number), after(ms)).as_millis();
        let waits = [(); 6].map(|()| {
            failures.put_at(address(1), began);
            wait(1, 0)
        });
        assert_eq!(waits, [0, 0, 0, 50, 100, 200], "some may be mistakes; each that follows doubles it");
        assert_eq!([30, 199, 200, 900].map(|ms| wait(1, ms)), [170, 1, 0, 0]);
        assert_eq!(wait(2, 0), 0, "another has not failed");
    }

    #[test]
    fn nobody_is_locked_out() {
        let began = Instant::now();
        let fail_often = |failures: &Failures| {
            for _ in 0..1000 {
                failures.put_at(address(1), began);
            }
        };
        for (pause_max, longest) in [(Duration::from_secs(2), Duration::from_secs(2)), (LONGEST, FORGOTTEN_AFTER)] {
            let failures = Failures::new(pause_max);
            fail_often(&failures);
            assert_eq!(failures.wait_at(address(1), began), longest);
            assert_eq!(failures.wait_at(address(1), began + longest), Duration::ZERO);
        }
        let failures = Failures::new(Duration::ZERO);
        fail_often(&failures);
        assert_eq!(failures.wait_at(address(1), began), Duration::ZERO, "there are no pauses");
    }

    #[test]
    fn a_flood_of_peers_is_forgotten_from_its_beginning_on() {
        let (failures, began) = (Failures::new(LONGEST), Instant::now());
        let at = |second: u32| began + Duration::from_millis(second.into());
        for number in 0..3 * REMEMBERED_MAX as u32 {
            failures.put_at(address(number), at(number));
        }
        let stranger = address(u32::MAX);
        assert_eq!(failures.wait_at(stranger, began), Duration::ZERO);
        assert_eq!(failures.by_origin.lock().expect("nobody panics").len(), REMEMBERED_MAX, "to ask costs nothing");
        let last = 3 * REMEMBERED_MAX as u32;
        assert_eq!(failures.put_at(address(last - 1), at(last)).count, 2);
        assert_eq!(failures.put_at(address(0), at(last)).count, 1);
    }
}
