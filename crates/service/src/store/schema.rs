//! The tables. What is searched for is in columns, in plain words for whoever opens the database with other programs;
//! the rest of a run is in `body`, a message of the interface, so that new fields need no new columns.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::StoreError;

/// The version of the tables below.
const VERSION: i64 = 1;

const TABLES: &str = "
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

/// Makes the tables if they are not there, and sets how they are written.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A commit is on disk when it returns, also if the machine fails.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(64);
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    match found {
        0 => {
            let transaction = connection.transaction()?;
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
            Ok(transaction.commit()?)
        }
        VERSION => Ok(()),
        _ => Err(StoreError::Broken(format!(
            "the database has version {found}, this program knows version {VERSION}: use the program that made it"
        ))),
    }
}

/// A connection that only reads.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}
