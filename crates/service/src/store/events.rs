//! What has happened to runs: changes of state, and what must not be lost like them.

use prost::Message as _;
use rusqlite::{Connection, params};
use tailback_api::v1::WatchRunResponse;
use tailback_api::v1::watch_run_response::Event;

use super::runs::{self, Stored};
use super::{StoreError, Writing, now_ms, timestamp};
use crate::refusal::Refusal;

/// Events that are read at once.
pub(crate) const PAGE: usize = 256;

/// Writes an event of a run down, under the next number, and drops the oldest beyond `kept_max`.
pub(crate) fn append(
    writing: &mut Writing<'_>,
    stored: &mut Stored,
    event: Event,
    kept_max: u32,
) -> Result<(), StoreError> {
    let connection = writing.connection;
    let next =
        "UPDATE runs SET sequence = sequence + 1, last_event = sequence + 1 WHERE number = ?1 RETURNING sequence";
    let sequence: i64 = connection.prepare_cached(next)?.query_row([stored.number], |row| row.get(0))?;
    (stored.sequence, stored.run.last_sequence) = (sequence, sequence);
    let kind = kind(&event);
    let event = WatchRunResponse { sequence, time: Some(timestamp(now_ms())), event: Some(event) };
    connection
        .prepare_cached("INSERT INTO events (number, sequence, kind, body) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![stored.number, sequence, kind, event.encode_to_vec()])?;
    drop_oldest(connection, stored.number, kept_max)?;
    writing.touch(&stored.run.id);
    Ok(())
}

/// Writes down that a run is in another state, with the run as it is now.
pub(crate) fn append_state(writing: &mut Writing<'_>, stored: &mut Stored, kept_max: u32) -> Result<(), StoreError> {
    runs::update(writing, stored)?;
    let mut run = stored.run.clone();
    run.scenario = None;
    // What it will be when it is written down.
    run.last_sequence = stored.sequence + 1;
    append(writing, stored, Event::StateChanged(run), kept_max)
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
) -> Result<(Vec<WatchRunResponse>, bool), StoreError> {
    let stored = runs::get(connection, id)?;
    if sequence > stored.sequence || (sequence != 0 && sequence < stored.last_dropped) || sequence < 0 {
        let (oldest, latest) = (stored.last_dropped + 1, stored.run.last_sequence);
        return Err(Refusal::SequenceGone { run: id.to_owned(), oldest, latest }.into());
    }
    let query = "SELECT sequence, body FROM events WHERE number = ?1 AND sequence > ?2
        UNION ALL SELECT sequence, body FROM samples WHERE number = ?1 AND sequence > ?2 AND sequence <= ?3
        ORDER BY sequence LIMIT ?4";
    let mut query = connection.prepare_cached(query)?;
    let parameters = params![stored.number, sequence, samples_until, PAGE as i64];
    let bodies = query.query_map(parameters, |row| row.get::<_, Vec<u8>>(1))?;
    let events = bodies.map(|body| decode(&body?)).collect::<Result<Vec<_>, StoreError>>()?;
    let is_last = events.last().map_or(sequence, |event| event.sequence) >= stored.run.last_sequence;
    Ok((events, is_last && runs::has_ended(stored.run.state())))
}

/// An event as it was written down.
pub(super) fn decode(body: &[u8]) -> Result<WatchRunResponse, StoreError> {
    WatchRunResponse::decode(body).map_err(|error| StoreError::Broken(format!("an event cannot be read: {error}")))
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

fn kind(event: &Event) -> &'static str {
    match event {
        Event::StateChanged(_) => "state_changed",
        Event::ChildEnded(_) => "child_ended",
        Event::Sample(_) => "sample",
        Event::Recovered(_) => "recovered",
        Event::Heartbeat(_) => "heartbeat",
    }
}
