//! Figures by intervals of time.

use serde::{Deserialize, Serialize};

/// Equal intervals of time, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intervals {
    origin: u64,
    width: u64,
    count_max: u32,
    /// 2⁶⁴ / width, rounded down, to find intervals without a division.
    reciprocal: u64,
}

impl Intervals {
    /// At most `count_max` intervals of `width` ticks, the first of which starts at tick `origin`.
    ///
    /// # Panics
    /// When the width is zero.
    #[must_use]
    pub fn new(origin: u64, width: u64, count_max: u32) -> Self {
        assert!(width > 0, "an interval lasts for one tick at least");
        let reciprocal = if width == 1 { u64::MAX } else { ((1u128 << 64) / u128::from(width)) as u64 };
        Self { origin, width, count_max, reciprocal }
    }

    /// Intervals of which `measured` fill [`from`, `until`), preceded by as many of the warm-up before it as there are,
    /// though not by more than `before_max`.
    ///
    /// One of them starts at `from`. When the ticks cannot be shared out evenly, there are fewer than `measured` and
    /// the last ends a little after `until`.
    #[must_use]
    pub fn around(from: u64, until: u64, measured: u32, before_max: u32) -> Self {
        let width = until.saturating_sub(from).div_ceil(u64::from(measured.max(1))).max(1);
        let before = (from / width).min(u64::from(before_max));
        let after = until.saturating_sub(from).div_ceil(width);
        Self::new(from - before * width, width, (before + after) as u32)
    }

    /// Where the first interval starts.
    #[must_use]
    pub fn origin(&self) -> u64 {
        self.origin
    }

    /// How long an interval lasts.
    #[must_use]
    pub fn width(&self) -> u64 {
        self.width
    }

    /// How many intervals there are.
    #[must_use]
    pub fn count_max(&self) -> u32 {
        self.count_max
    }

    /// The tick that interval `index` starts at.
    #[must_use]
    pub fn start(&self, index: usize) -> u64 {
        self.origin + index as u64 * self.width
    }

    /// The interval that `tick` lies in; none when it lies before the first or after the last.
    #[inline]
    #[must_use]
    pub fn index(&self, tick: u64) -> Option<usize> {
        let offset = tick.checked_sub(self.origin)?;
        // The reciprocal is less than 1 too small and the offset less than 2⁶⁴, so this is at most 1 too small.
        let mut index = ((u128::from(offset) * u128::from(self.reciprocal)) >> 64) as u64;
        index += u64::from(offset - index * self.width >= self.width);
        (index < u64::from(self.count_max)).then_some(index as usize)
    }
}

/// What happened during one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Flits of messages that were created, whether they were lost or not.
    pub offered_flits: u64,
    /// Flits of packets that were delivered.
    pub delivered_flits: u64,
    /// Messages that were delivered.
    pub delivered_messages: u64,
    /// The sum of their latencies.
    pub message_latency_ticks: u64,
    /// The largest of them.
    pub message_latency_max: u64,
    /// Packets that were delivered.
    pub delivered_packets: u64,
    /// The sum of their network latencies.
    pub network_latency_ticks: u64,
    /// The largest of them.
    pub network_latency_max: u64,
    /// The packets that took a path that is not minimal.
    pub nonminimal_packets: u64,
}

impl Point {
    /// The sum of the latencies of the messages that were delivered, and their number.
    #[must_use]
    pub fn message_latency(&self) -> (u64, u64) {
        (self.message_latency_ticks, self.delivered_messages)
    }

    /// The sum of the network latencies of the packets that were delivered, and their number.
    #[must_use]
    pub fn network_latency(&self) -> (u64, u64) {
        (self.network_latency_ticks, self.delivered_packets)
    }

    fn add(&mut self, other: &Self) {
        self.offered_flits += other.offered_flits;
        self.delivered_flits += other.delivered_flits;
        self.delivered_messages += other.delivered_messages;
        self.message_latency_ticks += other.message_latency_ticks;
        self.delivered_packets += other.delivered_packets;
        self.network_latency_ticks += other.network_latency_ticks;
        self.nonminimal_packets += other.nonminimal_packets;
        self.message_latency_max = self.message_latency_max.max(other.message_latency_max);
        self.network_latency_max = self.network_latency_max.max(other.network_latency_max);
    }
}

/// A point for each interval up to the last in which something happened.
///
/// What happens before the first or after the last of the intervals is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    intervals: Intervals,
    points: Vec<Point>,
}

impl Timeline {
    /// A timeline in which nothing has happened yet.
    #[must_use]
    pub fn new(intervals: Intervals) -> Self {
        Self { intervals, points: Vec::new() }
    }

    /// The point to write down what happens at `tick`; none when it lies outside of all intervals.
    #[inline(always)]
    pub fn at(&mut self, tick: u64) -> Option<&mut Point> {
        let index = self.intervals.index(tick)?;
        if index >= self.points.len() {
            self.grow(index);
        }
        Some(&mut self.points[index])
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.points.resize(index + 1, Point::default());
    }

    /// Adds everything of `other`.
    ///
    /// # Panics
    /// When the intervals differ.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.intervals, other.intervals, "timelines that are merged have the same intervals");
        if other.points.len() > self.points.len() {
            self.points.resize(other.points.len(), Point::default());
        }
        for (mine, theirs) in self.points.iter_mut().zip(&other.points) {
            mine.add(theirs);
        }
    }

    /// The intervals.
    #[must_use]
    pub fn intervals(&self) -> Intervals {
        self.intervals
    }

    /// The points, up to the last interval in which something happened.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The points of the intervals that start in [`from`, `until`).
    #[must_use]
    pub fn between(&self, from: u64, until: u64) -> &[Point] {
        let Intervals { origin, width, .. } = self.intervals;
        let index = |tick: u64| (tick.saturating_sub(origin).div_ceil(width) as usize).min(self.points.len());
        let first = index(from);
        &self.points[first..index(until).max(first)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn intervals_are_found_as_by_division(
            origin in any::<u32>(), width in 1u64.., shift in 0u32..64, tick in any::<u64>(),
        ) {
            let intervals = Intervals::new(origin.into(), (width >> shift).max(1), u32::MAX);
            let expected = tick.checked_sub(origin.into()).map(|offset| offset / intervals.width());
            let expected = expected.filter(|&index| index < u64::from(u32::MAX));
            prop_assert_eq!(intervals.index(tick), expected.map(|index| index as usize));
        }

        #[test]
        fn merging_is_noting_everything(
            events in proptest::collection::vec((0u64..120, 0u64..9), 0..60), cut in 0usize..60,
        ) {
            let note = |events: &[(u64, u64)]| {
                let mut timeline = Timeline::new(Intervals::new(10, 7, 12));
                for &(tick, flits) in events {
                    if let Some(point) = timeline.at(tick) {
                        point.delivered_flits += flits;
                    }
                }
                timeline
            };
            let (left, right) = events.split_at(cut.min(events.len()));
            let mut merged = note(left);
            merged.merge(&note(right));
            prop_assert_eq!(&merged, &note(&events));
            let kept: u64 = events.iter().filter(|(tick, _)| (10..94).contains(tick)).map(|(_, flits)| flits).sum();
            prop_assert_eq!(merged.points().iter().map(|point| point.delivered_flits).sum::<u64>(), kept);
        }
    }

    #[test]
    fn intervals_around_a_window_start_with_it() {
        let plain = |i: Intervals| (i.origin(), i.width(), i.count_max());
        assert_eq!(plain(Intervals::around(1000, 2000, 100, 4096)), (0, 10, 200));
        assert_eq!(plain(Intervals::around(1005, 2000, 100, 4096)), (5, 10, 200));
        assert_eq!(plain(Intervals::around(1000, 2000, 100, 50)), (500, 10, 150));
        assert_eq!(plain(Intervals::around(0, 7, 100, 50)), (0, 1, 7));
        assert_eq!(plain(Intervals::around(5, 5, 100, 50)), (0, 1, 5));
    }

    #[test]
    fn the_points_of_a_window_are_those_inside_it() {
        let mut timeline = Timeline::new(Intervals::new(0, 10, 10));
        for tick in 0..75 {
            timeline.at(tick).unwrap().offered_flits += tick / 10;
        }
        let offered =
            |from, until| timeline.between(from, until).iter().map(|p| p.offered_flits / 5).collect::<Vec<_>>();
        assert_eq!(offered(20, 50), [4, 6, 8]);
        assert_eq!(offered(15, 50), [4, 6, 8]);
        assert_eq!(offered(60, 1000), [12, 7]);
        assert_eq!(offered(90, 100), [0; 0]);
        assert_eq!(offered(50, 20), [0; 0]);
    }
}
