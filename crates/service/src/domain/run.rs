//! Runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tailback_report::Report;
use tailback_scenario::{Bounds, Document, Files};

use super::{Overrides, shared};
use crate::tame::cut;

/// An experiment: one simulation, or a sweep whose simulations are runs of their own.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct Run {
    /// Its name, unique on the server.
    pub id: String,
    /// Whose token created it.
    pub owner: String,
    /// Of its request, which the runs of a sweep share.
    #[serde(with = "shared")]
    pub labels: Arc<BTreeMap<String, String>>,
    pub execution: Execution,
    /// What is varied; none if the run is one simulation.
    pub sweep: Option<SweepRequest>,
    pub state: State,
    pub progress: Progress,
    /// Why it failed.
    pub failure: Option<RunFailure>,
    pub summary: Option<Summary>,
    pub scenario_digest: String,
    /// Empty as long as there is no result.
    pub result_digest: String,
    /// When it was accepted, when simulating began the first time, and when it reached its last state: milliseconds
    /// since 1970.
    pub created_ms: Option<i64>,
    pub started_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    /// The sweep that it belongs to; empty if it is a run of its own.
    pub parent_id: String,
    /// Its place in the sweep, counted from 1.
    pub child_number: u32,
    /// How often it was taken up again after the server had stopped, or an attempt had failed.
    pub restarts: u32,
    /// Attempts that have failed.
    #[serde(default)]
    pub failed_attempts: u32,
    /// What else is to be said about its state.
    pub note: String,
    /// The title that the scenario gives itself.
    pub title: String,
    /// Whether results that are there already may do. Like what follows, left out where it is not so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reuse: bool,
    /// Whether only its owner and admins may see it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub private: bool,
    /// The project whose it is; empty for none. Only those who are in it may see it, and they may change it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub project: String,
    /// Whether it was cancelled because the curve of its sweep is saturated at a lower load already.
    #[serde(default, skip_serializing_if = "is_default")]
    pub beyond_end: bool,
    /// The files that its scenario names: the SHA-256 of each, by name.
    #[serde(default, skip_serializing_if = "is_default", with = "shared")]
    pub files: Arc<BTreeMap<String, String>>,
    /// The trace that it goes on with, if they are collected.
    #[serde(default, skip_serializing_if = "is_default")]
    pub traceparent: String,
}

impl Run {
    /// How long it has waited until simulating began the first time. Clocks may be turned back meanwhile.
    pub(crate) fn waited(&self) -> Option<Duration> {
        let ms = self.started_ms?.saturating_sub(self.created_ms?);
        Some(Duration::from_millis(ms.try_into().unwrap_or(0)))
    }
}

/// A run as somebody sees it who asks for it.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub run: Run,
    /// The number of the latest event that this includes.
    pub last_sequence: i64,
    /// What is simulated, if that is asked for.
    pub scenario: Option<ScenarioSource>,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    #[default]
    Pending,
    Running,
    /// Still being simulated, and asked to stop.
    Cancelling,
    Succeeded,
    Failed,
    Cancelled,
}

impl State {
    pub(crate) const ALL: [Self; 6] =
        [Self::Pending, Self::Running, Self::Cancelling, Self::Succeeded, Self::Failed, Self::Cancelled];

    /// The state as it stands in sentences and in the database.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Cancelling => "cancelling",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether it is a last one.
    pub(crate) fn has_ended(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

/// A scenario as its author gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct ScenarioSource {
    /// How people know the document, such as the name of its file.
    pub name: String,
    /// The document, in TOML; the runs of a sweep share it.
    #[serde(serialize_with = "text", deserialize_with = "read_text")]
    pub document: Arc<str>,
    /// Values laid over it in this order.
    pub overrides: Overrides,
    /// The files that it names: the SHA-256 of the content of each, by name; the runs of a sweep share them, too.
    #[serde(default, skip_serializing_if = "is_default", with = "shared")]
    pub files: Arc<BTreeMap<String, String>>,
}

fn text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

fn read_text<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(deserializer).map(Into::into)
}

impl ScenarioSource {
    /// Bytes of all of it.
    pub(crate) fn bytes(&self) -> usize {
        let files = self.files.iter().map(|(name, sha256)| name.len() + sha256.len());
        self.name.len() + self.document.len() + self.overrides.iter().map(String::len).chain(files).sum::<usize>()
    }

    /// The document with its overrides, and with the files that it names.
    pub(crate) fn read(&self, files: Arc<dyn Files>) -> Document {
        self.read_within(Bounds::default(), files)
    }

    /// The same of one that may ask for no more than that.
    pub(crate) fn read_within(&self, bounds: Bounds, files: Arc<dyn Files>) -> Document {
        let name = if self.name.is_empty() { "scenario" } else { &self.name };
        let document = Document::read(name, &self.document).within(bounds).with_files(files);
        self.overrides.iter().fold(document, |document, set| document.with(set))
    }
}

/// How a run is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Execution {
    /// Threads; 0 for the sequential executor. None leaves it to the scenario; a run that was accepted has a number.
    pub threads: Option<u32>,
    /// The wall time that it may take over all its restarts, if it may take less than the server allows.
    pub wall_time_max: Option<Duration>,
    /// The bytes that its artifacts may take; 0 for what the server allows.
    pub artifact_bytes_max: u64,
    /// Of what waits, the highest goes first. Left out where it is 0, as what was asked and kept before there were any.
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority: i32,
}

/// Whether a value need not be written down.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What is varied in a sweep, over and above what the scenario says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct SweepRequest {
    /// Axes; the last varies fastest.
    pub over: Vec<String>,
    /// How many seeds each point is run with; 0 for what the scenario says.
    pub seeds: u32,
    /// Goes on with a curve when it is saturated.
    pub run_saturated: bool,
}

/// How far a run has come: a simulation in cycles, a sweep in runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Progress {
    pub cycle: u64,
    /// Link cycles that are to be simulated.
    pub cycles: u64,
    pub packet_hops: u64,
    pub children_ended: u32,
    pub children: u32,
    pub children_failed: u32,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct RunFailure {
    pub reason: FailureReason,
    /// What happened, in a sentence without a full stop.
    pub message: String,
    /// More about it, line by line.
    pub details: Vec<String>,
}

impl RunFailure {
    /// One about which there is no more to say.
    pub(crate) fn new(reason: FailureReason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), details: Vec::new() }
    }

    /// As much of it as anybody reads. It is part of each answer about its run, whose bytes are limited.
    pub(crate) fn bounded(mut self) -> Self {
        self.message = cut(&self.message, SAID_BYTES_MAX);
        let untold = self.details.len().saturating_sub(DETAILS_MAX);
        self.details.truncate(DETAILS_MAX);
        self.details.iter_mut().for_each(|line| *line = cut(line, DETAIL_BYTES_MAX));
        self.details.extend((untold > 0).then(|| format!("and {untold} more")));
        self
    }
}

/// Bytes of what is said of a run in a sentence: why it failed, or what there is to note.
pub(crate) const SAID_BYTES_MAX: usize = 16 << 10;
/// Lines of more about a failure, and bytes of each.
const DETAILS_MAX: usize = 64;
const DETAIL_BYTES_MAX: usize = 1 << 10;

/// Kinds of failures of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FailureReason {
    Deadlock,
    Inconsistent,
    Panicked,
    WallTime,
    ArtifactBytes,
    StorageFull,
    Storage,
    /// An earlier version of the server accepted the scenario, and this one refuses it.
    Scenario,
    Threads,
    /// Of a sweep: some of its runs failed.
    Children,
    /// It took more memory than it may.
    Memory,
    /// The process that simulated it ended without saying why.
    WorkerLost,
}

impl FailureReason {
    /// Whether it ends an attempt only, after which the run is tried again: what another attempt, on a machine with more
    /// room perhaps, may not meet.
    pub(crate) fn ends_an_attempt(self) -> bool {
        matches!(self, Self::Panicked | Self::Memory | Self::WorkerLost)
    }
}

/// The main figures of a run that has succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct Summary {
    pub offered_load: f64,
    pub accepted_load: f64,
    pub latency_mean: Option<f64>,
    pub latency_p99: Option<f64>,
    pub hops_mean: Option<f64>,
    pub saturated: bool,
    pub wall_s: f64,
}

impl Summary {
    /// The main figures of a report.
    pub(crate) fn of(report: &Report) -> Self {
        let total = &report.total;
        Self {
            offered_load: total.offered_load,
            accepted_load: total.accepted_load,
            latency_mean: total.latency.message.mean,
            latency_p99: total.latency.message.p99,
            hops_mean: total.hops.mean,
            saturated: total.saturated,
            wall_s: report.performance.wall_s,
        }
    }
}

/// A file that a run has left.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Artifact {
    pub name: String,
    pub size: u64,
    /// Of its content, in hexadecimal.
    pub sha256: String,
    pub media_type: String,
}
