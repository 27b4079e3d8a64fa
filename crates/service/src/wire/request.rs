//! What clients ask for. What it says is checked behind the edge, where more is known.

use std::sync::Arc;

use tailback_api::v1;

use super::run::state;
use crate::api_error::ApiError;
use crate::domain::{Page, RetryRequest, RunFilter, RunRequest, State};

impl From<v1::CreateRunRequest> for RunRequest {
    fn from(asked: v1::CreateRunRequest) -> Self {
        Self {
            request_id: asked.request_id,
            run_id: asked.run_id,
            validate_only: asked.validate_only,
            scenario: asked.scenario.map(Into::into),
            execution: asked.execution.unwrap_or_default().into(),
            sweep: asked.sweep.map(Into::into),
            labels: Arc::new(asked.labels.into_iter().collect()),
            reuse: asked.reuse,
            private: asked.private,
            project: asked.project,
        }
    }
}

impl From<v1::RetryRunRequest> for RetryRequest {
    fn from(v1::RetryRunRequest { run_id, request_id }: v1::RetryRunRequest) -> Self {
        Self { request_id, run_id }
    }
}

/// The most states that a list of runs may be asked for: as many as there are, with the one that no run is in.
const STATES_MAX: usize = State::ALL.len() + 1;

/// Which runs, which of them, and whether with their scenarios.
pub(crate) fn list(asked: v1::ListRunsRequest) -> Result<(RunFilter, Page, bool), ApiError> {
    // Compressed, millions of them are a few kilobytes.
    if asked.states.len() > STATES_MAX {
        return Err(ApiError::invalid("states", format!("{} states, the limit is {STATES_MAX}", asked.states.len())));
    }
    if let Some(&unknown) = asked.states.iter().find(|&&state| v1::RunState::try_from(state).is_err()) {
        return Err(ApiError::invalid("states", format!("{unknown} is not a state")));
    }
    let states = (!asked.states.is_empty()).then(|| asked.states().filter_map(state).collect());
    let filter = RunFilter {
        states,
        labels: asked.labels.into_iter().collect(),
        scenario_digest: asked.scenario_digest,
        result_digest: asked.result_digest,
        owner: asked.owner,
        project: asked.project,
        parent_id: asked.parent_id,
    };
    Ok((filter, Page { size: asked.page_size, token: asked.page_token }, asked.include_scenario))
}
