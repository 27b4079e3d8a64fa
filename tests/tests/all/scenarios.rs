//! The scenario files of this package, and what comes of scenarios.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tailback_report::Report;
use tailback_scenario::{Document, Scenario};
use tailback_sim::{Findings, Run, Timing};

/// A file below this package.
pub fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The names of all scenarios, sorted.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = toml_files(&here("scenarios")).iter().map(|file| stem(file)).collect();
    names.sort();
    names
}

/// A scenario with overrides laid over it.
pub fn resolve(name: &str, overrides: &[&str]) -> Scenario {
    resolve_with(read(&here(&format!("scenarios/{name}.toml"))), overrides)
}

/// A document with overrides laid over it.
pub fn resolve_with(document: Document, overrides: &[&str]) -> Scenario {
    let document = overrides.iter().fold(document, |document, set| document.with(set));
    document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// The scenario that a text describes.
pub fn resolve_text(text: &str) -> Scenario {
    resolve_with(Document::read("test.toml", text), &[])
}

/// What a run finds, from its beginning to its end.
pub fn findings_of(scenario: &Scenario, threads: usize) -> Findings {
    let mut run = Run::new(scenario, threads).expect("it can be started");
    run.finish(|_| ControlFlow::Continue(())).unwrap_or_else(|failure| panic!("{}: {failure}", scenario.title));
    run.findings().unwrap_or_else(|failure| panic!("{}: {failure}", scenario.title))
}

/// What is reported of that.
pub fn report_of(scenario: &Scenario, threads: usize) -> Report {
    findings_of(scenario, threads).report(scenario, "0", &Timing::default())
}

/// The document in a file.
pub fn read(file: &Path) -> Document {
    let shown = file.display().to_string();
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("cannot read {shown}: {error}"));
    Document::read(&shown, &text)
}

/// All files that end in `.toml` in a folder and the folders in it.
pub fn toml_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.expect("a folder can be read to its end").path();
        if path.is_dir() {
            files.extend(toml_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn stem(file: &Path) -> String {
    file.file_stem().and_then(|stem| stem.to_str()).expect("scenarios have plain names").to_owned()
}
