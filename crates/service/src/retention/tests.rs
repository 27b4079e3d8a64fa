//! Retention on a store of its own, at times that the tests choose.

use rusqlite::Connection;

use super::*;
use crate::domain::{Run, ScenarioSource, State, SweepRequest};
use crate::store::artifacts::File;
use crate::store::runs::{self, New};
use crate::store::{StoreError, Told, artifacts, files};

/// Kept for as long as the store is.
type Folder = tempfile::TempDir;

fn store() -> (Folder, Arc<Store>) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let told = Told { hub: Arc::default(), meters: Arc::default() };
    let store = Store::open(folder.path(), false, told).expect("the folder can be used");
    (folder, Arc::new(store))
}

/// A run in a state, that ended at a time, with an artifact of so many bytes.
fn put(store: &Store, run: Run, bytes: usize) -> i64 {
    let folder = store.folder().to_owned();
    let new = New { run, scenario: ScenarioSource::default(), document_hash: "".into(), threads: 1, memory_bytes: 1 };
    let insert = move |writing: &mut crate::store::Writing<'_>| {
        let stored = runs::insert(writing, &new)?;
        let (to, file) = (files::artifacts(&folder, stored.number), File::new("report.json", vec![b' '; bytes]));
        std::fs::create_dir_all(&to).expect("the folder can be made");
        let written = artifacts::write(&to, &[file], u64::MAX).expect("it is not too large");
        artifacts::insert(writing, stored.number, &written)?;
        Ok(stored.number)
    };
    store.write_blocking(insert).expect("it can be written")
}

fn run(id: &str, state: State, ended_ms: i64) -> Run {
    Run { id: id.to_owned(), state, ended_ms: state.has_ended().then_some(ended_ms), ..Run::default() }
}

fn child(of: &str, number: u32, state: State, ended_ms: i64) -> Run {
    let whole = run(&format!("{of}.{number}"), state, ended_ms);
    Run { parent_id: of.to_owned(), child_number: number, ..whole }
}

fn ids(store: &Store) -> Vec<String> {
    let read = |connection: &Connection| {
        let mut query = connection.prepare("SELECT id FROM runs ORDER BY number")?;
        Ok(query.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?)
    };
    store.read_blocking(read).expect("it can be read")
}

const OLD: Kept = Kept { age_ms_max: Some(100), bytes_max: None };
const LARGE: Kept = Kept { age_ms_max: None, bytes_max: Some(100) };

async fn delete_at(store: &Arc<Store>, kept: Kept, now_ms: i64) -> Vec<String> {
    let store = store.clone();
    delete_surplus(&store, kept, now_ms, || false).await.expect("it can be read");
    let reading = tokio::task::spawn_blocking(move || ids(&store));
    reading.await.expect("it does not panic")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_old_is_deleted_with_its_files_and_what_runs_is_not() {
    let (_folder, store) = store();
    let numbers = tokio::task::block_in_place(|| {
        put(&store, run("running", State::Running, 0), 10);
        put(&store, run("pending", State::Pending, 0), 10);
        [("old", State::Succeeded, 1000), ("failed", State::Failed, 1001), ("young", State::Cancelled, 1050)]
            .map(|(id, state, ended_ms)| put(&store, run(id, state, ended_ms), 10))
    });
    let is_there = |number| files::artifacts(store.folder(), number).exists();
    assert_eq!(delete_at(&store, OLD, 1100).await, ["running", "pending", "old", "failed", "young"], "not yet");
    assert_eq!(delete_at(&store, OLD, 1101).await, ["running", "pending", "failed", "young"]);
    assert_eq!(numbers.map(is_there), [false, true, true]);
    assert_eq!(delete_at(&store, OLD, 0).await.len(), 4, "the clock was turned back");
    assert_eq!(delete_at(&store, OLD, i64::MAX).await, ["running", "pending"]);
    assert_eq!(numbers.map(is_there), [false; 3]);
    let removals = |connection: &Connection| -> Result<i64, StoreError> {
        Ok(connection.query_row("SELECT count(*) FROM removals", [], |row| row.get(0))?)
    };
    assert_eq!(tokio::task::block_in_place(|| store.read_blocking(removals)), Ok(0), "nothing is left to be removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_goes_as_a_whole_when_it_has_ended() {
    let (_folder, store) = store();
    tokio::task::block_in_place(|| {
        let sweep = |id, state, ended_ms| Run { sweep: Some(SweepRequest::default()), ..run(id, state, ended_ms) };
        put(&store, sweep("done", State::Succeeded, 1000), 1);
        put(&store, child("done", 1, State::Succeeded, 500), 60);
        put(&store, child("done", 2, State::Succeeded, 600), 60);
        put(&store, sweep("going", State::Running, 0), 1);
        put(&store, child("going", 1, State::Succeeded, 500), 500);
        put(&store, run("single", State::Succeeded, 2000), 90);
    });
    let all = ["done", "done.1", "done.2", "going", "going.1", "single"];
    assert_eq!(delete_at(&store, OLD, 1100).await, all, "its age is that of the sweep");
    assert_eq!(delete_at(&store, LARGE, 0).await, &all[3..], "its room is that of its runs");
    assert_eq!(delete_at(&store, OLD, 1_000_000).await, &all[3..5]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_damaged_is_not_deleted() {
    let (_folder, store) = store();
    tokio::task::block_in_place(|| {
        for id in ["row", "artifact", "good"] {
            put(&store, run(id, State::Succeeded, 1000), 10);
        }
        put(&store, Run { sweep: Some(SweepRequest::default()), ..run("sweep", State::Failed, 1000) }, 1);
        put(&store, child("sweep", 1, State::Succeeded, 1000), 10);
        let database = Connection::open(store.folder().join("tailback.sqlite")).expect("it is there");
        let damage = "UPDATE runs SET content = replace(content, '1000', '1') WHERE id IN ('row', 'sweep.1');
            UPDATE artifacts SET size = 1 << 40 WHERE number = (SELECT number FROM runs WHERE id = 'artifact')";
        database.execute_batch(damage).expect("it can be written");
    });
    assert_eq!(delete_at(&store, LARGE, 0).await.len(), 5, "what is damaged does not count");
    assert_eq!(delete_at(&store, OLD, i64::MAX).await, ["row", "artifact", "sweep", "sweep.1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_run_of_the_same_name_is_not_deleted_for_it() {
    let (_folder, store) = store();
    let found = tokio::task::block_in_place(|| {
        put(&store, run("name", State::Succeeded, 1000), 10);
        let found = store.read_blocking(ended::all).expect("it can be read").remove(0);
        store.write_blocking(|writing| runs::delete(writing, "name")).expect("it can be deleted");
        put(&store, run("name", State::Succeeded, 1000), 10);
        found
    });
    assert_eq!(delete(&store, found).await, Err(ApiError::RunNotFound("name".to_owned())));
    assert_eq!(tokio::task::block_in_place(|| ids(&store)), ["name"]);
}

#[test]
fn limits_of_nothing_are_none() {
    assert_eq!(Kept::by(&Limits::default()), None);
    let limits = Limits { ended_age_s_max: 60, ..Limits::default() };
    assert_eq!(Kept::by(&limits), Some(Kept { age_ms_max: Some(60_000), bytes_max: None }));
    let limits = Limits { ended_artifact_bytes_max: 7, ..Limits::default() };
    assert_eq!(Kept::by(&limits), Some(Kept { age_ms_max: None, bytes_max: Some(7) }));
}
