//! A server that is asked for whatever may take memory, by many at once: what it takes at most is bounded.

use std::future::Future;

use tailback_api::v1::file_service_client::FileServiceClient;
use tailback_api::v1::result_service_client::ResultServiceClient;
use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::upload_file_request::Part;
use tailback_api::v1::{
    CreateRunRequest, GetReportRequest, ListRunsRequest, QuerySeriesRequest, ReadArtifactRequest, Scenario, Sweep,
    UploadFileRequest, UploadHeader, WatchRunRequest,
};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tonic::codegen::InterceptedService;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

use crate::program::{Program, SMALL};
use crate::served::Server;

/// What all of it may take beyond what an idle server does.
const ATTACK_MAX: u64 = 200 << 20;
/// Clients that do the same at once.
const AT_ONCE: usize = 24;

/// Shows a token with each call.
#[derive(Clone)]
struct Bearer(MetadataValue<Ascii>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

type Line = InterceptedService<Channel, Bearer>;

/// Who attacks: a stranger, or somebody who may submit.
#[derive(Clone)]
struct Attacker {
    url: String,
    bearer: Bearer,
}

impl Attacker {
    fn with(server: &Server, token: &str) -> Self {
        let header = format!("Bearer {}", token.trim());
        Self { url: server.url.clone(), bearer: Bearer(header.parse().expect("a value")) }
    }

    /// A connection of its own.
    async fn line(&self) -> Line {
        let channel = Channel::from_shared(self.url.clone()).expect("an address").connect().await;
        InterceptedService::new(channel.expect("it is up"), self.bearer.clone())
    }

    async fn runs(&self) -> RunServiceClient<Line> {
        RunServiceClient::new(self.line().await).max_decoding_message_size(64 << 20)
    }

    async fn results(&self) -> ResultServiceClient<Line> {
        ResultServiceClient::new(self.line().await).max_decoding_message_size(64 << 20)
    }

    /// Has many do the same at once, each with its number.
    async fn at_once<F>(&self, count: usize, attack: fn(Self, usize) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut all = JoinSet::new();
        (0..count).for_each(|number| drop(all.spawn(attack(self.clone(), number))));
        while let Some(done) = all.join_next().await {
            done.expect("none of them panics");
        }
    }
}

fn request(id: &str, document: &str) -> CreateRunRequest {
    let scenario = Scenario { name: "x".to_owned(), document: document.to_owned(), ..Scenario::default() };
    CreateRunRequest { run_id: id.to_owned(), scenario: Some(scenario), ..CreateRunRequest::default() }
}

/// A place in a queue is not to be had for ever: that is an answer, too.
fn is_refused(status: &Status) {
    let codes = [Code::ResourceExhausted, Code::InvalidArgument, Code::OutOfRange, Code::Unauthenticated];
    assert!(codes.contains(&status.code()), "{status:?}");
}

/// A run with a series of many rows, and one that does not end.
fn submit(program: &Program, server: &Server) {
    program.write("long.toml", SMALL.replace("cycles = 400", "cycles = 60000\nseries = 1"));
    program.write("endless.toml", SMALL.replace("cycles = 400", "cycles = 500000000"));
    let token = ["--token-file", "alice.token"];
    server.good(program, &[&["submit", "long.toml", "--id", "long", "--wait", "--quiet"][..], &token].concat());
    server.good(program, &[&["submit", "endless.toml", "--id", "endless"][..], &token].concat());
}

/// Many runs, and large runs.
async fn fill(attacker: &Attacker) {
    let mut runs = attacker.runs().await;
    let sweep = Some(Sweep { over: vec!["seed=1..1500".to_owned()], ..Sweep::default() });
    runs.create_run(CreateRunRequest { sweep, ..request("many", SMALL) }).await.expect("it is accepted");
    for number in 0..40 {
        let large = format!("{SMALL}# {}\n", "x".repeat(500_000));
        runs.create_run(request(&format!("large-{number}"), &large)).await.expect("it is accepted");
    }
}

/// Lists all of them with their scenarios.
async fn list(attacker: Attacker, number: usize) {
    let mut runs = attacker.runs().await;
    let parent_id = if number.is_multiple_of(2) { "many" } else { "" };
    let mut page_token = String::new();
    for _ in 0..4 {
        let (parent_id, page_size) = (parent_id.to_owned(), u32::MAX);
        let asked = ListRunsRequest { include_scenario: true, page_size, page_token, parent_id, ..Default::default() };
        page_token = runs.list_runs(asked).await.expect("they are listed").into_inner().next_page_token;
    }
}

/// Asks for a sweep that cannot be.
async fn submit_giant(attacker: Attacker, number: usize) {
    let giant = match number % 3 {
        0 => Sweep { seeds: u32::MAX, ..Sweep::default() },
        1 => Sweep { over: vec!["seed=0..4294967295/1".to_owned(); 3], ..Sweep::default() },
        _ => Sweep { over: vec![format!("traffic.load={}0.1", "0.1,".repeat(15_000))], ..Sweep::default() },
    };
    let asked = CreateRunRequest { sweep: Some(giant), ..request("", SMALL) };
    is_refused(&attacker.runs().await.create_run(asked).await.expect_err("it is too much"));
}

/// Uploads more than there may be, or what is not what it says.
async fn upload(attacker: Attacker, number: usize) {
    let size = if number.is_multiple_of(2) { u64::MAX } else { 8 << 20 };
    let header = UploadHeader { name: "x".to_owned(), size, sha256: "0".repeat(64) };
    let pieces = (0..8).map(|_| Part::Content(vec![7; 1 << 20].into()));
    let parts = [Part::Header(header)].into_iter().chain(pieces);
    let parts = parts.map(|part| UploadFileRequest { part: Some(part) });
    let mut files = FileServiceClient::new(attacker.line().await);
    is_refused(&files.upload_file(tokio_stream::iter(parts)).await.expect_err("it is not what it says"));
}

/// Opens many watches, and reads a little of each.
async fn watch(attacker: Attacker, _: usize) {
    let mut runs = attacker.runs().await;
    let mut open = Vec::new();
    for run_id in ["endless", "many", "long"].repeat(5) {
        let asked = WatchRunRequest { run_id: run_id.to_owned(), ..WatchRunRequest::default() };
        open.push(runs.watch_run(asked).await.expect("there is a place").into_inner());
    }
    for watch in &mut open {
        watch.message().await.expect("it goes on").expect("there is an event");
    }
}

/// Asks for the report, files and the series of a run of many rows; all of a series is more than an answer may be.
async fn read_results(attacker: Attacker, _: usize) {
    let (mut results, run_id) = (attacker.results().await, "long".to_owned());
    results.get_report(GetReportRequest { run_id: run_id.clone() }).await.expect("it has one");
    let asked = QuerySeriesRequest { run_id: run_id.clone(), ..QuerySeriesRequest::default() };
    is_refused(&results.query_series(asked.clone()).await.expect_err("it is too large"));
    let asked = QuerySeriesRequest { columns: vec!["cycle".to_owned()], ..asked };
    assert_eq!(results.query_series(asked).await.expect("one column is small").into_inner().rows, 60_100);
    let asked = ReadArtifactRequest { run_id, name: "series.csv".to_owned(), offset: 0 };
    let mut pieces = results.read_artifact(asked).await.expect("it is there").into_inner();
    while pieces.message().await.expect("it goes on").is_some() {}
}

/// Shows a token that is none, on new connections, with as much as may be sent.
async fn guess(stranger: Attacker, _: usize) {
    let large = format!("{SMALL}# {}\n", "x".repeat(1_000_000));
    for _ in 0..5 {
        let refused = stranger.runs().await.create_run(request("", &large)).await;
        assert_eq!(refused.expect_err("no token is shown").code(), Code::Unauthenticated);
    }
}

#[test]
fn what_many_attacks_at_once_take_is_bounded() {
    let program = Program::new();
    let token = program.good(&["token", "alice", "--tokens", "tokens"]);
    program.write("alice.token", &token);
    program.make_private("alice.token", true);
    program.write("limits.toml", "refusal_pause_ms_max = 1\nconcurrent_runs_max = 1\n");
    let server = Server::start(&program, &["--tokens", "tokens", "--limits", "limits.toml"]);
    let idle = server.peak_memory_bytes();
    submit(&program, &server);
    let (attacker, stranger) = (Attacker::with(&server, &token), Attacker::with(&server, "wrong"));
    let runtime = Runtime::new().expect("threads can be started");
    let measured = |what: &str| {
        let peak = server.peak_memory_bytes();
        println!("{what}: idle {} MiB, at most {} MiB so far", idle >> 20, peak >> 20);
        assert!(peak < idle + ATTACK_MAX, "{what}: from {idle} to {peak} bytes");
    };
    runtime.block_on(async {
        fill(&attacker).await;
        measured("many and large runs");
        attacker.at_once(AT_ONCE, list).await;
        measured("lists");
        attacker.at_once(AT_ONCE, submit_giant).await;
        measured("giants");
        attacker.at_once(AT_ONCE, upload).await;
        measured("uploads");
        attacker.at_once(AT_ONCE, watch).await;
        measured("watches");
        attacker.at_once(AT_ONCE, read_results).await;
        measured("results");
        stranger.at_once(AT_ONCE, guess).await;
        measured("wrong tokens");
    });
    server.good(&program, &["cancel", "endless", "--token-file", "alice.token"]);
    server.stop();
}
