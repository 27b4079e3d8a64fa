//! Why calls are refused or fail: a closed list, mapped to gRPC codes and details here and nowhere else.

use std::collections::HashMap;
use std::time::Duration;

use tailback_api::v1::{ErrorReason, RunState};
use tailback_scenario::Diagnostics;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt as _};

use crate::access::Role;

/// Why a call is refused or fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("{}", scenario_message(.0))]
    InvalidScenario(Diagnostics),
    #[error("{field}: {problem}")]
    InvalidRequest { field: &'static str, problem: String },
    #[error("there is no run called `{0}`")]
    RunNotFound(String),
    #[error("run `{run}` has no artifact called `{artifact}`")]
    ArtifactNotFound { run: String, artifact: String },
    #[error("there is no {kind} called `{name}`")]
    ModelNotFound { kind: String, name: String },
    #[error("there is a run called `{0}` already")]
    RunExists(String),
    #[error("the request id was used before, with other content, for run `{0}`")]
    RequestIdReused(String),
    #[error("run `{run}` is {}; wait until it has ended", state_word(*.state))]
    RunNotEnded { run: String, state: RunState },
    #[error("run `{run}` has no results: {}", .why)]
    NoResults { run: String, state: RunState, why: String },
    #[error("run `{0}` has no time series; set measure.series in its scenario")]
    NoSeries(String),
    #[error("run `{run}` is a part of sweep `{parent}`; ask for this of the sweep")]
    PartOfSweep { run: String, parent: String },
    #[error("{asked} more runs would make the queue longer than {allowed}; try again later")]
    QueueFull { allowed: u64, asked: u64 },
    #[error("the run asks for {asked} {}, this server allows {allowed}", .limit.unit())]
    LimitExceeded { limit: Limit, allowed: u64, asked: u64 },
    #[error("{allowed} {what} are open already; try again later")]
    TooManyStreams { what: &'static str, allowed: u64 },
    #[error("the server's disk is full")]
    StorageFull,
    #[error("run `{run}` keeps events {oldest} to {latest}; get the run and watch from its last_sequence")]
    SequenceGone { run: String, oldest: i64, latest: i64 },
    #[error("the artifact has {size} bytes, the offset lies behind them")]
    OffsetOutOfRange { size: u64 },
    #[error("no event was taken for {} s; go on after sequence {resume_after}", .stalled.as_secs())]
    WatchTooSlow { resume_after: i64, stalled: Duration },
    #[error("the server is stopping; try again when it is back")]
    ShuttingDown { resume_after: Option<i64> },
    #[error("the stream has lived as long as it may; open another")]
    StreamExpired { resume_after: Option<i64> },
    #[error("a bearer token is needed, and there is none that is known")]
    NotAuthenticated,
    #[error("role {} does not allow this{}", .role.word(), .owner.as_ref().map_or_else(String::new, |owner| format!(" to a run of {owner}")))]
    NotAllowed { role: Role, owner: Option<String> },
    #[error("the deadline of the call has passed")]
    DeadlinePassed { resume_after: Option<i64> },
    #[error("something is wrong in the server: {0}")]
    Internal(String),
}

/// What is limited: the field of `ServerLimits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Threads,
    Nodes,
    Memory,
    WallTime,
    ArtifactBytes,
    SweepRuns,
    ScenarioBytes,
}

impl Limit {
    /// The field that publishes it.
    fn field(self) -> &'static str {
        match self {
            Self::Threads => "threads_max",
            Self::Nodes => "nodes_max",
            Self::Memory => "memory_bytes_max",
            Self::WallTime => "wall_time_max",
            Self::ArtifactBytes => "artifact_bytes_max",
            Self::SweepRuns => "sweep_runs_max",
            Self::ScenarioBytes => "scenario_bytes_max",
        }
    }

    /// What it counts.
    fn unit(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Nodes => "nodes",
            Self::Memory => "bytes of memory",
            Self::WallTime => "seconds of wall time",
            Self::ArtifactBytes => "bytes of artifacts",
            Self::SweepRuns => "runs in a sweep",
            Self::ScenarioBytes => "bytes of scenario",
        }
    }
}

/// How long to wait before asking again, when the queue is full.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Mistakes of a scenario that are told in a status: headers have a limit, and all of them are in ValidateScenario.
const VIOLATIONS_MAX: usize = 16;
/// Bytes of a text in a status.
const TEXT_MAX: usize = 1024;

impl Refusal {
    pub(crate) fn invalid(field: &'static str, problem: impl Into<String>) -> Self {
        Self::InvalidRequest { field, problem: problem.into() }
    }

    /// The same with the number after which a watch can go on.
    pub(crate) fn resuming_after(self, sequence: i64) -> Self {
        let resume_after = Some(sequence);
        match self {
            Self::ShuttingDown { .. } => Self::ShuttingDown { resume_after },
            Self::StreamExpired { .. } => Self::StreamExpired { resume_after },
            Self::DeadlinePassed { .. } => Self::DeadlinePassed { resume_after },
            other => other,
        }
    }

    fn code_and_reason(&self) -> (Code, ErrorReason) {
        match self {
            Self::InvalidScenario(_) => (Code::InvalidArgument, ErrorReason::InvalidScenario),
            Self::InvalidRequest { .. } => (Code::InvalidArgument, ErrorReason::InvalidRequest),
            Self::RunNotFound(_) => (Code::NotFound, ErrorReason::RunNotFound),
            Self::ArtifactNotFound { .. } => (Code::NotFound, ErrorReason::ArtifactNotFound),
            Self::ModelNotFound { .. } => (Code::NotFound, ErrorReason::ModelNotFound),
            Self::RunExists(_) => (Code::AlreadyExists, ErrorReason::RunExists),
            Self::RequestIdReused(_) => (Code::AlreadyExists, ErrorReason::RequestIdReused),
            Self::RunNotEnded { .. } => (Code::FailedPrecondition, ErrorReason::RunNotEnded),
            Self::NoResults { .. } => (Code::FailedPrecondition, ErrorReason::NoResults),
            Self::NoSeries(_) => (Code::FailedPrecondition, ErrorReason::NoSeries),
            Self::PartOfSweep { .. } => (Code::FailedPrecondition, ErrorReason::PartOfSweep),
            Self::QueueFull { .. } => (Code::ResourceExhausted, ErrorReason::QueueFull),
            Self::LimitExceeded { .. } => (Code::ResourceExhausted, ErrorReason::LimitExceeded),
            Self::TooManyStreams { .. } => (Code::ResourceExhausted, ErrorReason::TooManyStreams),
            Self::StorageFull => (Code::ResourceExhausted, ErrorReason::StorageFull),
            Self::SequenceGone { .. } => (Code::OutOfRange, ErrorReason::SequenceGone),
            Self::OffsetOutOfRange { .. } => (Code::OutOfRange, ErrorReason::OffsetOutOfRange),
            Self::WatchTooSlow { .. } => (Code::Aborted, ErrorReason::WatchTooSlow),
            Self::ShuttingDown { .. } => (Code::Unavailable, ErrorReason::ShuttingDown),
            Self::StreamExpired { .. } => (Code::Unavailable, ErrorReason::StreamExpired),
            Self::NotAuthenticated => (Code::Unauthenticated, ErrorReason::NotAuthenticated),
            Self::NotAllowed { .. } => (Code::PermissionDenied, ErrorReason::NotAllowed),
            Self::DeadlinePassed { .. } => (Code::DeadlineExceeded, ErrorReason::DeadlinePassed),
            Self::Internal(_) => (Code::Internal, ErrorReason::Internal),
        }
    }

    /// What goes with the reason, for programs.
    fn metadata(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::RunNotFound(run) | Self::RunExists(run) | Self::RequestIdReused(run) | Self::NoSeries(run) => {
                vec![("run", run.clone())]
            }
            Self::ArtifactNotFound { run, artifact } => vec![("run", run.clone()), ("artifact", artifact.clone())],
            Self::RunNotEnded { run, state } | Self::NoResults { run, state, .. } => {
                vec![("run", run.clone()), ("state", state.as_str_name().to_owned())]
            }
            Self::PartOfSweep { run, parent } => vec![("run", run.clone()), ("parent", parent.clone())],
            Self::QueueFull { allowed, asked } => numbers("queue_max", *allowed, *asked),
            Self::LimitExceeded { limit, allowed, asked } => numbers(limit.field(), *allowed, *asked),
            Self::TooManyStreams { allowed, .. } => {
                vec![("limit", "streams_max".to_owned()), ("allowed", allowed.to_string())]
            }
            Self::SequenceGone { run, oldest, latest } => {
                vec![("run", run.clone()), ("oldest", oldest.to_string()), ("latest", latest.to_string())]
            }
            Self::OffsetOutOfRange { size } => vec![("size", size.to_string())],
            Self::WatchTooSlow { resume_after, .. } => vec![("resume_after", resume_after.to_string())],
            Self::ShuttingDown { resume_after }
            | Self::StreamExpired { resume_after }
            | Self::DeadlinePassed { resume_after } => {
                resume_after.iter().map(|sequence| ("resume_after", sequence.to_string())).collect()
            }
            Self::NotAllowed { role, owner } => {
                let owner = owner.iter().map(|owner| ("owner", owner.clone()));
                std::iter::once(("role", role.word().to_owned())).chain(owner).collect()
            }
            _ => Vec::new(),
        }
    }

    fn violations(&self) -> Vec<FieldViolation> {
        match self {
            Self::InvalidScenario(diagnostics) => {
                let violation = |diagnostic: &tailback_scenario::Diagnostic| {
                    let place = diagnostic.span.map_or_else(String::new, |span| {
                        let (line, column) = diagnostics.position(span);
                        format!(" {}:{line}:{column}", diagnostics.sources[span.source].name)
                    });
                    let help = diagnostic.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
                    let field = shortened(&format!("scenario{place}"));
                    FieldViolation::new(field, shortened(&format!("{}{help}", diagnostic.message)))
                };
                diagnostics.list.iter().take(VIOLATIONS_MAX).map(violation).collect()
            }
            Self::InvalidRequest { field, problem } => vec![FieldViolation::new(*field, shortened(problem))],
            _ => Vec::new(),
        }
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let (code, reason) = refusal.code_and_reason();
        let metadata: HashMap<String, String> =
            refusal.metadata().into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let name = reason.as_str_name().trim_start_matches("ERROR_REASON_");
        let mut details = ErrorDetails::with_error_info(name, "tailback", metadata);
        let violations = refusal.violations();
        if !violations.is_empty() {
            details.set_bad_request(violations);
        }
        if matches!(refusal, Refusal::QueueFull { .. }) {
            details.set_retry_info(Some(RETRY_AFTER));
        }
        if let Refusal::Internal(cause) = &refusal {
            tracing::error!(%cause, "a call failed");
        }
        Self::with_error_details(code, shortened(&refusal.to_string()), details)
    }
}

fn numbers(limit: &str, allowed: u64, asked: u64) -> Vec<(&'static str, String)> {
    vec![("limit", limit.to_owned()), ("allowed", allowed.to_string()), ("asked", asked.to_string())]
}

fn scenario_message(diagnostics: &Diagnostics) -> String {
    match diagnostics.list.as_slice() {
        [only] => format!("the scenario has a mistake: {}", only.message),
        [first, others @ ..] => {
            format!("the scenario has {} mistakes, the first: {}", others.len() + 1, first.message)
        }
        [] => "the scenario has mistakes".to_owned(),
    }
}

/// The state as it stands in a sentence.
pub(crate) fn state_word(state: RunState) -> String {
    state.as_str_name().trim_start_matches("RUN_STATE_").to_lowercase()
}

/// Not more than fits into a status.
fn shortened(text: &str) -> String {
    if text.len() <= TEXT_MAX {
        return text.to_owned();
    }
    let end = (0..=TEXT_MAX).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}…", &text[..end])
}
