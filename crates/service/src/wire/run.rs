//! Runs as clients see them.

use std::sync::Arc;

use tailback_api::v1;

use super::{length, read_length, timestamp};
use crate::domain::{
    Execution, FailureReason, Progress, Run, RunFailure, ScenarioSource, Snapshot, State, Summary, SweepRequest,
};

/// A run as it is now.
pub(crate) fn run(Snapshot { run, last_sequence, scenario }: Snapshot) -> v1::Run {
    let Run { created_ms, started_ms, ended_ms, .. } = run;
    v1::Run {
        id: run.id,
        owner: run.owner,
        labels: Arc::unwrap_or_clone(run.labels).into_iter().collect(),
        scenario: scenario.map(Into::into),
        execution: Some(run.execution.into()),
        sweep: run.sweep.map(Into::into),
        state: v1::RunState::from(run.state).into(),
        progress: Some(run.progress.into()),
        error: run.failure.map(Into::into),
        summary: run.summary.map(Into::into),
        scenario_digest: run.scenario_digest,
        result_digest: run.result_digest,
        create_time: created_ms.map(timestamp),
        start_time: started_ms.map(timestamp),
        end_time: ended_ms.map(timestamp),
        parent_id: run.parent_id,
        child_number: run.child_number,
        restarts: run.restarts,
        failed_attempts: run.failed_attempts,
        note: run.note,
        title: run.title,
        last_sequence,
        private: run.private,
        project: run.project,
    }
}

impl From<State> for v1::RunState {
    fn from(state: State) -> Self {
        match state {
            State::Pending => Self::Pending,
            State::Running => Self::Running,
            State::Cancelling => Self::Cancelling,
            State::Succeeded => Self::Succeeded,
            State::Failed => Self::Failed,
            State::Cancelled => Self::Cancelled,
        }
    }
}

/// None is what no run is in.
pub(super) fn state(state: v1::RunState) -> Option<State> {
    Some(match state {
        v1::RunState::Unspecified => return None,
        v1::RunState::Pending => State::Pending,
        v1::RunState::Running => State::Running,
        v1::RunState::Cancelling => State::Cancelling,
        v1::RunState::Succeeded => State::Succeeded,
        v1::RunState::Failed => State::Failed,
        v1::RunState::Cancelled => State::Cancelled,
    })
}

impl From<ScenarioSource> for v1::Scenario {
    fn from(ScenarioSource { name, document, overrides, files }: ScenarioSource) -> Self {
        let files = Arc::unwrap_or_clone(files).into_iter().collect();
        Self { name, document: document.as_ref().to_owned(), overrides: overrides.into_vec(), files }
    }
}

impl From<v1::Scenario> for ScenarioSource {
    fn from(v1::Scenario { name, document, overrides, files }: v1::Scenario) -> Self {
        let files = Arc::new(files.into_iter().collect());
        Self { name, document: document.into(), overrides: overrides.into(), files }
    }
}

impl From<Execution> for v1::Execution {
    fn from(Execution { threads, wall_time_max, artifact_bytes_max, priority }: Execution) -> Self {
        Self { threads, wall_time_max: wall_time_max.map(length), artifact_bytes_max, priority }
    }
}

impl From<v1::Execution> for Execution {
    fn from(v1::Execution { threads, wall_time_max, artifact_bytes_max, priority }: v1::Execution) -> Self {
        Self { threads, wall_time_max: wall_time_max.map(read_length), artifact_bytes_max, priority }
    }
}

impl From<SweepRequest> for v1::Sweep {
    fn from(SweepRequest { over, seeds, run_saturated }: SweepRequest) -> Self {
        Self { over, seeds, run_saturated }
    }
}

impl From<v1::Sweep> for SweepRequest {
    fn from(v1::Sweep { over, seeds, run_saturated }: v1::Sweep) -> Self {
        Self { over, seeds, run_saturated }
    }
}

impl From<Progress> for v1::Progress {
    fn from(found: Progress) -> Self {
        let Progress { cycle, cycles, packet_hops, children_ended, children, children_failed } = found;
        Self { cycle, cycles, packet_hops, children_ended, children, children_failed }
    }
}

impl From<RunFailure> for v1::RunError {
    fn from(RunFailure { reason, message, details }: RunFailure) -> Self {
        Self { reason: v1::RunErrorReason::from(reason).into(), message, details }
    }
}

impl From<FailureReason> for v1::RunErrorReason {
    fn from(reason: FailureReason) -> Self {
        match reason {
            FailureReason::Deadlock => Self::Deadlock,
            FailureReason::Inconsistent => Self::Inconsistent,
            FailureReason::Panicked => Self::Panicked,
            FailureReason::WallTime => Self::WallTime,
            FailureReason::ArtifactBytes => Self::ArtifactBytes,
            FailureReason::StorageFull => Self::StorageFull,
            FailureReason::Storage => Self::Storage,
            FailureReason::Scenario => Self::Scenario,
            FailureReason::Threads => Self::Threads,
            FailureReason::Children => Self::Children,
            FailureReason::Memory => Self::Memory,
            FailureReason::WorkerLost => Self::WorkerLost,
        }
    }
}

impl From<Summary> for v1::Summary {
    fn from(found: Summary) -> Self {
        let Summary { offered_load, accepted_load, latency_mean, latency_p99, hops_mean, saturated, wall_s } = found;
        Self { offered_load, accepted_load, latency_mean, latency_p99, hops_mean, saturated, wall_s }
    }
}
