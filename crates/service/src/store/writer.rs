//! The one thread that changes the database.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::acknowledged::{self, Acknowledged};
use super::log::Log;
use super::{StoreError, files};
use crate::domain::State;
use crate::meters::Meters;
use crate::watch::Hub;

/// Changes that wait for the writer.
const WAITING_MAX: usize = 1024;
/// Changes that are committed at once.
const TOGETHER_MAX: usize = 128;

/// A change that is being made.
pub(crate) struct Writing<'c> {
    /// The database, in the middle of a transaction.
    pub connection: &'c Connection,
    /// The runs that something was written about: those who watch them are told after the commit.
    touched: Vec<String>,
    /// The last states that runs reached, and how long runs have waited: they are counted with the commit.
    ended: Vec<State>,
    waited: Vec<Duration>,
}

impl<'c> Writing<'c> {
    /// Of a transaction that has begun.
    pub(super) fn of(connection: &'c Connection) -> Self {
        Self { connection, touched: Vec::new(), ended: Vec::new(), waited: Vec::new() }
    }

    /// A run reached its last state, and is counted with the commit.
    pub(crate) fn ended(&mut self, state: State) {
        self.ended.push(state);
    }

    /// A run has waited so long, which is counted with the commit.
    pub(crate) fn waited(&mut self, time: Duration) {
        self.waited.push(time);
    }

    /// Those who watch the run are told after the commit.
    pub(crate) fn touch(&mut self, run: &str) {
        self.touched.push(run.to_owned());
    }
}

/// What is to be done when the change is on disk, or has failed.
type Finish = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
/// A change; tells whether it was made.
type Job = Box<dyn FnOnce(&mut Writing<'_>) -> (bool, Finish) + Send>;

/// Who is told of what was committed.
pub(crate) struct Told {
    /// Those who watch runs.
    pub hub: Arc<Hub>,
    /// Those who run the server.
    pub meters: Arc<Meters>,
}

/// What the thread works with.
pub(super) struct Changes {
    pub connection: Connection,
    pub acknowledged: Acknowledged,
    pub folder: PathBuf,
    pub told: Told,
}

/// The thread, and the way to it.
pub(super) struct Writer {
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(super) fn start(mut changes: Changes, mut log: Log) -> Self {
        let (jobs, mut waiting) = mpsc::channel(WAITING_MAX);
        let write = move || {
            while let Some(first) = waiting.blocking_recv() {
                changes.write_together(first, &mut waiting);
                log.committed();
            }
            log.close(&changes.connection);
        };
        let thread = std::thread::Builder::new().name("store".to_owned()).spawn(write);
        let thread = thread.inspect_err(|error| tracing::error!(%error, "cannot start the store's thread")).ok();
        Self { jobs: Mutex::new(Some(jobs)), thread: Mutex::new(thread) }
    }

    pub(super) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Writing<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (job, told) = job(change);
        self.jobs()?.send(job).await.map_err(|_| StoreError::Closed)?;
        told.await.unwrap_or(Err(StoreError::Closed))
    }

    pub(super) fn write_blocking<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Writing<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (job, told) = job(change);
        self.jobs()?.blocking_send(job).map_err(|_| StoreError::Closed)?;
        told.blocking_recv().unwrap_or(Err(StoreError::Closed))
    }

    fn jobs(&self) -> Result<mpsc::Sender<Job>, StoreError> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or(StoreError::Closed)
    }

    /// Takes no more changes, and returns when those that were taken are made.
    pub(super) fn close(&self) {
        drop(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
            && thread.join().is_err()
        {
            tracing::error!("the store's thread has panicked");
        }
    }
}

type Answer<T> = oneshot::Receiver<Result<T, StoreError>>;

fn job<T: Send + 'static>(
    change: impl FnOnce(&mut Writing<'_>) -> Result<T, StoreError> + Send + 'static,
) -> (Job, Answer<T>) {
    let (tell, told) = oneshot::channel();
    let job = move |writing: &mut Writing<'_>| {
        let made = catch_unwind(AssertUnwindSafe(|| change(writing)));
        let made = made.unwrap_or_else(|_| Err(StoreError::Broken("a change of the database panicked".to_owned())));
        let good = made.is_ok();
        // Whoever asked may not be there any more.
        let finish: Finish = Box::new(move |committed| drop(tell.send(made.and_then(|made| committed.map(|()| made)))));
        (good, finish)
    };
    (Box::new(job), told)
}

impl Changes {
    /// Makes a change, and all that wait behind it, in one transaction.
    fn write_together(&mut self, first: Job, waiting: &mut mpsc::Receiver<Job>) {
        let (connection, told) = (&self.connection, &self.told);
        let mut finishes: Vec<Finish> = Vec::new();
        let mut writing = Writing::of(connection);
        let rows_before = connection.total_changes();
        let begun = connection.execute_batch("BEGIN IMMEDIATE").map_err(StoreError::from);
        let mut outcome = begun;
        let mut next = Some(first);
        while let Some(job) = next.take() {
            let (good, finish) = one(connection, &mut writing, job);
            finishes.push(finish);
            // A full disk may have undone the whole transaction, not only this change.
            if connection.is_autocommit() {
                outcome = outcome.and(Err(StoreError::Full));
                break;
            }
            if !good {
                tracing::debug!("a change was refused");
            }
            next = if finishes.len() < TOGETHER_MAX { waiting.try_recv().ok() } else { None };
        }
        if outcome.is_ok() {
            let has_changes = connection.total_changes() != rows_before;
            outcome = told.meters.ended(&writing.ended, || commit(connection, has_changes, &mut self.acknowledged));
        }
        if !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        if outcome == Err(StoreError::Full) {
            files::release_reserve(&self.folder);
        }
        if outcome.is_ok() {
            writing.waited.iter().for_each(|&time| told.meters.waited(time));
            writing.touched.iter().for_each(|run| told.hub.tell(run));
        }
        finishes.into_iter().for_each(|finish| finish(outcome.clone()));
    }
}

/// Ends a transaction. When this returns, those who asked for changes may be told that they were made.
fn commit(connection: &Connection, has_changes: bool, acknowledged: &mut Acknowledged) -> Result<(), StoreError> {
    // What changes nothing needs no sync.
    let count = if has_changes { Some(acknowledged::increase(connection)?) } else { None };
    connection.execute_batch("COMMIT")?;
    count.into_iter().for_each(|count| acknowledged.tell(count));
    Ok(())
}

/// Makes one change; what a refused one had written already is undone.
fn one(connection: &Connection, writing: &mut Writing<'_>, job: Job) -> (bool, Finish) {
    let (touched, ended, waited) = (writing.touched.len(), writing.ended.len(), writing.waited.len());
    let saved = connection.execute_batch("SAVEPOINT change").is_ok();
    let (good, finish) = job(writing);
    if !good {
        writing.touched.truncate(touched);
        writing.ended.truncate(ended);
        writing.waited.truncate(waited);
    }
    if saved && !connection.is_autocommit() {
        let end = if good { "RELEASE change" } else { "ROLLBACK TO change; RELEASE change" };
        if let Err(error) = connection.execute_batch(end) {
            tracing::error!(%error, "a change could not be ended");
        }
    }
    (good, finish)
}
