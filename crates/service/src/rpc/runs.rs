//! RunService.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tailback_api::v1::run_service_server::RunService;
use tailback_api::v1::{
    CancelRunRequest, CancelRunResponse, CreateRunRequest, CreateRunResponse, DeleteRunRequest, DeleteRunResponse,
    GetRunRequest, GetRunResponse, ListRunsRequest, ListRunsResponse, RetryRunRequest, RetryRunResponse,
    WaitRunRequest, WaitRunResponse, WatchRunRequest, WatchRunResponse,
};
use tailback_scenario::Diagnostics;
use tokio::time::sleep_until;
use tonic::{Request, Response, Status};

use super::stream::{self, Outgoing};
use super::watching;
use crate::access::{Caller, Role, hexadecimal};
use crate::admission::{self, Accepted};
use crate::allowance::Allowance;
use crate::answers::UntilBytes;
use crate::api_error::ApiError;
use crate::checks::Found;
use crate::context::{Context, caller, deadline, stopped, to_the_end};
use crate::domain::{Progress, RetryRequest, Run, RunFilter, RunRequest, Sample, Snapshot, State, TakenSample};
use crate::engine::queue::Task;
use crate::names;
use crate::pool::Stop;
use crate::store::runs::{self, Stored};
use crate::store::{StoreError, Writing, events, list, uploads};
use crate::{deletion, trace_context, wire};

/// RunService.
pub(super) struct Runs(pub Arc<Context>);

#[tonic::async_trait]
impl RunService for Runs {
    type WatchRunStream = Outgoing<WatchRunResponse>;

    async fn create_run(&self, request: Request<CreateRunRequest>) -> Result<Response<CreateRunResponse>, Status> {
        let caller = caller(&request)?;
        caller.must_be(Role::Submit)?;
        let (run, notes) = create(&self.0, caller, request.into_inner().into()).await?;
        Ok(Response::new(CreateRunResponse { run: Some(wire::run(run)), notes: wire::diagnostics(&notes) }))
    }

    async fn get_run(&self, request: Request<GetRunRequest>) -> Result<Response<GetRunResponse>, Status> {
        let caller = caller(&request)?;
        let run = get(&self.0, &caller, &request.into_inner().run_id).await?;
        Ok(Response::new(GetRunResponse { run: Some(wire::run(run)) }))
    }

    async fn list_runs(&self, request: Request<ListRunsRequest>) -> Result<Response<ListRunsResponse>, Status> {
        let caller = caller(&request)?;
        let (filter, page, with_scenario) = wire::list(request.into_inner())?;
        check_filter(&filter)?;
        // What is held while others are read is short.
        list::token_number(&filter, &page.token)?;
        // Less than an answer may have, as runs take more on their way than in the database.
        let bytes_max = u64::from(self.0.limits.answer_bytes_max) / 2;
        let place = UntilBytes::take(&self.0.lists).await?;
        // Reading goes on when the client has gone.
        let held = place.clone();
        let reading = self.0.store.read(move |connection| {
            let _held = held;
            list::page(connection, &filter, &page, with_scenario, bytes_max, |run| caller.may_see(run))
        });
        let (mut found, next_page_token) = reading.await.map_err(ApiError::from)?;
        found.iter_mut().for_each(|snapshot| show_live(&self.0, &mut snapshot.run));
        let runs = found.into_iter().map(wire::run).collect();
        let mut response = Response::new(ListRunsResponse { runs, next_page_token });
        response.extensions_mut().insert(place);
        Ok(response)
    }

    async fn wait_run(&self, request: Request<WaitRunRequest>) -> Result<Response<WaitRunResponse>, Status> {
        let place = self.0.open_stream()?;
        let (caller, gives_up) = (caller(&request)?, deadline(&request));
        let WaitRunRequest { run_id, timeout } = request.into_inner();
        let longest = Duration::from_secs(self.0.limits.wait_s_max);
        let wanted = timeout.and_then(|wanted| Duration::try_from(wanted).ok()).unwrap_or(longest);
        let until = stream::from_now(wanted.min(longest));
        let until = gives_up.map_or(until, |gives_up| gives_up.min(until));
        let channel = self.0.hub.channel(&run_id);
        let mut news = channel.subscribe();
        loop {
            news.mark_unchanged();
            let found = get(&self.0, &caller, &run_id).await?;
            let (has_ended, now) = (found.run.state.has_ended(), Instant::now());
            if !has_ended && gives_up.is_some_and(|gives_up| now >= gives_up) {
                return Err(ApiError::DeadlinePassed { resume_after: None }.into());
            }
            if has_ended || now >= until {
                self.0.guard.must_still_be(&caller)?;
                drop(place);
                return Ok(Response::new(WaitRunResponse { run: Some(wire::run(found)) }));
            }
            tokio::select! {
                _ = news.changed() => {}
                () = sleep_until(until.into()) => {}
                () = stopped(self.0.stopping.clone()) => {
                    return Err(ApiError::ShuttingDown { resume_after: None }.into());
                }
            }
        }
    }

    async fn watch_run(&self, request: Request<WatchRunRequest>) -> Result<Response<Self::WatchRunStream>, Status> {
        let place = self.0.open_stream()?;
        let (caller, gives_up) = (caller(&request)?, deadline(&request));
        let request = request.into_inner();
        names::known_run(&request.run_id)?;
        // So that what is wrong from the start is told before the stream begins.
        let (run, after) = (request.run_id.clone(), request.after_sequence);
        let first = caller.clone();
        let first = self.0.store.read(move |connection| {
            let stored = runs::get_for(connection, &first, &run)?;
            events::after(connection, &stored, after, 0).map(drop)
        });
        first.await.map_err(ApiError::from)?;
        let context = self.0.clone();
        let watcher = caller.clone();
        let watch = |sink| watching::watch(context, watcher, request, sink);
        let stream = stream::open(&self.0, place, caller, gives_up, watch);
        Ok(Response::new(stream))
    }

    async fn cancel_run(&self, request: Request<CancelRunRequest>) -> Result<Response<CancelRunResponse>, Status> {
        let caller = caller(&request)?;
        let run_id = request.into_inner().run_id;
        let Snapshot { scenario, .. } = get(&self.0, &caller, &run_id).await?;
        let (context, may) = (self.0.clone(), may_change(caller.clone()));
        let cancel = async move {
            let cancelled = context.engine.cancel(run_id, may).await?;
            caller.note("cancel", &cancelled.run.id);
            Ok(cancelled)
        };
        let cancelled = to_the_end(cancel).await?;
        Ok(Response::new(CancelRunResponse { run: Some(wire::run(cancelled.snapshot(scenario))) }))
    }

    async fn retry_run(&self, request: Request<RetryRunRequest>) -> Result<Response<RetryRunResponse>, Status> {
        let caller = caller(&request)?;
        let request: RetryRequest = request.into_inner().into();
        names::request(&request.request_id)?;
        let Snapshot { scenario, .. } = get(&self.0, &caller, &request.run_id).await?;
        let (context, may) = (self.0.clone(), may_change(caller.clone()));
        let retry = async move {
            let retried = context.engine.retry(request, caller.name.clone(), may).await?;
            caller.note("retry", &retried.run.id);
            Ok(retried)
        };
        let retried = to_the_end(retry).await?;
        Ok(Response::new(RetryRunResponse { run: Some(wire::run(retried.snapshot(scenario))) }))
    }

    async fn delete_run(&self, request: Request<DeleteRunRequest>) -> Result<Response<DeleteRunResponse>, Status> {
        let caller = caller(&request)?;
        let (context, run_id) = (self.0.clone(), request.into_inner().run_id);
        names::known_run(&run_id)?;
        to_the_end(async move { delete(&context, caller, run_id).await }).await?;
        Ok(Response::new(DeleteRunResponse {}))
    }
}

/// Accepts a run; gives it with the notes on its scenario.
async fn create(
    context: &Arc<Context>,
    caller: Caller,
    request: RunRequest,
) -> Result<(Snapshot, Diagnostics), ApiError> {
    admission::check_request(&request, &caller, &context.limits)?;
    if *context.stopping.borrow() {
        return Err(ApiError::ShuttingDown { resume_after: None });
    }
    let request_id = request.request_id.clone();
    let validate_only = request.validate_only;
    let (limits, run_id, owner) = (context.limits.clone(), fresh_name()?, caller.clone());
    let (mut bytes, mut names_files) = (0, false);
    if let Some(scenario) = &request.scenario {
        (bytes, names_files) = (scenario.bytes(), !scenario.files.is_empty());
        context.must_have_files(&caller, scenario).await?;
    }
    let (request, store) = (Arc::new(request), context.store.clone());
    let admit = move |allowed: &Allowance, stop: &Stop| {
        admission::admit(&request, &owner, &run_id, (&limits, allowed), (store.folder(), stop))
    };
    let Found { result: mut accepted, place } = context.checks.run((bytes, names_files), admit).await?;
    let notes = std::mem::take(&mut accepted.notes);
    if validate_only {
        let runs::New { run, scenario, .. } = accepted.run;
        let id = run.id.clone();
        if context.store.read(move |connection| runs::find(connection, &id)).await?.is_some() {
            return Err(ApiError::RunExists(run.id));
        }
        return Ok((Snapshot { run, last_sequence: 0, scenario: Some(scenario) }, notes));
    }
    accepted.go_on_with(&trace_context::current());
    // From here on it goes to its end, even if the client goes away: what is written down is also simulated.
    let context = context.clone();
    let accept = async move {
        let created = accept(&context, accepted, caller, request_id).await;
        drop(place);
        created
    };
    Ok((to_the_end(accept).await?, notes))
}

/// Writes down a run that was admitted, and lets it wait for its turn.
async fn accept(
    context: &Context,
    accepted: Accepted,
    caller: Caller,
    request_id: String,
) -> Result<Snapshot, ApiError> {
    let kept = context.limits.events_kept_max;
    let places = context.engine.queue().reserve(&caller.name, accepted.waiting());
    let (full, writer) = (places.as_ref().err().cloned(), caller.clone());
    let change = move |writing: &mut Writing<'_>| write_down(writing, accepted, &writer, &request_id, full, kept);
    let (created, waiting) = context.store.write(change).await?;
    context.meters.created(waiting.len().max(1) as u64);
    context.engine.queue().put(waiting);
    drop(places);
    caller.note("submit", &created.run.id);
    Ok(created)
}

/// Writes a run down, unless the request was made before; gives what has to be simulated.
fn write_down(
    writing: &mut Writing<'_>,
    accepted: Accepted,
    caller: &Caller,
    request_id: &str,
    full: Option<ApiError>,
    kept: u32,
) -> Result<(Snapshot, Vec<Task>), StoreError> {
    if !request_id.is_empty()
        && let Some((fingerprint, stored)) = runs::find_request(writing.connection, &caller.name, request_id)?
    {
        // Earlier versions of the program have left none that can be compared with.
        if !fingerprint.is_empty() && fingerprint != accepted.fingerprint {
            return Err(ApiError::RequestIdReused(stored.run.id).into());
        }
        let scenario = runs::scenario(writing.connection, &stored)?;
        return Ok((stored.snapshot(Some(scenario)), Vec::new()));
    }
    // Only now: what was accepted before needs no place.
    if let Some(full) = full {
        return Err(full.into());
    }
    // They may have been deleted since.
    uploads::must_have(writing.connection, &caller.name, &accepted.run.scenario)?;
    let mut tasks = Vec::new();
    let mut insert = |new: &runs::New| -> Result<Stored, StoreError> {
        let mut stored = runs::insert(writing, new)?;
        events::append_state(writing, &mut stored, kept)?;
        if new.run.sweep.is_none() {
            tasks.push(Task::of(&stored));
        }
        Ok(stored)
    };
    let stored = insert(&accepted.run)?;
    for child in &accepted.children {
        insert(child)?;
    }
    if !request_id.is_empty() {
        runs::insert_request(writing, &stored, &caller.name, request_id, &accepted.fingerprint)?;
    }
    Ok((stored.snapshot(Some(accepted.run.scenario)), tasks))
}

/// A run by its name, as it is now, for one who may see it.
async fn get(context: &Context, caller: &Caller, run_id: &str) -> Result<Snapshot, ApiError> {
    names::known_run(run_id)?;
    let (id, caller) = (run_id.to_owned(), caller.clone());
    let reading = context.store.read(move |connection| {
        let mut stored = runs::get_for(connection, &caller, &id)?;
        let scenario = runs::shown_scenario(connection, &mut stored)?;
        Ok(stored.snapshot(scenario))
    });
    let mut found = reading.await?;
    show_live(context, &mut found.run);
    Ok(found)
}

/// How far a run has come is known from its latest sample.
fn show_live(context: &Context, run: &mut Run) {
    if !matches!(run.state, State::Running | State::Cancelling) || run.sweep.is_some() {
        return;
    }
    if let Some(TakenSample { sample, .. }) = context.hub.channel(&run.id).sample() {
        let Sample { cycle, cycles, packet_hops, .. } = sample;
        run.progress = Progress { cycle, cycles, packet_hops, ..Progress::default() };
    }
}

fn check_filter(filter: &RunFilter) -> Result<(), ApiError> {
    names::labels(&filter.labels)?;
    names::digest("scenario_digest", &filter.scenario_digest)?;
    names::digest("result_digest", &filter.result_digest)?;
    if !filter.owner.is_empty() && names::new_run(&filter.owner).is_err() {
        return Err(ApiError::invalid("owner", format!("{} is not a name of an owner", names::quoted(&filter.owner))));
    }
    if !filter.project.is_empty() {
        names::project(&filter.project)?;
    }
    if filter.parent_id.is_empty() { Ok(()) } else { names::known_run(&filter.parent_id) }
}

/// Refuses callers who may not change a run; for those who may not see it, it is not there. It is asked where the run is changed: its name
/// may be that of another by then.
fn may_change(caller: Caller) -> impl Fn(&Run) -> Result<(), ApiError> {
    move |run| {
        caller.must_see(run)?;
        caller.may_change(run)
    }
}

async fn delete(context: &Context, caller: Caller, run_id: String) -> Result<(), ApiError> {
    let may_change = may_change(caller.clone());
    let may = move |stored: &Stored, _: &[Stored]| may_change(&stored.run);
    let numbers = deletion::delete(&context.store, run_id.clone(), may).await?;
    caller.note("delete", &run_id);
    deletion::remove_files(context.store.clone(), numbers).await
}

/// A name for a run that was given none.
fn fresh_name() -> Result<String, ApiError> {
    let mut bytes = [0; 6];
    getrandom::fill(&mut bytes).map_err(|error| ApiError::Internal(format!("there are no random bytes: {error}")))?;
    Ok(format!("run-{}", hexadecimal(&bytes)))
}
