//! Flows that end: how long their messages took, and how much longer than in an empty network.
//!
//! Unlike all else these count the whole run, warm-up included: a flow that ends is looked at from its first message to its last.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::figures::Clock;
use crate::pairs::{PairRecords, jain};
use crate::{Distribution, Histogram};

/// Units of a slowdown of 1.
pub(crate) const SLOWDOWN_ONE: u64 = 1000;
/// Units of a rate of one flit per tick: a message of one flit that has waited for a million ticks still has a rate to a thousandth.
const RATE_ONE: u64 = 1 << 30;

/// What is written down about a flow that ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionRecord {
    /// Messages that all sources have to send.
    pub count: u64,
    /// Those that were lost at their sources.
    pub lost: u64,
    /// Flits of messages that were created, and of those that are lost or complete. They are no part of the digest.
    pub flits_created: u64,
    /// See [`CompletionRecord::flits_created`].
    pub flits_ended: u64,
    /// The first tick in which a message was created.
    pub first: Option<u64>,
    /// The last tick in which a message became complete.
    pub last: Option<u64>,
    /// How long all messages took.
    pub all: Durations,
    /// How long those of a size took, by the power of four that it reaches.
    pub by_size: BTreeMap<u8, Durations>,
    /// The sum of the rates at which messages were carried, in 2^-30 flits per tick, and of their squares.
    pub rates: (u128, u128),
    /// What each source has sent each destination. It is no part of the digest.
    pub pairs: PairRecords,
}

/// How long messages took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durations {
    /// Ticks from creation to the arrival of the last flit.
    pub latency: Histogram,
    /// The same in thousandths of what it takes in an empty network.
    pub slowdown: Histogram,
}

impl Durations {
    fn record(&mut self, latency: u64, slowdown: u64) {
        self.latency.record(latency);
        self.slowdown.record(slowdown);
    }

    fn merge(&mut self, other: &Self) {
        self.latency.merge(&other.latency);
        self.slowdown.merge(&other.slowdown);
    }
}

/// A message of a flow that ends has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedMessage {
    /// When its last flit arrived.
    pub tick: u64,
    /// Ticks since it was created.
    pub latency: u64,
    /// What they are in an empty network, on a minimal path.
    pub unloaded: u64,
    /// Its flits.
    pub flits: u32,
    /// The node that sent it, and the one that it was for.
    pub between: (u32, u32),
}

impl CompletionRecord {
    /// Of a flow whose sources have so many messages to send.
    pub(crate) fn new(count: u64) -> Self {
        Self { count, ..Self::default() }
    }

    /// A message was created.
    pub(crate) fn created(&mut self, tick: u64, flits: u64, lost: bool) {
        self.first = Some(self.first.map_or(tick, |first| first.min(tick)));
        self.lost += u64::from(lost);
        self.flits_created += flits;
        self.flits_ended += if lost { flits } else { 0 };
    }

    /// A message has arrived.
    pub(crate) fn completed(&mut self, message: CompletedMessage) {
        let CompletedMessage { tick, latency, unloaded, flits, between } = message;
        self.pairs.completed(between, tick - latency, tick, flits);
        self.last = self.last.max(Some(tick));
        self.flits_ended += u64::from(flits);
        let slowdown = latency.saturating_mul(SLOWDOWN_ONE) / unloaded.max(1);
        self.all.record(latency, slowdown);
        self.by_size.entry((flits.max(1).ilog2() / 2) as u8).or_default().record(latency, slowdown);
        let rate = u128::from(u64::from(flits) * RATE_ONE / latency.max(1));
        self.add_rates((rate, rate * rate));
    }

    /// Adds rates and their squares. Sums that no network reaches stay at the largest number, in whatever order they are added.
    fn add_rates(&mut self, (rates, squares): (u128, u128)) {
        self.rates = (self.rates.0.saturating_add(rates), self.rates.1.saturating_add(squares));
    }

    /// Messages that are lost or complete.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.lost + self.all.latency.count()
    }

    /// Those that are neither.
    #[must_use]
    pub fn unfinished(&self) -> u64 {
        self.count - self.ended()
    }

    /// Flits of messages that were created and are neither lost nor complete. Only of the whole run: what one region has created may end in another.
    #[must_use]
    pub fn unfinished_flits(&self) -> u64 {
        self.flits_created.saturating_sub(self.flits_ended)
    }

    /// Adds everything that has happened by `other`, which is about the same messages to be sent.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.lost += other.lost;
        self.flits_created += other.flits_created;
        self.flits_ended += other.flits_ended;
        self.first = self.first.into_iter().chain(other.first).min();
        self.last = self.last.max(other.last);
        self.all.merge(&other.all);
        for (&size, durations) in &other.by_size {
            self.by_size.entry(size).or_default().merge(durations);
        }
        self.add_rates(other.rates);
        self.pairs.merge(&other.pairs);
    }
}

/// How a flow has ended, or how far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completions {
    /// Messages that its sources have to send, lost ones left out.
    pub count: u64,
    /// How many of them have not arrived.
    pub unfinished: u64,
    /// The flits of those of them that were created: the backlog. Reports of earlier builds lack it.
    #[serde(default)]
    pub unfinished_flits: Option<u64>,
    /// Cycles from the creation of the first message to the arrival of the last, once all have arrived.
    pub completion_cycles: Option<f64>,
    /// Cycles from the creation of a message to the arrival of its last flit.
    pub completion: Distribution,
    /// The same in nanoseconds, if it is known how long a cycle is.
    pub completion_ns: Option<Distribution>,
    /// How many times as long as in an empty network that is.
    pub slowdown: Distribution,
    /// Flits per cycle at which a message is carried from its creation on, on average.
    pub goodput: Option<f64>,
    /// Jain's index of these rates: 1 if all messages are carried at the same, 1/n if one has it all.
    #[serde(default)]
    pub message_jain: Option<f64>,
    /// Flits per cycle from a source to a destination, from the creation of the first message to the arrival of the last: of each pair that
    /// something has arrived of. None if there are too many pairs; reports of earlier builds lack it.
    #[serde(default)]
    pub pair_goodput: Option<Distribution>,
    /// Jain's index of the goodput of pairs, if they are known; of that of messages in reports of earlier builds.
    pub jain: Option<f64>,
    /// The same by size, if sizes differ by much.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<OfSize>,
}

/// How long messages took of some sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfSize {
    /// Flits of the smallest that belong to these, and of the largest.
    pub flits: (u64, u64),
    /// Cycles from the creation of a message to the arrival of its last flit.
    pub completion: Distribution,
    /// How many times as long as in an empty network that is.
    pub slowdown: Distribution,
}

impl Completions {
    /// The figures of a record.
    pub(crate) fn new(record: &CompletionRecord, clock: Clock) -> Self {
        let cycle = clock.ticks_per_cycle as f64;
        let unfinished = record.unfinished();
        let took = record.last.zip(record.first).map(|(last, first)| (last - first) as f64 / cycle);
        let (sum, squares) = (record.rates.0 as f64, record.rates.1 as f64);
        let pairs = record.pairs.goodput(cycle);
        let messages = record.all.latency.count() as f64;
        let cycles = |latency: &Histogram| Distribution::new(latency, None, |ticks| ticks / cycle);
        let factors =
            |slowdown: &Histogram| Distribution::new(slowdown, None, |slowdown| slowdown / SLOWDOWN_ONE as f64);
        let of_size = |(&size, durations): (&u8, &Durations)| OfSize {
            flits: (1 << (2 * size), (1 << (2 * size + 2)) - 1),
            completion: cycles(&durations.latency),
            slowdown: factors(&durations.slowdown),
        };
        let sizes = record.by_size.iter().map(of_size);
        Self {
            count: record.count - record.lost,
            unfinished,
            unfinished_flits: Some(record.unfinished_flits()),
            completion_cycles: took.filter(|_| unfinished == 0),
            completion: cycles(&record.all.latency),
            completion_ns: clock
                .cycle_ns
                .map(|ns| Distribution::new(&record.all.latency, None, |ticks| ticks / cycle * ns)),
            slowdown: factors(&record.all.slowdown),
            goodput: (messages > 0.0).then(|| sum / messages / RATE_ONE as f64 * cycle),
            message_jain: jain(sum, squares, messages),
            jain: pairs.as_ref().and_then(|rates| {
                let sums = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
                jain(sums.0, sums.1, rates.len() as f64)
            }),
            pair_goodput: pairs.map(|rates| Distribution::of_sorted(&rates)),
            sizes: if record.by_size.len() > 1 { sizes.collect() } else { Vec::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(latencies: &[u64]) -> CompletionRecord {
        let mut record = CompletionRecord::new(10);
        for (created, &latency) in (100..).zip(latencies) {
            record.created(created, 100, false);
            record.completed(CompletedMessage {
                tick: created + latency,
                latency,
                unloaded: 50,
                flits: 100,
                between: (1, 2),
            });
        }
        record
    }

    #[test]
    fn slowdowns_rates_and_their_fairness_are_those_of_the_formulas() {
        let clock = Clock { ticks_per_cycle: 2, cycle_ns: Some(4.0) };
        let mut record = completed(&[50, 200]);
        record.count = 3;
        record.created(7, 100, true);
        let figures = Completions::new(&record, clock);
        assert_eq!((figures.count, figures.unfinished, figures.unfinished_flits), (2, 0, Some(0)));
        assert_eq!(figures.completion_cycles, Some((101.0 + 200.0 - 7.0) / 2.0));
        assert_eq!((figures.completion.mean, figures.completion.max), (Some(62.5), Some(100.0)));
        assert_eq!(figures.completion_ns.and_then(|ns| ns.max), Some(400.0));
        assert_eq!((figures.slowdown.min, figures.slowdown.max), (Some(1.0), Some(4.0)));
        // Two flits per tick, and half a flit.
        assert_eq!(figures.goodput, Some(2.5));
        assert_eq!(figures.message_jain, Some(2.5 * 2.5 / (2.0 * (4.0 + 0.25))));
        // Both are of one pair: 200 flits in 201 ticks, from the creation of the first to the arrival of the last.
        let of_pair = figures.pair_goodput.expect("there are few pairs");
        assert_eq!((of_pair.samples, of_pair.min, of_pair.max), (1, Some(400.0 / 201.0), Some(400.0 / 201.0)));
        assert_eq!(figures.jain, Some(1.0));
    }

    #[test]
    fn a_message_that_waits_for_long_has_a_rate_too() {
        let mut record = CompletionRecord::new(2);
        for latency in [1 << 21, 1 << 22] {
            record.completed(CompletedMessage { tick: latency, latency, unloaded: 10, flits: 1, between: (1, 2) });
        }
        let figures = Completions::new(&record, Clock { ticks_per_cycle: 1, cycle_ns: None });
        assert_eq!(figures.goodput, Some((1.0 + 0.5) / 2.0 / f64::from(1 << 21)));
        assert_eq!(figures.message_jain, Some(2.25 / (2.0 * 1.25)));
    }

    #[test]
    fn what_has_not_arrived_is_told_and_nothing_is_complete() {
        let mut record = completed(&[60]);
        record.created(101, 7, false);
        let figures = Completions::new(&record, Clock { ticks_per_cycle: 1, cycle_ns: None });
        assert_eq!((figures.count, figures.unfinished, figures.completion_cycles), (10, 9, None));
        assert_eq!(figures.unfinished_flits, Some(7), "of the one that was created");
        let nothing = Completions::new(&completed(&[]), Clock { ticks_per_cycle: 1, cycle_ns: None });
        assert_eq!(
            (nothing.goodput, nothing.message_jain, nothing.jain, nothing.completion.mean),
            (None, None, None, None)
        );
    }

    #[test]
    fn sizes_that_differ_by_much_are_told_apart() {
        let mut record = CompletionRecord::new(4);
        for (flits, latency) in [(1, 10), (3, 30), (4, 40), (255, 500)] {
            record.completed(CompletedMessage { tick: latency, latency, unloaded: 10, flits, between: (1, 2) });
        }
        let sizes = Completions::new(&record, Clock { ticks_per_cycle: 1, cycle_ns: None }).sizes;
        let found: Vec<_> = sizes.iter().map(|of| (of.flits, of.completion.samples, of.slowdown.max)).collect();
        assert_eq!(found, [((1, 3), 2, Some(3.0)), ((4, 15), 1, Some(4.0)), ((64, 255), 1, Some(50.0))]);
        assert_eq!(Completions::new(&completed(&[1, 2]), Clock { ticks_per_cycle: 1, cycle_ns: None }).sizes, []);
    }

    #[test]
    fn parts_make_up_the_whole() {
        let (whole, mut one, mut other) = (completed(&[50, 70, 90]), completed(&[50]), CompletionRecord::default());
        for (created, latency) in [(101, 70), (102, 90)] {
            other.created(created, 100, false);
            other.completed(CompletedMessage {
                tick: created + latency,
                latency,
                unloaded: 50,
                flits: 100,
                between: (1, 2),
            });
        }
        one.merge(&other);
        assert_eq!(one, whole);
    }
}
