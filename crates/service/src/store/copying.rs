//! Copies of data directories, which are data directories themselves.
//!
//! The database of the copy is the database of one moment, whatever a server writes meanwhile. Files of runs that have
//! ended do not change, so they can be copied after that moment. The database gets its name last: what was not copied to its
//! end is refused by servers.
//!
//! **The invariant it keeps:** what is in the folder that is copied from is not changed, and nothing is written over. Nobody
//! but the owner of the copy can read it.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rusqlite::Connection;

use super::condition::{self, Condition};
use super::fsck::{Checkup, check_data};
use super::private::{make_file, make_folder};
use super::runs::{self, Stored};
use super::{StoreError, acknowledged, artifacts, database, files, schema, uploads};

/// Copies a data directory, which a server may be using, into a new folder; then checks the copy.
///
/// # Errors
/// When the database is damaged, the new folder is not empty, or something cannot be read or written.
pub fn back_up(from: &Path, to: &Path) -> Result<Checkup, StoreError> {
    must_be_empty(to)?;
    copy(from, to)?;
    check_data(to)
}

/// Copies a backup into a new folder, if nothing is wrong with it; what is wrong is listed. Then checks the copy.
///
/// # Errors
/// When there is no backup, the new folder is not empty, or something cannot be read or written.
pub fn restore(from: &Path, to: &Path) -> Result<Checkup, StoreError> {
    must_be_empty(to)?;
    let found = check_data(from)?;
    if !found.problems.is_empty() {
        return Ok(found);
    }
    copy(from, to)?;
    check_data(to)
}

fn must_be_empty(folder: &Path) -> Result<(), StoreError> {
    if files::entries(folder)?.is_empty() {
        return Ok(());
    }
    Err(StoreError::Broken(format!("{} is not empty: choose a folder that is not there yet", folder.display())))
}

fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    let source = database(from);
    let (condition, counts) = condition::examine(&source)?;
    match condition {
        Condition::Damaged(problem) => return Err(condition::refusal(&source, &problem)),
        Condition::Empty if !source.exists() => {
            return Err(StoreError::Broken(format!("{} is no data directory of a server", from.display())));
        }
        Condition::Empty | Condition::Sound => {}
    }
    if let Some(lacking) = counts.lacking() {
        return Err(condition::refusal_of_lacking(&source, &lacking));
    }
    let live = condition::open(&source)?;
    schema::must_be_current(&live)?;
    for name in ["", files::ARTIFACTS, files::CHECKPOINTS, files::UPLOADS] {
        let path = to.join(name);
        make_folder(&path).map_err(|error| files::broken("make", &path, &error))?;
    }
    let target = database(to);
    let unfinished = target.with_extension(files::UNFINISHED);
    // SQLite writes into a file that is empty, and would make one that all can read.
    make_file(&unfinished).map_err(|error| files::broken("make", &unfinished, &error))?;
    live.execute("VACUUM INTO ?1", [unfinished.to_string_lossy()])?;
    copy_files(from, to, &live, &unfinished)?;
    let finish = || -> io::Result<()> {
        File::open(&unfinished)?.sync_all()?;
        fs::rename(&unfinished, &target)
    };
    finish().map_err(|error| files::broken("write", &target, &error))?;
    [files::ARTIFACTS, files::CHECKPOINTS, files::UPLOADS, ""]
        .iter()
        .try_for_each(|name| files::sync_folder(&to.join(name)))
}

/// Copies the files of all runs that a copy of the database knows.
fn copy_files(from: &Path, to: &Path, live: &Connection, database: &Path) -> Result<(), StoreError> {
    let copied = Connection::open(database)?;
    copied.pragma_update(None, "foreign_keys", true)?;
    // What had been deleted is not copied.
    copied.execute_batch("DELETE FROM removals; DELETE FROM file_removals")?;
    for stored in runs::all(&copied)? {
        if !copy_run(from, to, &copied, &stored)? && runs::find_number(live, stored.number)?.is_none() {
            // It was deleted meanwhile, and its files with it.
            files::remove_all(&files::artifacts(to, stored.number));
            copied.execute("DELETE FROM runs WHERE number = ?1", [stored.number])?;
        }
    }
    for sha256 in uploads::contents(&copied)? {
        let there = copy_file(&uploads::path(from, &sha256), &uploads::path(to, &sha256))?;
        if !there && !uploads::has_owner(live, &sha256)? {
            // It was deleted meanwhile.
            uploads::forget(&copied, &sha256)?;
        }
    }
    acknowledged::write(to, &copied)?;
    copied.close().map_err(|(_, error)| error.into())
}

/// Copies the files of a run; tells whether all were there.
fn copy_run(from: &Path, to: &Path, copied: &Connection, stored: &Stored) -> Result<bool, StoreError> {
    let number = stored.number;
    if !stored.run.state.has_ended() {
        // It may be there or not: a run without one starts again.
        copy_file(&files::checkpoint(from, number), &files::checkpoint(to, number))?;
        return Ok(true);
    }
    // Of rows that cannot be read the names of files are not known, but the folder is.
    let Ok(found) = artifacts::list(copied, stored) else { return copy_folder(from, to, number) };
    if found.is_empty() {
        return Ok(true);
    }
    let folder = files::artifacts(to, number);
    make_folder(&folder).map_err(|error| files::broken("make", &folder, &error))?;
    let mut complete = true;
    for artifact in found {
        let name = &artifact.name;
        complete &= copy_file(&artifacts::path(from, number, name), &artifacts::path(to, number, name))?;
    }
    files::sync_folder(&folder)?;
    Ok(complete)
}

fn copy_folder(from: &Path, to: &Path, number: i64) -> Result<bool, StoreError> {
    let folder = files::artifacts(to, number);
    make_folder(&folder).map_err(|error| files::broken("make", &folder, &error))?;
    for path in files::entries(&files::artifacts(from, number))? {
        copy_file(&path, &folder.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(true)
}

/// Copies a file as it is; tells whether it was there.
fn copy_file(from: &Path, to: &Path) -> Result<bool, StoreError> {
    let mut source = match File::open(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened.map_err(|error| files::broken("read", from, &error))?,
    };
    let mut write = || -> io::Result<()> {
        let mut target = make_file(to)?;
        io::copy(&mut source, &mut target)?;
        target.sync_all()
    };
    write().map_err(|error| files::broken("copy to", to, &error))?;
    Ok(true)
}
