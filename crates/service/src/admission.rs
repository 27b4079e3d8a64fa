//! From a request to runs that can be written down: everything is checked before anything happens.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use tailback_scenario::{Diagnostics, Document, Scenario, Sweep};
use tailback_sim::Plan;

use crate::access::Caller;
use crate::allowance::Allowance;
use crate::api_error::{ApiError, Limit};
use crate::domain::{Progress, Run, RunRequest, ScenarioSource, SweepRequest};
use crate::engine::sweep;
use crate::limits::Limits;
use crate::names;
use crate::pool::Stop;
use crate::store::named::NamedFiles;
use crate::store::runs::{self, New};

/// The most overrides of a scenario.
const OVERRIDES_MAX: usize = 1024;
/// The most values, tables and keys of a document, and of overrides together, counted by the signs between them: while it is read, each takes hundreds of
/// times what it has in the text.
const VALUES_MAX: usize = 200_000;
/// Priorities of runs.
const PRIORITIES: RangeInclusive<i32> = -10..=10;

/// What was accepted: a run, and the runs of it if it is a sweep.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub run: New,
    pub children: Vec<New>,
    /// What tells this request from others with the same request id.
    pub fingerprint: String,
    /// What to change in the scenario before the next version; each note once, though many runs may have it.
    pub notes: Diagnostics,
}

impl Accepted {
    /// How many wait in the queue.
    pub(crate) fn waiting(&self) -> u64 {
        self.children.len().max(1) as u64
    }

    /// Has the run, and those of a sweep, go on with a trace.
    pub(crate) fn go_on_with(&mut self, traceparent: &str) {
        for new in std::iter::once(&mut self.run).chain(&mut self.children) {
            traceparent.clone_into(&mut new.run.traceparent);
        }
    }
}

/// Memory that a worker takes whatever it simulates.
pub(crate) const WORKER_BYTES: u64 = 64 << 20;

/// Checks what can be checked without looking into the scenario.
pub(crate) fn check_request(request: &RunRequest, caller: &Caller, limits: &Limits) -> Result<(), ApiError> {
    names::request(&request.request_id)?;
    if !request.run_id.is_empty() {
        names::new_run(&request.run_id)?;
    }
    names::labels(&request.labels)?;
    let execution = &request.execution;
    if !PRIORITIES.contains(&execution.priority) {
        let (lowest, highest) = (PRIORITIES.start(), PRIORITIES.end());
        let problem = format!("{} is not a priority; they go from {lowest} to {highest}", execution.priority);
        return Err(ApiError::invalid("execution.priority", problem));
    }
    caller.may_have_priority(execution.priority)?;
    if !request.project.is_empty() {
        names::project(&request.project)?;
        caller.may_put_into(&request.project)?;
        if request.private {
            return Err(ApiError::invalid("project", "a private run is of no project"));
        }
    }
    Limits::check(Limit::Threads, execution.threads.unwrap_or(0).into(), limits.threads_max.into())?;
    Limits::check(Limit::ArtifactBytes, execution.artifact_bytes_max, limits.artifact_bytes_max)?;
    if let Some(wall_time) = execution.wall_time_max {
        if wall_time.is_zero() {
            return Err(ApiError::invalid("execution.wall_time_max", "the time is not positive"));
        }
        Limits::check(Limit::WallTime, wall_time.as_secs(), limits.wall_time_s_max)?;
    }
    request.sweep.as_ref().map_or(Ok(()), sweep::check_size)?;
    scenario(request.scenario.as_ref(), limits).map(|_| ())
}

/// The scenario of a request, if it is not too large.
pub(crate) fn scenario<'r>(given: Option<&'r ScenarioSource>, limits: &Limits) -> Result<&'r ScenarioSource, ApiError> {
    let given = given.ok_or_else(|| ApiError::invalid("scenario", "there is none"))?;
    Limits::check(Limit::ScenarioBytes, given.bytes() as u64, limits.scenario_bytes_max.into())?;
    names::document(&given.name)?;
    names::files(&given.files)?;
    if given.overrides.len() > OVERRIDES_MAX {
        let problem = format!("there are {} of them, the limit is {OVERRIDES_MAX}", given.overrides.len());
        return Err(ApiError::invalid("scenario.overrides", problem));
    }
    let signs = |text: &str| text.bytes().filter(|byte| b"=,.[".contains(byte)).count();
    let in_overrides = given.overrides.iter().map(|text| signs(text)).sum();
    for (what, signs) in [("scenario.document", signs(&given.document)), ("scenario.overrides", in_overrides)] {
        if signs > VALUES_MAX {
            let problem = format!("values, tables and keys: there are {signs}, the limit is {VALUES_MAX}");
            return Err(ApiError::invalid(what, problem));
        }
    }
    Ok(given)
}

/// What is made of a text takes so many times its bytes at most.
const SCRATCH_OF_TEXT: u64 = 16;

/// The files that a scenario names, to be read while it is checked.
pub(crate) fn files(given: &ScenarioSource, data: &Path, limits: &Limits, stop: &Stop) -> Arc<NamedFiles> {
    let scratch_bytes_max = limits.file_text_bytes_max.saturating_mul(SCRATCH_OF_TEXT);
    Arc::new(NamedFiles::for_check(given, data, scratch_bytes_max, stop))
}

/// What a request wants to be varied, if that is not too many runs; with how many there are.
pub(crate) fn sweep(
    document: &Document,
    asked: &SweepRequest,
    allowed: &Allowance,
) -> Result<(Sweep, usize), ApiError> {
    let varied = sweep::wanted(document, asked)?;
    let runs = varied.run_count().unwrap_or(usize::MAX);
    Limits::check(Limit::SweepRuns, runs as u64, allowed.sweep_runs)?;
    Ok((varied, runs))
}

/// Checks the rest, which may take a while, and gives what is to be written down. `run_id` is the name of the run if the
/// request gives it none.
pub(crate) fn admit(
    request: &RunRequest,
    caller: &Caller,
    run_id: &str,
    (limits, allowed): (&Limits, &Allowance),
    (data, stop): (&Path, &Stop),
) -> Result<Accepted, ApiError> {
    let fingerprint = request.fingerprint();
    let given = request.scenario.clone().unwrap_or_default();
    let id = if request.run_id.is_empty() { run_id } else { &request.run_id };
    let document_hash = runs::document_hash(&given.document);
    let base = Base { id, caller, given: &given, document_hash, request, limits };
    let files = files(&given, data, limits, stop);
    let wanted = stop.clone();
    let document = given.read_within(allowed.bounds, files.clone()).while_wanted(move || wanted.is_wanted());
    let resolved = document.resolve().map_err(|mistakes| files.refusal(mistakes))?;
    let Some(asked) = &request.sweep else {
        let mut run = base.simulation(&resolved, stop)?;
        run.run.labels.clone_from(&request.labels);
        return Ok(Accepted { run, children: Vec::new(), fingerprint, notes: resolved.notes });
    };
    let (varied, runs) = sweep(&document, asked, allowed)?;
    let (mut children, mut notes) = (Vec::with_capacity(runs), resolved.notes.clone());
    let mut override_bytes = 0;
    for (index, part) in varied.runs(&document).enumerate() {
        stop.check()?;
        let mut resolved = part.document.resolve().map_err(|mistakes| files.refusal(mistakes))?;
        let mut child = base.simulation(&resolved, stop)?;
        resolved.notes.list.retain(|note| notes.list.iter().all(|known| known.message != note.message));
        if !resolved.notes.list.is_empty() {
            notes.append(resolved.notes);
        }
        child.run.id = format!("{id}.{}", index + 1);
        child.run.parent_id = id.to_owned();
        child.run.child_number = index as u32 + 1;
        child.run.labels.clone_from(&request.labels);
        child.scenario.overrides = given.overrides.with(part.overrides);
        override_bytes += child.scenario.overrides.iter().map(String::len).sum::<usize>() as u64;
        Limits::check(Limit::ScenarioBytes, override_bytes, allowed.sweep_override_bytes)?;
        children.push(child);
    }
    let mut run = base.simulation(&resolved, stop)?;
    run.run.sweep = Some(asked.clone());
    run.run.labels.clone_from(&request.labels);
    run.run.progress = Progress { children: children.len() as u32, ..Progress::default() };
    Ok(Accepted { run, children, fingerprint, notes })
}

/// What a scenario will take on so many threads.
pub(crate) fn planned(scenario: &Scenario, threads: u32, stop: &Stop) -> Result<Plan, ApiError> {
    let plan = Plan::on_while(scenario, threads as usize, &|| stop.is_wanted());
    plan.ok_or_else(|| stop.check().err().unwrap_or(ApiError::DeadlinePassed { resume_after: None }))
}

/// Memory that a run may take which does not say how much: half more than its plan says, which is an estimate; and what
/// its sources may have waiting, as far as that leaves each of the runs that are simulated at once an equal share.
fn generous(plan: &Plan, limits: &Limits) -> u64 {
    let planned = plan.memory_bytes + plan.memory_bytes / 2 + WORKER_BYTES;
    let share = limits.memory_bytes_max / u64::from(limits.concurrent_runs_max.max(1));
    planned.max(share.min(planned.saturating_add(plan.backlog.bytes_max)))
}

/// What the runs of a request have in common.
struct Base<'r> {
    id: &'r str,
    caller: &'r Caller,
    given: &'r ScenarioSource,
    document_hash: Arc<str>,
    request: &'r RunRequest,
    limits: &'r Limits,
}

impl Base<'_> {
    /// A simulation, if it is not too large.
    fn simulation(&self, scenario: &Scenario, stop: &Stop) -> Result<New, ApiError> {
        let mut execution = self.request.execution;
        let threads = execution.threads.or(scenario.execution.threads).unwrap_or(0);
        let plan = planned(scenario, threads, stop)?;
        execution.threads = Some(threads);
        let allowed = scenario
            .execution
            .memory_bytes
            .map_or(self.limits.memory_bytes_max, |allowed| allowed.min(self.limits.memory_bytes_max));
        Limits::check(Limit::Memory, plan.memory_bytes, allowed)?;
        Limits::check(Limit::Threads, threads.into(), self.limits.threads_max.into())?;
        // What fits on no machine would be handed out, and refused there again and again.
        Limits::check(Limit::ThreadsPerRun, threads.into(), self.limits.threads_per_run().into())?;
        let of_run = self.limits.memory_bytes_per_run();
        Limits::check(Limit::MemoryPerRun, plan.memory_bytes, of_run)?;
        // What its owner never may have at once would wait until nothing else of the owner's is left.
        Limits::check(Limit::ThreadsPerOwner, threads.into(), self.limits.threads_per_owner().into())?;
        let share = self.limits.memory_bytes_per_owner();
        Limits::check(Limit::MemoryPerOwner, plan.memory_bytes, share)?;
        let wanted = scenario.execution.memory_bytes.unwrap_or_else(|| generous(&plan, self.limits));
        let memory_bytes = wanted.min(allowed).min(of_run).min(share);
        let cycles = scenario.measure.warmup + scenario.measure.cycles;
        let title = if scenario.title.is_empty() { &self.given.name } else { &scenario.title };
        let run = Run {
            id: self.id.to_owned(),
            owner: self.caller.name.clone(),
            execution,
            progress: Progress { cycles, ..Progress::default() },
            scenario_digest: scenario.digest.clone(),
            title: title.clone(),
            reuse: self.request.reuse,
            private: self.request.private,
            project: self.request.project.clone(),
            files: self.given.files.clone(),
            ..Run::default()
        };
        let (scenario, document_hash) = (self.given.clone(), self.document_hash.clone());
        Ok(New { run, scenario, document_hash, threads: threads.max(1), memory_bytes })
    }
}
