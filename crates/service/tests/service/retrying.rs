//! Runs that failed or were cancelled, simulated again.

use std::fs;
use std::path::Path;

use tailback_api::v1::watch_run_response::Event;
use tailback_api::v1::{
    CancelRunRequest, CreateRunRequest, DeleteFileRequest, ListArtifactsRequest, ListRunsRequest, QuerySeriesRequest,
    QuerySeriesResponse, RetryRunRequest, Run, RunErrorReason, RunState, Sweep,
};
use tailback_service::{Limits, Role};
use tonic::{Code, Status};

use crate::harness::{Client, SMALL, Served, endless, limits, named, reason};
use crate::tokens::{bearing, serve, tokens};
use crate::uploading::{LIST, sha256, upload};

async fn retry(client: &mut Client, run: &str, request: &str) -> Result<Run, Status> {
    let asked = RetryRunRequest { run_id: run.to_owned(), request_id: request.to_owned() };
    Ok(client.runs.retry_run(asked).await?.into_inner().run.expect("there is a run"))
}

async fn cancel(client: &mut Client, run: &str) {
    client.runs.cancel_run(CancelRunRequest { run_id: run.to_owned() }).await.expect("it can be");
}

async fn children(client: &mut Client, id: &str) -> Vec<Run> {
    let asked = ListRunsRequest { parent_id: id.to_owned(), page_size: 1000, ..Default::default() };
    client.runs.list_runs(asked).await.expect("they can be listed").into_inner().runs
}

async fn table(client: &mut Client, id: &str) -> QuerySeriesResponse {
    let columns = ["measure.series", "traffic.load", "accepted_load"].map(str::to_owned).to_vec();
    let asked = QuerySeriesRequest { run_id: id.to_owned(), columns, ..Default::default() };
    client.results.query_series(asked).await.expect("it is there").into_inner()
}

/// Two curves that saturate; the runs of the first have long time series.
fn two_curves(id: &str) -> CreateRunRequest {
    let document = SMALL
        .replace("load = 0.3", "load = 0.1\npattern.adversarial.offset = 1")
        .replace("cycles = 400", "cycles = 3000");
    let over = ["measure.series=1,1000", "traffic.load=0.1..1/0.1"].map(str::to_owned).to_vec();
    CreateRunRequest { sweep: Some(Sweep { over, ..Sweep::default() }), ..named(id, &document) }
}

/// A sweep whose first curve fails, because its series take more bytes than runs may.
async fn left_with_failures(folder: &Path) -> Vec<Run> {
    let server = Served::at(folder, Limits { artifact_bytes_max: 60_000, ..limits() }).await;
    let mut client = server.client().await;
    client.create(two_curves("curves")).await.expect("it is accepted");
    let failed = client.ended("curves").await;
    assert_eq!(failed.state(), RunState::Failed);
    let left = children(&mut client, "curves").await;
    server.stop().await;
    left
}

#[tokio::test]
async fn failed_runs_of_a_sweep_are_simulated_again_and_others_stay() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let before = left_with_failures(folder.path()).await;
    let in_state = |runs: &[Run], state| runs.iter().filter(|run| run.state() == state).count();
    let failed = in_state(&before, RunState::Failed);
    let (succeeded, skipped) = (in_state(&before, RunState::Succeeded), in_state(&before, RunState::Cancelled));
    assert!(
        failed == 10 && succeeded > 0 && skipped > 0,
        "{failed} failed, {succeeded} did not, {skipped} were skipped"
    );
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let retried = retry(&mut client, "curves", "").await.expect("it has failed");
    let progress = retried.progress.expect("it has come somewhere");
    assert_eq!((retried.state(), retried.error), (RunState::Running, None));
    assert_eq!((progress.children_ended, progress.children_failed, progress.children), (10, 0, 20));
    let asked = ListArtifactsRequest { run_id: "curves".to_owned() };
    let listed = client.results.list_artifacts(asked).await.expect("it is there").into_inner();
    assert!(listed.artifacts.is_empty(), "the table of before is not that of the run");
    let ended = client.ended("curves").await;
    assert_eq!(ended.state(), RunState::Succeeded, "{:?}", ended.error);
    let after = children(&mut client, "curves").await;
    assert_eq!(before[10..], after[10..], "what has succeeded, and what was not needed, stays as it is");
    assert!(after.iter().all(|run| run.state() != RunState::Failed));
    client.create(two_curves("undisturbed")).await.expect("it is accepted");
    assert_eq!(client.ended("undisturbed").await.result_digest, ended.result_digest);
    let [made_anew, undisturbed] = [table(&mut client, "curves").await, table(&mut client, "undisturbed").await];
    assert_eq!((made_anew.rows, made_anew.columns), (undisturbed.rows, undisturbed.columns));
    server.stop().await;
}

#[tokio::test]
async fn who_watches_is_told_with_higher_numbers() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    left_with_failures(folder.path()).await;
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let known = client.get("curves").await.expect("it is there").last_sequence;
    retry(&mut client, "curves", "").await.expect("it has failed");
    for after in [0, known] {
        let mut events = client.watch("curves", after).await.expect("it can be watched");
        let (mut last, mut states, mut ended) = (after, Vec::new(), 0);
        while let Some(event) = events.message().await.expect("the stream goes on") {
            if matches!(event.event, Some(Event::Heartbeat(_))) {
                continue;
            }
            assert!(event.sequence > last, "{} after {last}", event.sequence);
            last = event.sequence;
            match event.event {
                Some(Event::StateChanged(run)) => states.push(run.state()),
                Some(Event::ChildEnded(_)) => ended += 1,
                _ => {}
            }
        }
        let all = [RunState::Pending, RunState::Running, RunState::Failed, RunState::Running, RunState::Succeeded];
        let (expected, children) = if after == 0 { (&all[..], 30) } else { (&all[3..], 10) };
        assert_eq!((states.as_slice(), ended), (expected, children));
    }
    server.stop().await;
}

#[tokio::test]
async fn a_single_run_and_a_cancelled_sweep_start_again() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    client.create(named("one", &endless())).await.expect("it is accepted");
    client.until("one", RunState::Running).await;
    let over = vec!["measure.cycles=400,500000000".to_owned()];
    let sweep = Some(Sweep { over, run_saturated: true, ..Sweep::default() });
    client.create(CreateRunRequest { sweep, ..named("both", SMALL) }).await.expect("it is accepted");
    client.ended("both.1").await;
    for id in ["one", "both"] {
        cancel(&mut client, id).await;
        assert_eq!(client.ended(id).await.state(), RunState::Cancelled);
    }
    let retried = retry(&mut client, "one", "again").await.expect("it was cancelled");
    let begins_again = (retried.state(), retried.end_time, retried.start_time, retried.restarts);
    assert_eq!(begins_again, (RunState::Pending, None, None, 0));
    client.until("one", RunState::Running).await;
    // Asking again after a lost answer changes nothing, whatever has become of it.
    cancel(&mut client, "one").await;
    client.ended("one").await;
    assert_eq!(retry(&mut client, "one", "again").await.expect("it was").state(), RunState::Cancelled);
    retry(&mut client, "one", "once-more").await.expect("that is another request");
    assert_eq!(retry(&mut client, "both", "").await.expect("it was cancelled").state(), RunState::Running);
    server.stop().await;
    // What was put back is not lost either.
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    client.until("one", RunState::Running).await;
    client.until("both.2", RunState::Running).await;
    assert_eq!(client.get("both.1").await.expect("it is there").state(), RunState::Succeeded);
    server.stop().await;
}

#[tokio::test]
async fn what_cannot_be_retried_is_refused() {
    let server = Served::with(Limits { concurrent_runs_max: 1, queue_max: 2, ..limits() }).await;
    let mut client = server.client().await;
    client.create(named("done", SMALL)).await.expect("it is accepted");
    client.ended("done").await;
    let over = vec!["seed=1,2".to_owned()];
    let sweep = Some(Sweep { over, ..Sweep::default() });
    client.create(CreateRunRequest { sweep, ..named("curve", SMALL) }).await.expect("it is accepted");
    client.ended("curve").await;
    client.create(named("running", &endless())).await.expect("it is accepted");
    client.until("running", RunState::Running).await;
    for (run, code, why) in [
        ("done", Code::FailedPrecondition, "NOTHING_TO_RETRY"),
        ("curve", Code::FailedPrecondition, "NOTHING_TO_RETRY"),
        ("curve.1", Code::FailedPrecondition, "PART_OF_SWEEP"),
        ("running", Code::FailedPrecondition, "RUN_NOT_ENDED"),
        ("nobody", Code::NotFound, "RUN_NOT_FOUND"),
    ] {
        let refused = retry(&mut client, run, "").await.expect_err("it cannot be");
        assert_eq!((refused.code(), reason(&refused).0.as_str()), (code, why), "{run}");
    }
    let asked = CreateRunRequest { request_id: "used".to_owned(), ..named("waiting", &endless()) };
    client.create(asked).await.expect("it is accepted");
    let refused = retry(&mut client, "waiting", "").await.expect_err("it waits");
    assert_eq!(reason(&refused).0, "RUN_NOT_ENDED");
    cancel(&mut client, "waiting").await;
    let refused = retry(&mut client, "waiting", "used").await.expect_err("that was for something else");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::AlreadyExists, "REQUEST_ID_REUSED"));
    let refused = retry(&mut client, "waiting", "not a name").await.expect_err("it is none");
    assert_eq!(refused.code(), Code::InvalidArgument);
    for id in ["first", "second"] {
        client.create(named(id, &endless())).await.expect("there are two places");
    }
    let refused = retry(&mut client, "waiting", "").await.expect_err("they are taken");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::ResourceExhausted, "QUEUE_FULL"));
    server.stop().await;
}

#[tokio::test]
async fn without_its_files_a_run_is_not_simulated_again() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let digest = sha256(LIST.as_bytes());
    upload(&mut client.files, "list.csv", LIST.as_bytes()).await.expect("it is kept");
    let mut asked = named("one", &format!("{}\n[[program]]\nmessages = \"list.csv\"\nnodes = [7, 50]\n", endless()));
    asked.scenario.as_mut().expect("there is one").files = [("list.csv".to_owned(), digest.clone())].into();
    client.create(asked).await.expect("it is accepted");
    cancel(&mut client, "one").await;
    client.ended("one").await;
    let delete = DeleteFileRequest { sha256: digest.clone(), owner: String::new() };
    client.files.delete_file(delete).await.expect("no run needs it");
    let refused = retry(&mut client, "one", "").await.expect_err("it is gone");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::NotFound, "FILE_NOT_FOUND"));
    assert_eq!(reason(&refused).1["file"], digest);
    assert_eq!(client.get("one").await.expect("it is there").state(), RunState::Cancelled, "it stays as it is");
    upload(&mut client.files, "list.csv", LIST.as_bytes()).await.expect("it is kept");
    // What is known and yet not there is told by the run itself.
    fs::remove_file(server.folder.join("files").join(&digest)).expect("it is there");
    retry(&mut client, "one", "").await.expect("it is known");
    let error = client.ended("one").await.error.expect("it has failed");
    assert_eq!(error.reason(), RunErrorReason::Storage);
    assert!(error.message.contains("is not there any more"), "{}", error.message);
    server.stop().await;
}

#[tokio::test]
async fn who_may_cancel_may_retry() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let people = [("alice", Role::Submit), ("bob", Role::Submit), ("carol", Role::Admin), ("dave", Role::Read)];
    let (file, tokens) = tokens(folder.path(), &people);
    let server = serve(folder.path(), &file, limits()).await;
    let mut alice = bearing(&server, &tokens[0]).await;
    alice.create_run(named("hers", &endless())).await.expect("she may");
    let again = || RetryRunRequest { run_id: "hers".to_owned(), request_id: String::new() };
    for other in [&tokens[1], &tokens[3]] {
        let refused = bearing(&server, other).await.retry_run(again()).await.expect_err("it is not theirs");
        assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::PermissionDenied, "NOT_ALLOWED"));
    }
    for who in [&tokens[0], &tokens[2]] {
        alice.cancel_run(CancelRunRequest { run_id: "hers".to_owned() }).await.expect("it is hers");
        let mut who = bearing(&server, who).await;
        while let Err(refused) = who.retry_run(again()).await {
            assert_eq!(reason(&refused).0, "RUN_NOT_ENDED");
        }
    }
    server.stop().await;
}
