//! `tailback worker`: carries out one run for a server, which has started it.

use super::serve;
use crate::arguments::WorkerArguments;
use crate::complaint::Complaint;

/// Runs the command.
pub fn run(arguments: &WorkerArguments) -> Result<(), Complaint> {
    serve::log(arguments.log);
    let not_asked = |error| Complaint::bad_input(format!("servers start workers, nobody else does ({error})"));
    tailback_service::work().map_err(not_asked)
}
