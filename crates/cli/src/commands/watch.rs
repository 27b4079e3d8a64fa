//! `tailback watch`: what happens to a run.

use serde_json::json;
use tailback_api::v1::column::Values;
use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::watch_run_response::Event;
use tailback_api::v1::{
    GetRunRequest, MetricSample, QuerySeriesResponse, Run, RunState, WatchRunRequest, WatchRunResponse,
};
use tailback_report::{Cell, Column, Kind, Table};
use tonic::Status;

use crate::arguments::{Format, WatchArguments};
use crate::complaint::Complaint;
use crate::output::{say_line, tell_line};
use crate::remote::{self, Remote, state_name, time_text};

/// How to follow a run.
pub struct Follow {
    /// Whether anything is shown on the way.
    pub show: bool,
    /// Leaves samples out.
    pub states_only: bool,
    /// The last event that is known.
    pub after: i64,
}

/// Runs the command.
pub fn run(arguments: &WatchArguments) -> Result<(), Complaint> {
    remote::carry_out(async {
        let mut remote = Remote::connect(&arguments.server).await?;
        let how = Follow { show: true, states_only: arguments.states, after: arguments.after };
        let say: fn(&WatchRunResponse) = match arguments.format {
            Format::Text => |event| {
                if let Some(line) = line(event) {
                    say_line!("{line}");
                }
            },
            Format::Json => |event| {
                if let Some(object) = object(event) {
                    say_line!("{object}");
                }
            },
        };
        must_have_succeeded(&follow(&mut remote, &arguments.run, &how, say).await?)
    })
}

/// Complains of a run that has ended in another way.
pub fn must_have_succeeded(run: &Run) -> Result<(), Complaint> {
    match run.state() {
        RunState::Succeeded => Ok(()),
        RunState::Cancelled => Err(Complaint::RunCancelled(format!("{} was cancelled", run.id))),
        _ => {
            let error = run.error.clone().unwrap_or_default();
            Err(Complaint::RunFailed(format!("{} failed: {}", run.id, error.message), error.details))
        }
    }
}

/// Follows a run until it has ended, also over restarts of the server; gives it as it is then.
pub async fn follow(remote: &mut Remote, run: &str, how: &Follow, say: fn(&WatchRunResponse)) -> Result<Run, Status> {
    let mut after = how.after;
    while let Err(status) = events(remote, run, how, &mut after, say).await {
        remote.retry.pause_after(status).await?;
    }
    let found = remote.ask_runs(RunServiceClient::get_run, GetRunRequest { run_id: run.to_owned() }).await?;
    Ok(found.run.unwrap_or_default())
}

async fn events(
    remote: &mut Remote,
    run: &str,
    how: &Follow,
    after: &mut i64,
    say: fn(&WatchRunResponse),
) -> Result<(), Status> {
    let request = WatchRunRequest {
        run_id: run.to_owned(),
        after_sequence: *after,
        states_only: how.states_only,
        sample_interval_min: None,
    };
    let mut stream = remote.runs.watch_run(request).await?.into_inner();
    while let Some(event) = stream.message().await? {
        remote.retry.answered();
        *after = event.sequence;
        if how.show {
            say(&event);
        }
    }
    Ok(())
}

/// Tells an event on standard error.
pub fn tell(event: &WatchRunResponse) {
    if let Some(line) = line(event) {
        tell_line!("{line}");
    }
}

/// An event for people; none for those that say nothing.
fn line(event: &WatchRunResponse) -> Option<String> {
    let what = match event.event.as_ref()? {
        Event::StateChanged(run) => {
            let why = run.error.as_ref().map_or(run.note.as_str(), |error| error.message.as_str());
            let colon = if why.is_empty() { "" } else { ": " };
            let priority = match run.execution.map_or(0, |execution| execution.priority) {
                0 => String::new(),
                priority => format!(" (priority {priority})"),
            };
            format!("{}{priority}{colon}{why}", state_name(run.state()))
        }
        Event::ChildEnded(child) => {
            let progress = child.progress.unwrap_or_default();
            let (done, all) = (progress.children_ended, progress.children);
            format!("{} {}; {done} of {all} runs are over", child.run_id, state_name(child.state()))
        }
        Event::Sample(sample) => sample_line(sample),
        Event::Recovered(recovered) => format!("goes on from cycle {} after a restart", recovered.cycle),
        Event::AttemptFailed(failed) => {
            let why = failed.error.as_ref().map_or("", |error| error.message.as_str());
            format!("attempt {} failed: {why}", failed.attempt)
        }
        Event::Heartbeat(_) => return None,
    };
    Some(format!("{} {what}", time_text(event.time)))
}

fn sample_line(sample: &MetricSample) -> String {
    let number = |name: &str, value: Option<f64>, digits: usize| {
        value.map_or_else(String::new, |value| format!(", {name} {value:.digits$}"))
    };
    format!(
        "cycle {} of {}{}{}{}, {} packets in flight, {:.0} cycles/s",
        sample.cycle,
        sample.cycles,
        number("accepted", sample.accepted_load, 4),
        number("latency", sample.latency_mean, 1),
        number("p99", sample.latency_p99, 0),
        sample.packets_in_flight,
        sample.cycles_per_second,
    )
}

/// An event for programs; none for those that say nothing.
fn object(event: &WatchRunResponse) -> Option<serde_json::Value> {
    let mut object = match event.event.as_ref()? {
        Event::StateChanged(run) => json!({
            "event": "state",
            "state": state_name(run.state()),
            "note": run.note,
            "error": run.error.as_ref().map(|error| error.message.clone()),
            "result_digest": run.result_digest,
            "priority": run.execution.map_or(0, |execution| execution.priority),
        }),
        Event::ChildEnded(child) => json!({
            "event": "child",
            "run": child.run_id,
            "state": state_name(child.state()),
            "children_ended": child.progress.unwrap_or_default().children_ended,
            "children": child.progress.unwrap_or_default().children,
        }),
        Event::Sample(sample) => json!({
            "event": "sample",
            "cycle": sample.cycle,
            "cycles": sample.cycles,
            "from_cycle": sample.from_cycle,
            "accepted_load": sample.accepted_load,
            "latency_mean": sample.latency_mean,
            "latency_p99": sample.latency_p99,
            "packets_in_flight": sample.packets_in_flight,
            "cycles_per_second": sample.cycles_per_second,
            "packet_hops": sample.packet_hops,
        }),
        Event::Recovered(recovered) => json!({ "event": "recovered", "cycle": recovered.cycle }),
        Event::AttemptFailed(failed) => json!({
            "event": "attempt_failed",
            "attempt": failed.attempt,
            "error": failed.error.as_ref().map(|error| error.message.clone()),
        }),
        Event::Heartbeat(_) => return None,
    };
    object["sequence"] = json!(event.sequence);
    object["time"] = json!(event.time.map(|time| time.to_string()));
    Some(object)
}

/// A table as a server gives it.
pub fn table(series: &QuerySeriesResponse) -> Table {
    let kind = |column: &tailback_api::v1::Column| match &column.values {
        Some(Values::Integers(_)) => Kind::Integer,
        Some(Values::Numbers(_)) => Kind::Number,
        Some(Values::Texts(_)) | None => Kind::Text,
    };
    let mut table = Table::new(series.columns.iter().map(|column| Column::new(&column.name, kind(column))).collect());
    for row in 0..series.rows {
        let cell = |column: &tailback_api::v1::Column| {
            let index = row as usize;
            if column.empty.binary_search(&row).is_ok() {
                return Cell::Empty;
            }
            match &column.values {
                Some(Values::Integers(of)) => of.values.get(index).copied().map_or(Cell::Empty, Cell::Integer),
                Some(Values::Numbers(of)) => of.values.get(index).copied().into(),
                Some(Values::Texts(of)) => of.values.get(index).map(String::as_str).into(),
                None => Cell::Empty,
            }
        };
        table.push(series.columns.iter().map(cell).collect());
    }
    table
}
