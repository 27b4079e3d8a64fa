//! `tailback submit`: a scenario for a server to simulate.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::Arc;

use tailback_api::v1::result_service_client::ResultServiceClient;
use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::{CreateRunRequest, Execution, GetReportRequest, QuerySeriesRequest, Run, Scenario, Sweep};
use tailback_report::{Cell, Table};
use tailback_scenario::{Axis, Document};
use tailback_sim::vary;

use crate::arguments::{Format, SubmitArguments};
use crate::commands::sweep;
use crate::commands::watch::{self, Follow};
use crate::complaint::Complaint;
use crate::files::Noted;
use crate::input;
use crate::output::{say, say_line, tell_line};
use crate::remote::{self, Remote};

/// Runs the command.
pub fn run(arguments: &SubmitArguments) -> Result<(), Complaint> {
    let (request, files) = request(arguments)?;
    remote::carry_out(submit(arguments, request, &files))
}

/// What is asked of the server, and the files that it needs for that, by their names in the scenario. Mistakes are found here
/// already, and shown with their lines.
fn request(arguments: &SubmitArguments) -> Result<(CreateRunRequest, BTreeMap<String, PathBuf>), Complaint> {
    let mut overrides = arguments.scenario.set.clone();
    overrides.extend(arguments.seed.map(|seed| format!("seed={seed}")));
    let files = Arc::new(Noted::of(&arguments.scenario.file));
    let document = input::document_with(&arguments.scenario, files.clone())?;
    let document =
        arguments.seed.iter().fold(document, |document, seed| document.with_from("--seed", &format!("seed={seed}")));
    input::resolve(&document)?;
    let varies = arguments.sweep || !arguments.over.is_empty() || arguments.seeds.is_some();
    let sweep = varies.then(|| Sweep {
        over: arguments.over.clone(),
        seeds: arguments.seeds.unwrap_or(0),
        run_saturated: arguments.no_stop,
    });
    let text = input::read(&arguments.scenario.file)?;
    if let Some(asked) = &sweep
        && text.contains("program")
    {
        open_all(&document, asked);
    }
    let wall_time_max = arguments.wall_time.map(|seconds| prost_types::Duration { seconds: seconds.into(), nanos: 0 });
    let request = CreateRunRequest {
        // So that asking again after a lost answer does not make a second run.
        request_id: request_id(),
        run_id: arguments.id.clone().unwrap_or_default(),
        validate_only: false,
        scenario: Some(Scenario {
            name: arguments.scenario.file.display().to_string(),
            document: text,
            overrides,
            files: HashMap::new(),
        }),
        execution: Some(Execution {
            threads: arguments.threads,
            wall_time_max,
            artifact_bytes_max: 0,
            priority: arguments.priority,
        }),
        sweep,
        labels: labels(&arguments.labels)?,
        reuse: arguments.reuse,
        private: arguments.private,
        project: arguments.project.clone().unwrap_or_default(),
    };
    Ok((request, files.opened()))
}

/// Opens the files that runs of a sweep name. What is wrong with these the server says.
fn open_all(document: &Document, asked: &Sweep) {
    let Ok(mut sweep) = document.sweep() else { return };
    let Ok(axes) = asked.over.iter().map(|text| Axis::parse(text)).collect() else { return };
    if let Ok(true) = vary(&mut sweep, axes, (asked.seeds > 0).then_some(asked.seeds.into()), asked.run_saturated) {
        sweep.runs(document).for_each(|run| drop(run.document.resolve()));
    }
}

/// A request id that was never used before.
pub fn request_id() -> String {
    format!("cli-{:x}-{:x}", std::process::id(), RandomState::new().hash_one(0))
}

/// Labels as they are said on the command line.
pub fn labels(said: &[String]) -> Result<HashMap<String, String>, Complaint> {
    let label = |text: &String| {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            Complaint::BadInput(format!("`{text}` is not a label"), Some("write `key=value`".to_owned()))
        })?;
        Ok((key.to_owned(), value.to_owned()))
    };
    said.iter().map(label).collect()
}

async fn submit(
    arguments: &SubmitArguments,
    mut request: CreateRunRequest,
    files: &BTreeMap<String, PathBuf>,
) -> Result<(), Complaint> {
    let mut remote = Remote::connect(&arguments.server).await?;
    if arguments.quiet {
        remote.retry.quieten();
    }
    if arguments.private {
        remote.must_know("private").await?;
    }
    if arguments.project.is_some() {
        remote.must_know("projects").await?;
    }
    if let (Some(scenario), false) = (&mut request.scenario, files.is_empty()) {
        scenario.files = remote.upload(files, !arguments.quiet).await?;
    }
    let created = remote.ask_runs(RunServiceClient::create_run, request).await?.run.unwrap_or_default();
    if !arguments.wait {
        say_line!("{}", created.id);
        if !arguments.quiet {
            tell_line!("\ntry next:");
            tell_line!("  tailback watch {}   what happens to it", created.id);
            tell_line!("  tailback fetch {}   its files, when it is over", created.id);
        }
        return Ok(());
    }
    if !arguments.quiet {
        tell_line!("{} is accepted", created.id);
    }
    let follow = Follow { show: !arguments.quiet, states_only: false, after: 0 };
    let ended = watch::follow(&mut remote, &created.id, &follow, watch::tell).await?;
    show(&mut remote, &ended, arguments.format).await
}

/// Prints what a run has found; complains if it has found nothing.
async fn show(remote: &mut Remote, run: &Run, format: Format) -> Result<(), Complaint> {
    watch::must_have_succeeded(run)?;
    let run_id = run.id.clone();
    if run.sweep.is_some() {
        let request = QuerySeriesRequest { run_id, ..Default::default() };
        let table = watch::table(&remote.ask_results(ResultServiceClient::query_series, request).await?);
        match format {
            Format::Text => {
                say!("{}", sweep::main_columns_of(&table, varied(&table)).to_text());
            }
            Format::Json => say_line!("{}", table.to_json()),
        }
        return Ok(());
    }
    let report = remote.ask_results(ResultServiceClient::get_report, GetReportRequest { run_id }).await?;
    match format {
        Format::Text => say!("{}", report.text),
        Format::Json => say!("{}", report.json),
    }
    Ok(())
}

/// The columns of what is varied, as `sweep` prints them: variants first, if there are any.
fn varied(table: &Table) -> impl Iterator<Item = &str> {
    let is_said =
        |&name: &&str| table.column(name).is_ok_and(|place| table.rows.iter().any(|row| row[place] != Cell::Empty));
    let names = table.columns.iter().map(|column| column.name.as_str()).take_while(|&name| name != "seeds");
    let (variants, axes): (Vec<&str>, Vec<&str>) = names.partition(|&name| name == "variant");
    variants.into_iter().filter(is_said).chain(axes)
}
