//! Refusals as gRPC statuses, with codes and details: here and nowhere else.

use std::collections::HashMap;
use std::time::Duration;

use tailback_api::v1;
use tailback_api::v1::ErrorReason;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt as _};

use crate::refusal::{Limit, Refusal};

/// How long to wait before asking again, when the queue is full.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Mistakes of a scenario that are told in a status: headers have a limit, and all of them are in ValidateScenario.
const VIOLATIONS_MAX: usize = 16;
/// Bytes of a text in a status.
const TEXT_MAX: usize = 1024;

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let (code, reason) = code_and_reason(&refusal);
        let metadata: HashMap<String, String> =
            metadata(&refusal).into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let name = reason.as_str_name().trim_start_matches("ERROR_REASON_");
        let mut details = ErrorDetails::with_error_info(name, "tailback", metadata);
        let violations = violations(&refusal);
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

fn code_and_reason(refusal: &Refusal) -> (Code, ErrorReason) {
    match refusal {
        Refusal::InvalidScenario(_) => (Code::InvalidArgument, ErrorReason::InvalidScenario),
        Refusal::InvalidRequest { .. } => (Code::InvalidArgument, ErrorReason::InvalidRequest),
        Refusal::RunNotFound(_) => (Code::NotFound, ErrorReason::RunNotFound),
        Refusal::ArtifactNotFound { .. } => (Code::NotFound, ErrorReason::ArtifactNotFound),
        Refusal::ModelNotFound { .. } => (Code::NotFound, ErrorReason::ModelNotFound),
        Refusal::RunExists(_) => (Code::AlreadyExists, ErrorReason::RunExists),
        Refusal::RequestIdReused(_) => (Code::AlreadyExists, ErrorReason::RequestIdReused),
        Refusal::RunNotEnded { .. } => (Code::FailedPrecondition, ErrorReason::RunNotEnded),
        Refusal::NoResults { .. } => (Code::FailedPrecondition, ErrorReason::NoResults),
        Refusal::NoSeries(_) => (Code::FailedPrecondition, ErrorReason::NoSeries),
        Refusal::PartOfSweep { .. } => (Code::FailedPrecondition, ErrorReason::PartOfSweep),
        Refusal::QueueFull { .. } => (Code::ResourceExhausted, ErrorReason::QueueFull),
        Refusal::LimitExceeded { .. } => (Code::ResourceExhausted, ErrorReason::LimitExceeded),
        Refusal::TooManyStreams { .. } => (Code::ResourceExhausted, ErrorReason::TooManyStreams),
        Refusal::StorageFull => (Code::ResourceExhausted, ErrorReason::StorageFull),
        Refusal::SequenceGone { .. } => (Code::OutOfRange, ErrorReason::SequenceGone),
        Refusal::OffsetOutOfRange { .. } => (Code::OutOfRange, ErrorReason::OffsetOutOfRange),
        Refusal::WatchTooSlow { .. } => (Code::Aborted, ErrorReason::WatchTooSlow),
        Refusal::ShuttingDown { .. } => (Code::Unavailable, ErrorReason::ShuttingDown),
        Refusal::StreamExpired { .. } => (Code::Unavailable, ErrorReason::StreamExpired),
        Refusal::NotAuthenticated => (Code::Unauthenticated, ErrorReason::NotAuthenticated),
        Refusal::NotAllowed { .. } => (Code::PermissionDenied, ErrorReason::NotAllowed),
        Refusal::DeadlinePassed { .. } => (Code::DeadlineExceeded, ErrorReason::DeadlinePassed),
        Refusal::Internal(_) => (Code::Internal, ErrorReason::Internal),
    }
}

/// What goes with the reason, for programs.
fn metadata(refusal: &Refusal) -> Vec<(&'static str, String)> {
    match refusal {
        Refusal::RunNotFound(run)
        | Refusal::RunExists(run)
        | Refusal::RequestIdReused(run)
        | Refusal::NoSeries(run) => {
            vec![("run", run.clone())]
        }
        Refusal::ArtifactNotFound { run, artifact } => vec![("run", run.clone()), ("artifact", artifact.clone())],
        Refusal::RunNotEnded { run, state } | Refusal::NoResults { run, state, .. } => {
            vec![("run", run.clone()), ("state", v1::RunState::from(*state).as_str_name().to_owned())]
        }
        Refusal::PartOfSweep { run, parent } => vec![("run", run.clone()), ("parent", parent.clone())],
        Refusal::QueueFull { allowed, asked } => numbers("queue_max", *allowed, *asked),
        Refusal::LimitExceeded { limit, allowed, asked } => numbers(limit_field(*limit), *allowed, *asked),
        Refusal::TooManyStreams { allowed, .. } => {
            vec![("limit", "streams_max".to_owned()), ("allowed", allowed.to_string())]
        }
        Refusal::SequenceGone { run, oldest, latest } => {
            vec![("run", run.clone()), ("oldest", oldest.to_string()), ("latest", latest.to_string())]
        }
        Refusal::OffsetOutOfRange { size } => vec![("size", size.to_string())],
        Refusal::WatchTooSlow { resume_after, .. } => vec![("resume_after", resume_after.to_string())],
        Refusal::ShuttingDown { resume_after }
        | Refusal::StreamExpired { resume_after }
        | Refusal::DeadlinePassed { resume_after } => {
            resume_after.iter().map(|sequence| ("resume_after", sequence.to_string())).collect()
        }
        Refusal::NotAllowed { role, owner } => {
            let owner = owner.iter().map(|owner| ("owner", owner.clone()));
            std::iter::once(("role", role.word().to_owned())).chain(owner).collect()
        }
        _ => Vec::new(),
    }
}

/// The field of `ServerLimits` that publishes a limit.
fn limit_field(limit: Limit) -> &'static str {
    match limit {
        Limit::Threads => "threads_max",
        Limit::Nodes => "nodes_max",
        Limit::Memory => "memory_bytes_max",
        Limit::WallTime => "wall_time_max",
        Limit::ArtifactBytes => "artifact_bytes_max",
        Limit::SweepRuns => "sweep_runs_max",
        Limit::ScenarioBytes => "scenario_bytes_max",
    }
}

fn violations(refusal: &Refusal) -> Vec<FieldViolation> {
    match refusal {
        Refusal::InvalidScenario(diagnostics) => {
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
        Refusal::InvalidRequest { field, problem } => vec![FieldViolation::new(*field, shortened(problem))],
        _ => Vec::new(),
    }
}

fn numbers(limit: &str, allowed: u64, asked: u64) -> Vec<(&'static str, String)> {
    vec![("limit", limit.to_owned()), ("allowed", allowed.to_string()), ("asked", asked.to_string())]
}

/// Not more than fits into a status.
fn shortened(text: &str) -> String {
    if text.len() <= TEXT_MAX {
        return text.to_owned();
    }
    let end = (0..=TEXT_MAX).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}…", &text[..end])
}
