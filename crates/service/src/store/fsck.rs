//! A data directory, looked at as a whole: does everything fit?
//!
//! **The invariant it keeps:** nothing is changed.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use rusqlite::Connection;
use serde::Serialize;

use super::condition::{self, Condition};
use super::runs::{self, Stored};
use super::{
    LOCK, StoreError, acknowledged, artifacts, checked, checkpoint, database, files, open_no_link, quarantine, schema,
    sums, uploads,
};
use crate::domain::{Artifact, State};

/// What there is in a data directory, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checkup {
    /// Runs, with those of sweeps.
    pub runs: u64,
    /// Files that runs have left.
    pub artifacts: u64,
    /// Bytes of all of them.
    pub artifact_bytes: u64,
    /// Checkpoints of runs that have not ended.
    pub checkpoints: u64,
    /// Files that were uploaded, each of their contents once.
    pub files: u64,
    /// What was set aside.
    pub quarantined: u64,
    /// What is wrong; nothing if all fits.
    pub problems: Vec<Problem>,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where: a file, by its path in the directory, or rows of the database.
    pub place: String,
    /// What is wrong.
    pub problem: String,
}

impl Checkup {
    fn put(&mut self, place: impl Into<String>, problem: impl Into<String>) {
        self.problems.push(Problem { place: place.into(), problem: problem.into() });
    }
}

/// Checks the database, the SHA-256 of all artifacts, and checkpoints. What is damaged is no error, but a problem that is
/// listed.
///
/// # Errors
/// When there is no data directory of this version of the program, a server uses it, or it cannot be read.
pub fn check_data(folder: &Path) -> Result<Checkup, StoreError> {
    let _lock = lock_if_there(folder)?;
    let path = database(folder);
    let mut checkup = Checkup { quarantined: count(&folder.join(quarantine::QUARANTINE))?, ..Checkup::default() };
    let (condition, counts) = condition::examine(&path)?;
    match condition {
        Condition::Damaged(problem) => {
            checkup.put("tailback.sqlite", problem);
            return Ok(checkup);
        }
        Condition::Empty if !path.exists() => {
            if condition::strangers(folder)?.is_empty() {
                return Err(StoreError::Broken(format!("{} is no data directory of a server", folder.display())));
            }
            checkup.put("tailback.sqlite", "it is gone, and there are files of runs");
            return Ok(checkup);
        }
        Condition::Empty | Condition::Sound => {}
    }
    if let Some(lacking) = counts.lacking() {
        checkup.put("tailback.sqlite", lacking);
    }
    if let Some(unknown) = counts.unknown() {
        checkup.put(acknowledged::NAME, unknown);
    }
    let connection = condition::open(&path)?;
    schema::must_be_current(&connection)?;
    check_rows(&connection, &mut checkup)?;
    let mut known = BTreeSet::new();
    for stored in runs::all(&connection)? {
        known.insert(stored.number.to_string());
        checkup.runs += 1;
        check_run(folder, &connection, &stored, &mut checkup)?;
    }
    known.extend(runs::removals(&connection)?.iter().map(ToString::to_string));
    check_uploads(folder, &connection, &mut known, &mut checkup)?;
    check_strangers(folder, &known, &mut checkup)?;
    Ok(checkup)
}

fn check_rows(connection: &Connection, checkup: &mut Checkup) -> Result<(), StoreError> {
    for (table, row) in sums::unfit_rows(connection)?.into_iter().chain(uploads::unfit_rows(connection)?) {
        checkup.put(format!("tailback.sqlite, table {table}, {row}"), "the sum of the row does not fit");
    }
    let mut query = connection.prepare("PRAGMA foreign_key_check")?;
    let tables = query.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<BTreeSet<_>, _>>()?;
    for table in tables {
        checkup.put(format!("tailback.sqlite, table {table}"), "there are rows of runs that are not there");
    }
    Ok(())
}

fn check_run(folder: &Path, connection: &Connection, stored: &Stored, checkup: &mut Checkup) -> Result<(), StoreError> {
    let row = format!("tailback.sqlite, run {}", stored.run.id);
    if let Some(damage) = &stored.damage {
        checkup.put(row, format!("its row is damaged: {damage}"));
        return Ok(());
    }
    if let Err(StoreError::Refused(lost)) = runs::scenario(connection, stored) {
        checkup.put(&row, lost.to_string());
    }
    if !stored.run.state.has_ended() {
        let path = files::checkpoint(folder, stored.number);
        if path.exists() {
            checkup.checkpoints += 1;
            if let Some(damage) = checkpoint::damage(&path) {
                checkup.put(format!("{}/{}", files::CHECKPOINTS, stored.number), damage);
            }
        }
        return Ok(());
    }
    // A row that cannot be read is among those whose sums do not fit.
    let Ok(found) = artifacts::list(connection, stored) else { return Ok(()) };
    check_artifacts(folder, stored, &found, checkup)?;
    if stored.run.state == State::Succeeded && found.is_empty() {
        checkup.put(row, "it has succeeded, and has no artifacts");
    }
    Ok(())
}

fn check_artifacts(
    folder: &Path,
    stored: &Stored,
    found: &[Artifact],
    checkup: &mut Checkup,
) -> Result<(), StoreError> {
    let place = |name: &str| format!("{}/{}/{name}", files::ARTIFACTS, stored.number);
    for artifact in found {
        checkup.artifacts += 1;
        checkup.artifact_bytes += artifact.size;
        if let Err(error) = checked::compare(folder, stored, artifact) {
            checkup.put(place(&artifact.name), error.to_string());
        }
    }
    for path in files::entries(&files::artifacts(folder, stored.number))? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if found.iter().all(|artifact| artifact.name != name) {
            checkup.put(place(&name), format!("run {} has no such artifact", stored.run.id));
        }
    }
    Ok(())
}

/// Files that were uploaded; their names are known then.
fn check_uploads(
    folder: &Path,
    connection: &Connection,
    known: &mut BTreeSet<String>,
    checkup: &mut Checkup,
) -> Result<(), StoreError> {
    known.extend(uploads::removals(connection)?);
    known.extend(uploads::contents(connection)?);
    let mut kept = uploads::all(connection)?;
    kept.dedup_by(|one, other| one.sha256 == other.sha256);
    for file in kept {
        checkup.files += 1;
        if let Some(damage) = uploads::damage(folder, &file) {
            checkup.put(format!("{}/{}", files::UPLOADS, file.sha256), damage);
        }
    }
    Ok(())
}

/// Files that belong to no run. What a killed server left unfinished is no problem: the next start removes it.
fn check_strangers(folder: &Path, known: &BTreeSet<String>, checkup: &mut Checkup) -> Result<(), StoreError> {
    for path in condition::strangers(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !known.contains(&*name) && !files::is_unfinished(&name) {
            let place = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            checkup.put(place, "it belongs to no run: a server will move it to the quarantine");
        }
    }
    Ok(())
}

fn count(folder: &Path) -> Result<u64, StoreError> {
    Ok(files::entries(folder)?.len() as u64)
}

/// Keeps servers out, where one has ever been.
fn lock_if_there(folder: &Path) -> Result<Option<File>, StoreError> {
    let path = folder.join(LOCK);
    let file = match open_no_link(&path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| files::broken("open", &path, &error))?,
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked(folder.display().to_string())),
        Err(TryLockError::Error(error)) => Err(files::broken("lock", &path, &error)),
    }
}
