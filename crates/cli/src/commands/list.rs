//! `tailback list`: the runs of a server.

use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::{GetRunRequest, ListRunsRequest, RunState};

use crate::arguments::{Format, ListArguments, StateArgument};
use crate::commands::submit::labels;
use crate::complaint::Complaint;
use crate::output::{say, say_line};
use crate::remote::{self, Remote, ShownRun, table};

/// Runs that are asked for at once.
const PAGE: usize = 500;

/// Runs the command.
pub fn run(arguments: &ListArguments) -> Result<(), Complaint> {
    let request = ListRunsRequest {
        states: arguments.states.iter().map(|&state| RunState::from(state).into()).collect(),
        labels: labels(&arguments.labels)?,
        scenario_digest: arguments.digest.clone(),
        parent_id: arguments.sweep.clone(),
        project: arguments.project.clone(),
        ..ListRunsRequest::default()
    };
    remote::carry_out(list(arguments, request))
}

async fn list(arguments: &ListArguments, mut request: ListRunsRequest) -> Result<(), Complaint> {
    let mut remote = Remote::connect(&arguments.server).await?;
    if !request.project.is_empty() {
        remote.must_know("projects").await?;
    }
    let mut runs = Vec::new();
    while runs.len() < arguments.limit {
        request.page_size = (arguments.limit - runs.len()).min(PAGE) as u32;
        let page = remote.ask_runs(RunServiceClient::list_runs, request.clone()).await?;
        runs.extend(page.runs);
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            break;
        }
    }
    if runs.is_empty() && !arguments.sweep.is_empty() {
        // No sweep is without runs of its own: the name may be wrong, and then this says so.
        remote.ask_runs(RunServiceClient::get_run, GetRunRequest { run_id: arguments.sweep.clone() }).await?;
    }
    match arguments.format {
        Format::Text => say!("{}", table(&runs).to_text()),
        Format::Json => {
            let shown: Vec<ShownRun> = runs.into_iter().map(ShownRun::from).collect();
            say_line!("{}", serde_json::to_string_pretty(&shown).expect("plain data"));
        }
    }
    Ok(())
}

impl From<StateArgument> for RunState {
    fn from(state: StateArgument) -> Self {
        match state {
            StateArgument::Pending => Self::Pending,
            StateArgument::Running => Self::Running,
            StateArgument::Cancelling => Self::Cancelling,
            StateArgument::Succeeded => Self::Succeeded,
            StateArgument::Failed => Self::Failed,
            StateArgument::Cancelled => Self::Cancelled,
        }
    }
}
