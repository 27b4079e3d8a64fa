//! Giving out the time of a destination.

use serde::{Deserialize, Serialize};
use tailback_protocol::Clock;

/// Which flits come when: one after the other, in the order in which they were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    next_free: u64,
}

impl Schedule {
    /// The first tick from which on `ticks` ticks are free, counted from `now`; they are not free any more.
    pub fn reserve(&mut self, ticks: u64, now: u64) -> u64 {
        let start = self.next_free.max(now);
        self.next_free = start + ticks;
        start
    }
}

/// The ticks that flits are scheduled for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Charge {
    /// Ticks from one flit to the next on the way to the node.
    pub flit_ticks: u64,
    /// What is charged beyond the flits themselves, as a share of them.
    pub overhead: f64,
    /// Flits that are charged for each reservation on top.
    pub control_overhead: u32,
    /// The least ticks from a request to the time that it is granted.
    pub minimum_grant_delay: u64,
}

impl Charge {
    /// The time that `flits` flits get from a schedule.
    pub fn reserve(self, flits: u32, schedule: &mut Schedule, now: u64) -> u64 {
        schedule.reserve(self.ticks(flits), now + self.minimum_grant_delay)
    }

    /// The time that `flits` flits are about to get from a schedule, for people.
    pub fn foretell(self, flits: u32, mut schedule: Schedule, now: u64, clock: Clock) -> String {
        let from = self.reserve(flits, &mut schedule, now);
        let (from, to) = (clock.cycles(from), clock.cycles(schedule.next_free));
        format!("the schedule of the node gives {flits} flits cycles {from} to {to}")
    }

    /// What a reservation of `flits` flits is charged.
    fn ticks(self, flits: u32) -> u64 {
        (charged(flits, self.overhead) + u64::from(self.control_overhead)) * self.flit_ticks
    }
}

/// What a reservation of `flits` flits is charged with an overhead that is a share of them: whole flits.
#[must_use]
pub fn charged(flits: u32, overhead: f64) -> u64 {
    // Neither the share nor the product is exact: 0.07 of 100 flits come out as a little more than 7, and are not 8.
    let beyond = f64::from(flits) * overhead * (1.0 - 4.0 * f64::EPSILON);
    u64::from(flits) + beyond.ceil() as u64
}

/// How long before the time that was given a source starts to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// As long as the word of it was in flight: so the first flit arrives at about that time.
    Latency,
    /// Not at all: it leaves at that time.
    None,
}

impl Lead {
    /// When to send what may arrive at `time`, of which word came now after `latency` ticks.
    #[must_use]
    pub fn start(self, time: u64, latency: u64, now: u64) -> u64 {
        let lead = if self == Self::Latency { latency } else { 0 };
        time.saturating_sub(lead).max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_follow_each_other_and_never_lie_in_the_past() {
        let mut schedule = Schedule::default();
        assert_eq!([schedule.reserve(8, 100), schedule.reserve(4, 100), schedule.reserve(4, 103)], [100, 108, 112]);
        // Time that nobody asked for in time is lost.
        assert_eq!([schedule.reserve(4, 500), schedule.reserve(1, 500)], [500, 504]);
    }

    #[test]
    fn overhead_is_charged_in_whole_flits() {
        let charge = |overhead, flits| {
            Charge { flit_ticks: 2, overhead, control_overhead: 0, minimum_grant_delay: 0 }.ticks(flits)
        };
        assert_eq!([charge(0.0, 4), charge(0.05, 4), charge(0.05, 256), charge(0.05, 100)], [8, 10, 538, 210]);
        // And what reservations cost on top.
        assert_eq!(Charge { flit_ticks: 2, overhead: 0.05, control_overhead: 5, minimum_grant_delay: 0 }.ticks(4), 20);
    }

    #[test]
    fn what_is_whole_by_the_overhead_as_it_is_written_is_not_rounded_up() {
        for (overhead, percent) in [(0.0, 0), (0.05, 5), (0.07, 7), (0.1, 10), (0.2, 20), (0.25, 25), (0.5, 50)] {
            for flits in 1..=2000 {
                let exact = u64::from(flits) + (u64::from(flits) * percent).div_ceil(100);
                assert_eq!(charged(flits, overhead), exact, "{flits} flits, {overhead}");
            }
        }
    }

    #[test]
    fn the_minimum_grant_delay_counts_where_the_schedule_is_empty() {
        let (mut schedule, charge) = (
            Schedule::default(),
            Charge { flit_ticks: 2, overhead: 0.0, control_overhead: 0, minimum_grant_delay: 100 },
        );
        let times = [50, 51, 52, 400].map(|now| charge.reserve(30, &mut schedule, now));
        assert_eq!(times, [150, 210, 270, 500]);
    }

    #[test]
    fn sources_start_early_but_not_before_now() {
        assert_eq!(Lead::Latency.start(1000, 300, 500), 700);
        assert_eq!(Lead::Latency.start(1000, 300, 900), 900);
        assert_eq!(Lead::None.start(1000, 300, 500), 1000);
    }
}
