//! What happens to runs.

use serde::{Deserialize, Serialize};

use super::{Progress, Run, RunFailure, State};

/// Something that has happened to a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// Its number: those of a run ascend, with gaps.
    pub sequence: i64,
    /// When it happened, in milliseconds since 1970.
    pub time_ms: i64,
    pub what: Occurrence,
}

/// What has happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Occurrence {
    /// The run is in another state: the run as it was then.
    StateChanged(Box<Run>),
    /// A run of this sweep has reached a last state.
    ChildEnded(ChildEnded),
    Sample(Sample),
    /// The server had stopped, or an attempt had failed, and the run goes on from a cycle.
    Recovered(u64),
    /// An attempt to carry out the run has failed; it is tried again.
    AttemptFailed(AttemptFailed),
}

/// An attempt to carry out a run has failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct AttemptFailed {
    /// Which it was, counted from 1.
    pub attempt: u32,
    pub failure: RunFailure,
}

/// A run of a sweep has reached a last state.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct ChildEnded {
    pub run_id: String,
    /// Its place in the sweep, counted from 1.
    pub child_number: u32,
    pub state: State,
    /// How far the sweep has come with it.
    pub progress: Progress,
}

/// What was measured since the sample before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct Sample {
    /// Link cycles that have been simulated, that are to be, and that had been at the sample before.
    pub cycle: u64,
    pub cycles: u64,
    pub from_cycle: u64,
    /// Flits per node and link cycle; none before measuring begins.
    pub accepted_load: Option<f64>,
    /// In link cycles; none if no message has arrived.
    pub latency_mean: Option<f64>,
    pub latency_p99: Option<f64>,
    pub packets_in_flight: u64,
    /// Link cycles simulated per second of wall time.
    pub cycles_per_second: f64,
    pub packet_hops: u64,
}

/// A sample with its place among the events of its run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TakenSample {
    pub sequence: i64,
    pub time_ms: i64,
    pub sample: Sample,
}

impl From<TakenSample> for Event {
    fn from(TakenSample { sequence, time_ms, sample }: TakenSample) -> Self {
        Self { sequence, time_ms, what: Occurrence::Sample(sample) }
    }
}
