//! Refusals as gRPC statuses, with codes and details: here and nowhere else.

use std::collections::HashMap;
use std::time::Duration;

use tailback_api::v1;
use tailback_api::v1::ErrorReason;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt as _};

use crate::api_error::{ApiError, Limit, Scope};
use crate::tame::{cut, tame};

/// How long to wait before asking again, when the queue is full.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Mistakes of a scenario that are told in a status: headers have a limit, and all of them are in ValidateScenario.
const VIOLATIONS_MAX: usize = 16;
/// Bytes of a text in a status.
const TEXT_MAX: usize = 1024;

impl From<ApiError> for Status {
    fn from(error: ApiError) -> Self {
        let (code, reason) = code_and_reason(&error);
        let metadata: HashMap<String, String> =
            metadata(&error).into_iter().map(|(key, value)| (key.to_owned(), shortened(&value))).collect();
        let name = reason.as_str_name().trim_start_matches("ERROR_REASON_");
        let mut details = ErrorDetails::with_error_info(name, "tailback", metadata);
        let violations = violations(&error);
        if !violations.is_empty() {
            details.set_bad_request(violations);
        }
        if matches!(error, ApiError::QueueFull { .. }) {
            details.set_retry_info(Some(RETRY_AFTER));
        }
        match &error {
            ApiError::Internal(cause) => tracing::error!(cause = %shortened(cause), "a call failed"),
            ApiError::DataLoss { .. } | ApiError::FileLost { .. } => {
                tracing::error!(error = %shortened(&error.to_string()), "a call failed");
            }
            _ => {}
        }
        Self::with_error_details(code, shortened(&error.to_string()), details)
    }
}

fn code_and_reason(error: &ApiError) -> (Code, ErrorReason) {
    match error {
        ApiError::InvalidScenario(_) => (Code::InvalidArgument, ErrorReason::InvalidScenario),
        ApiError::InvalidRequest { .. } => (Code::InvalidArgument, ErrorReason::InvalidRequest),
        ApiError::RunNotFound(_) => (Code::NotFound, ErrorReason::RunNotFound),
        ApiError::ArtifactNotFound { .. } => (Code::NotFound, ErrorReason::ArtifactNotFound),
        ApiError::FileNotFound(_) => (Code::NotFound, ErrorReason::FileNotFound),
        ApiError::ModelNotFound { .. } => (Code::NotFound, ErrorReason::ModelNotFound),
        ApiError::RunExists(_) => (Code::AlreadyExists, ErrorReason::RunExists),
        ApiError::RequestIdReused(_) => (Code::AlreadyExists, ErrorReason::RequestIdReused),
        ApiError::RunNotEnded { .. } => (Code::FailedPrecondition, ErrorReason::RunNotEnded),
        ApiError::FileInUse { .. } => (Code::FailedPrecondition, ErrorReason::FileInUse),
        ApiError::NoResults { .. } => (Code::FailedPrecondition, ErrorReason::NoResults),
        ApiError::NoSeries(_) => (Code::FailedPrecondition, ErrorReason::NoSeries),
        ApiError::PartOfSweep { .. } => (Code::FailedPrecondition, ErrorReason::PartOfSweep),
        ApiError::NothingToRetry(_) => (Code::FailedPrecondition, ErrorReason::NothingToRetry),
        ApiError::QueueFull { .. } => (Code::ResourceExhausted, ErrorReason::QueueFull),
        ApiError::LimitExceeded { .. } | ApiError::TableTooLarge { .. } => {
            (Code::ResourceExhausted, ErrorReason::LimitExceeded)
        }
        ApiError::TooManyStreams { .. } => (Code::ResourceExhausted, ErrorReason::TooManyStreams),
        ApiError::StorageFull => (Code::ResourceExhausted, ErrorReason::StorageFull),
        ApiError::SequenceGone { .. } => (Code::OutOfRange, ErrorReason::SequenceGone),
        ApiError::OffsetOutOfRange { .. } => (Code::OutOfRange, ErrorReason::OffsetOutOfRange),
        ApiError::WatchTooSlow { .. } => (Code::Aborted, ErrorReason::WatchTooSlow),
        ApiError::ReadTooSlow { .. } => (Code::Aborted, ErrorReason::ReadTooSlow),
        ApiError::ShuttingDown { .. } => (Code::Unavailable, ErrorReason::ShuttingDown),
        ApiError::StreamExpired { .. } => (Code::Unavailable, ErrorReason::StreamExpired),
        ApiError::NotAuthenticated => (Code::Unauthenticated, ErrorReason::NotAuthenticated),
        ApiError::NotAllowed { .. } | ApiError::NotInProject(_) => (Code::PermissionDenied, ErrorReason::NotAllowed),
        ApiError::BodyTooSlow { .. } | ApiError::DeadlinePassed { .. } => {
            (Code::DeadlineExceeded, ErrorReason::DeadlinePassed)
        }
        ApiError::DataLoss { .. } | ApiError::FileLost { .. } => (Code::DataLoss, ErrorReason::DataLoss),
        ApiError::Internal(_) => (Code::Internal, ErrorReason::Internal),
    }
}

/// What goes with the reason, for programs.
fn metadata(error: &ApiError) -> Vec<(&'static str, String)> {
    match error {
        ApiError::RunNotFound(run)
        | ApiError::RunExists(run)
        | ApiError::RequestIdReused(run)
        | ApiError::NothingToRetry(run)
        | ApiError::NoSeries(run) => {
            vec![("run", run.clone())]
        }
        ApiError::ArtifactNotFound { run, artifact } => vec![("run", run.clone()), ("artifact", artifact.clone())],
        ApiError::FileNotFound(sha256) | ApiError::FileLost { sha256, .. } => vec![("file", sha256.clone())],
        ApiError::FileInUse { sha256, run } => vec![("file", sha256.clone()), ("run", run.clone())],
        ApiError::DataLoss { run, part, .. } => vec![("run", run.clone()), ("part", part.clone())],
        ApiError::RunNotEnded { run, state } | ApiError::NoResults { run, state, .. } => {
            vec![("run", run.clone()), ("state", v1::RunState::from(*state).as_str_name().to_owned())]
        }
        ApiError::PartOfSweep { run, parent } => vec![("run", run.clone()), ("parent", parent.clone())],
        ApiError::QueueFull { scope, allowed, asked } => numbers(queue_field(*scope), *allowed, *asked),
        ApiError::LimitExceeded { limit, allowed, asked } => numbers(limit_field(*limit), *allowed, *asked),
        ApiError::TableTooLarge { allowed, asked, .. } => numbers(limit_field(Limit::AnswerBytes), *allowed, *asked),
        ApiError::TooManyStreams { limit, allowed, .. } => {
            vec![("limit", (*limit).to_owned()), ("allowed", allowed.to_string())]
        }
        ApiError::SequenceGone { run, oldest, latest } => {
            vec![("run", run.clone()), ("oldest", oldest.to_string()), ("latest", latest.to_string())]
        }
        ApiError::OffsetOutOfRange { size } => vec![("size", size.to_string())],
        ApiError::WatchTooSlow { resume_after, .. } => vec![("resume_after", resume_after.to_string())],
        ApiError::ShuttingDown { resume_after }
        | ApiError::StreamExpired { resume_after }
        | ApiError::DeadlinePassed { resume_after } => {
            resume_after.iter().map(|sequence| ("resume_after", sequence.to_string())).collect()
        }
        ApiError::NotAllowed { role, owner } => {
            let owner = owner.iter().map(|owner| ("owner", owner.clone()));
            std::iter::once(("role", role.word().to_owned())).chain(owner).collect()
        }
        ApiError::NotInProject(project) => vec![("project", project.clone())],
        _ => Vec::new(),
    }
}

/// The field of `ServerLimits` that publishes how long a queue may be.
fn queue_field(scope: Scope) -> &'static str {
    match scope {
        Scope::Server => "queue_max",
        Scope::Owner => "queue_per_owner_max",
    }
}

/// The same of another limit.
fn limit_field(limit: Limit) -> &'static str {
    match limit {
        Limit::Threads => "threads_max",
        Limit::ThreadsPerOwner => "threads_per_owner_max",
        Limit::ThreadsPerRun => "threads_per_run_max",
        Limit::Nodes => "nodes_max",
        Limit::Memory => "memory_bytes_max",
        Limit::MemoryPerOwner => "memory_bytes_per_owner_max",
        Limit::MemoryPerRun => "memory_bytes_per_run_max",
        Limit::WallTime => "wall_time_max",
        Limit::ArtifactBytes => "artifact_bytes_max",
        Limit::SweepRuns => "sweep_runs_max",
        Limit::ScenarioBytes => "scenario_bytes_max",
        Limit::ListedNodes => "listed_nodes_max",
        Limit::GroupPairs => "group_pairs_max",
        Limit::AnswerBytes => "answer_bytes_max",
        Limit::CheckTime => "check_time_max",
        Limit::FileBytes => "file_bytes_max",
        Limit::FilesPerOwner => "files_per_owner_max",
        Limit::FileBytesPerOwner => "file_bytes_per_owner_max",
    }
}

fn violations(error: &ApiError) -> Vec<FieldViolation> {
    match error {
        ApiError::InvalidScenario(diagnostics) => {
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
        ApiError::InvalidRequest { field, problem } => vec![FieldViolation::new(*field, shortened(problem))],
        _ => Vec::new(),
    }
}

fn numbers(limit: &str, allowed: u64, asked: u64) -> Vec<(&'static str, String)> {
    vec![("limit", limit.to_owned()), ("allowed", allowed.to_string()), ("asked", asked.to_string())]
}

/// Not more than fits into a status, or than anybody reads of one sentence; and nothing that a terminal would obey, for not
/// every client writes that out.
pub(super) fn shortened(text: &str) -> String {
    cut(&tame(text), TEXT_MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;
    use crate::access::Role;

    #[test]
    fn names_are_quoted_once() {
        for (refusal, told) in [
            (ApiError::RunNotFound("a.b".to_owned()), "there is no run called `a.b`"),
            (
                ApiError::ArtifactNotFound { run: "swp".to_owned(), artifact: "links.csv".to_owned() },
                "run `swp` has no artifact called `links.csv`",
            ),
        ] {
            assert_eq!(Status::from(refusal).message(), told);
        }
    }

    /// However long a text is that a client has sent, or a cause that repeats it.
    #[test]
    fn what_is_told_and_logged_of_a_refusal_is_short() {
        let log = Arc::new(tempfile::tempfile().expect("a temporary file can be made"));
        let layer = tracing_subscriber::fmt::layer().with_writer(log.clone());
        let long = || "x".repeat(1 << 20);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            for refusal in [
                ApiError::Internal(long()),
                ApiError::FileLost { sha256: String::new(), problem: long() },
                ApiError::NotAllowed { role: Role::Submit, owner: Some(long()) },
            ] {
                let told = Status::from(refusal);
                assert!(told.message().len() + told.details().len() < 5 * TEXT_MAX, "{}", told.details().len());
            }
        });
        let logged = log.metadata().expect("it is there").len() as usize;
        assert!((2 * TEXT_MAX..4 * TEXT_MAX).contains(&logged), "{logged}");
    }
}
