//! The samples of runs that are kept. They have numbers like [events](super::events), but may be left out.

use rusqlite::{Connection, params};

use super::{StoreError, Writing, from_json, to_json};
use crate::domain::TakenSample;

/// Writes samples of a run down.
pub(crate) fn insert(writing: &Writing<'_>, number: i64, samples: &[TakenSample]) -> Result<(), StoreError> {
    let insert = "INSERT OR REPLACE INTO samples (number, sequence, time_ms, content) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = writing.connection.prepare_cached(insert)?;
    for TakenSample { sequence, time_ms, sample } in samples {
        insert.execute(params![number, sequence, time_ms, to_json(sample)])?;
    }
    Ok(())
}

/// Forgets all samples of a run.
pub(crate) fn delete(writing: &Writing<'_>, number: i64) -> Result<(), StoreError> {
    writing.connection.prepare_cached("DELETE FROM samples WHERE number = ?1")?.execute([number])?;
    Ok(())
}

/// All samples of a run that are kept, in their order.
pub(crate) fn list(connection: &Connection, number: i64) -> Result<Vec<TakenSample>, StoreError> {
    let query = "SELECT sequence, time_ms, content FROM samples WHERE number = ?1 ORDER BY sequence";
    let mut query = connection.prepare_cached(query)?;
    let rows = query.query_map([number], |row| {
        Ok(TakenSample { sequence: row.get(0)?, time_ms: row.get(1)?, sample: from_json(row, 2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The number of the last one that is kept; 0 if there is none.
pub(crate) fn last(connection: &Connection, number: i64) -> Result<i64, StoreError> {
    let query = "SELECT ifnull(max(sequence), 0) FROM samples WHERE number = ?1";
    Ok(connection.prepare_cached(query)?.query_row([number], |row| row.get(0))?)
}
