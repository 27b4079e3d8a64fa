//! What serves one item after the other, at a pace.

use serde::{Deserialize, Serialize};

/// Parts of a tick in which paces are counted, so that they need not be whole ticks.
const PARTS: u64 = 1 << 16;

/// Serves one item at a time, and is busy with each for as long.
///
/// Its owner serves when there is something to be served and it [is free](Self::is_free), and asks for an
/// [alarm](Self::alarm) when there is and it is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pace {
    /// In parts of ticks, as the next.
    interval: u64,
    free_at: u64,
    /// Whether an alarm is set.
    alarm: bool,
}

impl Pace {
    /// One item in so many ticks.
    pub fn every(ticks: u64) -> Self {
        Self { interval: ticks * PARTS, free_at: 0, alarm: false }
    }

    /// So many items in so many ticks.
    pub fn rate(items: f64, ticks: u64) -> Self {
        Self { interval: (ticks as f64 * PARTS as f64 / items).round() as u64, free_at: 0, alarm: false }
    }

    /// The first tick at which it is free.
    fn free_tick(&self) -> u64 {
        self.free_at.div_ceil(PARTS)
    }

    pub fn is_free(&self, now: u64) -> bool {
        self.free_tick() <= now
    }

    /// Serves an item.
    pub fn serve(&mut self, now: u64) {
        debug_assert!(self.is_free(now), "it serves one item at a time");
        // Parts of a tick that it is late, as alarms come at whole ticks, are not lost.
        self.free_at = self.free_at.max((now * PARTS).saturating_sub(PARTS - 1)) + self.interval;
    }

    /// Serves an item as soon as it is free, and returns when that is. For those who serve in the order in which things come.
    pub fn reserve(&mut self, now: u64) -> u64 {
        let at = self.free_tick().max(now);
        self.serve(at);
        at
    }

    /// When an alarm is to be set: as soon as it is free, unless one is set.
    pub fn alarm(&mut self) -> Option<u64> {
        (!std::mem::replace(&mut self.alarm, true)).then(|| self.free_tick())
    }

    /// The alarm has gone off.
    pub fn alarmed(&mut self) {
        self.alarm = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_ticks_are_kept_and_parts_are_not_lost() {
        let mut pace = Pace::every(8);
        assert_eq!([3, 3, 30].map(|now| pace.reserve(now)), [3, 11, 30]);
        let mut pace = Pace::rate(1.1, 8);
        let served: Vec<u64> = (0..1101).map(|_| pace.reserve(0)).collect();
        assert_eq!((served[1], served[2], served[1100]), (8, 15, 8000));
    }

    #[test]
    fn there_is_one_alarm_at_a_time() {
        let mut pace = Pace::every(8);
        pace.serve(4);
        assert!(!pace.is_free(11) && pace.is_free(12));
        assert_eq!((pace.alarm(), pace.alarm()), (Some(12), None));
        pace.alarmed();
        assert_eq!(pace.alarm(), Some(12));
    }
}
