//! Requests of all kinds, in any order, with whatever stands in them: each is answered or refused, never by a failure of the
//! server, and nothing of it stays. `TAILBACK_REQUESTS=100000` sends more than `cargo test` does.

mod drawn;
mod left;
mod raw;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::process::Command;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use tailback_api::v1::{
    CancelRunRequest, DeleteRunRequest, GetReportRequest, GetRunRequest, GetScenarioSchemaRequest,
    GetServerInfoRequest, ListArtifactsRequest, ListModelsRequest, RunState,
};
use tailback_service::{Configuration, Limits, Role, Tokens};
use tonic::codec::CompressionEncoding::Gzip;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;

use crate::harness::{Client, SMALL, Served, configuration, in_time, limits, named};
use crate::tokens::{connect, tokens};
use drawn::{Asked, Request, anything};
use left::Left;
use raw::RawCall;

/// How many are sent.
fn requests() -> u32 {
    std::env::var("TAILBACK_REQUESTS").map_or(1500, |count| count.parse().expect("TAILBACK_REQUESTS is a number"))
}

/// A client with its connection, for what other services are asked.
struct Asking {
    client: Client,
    channel: Channel,
}

impl Asking {
    async fn of(server: &Served) -> Self {
        let channel = connect(server).await;
        Self { client: Client::new(channel.clone()), channel }
    }

    fn compressed(mut self) -> Self {
        macro_rules! compress {
            ($($service:ident),*) => {
                $(self.client.$service = self.client.$service.send_compressed(Gzip).accept_compressed(Gzip);)*
            };
        }
        compress!(runs, results, scenarios, system, files);
        self
    }
}

/// Asks, and reads the first of what a stream says.
async fn ask(Asking { client, channel }: &mut Asking, request: Request) -> Result<(), Status> {
    match request {
        Request::Schema => client.scenarios.get_scenario_schema(GetScenarioSchemaRequest::default()).await.map(drop),
        Request::Info => client.system.get_server_info(GetServerInfoRequest::default()).await.map(drop),
        Request::Health(service) => {
            HealthClient::new(channel.clone()).check(HealthCheckRequest { service }).await.map(drop)
        }
        Request::HealthWatch(service) => {
            let watched = HealthClient::new(channel.clone()).watch(HealthCheckRequest { service }).await?;
            watched.into_inner().message().await.map(drop)
        }
        Request::Reflection(asked) => {
            let asked = ServerReflectionRequest { host: String::new(), message_request: Some(asked) };
            let mut client = ServerReflectionClient::new(channel.clone());
            let told = client.server_reflection_info(tokio_stream::iter([asked])).await?;
            told.into_inner().message().await.map(drop)
        }
        Request::Create(asked) => client.runs.create_run(*asked).await.map(drop),
        Request::Validate(asked) => client.scenarios.validate_scenario(*asked).await.map(drop),
        Request::List(asked) => client.runs.list_runs(asked).await.map(drop),
        Request::Get(run_id) => client.runs.get_run(GetRunRequest { run_id }).await.map(drop),
        Request::Wait(asked) => client.runs.wait_run(asked).await.map(drop),
        Request::Watch(asked) => client.runs.watch_run(asked).await?.into_inner().message().await.map(drop),
        Request::Cancel(run_id) => client.runs.cancel_run(CancelRunRequest { run_id }).await.map(drop),
        Request::Retry(asked) => client.runs.retry_run(asked).await.map(drop),
        Request::Delete(run_id) => client.runs.delete_run(DeleteRunRequest { run_id }).await.map(drop),
        Request::Report(run_id) => client.results.get_report(GetReportRequest { run_id }).await.map(drop),
        Request::Artifacts(run_id) => client.results.list_artifacts(ListArtifactsRequest { run_id }).await.map(drop),
        Request::Read(asked) => client.results.read_artifact(asked).await?.into_inner().message().await.map(drop),
        Request::Series(asked) => client.results.query_series(asked).await.map(drop),
        Request::Upload(parts) => client.files.upload_file(tokio_stream::iter(parts)).await.map(drop),
        Request::Files(asked) => client.files.list_files(asked).await.map(drop),
        Request::DeleteFile(asked) => client.files.delete_file(asked).await.map(drop),
        Request::Models(kind) => client.scenarios.list_models(ListModelsRequest { kind }).await.map(drop),
        Request::Model(asked) => client.scenarios.get_model(asked).await.map(drop),
    }
}

/// A server that takes everybody for its owner, and has a page; and one that wants tokens.
struct Servers {
    open: Served,
    guarded: Served,
    page: SocketAddr,
}

impl Servers {
    async fn start(folder: &std::path::Path) -> Self {
        let limits = Limits { sweep_runs_max: 20, queue_max: 200, wait_s_max: 1, refusal_pause_ms_max: 0, ..limits() };
        let here = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        let open = Configuration {
            limits: limits.clone(),
            page_listen: here,
            admin_listen: here,
            ..configuration(&folder.join("open"))
        };
        let (file, _) = tokens(folder, &[("alice", Role::Admin)]);
        let tokens = Some(Tokens::read(&file).expect("it is well formed"));
        let guarded = Configuration { limits, tokens, admin_listen: here, ..configuration(&folder.join("guarded")) };
        let (open, guarded) = (Served::configured(open).await, Served::configured(guarded).await);
        let page = open.page.expect("it has a page");
        Self { open, guarded, page }
    }
}

/// Makes a call as bytes. A connection may be closed because of what was sent over it before: over a new one it is answered.
async fn raw(call: RawCall, channel: &mut Channel, server: &Served) -> Result<(), Status> {
    match call.clone().over(channel).await {
        Err(status) if status.code() == Code::Unknown => call.over(&mut connect(server).await).await,
        answered => answered,
    }
}

/// Whether a code says that something was refused, and not that the server has failed.
fn is_refusal(code: Code) -> bool {
    matches!(
        code,
        Code::InvalidArgument
            | Code::NotFound
            | Code::AlreadyExists
            | Code::FailedPrecondition
            | Code::ResourceExhausted
            | Code::OutOfRange
            | Code::DeadlineExceeded
    )
}

/// The same for calls as bytes, of which many are none: those who read them say so in their own words.
fn is_refusal_of_bytes(status: &Status) -> bool {
    let is_unreadable =
        status.code() == Code::Internal && !status.message().starts_with("something is wrong in the server");
    is_refusal(status.code()) || is_unreadable || status.code() == Code::Unimplemented
}

/// Sends requests one after the other, over connections that are closed then. Counts how they are answered.
async fn send(servers: &Servers, runner: &mut TestRunner, numbers: Range<u32>, outcomes: &mut BTreeMap<String, u32>) {
    let mut plain = Asking::of(&servers.open).await;
    let mut compressed = Asking::of(&servers.open).await.compressed();
    let mut stranger = Asking::of(&servers.guarded).await;
    for number in numbers {
        let asked = anything().new_tree(runner).expect("there is one").current();
        let what = format!("request {number}, {asked:?}");
        let answer = async {
            match asked.clone() {
                Asked::Plainly(request) => ask(&mut plain, request).await,
                Asked::Compressed(request) => ask(&mut compressed, request).await,
                Asked::ByStranger(request) => ask(&mut stranger, request).await,
                Asked::Raw(call) => raw(call, &mut plain.channel, &servers.open).await,
                Asked::RawByStranger(call) => raw(call, &mut stranger.channel, &servers.guarded).await,
                Asked::ByBrowser(call) => {
                    call.by_browser(servers.page).await;
                    Ok(())
                }
            }
        };
        let outcome = in_time(&what, answer).await;
        let code = outcome.as_ref().map_or_else(Status::code, |()| Code::Ok);
        *outcomes.entry(format!("{code:?}")).or_default() += 1;
        look_at(&asked, outcome, &what);
    }
}

/// Whether somebody is answered who may be, and refused in the right way who is.
fn look_at(asked: &Asked, outcome: Result<(), Status>, what: &str) {
    let is_about_health = matches!(asked, Asked::ByStranger(Request::Health(_) | Request::HealthWatch(_)));
    let Err(status) = outcome else {
        let is_let_in = is_about_health || !matches!(asked, Asked::ByStranger(_));
        assert!(is_let_in, "{what}: a stranger is answered");
        return;
    };
    let code = status.code();
    let is_right = match asked {
        Asked::ByStranger(_) if is_about_health => code == Code::NotFound,
        Asked::ByStranger(_) => code == Code::Unauthenticated,
        Asked::RawByStranger(_) => code == Code::Unauthenticated || is_refusal_of_bytes(&status),
        Asked::Raw(_) => is_refusal_of_bytes(&status),
        _ => is_refusal(code),
    };
    assert!(is_right, "{what}: {status:?}");
    assert!(!status.message().contains(tailback_service::is_obeyed), "{what}: {:?}", status.message());
}

/// In a process of its own: what that has left is what requests have left.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "counts what is open in its process: another runs it alone"]
async fn drawn_requests() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let servers = Servers::start(folder.path()).await;
    let (mut runner, mut outcomes) = (TestRunner::deterministic(), BTreeMap::new());
    let half = requests() / 2;
    send(&servers, &mut runner, 0..half, &mut outcomes).await;
    let first = Left::by(&servers).await;
    send(&servers, &mut runner, half..2 * half, &mut outcomes).await;
    let second = Left::by(&servers).await;
    println!("requests: {outcomes:?}; left after each half: {first:?}, {second:?}");
    second.must_be_no_more_than(&first);
    let expected = ["Ok", "InvalidArgument", "NotFound", "Unauthenticated", "Unimplemented"];
    assert!(expected.iter().all(|code| outcomes.contains_key(*code)), "{outcomes:?}");
    let mut client = servers.open.client().await;
    client.create(named("after", SMALL)).await.expect("it accepts runs");
    assert_eq!(client.ended("after").await.state(), RunState::Succeeded);
    for server in [servers.open, servers.guarded] {
        server.stop().await;
    }
}

#[test]
fn whatever_is_asked_is_answered_or_refused() {
    let mut alone = Command::new(std::env::current_exe().expect("it runs"));
    let said = alone.args(["--ignored", "--exact", "requests::drawn_requests", "--nocapture"]).output();
    let said = said.expect("it can be started");
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success() && text.contains("1 passed"), "{text}\n{}", String::from_utf8_lossy(&said.stderr));
    text.lines().filter(|line| line.starts_with("requests: ")).for_each(|line| println!("{line}"));
}
