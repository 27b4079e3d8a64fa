//! Runs, one row each.
//!
//! A row that is damaged is read as a run that has failed, with that as the reason: whoever asks for it is told, and lists
//! of runs, and the start of the server, do not fail with it.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use sha2::{Digest as _, Sha256};

use super::{StoreError, Writing, from_json, sums, to_json};
use crate::access::{Caller, hexadecimal};
use crate::api_error::ApiError;
use crate::domain::{FailureReason, Run, RunFailure, ScenarioSource, Snapshot, State, now_ms};

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
    /// What is wrong with the row, if anything is: then little of the run is known.
    pub damage: Option<String>,
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

/// The columns of [`Stored`], with those that its sum is over from [`FIRST_SUMMED`] on.
pub(super) fn columns() -> String {
    format!("number, sum, {}", sums::RUN)
}

const FIRST_SUMMED: usize = 2;

/// Reads a row of [`columns`].
pub(super) fn read_row(row: &Row<'_>) -> Result<Stored, rusqlite::Error> {
    let number: i64 = row.get("number")?;
    Ok(read_intact(row, number).unwrap_or_else(|damage| read_damaged(row, number, damage)))
}

fn read_intact(row: &Row<'_>, number: i64) -> Result<Stored, String> {
    let read = || -> Result<(i64, Stored), rusqlite::Error> {
        let stored = Stored {
            number,
            threads: row.get("threads")?,
            memory_bytes: row.get::<_, i64>("memory_bytes")? as u64,
            sequence: row.get("sequence")?,
            last_dropped: row.get("last_dropped")?,
            last_event: row.get("last_event")?,
            run: from_json(row, "content")?,
            damage: None,
        };
        Ok((row.get("sum")?, stored))
    };
    let sum = sums::of_row(row, FIRST_SUMMED..FIRST_SUMMED + sums::RUN_COLUMNS);
    let (expected, stored) = read().map_err(|error| error.to_string())?;
    if sum.is_ok_and(|sum| sum == expected) { Ok(stored) } else { Err("its sum does not fit".to_owned()) }
}

/// What can still be told of a run: the columns that name it are in indices as well, which the start has compared.
fn read_damaged(row: &Row<'_>, number: i64, damage: String) -> Stored {
    let text =
        |column: &str| row.get_ref(column).ok().and_then(|value| value.as_str().ok()).unwrap_or_default().to_owned();
    let counter = |column: &str| row.get(column).unwrap_or(0);
    let message = format!("its row in the database is damaged ({damage}); restore a backup, or run the scenario again");
    tracing::error!(number, run = text("id"), damage, "the row of a run is damaged");
    let id = text("id");
    let child_number = id.rsplit_once('.').and_then(|(_, child)| child.parse().ok()).unwrap_or(0);
    let failure = RunFailure { reason: FailureReason::Storage, message, details: Vec::new() };
    let run = Run {
        child_number,
        id,
        owner: text("owner"),
        parent_id: text("parent"),
        state: State::Failed,
        failure: Some(failure),
        // It may have been, and nobody is told of a private run because its row is damaged.
        private: true,
        ..Run::default()
    };
    let [sequence, last_dropped, last_event] = ["sequence", "last_dropped", "last_event"].map(counter);
    Stored { number, threads: 1, memory_bytes: 0, sequence, last_dropped, last_event, run, damage: Some(damage) }
}

/// A run, if there is one of this name.
pub(crate) fn find(connection: &Connection, id: &str) -> Result<Option<Stored>, StoreError> {
    let mut query = connection.prepare_cached(&format!("SELECT {} FROM runs WHERE id = ?1", columns()))?;
    Ok(query.query_row([id], read_row).optional()?)
}

/// The same by its number.
pub(crate) fn find_number(connection: &Connection, number: i64) -> Result<Option<Stored>, StoreError> {
    let mut query = connection.prepare_cached(&format!("SELECT {} FROM runs WHERE number = ?1", columns()))?;
    Ok(query.query_row([number], read_row).optional()?)
}

/// A run, which must be there.
pub(crate) fn get(connection: &Connection, id: &str) -> Result<Stored, StoreError> {
    find(connection, id)?.ok_or_else(|| ApiError::RunNotFound(id.to_owned()).into())
}

/// The same by its number.
pub(crate) fn get_number(connection: &Connection, number: i64) -> Result<Stored, StoreError> {
    find_number(connection, number)?.ok_or_else(|| ApiError::RunNotFound(format!("number {number}")).into())
}

/// A run for a caller: it is not there for those who may not see it.
pub(crate) fn get_for(connection: &Connection, caller: &Caller, id: &str) -> Result<Stored, StoreError> {
    let stored = get(connection, id)?;
    caller.must_see(&stored.run)?;
    Ok(stored)
}

/// Runs of a scenario that have succeeded, the newest first.
pub(crate) fn succeeded(connection: &Connection, digest: &str, count_max: u32) -> Result<Vec<Stored>, StoreError> {
    let mut query = connection.prepare_cached(&format!(
        "SELECT {} FROM runs WHERE scenario_digest = ?1 AND state = 'succeeded' ORDER BY number DESC LIMIT ?2",
        columns()
    ))?;
    let rows = query.query_map(params![digest, count_max], read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The runs of a sweep, in their order.
pub(crate) fn children(connection: &Connection, id: &str) -> Result<Vec<Stored>, StoreError> {
    let mut query =
        connection.prepare_cached(&format!("SELECT {} FROM runs WHERE parent = ?1 ORDER BY number", columns()))?;
    let rows = query.query_map([id], read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// All runs that have not reached a last state, in the order in which they were accepted.
pub(crate) fn not_ended(connection: &Connection) -> Result<Vec<Stored>, StoreError> {
    let states = "('pending', 'running', 'cancelling')";
    let mut query =
        connection.prepare(&format!("SELECT {} FROM runs WHERE state IN {states} ORDER BY number", columns()))?;
    let rows = query.query_map([], read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// How many runs are in each state.
pub(crate) fn by_state(connection: &Connection) -> Result<Vec<(State, u64)>, StoreError> {
    let count = |state: State| -> Result<(State, u64), rusqlite::Error> {
        let mut query = connection.prepare_cached("SELECT count(*) FROM runs WHERE state = ?1")?;
        Ok((state, query.query_row([state.word()], |row| row.get::<_, i64>(0))? as u64))
    };
    Ok(State::ALL.into_iter().map(count).collect::<Result<_, _>>()?)
}

/// All runs, in the order in which they were accepted.
pub(super) fn all(connection: &Connection) -> Result<Vec<Stored>, StoreError> {
    let mut query = connection.prepare(&format!("SELECT {} FROM runs ORDER BY number", columns()))?;
    let rows = query.query_map([], read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether a run was deleted whose files may still be there.
pub(super) fn was_deleted(connection: &Connection, number: i64) -> Result<bool, StoreError> {
    let mut query = connection.prepare_cached("SELECT 1 FROM removals WHERE number = ?1")?;
    Ok(query.query_row([number], |_| Ok(())).optional()?.is_some())
}

/// The numbers of runs that were deleted, and whose files may still be there.
pub(super) fn removals(connection: &Connection) -> Result<Vec<i64>, StoreError> {
    let mut query = connection.prepare("SELECT number FROM removals")?;
    Ok(query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// The scenario of a run.
pub(crate) fn scenario(connection: &Connection, stored: &Stored) -> Result<ScenarioSource, StoreError> {
    let query = "SELECT scenario_name, text, overrides, document FROM runs LEFT JOIN documents ON document = hash
        WHERE number = ?1";
    let read = |row: &Row<'_>| {
        let source = ScenarioSource {
            name: row.get(0)?,
            document: row.get(1)?,
            overrides: from_json(row, "overrides")?,
            files: stored.run.files.clone(),
        };
        Ok((source, row.get::<_, String>(3)?))
    };
    let lost =
        |problem: String| ApiError::DataLoss { run: stored.run.id.clone(), part: "the scenario".to_owned(), problem };
    if let Some(damage) = &stored.damage {
        return Err(lost(damage.clone()).into());
    }
    let found = connection.prepare_cached(query)?.query_row([stored.number], read);
    let (source, hash) = found.map_err(|error| lost(error.to_string()))?;
    if *document_hash(&source.document) != hash {
        return Err(lost("the document has another SHA-256 than it had".to_owned()).into());
    }
    Ok(source)
}

/// The scenario of a run that is to be shown. If it is damaged, the run is shown without it, and says why.
pub(crate) fn shown_scenario(
    connection: &Connection,
    stored: &mut Stored,
) -> Result<Option<ScenarioSource>, StoreError> {
    match scenario(connection, stored).map_err(ApiError::from) {
        Ok(scenario) => Ok(Some(scenario)),
        Err(lost @ ApiError::DataLoss { .. }) => {
            stored.run.note = lost.to_string();
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Writes a new run down, as one that is accepted now. Its name must not be there.
pub(crate) fn insert(writing: &Writing<'_>, new: &New) -> Result<Stored, StoreError> {
    insert_as(writing, None, new)
}

/// The same under a number that no other run has had, or under the next.
pub(super) fn insert_as(writing: &Writing<'_>, number: Option<i64>, new: &New) -> Result<Stored, StoreError> {
    let New { run, scenario, document_hash, threads, memory_bytes } = new;
    if find(writing.connection, &run.id)?.is_some() {
        return Err(ApiError::RunExists(run.id.clone()).into());
    }
    let created_ms = now_ms();
    let run = Run { created_ms: Some(created_ms), ..run.clone() };
    let connection = writing.connection;
    keep_document(connection, document_hash, &scenario.document)?;
    let insert =
        "INSERT INTO runs (id, owner, parent, state, title, scenario_digest, result_digest, document, scenario_name,
        overrides, created_ms, threads, memory_bytes, content, number)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    connection.prepare_cached(insert)?.execute(params![
        run.id,
        run.owner,
        run.parent_id,
        run.state.word(),
        run.title,
        run.scenario_digest,
        run.result_digest,
        document_hash,
        scenario.name,
        to_json(&scenario.overrides),
        created_ms,
        threads,
        i64::try_from(*memory_bytes).unwrap_or(i64::MAX),
        to_json(&run),
        number,
    ])?;
    let number = connection.last_insert_rowid();
    sums::seal_run(connection, number)?;
    for (key, value) in run.labels.iter() {
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
        damage: None,
    })
}

/// Keeps a document under its hash. One that is kept already and was damaged is whole again by that, also for the runs that
/// had it before.
fn keep_document(connection: &Connection, hash: &str, text: &str) -> Result<(), StoreError> {
    let mut query = connection.prepare_cached("SELECT text IS ?2 FROM documents WHERE hash = ?1")?;
    match query.query_row([hash, text], |row| row.get(0)).optional()? {
        Some(true) => return Ok(()),
        Some(false) => tracing::error!(hash, "a document was damaged, and is replaced by the same that was sent again"),
        None => {}
    }
    let keep = "INSERT INTO documents (hash, text) VALUES (?1, ?2) ON CONFLICT (hash) DO UPDATE SET text = ?2";
    connection.prepare_cached(keep)?.execute([hash, text])?;
    Ok(())
}

/// Writes down what has changed in a run.
pub(crate) fn update(writing: &Writing<'_>, stored: &Stored) -> Result<(), StoreError> {
    let run = &stored.run;
    let update = "UPDATE runs SET state = ?2, result_digest = ?3, content = ?4 WHERE number = ?1";
    let parameters = params![stored.number, run.state.word(), run.result_digest, to_json(run)];
    writing.connection.prepare_cached(update)?.execute(parameters)?;
    sums::seal_run(writing.connection, stored.number)
}

/// Keeps a copy of a damaged row, which is to be written over.
pub(crate) fn set_row_aside(writing: &Writing<'_>, stored: &Stored) -> Result<(), StoreError> {
    let insert = format!(
        "INSERT INTO damaged_runs (found_ms, number, {0}) SELECT ?2, number, {0} FROM runs WHERE number = ?1",
        sums::RUN
    );
    writing.connection.prepare_cached(&insert)?.execute(params![stored.number, now_ms()])?;
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

/// Deletes a run and all its parts; gives their numbers. Until they are [forgotten](forget_removals), it is known that the
/// files of these numbers are to be removed.
pub(crate) fn delete(writing: &Writing<'_>, id: &str) -> Result<Vec<i64>, StoreError> {
    let connection = writing.connection;
    let mut query = connection.prepare_cached("SELECT number FROM runs WHERE id = ?1 OR parent = ?1")?;
    let numbers = query.query_map([id], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let note = "INSERT INTO removals (number) SELECT number FROM runs WHERE id = ?1 OR parent = ?1";
    connection.prepare_cached(note)?.execute([id])?;
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
    let query = "SELECT hash, number FROM requests WHERE owner = ?1 AND request = ?2";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Option<(String, i64)> =
        connection.prepare_cached(query)?.query_row([owner, request], read).optional()?;
    let Some((hash, number)) = found else { return Ok(None) };
    Ok(find_number(connection, number)?.map(|stored| (hash, stored)))
}

/// The files of these numbers are gone.
pub(crate) fn forget_removals(writing: &Writing<'_>, numbers: &[i64]) -> Result<(), StoreError> {
    let mut delete = writing.connection.prepare_cached("DELETE FROM removals WHERE number = ?1")?;
    numbers.iter().try_for_each(|number| delete.execute([number]).map(drop))?;
    Ok(())
}

/// Remembers what a caller has used a request id for.
pub(crate) fn insert_request(
    writing: &Writing<'_>,
    stored: &Stored,
    caller: &str,
    request: &str,
    hash: &str,
) -> Result<(), StoreError> {
    let insert = "INSERT INTO requests (owner, request, hash, number) VALUES (?1, ?2, ?3, ?4)";
    writing.connection.prepare_cached(insert)?.execute(params![caller, request, hash, stored.number])?;
    Ok(())
}
