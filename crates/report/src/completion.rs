//! Flows that end: how long their messages took, and how much longer than in an empty network.
//!
//! Unlike all else these count the whole run, warm-up included: a flow that ends is looked at from its first message to its last.

use serde::{Deserialize, Serialize};

use crate::figures::Clock;
use crate::{Distribution, Histogram};

/// Units of a slowdown of 1.
const SLOWDOWN_ONE: u64 = 1000;
/// Units of a rate of one flit per tick.
const RATE_ONE: u64 = 1 << 20;

/// What is written down about a flow that ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionRecord {
    /// Messages that all sources have to send.
    pub count: u64,
    /// Those that were lost at their sources.
    pub lost: u64,
    /// The first tick in which a message was created.
    pub first: Option<u64>,
    /// The last tick in which a message became complete.
    pub last: Option<u64>,
    /// Ticks from creation to the arrival of the last flit.
    pub latency: Histogram,
    /// The same in thousandths of what it takes in an empty network.
    pub slowdown: Histogram,
    /// The sum of the rates at which messages were carried, in 2^-20 flits per tick, and of their squares.
    pub rates: (u128, u128),
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
}

impl CompletionRecord {
    /// Of a flow whose sources have so many messages to send.
    pub(crate) fn new(count: u64) -> Self {
        Self { count, ..Self::default() }
    }

    /// A message was created.
    pub(crate) fn created(&mut self, tick: u64, lost: bool) {
        self.first = Some(self.first.map_or(tick, |first| first.min(tick)));
        self.lost += u64::from(lost);
    }

    /// A message has arrived.
    pub(crate) fn completed(&mut self, message: CompletedMessage) {
        let CompletedMessage { tick, latency, unloaded, flits } = message;
        self.last = self.last.max(Some(tick));
        self.latency.record(latency);
        self.slowdown.record(latency.saturating_mul(SLOWDOWN_ONE) / unloaded.max(1));
        let rate = u128::from(u64::from(flits) * RATE_ONE / latency.max(1));
        self.rates.0 += rate;
        self.rates.1 += rate * rate;
    }

    /// Messages that are lost or complete.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.lost + self.latency.count()
    }

    /// Those that are neither.
    #[must_use]
    pub fn unfinished(&self) -> u64 {
        self.count - self.ended()
    }

    /// Adds everything that has happened by `other`, which is about the same messages to be sent.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.lost += other.lost;
        self.first = self.first.into_iter().chain(other.first).min();
        self.last = self.last.max(other.last);
        self.latency.merge(&other.latency);
        self.slowdown.merge(&other.slowdown);
        self.rates = (self.rates.0 + other.rates.0, self.rates.1 + other.rates.1);
    }
}

/// How a flow has ended, or how far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completions {
    /// Messages that its sources have to send, lost ones left out.
    pub count: u64,
    /// How many of them have not arrived.
    pub unfinished: u64,
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
    pub jain: Option<f64>,
}

impl Completions {
    /// The figures of a record.
    pub(crate) fn new(record: &CompletionRecord, clock: Clock) -> Self {
        let cycle = clock.ticks_per_cycle as f64;
        let unfinished = record.unfinished();
        let took = record.last.zip(record.first).map(|(last, first)| (last - first) as f64 / cycle);
        let (sum, squares) = (record.rates.0 as f64, record.rates.1 as f64);
        let messages = record.latency.count() as f64;
        Self {
            count: record.count - record.lost,
            unfinished,
            completion_cycles: took.filter(|_| unfinished == 0),
            completion: Distribution::new(&record.latency, None, |ticks| ticks / cycle),
            completion_ns: clock
                .cycle_ns
                .map(|ns| Distribution::new(&record.latency, None, |ticks| ticks / cycle * ns)),
            slowdown: Distribution::new(&record.slowdown, None, |slowdown| slowdown / SLOWDOWN_ONE as f64),
            goodput: (messages > 0.0).then(|| sum / messages / RATE_ONE as f64 * cycle),
            jain: (squares > 0.0).then(|| sum * sum / (messages * squares)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(latencies: &[u64]) -> CompletionRecord {
        let mut record = CompletionRecord::new(10);
        for (created, &latency) in (100..).zip(latencies) {
            record.created(created, false);
            record.completed(CompletedMessage { tick: created + latency, latency, unloaded: 50, flits: 100 });
        }
        record
    }

    #[test]
    fn slowdowns_rates_and_their_fairness_are_those_of_the_formulas() {
        let clock = Clock { ticks_per_cycle: 2, cycle_ns: Some(4.0) };
        let mut record = completed(&[50, 200]);
        record.count = 3;
        record.created(7, true);
        let figures = Completions::new(&record, clock);
        assert_eq!((figures.count, figures.unfinished), (2, 0));
        assert_eq!(figures.completion_cycles, Some((101.0 + 200.0 - 7.0) / 2.0));
        assert_eq!((figures.completion.mean, figures.completion.max), (Some(62.5), Some(100.0)));
        assert_eq!(figures.completion_ns.and_then(|ns| ns.max), Some(400.0));
        assert_eq!((figures.slowdown.min, figures.slowdown.max), (Some(1.0), Some(4.0)));
        // Two flits per tick, and half a flit.
        assert_eq!(figures.goodput, Some(2.5));
        assert_eq!(figures.jain, Some(2.5 * 2.5 / (2.0 * (4.0 + 0.25))));
    }

    #[test]
    fn what_has_not_arrived_is_told_and_nothing_is_complete() {
        let figures = Completions::new(&completed(&[60]), Clock { ticks_per_cycle: 1, cycle_ns: None });
        assert_eq!((figures.count, figures.unfinished, figures.completion_cycles), (10, 9, None));
        let nothing = Completions::new(&completed(&[]), Clock { ticks_per_cycle: 1, cycle_ns: None });
        assert_eq!((nothing.goodput, nothing.jain, nothing.completion.mean), (None, None, None));
    }

    #[test]
    fn parts_make_up_the_whole() {
        let (whole, mut one, mut other) = (completed(&[50, 70, 90]), completed(&[50]), CompletionRecord::default());
        for (created, latency) in [(101, 70), (102, 90)] {
            other.created(created, false);
            other.completed(CompletedMessage { tick: created + latency, latency, unloaded: 50, flits: 100 });
        }
        one.merge(&other);
        assert_eq!(one, whole);
    }
}
