//! A server in this process, and clients of it.

use std::fmt::Display;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use tailback_api::v1::file_service_client::FileServiceClient;
use tailback_api::v1::result_service_client::ResultServiceClient;
use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::scenario_service_client::ScenarioServiceClient;
use tailback_api::v1::system_service_client::SystemServiceClient;
use tailback_api::v1::{
    CreateRunRequest, GetRunRequest, Run, RunState, Scenario, WaitRunRequest, WatchRunRequest, WatchRunResponse,
};
use tailback_service::{CertificatesInForce, Configuration, Limits, ServeError, Server, TokensInForce, WorkerCommand};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::Status;
use tonic::transport::Channel;
use tonic_types::StatusExt as _;

/// The longest that anything may take which a test waits for, on a machine that does much else besides.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Waits for something. If it never comes, the test fails and says what it waited for, and whoever runs it need not wait.
pub async fn in_time<T>(what: impl Display, wanted: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(LONGEST_WAIT, wanted).await;
    waited.unwrap_or_else(|_| panic!("after {} s there is no end of this: {what}", LONGEST_WAIT.as_secs()))
}

/// A dragonfly of 72 nodes for a moment.
pub const SMALL: &str = r#"title = "A small dragonfly"
routing = "minimal"

[topology.dragonfly]
p = 2
a = 4
h = 2
g = 9

[[traffic]]
load = 0.3

[measure]
warmup = 100
cycles = 400
"#;

/// The same for longer than any test waits.
pub fn endless() -> String {
    SMALL.replace("cycles = 400", "cycles = 500000000")
}

/// Limits that suit tests: everything often, and little of it.
pub fn limits() -> Limits {
    Limits {
        concurrent_runs_max: 2,
        threads_max: 2,
        sample_interval_ms: 5,
        checkpoint_interval_ms: 10,
        heartbeat_s: 1,
        ..Limits::default()
    }
}

/// A configuration whose workers are this program of tests.
pub fn configuration(folder: &Path) -> Configuration {
    let worker = WorkerCommand::this_program(&["--ignored", "--exact", "worker"]);
    Configuration::local(folder.to_owned(), "test", worker)
}

/// A server, and the folder that it keeps everything in.
pub struct Served {
    pub folder: PathBuf,
    pub url: String,
    /// Where metrics are told, if they are.
    pub admin: Option<SocketAddr>,
    /// Where the page is, if it is anywhere.
    pub page: Option<SocketAddr>,
    /// The tokens that it goes by.
    pub tokens: TokensInForce,
    /// The certificates that it encrypts by.
    pub certificates: CertificatesInForce,
    /// Kept for as long as the server is.
    _temporary: Option<TempDir>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

impl Served {
    /// A server with limits that suit tests.
    pub async fn start() -> Self {
        Self::with(limits()).await
    }

    pub async fn with(limits: Limits) -> Self {
        let temporary = tempfile::tempdir().expect("a temporary folder can be made");
        let configuration = Configuration {
            limits,
            admin_listen: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
            ..configuration(temporary.path())
        };
        Self { _temporary: Some(temporary), ..Self::configured(configuration).await }
    }

    /// A server in a folder that is there.
    pub async fn at(folder: &Path, limits: Limits) -> Self {
        Self::configured(Configuration { limits, ..configuration(folder) }).await
    }

    pub async fn configured(configuration: Configuration) -> Self {
        Self::try_configured(configuration).await.expect("it can be started")
    }

    pub async fn try_configured(configuration: Configuration) -> Result<Self, ServeError> {
        let folder = configuration.data.clone();
        let scheme = if configuration.encryption.is_some() { "https" } else { "http" };
        let server = Server::bind(configuration).await?;
        let url = format!("{scheme}://{}", server.address());
        let admin = server.admin_address().map(|(address, _)| address);
        let page = server.page_address().map(|(address, _)| address);
        let (tokens, certificates) = (server.tokens(), server.certificates());
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async {
            let stopped = async { stopped.await.unwrap_or(()) };
            server.serve(stopped).await.expect("it serves");
        });
        Ok(Self { folder, url, admin, page, tokens, certificates, _temporary: None, stop: Some(stop), serving })
    }

    /// Stops it, and waits until it has.
    pub async fn stop(mut self) {
        self.ask_to_stop();
        in_time("a server stops", &mut self.serving).await.expect("it ends");
    }

    pub fn ask_to_stop(&mut self) {
        drop(self.stop.take());
    }

    /// What the admin port answers.
    pub async fn ask_admin(&self, path: &str) -> String {
        in_time(format!("the admin port answers {path}"), self.ask_admin_patiently(path)).await
    }

    async fn ask_admin_patiently(&self, path: &str) -> String {
        let mut connection = TcpStream::connect(self.admin.expect("it has one")).await.expect("it accepts");
        let text = format!("GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
        connection.write_all(text.as_bytes()).await.expect("it reads");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.expect("it answers");
        answer
    }

    /// How many streams are open.
    pub async fn open_streams(&self) -> u32 {
        self.metric("streams_open").await
    }

    /// A metric with its labels, if it has any.
    pub async fn metric<T: FromStr>(&self, name: &str) -> T {
        let metrics = self.ask_admin("/metrics").await;
        let value = metrics.lines().find_map(|line| line.strip_prefix(&format!("tailback_{name} ")));
        value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} is not among\n{metrics}"))
    }

    /// Where clients connect to, for those who speak for themselves.
    pub fn address(&self) -> &str {
        self.url.split_once("://").expect("an address").1
    }

    pub async fn client(&self) -> Client {
        let channel = Channel::from_shared(self.url.clone()).expect("an address").connect().await;
        Client::new(channel.expect("somebody listens"))
    }
}

/// A client of all services.
#[derive(Clone)]
pub struct Client {
    pub runs: RunServiceClient<Channel>,
    pub results: ResultServiceClient<Channel>,
    pub scenarios: ScenarioServiceClient<Channel>,
    pub system: SystemServiceClient<Channel>,
    pub files: FileServiceClient<Channel>,
}

impl Client {
    pub fn new(channel: Channel) -> Self {
        Self {
            runs: RunServiceClient::new(channel.clone()),
            results: ResultServiceClient::new(channel.clone()),
            scenarios: ScenarioServiceClient::new(channel.clone()),
            system: SystemServiceClient::new(channel.clone()),
            files: FileServiceClient::new(channel),
        }
    }

    pub async fn create(&mut self, request: CreateRunRequest) -> Result<Run, Status> {
        let created = in_time("a run is accepted or refused", self.runs.create_run(request)).await;
        Ok(created?.into_inner().run.expect("there is a run"))
    }

    pub async fn get(&mut self, run: &str) -> Result<Run, Status> {
        let request = GetRunRequest { run_id: run.to_owned() };
        let got = in_time(format!("{run} is given"), self.runs.get_run(request)).await;
        Ok(got?.into_inner().run.expect("there is a run"))
    }

    /// Waits until a run has ended.
    pub async fn ended(&mut self, run: &str) -> Run {
        let request = WaitRunRequest { run_id: run.to_owned(), timeout: None };
        let waited = in_time(format!("{run} ends"), self.runs.wait_run(request)).await.expect("it can be waited for");
        waited.into_inner().run.expect("there is a run")
    }

    /// Waits until a run is in a state.
    pub async fn until(&mut self, run: &str, state: RunState) -> Run {
        in_time(format!("{run} is {state:?}"), self.until_patiently(run, state)).await
    }

    async fn until_patiently(&mut self, run: &str, state: RunState) -> Run {
        let mut events = self.watch(run, 0).await.expect("it can be watched");
        while let Some(event) = events.message().await.expect("the stream goes on") {
            if let Some(tailback_api::v1::watch_run_response::Event::StateChanged(run)) = event.event
                && run.state() == state
            {
                return run;
            }
        }
        panic!("{run} was never {state:?}");
    }

    pub async fn watch(&mut self, run: &str, after: i64) -> Result<tonic::Streaming<WatchRunResponse>, Status> {
        let request = WatchRunRequest { run_id: run.to_owned(), after_sequence: after, ..Default::default() };
        Ok(in_time(format!("a watch of {run} begins"), self.runs.watch_run(request)).await?.into_inner())
    }
}

/// Asks for a run of a document.
pub fn request(document: &str) -> CreateRunRequest {
    let scenario = Scenario { name: "test.toml".to_owned(), document: document.to_owned(), ..Scenario::default() };
    CreateRunRequest { scenario: Some(scenario), ..CreateRunRequest::default() }
}

/// The same under a name.
pub fn named(id: &str, document: &str) -> CreateRunRequest {
    CreateRunRequest { run_id: id.to_owned(), ..request(document) }
}

/// The reason in the details of an error, and what goes with it.
pub fn reason(status: &Status) -> (String, std::collections::HashMap<String, String>) {
    let details = status.get_error_details();
    let about = details.error_info().unwrap_or_else(|| panic!("no details: {status:?}"));
    assert_eq!(about.domain, "tailback");
    (about.reason.clone(), about.metadata.clone())
}

/// The limit that a refusal names.
pub fn limit(refused: &Status) -> String {
    reason(refused).1.remove("limit").unwrap_or_default()
}

/// The violations in the details of an error.
pub fn violations(status: &Status) -> Vec<(String, String)> {
    let details = status.get_error_details();
    let found = details.bad_request().map(|bad| bad.field_violations.clone()).unwrap_or_default();
    found.into_iter().map(|violation| (violation.field, violation.description)).collect()
}
