//! A sum over each row that results depend on, beside the row.
//!
//! SQLite notices pages that are not as they should be, but not a byte that was changed inside a text. A sum does: the
//! first eight bytes of the SHA-256 over the columns.
//!
//! **The invariant it keeps:** what a row says is believed only if its sum fits.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};
use sha2::{Digest as _, Sha256};

use super::StoreError;

/// The columns of a run that its sum is over: all but its number, which is in each index.
pub(super) const RUN: &str = "id, owner, parent, state, title, scenario_digest, result_digest, document, scenario_name, \
    overrides, created_ms, threads, memory_bytes, content, sequence, last_event, last_dropped";

/// How many columns these are.
pub(super) const RUN_COLUMNS: usize = 17;

/// The tables whose rows are written once, each with the columns of its sum. The first two tell which row it is.
const WRITTEN_ONCE: [(&str, &str); 3] = [
    ("events", "number, sequence, kind, time_ms, content"),
    ("samples", "number, sequence, 'sample', time_ms, content"),
    ("artifacts", "number, name, size, sha256, media_type"),
];

/// The sum over some values.
pub(super) fn of<'v>(values: impl IntoIterator<Item = ValueRef<'v>>) -> i64 {
    let mut sum = Sha256::new();
    let mut put = |kind: u8, bytes: &[u8]| {
        sum.update([kind]);
        sum.update((bytes.len() as u64).to_le_bytes());
        sum.update(bytes);
    };
    for value in values {
        match value {
            ValueRef::Null => put(0, &[]),
            ValueRef::Integer(number) => put(1, &number.to_le_bytes()),
            ValueRef::Real(number) => put(2, &number.to_le_bytes()),
            ValueRef::Text(text) => put(3, text),
            ValueRef::Blob(bytes) => put(4, bytes),
        }
    }
    let sum = sum.finalize();
    i64::from_le_bytes(std::array::from_fn(|index| sum[index]))
}

/// The sum over some columns of a row.
pub(super) fn of_row(row: &Row<'_>, columns: std::ops::Range<usize>) -> Result<i64, rusqlite::Error> {
    let values = columns.map(|column| row.get_ref(column)).collect::<Result<Vec<_>, _>>()?;
    Ok(of(values))
}

/// Writes the sum of a run beside it, after it was written.
pub(super) fn seal_run(connection: &Connection, number: i64) -> Result<(), StoreError> {
    let query = format!("SELECT {RUN} FROM runs WHERE number = ?1");
    let sum = connection.prepare_cached(&query)?.query_row([number], |row| of_row(row, 0..RUN_COLUMNS))?;
    connection.prepare_cached("UPDATE runs SET sum = ?2 WHERE number = ?1")?.execute(params![number, sum])?;
    Ok(())
}

/// Writes the sums of all rows that were written without one.
pub(super) fn seal_all(connection: &Connection) -> Result<(), StoreError> {
    for number in numbers(connection)? {
        seal_run(connection, number)?;
        for (table, columns) in WRITTEN_ONCE {
            seal_rows(connection, table, columns, number)?;
        }
    }
    Ok(())
}

/// Run by run, because all rows together may be more than fits into memory.
fn seal_rows(connection: &Connection, table: &str, columns: &str, number: i64) -> Result<(), StoreError> {
    let key = key(columns);
    let mut query = connection.prepare_cached(&format!("SELECT {columns} FROM {table} WHERE number = ?1"))?;
    let rows = query.query_map([number], |row| Ok((row.get(1)?, of_row(row, 0..5)?)))?;
    let rows = rows.collect::<Result<Vec<(rusqlite::types::Value, i64)>, _>>()?;
    let update = format!("UPDATE {table} SET sum = ?3 WHERE number = ?1 AND {key} = ?2");
    let mut update = connection.prepare_cached(&update)?;
    for (place, sum) in rows {
        update.execute(params![number, place, sum])?;
    }
    Ok(())
}

/// The rows whose sums do not fit, each as a table and what tells the row: of all tables but that of runs.
pub(super) fn unfit_rows(connection: &Connection) -> Result<Vec<(&'static str, String)>, StoreError> {
    let mut found = Vec::new();
    for (table, columns) in WRITTEN_ONCE {
        let key = key(columns);
        let mut query = connection.prepare(&format!("SELECT {columns}, sum FROM {table} ORDER BY number, {key}"))?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            if of_row(row, 0..5)? != row.get::<_, i64>(5)? {
                let [number, place] = [row.get_ref(0)?, row.get_ref(1)?].map(plain);
                found.push((table, format!("number {number}, {key} {place}")));
            }
        }
    }
    Ok(found)
}

/// A value for people.
pub(super) fn plain(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "nothing".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => crate::names::quoted(&String::from_utf8_lossy(bytes)),
    }
}

/// What tells the rows of a run from each other.
fn key(columns: &str) -> &str {
    columns.split(", ").nth(1).unwrap_or_default()
}

fn numbers(connection: &Connection) -> Result<Vec<i64>, StoreError> {
    let mut query = connection.prepare("SELECT number FROM runs")?;
    Ok(query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}
