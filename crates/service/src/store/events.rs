//! What has happened to runs: changes of state, and what must not be lost like them.

use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::runs::{self, Stored};
use super::{StoreError, Writing, from_json, sums, to_json};
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
    let ((kind, content), time_ms) = (columns(what), now_ms());
    let sum = sum(stored.number, sequence, kind, time_ms, &content);
    let insert = "INSERT INTO events (number, sequence, kind, time_ms, content, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let parameters = params![stored.number, sequence, kind, time_ms, content, sum];
    connection.prepare_cached(insert)?.execute(parameters)?;
    drop_oldest(connection, stored.number, kept_max)?;
    sums::seal_run(connection, stored.number)?;
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
    // Its sum is written anew: not over a row that is damaged.
    if let Some(Stored { run, damage: Some(problem), .. }) = runs::find_number(writing.connection, number)? {
        return Err(ApiError::DataLoss { run: run.id, part: "the row".to_owned(), problem }.into());
    }
    let reserve = "UPDATE runs SET sequence = sequence + ?2 WHERE number = ?1 RETURNING sequence";
    let last: i64 = writing.connection.prepare_cached(reserve)?.query_row([number, count], |row| row.get(0))?;
    sums::seal_run(writing.connection, number)?;
    Ok(last - count + 1..last + 1)
}

/// The next events after a number, with the samples among them up to another, and whether the run has ended with them.
pub(crate) fn after(
    connection: &Connection,
    stored: &Stored,
    sequence: i64,
    samples_until: i64,
) -> Result<(Vec<Event>, bool), StoreError> {
    let id = &stored.run.id;
    if sequence > stored.sequence || (sequence != 0 && sequence < stored.last_dropped) || sequence < 0 {
        let (oldest, latest) = (stored.last_dropped + 1, stored.last_event);
        return Err(ApiError::SequenceGone { run: id.clone(), oldest, latest }.into());
    }
    let query = "SELECT number, sequence, kind, time_ms, content, sum FROM events WHERE number = ?1 AND sequence > ?2
        UNION ALL SELECT number, sequence, 'sample', time_ms, content, sum FROM samples
        WHERE number = ?1 AND sequence > ?2 AND sequence <= ?3
        ORDER BY sequence LIMIT ?4";
    let mut query = connection.prepare_cached(query)?;
    let parameters = params![stored.number, sequence, samples_until, PAGE as i64];
    let mut rows = query.query(parameters)?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(read_row(row).map_err(|error| damaged(id, &error))?);
    }
    // After the last state nothing more is written.
    let is_last = events.len() < PAGE;
    Ok((events, is_last && stored.run.state.has_ended()))
}

fn damaged(run: &str, error: &rusqlite::Error) -> StoreError {
    let (run, part, problem) = (run.to_owned(), "an event".to_owned(), error.to_string());
    ApiError::DataLoss { run, part, problem }.into()
}

/// The sum over a row, of events or of samples.
pub(super) fn sum(number: i64, sequence: i64, kind: &str, time_ms: i64, content: &str) -> i64 {
    let [number, sequence, time_ms] = [number, sequence, time_ms].map(ValueRef::Integer);
    sums::of([number, sequence, kind.into(), time_ms, content.into()])
}

/// What has happened, as it stands in `kind` and `content`.
pub(super) fn columns(what: &Occurrence) -> (&'static str, String) {
    match what {
        Occurrence::StateChanged(run) => ("state_changed", to_json(run)),
        Occurrence::ChildEnded(child) => ("child_ended", to_json(child)),
        Occurrence::Sample(sample) => ("sample", to_json(sample)),
        Occurrence::Recovered(cycle) => ("recovered", to_json(cycle)),
        Occurrence::AttemptFailed(failed) => ("attempt_failed", to_json(failed)),
    }
}

/// Reads a row of what the [sum] is over, and the sum.
pub(super) fn read_row(row: &Row<'_>) -> Result<Event, rusqlite::Error> {
    let not_as_written =
        |column, problem: String| Err(rusqlite::Error::FromSqlConversionFailure(column, Type::Text, problem.into()));
    if sums::of_row(row, 0..5)? != row.get::<_, i64>(5)? {
        return not_as_written(4, "the sum of the row does not fit".to_owned());
    }
    let what = match row.get_ref(2)?.as_str()? {
        "state_changed" => Occurrence::StateChanged(from_json(row, "content")?),
        "child_ended" => Occurrence::ChildEnded(from_json(row, "content")?),
        "sample" => Occurrence::Sample(from_json(row, "content")?),
        "recovered" => Occurrence::Recovered(from_json(row, "content")?),
        "attempt_failed" => Occurrence::AttemptFailed(from_json(row, "content")?),
        unknown => return not_as_written(2, format!("there is no event of kind `{unknown}`")),
    };
    Ok(Event { sequence: row.get(1)?, time_ms: row.get(3)?, what })
}

fn drop_oldest(connection: &Connection, number: i64, kept_max: u32) -> Result<(), StoreError> {
    let beyond = "SELECT sequence FROM events WHERE number = ?1 ORDER BY sequence DESC LIMIT 1 OFFSET ?2";
    let kept_max = params![number, kept_max.max(1)];
    let beyond: Option<i64> = connection.prepare_cached(beyond)?.query_row(kept_max, |row| row.get(0)).optional()?;
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
