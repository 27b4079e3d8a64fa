//! The tables, and how those of earlier versions of the program become today's.
//!
//! What is searched for is in columns, in plain words for whoever opens the database with other programs. The rest of a
//! run or an event is in `content`, one of the types of [`domain`](crate::domain) as JSON: a new field there, with a default
//! for rows that lack it, needs no new version. Whatever else changes what `content` means does.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, Transaction, params};

use super::{StoreError, Writing, acknowledged, events, runs, sums, to_json, version_2};
use crate::domain::Event;

/// What makes a database of one version one of the next, in a transaction.
type Step = fn(&Transaction<'_>) -> Result<(), StoreError>;

/// The steps from an empty database on. A new one takes all of them, so that it cannot differ from one that was extended;
/// those that were released once are not changed any more.
const STEPS: [Step; 7] =
    [runs_and_events, samples, own_format, sums_and_removals, beyond_ends, uploaded_files, counted_commits];

/// The version that the last step makes.
const VERSION: usize = STEPS.len();

fn runs_and_events(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    Ok(transaction.execute_batch(RUNS_AND_EVENTS)?)
}

fn samples(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    Ok(transaction.execute_batch(SAMPLES)?)
}

/// Until then runs and events were messages of the interface, as protobuf writes them.
fn own_format(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    transaction.execute_batch(ADD_CONTENT)?;
    convert_runs(transaction)?;
    convert_events(transaction, "events")?;
    convert_events(transaction, "samples")?;
    Ok(transaction.execute_batch(DROP_BODIES)?)
}

/// Until then rows had no sums, and files whose removal had failed could not be told from those of strangers.
fn sums_and_removals(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    transaction.execute_batch(SUMS_AND_REMOVALS)?;
    sums::seal_all(transaction)
}

fn convert_runs(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    let mut query = transaction.prepare("SELECT number, body FROM runs")?;
    let update = "UPDATE runs SET state = ?2, scenario_name = ?3, overrides = ?4, content = ?5 WHERE number = ?1";
    let mut update = transaction.prepare(update)?;
    // Collected first: SQLite does not say what a query sees of rows that are changed while it goes on.
    let rows =
        query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<Vec<(i64, Vec<u8>)>, _>>()?;
    for (number, body) in rows {
        let read = version_2::read_run(&body);
        let (run, name, overrides) = read.map_err(|problem| unreadable(&format!("run {number}"), &problem))?;
        update.execute(params![number, run.state.word(), name, to_json(&overrides), to_json(&run)])?;
    }
    Ok(())
}

/// Of `events`, or of `samples`, which were events too.
fn convert_events(transaction: &Transaction<'_>, table: &str) -> Result<(), StoreError> {
    let mut runs = transaction.prepare("SELECT number FROM runs")?;
    let mut query = transaction.prepare(&format!("SELECT sequence, body FROM {table} WHERE number = ?1"))?;
    let update = format!("UPDATE {table} SET time_ms = ?3, content = ?4 WHERE number = ?1 AND sequence = ?2");
    let mut update = transaction.prepare(&update)?;
    let numbers = runs.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    // Run by run, because all of them together may be more than fits into memory.
    for number in numbers {
        let rows = query.query_map([number], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (sequence, body) in rows.collect::<Result<Vec<(i64, Vec<u8>)>, _>>()? {
            let read = version_2::read_event(&body);
            let what = format!("event {sequence} of run {number}");
            let Event { time_ms, what, .. } = read.map_err(|problem| unreadable(&what, &problem))?;
            update.execute(params![number, sequence, time_ms, events::columns(&what).1])?;
        }
    }
    Ok(())
}

fn unreadable(what: &str, problem: &str) -> StoreError {
    let then = "nothing was changed: use the program that made the database, or mend it";
    StoreError::Broken(format!("{what} cannot be brought into the format of this program ({problem}); {then}"))
}

/// Version 1.
const RUNS_AND_EVENTS: &str = "
    CREATE TABLE documents (
        hash TEXT PRIMARY KEY,
        text TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        owner TEXT NOT NULL,
        parent TEXT NOT NULL,
        state TEXT NOT NULL,
        title TEXT NOT NULL,
        scenario_digest TEXT NOT NULL,
        result_digest TEXT NOT NULL,
        document TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        threads INTEGER NOT NULL,
        memory_bytes INTEGER NOT NULL,
        -- The largest sequence number that was given away, that of the last event kept, and that of the last dropped.
        sequence INTEGER NOT NULL DEFAULT 0,
        last_event INTEGER NOT NULL DEFAULT 0,
        last_dropped INTEGER NOT NULL DEFAULT 0,
        body BLOB NOT NULL
    );
    CREATE INDEX runs_by_parent ON runs (parent, number);
    CREATE INDEX runs_by_state ON runs (state, number);
    CREATE INDEX runs_by_scenario ON runs (scenario_digest, number);
    CREATE INDEX runs_by_result ON runs (result_digest, number);
    CREATE INDEX runs_by_document ON runs (document);
    CREATE TABLE labels (
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        number INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        PRIMARY KEY (key, value, number)
    ) WITHOUT ROWID;
    CREATE INDEX labels_by_run ON labels (number);
    CREATE TABLE requests (
        owner TEXT NOT NULL,
        request TEXT NOT NULL,
        hash TEXT NOT NULL,
        number INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        PRIMARY KEY (owner, request)
    ) WITHOUT ROWID;
    CREATE INDEX requests_by_run ON requests (number);
    CREATE TABLE events (
        number INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        sequence INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (number, sequence)
    ) WITHOUT ROWID;
    CREATE TABLE artifacts (
        number INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        name TEXT NOT NULL,
        size INTEGER NOT NULL,
        sha256 TEXT NOT NULL,
        media_type TEXT NOT NULL,
        PRIMARY KEY (number, name)
    ) WITHOUT ROWID;
";

/// Version 2.
const SAMPLES: &str = "
    CREATE TABLE samples (
        number INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        sequence INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (number, sequence)
    ) WITHOUT ROWID;
";

/// Version 3, before rows are converted. A column that is added must have a default, even if no row gets it.
const ADD_CONTENT: &str = "
    ALTER TABLE runs ADD COLUMN scenario_name TEXT NOT NULL DEFAULT '';
    -- A JSON array of texts.
    ALTER TABLE runs ADD COLUMN overrides TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE runs ADD COLUMN content TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE events ADD COLUMN time_ms INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE events ADD COLUMN content TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE samples ADD COLUMN time_ms INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE samples ADD COLUMN content TEXT NOT NULL DEFAULT '{}';
    -- These came from how a message was printed, and cannot be made again. Empty, they match whatever is asked with the
    -- same request id: a client that asks again while the server is replaced gets its run.
    UPDATE requests SET hash = '';
";

/// Version 3, afterwards.
const DROP_BODIES: &str = "
    ALTER TABLE runs DROP COLUMN body;
    ALTER TABLE events DROP COLUMN body;
    ALTER TABLE samples DROP COLUMN body;
";

/// Version 4, before the sums are computed.
const SUMS_AND_REMOVALS: &str = "
    ALTER TABLE runs ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE events ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE samples ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE artifacts ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
    -- Runs that were deleted, and whose files may still be there.
    CREATE TABLE removals (
        number INTEGER PRIMARY KEY
    );
    -- Rows of runs that were found damaged, as they were then, in whatever type each value had.
    CREATE TABLE damaged_runs (
        found_ms INTEGER NOT NULL,
        number, id, owner, parent, state, title, scenario_digest, result_digest, document, scenario_name, overrides,
        created_ms, threads, memory_bytes, content, sequence, last_event, last_dropped
    );
";

/// What version 4 told runs by that their curves did not need. The content of a damaged row may be no JSON.
const BEYOND_END: &str = "SELECT number FROM runs WHERE state = 'cancelled' AND CASE WHEN json_valid(content)
    THEN content ->> 'note' END = 'not run: its curve is saturated at a lower load already'";

/// Version 5: whether a run was cancelled because its curve did not need it is said by itself, and not by its note. Rows
/// that are damaged stay so.
fn beyond_ends(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    let numbers = transaction.prepare(BEYOND_END)?.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    for number in numbers {
        let found = runs::find_number(transaction, number)?;
        if let Some(mut stored) = found.filter(|stored| stored.damage.is_none()) {
            stored.run.beyond_end = true;
            runs::update(&Writing::of(transaction), &stored)?;
        }
    }
    Ok(())
}

/// Version 6.
const UPLOADED_FILES: &str = "
    CREATE TABLE files (
        owner TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        size INTEGER NOT NULL,
        name TEXT NOT NULL,
        uploaded_ms INTEGER NOT NULL,
        sum INTEGER NOT NULL,
        PRIMARY KEY (owner, sha256)
    ) WITHOUT ROWID;
    CREATE INDEX files_by_content ON files (sha256);
    -- Contents that nobody has any more or yet, and that may still be there, or be there already.
    CREATE TABLE file_removals (
        sha256 TEXT PRIMARY KEY
    ) WITHOUT ROWID;
";

fn uploaded_files(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    Ok(transaction.execute_batch(UPLOADED_FILES)?)
}

/// Version 7.
fn counted_commits(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    Ok(transaction.execute_batch(acknowledged::TABLE)?)
}

/// Whether a database of today's version has all tables and indices as they are made.
pub(super) fn is_whole(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found != VERSION as i64 {
        return Ok(true);
    }
    let mut new = Connection::open_in_memory()?;
    let transaction = new.transaction()?;
    let made = STEPS.iter().all(|step| step(&transaction).is_ok());
    let found = shape(connection)?;
    Ok(made && shape(&transaction)?.iter().all(|part| found.contains(part)))
}

/// What the tables and indices of a database are like.
fn shape(connection: &Connection) -> Result<Vec<String>, rusqlite::Error> {
    let mut query = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")?;
    query.query_map([], |row| row.get(0))?.collect()
}

/// Brings the tables to today's version, and sets how they are written.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A commit is on disk when it returns, also if the machine fails.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // What is put aside to undo a part of a transaction would else be a file in a folder of the system's choice, which in a
    // container may not be there, or not be writable.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(64);
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let steps = usize::try_from(found).ok().and_then(|found| STEPS.get(found..)).ok_or_else(|| {
        StoreError::Broken(format!(
            "the database has version {found}, this program knows version {VERSION}: use the program that made it"
        ))
    })?;
    if steps.is_empty() {
        return Ok(());
    }
    if found > 0 {
        tracing::info!(from = found, to = VERSION, "the database is brought to the version of this program");
    }
    let transaction = connection.transaction()?;
    steps.iter().try_for_each(|step| step(&transaction))?;
    transaction.pragma_update(None, "user_version", VERSION as i64)?;
    Ok(transaction.commit()?)
}

/// Writes the version again, which is in each database of this program: that needs all that any change does.
pub(super) fn write_version(connection: &Connection) -> Result<(), StoreError> {
    Ok(connection.pragma_update(None, "user_version", VERSION as i64)?)
}

/// Refuses a database of another version, for those who change nothing.
pub(super) fn must_be_current(connection: &Connection) -> Result<(), StoreError> {
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found == VERSION as i64 {
        return Ok(());
    }
    let then = "a server of this program brings earlier ones to its version when it starts";
    Err(StoreError::Broken(format!("the database has version {found}, this program knows version {VERSION}: {then}")))
}

/// A connection that only reads.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Run, ScenarioSource, State};
    use crate::store::runs::New;

    fn shape(connection: &Connection) -> Vec<String> {
        super::shape(connection).expect("it can be asked")
    }

    fn version(connection: &Connection) -> i64 {
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("it can be asked")
    }

    /// A database as the first so many steps have left it.
    fn of_version(version: usize) -> Connection {
        let mut connection = Connection::open_in_memory().expect("memory is there");
        let transaction = connection.transaction().expect("it can be begun");
        STEPS[..version].iter().try_for_each(|step| step(&transaction)).expect("tables can be made");
        transaction.pragma_update(None, "user_version", version as i64).expect("it can be set");
        transaction.commit().expect("it can be ended");
        connection
    }

    #[test]
    fn databases_of_earlier_versions_are_extended_and_of_later_ones_refused() {
        let mut new = of_version(0);
        prepare(&mut new).expect("tables can be made");
        for earlier in 1..=VERSION {
            let mut old = of_version(earlier);
            prepare(&mut old).expect("it can be extended");
            assert_eq!(shape(&old), shape(&new));
            assert_eq!(version(&old), VERSION as i64);
        }
        for unknown in [VERSION as i64 + 1, -1] {
            new.pragma_update(None, "user_version", unknown).expect("it can be set");
            let refused = prepare(&mut new).expect_err("it is not known");
            assert!(refused.to_string().contains("use the program that made it"), "{refused}");
        }
    }

    #[test]
    fn what_lies_beyond_the_end_of_a_curve_is_said_by_itself() {
        let mut old = of_version(4);
        let note = "not run: its curve is saturated at a lower load already";
        let new = |id: &str, state, note: &str| {
            let run = Run { id: id.to_owned(), state, note: note.to_owned(), ..Run::default() };
            let (scenario, document_hash) = (ScenarioSource::default(), runs::document_hash(""));
            New { run, scenario, document_hash, threads: 1, memory_bytes: 1 }
        };
        let all = [
            new("beyond", State::Cancelled, note),
            new("by-hand", State::Cancelled, ""),
            new("says-so", State::Failed, note),
            new("damaged", State::Cancelled, note),
            new("no-json", State::Cancelled, note),
        ];
        all.iter().for_each(|new| drop(runs::insert(&Writing::of(&old), new).expect("it can be inserted")));
        let damage =
            "UPDATE runs SET title = 'other' WHERE id = 'damaged'; UPDATE runs SET content = '{' WHERE id = 'no-json'";
        old.execute_batch(damage).expect("it can be damaged");
        prepare(&mut old).expect("it can be extended");
        let found = all.each_ref().map(|new| runs::get(&old, &new.run.id).expect("it is there"));
        assert_eq!(found.each_ref().map(|stored| stored.run.beyond_end), [true, false, false, false, false]);
        assert_eq!(found.map(|stored| stored.damage.is_some()), [false, false, false, true, true]);
    }

    #[test]
    fn a_database_that_cannot_be_converted_is_refused_and_left_as_it_is() {
        let mut old = of_version(2);
        let insert = "INSERT INTO runs (id, owner, parent, state, title, scenario_digest, result_digest, document,
            created_ms, threads, memory_bytes, body) VALUES ('a', '', '', 'PENDING', '', '', '', '', 0, 1, 1, ?1)";
        // A field that goes on after the end, and a run in a state that there is not.
        for body in [b"\x0a\x05a".as_slice(), b"\x38\x63"] {
            old.execute(insert, [body]).expect("it can be inserted");
            let before = shape(&old);
            let refused = prepare(&mut old).expect_err("it cannot be read").to_string();
            assert!(refused.contains("cannot be brought into the format") && refused.contains("run "), "{refused}");
            assert_eq!((shape(&old), version(&old)), (before, 2));
            let kept: Vec<u8> = old.query_row("SELECT body FROM runs", [], |row| row.get(0)).expect("it is there");
            assert_eq!(kept, body);
            old.execute("DELETE FROM runs", []).expect("it can be deleted");
        }
    }
}
