//! What state the database is in, before anything is changed.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::acknowledged::{self, Counts};
use super::{StoreError, files, schema};

/// Problems that are told at most: one page that is gone breaks many rows.
const PROBLEMS_MAX: u32 = 8;

/// What state the database of a folder is in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// It holds no run, nor traces of one that was deleted; or there is none.
    Empty,
    /// It can be used.
    Sound,
    /// What is wrong with it, in a phrase.
    Damaged(String),
}

/// The files that SQLite keeps a database in.
pub(super) fn parts(database: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| PathBuf::from(format!("{}{ending}", database.display())))
}

/// Looks at the whole database, and at the count beside it of what was acknowledged. Nothing in the folder is changed.
pub(super) fn examine(database: &Path) -> Result<(Condition, Counts), StoreError> {
    // First, for a server may be at work: the database is never behind what the file has said before.
    let acknowledged = acknowledged::read(database.parent().unwrap_or(Path::new(".")));
    let (condition, kept) = look_at(database)?;
    Ok((condition, Counts { kept, acknowledged }))
}

/// What state it is in, and its count of changes.
fn look_at(database: &Path) -> Result<(Condition, Option<i64>), StoreError> {
    let [bytes, log_bytes] =
        [0, 1].map(|part| std::fs::metadata(&parts(database)[part]).map_or(0, |about| about.len()));
    match (bytes, log_bytes) {
        (0, 0) => return Ok((Condition::Empty, None)),
        // SQLite would take it for a new one, and remove the log.
        (0, _) => return Ok((Condition::Damaged("the database is gone, and its log is there".to_owned()), None)),
        _ => {}
    }
    match read(database) {
        Ok(found) => Ok(found),
        Err(error) if is_of_the_system(&error) => {
            Err(StoreError::Broken(format!("cannot read {}: {error}", database.display())))
        }
        Err(error) => Ok((Condition::Damaged(error.to_string()), None)),
    }
}

/// What a database that must not be used any more is refused with.
pub(super) fn refusal(database: &Path, problem: &str) -> StoreError {
    StoreError::Broken(format!(
        "{} is damaged: {problem}; nothing was changed. Restore a backup (`tailback restore`), or start once with \
         `tailback serve --recover`, which sets the database aside and rebuilds runs from their files",
        database.display()
    ))
}

/// What a folder is refused with that has the files of runs, but no runs.
pub(super) fn refusal_of_empty(database: &Path, strangers: &[PathBuf]) -> StoreError {
    let first = strangers.first().map_or_else(String::new, |path| path.display().to_string());
    StoreError::Broken(format!(
        "{} knows no runs, but there are files of {} ({first} is the first); nothing was changed. Restore a backup \
         (`tailback restore`), or start once with `tailback serve --recover`, which rebuilds runs from their files",
        database.display(),
        strangers.len(),
    ))
}

/// What a database is refused with that lacks changes which clients were told of.
pub(super) fn refusal_of_lacking(database: &Path, lacking: &str) -> StoreError {
    StoreError::Broken(format!(
        "{} lacks changes: {lacking}; nothing was changed. Put its files back as they were, restore a backup (`tailback \
         restore`), or start once with `tailback serve --recover`, which goes on without these changes, and rebuilds runs \
         from their files that are not known",
        database.display()
    ))
}

/// Whether an error means that the database is not as it was written.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Whether the system does not let us read, whatever is in the file.
fn is_of_the_system(error: &rusqlite::Error) -> bool {
    use ErrorCode::*;
    let code = error.sqlite_error_code();
    matches!(
        code,
        Some(CannotOpen | PermissionDenied | SystemIoFailure | DatabaseBusy | DatabaseLocked | ReadOnly | OutOfMemory)
    )
}

fn read(database: &Path) -> Result<(Condition, Option<i64>), rusqlite::Error> {
    let connection = open(database)?;
    let mut query = connection.prepare(&format!("PRAGMA integrity_check({PROBLEMS_MAX})"))?;
    let problems = query.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    if problems != ["ok"] {
        return Ok((Condition::Damaged(problems.join("; ").replace('\n', " ")), None));
    }
    if !schema::is_whole(&connection)? {
        return Ok((Condition::Damaged("its tables are not as this program makes them".to_owned()), None));
    }
    let has_rows = |table: &str| -> Result<bool, rusqlite::Error> {
        let there = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let there: i64 = connection.query_row(there, [table], |row| row.get(0))?;
        Ok(there > 0
            && connection.query_row(&format!("SELECT EXISTS (SELECT 1 FROM {table})"), [], |row| row.get(0))?)
    };
    let has_any = ["runs", "removals", "files", "file_removals"]
        .iter()
        .try_fold(false, |any, table| Ok::<_, rusqlite::Error>(any || has_rows(table)?))?;
    Ok((if has_any { Condition::Sound } else { Condition::Empty }, acknowledged::count(&connection)?))
}

/// A connection that leaves the database and its log as they are, even when it is closed.
pub(super) fn open(database: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// The artifacts, checkpoints and uploaded files in a folder, whatever they are called.
pub(super) fn strangers(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut found = Vec::new();
    for kind in [files::ARTIFACTS, files::CHECKPOINTS] {
        found.extend(files::entries(&folder.join(kind))?);
    }
    // Of what a client had begun to upload nobody knows but the client.
    let uploaded = files::entries(&folder.join(files::UPLOADS))?;
    found.extend(uploaded.into_iter().filter(|path| !path.to_str().is_some_and(files::is_unfinished)));
    Ok(found)
}
