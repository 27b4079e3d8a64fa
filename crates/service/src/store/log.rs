//! The write-ahead log of the database, and the thread that moves what is in it to where it belongs.
//!
//! The database would do so itself in the middle of a commit, now and again, and that commit would take as long as
//! hundreds of others. Nothing is lost if this thread does not: the log only grows, and at last the writer does it.

use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};

use rusqlite::Connection;

use super::StoreError;

/// Commits from one time to the next.
const COMMITS: u32 = 64;
/// Pages of the log from which on the writer moves them itself.
const PAGES_MAX: u32 = 16_000;

/// The way to the thread; it ends when this is dropped.
pub(super) struct Log {
    due: SyncSender<()>,
    commits: u32,
}

impl Log {
    /// Of the database at `path`, which is written to by `writer`.
    pub(super) fn start(path: &Path, writer: &Connection) -> Result<Self, StoreError> {
        writer.pragma_update(None, "wal_autocheckpoint", PAGES_MAX)?;
        let own = Connection::open(path)?;
        let (due, wanted) = sync_channel(1);
        let work = move || {
            while wanted.recv().is_ok() {
                // Not everything if somebody still reads what was before: then the rest is moved next time.
                if let Err(error) = own.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())) {
                    tracing::warn!(%error, "the log of the database cannot be shortened");
                }
            }
        };
        let thread = std::thread::Builder::new().name("store-log".to_owned()).spawn(work);
        thread.map_err(|error| StoreError::Broken(format!("cannot start a thread: {error}")))?;
        Ok(Self { due, commits: 0 })
    }

    /// Nothing more is written: moves everything that is in the log, so that the database is one file again.
    pub(super) fn close(self, writer: &Connection) {
        // The thread is done with what it is at before the writer gets its turn.
        drop(self.due);
        let moved = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
        match moved {
            Ok(0) => {}
            Ok(_) => tracing::warn!("the log of the database is still read: the next start moves what is in it"),
            Err(error) => tracing::warn!(%error, "the log of the database cannot be moved; the next start does it"),
        }
    }

    /// There was another commit.
    pub(super) fn committed(&mut self) {
        self.commits += 1;
        if self.commits >= COMMITS {
            self.commits = 0;
            // One that is still at it will find this too, or the next time will.
            let _ = self.due.try_send(());
        }
    }
}
