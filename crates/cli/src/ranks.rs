//! The processes of a run, if MPI has started several.
//!
//! The first one prints and writes. Another one is heard only if it fails alone, and ends all of them then.

use std::process::ExitCode;

use tailback_mpi::JoinError;
use tailback_sim::{Exchange, ExchangeError, Failure, Notice};

use crate::complaint::Complaint;
use crate::output;

/// Meets the other processes, if there are some. All but the first say nothing from now on.
pub fn join() -> Result<Option<Box<dyn Exchange>>, Complaint> {
    let exchange = tailback_mpi::join(|name| std::env::var(name).ok()).map_err(|error| match error {
        JoinError::Without => Complaint::BadInput(
            "several processes were started, and this program was built without MPI".to_owned(),
            Some("build it with `cargo build --release --features mpi`, or start one process".to_owned()),
        ),
        JoinError::Threads => Complaint::failed("the MPI of this machine does not let threads use it in turn"),
    })?;
    if exchange.as_ref().is_some_and(|exchange| exchange.rank() > 0) {
        output::be_silent(true);
    }
    Ok(exchange)
}

/// Has all processes know whether all have come that far. The first of those that have not tells why.
pub fn agree<T>(exchange: Option<&mut (dyn Exchange + 'static)>, own: Result<T, Complaint>) -> Result<T, Complaint> {
    let Some(exchange) = exchange else { return own };
    let (rank, ranks) = (exchange.rank(), exchange.ranks());
    let mut notices = vec![Notice::default(); ranks];
    notices[rank].stop = own.is_err();
    alone(exchange.swap(&mut vec![Vec::new(); ranks], &mut notices));
    match notices.iter().position(|notice| notice.stop) {
        None => own,
        Some(first) if first == rank => {
            output::be_silent(false);
            own
        }
        Some(_) => Err(Complaint::Elsewhere),
    }
}

/// What a process that is one of several has come to. If it fails alone, all end.
pub fn together<T>(outcome: Result<T, Failure>, are_several: bool) -> Result<T, Complaint> {
    match outcome {
        Err(Failure::Elsewhere) => Err(Complaint::Elsewhere),
        Err(failure @ (Failure::Snapshot(_) | Failure::Ranks(_) | Failure::Threads { .. })) if are_several => {
            end_all(&failure.into())
        }
        outcome => Ok(outcome?),
    }
}

fn alone<T>(outcome: Result<T, ExchangeError>) -> T {
    outcome.unwrap_or_else(|error| end_all(&Failure::Ranks(error).into()))
}

fn end_all(complaint: &Complaint) -> ! {
    output::be_silent(false);
    let code = if complaint.tell() == ExitCode::from(2) { 2 } else { 1 };
    tailback_mpi::abort(code)
}
