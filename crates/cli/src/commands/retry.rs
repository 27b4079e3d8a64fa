//! `tailback retry`: runs that failed or were cancelled, simulated again.

use tailback_api::v1::RetryRunRequest;

use crate::arguments::RetryArguments;
use crate::commands::submit::{ATTEMPTS, request_id};
use crate::commands::watch;
use crate::complaint::Complaint;
use crate::output::say_line;
use crate::remote::{self, Remote, is_passing, state_name};

/// Runs the command.
pub fn run(arguments: &RetryArguments) -> Result<(), Complaint> {
    remote::runtime()?.block_on(async {
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
    let mut attempt = 0;
    loop {
        attempt += 1;
        match remote.runs.retry_run(request.clone()).await {
            Err(status) if is_passing(&status) && attempt < ATTEMPTS => watch::pause(attempt).await,
            other => return Ok(state_name(other?.into_inner().run.unwrap_or_default().state())),
        }
    }
}
