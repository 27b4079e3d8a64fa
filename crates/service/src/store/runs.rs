//! Runs, one row each.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use sha2::{Digest as _, Sha256};

use super::{StoreError, Writing, from_json, to_json};
use crate::access::hexadecimal;
use crate::api_error::ApiError;
use crate::domain::{Run, ScenarioSource, Snapshot, State, now_ms};

/// A run with what only the server needs to know about it.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// Its number, never used twice.
    pub number: i64,
    /// The threads that it takes from the server's; 1 for the sequential executor.
    pub threads: u32,
    /// The memory that it takes, by the estimate.
    pub memory_bytes: u64,
    /// The largest sequence number that was given away.
    pub sequence: i64,
    /// The sequence number of the last event that was dropped, and that of the last event there was.
    pub last_dropped: i64,
    pub last_event: i64,
    pub run: Run,
}

impl Stored {
    /// The run as it is to be shown.
    pub(crate) fn snapshot(self, scenario: Option<ScenarioSource>) -> Snapshot {
        Snapshot { run: self.run, last_sequence: self.last_event, scenario }
    }
}

/// A run that is to be written down.
#[derive(Clone, Debug)]
pub(crate) struct New {
    pub run: Run,
    pub scenario: ScenarioSource,
    /// The hash of its document, which the runs of a sweep share.
    pub document_hash: Arc<str>,
    pub threads: u32,
    pub memory_bytes: u64,
}

/// What documents are kept under.
pub(crate) fn document_hash(document: &str) -> Arc<str> {
    hexadecimal(&Sha256::digest(document)).into()
}

/// The columns of [`Stored`].
pub(super) const COLUMNS: &str = "number, threads, memory_bytes, sequence, last_dropped, last_event, content";

/// The place of the one that holds the run itself.
pub(super) const CONTENT: usize = 6;

/// Reads a row of [`COLUMNS`].
pub(super) fn read_row(row: &Row<'_>) -> Result<Stored, rusqlite::Error> {
    Ok(Stored {
        number: row.get(0)?,
        threads: row.get(1)?,
        memory_bytes: row.get::<_, i64>(2)? as u64,
        sequence: row.get(3)?,
        last_dropped: row.get(4)?,
        last_event: row.get(5)?,
        run: from_json(row, CONTENT)?,
    })
}

/// A run, if there is one of this name.
pub(crate) fn find(connection: &Connection, id: &str) -> Result<Option<Stored>, StoreError> {
    let mut query = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"))?;
    Ok(query.query_row([id], read_row).optional()?)
}

/// A run, which must be there.
pub(crate) fn get(connection: &Connection, id: &str) -> Result<Stored, StoreError> {
    find(connection, id)?.ok_or_else(|| ApiError::RunNotFound(id.to_owned()).into())
}

/// The runs of a sweep, in their order.
pub(crate) fn children(connection: &Connection, id: &str) -> Result<Vec<Stored>, StoreError> {
    let mut query =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE parent = ?1 ORDER BY number"))?;
    let rows = query.query_map([id], read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// All runs that have not reached a last state, in the order in which they were accepted.
pub(crate) fn not_ended(connection: &Connection) -> Result<Vec<Stored>, StoreError> {
    let states = "('pending', 'running', 'cancelling')";
    let mut query =
        connection.prepare(&format!("SELECT {COLUMNS} FROM runs WHERE state IN {states} ORDER BY number"))?;
    let rows = query.query_map([], read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The scenario of a run.
pub(crate) fn scenario(connection: &Connection, number: i64) -> Result<ScenarioSource, StoreError> {
    let query = "SELECT scenario_name, text, overrides FROM documents JOIN runs ON document = hash WHERE number = ?1";
    let read =
        |row: &Row<'_>| Ok(ScenarioSource { name: row.get(0)?, document: row.get(1)?, overrides: from_json(row, 2)? });
    Ok(connection.prepare_cached(query)?.query_row([number], read)?)
}

/// Writes a new run down, as one that is accepted now. Its name must not be there.
pub(crate) fn insert(writing: &Writing<'_>, new: &New) -> Result<Stored, StoreError> {
    let New { run, scenario, document_hash, threads, memory_bytes } = new;
    if find(writing.connection, &run.id)?.is_some() {
        return Err(ApiError::RunExists(run.id.clone()).into());
    }
    let created_ms = now_ms();
    let run = Run { created_ms: Some(created_ms), ..run.clone() };
    let connection = writing.connection;
    let is_kept = connection.prepare_cached("SELECT 1 FROM documents WHERE hash = ?1")?.exists([document_hash])?;
    if !is_kept {
        connection
            .prepare_cached("INSERT INTO documents (hash, text) VALUES (?1, ?2)")?
            .execute(params![document_hash, scenario.document])?;
    }
    let insert =
        "INSERT INTO runs (id, owner, parent, state, title, scenario_digest, result_digest, document, scenario_name,
        overrides, created_ms, threads, memory_bytes, content)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, '', ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    connection.prepare_cached(insert)?.execute(params![
        run.id,
        run.owner,
        run.parent_id,
        run.state.word(),
        run.title,
        run.scenario_digest,
        document_hash,
        scenario.name,
        to_json(&scenario.overrides),
        created_ms,
        threads,
        i64::try_from(*memory_bytes).unwrap_or(i64::MAX),
        to_json(&run),
    ])?;
    let number = connection.last_insert_rowid();
    for (key, value) in &run.labels {
        connection
            .prepare_cached("INSERT INTO labels (key, value, number) VALUES (?1, ?2, ?3)")?
            .execute(params![key, value, number])?;
    }
    Ok(Stored {
        number,
        threads: *threads,
        memory_bytes: *memory_bytes,
        sequence: 0,
        last_dropped: 0,
        last_event: 0,
        run,
    })
}

/// Writes down what has changed in a run.
pub(crate) fn update(writing: &Writing<'_>, stored: &Stored) -> Result<(), StoreError> {
    let run = &stored.run;
    let update = "UPDATE runs SET state = ?2, result_digest = ?3, content = ?4 WHERE number = ?1";
    let parameters = params![stored.number, run.state.word(), run.result_digest, to_json(run)];
    writing.connection.prepare_cached(update)?.execute(parameters)?;
    Ok(())
}

/// Puts a run into another state. Whoever watches it has to be told by an event.
pub(crate) fn set_state(stored: &mut Stored, state: State) {
    let run = &mut stored.run;
    run.state = state;
    if state == State::Running {
        run.started_ms.get_or_insert_with(now_ms);
    }
    if state.has_ended() {
        run.ended_ms = Some(now_ms());
    }
}

/// Deletes a run and all its parts; gives their numbers.
pub(crate) fn delete(writing: &Writing<'_>, id: &str) -> Result<Vec<i64>, StoreError> {
    let connection = writing.connection;
    let mut query = connection.prepare_cached("SELECT number FROM runs WHERE id = ?1 OR parent = ?1")?;
    let numbers = query.query_map([id], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    connection.prepare_cached("DELETE FROM runs WHERE id = ?1 OR parent = ?1")?.execute([id])?;
    let unused = "DELETE FROM documents WHERE NOT EXISTS (SELECT 1 FROM runs WHERE document = hash)";
    connection.prepare_cached(unused)?.execute([])?;
    Ok(numbers)
}

/// The run that a request id was used for, with the fingerprint of that request.
pub(crate) fn find_request(
    connection: &Connection,
    owner: &str,
    request: &str,
) -> Result<Option<(String, Stored)>, StoreError> {
    let columns = COLUMNS.replace("number,", "runs.number,");
    let query = format!(
        "SELECT {columns}, hash FROM requests JOIN runs ON runs.number = requests.number
         WHERE requests.owner = ?1 AND request = ?2"
    );
    let read = |row: &Row<'_>| Ok((row.get(7)?, read_row(row)?));
    Ok(connection.prepare_cached(&query)?.query_row([owner, request], read).optional()?)
}

/// Remembers what a request id was used for.
pub(crate) fn insert_request(
    writing: &Writing<'_>,
    stored: &Stored,
    request: &str,
    hash: &str,
) -> Result<(), StoreError> {
    let insert = "INSERT INTO requests (owner, request, hash, number) VALUES (?1, ?2, ?3, ?4)";
    writing.connection.prepare_cached(insert)?.execute(params![stored.run.owner, request, hash, stored.number])?;
    Ok(())
}
