//! What is measured during an interval of a run that goes on: the difference of what was written down before and after.

use std::time::Instant;

use tailback_report::{Histogram, Record};
use tailback_scenario::Scenario;
use tailback_sim::{Run, sending_nodes};

use crate::domain::Sample;

/// Sums over a run so far.
struct Sums {
    cycle: u64,
    at: Instant,
    delivered_flits: u64,
    delivered_messages: u64,
    latency_ticks: u64,
    latencies: Histogram,
}

/// Measures a run interval by interval.
pub(super) struct Sampler<'s> {
    scenario: &'s Scenario,
    /// How many nodes send.
    sources: u64,
    before: Sums,
}

impl<'s> Sampler<'s> {
    /// From where the run is now.
    pub(super) fn new(scenario: &'s Scenario, run: &Run<'_>) -> Self {
        Self { scenario, sources: sending_nodes(scenario), before: Sums::of(run) }
    }

    /// What was measured since the last time.
    pub(super) fn sample(&mut self, run: &Run<'_>) -> Sample {
        let now = Sums::of(run);
        let before = std::mem::replace(&mut self.before, now);
        let now = &self.before;
        let progress = run.progress();
        let ticks_per_cycle = f64::from(self.scenario.clock.ticks_per_cycle);
        let cycles = now.cycle.saturating_sub(before.cycle);
        let source_cycles = self.sources as f64 * cycles as f64;
        let flits = now.delivered_flits - before.delivered_flits;
        let messages = now.delivered_messages - before.delivered_messages;
        let ticks = (now.latency_ticks - before.latency_ticks) as f64;
        Sample {
            cycle: now.cycle,
            cycles: progress.cycles,
            from_cycle: before.cycle,
            // Long before measuring begins nothing is written down that could tell.
            accepted_load: (source_cycles > 0.0 && now.delivered_flits > 0).then(|| flits as f64 / source_cycles),
            latency_mean: (messages > 0).then(|| ticks / messages as f64 / ticks_per_cycle),
            latency_p99: quantile_between(&before.latencies, &now.latencies, 0.99)
                .map(|ticks| ticks as f64 / ticks_per_cycle),
            packets_in_flight: progress.packets,
            cycles_per_second: cycles as f64 / now.at.duration_since(before.at).as_secs_f64().max(1e-9),
            packet_hops: progress.packet_hops,
        }
    }
}

impl Sums {
    fn of(run: &Run<'_>) -> Self {
        let record = run.record();
        let points = || record.flows().iter().flat_map(|traffic| traffic.batches.points());
        Self {
            cycle: run.progress().cycle,
            at: Instant::now(),
            delivered_flits: points().map(|point| point.delivered_flits).sum(),
            delivered_messages: points().map(|point| point.delivered_messages).sum(),
            latency_ticks: points().map(|point| point.message_latency_ticks).sum(),
            latencies: latencies(&record),
        }
    }
}

fn latencies(record: &Record) -> Histogram {
    let mut all = Histogram::new();
    record.flows().iter().for_each(|traffic| all.merge(&traffic.message_latency));
    all
}

/// The value of rank ⌈q·n⌉ among those that `later` has counted and `earlier` has not: the middle of its bucket.
fn quantile_between(earlier: &Histogram, later: &Histogram, q: f64) -> Option<u64> {
    let count = later.count() - earlier.count();
    let rank = ((q * count as f64).ceil() as u64).max(1);
    let mut known = earlier.buckets().peekable();
    let mut seen = 0;
    let bucket = later.buckets().find(|bucket| {
        while known.peek().is_some_and(|old| old.low < bucket.low) {
            known.next();
        }
        let old = known.peek().filter(|old| old.low == bucket.low).map_or(0, |old| old.count);
        seen += bucket.count - old;
        count > 0 && seen >= rank
    })?;
    Some(bucket.low + (bucket.high - bucket.low) / 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What lies between two histograms is the histogram of what came between.
        #[test]
        fn quantiles_of_what_came_between(
            before in prop::collection::vec(0u64..5000, 0..50),
            between in prop::collection::vec(0u64..200, 0..50),
        ) {
            let histogram = |values: &[&[u64]]| {
                let mut histogram = Histogram::new();
                values.iter().copied().flatten().for_each(|&value| histogram.record(value));
                histogram
            };
            let (earlier, later) = (histogram(&[&before]), histogram(&[&before, &between]));
            // Below 256 buckets hold one value each.
            prop_assert_eq!(quantile_between(&earlier, &later, 0.99), histogram(&[&between]).quantile(0.99));
        }
    }
}
