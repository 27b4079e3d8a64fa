//! How many changes were acknowledged: counted in the database, and in a file beside it.
//!
//! SQLite takes a damaged place in its log for the end of the log, and a log that is gone for one that was never there: what
//! is in the database then is whole, and older than what clients were told. The file tells. It is written after a change
//! was committed and before anybody is told of it, so it never counts more than the database did.
//!
//! It is not synced: after the machine has failed it may count less than was acknowledged, never more.
//!
//! What it does not tell: a server was killed in the moment in which pages were moved out of the log, the one with the count
//! among them, and then the log was damaged as well. Of such a database only its checks and the sums of its rows tell.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _};
use sha2::{Digest as _, Sha256};

use super::{StoreError, files, open_no_link};
use crate::access::hexadecimal;
use crate::sparingly::Sparingly;

/// The file.
pub(super) const NAME: &str = "acknowledged";
/// Digits of the count, which always has as many: the file is written over in one place.
const DIGITS: usize = 20;
/// Digits of the SHA-256 that tell whether the count is whole.
const SUM_DIGITS: usize = 16;
const LENGTH: usize = DIGITS + 1 + SUM_DIGITS + 1;

/// Where the database counts, since its version 7.
pub(super) const TABLE: &str = "
    -- Transactions that have changed anything: one row.
    CREATE TABLE commits (
        count INTEGER NOT NULL
    );
    INSERT INTO commits VALUES (0);
";

/// What the file and the database say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// Changes in the database; `None` if it does not count them: it is of an earlier version, or not there.
    pub kept: Option<i64>,
    /// Changes that were acknowledged, or why that is not known.
    pub acknowledged: Result<i64, String>,
}

impl Counts {
    /// What a database lacks that has fewer changes than were acknowledged, in a phrase.
    pub fn lacking(&self) -> Option<String> {
        let (kept, acknowledged) = (self.kept.unwrap_or(0), *self.acknowledged.as_ref().ok()?);
        (kept < acknowledged).then(|| {
            format!(
                "it has {kept} of the {acknowledged} changes that were acknowledged (see `{NAME}` beside it): its log, \
                 tailback.sqlite-wal, was damaged or removed, or the database is an earlier one"
            )
        })
    }

    /// Why it is not known whether the database lacks any, where that is to be said.
    pub fn unknown(&self) -> Option<String> {
        let problem = self.acknowledged.as_ref().err()?;
        let nothing = "nothing tells whether the database lacks changes that were acknowledged";
        // Earlier versions had no such file.
        self.kept.is_some_and(|kept| kept > 0).then(|| format!("it {problem}: {nothing}"))
    }

    /// Whether the database certainly has all. A server may be killed after one more change was committed; that the file is
    /// further behind means that it was not written.
    pub fn is_whole(&self) -> bool {
        let kept = self.kept.unwrap_or(0);
        self.acknowledged.as_ref().is_ok_and(|&count| count <= kept && kept - count <= 1)
    }
}

/// The count of a folder's file, or why there is none, in a phrase.
pub(super) fn read(folder: &Path) -> Result<i64, String> {
    let mut text = String::new();
    let opened = open_no_link(&folder.join(NAME), OpenOptions::new().read(true));
    match opened.and_then(|file| file.take(LENGTH as u64 + 1).read_to_string(&mut text)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err("is not there".to_owned()),
        Err(error) => return Err(format!("cannot be read ({error})")),
        Ok(_) => {}
    }
    let count = text.get(..DIGITS).and_then(|digits| digits.parse().ok());
    count.filter(|&count| line(count) == text).ok_or_else(|| "is damaged".to_owned())
}

/// The count of a database; `None` if it has none.
pub(super) fn count(connection: &Connection) -> Result<Option<i64>, rusqlite::Error> {
    let there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'commits'";
    if connection.query_row(there, [], |_| Ok(())).optional()?.is_none() {
        return Ok(None);
    }
    connection.query_row("SELECT count FROM commits", [], |row| row.get(0)).map(Some)
}

/// Makes the file of a folder say what its database says.
pub(super) fn write(folder: &Path, connection: &Connection) -> Result<(), StoreError> {
    let count = count(connection)?.unwrap_or(0);
    files::write(&folder.join(NAME), &[line(count).as_bytes()])
}

fn line(count: i64) -> String {
    let sum = hexadecimal(&Sha256::digest(count.to_le_bytes()));
    format!("{count:0DIGITS$} {}\n", &sum[..SUM_DIGITS])
}

/// The file, while changes are made.
pub(super) struct Acknowledged {
    path: PathBuf,
    file: File,
    /// Lines of the log about it.
    lines: Sparingly,
}

impl Acknowledged {
    /// Begins with what the database says.
    pub fn start(folder: &Path, connection: &Connection) -> Result<Self, StoreError> {
        write(folder, connection)?;
        let path = folder.join(NAME);
        let file = open_no_link(&path, OpenOptions::new().write(true));
        let file = file.map_err(|error| files::broken("open", &path, &error))?;
        Ok(Self { path, file, lines: Sparingly::default() })
    }

    /// Writes down that all up to this change may be told. Where that cannot be written, it is on disk nevertheless.
    pub fn tell(&mut self, count: i64) {
        let mut write = || -> io::Result<()> {
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(line(count).as_bytes())
        };
        if let Err(error) = write()
            && let Some(left_out) = self.lines.is_due()
        {
            tracing::error!(%error, path = %self.path.display(), left_out, "cannot be written");
        }
    }
}

/// Counts a change, in the middle of its transaction.
pub(super) fn increase(connection: &Connection) -> Result<i64, StoreError> {
    let mut update = connection.prepare_cached("UPDATE commits SET count = count + 1 RETURNING count")?;
    Ok(update.query_row([], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(kept: Option<i64>, acknowledged: Result<i64, &str>) -> Counts {
        Counts { kept, acknowledged: acknowledged.map_err(str::to_owned) }
    }

    #[test]
    fn what_is_lacking_is_told_from_what_is_not_known() {
        let all = [
            (counts(Some(5), Ok(5)), (false, false, true)),
            (counts(Some(6), Ok(5)), (false, false, true)),
            // The file was not written for a while.
            (counts(Some(7), Ok(5)), (false, false, false)),
            (counts(Some(4), Ok(5)), (true, false, false)),
            (counts(None, Ok(5)), (true, false, false)),
            (counts(None, Err("is not there")), (false, false, false)),
            (counts(Some(0), Err("is not there")), (false, false, false)),
            (counts(Some(1), Err("is not there")), (false, true, false)),
        ];
        for (counts, expected) in all {
            let found = (counts.lacking().is_some(), counts.unknown().is_some(), counts.is_whole());
            assert_eq!(found, expected, "{counts:?}");
        }
    }

    #[test]
    fn a_file_that_was_changed_anywhere_is_not_believed() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join(NAME);
        assert_eq!(read(folder.path()), Err("is not there".to_owned()));
        let whole = line(1204);
        std::fs::write(&path, &whole).expect("there is room");
        assert_eq!((read(folder.path()), whole.len()), (Ok(1204), LENGTH));
        for place in 0..LENGTH {
            let mut bytes = whole.clone().into_bytes();
            bytes[place] ^= 1;
            for changed in [&bytes[..], &whole.as_bytes()[..place], &[whole.as_bytes(), b"\n"].concat()] {
                std::fs::write(&path, changed).expect("there is room");
                assert_eq!(read(folder.path()), Err("is damaged".to_owned()), "{changed:?}");
            }
        }
        std::fs::remove_file(&path).expect("it is there");
        std::fs::create_dir(&path).expect("there is room");
        assert!(read(folder.path()).is_err_and(|error| error.starts_with("cannot be read")));
    }

    #[test]
    fn what_is_told_is_written_over_what_was() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let connection = Connection::open_in_memory().expect("memory is there");
        let mut acknowledged = Acknowledged::start(folder.path(), &connection).expect("there is room");
        for count in [0, 9, 10, i64::MAX, 3] {
            acknowledged.tell(count);
            assert_eq!(read(folder.path()), Ok(count));
        }
    }
}
