//! What has ended, and the room that it takes.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::runs::{self, Stored};
use super::{StoreError, artifacts};
use crate::api_error::ApiError;

/// A run of its own, or a sweep with all its runs, that has ended and is not damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub number: i64,
    pub id: String,
    pub ended_ms: i64,
    /// Bytes of its artifacts.
    pub bytes: u64,
}

/// What is found of one.
#[derive(Default)]
struct Parts {
    /// The number of the run, or of the sweep, and when it ended.
    whole: Option<(i64, i64)>,
    bytes: u64,
    is_damaged: bool,
}

/// All that have ended. Of what is damaged nobody knows when it ended or what it takes: it is left out.
pub(crate) fn all(connection: &Connection) -> Result<Vec<Ended>, StoreError> {
    let states = "('succeeded', 'failed', 'cancelled')";
    let mut query =
        connection.prepare_cached(&format!("SELECT {} FROM runs WHERE state IN {states}", runs::columns()))?;
    let mut rows = query.query([])?;
    let mut found = BTreeMap::<String, Parts>::new();
    while let Some(row) = rows.next()? {
        let stored = runs::read_row(row)?;
        let bytes = bytes(connection, &stored)?;
        let is_whole = stored.run.parent_id.is_empty();
        let parts = found.entry(if is_whole { stored.run.id } else { stored.run.parent_id }).or_default();
        parts.is_damaged |= stored.damage.is_some() || bytes.is_none();
        parts.bytes = parts.bytes.saturating_add(bytes.unwrap_or(0));
        if let (true, Some(ended_ms)) = (is_whole, stored.run.ended_ms) {
            parts.whole = Some((stored.number, ended_ms));
        }
    }
    let ended = |(id, parts): (String, Parts)| {
        let (number, ended_ms) = parts.whole.filter(|_| !parts.is_damaged)?;
        Some(Ended { number, id, ended_ms, bytes: parts.bytes })
    };
    Ok(found.into_iter().filter_map(ended).collect())
}

/// Bytes of a run's artifacts; none if a row of them is damaged.
fn bytes(connection: &Connection, stored: &Stored) -> Result<Option<u64>, StoreError> {
    match artifacts::list(connection, stored) {
        Ok(artifacts) => Ok(Some(artifacts.iter().fold(0, |bytes, artifact| artifact.size.saturating_add(bytes)))),
        Err(StoreError::Refused(refused)) if matches!(refused.0, ApiError::DataLoss { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
