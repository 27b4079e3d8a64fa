//! A store of many runs: that all of it is read when it is opened, and how long that takes. `TAILBACK_STORE_RUNS` says how
//! many there are, 200 by default; with `--nocapture` the times are told.

use std::path::Path;
use std::time::Instant;

use super::*;
use crate::domain::{Artifact, Run, Sample, ScenarioSource, State, TakenSample};
use runs::New;

/// Samples of each run, as one of twenty seconds leaves behind.
const SAMPLES: i64 = 20;
const ARTIFACT_BYTES: u64 = 3_000;
/// Runs that are written at once.
const TOGETHER: usize = 100;

fn open(folder: &Path) -> Result<Store, StoreError> {
    Store::open(folder, false, Told { hub: Arc::default(), meters: Arc::default() })
}

/// A run that has succeeded, with all that it leaves in the database.
fn put(writing: &mut Writing<'_>, index: usize) -> Result<(), StoreError> {
    let run = Run { id: format!("run-{index}"), title: "One of many".to_owned(), ..Run::default() };
    let document = "a scenario that all runs share\n".repeat(40);
    let hash = runs::document_hash(&document);
    let scenario = ScenarioSource { document: document.into(), ..ScenarioSource::default() };
    let mut stored =
        runs::insert(writing, &New { run, scenario, document_hash: hash, threads: 1, memory_bytes: 1 << 20 })?;
    events::append_state(writing, &mut stored, 1000)?;
    runs::set_state(&mut stored, State::Running);
    events::append_state(writing, &mut stored, 1000)?;
    let numbers = events::reserve(writing, stored.number, SAMPLES)?;
    let sample = Sample { accepted_load: Some(0.3), latency_mean: Some(123.4), ..Sample::default() };
    let taken: Vec<_> = numbers.map(|sequence| TakenSample { sequence, time_ms: 0, sample }).collect();
    samples::insert(writing, stored.number, &taken)?;
    let artifact = |name: &str| Artifact {
        name: name.to_owned(),
        size: ARTIFACT_BYTES,
        sha256: "0".repeat(64),
        media_type: "text/plain".to_owned(),
    };
    artifacts::insert(writing, stored.number, &["report.json", "report.txt", "scenario.toml"].map(artifact))?;
    runs::set_state(&mut stored, State::Succeeded);
    events::append_state(writing, &mut stored, 1000)
}

#[test]
fn all_of_many_runs_is_looked_at_when_they_are_opened() {
    let count = std::env::var("TAILBACK_STORE_RUNS").map_or(200, |count| count.parse().expect("a number"));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let store = open(folder.path()).expect("it can be made");
    for first in (0..count).step_by(TOGETHER) {
        let some = move |writing: &mut Writing<'_>| {
            (first..count.min(first + TOGETHER)).try_for_each(|index| put(writing, index))
        };
        store.write_blocking(some).expect("it can be written");
    }
    store.close();
    drop(store);
    let began = Instant::now();
    let store = open(folder.path()).expect("it is whole");
    let opening = began.elapsed();
    let began = Instant::now();
    let ended = store.read_blocking(ended::all).expect("it can be read");
    let looking = began.elapsed();
    let bytes = store.database_bytes().expect("it is there");
    eprintln!("{count} runs, {} MiB: opened in {opening:.1?}, retention finds them in {looking:.1?}", bytes >> 20);
    assert_eq!((ended.len(), ended[0].bytes), (count, 3 * ARTIFACT_BYTES));
    store.close();
    drop(store);
    // Wherever a page is gone, the start tells.
    let path = database(folder.path());
    let whole = std::fs::read(&path).expect("it is there");
    for part in 1..8 {
        let mut damaged = whole.clone();
        let page = whole.len() / 4096 * part / 8 * 4096;
        damaged[page..page + 4096].fill(0xff);
        std::fs::write(&path, damaged).expect("it can be written");
        assert!(open(folder.path()).is_err_and(|error| error.to_string().contains("is damaged")), "page {page}");
    }
}
