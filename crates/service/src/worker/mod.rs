//! A worker: a process that carries out one attempt of one run.
//!
//! A server starts it with one end of a pair of sockets as its standard input, or has a scheduler start it, which carries input and output. It reads an [`Assignment`], simulates, and
//! says how it goes by [`Message`]s. What it finds becomes files in the folder of the attempt; the server takes them in.
//! When the server's end is closed, the worker ends at once: nobody waits for it any more.
//!
//! So a crash, or memory beyond all bounds, ends one attempt of one run, and nothing else.
//!
//! **What it must never know:** the database, and clients.
//!
//! **The invariant it keeps:** it writes only into the folder of its attempt, and the checkpoint of its run as a whole.

mod memory;
mod pipes;
mod processor;
pub(crate) mod protocol;
mod sampling;
mod simulation;

use std::any::Any;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::domain::{FailureReason, RunFailure};
use protocol::{Assignment, Channel, Ending, Message, Order};

pub use memory::bytes_in_proc;
pub(crate) use memory::with_base;
pub(crate) use processor::give_way;

/// The exit code of a worker whose server is gone.
const ABANDONED: i32 = 3;

/// How a worker is connected to its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Standard input is a socket.
    Socket,
    /// What carries standard input and output to and from the server is something else: a scheduler.
    Pipes,
}

/// Carries out what a server asks for. Whoever sets `suspended` has it write a checkpoint and end, as the server may.
///
/// # Errors
/// When there is no server, or it does not say what to do.
pub fn work(connection: Connection, suspended: &Arc<AtomicBool>) -> io::Result<()> {
    match connection {
        Connection::Socket => {
            let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
            // Fails for everything that is no socket.
            stream.peer_addr()?;
            work_for(stream, suspended)
        }
        Connection::Pipes => {
            let (stream, answers) = pipes::connect()?;
            let result = work_for(stream, suspended);
            answers.finish();
            result
        }
    }
}

fn work_for(stream: UnixStream, suspended: &Arc<AtomicBool>) -> io::Result<()> {
    let mut orders = Channel::new(stream.try_clone()?);
    let assignment: Assignment = match orders.receive(None) {
        Ok(assignment) => assignment.ok_or(io::ErrorKind::TimedOut)?,
        // A server that starts makes sure that it can start workers.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
        Err(error) => return Err(error),
    };
    memory::limit(assignment.memory_bytes_max, assignment.threads);
    memory::go_first();
    let told = suspended.clone();
    std::thread::Builder::new().name("orders".to_owned()).spawn(move || follow(orders, &told))?;
    let mut channel = Channel::new(stream);
    let carry_out = || simulation::carry_out(&assignment, &mut channel, suspended);
    let ending = match catch_unwind(AssertUnwindSafe(carry_out)) {
        Ok(ending) => ending?,
        Err(panic) => {
            let message = format!("the simulator panicked: {}", panic_message(&*panic));
            Ending::Failed(RunFailure::new(FailureReason::Panicked, message))
        }
    };
    channel.send(&Message::Ended(ending))
}

/// Takes orders until the server is gone, and ends this process then: whatever it does, in the middle of it.
fn follow(mut orders: Channel, suspended: &AtomicBool) {
    while let Ok(order) = orders.receive(None) {
        match order {
            Some(Order::Suspend) => suspended.store(true, Ordering::Relaxed),
            None => {}
        }
    }
    std::process::exit(ABANDONED);
}

/// What a panic says.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message").to_owned()
}
