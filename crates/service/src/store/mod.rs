//! Where everything is kept: runs and events in SQLite, artifacts and checkpoints as files beside it.
//!
//! All changes go through one thread, the [writer](writer). It commits what has come together meanwhile at once, so that
//! many callers share one sync of the disk, and tells those who watch only when the commit is done. Reading is done by
//! connections of their own, which never wait for the writer.
//!
//! **The invariant it keeps:** what a caller was told to be written is on disk. A change is made as a whole or not at all.
//! What is damaged is neither believed nor deleted: rows have [sums], files have digests, and what belongs to no
//! run is put into the [quarantine].

mod acknowledged;
pub(crate) mod artifacts;
pub(crate) mod checked;
pub(crate) mod checkpoint;
mod condition;
mod copying;
mod disk;
pub(crate) mod ended;
pub(crate) mod events;
pub(crate) mod files;
mod fsck;
mod left_files;
pub(crate) mod list;
mod log;
pub(crate) mod named;
mod private;
pub(crate) mod quarantine;
mod recovery;
pub(crate) mod runs;
pub(crate) mod samples;
mod schema;
mod state_file;
mod sums;
pub(crate) mod uploads;
mod version_2;
mod writer;

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::types::Type;
use rusqlite::{Connection, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use crate::api_error::ApiError;
use crate::domain::{FailureReason, RunFailure};
use acknowledged::{Acknowledged, Counts};
use condition::Condition;
pub use copying::{back_up, restore};
pub use fsck::{Checkup, Problem, check_data};
pub use private::keep_files_private;
use private::make_folder;
pub use state_file::{StateFile, Unfit, read_state, refuse_other_programs, write_state, write_state_by_pieces};
use writer::{Changes, Writer};
pub(crate) use writer::{Told, Writing};

/// The file that a server locks.
const LOCK: &str = "lock";
/// The folder of all jobs of a cluster, and in it one for each array, with one for each task.
pub(crate) const JOBS: &str = "jobs";

/// Connections for reading. Who finds all of them in use waits: more at once would not be quicker.
const READERS: usize = 8;

/// Why something was not read or written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StoreError {
    /// Nothing more can be written.
    #[error("the disk is full")]
    Full,
    /// No file can be opened now, because too many are.
    #[error("{0}")]
    Descriptors(String),
    /// The change is refused; nothing was written.
    #[error("{0}")]
    #[doc(hidden)]
    Refused(Box<Refused>),
    /// The store is being closed.
    #[error("the store is closed")]
    Closed,
    /// Another process uses the same folder.
    #[error("{0} is used by another process")]
    Locked(String),
    /// Files cannot be read or written, or are not as they should be.
    #[error("{0}")]
    Broken(String),
}

impl StoreError {
    /// Whether it is for want of something that may well be there a moment later: no reason for a run to fail.
    pub(crate) fn passes(&self) -> bool {
        matches!(self, Self::Full | Self::Descriptors(_))
    }
}

/// An error, out of sight of those who only open a store.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(transparent)]
pub struct Refused(ApiError);

impl From<ApiError> for StoreError {
    fn from(error: ApiError) -> Self {
        Self::Refused(Box::new(Refused(error)))
    }
}

/// What it means for a run.
impl From<&StoreError> for RunFailure {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Full => Self::new(FailureReason::StorageFull, "no room is left on the server's disk"),
            error => Self::new(FailureReason::Storage, error.to_string()),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full => Self::StorageFull,
            StoreError::Refused(refused) => refused.0,
            StoreError::Closed => Self::ShuttingDown { resume_after: None },
            StoreError::Descriptors(_) | StoreError::Locked(_) | StoreError::Broken(_) => {
                Self::Internal(error.to_string())
            }
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full,
            _ if condition::is_damage(&error) => Self::Broken(format!(
                "the database is damaged: {error}; stop the server and look at the data directory with `tailback fsck`"
            )),
            _ => Self::Broken(format!("the database says: {error}")),
        }
    }
}

/// Where everything is kept.
pub(crate) struct Store {
    folder: PathBuf,
    writer: Writer,
    readers: Mutex<Vec<Connection>>,
    /// One permit for each call that may read at once.
    reading: Semaphore,
    /// Locked for as long as the store is open.
    _lock: File,
}

impl Store {
    /// Opens the store in a folder, which is made if it is not there. With `recover`, a database that is damaged or lost
    /// is set aside, and runs are rebuilt from their files.
    pub(crate) fn open(folder: &Path, recover: bool, told: Told) -> Result<Self, StoreError> {
        make_folder(folder).map_err(|error| files::broken("make", folder, &error))?;
        if let Some(warning) = private::warning(folder) {
            tracing::warn!("{warning}");
        }
        let lock = lock(folder)?;
        private::close_to_others(parts(folder));
        let (connection, acknowledged) = open_database(folder, recover)?;
        files::make_reserve(folder);
        let log = log::Log::start(&database(folder), &connection)?;
        let writer = Writer::start(Changes { connection, acknowledged, folder: folder.to_owned(), told }, log);
        let (readers, reading) = (Mutex::new(Vec::new()), Semaphore::new(READERS));
        Ok(Self { folder: folder.to_owned(), writer, readers, reading, _lock: lock })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes a change, and returns when it is on disk.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Writing<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.write(change).await
    }

    /// The same for threads that may wait.
    pub(crate) fn write_blocking<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Writing<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.write_blocking(change)
    }

    /// Reads, on a thread that may wait.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let _permit = self.reading.acquire().await.map_err(|_| StoreError::Closed)?;
        let store = self.clone();
        let reading = tokio::task::spawn_blocking(move || store.read_blocking(read));
        reading.await.unwrap_or_else(|error| Err(StoreError::Broken(format!("reading failed: {error}"))))
    }

    /// The same on this thread.
    pub(crate) fn read_blocking<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let kept = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match kept {
            Some(connection) => connection,
            None => schema::open_reader(&database(&self.folder))?,
        };
        let result = read(&connection);
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < READERS {
            readers.push(connection);
        }
        result
    }

    /// Writes what is still to be written, and ends.
    pub(crate) fn close(&self) {
        self.writer.close();
    }
}

/// Something as it stands in the database. Numbers in it are never infinite, or it could not be read back.
fn to_json<T: Serialize>(kept: &T) -> String {
    serde_json::to_string(kept).expect("plain data")
}

/// And back, of a row's column.
fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<T, rusqlite::Error> {
    let column = row.as_ref().column_index(column)?;
    let damaged = |error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error));
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(damaged)
}

/// Opens the database as it is to be used, and tidies up the files beside it.
fn open_database(folder: &Path, recover: bool) -> Result<(Connection, Acknowledged), StoreError> {
    let (lost, counts) = find_losses(folder)?;
    if let (Some(Lost::Changes(refusal) | Lost::Database(refusal)), false) = (&lost, recover) {
        return Err(refusal.clone());
    }
    if let Some(problem) = counts.unknown() {
        let path = folder.join(acknowledged::NAME);
        tracing::warn!(path = %path.display(), problem, "artifacts of runs that have not ended are set aside");
    }
    for name in [files::ARTIFACTS, files::CHECKPOINTS, files::UPLOADS] {
        let path = folder.join(name);
        make_folder(&path).map_err(|error| files::broken("make", &path, &error))?;
    }
    match &lost {
        Some(Lost::Database(_)) => recovery::set_database_aside(folder)?,
        Some(Lost::Changes(_)) => recovery::keep_log(folder)?,
        None => {}
    }
    let mut connection = Connection::open(database(folder))?;
    schema::prepare(&mut connection)?;
    if lost.is_some() {
        recovery::rebuild(folder, &mut connection)?;
    }
    quarantine::tidy_up(folder, &connection, lost.is_none() && counts.is_whole())?;
    let acknowledged = Acknowledged::start(folder, &connection)?;
    Ok((connection, acknowledged))
}

/// What cannot be used as it is, and what is said then.
enum Lost {
    /// The database is damaged, or knows nothing of the files beside it.
    Database(StoreError),
    /// It is whole, and lacks changes.
    Changes(StoreError),
}

fn find_losses(folder: &Path) -> Result<(Option<Lost>, Counts), StoreError> {
    let path = database(folder);
    let (condition, counts) = condition::examine(&path)?;
    let strangers = if condition == Condition::Empty { condition::strangers(folder)? } else { Vec::new() };
    let lost = match condition {
        Condition::Damaged(problem) => Some(Lost::Database(condition::refusal(&path, &problem))),
        Condition::Empty if !strangers.is_empty() => {
            Some(Lost::Database(condition::refusal_of_empty(&path, &strangers)))
        }
        Condition::Empty | Condition::Sound => {
            counts.lacking().map(|lacking| Lost::Changes(condition::refusal_of_lacking(&path, &lacking)))
        }
    };
    Ok((lost, counts))
}

/// All that a data directory consists of. What is below its folders is as open as they are.
fn parts(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let folders = [files::ARTIFACTS, files::ATTEMPTS, files::CHECKPOINTS, files::UPLOADS, quarantine::QUARANTINE, JOBS];
    let others = [LOCK, files::RESERVE, acknowledged::NAME].into_iter().chain(folders).map(|name| folder.join(name));
    condition::parts(&database(folder)).into_iter().chain(others)
}

fn database(folder: &Path) -> PathBuf {
    folder.join("tailback.sqlite")
}

/// How often a folder that is locked is tried again, and how long after. Whoever starts a process shares its locks with it
/// for a moment, and a server that was killed may have been about to start a worker.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(25);

/// Opens a file of this folder itself: a link might have another file emptied, or locked.
fn open_no_link(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    options.open(path)
}

fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join(LOCK);
    let opened = open_no_link(&path, OpenOptions::new().write(true).create(true).truncate(false));
    let file = opened.map_err(|error| files::broken("make", &path, &error))?;
    for attempt in 1.. {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if attempt < LOCK_ATTEMPTS => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked(folder.display().to_string())),
            Err(TryLockError::Error(error)) => return Err(files::broken("lock", &path, &error)),
        }
    }
    Ok(file)
}

#[cfg(test)]
mod many_runs;
#[cfg(test)]
mod tests;
