//! RunService.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tailback_api::v1::run_service_server::RunService;
use tailback_api::v1::{
    CancelRunRequest, CancelRunResponse, CreateRunRequest, CreateRunResponse, DeleteRunRequest, DeleteRunResponse,
    GetRunRequest, GetRunResponse, ListRunsRequest, ListRunsResponse, Progress, Run, RunState, WaitRunRequest,
    WaitRunResponse, WatchRunRequest, WatchRunResponse,
};
use tokio::time::sleep_until;
use tonic::{Request, Response, Status};

use super::stream::{self, Outgoing};
use super::watching;
use crate::access::{Caller, Role, hexadecimal};
use crate::admission::{self, Accepted};
use crate::context::{Context, caller, deadline, stopped, to_the_end};
use crate::engine::queue::Task;
use crate::names;
use crate::refusal::Refusal;
use crate::store::runs::{self, Stored};
use crate::store::{StoreError, Writing, events, files, list, now_ms, timestamp};

/// RunService.
pub(super) struct Runs(pub Arc<Context>);

#[tonic::async_trait]
impl RunService for Runs {
    type WatchRunStream = Outgoing<WatchRunResponse>;

    async fn create_run(&self, request: Request<CreateRunRequest>) -> Result<Response<CreateRunResponse>, Status> {
        let caller = caller(&request)?;
        caller.must_be(Role::Submit)?;
        let (context, request) = (self.0.clone(), request.into_inner());
        let run = to_the_end(async move { create(&context, caller, request).await }).await?;
        Ok(Response::new(CreateRunResponse { run: Some(run) }))
    }

    async fn get_run(&self, request: Request<GetRunRequest>) -> Result<Response<GetRunResponse>, Status> {
        let run = get(&self.0, &request.into_inner().run_id).await?;
        Ok(Response::new(GetRunResponse { run: Some(run) }))
    }

    async fn list_runs(&self, request: Request<ListRunsRequest>) -> Result<Response<ListRunsResponse>, Status> {
        let request = request.into_inner();
        check_list(&request)?;
        let with_scenario = request.include_scenario;
        let (mut found, next_page_token) = self
            .0
            .store
            .read(move |connection| {
                let (mut found, token) = list::page(connection, &request)?;
                for stored in &mut found {
                    match &mut stored.run.scenario {
                        Some(scenario) if with_scenario => {
                            scenario.document = runs::document(connection, stored.number)?;
                        }
                        scenario => *scenario = None,
                    }
                }
                Ok((found, token))
            })
            .await
            .map_err(Refusal::from)?;
        found.iter_mut().for_each(|stored| show_live(&self.0, &mut stored.run));
        let runs = found.into_iter().map(|stored| stored.run).collect();
        Ok(Response::new(ListRunsResponse { runs, next_page_token }))
    }

    async fn wait_run(&self, request: Request<WaitRunRequest>) -> Result<Response<WaitRunResponse>, Status> {
        let place = self.0.open_stream()?;
        let gives_up = deadline(&request);
        let WaitRunRequest { run_id, timeout } = request.into_inner();
        let longest = Duration::from_secs(self.0.limits.wait_s_max);
        let wanted = timeout.and_then(|wanted| Duration::try_from(wanted).ok()).unwrap_or(longest);
        let until = Instant::now() + wanted.min(longest);
        let until = gives_up.map_or(until, |gives_up| gives_up.min(until));
        let channel = self.0.hub.channel(&run_id);
        let mut news = channel.subscribe();
        loop {
            news.mark_unchanged();
            let run = get(&self.0, &run_id).await?;
            if runs::has_ended(run.state()) || Instant::now() >= until {
                drop(place);
                return Ok(Response::new(WaitRunResponse { run: Some(run) }));
            }
            tokio::select! {
                _ = news.changed() => {}
                () = sleep_until(until.into()) => {}
                () = stopped(self.0.stopping.clone()) => {
                    return Err(Refusal::ShuttingDown { resume_after: None }.into());
                }
            }
        }
    }

    async fn watch_run(&self, request: Request<WatchRunRequest>) -> Result<Response<Self::WatchRunStream>, Status> {
        let place = self.0.open_stream()?;
        let gives_up = deadline(&request);
        let request = request.into_inner();
        names::known_run(&request.run_id)?;
        // So that what is wrong from the start is told before the stream begins.
        let (run, after) = (request.run_id.clone(), request.after_sequence);
        let first = self.0.store.read(move |connection| events::after(connection, &run, after, 0).map(drop));
        first.await.map_err(Refusal::from)?;
        let context = self.0.clone();
        let stream = stream::open(&self.0, place, gives_up, |sink| watching::watch(context, request, sink));
        Ok(Response::new(stream))
    }

    async fn cancel_run(&self, request: Request<CancelRunRequest>) -> Result<Response<CancelRunResponse>, Status> {
        let caller = caller(&request)?;
        let run_id = request.into_inner().run_id;
        let run = get(&self.0, &run_id).await?;
        caller.may_change_run_of(&run.owner)?;
        let context = self.0.clone();
        let cancelled = to_the_end(async move { Ok(context.engine.cancel(run_id).await?) }).await?;
        Ok(Response::new(CancelRunResponse { run: Some(Run { scenario: run.scenario, ..cancelled.run }) }))
    }

    async fn delete_run(&self, request: Request<DeleteRunRequest>) -> Result<Response<DeleteRunResponse>, Status> {
        let caller = caller(&request)?;
        let (context, run_id) = (self.0.clone(), request.into_inner().run_id);
        names::known_run(&run_id)?;
        to_the_end(async move { delete(&context, caller, run_id).await }).await?;
        Ok(Response::new(DeleteRunResponse {}))
    }
}

async fn create(context: &Context, caller: Caller, request: CreateRunRequest) -> Result<Run, Refusal> {
    admission::check_request(&request, &context.limits)?;
    if *context.stopping.borrow() {
        return Err(Refusal::ShuttingDown { resume_after: None });
    }
    let request_id = request.request_id.clone();
    let validate_only = request.validate_only;
    let (limits, run_id, owner) = (context.limits.clone(), fresh_name()?, caller.clone());
    let accepted = context.check(move || admission::admit(request, &owner, run_id, &limits)).await?;
    if validate_only {
        return Ok(accepted.run.run);
    }
    let kept = context.limits.events_kept_max;
    let places = context.engine.queue().reserve(accepted.waiting());
    let full = places.as_ref().err().cloned();
    let change = move |writing: &mut Writing<'_>| write_down(writing, accepted, &caller, &request_id, full, kept);
    let (run, waiting) = context.store.write(change).await?;
    context.meters.created(waiting.len().max(1) as u64);
    context.engine.queue().put(waiting);
    drop(places);
    tracing::info!(run = %run.id, owner = %run.owner, "created");
    Ok(run)
}

/// Writes a run down, unless the request was made before; gives what has to be simulated.
fn write_down(
    writing: &mut Writing<'_>,
    accepted: Accepted,
    caller: &Caller,
    request_id: &str,
    full: Option<Refusal>,
    kept: u32,
) -> Result<(Run, Vec<Task>), StoreError> {
    if !request_id.is_empty()
        && let Some((fingerprint, stored)) = runs::find_request(writing.connection, &caller.name, request_id)?
    {
        if fingerprint != accepted.fingerprint {
            return Err(Refusal::RequestIdReused(stored.run.id).into());
        }
        return Ok((with_document(stored.run, runs::document(writing.connection, stored.number)?), Vec::new()));
    }
    // Only now: what was accepted before needs no place.
    if let Some(full) = full {
        return Err(full.into());
    }
    let mut tasks = Vec::new();
    let mut insert = |new: &runs::New| -> Result<Stored, StoreError> {
        let mut new = new.clone();
        new.run.create_time = Some(timestamp(now_ms()));
        let mut stored = runs::insert(writing, &new)?;
        events::append_state(writing, &mut stored, kept)?;
        if new.run.sweep.is_none() {
            tasks.push(Task::simulate(&stored));
        }
        Ok(stored)
    };
    let stored = insert(&accepted.run)?;
    for child in &accepted.children {
        insert(child)?;
    }
    if !request_id.is_empty() {
        runs::insert_request(writing, &stored, request_id, &accepted.fingerprint)?;
    }
    let document = accepted.run.run.scenario.map(|scenario| scenario.document).unwrap_or_default();
    Ok((with_document(stored.run, document), tasks))
}

fn with_document(mut run: Run, document: String) -> Run {
    run.scenario.get_or_insert_default().document = document;
    run
}

/// A run by its name, as it is now.
pub(super) async fn get(context: &Context, run_id: &str) -> Result<Run, Refusal> {
    names::known_run(run_id)?;
    let id = run_id.to_owned();
    let run = context.store.read(move |connection| {
        let stored = runs::get(connection, &id)?;
        Ok(with_document(stored.run, runs::document(connection, stored.number)?))
    });
    let mut run = run.await?;
    show_live(context, &mut run);
    Ok(run)
}

/// How far a run has come is known from its latest sample.
fn show_live(context: &Context, run: &mut Run) {
    if !matches!(run.state(), RunState::Running | RunState::Cancelling) || run.sweep.is_some() {
        return;
    }
    let sample = context.hub.channel(&run.id).sample().and_then(|sample| sample.event);
    if let Some(tailback_api::v1::watch_run_response::Event::Sample(sample)) = sample {
        let (cycle, cycles, packet_hops) = (sample.cycle, sample.cycles, sample.packet_hops);
        run.progress = Some(Progress { cycle, cycles, packet_hops, ..Progress::default() });
    }
}

fn check_list(request: &ListRunsRequest) -> Result<(), Refusal> {
    names::labels(&request.labels)?;
    names::digest("scenario_digest", &request.scenario_digest)?;
    names::digest("result_digest", &request.result_digest)?;
    if let Some(&unknown) = request.states.iter().find(|&&state| RunState::try_from(state).is_err()) {
        return Err(Refusal::invalid("states", format!("{unknown} is not a state")));
    }
    if request.parent_id.is_empty() { Ok(()) } else { names::known_run(&request.parent_id) }
}

async fn delete(context: &Context, caller: Caller, run_id: String) -> Result<(), Refusal> {
    let id = run_id.clone();
    let numbers = context.store.write(move |writing| {
        let stored = runs::get(writing.connection, &id)?;
        caller.may_change_run_of(&stored.run.owner)?;
        if !stored.run.parent_id.is_empty() {
            return Err(Refusal::PartOfSweep { run: id, parent: stored.run.parent_id }.into());
        }
        if !runs::has_ended(stored.run.state()) {
            return Err(Refusal::RunNotEnded { run: id, state: stored.run.state() }.into());
        }
        writing.touch(&id);
        runs::delete(writing, &id)
    });
    let numbers = numbers.await?;
    let store = context.store.clone();
    let removing = tokio::task::spawn_blocking(move || {
        numbers.into_iter().for_each(|number| files::remove_run(store.folder(), number));
        files::make_reserve(store.folder());
    });
    removing.await.map_err(|error| Refusal::Internal(format!("removing files failed: {error}")))?;
    tracing::info!(run = %run_id, "deleted");
    Ok(())
}

/// A name for a run that was given none.
fn fresh_name() -> Result<String, Refusal> {
    let mut bytes = [0; 6];
    getrandom::fill(&mut bytes).map_err(|error| Refusal::Internal(format!("there are no random bytes: {error}")))?;
    Ok(format!("run-{}", hexadecimal(&bytes)))
}
