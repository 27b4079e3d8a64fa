//! A worker: a process that carries out attempts of runs, one after the other.
//!
//! A server starts it with one end of a pair of sockets as its standard input, or has a scheduler start it with a [folder](mailbox) to talk by. It reads
//! an [`Assignment`], simulates, and says how it goes by [`Message`]s. What it finds becomes files in the folder of the attempt; the server takes them in.
//! A worker whose run has succeeded may be given another; any other ending is its own as well. When the server's end is
//! closed, the worker ends at once: nobody waits for it any more.
//!
//! So a crash, or memory beyond all bounds, ends one attempt of one run, and nothing else.
//!
//! **What it must never know:** the database, and clients.
//!
//! **The invariant it keeps:** it writes only into the folder of its attempt, and the checkpoint of its run as a whole.
//! Nothing of a run is left in it when the next begins, but for memory that its allocator keeps.

mod folder;
pub(crate) mod mailbox;
mod memory;
mod processor;
pub(crate) mod protocol;
mod sampling;
mod simulation;

use std::any::Any;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use crate::domain::{FailureReason, RunFailure};
use protocol::{Assignment, Channel, Ending, Message, Order};

pub use memory::bytes_in_proc;
pub(crate) use memory::with_base;
pub(crate) use processor::give_way;

/// The exit code of a worker whose server is gone.
const ABANDONED: i32 = 3;

/// How a worker is connected to its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Standard input is a socket.
    Socket,
    /// Both share this folder, on whatever machines they are.
    Folder(PathBuf),
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
        Connection::Folder(folder) => {
            let Some((stream, answers)) = folder::connect(&folder)? else {
                tracing::info!(folder = %folder.display(), "nobody waits for this job any more");
                return Ok(());
            };
            let result = work_for(stream, suspended);
            answers.finish();
            result
        }
    }
}

fn work_for(stream: UnixStream, suspended: &Arc<AtomicBool>) -> io::Result<()> {
    let (given, assignments) = mpsc::channel();
    let orders = Orders {
        channel: Channel::new(stream.try_clone()?),
        given,
        suspended: suspended.clone(),
        is_working: Arc::default(),
    };
    let is_working = orders.is_working.clone();
    std::thread::Builder::new().name("orders".to_owned()).spawn(move || orders.follow())?;
    let mut channel = Channel::new(stream);
    let mut is_first = true;
    // A server that starts makes sure that it can start workers: then there is none.
    for given in assignments {
        let Given { assignment, is_last } = given?;
        memory::limit(assignment.memory_bytes_max, assignment.threads);
        if is_first {
            memory::go_first();
        } else {
            memory::forget_peak();
        }
        is_first = false;
        let ending = carry_out(&assignment, &mut channel, suspended)?;
        let is_last = is_last || !matches!(ending, Ending::Succeeded(_));
        is_working.store(false, Ordering::Relaxed);
        channel.send(&Message::Ended(ending))?;
        if is_last {
            break;
        }
    }
    Ok(())
}

fn carry_out(assignment: &Assignment, channel: &mut Channel, suspended: &AtomicBool) -> io::Result<Ending> {
    let carry_out = || simulation::carry_out(assignment, channel, suspended);
    catch_unwind(AssertUnwindSafe(carry_out)).unwrap_or_else(|panic| {
        let message = format!("the simulator panicked: {}", panic_message(&*panic));
        Ok(Ending::Failed(RunFailure::new(FailureReason::Panicked, message)))
    })
}

/// A run that is to be carried out.
struct Given {
    assignment: Box<Assignment>,
    is_last: bool,
}

/// What the server says.
struct Orders {
    channel: Channel,
    given: mpsc::Sender<io::Result<Given>>,
    suspended: Arc<AtomicBool>,
    /// Whether a run is being carried out, or about to be.
    is_working: Arc<AtomicBool>,
}

impl Orders {
    /// Takes orders until the server is gone, and ends this process then: whatever it does, in the middle of it.
    fn follow(mut self) {
        let mut is_first = true;
        let ended = loop {
            match self.channel.receive(None) {
                Ok(Some(Order::Suspend)) => self.suspended.store(true, Ordering::Relaxed),
                Ok(Some(Order::Begin { assignment, is_last })) => {
                    // Whoever else suspends a worker may do so before its first run.
                    if !is_first {
                        self.suspended.store(false, Ordering::Relaxed);
                    }
                    is_first = false;
                    self.is_working.store(true, Ordering::Relaxed);
                    // It is taken as soon as the one before it has ended.
                    let _ = self.given.send(Ok(Given { assignment, is_last }));
                }
                Ok(None) => {}
                Err(error) => break error,
            }
        };
        if self.is_working.load(Ordering::Relaxed) {
            std::process::exit(ABANDONED);
        }
        if ended.kind() != io::ErrorKind::UnexpectedEof {
            // Nobody waits for it if the worker has ended meanwhile.
            let _ = self.given.send(Err(ended));
        }
    }
}

/// What a panic says.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message").to_owned()
}
