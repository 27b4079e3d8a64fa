//! What attackers ask a server for that may take memory.

use tailback_api::v1::file_service_client::FileServiceClient;
use tailback_api::v1::result_service_client::ResultServiceClient;
use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::scenario_service_client::ScenarioServiceClient;
use tailback_api::v1::upload_file_request::Part;
use tailback_api::v1::{
    CreateRunRequest, GetReportRequest, ListRunsRequest, ListRunsResponse, QuerySeriesRequest, ReadArtifactRequest,
    Scenario, Sweep, UploadFileRequest, UploadHeader, ValidateScenarioRequest, WatchRunRequest,
};
use tonic::client::Grpc;
use tonic::codegen::InterceptedService;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::program::{Program, SMALL};
use crate::served::Server;

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

/// Who attacks: a stranger, or somebody who may submit; and from where.
#[derive(Clone)]
pub struct Attacker {
    endpoint: Endpoint,
    bearer: Bearer,
}

impl Attacker {
    /// From the local address with this number at its end: each is another peer.
    pub fn with(server: &Server, token: &str, peer: u8) -> Self {
        let endpoint = Channel::from_shared(server.url.clone()).expect("an address");
        let endpoint = endpoint.local_address(Some([127, 0, 0, peer].into()));
        Self { endpoint, bearer: Bearer(format!("Bearer {}", token.trim()).parse().expect("a value")) }
    }

    /// A connection of its own.
    async fn line(&self) -> Line {
        let channel = self.endpoint.connect().await.expect("it is up");
        InterceptedService::new(channel, self.bearer.clone())
    }

    async fn runs(&self) -> RunServiceClient<Line> {
        RunServiceClient::new(self.line().await).max_decoding_message_size(64 << 20)
    }

    async fn results(&self) -> ResultServiceClient<Line> {
        ResultServiceClient::new(self.line().await).max_decoding_message_size(64 << 20)
    }
}

pub fn request(id: &str, document: &str) -> CreateRunRequest {
    let scenario = Scenario { name: "x".to_owned(), document: document.to_owned(), ..Scenario::default() };
    CreateRunRequest { run_id: id.to_owned(), scenario: Some(scenario), ..CreateRunRequest::default() }
}

/// A place in a queue is not to be had for ever: that is an answer, too.
fn is_refused(status: &Status) {
    let codes = [Code::ResourceExhausted, Code::InvalidArgument, Code::OutOfRange, Code::Unauthenticated];
    assert!(codes.contains(&status.code()), "{status:?}");
}

/// What was answered; nothing if that was refused.
fn unless_refused<T>(answer: Result<Response<T>, Status>) -> Option<T> {
    answer.inspect_err(is_refused).ok().map(Response::into_inner)
}

/// A run with a series of many rows, and one that does not end.
pub fn submit(program: &Program, server: &Server) {
    program.write("long.toml", SMALL.replace("cycles = 400", "cycles = 60000\nseries = 1"));
    program.write("endless.toml", SMALL.replace("cycles = 400", "cycles = 500000000"));
    let token = ["--token-file", "alice.token"];
    server.good(program, &[&["submit", "long.toml", "--id", "long", "--wait", "--quiet"][..], &token].concat());
    server.good(program, &[&["submit", "endless.toml", "--id", "endless"][..], &token].concat());
}

/// Many runs, and large runs.
pub async fn fill(attacker: &Attacker) {
    let mut runs = attacker.runs().await;
    let sweep = Some(Sweep { over: vec!["seed=1..1500".to_owned()], ..Sweep::default() });
    runs.create_run(CreateRunRequest { sweep, ..request("many", SMALL) }).await.expect("it is accepted");
    for number in 0..40 {
        let large = format!("{SMALL}# {}\n", "x".repeat(500_000));
        runs.create_run(request(&format!("large-{number}"), &large)).await.expect("it is accepted");
    }
}

/// Lists all of them with their scenarios.
pub async fn list(attacker: Attacker, number: usize) {
    let mut runs = attacker.runs().await;
    let parent_id = if number.is_multiple_of(2) { "many" } else { "" };
    let mut page_token = String::new();
    for _ in 0..4 {
        let (parent_id, page_size) = (parent_id.to_owned(), u32::MAX);
        let asked = ListRunsRequest { include_scenario: true, page_size, page_token, parent_id, ..Default::default() };
        let Some(page) = unless_refused(runs.list_runs(asked).await) else { return };
        page_token = page.next_page_token;
    }
}

/// Asks for a sweep that cannot be.
pub async fn submit_giant(attacker: Attacker, number: usize) {
    let giant = match number % 3 {
        0 => Sweep { seeds: u32::MAX, ..Sweep::default() },
        1 => Sweep { over: vec!["seed=0..4294967295/1".to_owned(); 3], ..Sweep::default() },
        _ => Sweep { over: vec![format!("traffic.load={}0.1", "0.1,".repeat(15_000))], ..Sweep::default() },
    };
    let asked = CreateRunRequest { sweep: Some(giant), ..request("", SMALL) };
    is_refused(&attacker.runs().await.create_run(asked).await.expect_err("it is too much"));
}

/// Uploads more than there may be, or what is not what it says.
pub async fn upload(attacker: Attacker, number: usize) {
    let size = if number.is_multiple_of(2) { u64::MAX } else { 8 << 20 };
    let header = UploadHeader { name: "x".to_owned(), size, sha256: "0".repeat(64) };
    let pieces = (0..8).map(|_| Part::Content(vec![7; 1 << 20].into()));
    let parts = [Part::Header(header)].into_iter().chain(pieces);
    let parts = parts.map(|part| UploadFileRequest { part: Some(part) });
    let mut files = FileServiceClient::new(attacker.line().await);
    is_refused(&files.upload_file(tokio_stream::iter(parts)).await.expect_err("it is not what it says"));
}

/// Opens many watches, and reads a little of each.
pub async fn watch(attacker: Attacker, _: usize) {
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
pub async fn read_results(attacker: Attacker, _: usize) {
    let (mut results, run_id) = (attacker.results().await, "long".to_owned());
    unless_refused(results.get_report(GetReportRequest { run_id: run_id.clone() }).await);
    let asked = QuerySeriesRequest { run_id: run_id.clone(), ..QuerySeriesRequest::default() };
    is_refused(&results.query_series(asked.clone()).await.expect_err("it is too large"));
    let asked = QuerySeriesRequest { columns: vec!["cycle".to_owned()], ..asked };
    if let Some(column) = unless_refused(results.query_series(asked).await) {
        assert_eq!(column.rows, 60_100);
    }
    let asked = ReadArtifactRequest { run_id, name: "series.csv".to_owned(), offset: 0 };
    let mut pieces = results.read_artifact(asked).await.expect("it is there").into_inner();
    while pieces.message().await.expect("it goes on").is_some() {}
}

/// Shows a token that is none, on new connections, with as much as may be sent.
pub async fn guess(stranger: Attacker, _: usize) {
    let large = format!("{SMALL}# {}\n", "x".repeat(1_000_000));
    for _ in 0..5 {
        let refused = stranger.runs().await.create_run(request("", &large)).await;
        assert_eq!(refused.expect_err("no token is shown").code(), Code::Unauthenticated);
    }
}

/// Scenarios that take much more memory than their texts.
pub fn large_checks() -> [String; 5] {
    let large = SMALL.replace("p = 2\na = 4\nh = 2\ng = 9", "p = 32\na = 60\nh = 18\ng = 1041");
    let circle = "routing = { minimal = { vcs = \"l0 g0 l0\" } }";
    [
        format!("{large}[nodes]\ngaps = {{ outside = [3] }}\n"),
        format!("{SMALL}[nodes]\na = [{}]\n", "1,".repeat(190_000)),
        large.replace("routing = \"minimal\"", circle),
        "= \n".repeat(190_000),
        "a.b.c.d.e.f.g.h.i.j=1\n".repeat(18_000),
    ]
}

/// Scenarios that name more than there may be: a network of 268 million nodes, 118 million pairs of groups, and sets of two million nodes.
pub fn beyond_all_limits() -> [String; 3] {
    let tree =
        "routing = \"nearest-common-ancestor\"\n[topology.k-ary-n-tree]\nk = 128\nn = 4\n[[traffic]]\nload = 0.1\n";
    let dragonfly = |of: &str| SMALL.replace("p = 2\na = 4\nh = 2\ng = 9", of);
    let large = dragonfly("p = 32\na = 60\nh = 18\ng = 1041");
    [
        tree.to_owned(),
        dragonfly("p = 1\na = 128\nh = 120\ng = 15361"),
        format!("{large}[nodes]\ngaps = {{ outside = [3] }}\na = \"gaps\"\nb = \"gaps\"\n"),
    ]
}

/// Asks whether a scenario is right that takes much memory. It has mistakes.
pub async fn check(attacker: Attacker, number: usize) {
    let scenario = request("", &large_checks()[number % 5]).scenario;
    let mut scenarios = ScenarioServiceClient::new(attacker.line().await);
    let checked = scenarios.validate_scenario(ValidateScenarioRequest { scenario, sweep: None }).await;
    if let Some(checked) = unless_refused(checked) {
        assert!(!checked.diagnostics.is_empty(), "each is a mistake");
    }
}

/// A sweep of as many runs as there may be, each with as many overrides as there may be.
pub fn large_sweep() -> CreateRunRequest {
    let sweep = Some(Sweep { over: vec!["seed=1..2000".to_owned()], ..Sweep::default() });
    let mut asked = CreateRunRequest { sweep, ..request("", SMALL) };
    asked.scenario.as_mut().expect("there is one").overrides = vec!["seed=1".to_owned(); 1024];
    asked
}

/// Submits large sweeps; three of four are not to be kept.
pub async fn submit_large(attacker: Attacker, number: usize) {
    let asked = CreateRunRequest { validate_only: !number.is_multiple_of(4), ..large_sweep() };
    unless_refused(attacker.runs().await.create_run(asked).await);
}

/// Asks for as many large answers as one connection may, and takes nothing of them; gives those that are there.
pub async fn take_nothing(attacker: &Attacker) -> Vec<Streaming<ListRunsResponse>> {
    let endpoint = attacker.endpoint.clone().initial_stream_window_size(1);
    let line = InterceptedService::new(endpoint.connect().await.expect("it is up"), attacker.bearer.clone());
    let mut untaken = Vec::new();
    for _ in 0..256 {
        let asked = ListRunsRequest { include_scenario: true, page_size: u32::MAX, ..ListRunsRequest::default() };
        let mut client = Grpc::new(line.clone());
        client.ready().await.expect("it is open");
        // One message is a stream, too, and is not read before it is asked for.
        let path = PathAndQuery::from_static("/tailback.v1.RunService/ListRuns");
        let answer = client.server_streaming(Request::new(asked), path, ProstCodec::default()).await;
        untaken.extend(unless_refused(answer));
    }
    untaken
}
