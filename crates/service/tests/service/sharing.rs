//! A server that several share: what one may have, and who is next.

use tailback_api::v1::{CancelRunRequest, CreateRunRequest, Execution, GetRunRequest, Run, RunState, Sweep};
use tailback_service::{Limits, Role};
use tonic::Code;

use crate::harness::{SMALL, Served, endless, limits, named, reason, request, violations};
use crate::tokens::{Bearing, bearing, serve, tokens};

const PEOPLE: [(&str, Role); 3] = [("alice", Role::Submit), ("bob", Role::Submit), ("carol", Role::Admin)];

/// With a place for one run at a time.
fn one_at_a_time() -> Limits {
    Limits { concurrent_runs_max: 1, threads_max: 1, ..limits() }
}

fn with_priority(priority: i32, request: CreateRunRequest) -> CreateRunRequest {
    CreateRunRequest { execution: Some(Execution { priority, ..Execution::default() }), ..request }
}

async fn get(client: &mut Bearing, run: &str) -> Run {
    let asked = GetRunRequest { run_id: run.to_owned() };
    client.get_run(asked).await.expect("it is there").into_inner().run.expect("there is a run")
}

/// Asks again and again until a run is in a state.
async fn until(client: &mut Bearing, run: &str, state: RunState) {
    while get(client, run).await.state() != state {}
}

#[tokio::test]
async fn one_owner_fills_only_a_part_of_the_queue() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, tokens) = tokens(folder.path(), &PEOPLE);
    let few = Limits { queue_per_owner_max: Some(2), ..one_at_a_time() };
    let server = serve(folder.path(), &file, few.clone()).await;
    let (mut alice, mut bob) = (bearing(&server, &tokens[0]).await, bearing(&server, &tokens[1]).await);
    alice.create_run(named("running", &endless())).await.expect("there is a thread for it");
    until(&mut alice, "running", RunState::Running).await;
    let sweep = |over: &str| {
        let sweep = Some(Sweep { over: vec![over.to_owned()], ..Sweep::default() });
        CreateRunRequest { sweep, ..request(&endless()) }
    };
    let refused = alice.create_run(sweep("seed=1,2,3")).await.expect_err("she may have two");
    let (why, metadata) = reason(&refused);
    assert_eq!((refused.code(), why.as_str()), (Code::ResourceExhausted, "QUEUE_FULL"));
    let told = ["limit", "allowed", "asked"].map(|key| metadata[key].as_str());
    assert_eq!(told, ["queue_per_owner_max", "2", "3"]);
    assert!(refused.message().contains("of your own runs longer than 2"), "{}", refused.message());
    alice.create_run(sweep("seed=1,2")).await.expect("there are places for two");
    alice.create_run(request(SMALL)).await.expect_err("they are taken");
    bob.create_run(named("his", &endless())).await.expect("he has none yet");
    server.stop().await;
    // Whose the runs are that wait is known after a restart.
    let server = serve(folder.path(), &file, few).await;
    let (mut alice, mut bob) = (bearing(&server, &tokens[0]).await, bearing(&server, &tokens[1]).await);
    until(&mut alice, "running", RunState::Running).await;
    let refused = alice.create_run(request(SMALL)).await.expect_err("they are still taken");
    assert_eq!(reason(&refused).1["limit"], "queue_per_owner_max");
    bob.create_run(request(SMALL)).await.expect("he has one");
    server.stop().await;
}

#[tokio::test]
async fn who_has_a_share_waits_and_is_overtaken() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, tokens) = tokens(folder.path(), &PEOPLE);
    let few = Limits { concurrent_runs_per_owner_max: Some(1), ..limits() };
    let server = serve(folder.path(), &file, few).await;
    let (mut alice, mut bob) = (bearing(&server, &tokens[0]).await, bearing(&server, &tokens[1]).await);
    alice.create_run(named("first", &endless())).await.expect("it is accepted");
    until(&mut alice, "first", RunState::Running).await;
    alice.create_run(named("second", &endless())).await.expect("it is accepted");
    bob.create_run(named("his", SMALL)).await.expect("it is accepted");
    until(&mut bob, "his", RunState::Succeeded).await;
    assert_eq!(get(&mut alice, "second").await.state(), RunState::Pending, "there is a thread, but it is not hers");
    alice.cancel_run(CancelRunRequest { run_id: "first".to_owned() }).await.expect("it is hers");
    until(&mut alice, "second", RunState::Running).await;
    server.stop().await;
}

#[tokio::test]
async fn what_an_owner_may_never_have_is_refused_with_the_numbers() {
    let threads = Execution { threads: Some(2), ..Execution::default() };
    for (few, execution, limit) in [
        (Limits { threads_per_owner_max: Some(1), ..limits() }, threads, "threads_per_owner_max"),
        (
            Limits { memory_bytes_per_owner_max: Some(1000), ..limits() },
            Execution::default(),
            "memory_bytes_per_owner_max",
        ),
    ] {
        let server = Served::with(few).await;
        let mut client = server.client().await;
        let refused = client.create(CreateRunRequest { execution: Some(execution), ..request(SMALL) }).await;
        let (why, metadata) = reason(&refused.expect_err("it is too much"));
        assert_eq!((why.as_str(), metadata["limit"].as_str()), ("LIMIT_EXCEEDED", limit));
        server.stop().await;
    }
}

#[tokio::test]
async fn owners_may_have_all_unless_the_limits_say_less() {
    let server = Served::with(Limits { threads_per_owner_max: Some(1000), ..limits() }).await;
    let mut client = server.client().await;
    let told = client.system.get_server_info(tailback_api::v1::GetServerInfoRequest {}).await;
    let told = told.expect("it tells").into_inner().limits.expect("there are limits");
    assert_eq!((told.queue_per_owner_max, told.memory_bytes_per_owner_max), (told.queue_max, told.memory_bytes_max));
    assert_eq!((told.threads_per_owner_max, told.concurrent_runs_per_owner_max), (2, 2));
    let Limits { body_bytes_max, body_ms_max, .. } = limits();
    let body_time = told.body_time_max.expect("requests have a time limit");
    assert_eq!((told.body_bytes_max, body_time.seconds as u64), (body_bytes_max, body_ms_max / 1000));
    server.stop().await;
}

#[tokio::test]
async fn higher_priorities_go_first_also_after_a_restart() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::at(folder.path(), one_at_a_time()).await;
    let mut client = server.client().await;
    client.create(named("running", &endless())).await.expect("it is accepted");
    client.until("running", RunState::Running).await;
    for (id, priority) in [("low", -1), ("plain", 0), ("high", 2)] {
        let created = client.create(with_priority(priority, named(id, SMALL))).await.expect("it is accepted");
        assert_eq!(created.execution.map(|execution| execution.priority), Some(priority));
    }
    let sweep = Some(Sweep { over: vec!["seed=1,2".to_owned()], ..Sweep::default() });
    client.create(CreateRunRequest { sweep, ..with_priority(1, named("curve", SMALL)) }).await.expect("it is accepted");
    server.stop().await;
    let server = Served::at(folder.path(), one_at_a_time()).await;
    let mut client = server.client().await;
    client.runs.cancel_run(CancelRunRequest { run_id: "running".to_owned() }).await.expect("it can be");
    let mut begun = Vec::new();
    for id in ["high", "curve.1", "curve.2", "plain", "low"] {
        let time = client.ended(id).await.start_time.expect("it has begun");
        begun.push((time.seconds, time.nanos));
    }
    assert!(begun.is_sorted(), "{begun:?}");
    server.stop().await;
}

#[tokio::test]
async fn what_waits_to_go_on_can_be_cancelled() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::at(folder.path(), one_at_a_time()).await;
    let mut client = server.client().await;
    client.create(with_priority(-1, named("begun", &endless()))).await.expect("it is accepted");
    client.until("begun", RunState::Running).await;
    client.create(named("first", &endless())).await.expect("it is accepted");
    server.stop().await;
    let server = Served::at(folder.path(), one_at_a_time()).await;
    let mut client = server.client().await;
    client.until("first", RunState::Running).await;
    let cancelled = client.runs.cancel_run(CancelRunRequest { run_id: "begun".to_owned() }).await.expect("it can be");
    assert_eq!(cancelled.into_inner().run.expect("there is a run").state(), RunState::Cancelled);
    server.stop().await;
}

#[tokio::test]
async fn priorities_have_a_range_and_only_admins_go_before_others() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, tokens) = tokens(folder.path(), &PEOPLE);
    let server = serve(folder.path(), &file, limits()).await;
    let (mut alice, mut carol) = (bearing(&server, &tokens[0]).await, bearing(&server, &tokens[2]).await);
    for priority in [11, -11, i32::MAX, i32::MIN] {
        let refused = carol.create_run(with_priority(priority, request(SMALL))).await.expect_err("it is out of range");
        assert_eq!((refused.code(), violations(&refused)[0].0.as_str()), (Code::InvalidArgument, "execution.priority"));
    }
    let refused = alice.create_run(with_priority(1, request(SMALL))).await.expect_err("she is no admin");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::PermissionDenied, "NOT_ALLOWED"));
    alice.create_run(with_priority(-10, request(SMALL))).await.expect("everybody may step back");
    carol.create_run(with_priority(10, request(SMALL))).await.expect("she is an admin");
    server.stop().await;
}
