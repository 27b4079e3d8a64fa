//! The files that runs leave behind.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use sha2::{Digest as _, Sha256};

use std::path::{Path, PathBuf};

use super::{StoreError, Writing, files};
use crate::access::hexadecimal;
use crate::domain::Artifact;

/// A file that a run leaves behind.
pub(crate) struct File {
    /// Its name, which the server has chosen.
    pub name: &'static str,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl File {
    pub(crate) fn new(name: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name, bytes: bytes.into() }
    }

    fn media_type(&self) -> &'static str {
        match self.name.rsplit('.').next() {
            Some("json") => "application/json",
            Some("csv") => "text/csv",
            Some("toml") => "application/toml",
            Some("parquet") => "application/vnd.apache.parquet",
            _ => "application/octet-stream",
        }
    }
}

/// Writes the files of a run; they count when they are [inserted](insert).
pub(crate) fn write(folder: &Path, number: i64, found: &[File]) -> Result<Vec<Artifact>, StoreError> {
    let mut written = Vec::new();
    for file in found {
        files::write(&path(folder, number, file.name), &[&file.bytes])?;
        written.push(Artifact {
            name: file.name.to_owned(),
            size: file.bytes.len() as u64,
            sha256: hexadecimal(&Sha256::digest(&file.bytes)),
            media_type: file.media_type().to_owned(),
        });
    }
    Ok(written)
}

/// Notes that a run has these files.
pub(crate) fn insert(writing: &Writing<'_>, number: i64, artifacts: &[Artifact]) -> Result<(), StoreError> {
    let insert = "INSERT INTO artifacts (number, name, size, sha256, media_type) VALUES (?1, ?2, ?3, ?4, ?5)";
    for Artifact { name, size, sha256, media_type } in artifacts {
        let parameters = params![number, name, *size as i64, sha256, media_type];
        writing.connection.prepare_cached(insert)?.execute(parameters)?;
    }
    Ok(())
}

/// All files of a run, by name.
pub(crate) fn list(connection: &Connection, number: i64) -> Result<Vec<Artifact>, StoreError> {
    let query = "SELECT name, size, sha256, media_type FROM artifacts WHERE number = ?1 ORDER BY name";
    let mut query = connection.prepare_cached(query)?;
    Ok(query.query_map([number], read_row)?.collect::<Result<_, _>>()?)
}

/// A file of a run, if it has one of this name.
pub(crate) fn find(connection: &Connection, number: i64, name: &str) -> Result<Option<Artifact>, StoreError> {
    let query = "SELECT name, size, sha256, media_type FROM artifacts WHERE number = ?1 AND name = ?2";
    Ok(connection.prepare_cached(query)?.query_row(params![number, name], read_row).optional()?)
}

/// Where a file of a run is. The name must be one that [`find`] has found.
pub(crate) fn path(folder: &Path, number: i64, name: &str) -> PathBuf {
    files::artifacts(folder, number).join(name)
}

fn read_row(row: &Row<'_>) -> Result<Artifact, rusqlite::Error> {
    let size: i64 = row.get(1)?;
    Ok(Artifact { name: row.get(0)?, size: size as u64, sha256: row.get(2)?, media_type: row.get(3)? })
}
