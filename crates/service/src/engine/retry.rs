//! Runs that failed or were cancelled, put back to be simulated again.
//!
//! Of a sweep these are its runs that failed or were cancelled, but for those that its curves do not need. The sweep runs
//! again meanwhile, and its table is made anew when they have ended.
//!
//! **The invariant it keeps:** what is put back has nothing left of what it had found, and is on disk as a run that waits
//! before it waits for a thread. What has succeeded stays as it is. Nothing is put back whose files were deleted.

use std::sync::Arc;

use rusqlite::Connection;

use super::Engine;
use super::queue::Task;
use crate::api_error::ApiError;
use crate::domain::{Progress, RetryRequest, Run, State};
use crate::store::runs::{self, Stored};
use crate::store::{StoreError, Writing, artifacts, events, files, samples, uploads};

/// A run that is simulated again: itself, or those of its runs that are put back.
struct Again {
    run: Stored,
    parts: Vec<Stored>,
}

/// What was asked for, by whom, and what says whether that one may.
struct Asked<M> {
    request: RetryRequest,
    caller: String,
    may: M,
}

impl Engine {
    /// Puts a run back, if `may` does not refuse it; gives it as it is then. One that was put back by the same request before
    /// stays as it is.
    pub(crate) async fn retry(
        &self,
        request: RetryRequest,
        caller: String,
        may: impl Fn(&Run) -> Result<(), ApiError> + Send + Sync + 'static,
    ) -> Result<Stored, ApiError> {
        let shared = self.shared.clone();
        let asked = Arc::new(Asked { request, caller, may });
        let asking = asked.clone();
        let again = match shared.store.read(move |connection| asking.find(connection)).await? {
            Ok(again) => again,
            Err(stored) => return Ok(stored),
        };
        let places = shared.queue.reserve(&again.run.run.owner, again.parts.len() as u64)?;
        let kept = shared.limits.events_kept_max;
        let Again { run, parts } = match shared.store.write(move |writing| asked.put_back(writing, kept)).await? {
            Ok(again) => again,
            // By another call meanwhile, which also does what follows.
            Err(stored) => return Ok(stored),
        };
        // What they had left, if anything: nobody is told of it any more, and a start would remove it.
        let (store, numbers) = (shared.store.clone(), [&run].into_iter().chain(&parts).map(|of| of.number));
        let numbers: Vec<i64> = numbers.collect();
        let removing = move || {
            for number in numbers {
                files::remove_run(store.folder(), number);
            }
        };
        let removed = tokio::task::spawn_blocking(removing).await;
        if parts.is_empty() && run.run.sweep.is_some() {
            shared.queue.put([Task::finish_sweep(&run)]);
        }
        shared.queue.put(parts.iter().map(Task::of));
        drop(places);
        removed.map_err(|error| ApiError::Internal(format!("removing files failed: {error}")))?;
        Ok(run)
    }
}

impl<M: Fn(&Run) -> Result<(), ApiError>> Asked<M> {
    /// What is to be simulated again, or the run that the same request has put back already.
    fn find(&self, connection: &Connection) -> Result<Result<Again, Stored>, StoreError> {
        let run = runs::get(connection, &self.request.run_id)?;
        (self.may)(&run.run)?;
        match self.repeated(connection)? {
            Some(stored) => Ok(Err(stored)),
            None => find(connection, run).map(Ok),
        }
    }

    /// The run that the request has put back already.
    fn repeated(&self, connection: &Connection) -> Result<Option<Stored>, StoreError> {
        let Self { request, caller, .. } = self;
        if request.request_id.is_empty() {
            return Ok(None);
        }
        let Some((hash, stored)) = runs::find_request(connection, caller, &request.request_id)? else {
            return Ok(None);
        };
        if hash == request.fingerprint() {
            Ok(Some(stored))
        } else {
            Err(ApiError::RequestIdReused(stored.run.id).into())
        }
    }

    fn put_back(&self, writing: &mut Writing<'_>, kept: u32) -> Result<Result<Again, Stored>, StoreError> {
        let found = match self.find(writing.connection)? {
            Ok(again) => again,
            repeated => return Ok(repeated),
        };
        // They may have been deleted since it ended. Its owner's count, whoever asks.
        let scenario = runs::scenario(writing.connection, &found.run)?;
        uploads::must_have(writing.connection, &found.run.run.owner, &scenario)?;
        let again = put_back(writing, found, kept)?;
        let Self { request, caller, .. } = self;
        if !request.request_id.is_empty() {
            runs::insert_request(writing, &again.run, caller, &request.request_id, &request.fingerprint())?;
        }
        Ok(Ok(again))
    }
}

/// What is to be simulated again of a run, which must have ended without results.
fn find(connection: &Connection, run: Stored) -> Result<Again, StoreError> {
    let (id, state) = (run.run.id.clone(), run.run.state);
    if !run.run.parent_id.is_empty() {
        return Err(ApiError::PartOfSweep { run: id, parent: run.run.parent_id }.into());
    }
    if !state.has_ended() {
        return Err(ApiError::RunNotEnded { run: id, state }.into());
    }
    if state == State::Succeeded {
        return Err(ApiError::NothingToRetry(id).into());
    }
    if !is_whole(&run) {
        let problem = "it is not known any more what is to be simulated".to_owned();
        return Err(ApiError::DataLoss { run: id, part: "the row".to_owned(), problem }.into());
    }
    let parts = if run.run.sweep.is_some() {
        runs::children(connection, &id)?.into_iter().filter(is_needed).collect()
    } else {
        vec![run.clone()]
    };
    Ok(Again { run, parts })
}

/// Whether a run of a sweep is to be simulated again. One whose row was damaged has failed for good.
fn is_needed(child: &Stored) -> bool {
    let is_lost = match child.run.state {
        State::Failed => true,
        State::Cancelled => !child.run.beyond_end,
        _ => false,
    };
    is_lost && is_whole(child)
}

/// Whether all of a run is known: one whose row was damaged has failed, without a time of creation.
fn is_whole(stored: &Stored) -> bool {
    stored.damage.is_none() && stored.run.created_ms.is_some()
}

fn put_back(writing: &mut Writing<'_>, Again { mut run, mut parts }: Again, kept: u32) -> Result<Again, StoreError> {
    if run.run.sweep.is_some() {
        let children = runs::children(writing.connection, &run.run.id)?;
        let failed = |of: &[Stored]| of.iter().filter(|child| child.run.state == State::Failed).count() as u32;
        let progress = Progress {
            children_ended: (children.len() - parts.len()) as u32,
            children_failed: failed(&children) - failed(&parts),
            ..run.run.progress
        };
        run.run.progress = progress;
        // First the sweep, so that whoever watches it knows that it goes on.
        start_over(writing, &mut run, State::Running, kept)?;
    }
    for part in &mut parts {
        part.run.started_ms = None;
        start_over(writing, part, State::Pending, kept)?;
    }
    let run = runs::get_number(writing.connection, run.number)?;
    Ok(Again { run, parts })
}

/// Forgets what a run has found, and puts it into a state that is not its last.
fn start_over(writing: &mut Writing<'_>, stored: &mut Stored, state: State, kept: u32) -> Result<(), StoreError> {
    artifacts::delete(writing, stored.number)?;
    samples::delete(writing, stored.number)?;
    let run = &mut stored.run;
    (run.progress.cycle, run.progress.packet_hops) = (0, 0);
    (run.restarts, run.failed_attempts) = (0, 0);
    (run.failure, run.summary, run.ended_ms) = (None, None, None);
    run.note.clear();
    run.result_digest.clear();
    runs::set_state(stored, state);
    events::append_state(writing, stored, kept)
}
