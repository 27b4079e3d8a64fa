//! Private runs: for all but their owners and admins they are not there.

use tailback_api::v1::{
    CancelRunRequest, CreateRunRequest, DeleteRunRequest, GetReportRequest, GetRunRequest, ListArtifactsRequest,
    ListRunsRequest, QuerySeriesRequest, ReadArtifactRequest, RetryRunRequest, RunState, Sweep, WaitRunRequest,
    WatchRunRequest,
};
use tailback_service::Role;
use tonic::{Code, Status};

use crate::harness::{SMALL, Served, limits, named, reason};
use crate::tokens::{Bearing, bearing, reading, serve, tokens};

const PEOPLE: [(&str, Role); 4] =
    [("alice", Role::Submit), ("bob", Role::Submit), ("carol", Role::Admin), ("dave", Role::Read)];

fn private(request: CreateRunRequest) -> CreateRunRequest {
    CreateRunRequest { private: true, ..request }
}

/// A private run and a private sweep of Alice's, which have ended.
async fn create(alice: &mut Bearing) {
    let sweep = Some(Sweep { over: vec!["seed=1,2".to_owned()], ..Sweep::default() });
    for request in [private(named("hidden", SMALL)), private(CreateRunRequest { sweep, ..named("curve", SMALL) })] {
        let created = alice.create_run(request).await.expect("she may").into_inner().run.expect("there is a run");
        assert!(created.private);
        let asked = WaitRunRequest { run_id: created.id, timeout: None };
        let ended = alice.wait_run(asked).await.expect("she may see it").into_inner().run.expect("there is a run");
        assert_eq!(ended.state(), RunState::Succeeded);
    }
}

/// What everything that names a run answers, for one who bears a token.
pub async fn all_about(server: &Served, token: &str, run: &str) -> Vec<Result<(), Status>> {
    let (mut runs, mut results) = (bearing(server, token).await, reading(server, token).await);
    let (run_id, name) = (|| run.to_owned(), "report.json".to_owned());
    let mut watched = runs.watch_run(WatchRunRequest { run_id: run_id(), ..WatchRunRequest::default() }).await;
    if let Ok(watched) = &mut watched {
        watched.get_mut().message().await.expect("the stream goes on");
    }
    vec![
        watched.map(drop),
        runs.get_run(GetRunRequest { run_id: run_id() }).await.map(drop),
        runs.wait_run(WaitRunRequest { run_id: run_id(), timeout: None }).await.map(drop),
        results.list_artifacts(ListArtifactsRequest { run_id: run_id() }).await.map(drop),
        results.read_artifact(ReadArtifactRequest { run_id: run_id(), name, offset: 0 }).await.map(drop),
        results.get_report(GetReportRequest { run_id: run_id() }).await.map(drop),
        results.query_series(QuerySeriesRequest { run_id: run_id(), ..QuerySeriesRequest::default() }).await.map(drop),
        runs.cancel_run(CancelRunRequest { run_id: run_id() }).await.map(drop),
        runs.retry_run(RetryRunRequest { run_id: run_id(), request_id: String::new() }).await.map(drop),
        runs.delete_run(DeleteRunRequest { run_id: run_id() }).await.map(drop),
    ]
}

/// The names of all runs that one is shown, by pages of one.
pub async fn listed(client: &mut Bearing, asked: ListRunsRequest) -> Vec<String> {
    let (mut names, mut asked) = (Vec::new(), ListRunsRequest { page_size: 1, ..asked });
    loop {
        let page = client.list_runs(asked.clone()).await.expect("it can be listed").into_inner();
        names.extend(page.runs.into_iter().map(|run| run.id));
        if page.next_page_token.is_empty() {
            return names;
        }
        asked.page_token = page.next_page_token;
    }
}

#[tokio::test]
async fn for_others_private_runs_are_not_there() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, tokens) = tokens(folder.path(), &PEOPLE);
    let server = serve(folder.path(), &file, limits()).await;
    create(&mut bearing(&server, &tokens[0]).await).await;
    for other in [&tokens[1], &tokens[3]] {
        for run in ["hidden", "curve", "curve.1"] {
            // To the letter, so that nobody can tell one from the other.
            let said = |answers: Vec<Result<(), Status>>| -> Vec<_> {
                let refused = answers.into_iter().map(|answer| answer.expect_err("it is not there"));
                refused.map(|refused| (refused.code(), refused.message().replace(run, "nobody"))).collect()
            };
            let found = said(all_about(&server, other, run).await);
            assert!(found.iter().all(|(code, _)| *code == Code::NotFound), "{run}: {found:?}");
            assert_eq!(found, said(all_about(&server, other, "nobody").await));
        }
    }
    let mut bob = bearing(&server, &tokens[1]).await;
    let refused = bob.create_run(named("hidden", SMALL)).await.expect_err("the name is taken");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::AlreadyExists, "RUN_EXISTS"));
    // The owner and an admin see and may do everything.
    for who in [&tokens[0], &tokens[2]] {
        let answers = all_about(&server, who, "curve.1").await;
        assert!(answers[..6].iter().all(Result::is_ok), "{answers:?}");
        let others = answers[6..].iter().map(|answer| answer.as_ref().map_or_else(Status::code, |()| Code::Ok));
        assert!(others.eq([Code::FailedPrecondition, Code::Ok, Code::FailedPrecondition, Code::FailedPrecondition]));
    }
    bearing(&server, &tokens[2]).await.delete_run(DeleteRunRequest { run_id: "hidden".to_owned() }).await.expect("may");
    server.stop().await;
}

#[tokio::test]
async fn private_runs_take_no_places_in_the_lists_of_others() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, tokens) = tokens(folder.path(), &PEOPLE);
    let server = serve(folder.path(), &file, limits()).await;
    let (mut alice, mut bob) = (bearing(&server, &tokens[0]).await, bearing(&server, &tokens[1]).await);
    bob.create_run(named("before", SMALL)).await.expect("he may");
    create(&mut alice).await;
    bob.create_run(named("after", SMALL)).await.expect("he may");
    let all = ["after", "curve", "hidden", "before"];
    assert_eq!(listed(&mut alice, ListRunsRequest::default()).await, all);
    assert_eq!(listed(&mut bearing(&server, &tokens[2]).await, ListRunsRequest::default()).await, all);
    for who in [&tokens[1], &tokens[3]] {
        let mut who = bearing(&server, who).await;
        assert_eq!(listed(&mut who, ListRunsRequest::default()).await, ["after", "before"]);
        let of_sweep = ListRunsRequest { parent_id: "curve".to_owned(), ..ListRunsRequest::default() };
        assert_eq!(listed(&mut who, of_sweep).await, [""; 0]);
        let hers = ListRunsRequest { owner: "alice".to_owned(), ..ListRunsRequest::default() };
        assert_eq!(listed(&mut who, hers).await, [""; 0]);
    }
    server.stop().await;
}

#[tokio::test]
async fn damage_does_not_make_a_run_public() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, tokens) = tokens(folder.path(), &PEOPLE);
    let server = serve(folder.path(), &file, limits()).await;
    create(&mut bearing(&server, &tokens[0]).await).await;
    server.stop().await;
    let database = rusqlite::Connection::open(folder.path().join("data/tailback.sqlite")).expect("it is there");
    database.execute("UPDATE runs SET content = replace(content, 'true', 'null')", []).expect("it can be damaged");
    drop(database);
    let server = serve(folder.path(), &file, limits()).await;
    let mut bob = bearing(&server, &tokens[1]).await;
    assert_eq!(listed(&mut bob, ListRunsRequest::default()).await, [""; 0]);
    let asked = || GetRunRequest { run_id: "hidden".to_owned() };
    assert_eq!(bob.get_run(asked()).await.expect_err("it is not his").code(), Code::NotFound);
    let run = bearing(&server, &tokens[0]).await.get_run(asked()).await.expect("it is hers").into_inner().run;
    assert_eq!(run.expect("there is a run").state(), RunState::Failed);
    server.stop().await;
}
