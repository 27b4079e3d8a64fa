//! Runs rebuilt from the files that they have left, when the database is lost, or does not know them any more.
//!
//! **The invariant it keeps:** only a folder that holds all files of a run, which fit each other, becomes a run again. All
//! others are set aside by whoever opens the store.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use tailback_report::{Report, Table};
use tailback_scenario::Scenario;
use tailback_sim::SweepManifest;

use super::artifacts::{self, File, OF_HISTOGRAMS, OF_SERIES};
use super::left_files::LeftFiles;
use super::runs::{self, New};
use super::{StoreError, Writing, checked, condition, database, events, files, quarantine, uploads};
use crate::domain::{Artifact, Execution, Progress, Run, ScenarioSource, State, Summary, SweepRequest};

/// Files that all sweeps leave.
const OF_SWEEP: [&str; 4] = ["scenario.toml", "sweep.csv", "sweep.json", "sweep.parquet"];
/// Tables that sweeps leave, if their runs have the parts and they are not too large.
const DETAILS_OF_SWEEP: [[&str; 2]; 2] = [OF_HISTOGRAMS, OF_SERIES];

const NOTE: &str = "rebuilt from its files after the database, or changes of it, were lost: its former name, its owner, its labels, when it \
    ran, which sweep it belonged to, and whether somebody has changed its files are not known";

/// Moves what there is of the database into the quarantine.
pub(super) fn set_database_aside(folder: &Path) -> Result<(), StoreError> {
    for path in condition::parts(&database(folder)) {
        if path.exists() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            quarantine::put(folder, &path, &name, "the database cannot be used")?;
        }
    }
    Ok(())
}

/// Copies the log of a database that is used without what cannot be read of it: that is written over.
pub(super) fn keep_log(folder: &Path) -> Result<(), StoreError> {
    let [_, log, _] = condition::parts(&database(folder));
    if fs::metadata(&log).is_ok_and(|about| about.len() > 0) {
        let copy = folder.join(format!("log.{}", files::UNFINISHED));
        fs::copy(&log, &copy).map_err(|error| files::broken("copy", &log, &error))?;
        let name = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
        quarantine::put(folder, &copy, &name, "the database lacks changes that were acknowledged")?;
    }
    Ok(())
}

/// Makes runs of the folders of artifacts that the database knows nothing of.
pub(super) fn rebuild(folder: &Path, connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    let mut writing = Writing::of(&transaction);
    let left = LeftFiles::of(folder)?;
    for path in files::entries(&folder.join(files::ARTIFACTS))? {
        let number = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse::<i64>().ok());
        let Some(number) = number.filter(|&number| number > 0 && files::artifacts(folder, number) == path) else {
            continue;
        };
        if runs::find_number(&transaction, number)?.is_some() || runs::was_deleted(&transaction, number)? {
            continue;
        }
        match read(&path, &left) {
            Ok((mut new, found)) => {
                new.run.id = free_name(&transaction, number)?;
                let mut stored = runs::insert_as(&writing, Some(number), &new)?;
                artifacts::insert(&writing, number, &found)?;
                uploads::take_over(&writing, folder, &stored.run.owner, &new.scenario)?;
                events::append_state(&mut writing, &mut stored, 1)?;
                tracing::warn!(run = %stored.run.id, path = %path.display(), "rebuilt from its files");
            }
            Err(problem) => tracing::error!(path = %path.display(), problem, "cannot be made a run again"),
        }
    }
    Ok(transaction.commit()?)
}

/// A name for the run of this number that no other has: somebody may have called another so.
fn free_name(connection: &Connection, number: i64) -> Result<String, StoreError> {
    let mut name = format!("recovered-{number}");
    let mut further = 2;
    while runs::find(connection, &name)?.is_some() {
        name = format!("recovered-{number}-{further}");
        further += 1;
    }
    Ok(name)
}

/// What a folder tells of its run, but for a name.
fn read(path: &Path, left: &LeftFiles) -> Result<(New, Vec<Artifact>), String> {
    let names = files::entries(path).map_err(|error| error.to_string())?;
    let names: Vec<_> = names.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    let is_sweep = names.contains(&"sweep.json");
    let known: Vec<&str> = if is_sweep {
        [&OF_SWEEP, DETAILS_OF_SWEEP.as_flattened()].concat()
    } else {
        artifacts::of_simulation().collect()
    };
    if let Some(stranger) = names.iter().find(|name| !known.contains(name)) {
        return Err(format!("no run leaves a file called {stranger}"));
    }
    let text = |name: &str| fs::read_to_string(path.join(name)).map_err(|error| format!("{name}: {error}"));
    let document = text("scenario.toml")?;
    let source = ScenarioSource {
        name: "scenario.toml".to_owned(),
        document: document.as_str().into(),
        files: Arc::new(left.named_in(&document)),
        ..ScenarioSource::default()
    };
    let scenario = source.read(Arc::new(left.opened(&source))).resolve();
    let scenario = scenario.map_err(|mistakes| format!("scenario.toml: {mistakes}"))?;
    let has_series = !is_sweep && scenario.measure.series.is_some();
    let complete = if is_sweep { of_sweep(&names) } else { artifacts::of_scenario(&scenario) };
    if names != complete && (is_sweep || names != artifacts::of_scenario_before(&scenario)) {
        return Err(format!("its files are {}, and should be {}", names.join(", "), complete.join(", ")));
    }
    let table = if is_sweep { Some("sweep.csv") } else { has_series.then_some("series.csv") };
    if let Some(name) = table {
        Table::read_csv(text(name)?.as_bytes()).map_err(|error| format!("{name}: {error}"))?;
    }
    let run =
        if is_sweep { sweep(&text("sweep.json")?, &scenario)? } else { simulation(&text("report.json")?, &scenario)? };
    // Whose it was, and who might see it, is not known.
    let private = true;
    let (note, files) = (NOTE.to_owned(), source.files.clone());
    let run = Run { state: State::Succeeded, note, private, files, ..run };
    let document_hash = runs::document_hash(&document);
    let found = names.iter().map(|name| artifact(path, name)).collect::<Result<_, _>>()?;
    Ok((New { run, scenario: source, document_hash, threads: 1, memory_bytes: 0 }, found))
}

/// Files that a sweep leaves which has left these, in the order of their names: of a table both.
fn of_sweep(names: &[&str]) -> Vec<&'static str> {
    let is_there = |details: &&[&str; 2]| details.iter().any(|name| names.contains(name));
    let mut files: Vec<&str> = DETAILS_OF_SWEEP.iter().filter(is_there).flatten().copied().chain(OF_SWEEP).collect();
    files.sort_unstable();
    files
}

fn simulation(report: &str, scenario: &Scenario) -> Result<Run, String> {
    let report = Report::read_json(report.as_bytes()).map_err(|error| format!("report.json: {error}"))?;
    if report.scenario_digest != scenario.digest {
        return Err("report.json is of another scenario than scenario.toml".to_owned());
    }
    let cycles = report.cycles.warmup + report.cycles.measured;
    let packet_hops = report.performance.packet_hops;
    Ok(Run {
        execution: Execution { threads: Some(report.performance.threads), ..Execution::default() },
        progress: Progress { cycle: cycles, cycles, packet_hops, ..Progress::default() },
        summary: Some(Summary::of(&report)),
        scenario_digest: report.scenario_digest,
        result_digest: report.result_digest,
        title: report.title,
        ..Run::default()
    })
}

/// Its runs are rebuilt as runs of their own: which they were is said nowhere.
fn sweep(manifest: &str, scenario: &Scenario) -> Result<Run, String> {
    let manifest: SweepManifest = serde_json::from_str(manifest).map_err(|error| format!("sweep.json: {error}"))?;
    if manifest.scenario_digest != scenario.digest {
        return Err("sweep.json is of another scenario than scenario.toml".to_owned());
    }
    let sweep = Some(SweepRequest::default());
    Ok(Run { sweep, scenario_digest: manifest.scenario_digest, title: manifest.title, ..Run::default() })
}

fn artifact(path: &Path, name: &str) -> Result<Artifact, String> {
    let found = fs::File::open(path.join(name)).and_then(|file| checked::digest(file, &mut std::io::sink()));
    let (size, sha256) = found.map_err(|error| format!("{name}: {error}"))?;
    Ok(Artifact { name: name.to_owned(), size, sha256, media_type: File::media_type_of(name).to_owned() })
}
