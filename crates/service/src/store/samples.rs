//! The samples of runs that are kept. They have numbers like [events](super::events), but may be left out.

use prost::Message as _;
use rusqlite::{Connection, params};
use tailback_api::v1::WatchRunResponse;

use super::{StoreError, Writing};

/// Writes samples of a run down.
pub(crate) fn insert(writing: &Writing<'_>, number: i64, samples: &[WatchRunResponse]) -> Result<(), StoreError> {
    let insert = "INSERT OR REPLACE INTO samples (number, sequence, body) VALUES (?1, ?2, ?3)";
    let mut insert = writing.connection.prepare_cached(insert)?;
    for sample in samples {
        insert.execute(params![number, sample.sequence, sample.encode_to_vec()])?;
    }
    Ok(())
}

/// Forgets all samples of a run.
pub(crate) fn delete(writing: &Writing<'_>, number: i64) -> Result<(), StoreError> {
    writing.connection.prepare_cached("DELETE FROM samples WHERE number = ?1")?.execute([number])?;
    Ok(())
}

/// All samples of a run that are kept, in their order.
pub(crate) fn list(connection: &Connection, number: i64) -> Result<Vec<WatchRunResponse>, StoreError> {
    let mut query = connection.prepare_cached("SELECT body FROM samples WHERE number = ?1 ORDER BY sequence")?;
    let bodies = query.query_map([number], |row| row.get::<_, Vec<u8>>(0))?;
    bodies.map(|body| super::events::decode(&body?)).collect()
}

/// The number of the last one that is kept; 0 if there is none.
pub(crate) fn last(connection: &Connection, number: i64) -> Result<i64, StoreError> {
    let query = "SELECT ifnull(max(sequence), 0) FROM samples WHERE number = ?1";
    Ok(connection.prepare_cached(query)?.query_row([number], |row| row.get(0))?)
}
