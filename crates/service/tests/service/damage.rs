//! Files that are damaged or lost: nothing of them is served, nothing is deleted, and the rest goes on.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tailback_api::v1::{
    CancelRunRequest, CreateRunRequest, DeleteRunRequest, GetReportRequest, ListArtifactsRequest, ListRunsRequest,
    QuerySeriesRequest, ReadArtifactRequest, RetryRunRequest, RunErrorReason, RunState, Sweep,
};
use tailback_service::{Configuration, Limits, Server};
use tempfile::TempDir;
use tonic::{Code, Status};

use crate::harness::{Client, SMALL, Served, configuration, endless, limits, named, reason};

fn database(folder: &Path) -> Connection {
    Connection::open(folder.join("tailback.sqlite")).expect("it can be opened")
}

/// The number of a run, which its files are under.
fn number(folder: &Path, id: &str) -> i64 {
    let query = "SELECT number FROM runs WHERE id = ?1";
    database(folder).query_row(query, [id], |row| row.get(0)).expect("it is there")
}

fn artifact(folder: &Path, id: &str, name: &str) -> PathBuf {
    folder.join("artifacts").join(number(folder, id).to_string()).join(name)
}

/// Files below a folder with what is in them, but for those that each start writes and that hold nothing.
pub fn files(folder: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("it can be read") {
            let path = entry.expect("to its end").path();
            if path.is_dir() {
                folders.push(path);
            } else if !["lock", "reserve", "tailback.sqlite-shm"].map(|name| folder.join(name)).contains(&path) {
                let content = fs::read(&path).expect("it can be read");
                found.insert(path.strip_prefix(folder).expect("it is below").to_owned(), content);
            }
        }
    }
    found
}

/// Why a server does not start in a folder.
async fn refusal(folder: &Path, recover: bool) -> String {
    let configuration = Configuration { recover, limits: limits(), ..configuration(folder) };
    Server::bind(configuration).await.err().expect("it is not started").to_string()
}

pub async fn recovered(folder: &Path) -> Served {
    let local = configuration(folder);
    Served::configured(Configuration { recover: true, limits: limits(), ..local }).await
}

fn with_series() -> String {
    format!("{SMALL}series = 10\n")
}

/// A folder that a server has left in which these runs have succeeded.
async fn left_with(ids: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    for id in ids {
        client.create(named(id, &with_series())).await.expect("it is accepted");
        assert_eq!(client.ended(id).await.state(), RunState::Succeeded);
    }
    server.stop().await;
    folder
}

async fn report(client: &mut Client, id: &str) -> Result<String, Status> {
    let report = client.results.get_report(GetReportRequest { run_id: id.to_owned() }).await?;
    Ok(report.into_inner().json)
}

pub async fn content(client: &mut Client, id: &str, name: &str) -> Result<Vec<u8>, Status> {
    let request = ReadArtifactRequest { run_id: id.to_owned(), name: name.to_owned(), offset: 0 };
    let mut stream = client.results.read_artifact(request).await?.into_inner();
    let mut content = Vec::new();
    while let Some(piece) = stream.message().await? {
        content.extend(piece.content);
    }
    Ok(content)
}

pub async fn listed(client: &mut Client) -> Vec<tailback_api::v1::Run> {
    let request = ListRunsRequest { include_scenario: true, ..Default::default() };
    client.runs.list_runs(request).await.expect("they can be listed").into_inner().runs
}

/// It says what of which run is lost.
fn is_loss(status: &Status, run: &str, part: &str) {
    let (name, about) = reason(status);
    assert_eq!((status.code(), name.as_str()), (Code::DataLoss, "DATA_LOSS"), "{status:?}");
    assert_eq!((about["run"].as_str(), about["part"].as_str()), (run, part), "{status:?}");
    assert!(status.message().contains(run) && status.message().contains(part), "{status:?}");
}

#[tokio::test]
async fn a_damaged_database_is_refused_and_nothing_is_changed() {
    let folder = left_with(&["one", "two"]).await;
    let path = folder.path().join("tailback.sqlite");
    let whole = fs::read(&path).expect("it is there");
    let mut changed = whole.clone();
    changed[4096..8192].fill(0x5a);
    for (damaged, with_log) in
        [(&whole[..whole.len() / 2], false), (&changed, false), (b"hello".as_slice(), false), (&[], true)]
    {
        fs::write(&path, damaged).expect("it can be written");
        let log = folder.path().join("tailback.sqlite-wal");
        if with_log {
            fs::write(&log, [1; 100]).expect("it can be written");
        }
        let before = files(folder.path());
        let problem = refusal(folder.path(), false).await;
        assert!(problem.contains("tailback.sqlite is damaged: "), "{problem}");
        assert!(problem.contains("tailback restore") && problem.contains("--recover"), "{problem}");
        let after = files(folder.path());
        assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
        assert!(after == before, "something was changed");
    }
}

#[tokio::test]
async fn a_lost_database_is_refused_and_its_runs_are_rebuilt_if_asked_for() {
    let folder = left_with(&["one", "two"]).await;
    let sound = Served::at(folder.path(), limits()).await;
    let expected = report(&mut sound.client().await, "one").await.expect("it is there");
    sound.stop().await;
    fs::remove_file(folder.path().join("tailback.sqlite")).expect("it is there");
    let before = files(folder.path());
    // Empty or gone is the same.
    for _ in 0..2 {
        let problem = refusal(folder.path(), false).await;
        assert!(problem.contains("knows no runs") && problem.contains("--recover"), "{problem}");
        fs::write(folder.path().join("tailback.sqlite"), []).expect("it can be written");
    }
    // One of them is incomplete: it is set aside.
    fs::remove_file(folder.path().join("artifacts/2/report.txt")).expect("it is there");
    let server = recovered(folder.path()).await;
    let mut client = server.client().await;
    let runs = listed(&mut client).await;
    assert_eq!(runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), ["recovered-1"]);
    assert!(runs[0].note.contains("not known") && runs[0].summary.is_some(), "{runs:?}");
    assert_eq!(report(&mut client, "recovered-1").await.expect("it is there"), expected);
    let series = QuerySeriesRequest { run_id: "recovered-1".to_owned(), ..Default::default() };
    assert_eq!(client.results.query_series(series).await.expect("it is there").into_inner().rows, 50);
    client.create(named("new", SMALL)).await.expect("it is accepted");
    client.ended("new").await;
    server.stop().await;
    let after = files(folder.path());
    for (path, content) in before.iter().filter(|(path, _)| path.starts_with("artifacts/2")) {
        let aside = Path::new("quarantine/artifacts-2").join(path.file_name().expect("it is a file"));
        assert!(path.ends_with("report.txt") || after.get(&aside) == Some(content), "{}", path.display());
    }
    assert!(after.contains_key(Path::new("artifacts/1/report.json")));
}

#[tokio::test]
async fn a_damaged_database_is_set_aside_when_runs_are_rebuilt() {
    let folder = left_with(&["one"]).await;
    let path = folder.path().join("tailback.sqlite");
    for count in 1..3 {
        fs::write(&path, format!("damaged {count}")).expect("it can be written");
        let server = recovered(folder.path()).await;
        assert_eq!(listed(&mut server.client().await).await.len(), 1);
        server.stop().await;
        let name = if count == 1 { "tailback.sqlite".to_owned() } else { format!("tailback.sqlite.{count}") };
        let aside = fs::read_to_string(folder.path().join("quarantine").join(name)).expect("it was set aside");
        assert_eq!(aside, format!("damaged {count}"));
    }
    // With nothing to rebuild, it is as without.
    let server = recovered(folder.path()).await;
    assert_eq!(listed(&mut server.client().await).await[0].id, "recovered-1");
    server.stop().await;
}

/// A run may be called as rebuilt ones are.
#[tokio::test]
async fn a_run_whose_name_is_taken_is_rebuilt_under_another() {
    let folder = left_with(&["recovered-2"]).await;
    let database = folder.path().join("tailback.sqlite");
    let before = fs::read(&database).expect("it is there");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    client.create(named("lost", &with_series())).await.expect("it is accepted");
    client.ended("lost").await;
    server.stop().await;
    fs::write(&database, before).expect("it can be written");
    let server = recovered(folder.path()).await;
    let mut client = server.client().await;
    let ids: Vec<String> = listed(&mut client).await.into_iter().map(|run| run.id).collect();
    assert_eq!(ids, ["recovered-2-2", "recovered-2"]);
    for id in ids {
        assert!(report(&mut client, &id).await.expect("it is there").contains("\"accepted_load\""), "{id}");
    }
    server.stop().await;
}

#[tokio::test]
async fn runs_are_rebuilt_with_their_tables() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let burst = SMALL.replace("load = 0.3", "load = 0.3\ncount = 5");
    let looked = "series = 10\ntrees = { every = 100 }\nlinks = { every = 100 }\n";
    for (id, more) in [("listed", ""), ("all", looked)] {
        client.create(named(id, &format!("{burst}messages = true\n{more}"))).await.expect("it is accepted");
        assert_eq!(client.ended(id).await.state(), RunState::Succeeded);
    }
    let expected = content(&mut client, "listed", "messages.csv").await.expect("it is there");
    let links = content(&mut client, "all", "links.csv").await.expect("it is there");
    server.stop().await;
    fs::remove_file(folder.path().join("tailback.sqlite")).expect("it is there");
    // Earlier builds left no histograms.
    for name in ["histograms.csv", "histograms.parquet"] {
        fs::remove_file(folder.path().join("artifacts/1").join(name)).expect("it is there");
    }
    let server = recovered(folder.path()).await;
    let mut client = server.client().await;
    assert_eq!(listed(&mut client).await.len(), 2);
    for id in ["recovered-1", "recovered-2"] {
        assert_eq!(content(&mut client, id, "messages.csv").await.expect("it is there"), expected);
    }
    assert_eq!(content(&mut client, "recovered-2", "links.csv").await.expect("it is there"), links);
    server.stop().await;
}

#[tokio::test]
async fn sweeps_are_rebuilt_with_their_tables() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let sweep = Some(Sweep { over: vec!["traffic.load=0.1,0.2".to_owned()], ..Sweep::default() });
    client.create(CreateRunRequest { sweep, ..named("curve", &with_series()) }).await.expect("it is accepted");
    client.ended("curve").await;
    let table = content(&mut client, "curve", "sweep.csv").await.expect("it is there");
    server.stop().await;
    // As earlier builds have left them.
    for name in ["histograms.csv", "histograms.parquet"] {
        fs::remove_file(artifact(folder.path(), "curve", name)).expect("it is there");
    }
    fs::remove_file(folder.path().join("tailback.sqlite")).expect("it is there");
    let server = recovered(folder.path()).await;
    let mut client = server.client().await;
    assert_eq!(listed(&mut client).await.len(), 3);
    assert_eq!(content(&mut client, "recovered-1", "sweep.csv").await.expect("it is there"), table);
    assert!(content(&mut client, "recovered-1", "series.parquet").await.is_ok());
    server.stop().await;
}

/// A table of a run that is damaged is missed in that table of its sweep, and nowhere else.
#[tokio::test]
async fn damaged_parts_are_left_out_of_sweeps() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let sweep = Some(Sweep { over: vec!["measure.cycles=400,30000".to_owned()], ..Sweep::default() });
    client.create(CreateRunRequest { sweep, ..named("curve", &with_series()) }).await.expect("it is accepted");
    client.ended("curve.1").await;
    fs::write(artifact(&server.folder, "curve.1", "histograms.csv"), "flow\n").expect("it can be written");
    let curve = client.ended("curve").await;
    assert_eq!(curve.state(), RunState::Succeeded, "{:?}", curve.error);
    assert!(curve.note.starts_with("it has no histograms as a whole, but its runs have: "), "{}", curve.note);
    assert!(curve.note.contains("curve.1"), "{}", curve.note);
    let status = content(&mut client, "curve", "histograms.csv").await.expect_err("it is left out");
    assert_eq!(status.code(), Code::NotFound);
    assert!(content(&mut client, "curve", "series.csv").await.is_ok());
    server.stop().await;
}

#[tokio::test]
async fn strangers_are_set_aside_and_what_was_deleted_is_removed() {
    let folder = left_with(&["one", "two"]).await;
    let path = |name: &str| folder.path().join(name);
    for name in ["artifacts/77", "artifacts/notes", "artifacts/01", "artifacts/78"] {
        fs::create_dir(path(name)).expect("it can be made");
        fs::write(path(name).join("report.json"), name).expect("it can be written");
    }
    for name in ["checkpoints/77", "checkpoints/1", "checkpoints/5.unfinished", "artifacts/letter"] {
        fs::write(path(name), name).expect("it can be written");
    }
    // As if the files of a deleted run could not be removed.
    database(folder.path()).execute("INSERT INTO removals VALUES (78)", []).expect("it can be inserted");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let read = |name: &str| fs::read_to_string(path("quarantine").join(name)).expect("it was set aside");
    assert_eq!(read("artifacts-77/report.json"), "artifacts/77");
    assert_eq!(read("artifacts-notes/report.json"), "artifacts/notes");
    assert_eq!(read("artifacts-01/report.json"), "artifacts/01");
    assert_eq!((read("artifacts-letter"), read("checkpoint-77")), ("artifacts/letter".into(), "checkpoints/77".into()));
    assert!(["artifacts/78", "checkpoints/1", "checkpoints/5.unfinished"].iter().all(|name| !path(name).exists()));
    assert_eq!(fs::read_dir(path("quarantine")).expect("it is there").count(), 5);
    assert_eq!(fs::read_dir(path("artifacts")).expect("it is there").count(), 2);
    client.runs.delete_run(DeleteRunRequest { run_id: "two".to_owned() }).await.expect("it can be deleted");
    server.stop().await;
    let left: i64 =
        database(folder.path()).query_row("SELECT count(*) FROM removals", [], |row| row.get(0)).expect("it is there");
    assert_eq!((left, path("artifacts/2").exists()), (0, false));
}

#[tokio::test]
async fn changed_artifacts_are_not_served() {
    let folder = left_with(&["one"]).await;
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let asked = ListArtifactsRequest { run_id: "one".to_owned() };
    let artifacts = client.results.list_artifacts(asked).await.expect("they can be listed").into_inner().artifacts;
    for name in artifacts.iter().map(|artifact| artifact.name.as_str()) {
        let (path, part) = (artifact(folder.path(), "one", name), format!("artifact `{name}`"));
        let whole = fs::read(&path).expect("it is there");
        let mut changed = whole.clone();
        changed[whole.len() / 2] ^= 1;
        for damaged in [Some(changed), Some(whole[1..].to_vec()), Some([&whole[..], b"\n"].concat()), None] {
            match damaged {
                Some(bytes) => fs::write(&path, bytes).expect("it can be written"),
                None => fs::remove_file(&path).expect("it is there"),
            }
            is_loss(&content(&mut client, "one", name).await.expect_err("it is damaged"), "one", &part);
            if name.starts_with("report.") {
                is_loss(&report(&mut client, "one").await.expect_err("it is damaged"), "one", &part);
            }
            if name == "series.csv" {
                let series = QuerySeriesRequest { run_id: "one".to_owned(), ..Default::default() };
                is_loss(&client.results.query_series(series).await.expect_err("it is damaged"), "one", &part);
            }
        }
        fs::write(&path, &whole).expect("it can be written");
        assert_eq!(content(&mut client, "one", name).await.expect("it is as it was"), whole);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_sweep_with_a_damaged_report_has_no_table() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let one = Limits { concurrent_runs_max: 1, ..limits() };
    let server = Served::at(folder.path(), one.clone()).await;
    let mut client = server.client().await;
    let sweep = Some(Sweep { over: vec!["measure.cycles=400,200000".to_owned()], ..Sweep::default() });
    client.create(CreateRunRequest { sweep, ..named("curve", SMALL) }).await.expect("it is accepted");
    client.until("curve.2", RunState::Running).await;
    server.stop().await;
    let path = artifact(folder.path(), "curve.1", "report.json");
    let report = fs::read_to_string(&path).expect("it is there");
    let changed = report.replacen("\"seed\": 1", "\"seed\": 2", 1);
    assert_ne!(changed, report);
    fs::write(&path, changed).expect("it can be written");
    let server = Served::at(folder.path(), one).await;
    let mut client = server.client().await;
    let ended = client.ended("curve").await;
    let error = ended.error.clone().expect("it has failed");
    assert_eq!((ended.state(), error.reason()), (RunState::Failed, RunErrorReason::Storage));
    assert!(error.message.contains("`report.json` of run `curve.1` is damaged"), "{}", error.message);
    assert_eq!(client.get("curve.2").await.expect("it is there").state(), RunState::Succeeded);
    server.stop().await;
}

#[tokio::test]
async fn a_damaged_row_fails_its_run_and_nothing_else() {
    let folder = left_with(&["good", "bad"]).await;
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    client.create(named("long", &endless())).await.expect("it is accepted");
    client.until("long", RunState::Running).await;
    server.stop().await;
    let change = |text: &str| database(folder.path()).execute(text, []).map(drop).expect("it can be changed");
    change("UPDATE runs SET content = replace(content, '\"hops_mean\":', '\"hops_mean\":1') WHERE id = 'bad'");
    change("UPDATE runs SET content = substr(content, 1, 100) WHERE id = 'long'");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let runs = listed(&mut client).await;
    let states: Vec<_> = runs.iter().map(|run| (run.id.as_str(), run.state())).collect();
    assert_eq!(
        states,
        [("long", RunState::Failed), ("bad", RunState::Failed), ("good", RunState::Succeeded)],
        "they are listed"
    );
    for id in ["bad", "long"] {
        let error = client.get(id).await.expect("it is there").error.expect("it has failed");
        assert_eq!(error.reason(), RunErrorReason::Storage);
        assert!(error.message.contains("its row in the database is damaged"), "{}", error.message);
        assert_eq!(client.ended(id).await.state(), RunState::Failed, "nobody waits for it");
    }
    assert!(report(&mut client, "good").await.is_ok());
    server.stop().await;
    // The one that had not ended was written over: as it was, it was set aside.
    let kept: String = database(folder.path())
        .query_row("SELECT content FROM damaged_runs WHERE id = 'long'", [], |row| row.get(0))
        .expect("it is there");
    assert_eq!(kept.len(), 100);
    let server = Served::at(folder.path(), limits()).await;
    server.client().await.runs.delete_run(DeleteRunRequest { run_id: "bad".to_owned() }).await.expect("it can be");
    server.stop().await;
}

#[tokio::test]
async fn a_damaged_scenario_event_or_artifact_row_is_told_of_its_run() {
    let folder = left_with(&["one", "two"]).await;
    let change = |text: &str| database(folder.path()).execute(text, []).map(drop).expect("it can be changed");
    change("UPDATE documents SET text = replace(text, '0.3', '0.4')");
    change("UPDATE events SET content = replace(content, 'succeeded', 'cancelled') WHERE number = 1");
    change("UPDATE artifacts SET size = size + 1 WHERE number = 1 AND name = 'report.txt'");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    for run in listed(&mut client).await {
        assert!(run.scenario.is_none() && run.note.contains("the scenario of run"), "{run:?}");
        assert_eq!(run.state(), RunState::Succeeded);
    }
    is_loss(&client.watch("one", 0).await.expect_err("it is damaged"), "one", "an event");
    is_loss(
        &report(&mut client, "one").await.expect_err("it is damaged"),
        "one",
        "a row of its artifacts in the database",
    );
    assert!(client.watch("two", 0).await.is_ok() && report(&mut client, "two").await.is_ok());
    server.stop().await;
}

#[tokio::test]
async fn a_stop_leaves_the_database_in_one_file() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let log = || fs::metadata(folder.path().join("tailback.sqlite-wal")).map_or(0, |about| about.len());
    client.create(named("one", SMALL)).await.expect("it is accepted");
    assert!(log() > 0, "changes are in the log first");
    server.stop().await;
    assert_eq!(log(), 0);
}

/// The same scenario can be submitted again, which makes that of the earlier run whole, too.
#[tokio::test]
async fn a_damaged_document_is_replaced_when_the_same_is_sent_again() {
    let folder = left_with(&["one"]).await;
    database(folder.path()).execute("UPDATE documents SET text = replace(text, '0.3', '0.4')", []).expect("it can be");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let damaged = client.get("one").await.expect("it is there");
    assert!(damaged.scenario.is_none() && damaged.note.contains("another SHA-256"), "{}", damaged.note);
    client.create(named("two", &with_series())).await.expect("it is accepted");
    assert_eq!(client.ended("two").await.state(), RunState::Succeeded);
    for id in ["one", "two"] {
        let whole = client.get(id).await.expect("it is there");
        assert_eq!((whole.scenario.expect("it is whole").document, whole.note), (with_series(), String::new()));
    }
    server.stop().await;
}

/// What was to be simulated is not known any more: neither from a row that is damaged, nor from what a start has made of it.
#[tokio::test]
async fn a_damaged_row_is_not_retried() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    for id in ["ended", "running"] {
        client.create(named(id, &endless())).await.expect("it is accepted");
        client.until(id, RunState::Running).await;
    }
    client.runs.cancel_run(CancelRunRequest { run_id: "ended".to_owned() }).await.expect("it can be cancelled");
    assert_eq!(client.ended("ended").await.state(), RunState::Cancelled);
    server.stop().await;
    database(folder.path()).execute("UPDATE runs SET title = 'other'", []).expect("it can be changed");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    for id in ["ended", "running"] {
        assert_eq!(client.get(id).await.expect("it is shown").state(), RunState::Failed);
        let asked = RetryRunRequest { run_id: id.to_owned(), request_id: String::new() };
        is_loss(&client.runs.retry_run(asked).await.expect_err("it is not known what it was"), id, "the row");
        assert_eq!(client.get(id).await.expect("it is shown").state(), RunState::Failed, "it stays as it is");
    }
    server.stop().await;
}
