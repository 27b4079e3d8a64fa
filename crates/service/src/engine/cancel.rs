//! Runs that are to stop: because somebody asks for it, or because a sweep does not need them.
//!
//! First it is written down that they are to stop. Then the queue tells who has them: one that waits is taken out of the queue
//! and ended here; one that a thread has is ended by that thread, which is told. One that is only about to wait ends when its
//! turn comes, or when somebody asks again.
//!
//! **The invariant it keeps:** a run that has not ended waits in the queue, or one has it: a thread, or whoever has taken it out
//! of the queue or is about to put it there. Only that one ends it. So no thread works for a run that has ended, which may be
//! retried, or be deleted and its name be given to another.

use super::transitions::{self, Consequences, End};
use super::{Engine, Shared, follow_up};
use crate::api_error::ApiError;
use crate::domain::{Run, State};
use crate::store::runs::{self, Stored};
use crate::store::{StoreError, Writing, events};

impl Engine {
    /// Asks a run to stop, if `may` does not refuse it; gives it as it is then.
    pub(crate) async fn cancel(
        &self,
        id: String,
        may: impl FnOnce(&Run) -> Result<(), ApiError> + Send + 'static,
    ) -> Result<Stored, ApiError> {
        let (shared, kept) = (self.shared.clone(), self.shared.limits.events_kept_max);
        let asking = move |writing: &mut Writing<'_>| {
            let stored = runs::get(writing.connection, &id)?;
            may(&stored.run)?;
            ask_all(writing, stored, kept)
        };
        let (stored, asked) = shared.store.write(asking).await?;
        let ending = tokio::task::spawn_blocking(move || {
            let ended = end_waiting(&shared, &asked)?;
            if !ended.contains(&stored.number) {
                return Ok(stored);
            }
            shared.store.read_blocking(|connection| runs::get_number(connection, stored.number))
        });
        Ok(ending.await.map_err(|error| ApiError::Internal(format!("cancelling failed: {error}")))??)
    }
}

/// A run is to stop; of a sweep, all its runs. Gives it as it is then, and the numbers of the runs that are still to end.
fn ask_all(writing: &mut Writing<'_>, mut stored: Stored, kept: u32) -> Result<(Stored, Vec<i64>), StoreError> {
    if stored.run.state.has_ended() {
        return Ok((stored, Vec::new()));
    }
    let mut children = runs::children(writing.connection, &stored.run.id)?;
    children.retain(|child| !child.run.state.has_ended());
    // First the sweep, so that whoever watches it knows why its runs end.
    ask(writing, &mut stored, kept)?;
    children.iter_mut().try_for_each(|child| ask(writing, child, kept))?;
    let asked =
        if stored.run.sweep.is_none() { vec![stored.number] } else { children.iter().map(|of| of.number).collect() };
    Ok((stored, asked))
}

/// A run that has not ended is to stop.
pub(super) fn ask(writing: &mut Writing<'_>, stored: &mut Stored, kept: u32) -> Result<(), StoreError> {
    if stored.run.state == State::Cancelling {
        return Ok(());
    }
    runs::set_state(stored, State::Cancelling);
    events::append_state(writing, stored, kept)
}

/// Tells the threads of runs that were asked to stop, and ends those that wait; gives the numbers of these.
pub(super) fn end_waiting(shared: &Shared, asked: &[i64]) -> Result<Vec<i64>, StoreError> {
    let waiting = shared.queue.cancel(asked);
    let numbers: Vec<i64> = waiting.iter().map(|task| task.number).collect();
    if numbers.is_empty() {
        return Ok(numbers);
    }
    let (ending, kept) = (numbers.clone(), shared.limits.events_kept_max);
    let end = move |writing: &mut Writing<'_>| {
        let mut consequences = Consequences::default();
        for number in ending {
            let more = transitions::end(writing, number, End::of(State::Cancelled), kept)?;
            consequences.finish = more.finish.or(consequences.finish);
        }
        Ok(consequences)
    };
    match shared.store.write_blocking(end) {
        Ok(consequences) => follow_up(shared, &consequences),
        Err(error) => {
            // They end when their turn comes.
            shared.queue.put(waiting);
            return Err(error);
        }
    }
    Ok(numbers)
}
