//! Creating, listing, cancelling and deleting runs.

use tailback_api::v1::{
    CancelRunRequest, CreateRunRequest, DeleteRunRequest, Execution, GetServerInfoRequest, ListRunsRequest, RunState,
};
use tailback_service::Limits;
use tonic::Code;

use crate::harness::{SMALL, Served, endless, limits, named, reason, request, violations};

#[tokio::test]
async fn a_run_from_its_creation_to_its_end() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let labels = [("paper".to_owned(), "none".to_owned())].into();
    let created = client.create(CreateRunRequest { labels, ..named("first", SMALL) }).await.expect("it is accepted");
    assert_eq!((created.id.as_str(), created.state()), ("first", RunState::Pending));
    assert_eq!((created.owner.as_str(), created.title.as_str()), ("local", "A small dragonfly"));
    assert_eq!(created.scenario.expect("it is told").document, SMALL);
    let ended = client.ended("first").await;
    assert_eq!(ended.state(), RunState::Succeeded, "{:?}", ended.error);
    assert_eq!((ended.result_digest.len(), ended.labels.len()), (64, 1));
    assert!(ended.start_time.is_some() && ended.end_time.is_some());
    let summary = ended.summary.expect("it has succeeded");
    assert!((0.2..0.4).contains(&summary.offered_load) && summary.latency_mean.is_some_and(|mean| mean > 50.0));
    let progress = ended.progress.expect("it has come somewhere");
    assert_eq!((progress.cycle, progress.cycles), (500, 500));
    server.stop().await;
}

#[tokio::test]
async fn nothing_is_created_by_checking_only() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let only = CreateRunRequest { validate_only: true, ..named("only", SMALL) };
    assert_eq!(client.create(only).await.expect("it is valid").id, "only");
    assert_eq!(reason(&client.get("only").await.expect_err("it is not there")).0, "RUN_NOT_FOUND");
    let old = CreateRunRequest { validate_only: true, ..request(&format!("{SMALL}[protocol.srp]\ntoll = 3\n")) };
    let noted = client.runs.create_run(old).await.expect("it is accepted").into_inner().notes;
    assert!(noted.len() == 1 && noted[0].message.contains("`control_overhead`"), "{noted:?}");
    client.create(named("taken", SMALL)).await.expect("it is accepted");
    let only = CreateRunRequest { validate_only: true, ..named("taken", SMALL) };
    assert_eq!(reason(&client.create(only).await.expect_err("there is one of this name")).0, "RUN_EXISTS");
    let only = CreateRunRequest { validate_only: true, ..request(&SMALL.replace("g = 9", "g = 10")) };
    assert_eq!(reason(&client.create(only).await.expect_err("it is invalid")).0, "INVALID_SCENARIO");
    server.stop().await;
}

#[tokio::test]
async fn asking_twice_gives_one_run() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let asked = CreateRunRequest { request_id: "a-1".to_owned(), ..request(SMALL) };
    let first = client.create(asked.clone()).await.expect("it is accepted");
    let again = client.create(asked.clone()).await.expect("it was accepted");
    assert_eq!(first.id, again.id);
    assert_eq!(again.scenario.expect("it is told").document, SMALL);
    let other = CreateRunRequest { scenario: request(&endless()).scenario, ..asked };
    let refused = client.create(other).await.expect_err("it asks for something else");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::AlreadyExists, "REQUEST_ID_REUSED"));
    let listed = client.runs.list_runs(ListRunsRequest::default()).await.expect("it can be listed");
    assert_eq!(listed.into_inner().runs.len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn names_are_given_once_and_must_be_tame() {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(named("mine", SMALL)).await.expect("it is accepted");
    let refused = client.create(named("mine", SMALL)).await.expect_err("the name is taken");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::AlreadyExists, "RUN_EXISTS"));
    for name in ["../etc", "Mine", "a/b", "-", "mine.1", "a\u{0}b"] {
        let refused = client.create(named(name, SMALL)).await.expect_err("the name is no good");
        assert_eq!((refused.code(), violations(&refused)[0].0.as_str()), (Code::InvalidArgument, "run_id"), "{name}");
    }
    server.stop().await;
}

#[tokio::test]
async fn all_mistakes_of_a_scenario_are_told_with_their_places() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let bad = SMALL.replace("g = 9", "g = 10").replace("load = 0.3", "load = 2\npattern = \"unifrom\"");
    let refused = client.create(request(&bad)).await.expect_err("it has mistakes");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::InvalidArgument, "INVALID_SCENARIO"));
    let violations = violations(&refused);
    assert!(violations.len() >= 3, "{violations:?}");
    assert!(violations.iter().any(|(field, _)| field == "scenario test.toml:11:8"), "{violations:?}");
    server.stop().await;
}

#[tokio::test]
async fn what_asks_for_too_much_is_refused_with_the_numbers() {
    let few = Limits { nodes_max: 71, sweep_runs_max: 4, ..limits() };
    let server = Served::with(few).await;
    let mut client = server.client().await;
    let told = client.system.get_server_info(GetServerInfoRequest {}).await.expect("it tells").into_inner();
    let told = told.limits.expect("there are limits");
    assert_eq!((told.nodes_max, told.threads_max, told.sweep_runs_max), (71, 2, 4));
    let refused = client.create(request(SMALL)).await.expect_err("it has 72 nodes");
    let (why, metadata) = reason(&refused);
    assert_eq!((refused.code(), why.as_str()), (Code::ResourceExhausted, "LIMIT_EXCEEDED"));
    let told = ["limit", "allowed", "asked"].map(|key| metadata[key].as_str());
    assert_eq!(told, ["nodes_max", "71", "72"]);
    let many = Execution { threads: Some(3), ..Execution::default() };
    let refused = client.create(CreateRunRequest { execution: Some(many), ..request(SMALL) }).await;
    assert_eq!(reason(&refused.expect_err("it wants three threads")).1["limit"], "threads_max");
    let long = prost_types::Duration { seconds: 1 << 40, nanos: 0 };
    let long = Execution { wall_time_max: Some(long), ..Execution::default() };
    let refused = client.create(CreateRunRequest { execution: Some(long), ..request(SMALL) }).await;
    assert_eq!(reason(&refused.expect_err("it wants 35,000 years")).1["limit"], "wall_time_max");
    server.stop().await;
}

#[tokio::test]
async fn a_full_queue_says_so() {
    let server = Served::with(Limits { queue_max: 1, concurrent_runs_max: 1, ..limits() }).await;
    let mut client = server.client().await;
    client.create(named("running", &endless())).await.expect("there is a thread for it");
    client.until("running", RunState::Running).await;
    client.create(named("waiting", SMALL)).await.expect("there is a place for it");
    let refused = client.create(request(SMALL)).await.expect_err("the queue is full");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::ResourceExhausted, "QUEUE_FULL"));
    server.stop().await;
}

#[tokio::test]
async fn runs_are_cancelled_and_deleted() {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(named("long", &endless())).await.expect("it is accepted");
    client.until("long", RunState::Running).await;
    let run_id = || "long".to_owned();
    let refused = client.runs.delete_run(DeleteRunRequest { run_id: run_id() }).await.expect_err("it runs");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::FailedPrecondition, "RUN_NOT_ENDED"));
    let cancelled = client.runs.cancel_run(CancelRunRequest { run_id: run_id() }).await.expect("it can be");
    assert_eq!(cancelled.into_inner().run.expect("there is a run").state(), RunState::Cancelling);
    assert_eq!(client.ended("long").await.state(), RunState::Cancelled);
    let again = client.runs.cancel_run(CancelRunRequest { run_id: run_id() }).await.expect("it is no error");
    assert_eq!(again.into_inner().run.expect("there is a run").state(), RunState::Cancelled);
    client.runs.delete_run(DeleteRunRequest { run_id: run_id() }).await.expect("it has ended");
    assert_eq!(client.get("long").await.expect_err("it is gone").code(), Code::NotFound);
    assert_eq!(client.create(named("long", SMALL)).await.expect("the name is free").id, "long");
    server.stop().await;
}

#[tokio::test]
async fn runs_are_listed_by_pages_and_filters() {
    let server = Served::start().await;
    let mut client = server.client().await;
    for number in 0..7 {
        let labels = [("parity".to_owned(), (number % 2).to_string())].into();
        let asked = CreateRunRequest { labels, ..named(&format!("run-{number}"), SMALL) };
        client.create(asked).await.expect("it is accepted");
    }
    let first = client.ended("run-0").await;
    client.ended("run-6").await;
    let mut names = Vec::new();
    let mut asked = ListRunsRequest { page_size: 3, ..ListRunsRequest::default() };
    loop {
        let page = client.runs.list_runs(asked.clone()).await.expect("it can be listed").into_inner();
        names.extend(page.runs.into_iter().map(|run| run.id));
        if page.next_page_token.is_empty() {
            break;
        }
        asked.page_token = page.next_page_token;
    }
    assert_eq!(names, ["run-6", "run-5", "run-4", "run-3", "run-2", "run-1", "run-0"]);
    let mut count =
        async |asked: ListRunsRequest| client.runs.list_runs(asked).await.map(|listed| listed.into_inner().runs.len());
    let with_label = ListRunsRequest { labels: [("parity".to_owned(), "1".to_owned())].into(), ..Default::default() };
    assert_eq!(count(with_label).await.expect("a list"), 3);
    let digest = first.scenario_digest[..10].to_owned();
    assert_eq!(count(ListRunsRequest { scenario_digest: digest, ..Default::default() }).await.expect("a list"), 7);
    let result = ListRunsRequest { result_digest: first.result_digest.clone(), ..Default::default() };
    assert_ne!(count(result).await.expect("a list"), 0);
    let failed = ListRunsRequest { states: vec![RunState::Failed.into()], ..Default::default() };
    assert_eq!(count(failed).await.expect("a list"), 0);
    // A token is good only for what it was given for.
    asked.owner = "somebody".to_owned();
    assert_eq!(count(asked).await.expect_err("the token is of another request").code(), Code::InvalidArgument);
    let unknown = ListRunsRequest { states: vec![99], ..Default::default() };
    assert_eq!(count(unknown).await.expect_err("there is no such state").code(), Code::InvalidArgument);
    server.stop().await;
}

#[tokio::test]
async fn a_run_may_not_take_longer_than_it_said() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let short = prost_types::Duration { seconds: 0, nanos: 50_000_000 };
    let short = Execution { wall_time_max: Some(short), ..Execution::default() };
    let asked = CreateRunRequest { execution: Some(short), ..named("slow", &endless()) };
    client.create(asked).await.expect("it is accepted");
    let error = client.ended("slow").await.error.expect("it has failed");
    assert_eq!(error.reason(), tailback_api::v1::RunErrorReason::WallTime);
    server.stop().await;
}
