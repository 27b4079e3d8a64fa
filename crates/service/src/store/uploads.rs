//! Files that were uploaded, each under the SHA-256 of its content: what several owners have is there once.
//!
//! A content is put in its place, and removed from there, by the writer alone. Before the first, and after the last owner, it
//! is among the contents that may be removed; so a server that was killed leaves nothing that the next does not know what to
//! do with.
//!
//! **The invariant it keeps:** what a row names was on disk as a whole before the row was.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use sha2::{Digest as _, Sha256};

use super::{StoreError, Writing, files, sums};
use crate::access::hexadecimal;
use crate::api_error::ApiError;
use crate::domain::{KeptFile, ScenarioSource, now_ms};
use crate::names;

/// Where a content is.
pub(crate) fn path(folder: &Path, sha256: &str) -> PathBuf {
    folder.join(files::UPLOADS).join(sha256)
}

/// A path that no other file has, for what is not there as a whole: the next start removes it.
pub(crate) fn unfinished(folder: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    folder.join(name).with_extension(files::UNFINISHED)
}

/// A content on its way. It is removed when this is dropped, unless it was kept.
#[derive(Debug)]
pub(crate) struct Incoming {
    path: PathBuf,
    file: File,
    digest: Sha256,
    bytes: u64,
}

impl Incoming {
    pub(crate) fn start(folder: &Path) -> Result<Self, StoreError> {
        let path = unfinished(&folder.join(files::UPLOADS));
        let file = File::create_new(&path).map_err(|error| files::broken("make", &path, &error))?;
        Ok(Self { path, file, digest: Sha256::new(), bytes: 0 })
    }

    /// Bytes that have come.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn write(&mut self, piece: &[u8]) -> Result<(), StoreError> {
        self.file.write_all(piece).map_err(|error| files::broken("write", &self.path, &error))?;
        self.digest.update(piece);
        self.bytes += piece.len() as u64;
        Ok(())
    }

    /// Its SHA-256, when all of it is on disk.
    pub(crate) fn finish(&mut self) -> Result<String, StoreError> {
        self.file.sync_all().map_err(|error| files::broken("write", &self.path, &error))?;
        Ok(hexadecimal(&std::mem::take(&mut self.digest).finalize()))
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // It is not there any more if it was kept.
        let _ = fs::remove_file(&self.path);
    }
}

/// From now on a content may lie in its place, and may be removed if nobody has it.
pub(crate) fn announce(writing: &Writing<'_>, sha256: &str) -> Result<(), StoreError> {
    let insert = "INSERT OR IGNORE INTO file_removals (sha256) VALUES (?1)";
    writing.connection.prepare_cached(insert)?.execute([sha256])?;
    Ok(())
}

/// Puts a content that was announced in its place, over the same that may be damaged, and notes whose it is.
pub(crate) fn keep(
    writing: &Writing<'_>,
    folder: &Path,
    incoming: &Incoming,
    file: &KeptFile,
) -> Result<(), StoreError> {
    let to = path(folder, &file.sha256);
    fs::rename(&incoming.path, &to).map_err(|error| files::broken("write", &to, &error))?;
    files::sync_folder(&folder.join(files::UPLOADS))?;
    insert(writing, file)
}

fn insert(writing: &Writing<'_>, file: &KeptFile) -> Result<(), StoreError> {
    let KeptFile { owner, sha256, size, name, uploaded_ms } = file;
    let size = i64::try_from(*size).unwrap_or(i64::MAX);
    let values: [ValueRef<'_>; 5] = [
        owner.as_str().into(),
        sha256.as_str().into(),
        ValueRef::Integer(size),
        name.as_str().into(),
        ValueRef::Integer(*uploaded_ms),
    ];
    let insert = "INSERT OR REPLACE INTO files (owner, sha256, size, name, uploaded_ms, sum)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let parameters = params![owner, sha256, size, name, uploaded_ms, sums::of(values)];
    writing.connection.prepare_cached(insert)?.execute(parameters)?;
    writing.connection.prepare_cached("DELETE FROM file_removals WHERE sha256 = ?1")?.execute([sha256])?;
    Ok(())
}

/// Notes that an owner has the contents which a scenario names, whose rows are lost.
pub(super) fn take_over(
    writing: &Writing<'_>,
    folder: &Path,
    owner: &str,
    scenario: &ScenarioSource,
) -> Result<(), StoreError> {
    for (name, sha256) in scenario.files.iter() {
        let path = path(folder, sha256);
        let found = fs::metadata(&path).map_err(|error| files::broken("read", &path, &error))?;
        let (owner, sha256, name) = (owner.to_owned(), sha256.clone(), name.clone());
        insert(writing, &KeptFile { owner, sha256, size: found.len(), name, uploaded_ms: now_ms() })?;
    }
    Ok(())
}

const SELECT: &str = "SELECT owner, sha256, size, name, uploaded_ms, sum FROM files";

fn read_row(row: &Row<'_>) -> Result<KeptFile, StoreError> {
    let size: i64 = row.get(2)?;
    let file = KeptFile {
        owner: row.get(0)?,
        sha256: row.get(1)?,
        size: size as u64,
        name: row.get(3)?,
        uploaded_ms: row.get(4)?,
    };
    if sums::of_row(row, 0..5)? != row.get::<_, i64>(5)? {
        let problem = "the sum of its row in the database does not fit".to_owned();
        return Err(ApiError::FileLost { sha256: file.sha256, problem }.into());
    }
    Ok(file)
}

/// A file of an owner.
pub(crate) fn find(connection: &Connection, owner: &str, sha256: &str) -> Result<Option<KeptFile>, StoreError> {
    let mut query = connection.prepare_cached(&format!("{SELECT} WHERE owner = ?1 AND sha256 = ?2"))?;
    let mut rows = query.query([owner, sha256])?;
    rows.next()?.map(read_row).transpose()
}

/// Files from one on, by owner and SHA-256: of an owner, or of all; of one content, or of any.
pub(crate) fn list(
    connection: &Connection,
    (owner, sha256): (Option<&str>, Option<&str>),
    after: (&str, &str),
    count_max: u32,
) -> Result<Vec<KeptFile>, StoreError> {
    let mut query = connection.prepare_cached(&format!(
        "{SELECT} WHERE (?1 IS NULL OR owner = ?1) AND (?2 IS NULL OR sha256 = ?2) AND (owner, sha256) > (?3, ?4)
         ORDER BY owner, sha256 LIMIT ?5"
    ))?;
    let mut rows = query.query(params![owner, sha256, after.0, after.1, count_max])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read_row(row)?);
    }
    Ok(found)
}

/// All files, but for those whose rows are damaged: these are among the rows whose sums do not fit.
pub(super) fn all(connection: &Connection) -> Result<Vec<KeptFile>, StoreError> {
    let mut query = connection.prepare(&format!("{SELECT} ORDER BY sha256, owner"))?;
    let mut rows = query.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.extend(read_row(row));
    }
    Ok(found)
}

/// The contents that rows name, whether these are damaged or not, as far as these are names of contents.
pub(super) fn contents(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut found = texts(connection, "SELECT DISTINCT sha256 FROM files")?;
    found.retain(|sha256| names::whole_digest("sha256", sha256).is_ok());
    Ok(found)
}

/// The contents that may be removed.
pub(super) fn removals(connection: &Connection) -> Result<Vec<String>, StoreError> {
    texts(connection, "SELECT sha256 FROM file_removals")
}

fn texts(connection: &Connection, query: &str) -> Result<Vec<String>, StoreError> {
    let mut query = connection.prepare(query)?;
    Ok(query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// The rows whose sums do not fit, each with its table.
pub(super) fn unfit_rows(connection: &Connection) -> Result<Vec<(&'static str, String)>, StoreError> {
    let mut query = connection.prepare(&format!("{SELECT} ORDER BY owner, sha256"))?;
    let mut rows = query.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if sums::of_row(row, 0..5)? != row.get::<_, i64>(5)? {
            let place = [0, 1].map(|column| row.get_ref(column).map(sums::plain));
            let [owner, sha256] = place;
            found.push(("files", format!("owner {}, sha256 {}", owner?, sha256?)));
        }
    }
    Ok(found)
}

/// Forgets a content that is not there, in a copy.
pub(super) fn forget(connection: &Connection, sha256: &str) -> Result<(), StoreError> {
    connection.execute("DELETE FROM files WHERE sha256 = ?1", [sha256])?;
    Ok(())
}

/// How many files an owner has, and of how many bytes, without one that is to be replaced.
pub(crate) fn usage(connection: &Connection, owner: &str, but: &str) -> Result<(u64, u64), StoreError> {
    let query = "SELECT count(*), coalesce(sum(size), 0) FROM files WHERE owner = ?1 AND sha256 <> ?2";
    let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64));
    Ok(connection.prepare_cached(query)?.query_row([owner, but], read)?)
}

/// Refuses a scenario that names files which its owner does not have.
pub(crate) fn must_have(connection: &Connection, owner: &str, scenario: &ScenarioSource) -> Result<(), StoreError> {
    for sha256 in scenario.files.values() {
        if find(connection, owner, sha256)?.is_none() {
            return Err(ApiError::FileNotFound(sha256.clone()).into());
        }
    }
    Ok(())
}

/// A run of an owner that has not ended and names a content.
fn user(connection: &Connection, owner: &str, sha256: &str) -> Result<Option<String>, StoreError> {
    let query = "SELECT id FROM runs WHERE state IN ('pending', 'running', 'cancelling') AND owner = ?1
        AND CASE WHEN json_valid(content)
            THEN EXISTS (SELECT 1 FROM json_each(content, '$.files') WHERE value = ?2) END
        ORDER BY number LIMIT 1";
    Ok(connection.prepare_cached(query)?.query_row([owner, sha256], |row| row.get(0)).optional()?)
}

/// Forgets a file of an owner, unless a run needs it. What nobody has any more is to be [removed](remove).
pub(crate) fn delete(writing: &Writing<'_>, owner: &str, sha256: &str) -> Result<(), StoreError> {
    let connection = writing.connection;
    let there = "SELECT 1 FROM files WHERE owner = ?1 AND sha256 = ?2";
    if connection.prepare_cached(there)?.query_row([owner, sha256], |_| Ok(())).optional()?.is_none() {
        return Err(ApiError::FileNotFound(sha256.to_owned()).into());
    }
    if let Some(run) = user(connection, owner, sha256)? {
        return Err(ApiError::FileInUse { sha256: sha256.to_owned(), run }.into());
    }
    connection.prepare_cached("DELETE FROM files WHERE owner = ?1 AND sha256 = ?2")?.execute([owner, sha256])?;
    if has_owner(connection, sha256)? { Ok(()) } else { announce(writing, sha256) }
}

/// Removes a content from the disk, if nobody has it.
pub(crate) fn remove(writing: &Writing<'_>, folder: &Path, sha256: &str) -> Result<(), StoreError> {
    if !has_owner(writing.connection, sha256)? && files::remove_all(&path(folder, sha256)) {
        writing.connection.prepare_cached("DELETE FROM file_removals WHERE sha256 = ?1")?.execute([sha256])?;
    }
    Ok(())
}

/// Files that were uploaded before a time and that no run needs, as owners and contents.
pub(crate) fn older_than(connection: &Connection, before_ms: i64) -> Result<Vec<(String, String)>, StoreError> {
    let query = "SELECT owner, sha256 FROM files WHERE uploaded_ms < ?1 ORDER BY uploaded_ms";
    let mut query = connection.prepare_cached(query)?;
    let rows = query.query_map([before_ms], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut found: Vec<(String, String)> = rows.collect::<Result<_, _>>()?;
    let mut failed = Ok(());
    found.retain(|(owner, sha256)| match user(connection, owner, sha256) {
        Ok(user) => user.is_none(),
        Err(error) => {
            failed = Err(error);
            false
        }
    });
    failed.map(|()| found)
}

pub(super) fn has_owner(connection: &Connection, sha256: &str) -> Result<bool, StoreError> {
    let query = "SELECT 1 FROM files WHERE sha256 = ?1 LIMIT 1";
    Ok(connection.prepare_cached(query)?.query_row([sha256], |_| Ok(())).optional()?.is_some())
}

/// Whether a content may be removed that nobody has.
pub(super) fn may_go(connection: &Connection, sha256: &str) -> Result<bool, StoreError> {
    let query = "SELECT 1 FROM file_removals WHERE sha256 = ?1";
    Ok(connection.prepare_cached(query)?.query_row([sha256], |_| Ok(())).optional()?.is_some())
}

/// What is wrong with a content, if anything is.
pub(super) fn damage(folder: &Path, file: &KeptFile) -> Option<String> {
    match compare(&path(folder, &file.sha256), &file.sha256, || Ok(())) {
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    }
}

/// Opens a content that is as it was; compares all of it before, for as long as `go_on` gives no error.
pub(super) fn compare(path: &Path, sha256: &str, mut go_on: impl FnMut() -> io::Result<()>) -> io::Result<File> {
    let mut file = File::open(path)?;
    let (mut digest, mut piece) = (Sha256::new(), vec![0; super::checked::PIECE_BYTES]);
    loop {
        go_on()?;
        match io::Read::read(&mut file, &mut piece)? {
            0 => break,
            bytes => digest.update(&piece[..bytes]),
        }
    }
    let found = hexadecimal(&digest.finalize());
    if found != sha256 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("its SHA-256 is {found} and was {sha256}")));
    }
    Ok(file)
}
