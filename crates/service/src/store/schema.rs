//! The tables. What is searched for is in columns, in plain words for whoever opens the database with other programs;
//! the rest of a run is in `body`, a message of the interface, so that new fields need no new columns.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::StoreError;

/// The version of the tables below.
const VERSION: i64 = 2;

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

/// What came with version 2.
const SAMPLES: &str = "
    CREATE TABLE samples (
        number INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        sequence INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (number, sequence)
    ) WITHOUT ROWID;
";

/// Makes the tables that are not there, and sets how they are written.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A commit is on disk when it returns, also if the machine fails.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(64);
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    match found {
        0 => extend(connection, &[TABLES, SAMPLES]),
        1 => extend(connection, &[SAMPLES]),
        VERSION => Ok(()),
        _ => Err(StoreError::Broken(format!(
            "the database has version {found}, this program knows version {VERSION}: use the program that made it"
        ))),
    }
}

fn extend(connection: &mut Connection, with: &[&str]) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    with.iter().try_for_each(|tables| transaction.execute_batch(tables))?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

/// A connection that only reads.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(connection: &Connection) -> Vec<String> {
        let mut query = connection
            .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
            .expect("it can be asked");
        let rows = query.query_map([], |row| row.get(0)).expect("it can be asked");
        rows.collect::<Result<_, _>>().expect("they can be read")
    }

    #[test]
    fn databases_of_earlier_versions_are_extended_and_of_later_ones_refused() {
        let open = || Connection::open_in_memory().expect("memory is there");
        let mut new = open();
        prepare(&mut new).expect("tables can be made");
        let mut old = open();
        old.execute_batch(TABLES).expect("tables can be made");
        old.pragma_update(None, "user_version", 1).expect("it can be set");
        prepare(&mut old).expect("it can be extended");
        assert_eq!(tables(&old), tables(&new));
        prepare(&mut old).expect("once more changes nothing");
        old.pragma_update(None, "user_version", VERSION + 1).expect("it can be set");
        let refused = prepare(&mut old).expect_err("it is not known");
        assert!(refused.to_string().contains("use the program that made it"), "{refused}");
    }
}
