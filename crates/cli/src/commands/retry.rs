//! `tailback retry`: runs that failed or were cancelled, simulated again.

use tailback_api::v1::RetryRunRequest;
use tailback_api::v1::run_service_client::RunServiceClient;

use crate::arguments::RetryArguments;
use crate::commands::submit::request_id;
use crate::complaint::Complaint;
use crate::output::say_line;
use crate::remote::{self, Remote, state_name};

/// Runs the command.
pub fn run(arguments: &RetryArguments) -> Result<(), Complaint> {
    remote::carry_out(async {
        let mut remote = Remote::connect(&arguments.server).await?;
        for run in &arguments.runs {
            let state = retry(&mut remote, run).await?;
            say_line!("{run} {state}");
        }
        Ok(())
    })
}

async fn retry(remote: &mut Remote, run: &str) -> Result<String, Complaint> {
    let request = RetryRunRequest { run_id: run.to_owned(), request_id: request_id() };
    let retried = remote.ask_runs(RunServiceClient::retry_run, request).await?;
    Ok(state_name(retried.run.unwrap_or_default().state()))
}
