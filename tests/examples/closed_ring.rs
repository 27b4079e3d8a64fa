//! A deadlock of a run that several processes share, for `tests/mpi`: the first one tells of it, and all end.

#[path = "../tests/all/closed_ring/ring.rs"]
mod ring;

use std::ops::ControlFlow;
use std::process::ExitCode;

use tailback_sim::{Failure, Run};

/// As the program ends where a run fails that it tells of.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let exchange = tailback_mpi::join(|name| std::env::var(name).ok()).expect("it is built with MPI");
    let scenario = ring::scenario();
    let run = match exchange {
        Some(exchange) => Run::together(&scenario, 1, exchange),
        None => Run::new(&scenario, 0),
    };
    let failure = run.and_then(|mut run| run.finish(|_| ControlFlow::Continue(()))).expect_err("the ring is closed");
    match &failure {
        // Ends well, as the program does: MPI would end the one that tells as soon as another fails, perhaps before it has told.
        Failure::Elsewhere => return ExitCode::SUCCESS,
        Failure::Deadlock { circle, .. } => eprintln!("error: {failure}\n{}", circle.join("\n")),
        failure => eprintln!("error: {failure}, which is no deadlock"),
    }
    ExitCode::from(FAILED)
}
