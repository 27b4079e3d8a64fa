//! How runs go from state to state: each change in one transaction, with the event that tells of it.
//!
//! Runs are known by their numbers here, which are never used twice: the name of one that was deleted may be that of another.
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
    pub summary: Option<Summary>,
    pub packet_hops: u64,
    pub result_digest: String,
    pub artifacts: Vec<Artifact>,
}

impl End {
    pub(super) fn of(state: State) -> Self {
        let (failure, summary, note, result_digest) = (None, None, String::new(), String::new());
        let artifacts = Vec::new();
        Self { state, failure, note, summary, packet_hops: 0, result_digest, artifacts }
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
    let (number, kept) = (task.number, shared.limits.events_kept_max);
    shared.store.write_blocking(move |writing| {
        let mut stored = runs::get_number(writing.connection, number)?;
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
    let (number, kept, failure) = (task.number, shared.limits.events_kept_max, failure.clone().bounded());
    shared.store.write_blocking(move |writing| {
        let mut stored = runs::get_number(writing.connection, number)?;
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

/// A run has ended. One that has ended before stays as it is, and of one that was deleted nothing is left to be changed.
pub(super) fn end(writing: &mut Writing<'_>, number: i64, end: End, kept: u32) -> Result<Consequences, StoreError> {
    let Some(mut stored) = runs::find_number(writing.connection, number)? else { return Ok(Consequences::default()) };
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
    run.beyond_end &= end.state == State::Cancelled;
    // Of one that its sweep does not need the note says so already.
    if !run.beyond_end {
        run.note = cut(&end.note, SAID_BYTES_MAX);
    }
    run.failure = end.failure.map(RunFailure::bounded);
    (run.summary, run.result_digest) = (end.summary, end.result_digest);
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
