//! Runs that failed or were cancelled, put back to be simulated again.
//!
//! Of a sweep these are its runs that failed or were cancelled, but for those that its curves do not need. The sweep runs
//! again meanwhile, and its table is made anew when they have ended.
//!
//! **The invariant it keeps:** what is put back has nothing left of what it had found, and is on disk as a run that waits
//! before it waits for a thread. What has succeeded stays as it is.

use rusqlite::Connection;

use super::Engine;
use super::queue::Task;
use crate::api_error::ApiError;
use crate::domain::{Progress, RetryRequest, State};
use crate::store::runs::{self, Stored};
use crate::store::{StoreError, Writing, artifacts, events, files, samples};

/// A run that is simulated again: itself, or those of its runs that are put back.
struct Again {
    run: Stored,
    parts: Vec<Stored>,
}

impl Engine {
    /// Puts a run back; gives it as it is then. One that was put back by the same request before stays as it is.
    pub(crate) async fn retry(&self, request: RetryRequest, caller: String) -> Result<Stored, ApiError> {
        let shared = self.shared.clone();
        let (asked, by) = (request.clone(), caller.clone());
        let found = shared.store.read(move |connection| match repeated(connection, &asked, &by)? {
            Some(stored) => Ok(Err(stored)),
            None => find(connection, &asked.run_id).map(Ok),
        });
        let again = match found.await? {
            Ok(again) => again,
            Err(stored) => return Ok(stored),
        };
        let places = shared.queue.reserve(&again.run.run.owner, again.parts.len() as u64)?;
        let kept = shared.limits.events_kept_max;
        let put_back = move |writing: &mut Writing<'_>| {
            if let Some(stored) = repeated(writing.connection, &request, &caller)? {
                return Ok(Again { run: stored, parts: Vec::new() });
            }
            let again = put_back(writing, &request.run_id, kept)?;
            if !request.request_id.is_empty() {
                let hash = request.fingerprint();
                runs::insert_request(writing, &again.run, &caller, &request.request_id, &hash)?;
            }
            Ok(again)
        };
        let Again { run, parts } = shared.store.write(put_back).await?;
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

/// The run that a request has put back already.
fn repeated(connection: &Connection, request: &RetryRequest, caller: &str) -> Result<Option<Stored>, StoreError> {
    if request.request_id.is_empty() {
        return Ok(None);
    }
    let Some((hash, stored)) = runs::find_request(connection, caller, &request.request_id)? else { return Ok(None) };
    if hash == request.fingerprint() { Ok(Some(stored)) } else { Err(ApiError::RequestIdReused(stored.run.id).into()) }
}

/// What is to be simulated again of a run, which must have ended without results.
fn find(connection: &Connection, id: &str) -> Result<Again, StoreError> {
    let run = runs::get(connection, id)?;
    let (id, state) = (id.to_owned(), run.run.state);
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

fn put_back(writing: &mut Writing<'_>, id: &str, kept: u32) -> Result<Again, StoreError> {
    let Again { mut run, mut parts } = find(writing.connection, id)?;
    if run.run.sweep.is_some() {
        let children = runs::children(writing.connection, id)?;
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
    let run = runs::get(writing.connection, id)?;
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
