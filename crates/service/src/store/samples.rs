//! The samples of runs that are kept. They have numbers like [events](super::events), but may be left out.

use rusqlite::{Connection, params};

use super::{StoreError, Writing, events, to_json};
use crate::domain::{Event, Occurrence, TakenSample};

/// Writes samples of a run down.
pub(crate) fn insert(writing: &Writing<'_>, number: i64, samples: &[TakenSample]) -> Result<(), StoreError> {
    let insert = "INSERT OR REPLACE INTO samples (number, sequence, time_ms, content, sum) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = writing.connection.prepare_cached(insert)?;
    for &TakenSample { sequence, time_ms, sample } in samples {
        let content = to_json(&sample);
        let sum = events::sum(number, sequence, "sample", time_ms, &content);
        insert.execute(params![number, sequence, time_ms, content, sum])?;
    }
    Ok(())
}

/// Forgets all samples of a run.
pub(crate) fn delete(writing: &Writing<'_>, number: i64) -> Result<(), StoreError> {
    writing.connection.prepare_cached("DELETE FROM samples WHERE number = ?1")?.execute([number])?;
    Ok(())
}

/// All samples of a run that are kept, in their order. One that is damaged is left out: no result depends on it.
pub(crate) fn list(connection: &Connection, number: i64) -> Result<Vec<TakenSample>, StoreError> {
    let query =
        "SELECT number, sequence, 'sample', time_ms, content, sum FROM samples WHERE number = ?1 ORDER BY sequence";
    let mut query = connection.prepare_cached(query)?;
    let mut rows = query.query([number])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        match events::read_row(row) {
            Ok(Event { sequence, time_ms, what: Occurrence::Sample(sample) }) => {
                found.push(TakenSample { sequence, time_ms, sample });
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(number, %error, "a sample is damaged, and left out"),
        }
    }
    Ok(found)
}

/// The number of the last one that is kept; 0 if there is none.
pub(crate) fn last(connection: &Connection, number: i64) -> Result<i64, StoreError> {
    let query = "SELECT ifnull(max(sequence), 0) FROM samples WHERE number = ?1";
    Ok(connection.prepare_cached(query)?.query_row([number], |row| row.get(0))?)
}
