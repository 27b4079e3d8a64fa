//! Results that are there already, for those who ask for them.

use std::path::Path;

use tailback_api::v1::{
    CancelRunRequest, CreateRunRequest, DeleteRunRequest, GetReportRequest, ListArtifactsRequest, ListRunsRequest, Run,
    RunState, Sweep, WaitRunRequest,
};
use tailback_service::{Configuration, Limits, Role};

use crate::harness::{Client, SMALL, Served, configuration, endless, limits, named};
use crate::tokens::{bearing, serve, tokens};

fn reusing(request: CreateRunRequest) -> CreateRunRequest {
    CreateRunRequest { reuse: true, ..request }
}

fn series() -> String {
    SMALL.replace("cycles = 400", "cycles = 400\nseries = 100")
}

/// Has a run simulated, or not.
async fn ended(client: &mut Client, request: CreateRunRequest) -> Run {
    let id = client.create(request).await.expect("it is accepted").id;
    let run = client.ended(&id).await;
    assert_eq!(run.state(), RunState::Succeeded, "{:?}", run.error);
    run
}

/// The names, sizes and hashes of what a run has left.
async fn artifacts(client: &mut Client, run: &str) -> Vec<(String, u64, String)> {
    let listed = client.results.list_artifacts(ListArtifactsRequest { run_id: run.to_owned() }).await;
    let listed = listed.expect("they can be listed").into_inner().artifacts;
    listed.into_iter().map(|artifact| (artifact.name, artifact.size, artifact.sha256)).collect()
}

async fn report(client: &mut Client, run: &str) -> String {
    let report = client.results.get_report(GetReportRequest { run_id: run.to_owned() }).await;
    report.expect("it is there").into_inner().json
}

#[tokio::test]
async fn results_are_copied_at_once_if_that_is_asked_for() {
    let server = Served::with(Limits { concurrent_runs_max: 1, ..limits() }).await;
    let mut client = server.client().await;
    let first = ended(&mut client, named("first", &series())).await;
    assert_eq!(ended(&mut client, named("asks-not", &series())).await.note, "");
    client.runs.delete_run(DeleteRunRequest { run_id: "asks-not".to_owned() }).await.expect("it has ended");
    client.create(named("endless", &endless())).await.expect("it is accepted");
    client.until("endless", RunState::Running).await;
    // Nothing can be simulated now.
    let again = ended(&mut client, reusing(named("again", &series().replace("A small", "The same")))).await;
    assert_eq!(again.note, "the results are those of run `first`, which has the same scenario digest");
    assert_eq!((&again.result_digest, &again.summary), (&first.result_digest, &first.summary));
    assert_eq!(again.progress, first.progress);
    let found = artifacts(&mut client, "again").await;
    assert_eq!((found.len(), &found), (7, &artifacts(&mut client, "first").await));
    let kept = report(&mut client, "first").await;
    client.runs.delete_run(DeleteRunRequest { run_id: "first".to_owned() }).await.expect("it has ended");
    assert_eq!(report(&mut client, "again").await, kept, "the files are its own");
    let third = ended(&mut client, reusing(named("third", &series()))).await;
    assert!(third.note.contains("`again`"), "{}", third.note);
    // What is not there has to wait.
    let other = series().replace("load = 0.3", "load = 0.2");
    client.create(reusing(named("other", &other))).await.expect("it is accepted");
    assert_eq!(ended(&mut client, reusing(named("fourth", &series()))).await.state(), RunState::Succeeded);
    assert_eq!(client.get("other").await.expect("it is there").state(), RunState::Pending);
    client.runs.cancel_run(CancelRunRequest { run_id: "endless".to_owned() }).await.expect("it can be");
    let other = client.ended("other").await;
    assert_eq!((other.state(), other.note.as_str()), (RunState::Succeeded, ""));
    server.stop().await;
}

#[tokio::test]
async fn runs_of_sweeps_take_results_one_by_one() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let sweep = |id: &str, over: &str| {
        let sweep = Sweep { over: vec![over.to_owned()], run_saturated: true, ..Sweep::default() };
        CreateRunRequest { sweep: Some(sweep), ..named(id, SMALL) }
    };
    ended(&mut client, sweep("half", "traffic.load=0.1,0.2")).await;
    let whole = ended(&mut client, reusing(sweep("whole", "traffic.load=0.1,0.2,0.3"))).await;
    let asked = ListRunsRequest { parent_id: "whole".to_owned(), ..ListRunsRequest::default() };
    let children = client.runs.list_runs(asked).await.expect("they can be listed").into_inner().runs;
    let is_of = |index: usize, source: &str| children[index].note.contains(source);
    assert!(is_of(0, "`half.1`") && is_of(1, "`half.2`") && children[2].note.is_empty(), "{children:?}");
    let plain = ended(&mut client, sweep("plain", "traffic.load=0.1,0.2,0.3")).await;
    assert_eq!(plain.result_digest, whole.result_digest);
    server.stop().await;
}

/// A server with one run, stopped.
async fn left_with_one(folder: &Path) {
    let server = Served::at(folder, limits()).await;
    ended(&mut server.client().await, named("one", SMALL)).await;
    server.stop().await;
}

#[tokio::test]
async fn what_is_damaged_is_not_reused() {
    for name in ["report.json", "report.txt", "scenario.toml"] {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        left_with_one(folder.path()).await;
        let path = folder.path().join("artifacts/1").join(name);
        let mut bytes = std::fs::read(&path).expect("it is there");
        bytes[10] ^= 1;
        std::fs::write(&path, &bytes).expect("it can be written");
        let server = Served::at(folder.path(), limits()).await;
        let mut client = server.client().await;
        let again = ended(&mut client, reusing(named("again", SMALL))).await;
        assert_eq!(again.note, "", "{name}");
        report(&mut client, "again").await;
        // That one is good.
        let third = ended(&mut client, reusing(named("third", SMALL))).await;
        assert!(third.note.contains("`again`"), "{}", third.note);
        server.stop().await;
    }
}

#[tokio::test]
async fn results_of_other_versions_and_of_unknown_origin_are_not_reused() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    left_with_one(folder.path()).await;
    let other = Configuration { limits: limits(), version: "another".to_owned(), ..configuration(folder.path()) };
    let server = Served::configured(other).await;
    assert_eq!(ended(&mut server.client().await, reusing(named("again", SMALL))).await.note, "");
    server.stop().await;
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.path().join(format!("tailback.sqlite{ending}")));
    }
    let rebuilt = Configuration { limits: limits(), ..configuration(folder.path()) };
    let server = Served::configured(Configuration { recover: true, ..rebuilt }).await;
    let mut client = server.client().await;
    assert!(client.get("recovered-1").await.expect("it is rebuilt").private, "whose it was is not known");
    assert_eq!(ended(&mut client, reusing(named("third", SMALL))).await.note, "");
    server.stop().await;
}

#[tokio::test]
async fn what_is_private_stays_with_its_owner() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let people = [("alice", Role::Submit), ("bob", Role::Submit), ("carol", Role::Admin)];
    let (file, tokens) = tokens(folder.path(), &people);
    let server = serve(folder.path(), &file, limits()).await;
    let private = |request| CreateRunRequest { private: true, ..request };
    let other = SMALL.replace("load = 0.3", "load = 0.25");
    for (who, request, source) in [
        (0, private(named("hidden", SMALL)), ""),
        (1, reusing(named("his", SMALL)), ""),
        (0, private(reusing(named("hers", SMALL))), "`his`"),
        (0, private(named("secret", &other)), ""),
        (2, private(reusing(named("admins", &other))), ""),
        (0, private(reusing(named("again", &other))), "`secret`"),
        (0, reusing(named("open", &other)), ""),
    ] {
        let mut client = bearing(&server, &tokens[who]).await;
        let id = client.create_run(request).await.expect("it is accepted").into_inner().run.expect("a run").id;
        let asked = WaitRunRequest { run_id: id.clone(), timeout: None };
        let run = client.wait_run(asked).await.expect("it ends").into_inner().run.expect("a run");
        assert_eq!(run.state(), RunState::Succeeded);
        assert_eq!((run.note.is_empty(), run.note.contains(source)), (source.is_empty(), true), "{id}: {}", run.note);
    }
    server.stop().await;
}
