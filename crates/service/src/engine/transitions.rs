//! How runs go from state to state: each change in one transaction, with the event that tells of it.
//!
//! **The invariant it keeps:** a run in a last state stays in it, and a sweep ends only after all its runs.

use super::Shared;
use super::queue::Task;
use crate::domain::{Artifact, AttemptFailed, ChildEnded, Occurrence, RunFailure, SAID_BYTES_MAX, State, Summary};
use crate::store::runs::{self, Stored};
use crate::store::{StoreError, Writing, artifacts, events};
use crate::tame::cut;

/// How a run is to end.
pub(super) struct End {
    pub state: State,
    pub failure: Option<RunFailure>,
    pub note: String,
    pub beyond_end: bool,
    pub summary: Option<Summary>,
    pub packet_hops: u64,
    pub result_digest: String,
    pub artifacts: Vec<Artifact>,
}

impl End {
    pub(super) fn of(state: State) -> Self {
        let (failure, summary, note, result_digest) = (None, None, String::new(), String::new());
        let artifacts = Vec::new();
        Self { state, failure, note, beyond_end: false, summary, packet_hops: 0, result_digest, artifacts }
    }
}

/// What else has to be done when a run has ended.
#[derive(Debug, Default)]
pub(super) struct Consequences {
    /// The sweep whose last run it was.
    pub finish: Option<Stored>,
}

/// A thread has taken a run, and goes on from a cycle. Tells whether the run is still to be carried out.
pub(super) fn begin(shared: &Shared, task: &Task, from_cycle: u64) -> Result<bool, StoreError> {
    let (id, kept) = (task.run.clone(), shared.limits.events_kept_max);
    shared.store.write_blocking(move |writing| {
        let mut stored = runs::get(writing.connection, &id)?;
        match stored.run.state {
            State::Pending => {
                begin_first(writing, &mut stored, kept)?;
                Ok(true)
            }
            State::Running => {
                stored.run.restarts += 1;
                runs::update(writing, &stored)?;
                events::append(writing, &mut stored, &Occurrence::Recovered(from_cycle), kept)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    })
}

/// An attempt has failed. Gives the state that the run is in, and how many attempts have failed.
pub(super) fn attempt_failed(shared: &Shared, task: &Task, failure: &RunFailure) -> Result<(State, u32), StoreError> {
    let (id, kept, failure) = (task.run.clone(), shared.limits.events_kept_max, failure.clone().bounded());
    shared.store.write_blocking(move |writing| {
        let mut stored = runs::get(writing.connection, &id)?;
        if stored.run.state == State::Pending {
            // It was lost before it could say that it began.
            begin_first(writing, &mut stored, kept)?;
        }
        stored.run.failed_attempts += 1;
        runs::update(writing, &stored)?;
        let attempt = stored.run.failed_attempts;
        let failed = AttemptFailed { attempt, failure };
        events::append(writing, &mut stored, &Occurrence::AttemptFailed(failed), kept)?;
        Ok((stored.run.state, attempt))
    })
}

/// A run waits no longer.
fn begin_first(writing: &mut Writing<'_>, stored: &mut Stored, kept: u32) -> Result<(), StoreError> {
    runs::set_state(stored, State::Running);
    stored.run.waited().into_iter().for_each(|time| writing.waited(time));
    events::append_state(writing, stored, kept)?;
    begin_sweep(writing, stored, kept)
}

/// A sweep runs when the first of its runs does.
fn begin_sweep(writing: &mut Writing<'_>, child: &Stored, kept: u32) -> Result<(), StoreError> {
    let Some(mut sweep) = runs::find(writing.connection, &child.run.parent_id)? else { return Ok(()) };
    if sweep.run.state == State::Pending {
        runs::set_state(&mut sweep, State::Running);
        events::append_state(writing, &mut sweep, kept)?;
    }
    Ok(())
}

/// A run has ended. One that has ended before stays as it is.
pub(super) fn end(writing: &mut Writing<'_>, id: &str, end: End, kept: u32) -> Result<Consequences, StoreError> {
    let mut stored = runs::get(writing.connection, id)?;
    let mut end = end;
    if let Some(damage) = stored.damage.take() {
        // Whatever it found belongs to a row that is not known any more.
        runs::set_row_aside(writing, &stored)?;
        let failure = stored.run.failure.clone();
        end = End { failure, note: damage, ..End::of(State::Failed) };
    } else if stored.run.state.has_ended() {
        return Ok(Consequences::default());
    }
    let run = &mut stored.run;
    (run.failure, run.note) = (end.failure.map(RunFailure::bounded), cut(&end.note, SAID_BYTES_MAX));
    (run.summary, run.result_digest) = (end.summary, end.result_digest);
    run.beyond_end = end.beyond_end;
    if end.state == State::Succeeded {
        (run.progress.cycle, run.progress.packet_hops) = (run.progress.cycles, end.packet_hops);
    }
    runs::set_state(&mut stored, end.state);
    writing.ended(end.state);
    artifacts::insert(writing, stored.number, &end.artifacts)?;
    events::append_state(writing, &mut stored, kept)?;
    tell_sweep(writing, &stored, kept)
}

/// A sweep has one run less to wait for.
fn tell_sweep(writing: &mut Writing<'_>, child: &Stored, kept: u32) -> Result<Consequences, StoreError> {
    let Some(mut sweep) = runs::find(writing.connection, &child.run.parent_id)? else {
        return Ok(Consequences::default());
    };
    // Its row is damaged: then it has failed, and waits for none.
    if sweep.run.state.has_ended() {
        return Ok(Consequences::default());
    }
    let state = child.run.state;
    let progress = &mut sweep.run.progress;
    progress.children_ended += 1;
    progress.children_failed += u32::from(state == State::Failed);
    let progress = *progress;
    runs::update(writing, &sweep)?;
    let (run_id, child_number) = (child.run.id.clone(), child.run.child_number);
    let ended = Occurrence::ChildEnded(ChildEnded { run_id, child_number, state, progress });
    events::append(writing, &mut sweep, &ended, kept)?;
    let is_last = progress.children_ended == progress.children;
    Ok(Consequences { finish: is_last.then_some(sweep) })
}

/// A run whose thread is to be told to stop, if it has one: its number and its name.
pub(super) type Told = (i64, String);

/// Ends those that were asked to stop, and that no thread has. Gives the run that was cancelled as it is then.
pub(super) fn end_cancelled(
    writing: &mut Writing<'_>,
    id: &str,
    idle: &[String],
    kept: u32,
) -> Result<(Stored, Consequences), StoreError> {
    let mut consequences = Consequences::default();
    for idle in idle {
        let more = end(writing, idle, End::of(State::Cancelled), kept)?;
        consequences.finish = more.finish.or(consequences.finish);
    }
    Ok((runs::get(writing.connection, id)?, consequences))
}

/// Somebody wants a run to stop. Gives the run as it is then, those whose threads are to be told, and what else has to be
/// done.
pub(super) fn cancel(
    writing: &mut Writing<'_>,
    id: &str,
    kept: u32,
) -> Result<(Stored, Vec<Told>, Consequences), StoreError> {
    let stored = runs::get(writing.connection, id)?;
    let children = runs::children(writing.connection, id)?;
    let (mut told, mut consequences) = (Vec::new(), Consequences::default());
    if !children.is_empty() && !stored.run.state.has_ended() {
        // First the sweep, so that whoever watches it knows why its runs end.
        let mut sweep = stored;
        runs::set_state(&mut sweep, State::Cancelling);
        events::append_state(writing, &mut sweep, kept)?;
        for child in children {
            let more = cancel_one(writing, child, kept, &mut told)?;
            consequences.finish = more.finish.or(consequences.finish);
        }
    } else {
        consequences = cancel_one(writing, stored, kept, &mut told)?;
    }
    Ok((runs::get(writing.connection, id)?, told, consequences))
}

fn cancel_one(
    writing: &mut Writing<'_>,
    mut stored: Stored,
    kept: u32,
    told: &mut Vec<Told>,
) -> Result<Consequences, StoreError> {
    match stored.run.state {
        State::Pending => {
            told.push((stored.number, stored.run.id.clone()));
            end(writing, &stored.run.id, End::of(State::Cancelled), kept)
        }
        State::Running => {
            told.push((stored.number, stored.run.id.clone()));
            runs::set_state(&mut stored, State::Cancelling);
            events::append_state(writing, &mut stored, kept)?;
            Ok(Consequences::default())
        }
        State::Cancelling => {
            told.push((stored.number, stored.run.id.clone()));
            Ok(Consequences::default())
        }
        _ => Ok(Consequences::default()),
    }
}
