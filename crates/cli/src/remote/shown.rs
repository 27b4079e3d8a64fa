//! Runs as they are printed.

use serde::Serialize;
use tailback_api::v1::{Run, RunState};
use tailback_report::{Cell, Column, Kind, Table};

/// A run as `--format json` prints it.
#[derive(Serialize)]
pub struct ShownRun {
    id: String,
    owner: String,
    state: String,
    title: String,
    labels: std::collections::BTreeMap<String, String>,
    scenario_digest: String,
    result_digest: String,
    created: String,
    started: String,
    ended: String,
    cycle: u64,
    cycles: u64,
    children: u32,
    children_ended: u32,
    children_failed: u32,
    parent: String,
    restarts: u32,
    failed_attempts: u32,
    priority: i32,
    private: bool,
    project: String,
    note: String,
    error: Option<String>,
    offered_load: Option<f64>,
    accepted_load: Option<f64>,
    latency_mean: Option<f64>,
    latency_p99: Option<f64>,
    saturated: Option<bool>,
}

impl From<Run> for ShownRun {
    fn from(run: Run) -> Self {
        let progress = run.progress.unwrap_or_default();
        let summary = run.summary;
        let time = |time: Option<prost_types::Timestamp>| time.map_or_else(String::new, |time| time.to_string());
        Self {
            state: state_name(run.state()),
            created: time(run.create_time),
            started: time(run.start_time),
            ended: time(run.end_time),
            id: run.id,
            owner: run.owner,
            title: run.title,
            labels: run.labels.into_iter().collect(),
            scenario_digest: run.scenario_digest,
            result_digest: run.result_digest,
            cycle: progress.cycle,
            cycles: progress.cycles,
            children: progress.children,
            children_ended: progress.children_ended,
            children_failed: progress.children_failed,
            parent: run.parent_id,
            restarts: run.restarts,
            failed_attempts: run.failed_attempts,
            priority: run.execution.map_or(0, |execution| execution.priority),
            private: run.private,
            project: run.project,
            note: run.note,
            error: run.error.map(|error| error.message),
            offered_load: summary.map(|summary| summary.offered_load),
            accepted_load: summary.map(|summary| summary.accepted_load),
            latency_mean: summary.and_then(|summary| summary.latency_mean),
            latency_p99: summary.and_then(|summary| summary.latency_p99),
            saturated: summary.map(|summary| summary.saturated),
        }
    }
}

/// Runs for people.
pub fn table(runs: &[Run]) -> Table {
    let mut table = Table::new(vec![
        Column::text("run"),
        Column::text("state"),
        Column::text("done"),
        Column::text("owner"),
        Column::new("priority", Kind::Integer),
        Column::new("offered", Kind::Number),
        Column::new("accepted", Kind::Number),
        Column::new("latency", Kind::Number),
        Column::text("title"),
    ]);
    for run in runs {
        let summary = run.summary;
        table.push(vec![
            run.id.as_str().into(),
            state_name(run.state()).as_str().into(),
            done(run).as_str().into(),
            run.owner.as_str().into(),
            Cell::Integer(run.execution.map_or(0, |execution| execution.priority).into()),
            summary.map(|summary| summary.offered_load).into(),
            summary.map(|summary| summary.accepted_load).into(),
            summary.and_then(|summary| summary.latency_mean).into(),
            Cell::from(run.title.as_str()),
        ]);
    }
    table
}

fn done(run: &Run) -> String {
    let progress = run.progress.unwrap_or_default();
    match (progress.children, progress.cycles) {
        (0, 0) => String::new(),
        (0, cycles) => format!("{} %", progress.cycle * 100 / cycles),
        (children, _) => format!("{} of {children}", progress.children_ended),
    }
}

/// A state as people say it.
pub fn state_name(state: RunState) -> String {
    state.as_str_name().trim_start_matches("RUN_STATE_").to_lowercase()
}

/// The time of day.
pub fn time_text(time: Option<prost_types::Timestamp>) -> String {
    let text = time.map_or_else(String::new, |time| time.to_string());
    text.split('T').nth(1).and_then(|time| time.get(..8)).unwrap_or_default().to_owned()
}
