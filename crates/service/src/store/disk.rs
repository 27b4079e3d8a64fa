//! The disk that everything is kept on, the room that the database takes of it, and whether both still work.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{Store, StoreError, condition, database, files, schema};

impl Store {
    /// Bytes that can still be written to the disk.
    pub(crate) fn free_bytes(&self) -> Result<u64, StoreError> {
        free_bytes(&self.folder).map_err(|error| files::broken("ask for the room beside", &self.folder, &error))
    }

    /// Bytes of the database with its log.
    pub(crate) fn database_bytes(&self) -> Result<u64, StoreError> {
        let [path, log, _] = condition::parts(&database(&self.folder));
        [path, log].iter().try_fold(0, |bytes, path| match path.metadata() {
            // The log is there only while the database is used.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(bytes),
            found => found.map(|found| bytes + found.len()).map_err(|error| files::broken("look at", path, &error)),
        })
    }

    /// Reads something of the database, which is not only opened by that.
    pub(crate) async fn must_be_readable(self: &Arc<Self>) -> Result<(), StoreError> {
        self.read(|connection| Ok(connection.query_row("SELECT max(number) FROM runs", [], |_| Ok(()))?)).await
    }

    /// Writes something that changes nothing.
    pub(crate) async fn must_be_writable(&self) -> Result<(), StoreError> {
        self.write(|writing| schema::write_version(writing.connection)).await
    }
}

/// What is left for those who are not root.
#[cfg(unix)]
fn free_bytes(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Elsewhere it is not known, and taken for enough.
#[cfg(not(unix))]
fn free_bytes(_: &Path) -> io::Result<u64> {
    Ok(u64::MAX)
}
