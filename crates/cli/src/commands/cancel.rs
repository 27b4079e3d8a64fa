//! `tailback cancel`: runs that are not wanted any more.

use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::{CancelRunRequest, DeleteRunRequest};
use tonic::Code;

use crate::arguments::CancelArguments;
use crate::commands::watch::{self, Follow};
use crate::complaint::Complaint;
use crate::output::say_line;
use crate::remote::{self, Remote, state_name};

/// Runs the command.
pub fn run(arguments: &CancelArguments) -> Result<(), Complaint> {
    remote::carry_out(async {
        let mut remote = Remote::connect(&arguments.server).await?;
        for run in &arguments.runs {
            let state = cancel(&mut remote, run, arguments.delete).await?;
            say_line!("{run} {state}");
        }
        Ok(())
    })
}

async fn cancel(remote: &mut Remote, run: &str, delete: bool) -> Result<String, Complaint> {
    let run_id = run.to_owned();
    let cancelled = remote.ask_runs(RunServiceClient::cancel_run, CancelRunRequest { run_id }).await?;
    let cancelled = cancelled.run.unwrap_or_default();
    if !delete {
        return Ok(state_name(cancelled.state()));
    }
    let follow = Follow { show: false, states_only: true, after: cancelled.last_sequence };
    let run_id = watch::follow(remote, run, &follow, watch::tell).await?.id;
    match remote.ask_runs(RunServiceClient::delete_run, DeleteRunRequest { run_id }).await {
        // It was there a moment ago: who deleted it may have been this command, whose answer was lost.
        Err(status) if status.code() != Code::NotFound => Err(status.into()),
        _ => Ok("deleted".to_owned()),
    }
}
