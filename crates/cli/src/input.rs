//! From the command line to a scenario that can be run.

use std::path::Path;
use std::sync::Arc;

use tailback_scenario::{Document, Files, Scenario};
use tailback_sim::Plan;

use crate::arguments::ScenarioArguments;
use crate::complaint::Complaint;
use crate::files::Beside;
use crate::host;
use crate::rendering::Notes;

/// Reads the file, and lays over it what was said beside it.
pub fn document(arguments: &ScenarioArguments) -> Result<Document, Complaint> {
    document_with(arguments, Arc::new(Beside::of(&arguments.file)))
}

/// The same, where what it names is found by other means.
pub fn document_with(arguments: &ScenarioArguments, files: Arc<dyn Files>) -> Result<Document, Complaint> {
    let name = arguments.file.display().to_string();
    let text = read(&arguments.file)?;
    let document = Document::read(&name, &text).with_files(files);
    Ok(arguments.set.iter().fold(document, |document, set| document.with(set)))
}

/// With what options say of it.
pub fn with_options(mut document: Document, seed: Option<u64>, threads: Option<u32>) -> Document {
    if let Some(seed) = seed {
        document = document.with_from("--seed", &format!("seed={seed}"));
    }
    if let Some(threads) = threads {
        document = document.with_from("--threads", &format!("execution.threads={threads}"));
    }
    document
}

/// The scenario of a document that is resolved once; its notes are told.
pub fn resolve(document: &Document) -> Result<Scenario, Complaint> {
    let scenario = document.resolve()?;
    Notes::default().tell(&scenario.notes);
    Ok(scenario)
}

/// The text of a file.
pub fn read(file: &Path) -> Result<String, Complaint> {
    let name = file.display();
    let bytes = std::fs::read(file).map_err(|error| Complaint::bad_input(format!("cannot read {name}: {error}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Complaint::bad_input(format!("{name} is not text: from byte {at} on it is not UTF-8"))
    })
}

/// The threads that a scenario is simulated on.
pub fn threads(scenario: &Scenario) -> usize {
    scenario.execution.threads.map_or_else(host::cores, |threads| threads as usize)
}

/// A plan for so many threads that fits into memory.
pub fn plan(scenario: &Scenario, threads: usize) -> Result<Plan, Complaint> {
    let plan = Plan::on(scenario, threads);
    check_memory(plan.memory_bytes, scenario.execution.memory_bytes, 1)?;
    Ok(plan)
}

/// Refuses runs that together take more memory than there is, or than the scenario allows.
pub fn check_memory(bytes: u64, allowed: Option<u64>, runs_at_once: u64) -> Result<(), Complaint> {
    let limit = allowed.or_else(host::available_bytes).unwrap_or(u64::MAX);
    let needed = bytes.saturating_mul(runs_at_once);
    if needed <= limit {
        return Ok(());
    }
    let [needed, limit] = [needed, limit].map(|bytes| bytes as f64 / f64::from(1 << 30));
    let several = if runs_at_once > 1 { format!("{runs_at_once} runs at once") } else { "the run".to_owned() };
    let have = match allowed {
        Some(_) => format!("execution.memory_gib allows {limit:.0}"),
        None => format!("{limit:.1} are available"),
    };
    let fewer = if runs_at_once > 1 { "run fewer at once (--jobs), " } else { "" };
    Err(Complaint::BadInput(
        format!("{several} would take about {needed:.1} GiB of memory, {have}"),
        Some(format!("{fewer}make the network smaller, or raise execution.memory_gib if you know better")),
    ))
}

/// The name of a file without folder and ending.
pub fn stem(file: &Path) -> String {
    file.file_stem().map_or_else(|| "scenario".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
