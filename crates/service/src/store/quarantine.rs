//! What is set aside: files that no run is known to have, and what is damaged. Somebody may still want them.
//!
//! **The invariant it keeps:** nothing is deleted but what this server has left unfinished, what a known run does not need
//! any more, and what somebody had deleted. Everything that is set aside is named in the log.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::runs::{self, Stored};
use super::{StoreError, files, uploads};

/// The folder of what was set aside.
pub(crate) const QUARANTINE: &str = "quarantine";

/// Moves a file or a folder into the quarantine, under a name that nothing there has yet.
pub(crate) fn put(folder: &Path, path: &Path, name: &str, why: &str) -> Result<PathBuf, StoreError> {
    let quarantine = folder.join(QUARANTINE);
    fs::create_dir_all(&quarantine).map_err(|error| files::broken("make", &quarantine, &error))?;
    let names = (1u64..).map(|count| if count == 1 { name.to_owned() } else { format!("{name}.{count}") });
    let to = names.map(|name| quarantine.join(name)).find(|to| fs::symlink_metadata(to).is_err());
    let to = to.unwrap_or_else(|| quarantine.join(name));
    fs::rename(path, &to).map_err(|error| files::broken("set aside", path, &error))?;
    files::sync_folder(&quarantine)?;
    tracing::warn!(from = %path.display(), to = %to.display(), why, "set aside");
    Ok(to)
}

/// What is done with the files of a number.
enum Fate {
    Keep,
    Remove,
    /// And why.
    SetAside(&'static str),
}

/// Removes what a killed process left behind, and sets aside what no run is known to have. Where it is not certain that the
/// database `is_whole`, what it has not is no reason to remove anything.
pub(super) fn tidy_up(folder: &Path, connection: &Connection, is_whole: bool) -> Result<(), StoreError> {
    let mut all_removed = true;
    for (kind, one) in [(files::ARTIFACTS, "artifacts"), (files::CHECKPOINTS, "checkpoint")] {
        for path in files::entries(&folder.join(kind))? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match fate(connection, kind, &name, is_whole)? {
                Fate::Keep => {}
                Fate::Remove => all_removed &= files::remove_all(&path),
                Fate::SetAside(why) => {
                    put(folder, &path, &format!("{one}-{name}"), why)?;
                }
            }
        }
    }
    for path in files::entries(&folder.join(files::UPLOADS))? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match fate_of_upload(connection, &name, is_whole)? {
            Fate::Keep => {}
            Fate::Remove => all_removed &= files::remove_all(&path),
            Fate::SetAside(why) => {
                put(folder, &path, &format!("file-{name}"), why)?;
            }
        }
    }
    // Whatever attempts have left there counts only when it is taken in.
    files::remove_all(&folder.join(files::ATTEMPTS));
    files::forget_unfinished_reserve(folder);
    if all_removed {
        connection.execute_batch("DELETE FROM removals; DELETE FROM file_removals")?;
    }
    Ok(())
}

fn fate_of_upload(connection: &Connection, name: &str, is_whole: bool) -> Result<Fate, StoreError> {
    Ok(match name {
        name if uploads::has_owner(connection, name)? => Fate::Keep,
        name if files::is_unfinished(name) => Fate::Remove,
        // Somebody may have uploaded it again, which the database lacks.
        name if is_whole && uploads::may_go(connection, name)? => Fate::Remove,
        _ => Fate::SetAside("nobody is known to have it"),
    })
}

fn fate(connection: &Connection, kind: &str, name: &str, is_whole: bool) -> Result<Fate, StoreError> {
    const STRANGER: Fate = Fate::SetAside("no run is known to have it");
    if kind == files::CHECKPOINTS && files::is_unfinished(name) {
        return Ok(Fate::Remove);
    }
    // Only as this server writes numbers: `07` is not one of its names.
    let number = name.parse::<i64>().ok().filter(|number| number.to_string() == name);
    let Some(number) = number else { return Ok(STRANGER) };
    let Some(stored) = runs::find_number(connection, number)? else {
        return Ok(if runs::was_deleted(connection, number)? { Fate::Remove } else { STRANGER });
    };
    Ok(match stored {
        // Where a run stands is not known then.
        Stored { damage: Some(_), .. } => Fate::Keep,
        Stored { run, .. } if run.state.has_ended() == (kind == files::ARTIFACTS) => Fate::Keep,
        Stored { .. } if kind == files::ARTIFACTS && !is_whole => {
            Fate::SetAside("its run may have ended, but the database does not say so")
        }
        // Checkpoints of runs that have ended; and artifacts of one that has not, which were written just before it was
        // killed, and will be written again.
        Stored { .. } => Fate::Remove,
    })
}
