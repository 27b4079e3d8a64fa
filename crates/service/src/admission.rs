//! From a request to runs that can be written down: everything is checked before anything happens.

use tailback_scenario::{Diagnostics, Scenario};
use tailback_sim::Plan;

use crate::access::Caller;
use crate::api_error::{ApiError, Limit};
use crate::domain::{Execution, Progress, Run, RunRequest, ScenarioSource};
use crate::engine::sweep;
use crate::limits::Limits;
use crate::names;
use crate::store::runs::New;

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
}

/// Checks what can be checked without looking into the scenario.
pub(crate) fn check_request(request: &RunRequest, limits: &Limits) -> Result<(), ApiError> {
    names::request(&request.request_id)?;
    if !request.run_id.is_empty() {
        names::new_run(&request.run_id)?;
    }
    names::labels(&request.labels)?;
    let execution = &request.execution;
    Limits::check(Limit::Threads, execution.threads.unwrap_or(0).into(), limits.threads_max.into())?;
    Limits::check(Limit::ArtifactBytes, execution.artifact_bytes_max, limits.artifact_bytes_max)?;
    if let Some(wall_time) = execution.wall_time_max {
        if wall_time.is_zero() {
            return Err(ApiError::invalid("execution.wall_time_max", "the time is not positive"));
        }
        Limits::check(Limit::WallTime, wall_time.as_secs(), limits.wall_time_s_max)?;
    }
    scenario(request.scenario.as_ref(), limits).map(|_| ())
}

/// The scenario of a request, if it is not too large.
pub(crate) fn scenario<'r>(given: Option<&'r ScenarioSource>, limits: &Limits) -> Result<&'r ScenarioSource, ApiError> {
    let given = given.ok_or_else(|| ApiError::invalid("scenario", "there is none"))?;
    let overrides: usize = given.overrides.iter().map(String::len).sum();
    let bytes = given.name.len() + given.document.len() + overrides;
    Limits::check(Limit::ScenarioBytes, bytes as u64, limits.scenario_bytes_max.into())?;
    Ok(given)
}

/// Checks the rest, which may take a while, and gives what is to be written down. `run_id` is the name of the run if the
/// request gives it none.
pub(crate) fn admit(
    mut request: RunRequest,
    caller: &Caller,
    run_id: String,
    limits: &Limits,
) -> Result<Accepted, ApiError> {
    let fingerprint = request.fingerprint();
    let given = request.scenario.take().unwrap_or_default();
    let id = if request.run_id.is_empty() { run_id } else { request.run_id };
    let base = Base { id: &id, caller, given: &given, execution: request.execution, limits };
    let document = given.read();
    let resolved = document.resolve().map_err(ApiError::InvalidScenario)?;
    let Some(asked) = request.sweep else {
        let mut run = base.simulation(&resolved)?;
        run.run.labels = request.labels;
        return Ok(Accepted { run, children: Vec::new(), fingerprint, notes: resolved.notes });
    };
    let varied = sweep::wanted(&document, &asked)?;
    let runs = varied.points().len() as u64 * varied.runs_per_point() as u64;
    Limits::check(Limit::SweepRuns, runs, limits.sweep_runs_max.into())?;
    let (mut children, mut notes) = (Vec::new(), resolved.notes.clone());
    for (index, part) in varied.runs(&document).into_iter().enumerate() {
        let mut resolved = part.document.resolve().map_err(ApiError::InvalidScenario)?;
        let mut child = base.simulation(&resolved)?;
        resolved.notes.list.retain(|note| notes.list.iter().all(|known| known.message != note.message));
        if !resolved.notes.list.is_empty() {
            notes.append(resolved.notes);
        }
        child.run.id = format!("{id}.{}", index + 1);
        child.run.parent_id = id.clone();
        child.run.child_number = index as u32 + 1;
        child.run.labels = request.labels.clone();
        let overrides = given.overrides.iter().cloned().chain(part.overrides).collect();
        child.scenario = ScenarioSource { overrides, ..given.clone() };
        children.push(child);
    }
    let mut run = base.simulation(&resolved)?;
    run.run.sweep = Some(asked);
    run.run.labels = request.labels;
    run.run.progress = Progress { children: children.len() as u32, ..Progress::default() };
    Ok(Accepted { run, children, fingerprint, notes })
}

/// What the runs of a request have in common.
struct Base<'r> {
    id: &'r str,
    caller: &'r Caller,
    given: &'r ScenarioSource,
    execution: Execution,
    limits: &'r Limits,
}

impl Base<'_> {
    /// A simulation, if it is not too large.
    fn simulation(&self, scenario: &Scenario) -> Result<New, ApiError> {
        let mut execution = self.execution;
        let threads = execution.threads.or(scenario.execution.threads).unwrap_or(0);
        let plan = Plan::on(scenario, threads as usize);
        execution.threads = Some(threads);
        let allowed = scenario
            .execution
            .memory_bytes
            .map_or(self.limits.memory_bytes_max, |allowed| allowed.min(self.limits.memory_bytes_max));
        Limits::check(Limit::Nodes, plan.nodes.into(), self.limits.nodes_max.into())?;
        Limits::check(Limit::Memory, plan.memory_bytes, allowed)?;
        Limits::check(Limit::Threads, threads.into(), self.limits.threads_max.into())?;
        let cycles = scenario.measure.warmup + scenario.measure.cycles;
        let title = if scenario.title.is_empty() { &self.given.name } else { &scenario.title };
        let run = Run {
            id: self.id.to_owned(),
            owner: self.caller.name.clone(),
            execution,
            progress: Progress { cycles, ..Progress::default() },
            scenario_digest: scenario.digest.clone(),
            title: title.clone(),
            ..Run::default()
        };
        Ok(New { run, scenario: self.given.clone(), threads: threads.max(1), memory_bytes: plan.memory_bytes })
    }
}
