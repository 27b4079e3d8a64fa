//! `tailback worker`: carries out one run for a server, which has started it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGTERM;
use tailback_service::Connection;

use crate::arguments::WorkerArguments;
use crate::complaint::Complaint;
use crate::telemetry;

/// Runs the command.
pub fn run(arguments: &WorkerArguments) -> Result<(), Complaint> {
    tailback_service::keep_files_private();
    telemetry::start(arguments.log, None);
    let not_asked = |error| Complaint::bad_input(format!("servers start workers, nobody else does ({error})"));
    let suspended = Arc::new(AtomicBool::new(false));
    let connection = if let Some(folder) = &arguments.job {
        // As a scheduler says that it will end the job soon.
        signal_hook::flag::register(SIGTERM, suspended.clone())
            .map_err(|error| Complaint::failed(error.to_string()))?;
        Connection::Folder(folder.clone())
    } else {
        Connection::Socket
    };
    tailback_service::work(connection, &suspended).map_err(not_asked)
}
