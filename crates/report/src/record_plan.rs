//! What is to be written down while a run goes on.

use serde::{Deserialize, Serialize};

use crate::pairs::PairRecords;
use crate::{Histogram, Intervals, ListedCompletion, Point, ProgramPlan};

/// The ticks that are measured: from one to before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The first tick.
    pub from: u64,
    /// The tick after the last.
    pub until: u64,
}

impl Window {
    /// Whether `tick` is measured.
    #[inline]
    #[must_use]
    pub fn contains(self, tick: u64) -> bool {
        // One comparison: what lies before wraps around to far behind.
        tick.wrapping_sub(self.from) < self.ticks()
    }

    /// How many ticks there are.
    #[inline]
    #[must_use]
    pub fn ticks(self) -> u64 {
        self.until.saturating_sub(self.from)
    }
}

/// What is to be written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordPlan {
    /// How many flows there are.
    pub flows: usize,
    /// The ticks in which totals and histograms are taken.
    pub window: Window,
    /// The intervals for confidence intervals and for judging the warm-up; see [`Intervals::around`].
    pub batches: Intervals,
    /// The intervals of the time series, if one is wanted.
    pub series: Option<Intervals>,
    /// How many nodes there are, if what arrives is also counted by source.
    pub nodes: Option<u32>,
    /// Whether the time series shows things when the message was created that they belong to, not when they happen.
    pub series_by_creation: bool,
    /// The names of further counters.
    pub counters: Vec<String>,
    /// By flow: how many messages all its sources send, if it ends.
    pub ending: Vec<Option<u64>>,
    /// By flow: the program that its messages are of, if they are of one.
    pub programs: Vec<Option<ProgramPlan>>,
    /// Whether each message of flows that end is written down.
    pub messages: bool,
}

impl RecordPlan {
    /// How many intervals [`RecordPlan::new`] cuts the window into.
    const BATCH_INTERVALS: u32 = 100;
    /// How many intervals of the warm-up it keeps at most, the last ones.
    const WARM_UP_INTERVALS_MAX: u32 = 1000;

    /// A plan with neither time series nor further counters, and intervals that suit the statistics.
    #[must_use]
    pub fn new(flows: usize, window: Window) -> Self {
        let batches = Intervals::around(window.from, window.until, Self::BATCH_INTERVALS, Self::WARM_UP_INTERVALS_MAX);
        Self {
            flows,
            window,
            batches,
            series: None,
            nodes: None,
            series_by_creation: false,
            counters: Vec::new(),
            ending: vec![None; flows],
            programs: vec![None; flows],
            messages: false,
        }
    }
}

impl RecordPlan {
    /// The bytes that a record of this plan takes once something has happened in all intervals, in a run of so many ticks.
    #[must_use]
    pub fn record_bytes(&self, ticks: u64) -> u64 {
        let points = |intervals: &Intervals| u64::from(intervals.count_max()) * size_of::<Point>() as u64;
        let timelines = points(&self.batches) + self.series.as_ref().map_or(0, points);
        // Of the latencies of messages and packets, and of hops.
        let histograms = 2 * Histogram::bytes_up_to(ticks) + Histogram::bytes_up_to(u64::from(u8::MAX));
        let by_source = u64::from(self.nodes.unwrap_or(0)) * size_of::<u64>() as u64;
        let ending = self.ending.iter().flatten().count() as u64;
        // Slowdowns are counted in thousandths, and sizes are rarely of more than some classes.
        let completions = 8 * (Histogram::bytes_up_to(ticks) + Histogram::bytes_up_to(ticks.saturating_mul(1000)));
        let pairs: u64 = self.ending.iter().flatten().map(|&messages| PairRecords::bytes_up_to(messages)).sum();
        let every_flow = (self.flows as u64).saturating_mul(histograms + timelines + by_source);
        // Lists double as they grow.
        let listed = self.listed().saturating_mul(2 * size_of::<ListedCompletion>() as u64);
        every_flow.saturating_add(ending.saturating_mul(completions)).saturating_add(listed).saturating_add(pairs)
    }

    /// How many messages are written down, at most.
    fn listed(&self) -> u64 {
        if self.messages { self.ending.iter().flatten().copied().fold(0, u64::saturating_add) } else { 0 }
    }

    /// The bytes that the messages which are written down take as a table and as the files that are made of it.
    #[must_use]
    pub fn messages_bytes(&self) -> u64 {
        self.listed().saturating_mul(MESSAGE_ROW_BYTES)
    }

    /// The bytes that the time series takes as a table and as the files that are made of it.
    #[must_use]
    pub fn series_bytes(&self) -> u64 {
        let rows = self.series.map_or(0, |intervals| u64::from(intervals.count_max()));
        (self.flows as u64).saturating_mul(rows).saturating_mul(SERIES_ROW_BYTES)
    }
}

/// A row of a table of messages: its cells, and what becomes of them in files.
const MESSAGE_ROW_BYTES: u64 = 400;

/// A row of a time series: its cells, and what becomes of them in files.
const SERIES_ROW_BYTES: u64 = 700;
