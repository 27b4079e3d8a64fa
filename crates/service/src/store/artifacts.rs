//! The files that runs leave behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};
use sha2::{Digest as _, Sha256};
use tailback_report::Table;
use tailback_scenario::{Measure, Scenario};

use super::runs::Stored;
use super::{StoreError, Writing, files, sums};
use crate::access::hexadecimal;
use crate::api_error::ApiError;
use crate::domain::{Artifact, FailureReason, RunFailure};

/// Files that all simulations leave, and the tables that they leave if the scenario asks for them.
pub(crate) const OF_ALL: [&str; 3] = ["report.json", "report.txt", "scenario.toml"];
pub(crate) const OF_HISTOGRAMS: [&str; 2] = ["histograms.csv", "histograms.parquet"];
pub(crate) const OF_LINKS: [&str; 2] = ["links.csv", "links.parquet"];
pub(crate) const OF_MESSAGES: [&str; 2] = ["messages.csv", "messages.parquet"];
pub(crate) const OF_SERIES: [&str; 2] = ["series.csv", "series.parquet"];
pub(crate) const OF_TREES: [&str; 2] = ["trees.csv", "trees.parquet"];

/// Files that simulations leave, in the order of their names.
pub(crate) fn of_simulation() -> impl Iterator<Item = &'static str> {
    let before = OF_HISTOGRAMS.into_iter().chain(OF_LINKS).chain(OF_MESSAGES);
    before.chain(OF_ALL).chain(OF_SERIES).chain(OF_TREES)
}

/// Files that a simulation of this scenario leaves, in the order of their names.
pub(crate) fn of_scenario(scenario: &Scenario) -> Vec<&'static str> {
    let Measure { links, messages, series, trees_every, .. } = &scenario.measure;
    let is_left = |name: &&str| {
        (links.is_some() || !OF_LINKS.contains(name))
            && (*messages || !OF_MESSAGES.contains(name))
            && (series.is_some() || !OF_SERIES.contains(name))
            && (trees_every.is_some() || !OF_TREES.contains(name))
    };
    of_simulation().filter(is_left).collect()
}

/// The same as far as earlier builds have left them.
pub(crate) fn of_scenario_before(scenario: &Scenario) -> Vec<&'static str> {
    let later = [OF_HISTOGRAMS, OF_LINKS, OF_TREES].concat();
    of_scenario(scenario).into_iter().filter(|name| !later.contains(name)).collect()
}

/// A file that a run leaves behind.
#[derive(Clone)]
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

    /// A table as CSV and Parquet, which together with so many bytes of other files have so many at most.
    pub(crate) fn table(
        table: &Table,
        [csv_name, parquet_name]: [&'static str; 2],
        others: u64,
        allowed: u64,
    ) -> Result<[Self; 2], NotWritten> {
        let room = usize::try_from(allowed.saturating_sub(others)).unwrap_or(usize::MAX);
        let mut csv = Within { bytes: Vec::new(), room, asked: others };
        let written = table.write_csv(&mut csv);
        let mut parquet = Within { bytes: Vec::new(), room: room - csv.bytes.len(), asked: csv.asked };
        let written = written.and_then(|()| table.write_parquet(&mut parquet));
        let bytes = parquet.asked;
        if bytes > allowed {
            return Err(NotWritten::TooLarge { bytes, allowed });
        }
        written.map_err(|error| StoreError::Broken(error.to_string()))?;
        Ok([Self::new(csv_name, csv.bytes), Self::new(parquet_name, parquet.bytes)])
    }

    /// What kind of file one of this name is.
    pub(super) fn media_type_of(name: &str) -> &'static str {
        match name.rsplit('.').next() {
            Some("json") => "application/json",
            Some("csv") => "text/csv",
            Some("toml") => "application/toml",
            Some("parquet") => "application/vnd.apache.parquet",
            _ => "application/octet-stream",
        }
    }
}

/// Bytes of a file that may have so many: what would be more is refused, and counted.
struct Within {
    bytes: Vec<u8>,
    room: usize,
    asked: u64,
}

impl io::Write for Within {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.asked += bytes.len() as u64;
        if bytes.len() > self.room - self.bytes.len() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why the files of a run are not written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum NotWritten {
    #[error("the artifacts have {bytes} bytes or more, the run may have {allowed}")]
    TooLarge { bytes: u64, allowed: u64 },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<&NotWritten> for RunFailure {
    fn from(error: &NotWritten) -> Self {
        match error {
            NotWritten::TooLarge { .. } => Self::new(FailureReason::ArtifactBytes, error.to_string()),
            NotWritten::Store(error) => error.into(),
        }
    }
}

/// Writes the files of an attempt into its folder, unless they are too large. All of them are on disk when this returns them. A killed
/// process may leave some, or a part of one: the folder counts for nothing before it is [taken in](take_in).
pub(crate) fn write(attempt: &Path, files: &[File], allowed: u64) -> Result<Vec<Artifact>, NotWritten> {
    let bytes: u64 = files.iter().map(|file| file.bytes.len() as u64).sum();
    if bytes > allowed {
        return Err(NotWritten::TooLarge { bytes, allowed });
    }
    files::fill_attempt(attempt, files.iter().map(|file| (file.name, file.bytes.as_slice())))?;
    let artifact = |file: &File| Artifact {
        name: file.name.to_owned(),
        size: file.bytes.len() as u64,
        sha256: hexadecimal(&Sha256::digest(&file.bytes)),
        media_type: File::media_type_of(file.name).to_owned(),
    };
    Ok(files.iter().map(artifact).collect())
}

/// Makes the files of an attempt those of its run; they count when they are [inserted](insert). If it fails, it may be done
/// again: it goes on where it failed.
pub(crate) fn take_in(folder: &Path, number: i64, attempt: &Path) -> Result<(), StoreError> {
    let (to, all) = (files::artifacts(folder, number), folder.join(files::ARTIFACTS));
    let is_renamed = !attempt.exists() && to.exists();
    if !is_renamed {
        // Of an attempt whose end was not written down.
        files::remove_all(&to);
        let rename = || {
            fs::create_dir_all(&all)?;
            fs::rename(attempt, &to)
        };
        rename().map_err(|error| files::broken("make", &to, &error))?;
    }
    files::sync_folder(&all)
}

/// Notes that a run has these files.
pub(crate) fn insert(writing: &Writing<'_>, number: i64, artifacts: &[Artifact]) -> Result<(), StoreError> {
    let insert = "INSERT INTO artifacts (number, name, size, sha256, media_type, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    for Artifact { name, size, sha256, media_type } in artifacts {
        let [number, size] = [number, *size as i64];
        let (first, third) = (ValueRef::Integer(number), ValueRef::Integer(size));
        let sum = sums::of([first, name.as_str().into(), third, sha256.as_str().into(), media_type.as_str().into()]);
        let parameters = params![number, name, size, sha256, media_type, sum];
        writing.connection.prepare_cached(insert)?.execute(parameters)?;
    }
    Ok(())
}

/// Forgets all files of a run.
pub(crate) fn delete(writing: &Writing<'_>, number: i64) -> Result<(), StoreError> {
    writing.connection.prepare_cached("DELETE FROM artifacts WHERE number = ?1")?.execute([number])?;
    Ok(())
}

const SELECT: &str = "SELECT number, name, size, sha256, media_type, sum FROM artifacts WHERE number = ?1";

/// All files of a run, by name.
pub(crate) fn list(connection: &Connection, stored: &Stored) -> Result<Vec<Artifact>, StoreError> {
    let mut query = connection.prepare_cached(&format!("{SELECT} ORDER BY name"))?;
    let mut rows = query.query([stored.number])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read_row(row, stored)?);
    }
    Ok(found)
}

/// A file of a run, if it has one of this name.
pub(crate) fn find(connection: &Connection, stored: &Stored, name: &str) -> Result<Option<Artifact>, StoreError> {
    let mut query = connection.prepare_cached(&format!("{SELECT} AND name = ?2"))?;
    let mut rows = query.query(params![stored.number, name])?;
    rows.next()?.map(|row| read_row(row, stored)).transpose()
}

/// Where a file of a run is. The name must be one that [`find`] has found.
pub(crate) fn path(folder: &Path, number: i64, name: &str) -> PathBuf {
    files::artifacts(folder, number).join(name)
}

fn read_row(row: &Row<'_>, stored: &Stored) -> Result<Artifact, StoreError> {
    let read = || -> Result<(bool, Artifact), rusqlite::Error> {
        let size: i64 = row.get(2)?;
        let artifact = Artifact { name: row.get(1)?, size: size as u64, sha256: row.get(3)?, media_type: row.get(4)? };
        Ok((sums::of_row(row, 0..5)? == row.get::<_, i64>(5)?, artifact))
    };
    let problem = match read() {
        Ok((true, artifact)) => return Ok(artifact),
        Ok((false, _)) => "its sum does not fit".to_owned(),
        Err(error) => error.to_string(),
    };
    let (run, part) = (stored.run.id.clone(), "a row of its artifacts in the database".to_owned());
    Err(ApiError::DataLoss { run, part, problem }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it fails where the folder of all artifacts cannot be opened, for want of descriptors.
    #[test]
    fn what_failed_behind_the_renaming_goes_on() {
        let folder = tempfile::tempdir().expect("there is room");
        let folder = folder.path();
        for (count, found) in [(0, "first"), (1, "second")] {
            let attempt = files::make_attempt(folder, 1, count).expect("there is room");
            fs::write(attempt.join("report.json"), found).expect("there is room");
            for _ in 0..2 {
                take_in(folder, 1, &attempt).expect("it can be renamed, or is");
                assert_eq!(fs::read_to_string(path(folder, 1, "report.json")).ok().as_deref(), Some(found));
            }
        }
        take_in(folder, 2, &folder.join("attempts/2-0")).expect_err("there is no such attempt");
    }
}
