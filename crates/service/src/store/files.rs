//! Files beside the database. Their paths are made of numbers and of names that the server gives.
//!
//! **The invariant it keeps:** a file is there as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::StoreError;

/// What is given back when the disk is full, so that the database can still be written to.
const RESERVE_BYTES: usize = 4 << 20;
/// The ending of files that are not there as a whole yet.
const UNFINISHED: &str = "unfinished";

/// The folder of a run's artifacts.
pub(crate) fn artifacts(folder: &Path, number: i64) -> PathBuf {
    folder.join("artifacts").join(number.to_string())
}

/// The checkpoint of a run.
pub(crate) fn checkpoint(folder: &Path, number: i64) -> PathBuf {
    folder.join("checkpoints").join(number.to_string())
}

/// Writes a file as a whole or not at all.
pub(crate) fn write(path: &Path, parts: &[&[u8]]) -> Result<(), StoreError> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let unfinished = path.with_extension(UNFINISHED);
    let write = || -> io::Result<()> {
        fs::create_dir_all(parent)?;
        let mut file = File::create(&unfinished)?;
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.sync_all()?;
        fs::rename(&unfinished, path)?;
        File::open(parent)?.sync_all()
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&unfinished);
        broken("write", path, &error)
    })
}

/// Removes what there is of a run.
pub(crate) fn remove_run(folder: &Path, number: i64) {
    remove(&checkpoint(folder, number));
    let artifacts = artifacts(folder, number);
    if let Err(error) = fs::remove_dir_all(&artifacts)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %artifacts.display(), "cannot remove artifacts; the next start will try again");
    }
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "cannot remove a file");
    }
}

/// Removes what a killed process left behind: unfinished files, and those of runs that are not there or need them no more.
pub(super) fn tidy_up(folder: &Path, connection: &Connection) -> Result<(), StoreError> {
    let mut known =
        connection.prepare("SELECT state IN ('succeeded', 'failed', 'cancelled') FROM runs WHERE number = ?1")?;
    for (kind, needed_when_ended) in [("artifacts", true), ("checkpoints", false)] {
        let path = folder.join(kind);
        let entries = fs::read_dir(&path).map_err(|error| broken("read", &path, &error))?;
        for entry in entries.flatten() {
            let number = entry.file_name().to_str().and_then(|name| name.parse::<i64>().ok());
            let ended: Option<bool> = match number {
                Some(number) => known.query_row([number], |row| row.get(0)).ok(),
                None => None,
            };
            // Artifacts of a run that has not ended were written just before it was killed; they will be written again.
            if ended != Some(needed_when_ended) {
                let path = entry.path();
                let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
                removed.map_err(|error| broken("remove", &path, &error))?;
            }
        }
    }
    Ok(())
}

/// Keeps some room on the disk.
pub(crate) fn make_reserve(folder: &Path) {
    let path = reserve(folder);
    if !path.exists()
        && let Err(error) = write(&path, &[&vec![0xa5; RESERVE_BYTES]])
    {
        tracing::warn!(%error, "cannot keep room on the disk for when it is full");
    }
}

/// Gives it back.
pub(crate) fn release_reserve(folder: &Path) {
    tracing::error!("the disk is full");
    remove(&reserve(folder));
}

fn reserve(folder: &Path) -> PathBuf {
    folder.join("reserve")
}

/// What is wrong with a file.
pub(crate) fn broken(what: &str, path: &Path, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full,
        _ => StoreError::Broken(format!("cannot {what} {}: {error}", path.display())),
    }
}
