//! What has happened to runs: changes of state, and what must not be lost like them.

use rusqlite::types::Type;
use rusqlite::{Connection, Row, params};

use super::runs::{self, Stored};
use super::{StoreError, Writing, from_json, to_json};
use crate::api_error::ApiError;
use crate::domain::{Event, Occurrence, now_ms};

/// Events that are read at once.
pub(crate) const PAGE: usize = 256;

/// Writes an event of a run down, under the next number, and drops the oldest beyond `kept_max`.
pub(crate) fn append(
    writing: &mut Writing<'_>,
    stored: &mut Stored,
    what: &Occurrence,
    kept_max: u32,
) -> Result<(), StoreError> {
    let connection = writing.connection;
    let next =
        "UPDATE runs SET sequence = sequence + 1, last_event = sequence + 1 WHERE number = ?1 RETURNING sequence";
    let sequence: i64 = connection.prepare_cached(next)?.query_row([stored.number], |row| row.get(0))?;
    (stored.sequence, stored.last_event) = (sequence, sequence);
    let (kind, content) = columns(what);
    connection
        .prepare_cached("INSERT INTO events (number, sequence, kind, time_ms, content) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![stored.number, sequence, kind, now_ms(), content])?;
    drop_oldest(connection, stored.number, kept_max)?;
    writing.touch(&stored.run.id);
    Ok(())
}

/// Writes down that a run is in another state, with the run as it is now.
pub(crate) fn append_state(writing: &mut Writing<'_>, stored: &mut Stored, kept_max: u32) -> Result<(), StoreError> {
    runs::update(writing, stored)?;
    let what = Occurrence::StateChanged(Box::new(stored.run.clone()));
    append(writing, stored, &what, kept_max)
}

/// Gives numbers away, for events that are not kept. Those written down later have larger ones.
pub(crate) fn reserve(writing: &Writing<'_>, number: i64, count: i64) -> Result<std::ops::Range<i64>, StoreError> {
    let reserve = "UPDATE runs SET sequence = sequence + ?2 WHERE number = ?1 RETURNING sequence";
    let last: i64 = writing.connection.prepare_cached(reserve)?.query_row([number, count], |row| row.get(0))?;
    Ok(last - count + 1..last + 1)
}

/// The next events after a number, with the samples among them up to another, and whether the run has ended with them.
pub(crate) fn after(
    connection: &Connection,
    id: &str,
    sequence: i64,
    samples_until: i64,
) -> Result<(Vec<Event>, bool), StoreError> {
    let stored = runs::get(connection, id)?;
    if sequence > stored.sequence || (sequence != 0 && sequence < stored.last_dropped) || sequence < 0 {
        let (oldest, latest) = (stored.last_dropped + 1, stored.last_event);
        return Err(ApiError::SequenceGone { run: id.to_owned(), oldest, latest }.into());
    }
    let query = "SELECT sequence, time_ms, kind, content FROM events WHERE number = ?1 AND sequence > ?2
        UNION ALL SELECT sequence, time_ms, 'sample', content FROM samples
        WHERE number = ?1 AND sequence > ?2 AND sequence <= ?3
        ORDER BY sequence LIMIT ?4";
    let mut query = connection.prepare_cached(query)?;
    let parameters = params![stored.number, sequence, samples_until, PAGE as i64];
    let events = query.query_map(parameters, read_row)?.collect::<Result<Vec<_>, _>>()?;
    let is_last = events.last().map_or(sequence, |event| event.sequence) >= stored.last_event;
    Ok((events, is_last && stored.run.state.has_ended()))
}

/// What has happened, as it stands in `kind` and `content`.
pub(super) fn columns(what: &Occurrence) -> (&'static str, String) {
    match what {
        Occurrence::StateChanged(run) => ("state_changed", to_json(run)),
        Occurrence::ChildEnded(child) => ("child_ended", to_json(child)),
        Occurrence::Sample(sample) => ("sample", to_json(sample)),
        Occurrence::Recovered(cycle) => ("recovered", to_json(cycle)),
    }
}

fn read_row(row: &Row<'_>) -> Result<Event, rusqlite::Error> {
    let what = match row.get_ref(2)?.as_str()? {
        "state_changed" => Occurrence::StateChanged(from_json(row, 3)?),
        "child_ended" => Occurrence::ChildEnded(from_json(row, 3)?),
        "sample" => Occurrence::Sample(from_json(row, 3)?),
        "recovered" => Occurrence::Recovered(from_json(row, 3)?),
        unknown => {
            let problem = format!("there is no event of kind `{unknown}`");
            return Err(rusqlite::Error::FromSqlConversionFailure(2, Type::Text, problem.into()));
        }
    };
    Ok(Event { sequence: row.get(0)?, time_ms: row.get(1)?, what })
}

fn drop_oldest(connection: &Connection, number: i64, kept_max: u32) -> Result<(), StoreError> {
    let beyond = "SELECT sequence FROM events WHERE number = ?1 ORDER BY sequence DESC LIMIT 1 OFFSET ?2";
    let beyond: Option<i64> =
        connection.prepare_cached(beyond)?.query_row(params![number, kept_max.max(1)], |row| row.get(0)).ok();
    if let Some(sequence) = beyond {
        connection
            .prepare_cached("DELETE FROM events WHERE number = ?1 AND sequence <= ?2")?
            .execute(params![number, sequence])?;
        connection
            .prepare_cached("UPDATE runs SET last_dropped = ?2 WHERE number = ?1")?
            .execute(params![number, sequence])?;
    }
    Ok(())
}
