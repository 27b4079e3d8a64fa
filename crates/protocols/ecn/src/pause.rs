//! The pause that a source leaves between packets to one destination.

use serde::{Deserialize, Serialize};
use tailback_protocol::first_open;

/// How pauses grow and shrink, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// What a notification adds.
    pub increment: u64,
    /// The longest pause.
    pub longest: u64,
    /// How often a pause becomes shorter.
    pub timer: u64,
    /// By how much it does.
    pub decrement: u64,
}

/// A pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pause {
    /// How long it was when the timer last went off before something was noted.
    ticks: u64,
    /// When that was.
    since: u64,
    /// When the last packet has left of those that left since there is a pause, and 0 before: what left before is not
    /// noted, so the first packet after the mark that begins a pause is not held up (unless the run is younger than the
    /// pause).
    last_left: u64,
}

impl Pause {
    /// How long it is.
    pub fn at(&self, now: u64, pacing: &Pacing) -> u64 {
        let shrinks = now.saturating_sub(self.since) / pacing.timer;
        self.ticks.saturating_sub(shrinks.saturating_mul(pacing.decrement))
    }

    /// A notification has come. A timer that runs goes on; one that does not starts.
    pub fn lengthen(&mut self, now: u64, pacing: &Pacing) {
        let before = self.at(now, pacing);
        let into_period = if before == 0 { 0 } else { (now - self.since) % pacing.timer };
        self.ticks = (before + pacing.increment).min(pacing.longest);
        self.since = now - into_period;
    }

    /// A packet leaves, whose last flit is gone at `end`.
    pub fn leaves(&mut self, end: u64) {
        self.last_left = end;
    }

    /// The first tick from `now` on at which a packet may leave, if the pause only becomes shorter.
    pub fn open_at(&self, now: u64, pacing: &Pacing) -> u64 {
        // Time since the last packet grows and the pause shrinks, so there is one such tick.
        let latest = self.last_left + self.at(now, pacing);
        first_open(now, latest, |tick| tick.saturating_sub(self.last_left) >= self.at(tick, pacing))
    }

    /// Whether it holds nothing up any more, whatever left before.
    pub fn is_over(&self, now: u64, pacing: &Pacing) -> bool {
        self.at(now, pacing) == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAPER: Pacing = Pacing { increment: 24, longest: 100, timer: 96, decrement: 1 };

    #[test]
    fn it_grows_by_the_increment_up_to_the_longest_and_shrinks_by_the_timer() {
        let mut pause = Pause::default();
        pause.lengthen(1000, &PAPER);
        assert_eq!([1000, 1095, 1096, 1191, 1192].map(|now| pause.at(now, &PAPER)), [24, 24, 23, 23, 22]);
        // The second notification does not stop the timer: it goes off at 1192 as before.
        pause.lengthen(1100, &PAPER);
        assert_eq!([1100, 1191, 1192].map(|now| pause.at(now, &PAPER)), [47, 47, 46]);
        (0..5).for_each(|_| pause.lengthen(1100, &PAPER));
        assert_eq!(pause.at(1100, &PAPER), 100);
        assert_eq!([1096 + 96 * 99, 1096 + 96 * 100].map(|now| pause.is_over(now, &PAPER)), [false, true]);
        // A timer that had nothing to do starts with the next notification.
        pause.lengthen(50_000, &PAPER);
        assert_eq!([50_095, 50_096].map(|now| pause.at(now, &PAPER)), [24, 23]);
    }

    #[test]
    fn the_next_packet_leaves_when_the_pause_of_that_time_is_over() {
        let mut pause = Pause::default();
        pause.lengthen(1000, &PAPER);
        pause.leaves(1004);
        assert_eq!(pause.open_at(1004, &PAPER), 1028);
        // At 1096 it becomes shorter by one: 23 ticks after 1080 are 1103.
        pause.leaves(1080);
        assert_eq!(pause.open_at(1080, &PAPER), 1103);
        assert_eq!(pause.open_at(1200, &PAPER), 1200);
    }

    proptest! {
        #[test]
        fn the_opening_is_the_first_tick_that_is_open(
            notices in prop::collection::vec(0u64..300, 1..8), left in 0u64..2000, after in 0u64..500, timer in 1u64..200,
        ) {
            let pacing = Pacing { timer, ..PAPER };
            let mut pause = Pause::default();
            let mut now = 0;
            for gap in notices {
                now += gap;
                pause.lengthen(now, &pacing);
            }
            let now = now.max(left) + after;
            pause.leaves(left);
            let open = pause.open_at(now, &pacing);
            let first = (now..).find(|&tick| tick >= left + pause.at(tick, &pacing)).unwrap();
            prop_assert_eq!(open, first);
        }
    }
}
