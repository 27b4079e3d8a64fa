//! A server, from a client's side: connecting, showing a token, and telling what a server says.

mod files;
mod retry;
mod shown;

use std::collections::HashMap;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use tailback_api::v1::file_service_client::FileServiceClient;
use tailback_api::v1::result_service_client::ResultServiceClient;
use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::system_service_client::SystemServiceClient;
use tailback_api::v1::{GetServerInfoRequest, GetServerInfoResponse};
use tokio::runtime::{Builder, Runtime};
use tonic::codegen::InterceptedService;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Request, Response, Status};
use tonic_types::StatusExt as _;

use crate::arguments::ServerArguments;
use crate::complaint::Complaint;
use files::Named;
pub use retry::Retry;
pub use shown::{ShownRun, state_name, table, time_text};

/// Adds the token to each call, and the trace that it goes on with.
#[derive(Clone)]
pub struct Bearer {
    token: Option<MetadataValue<Ascii>>,
    traceparent: Option<MetadataValue<Ascii>>,
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let headers = [("authorization", &self.token), ("traceparent", &self.traceparent)];
        for (name, value) in headers {
            if let Some(value) = value {
                request.metadata_mut().insert(name, value.clone());
            }
        }
        Ok(request)
    }
}

type Line = InterceptedService<Channel, Bearer>;

/// How long a connection may take to be made.
const CONNECTING_MAX: Duration = Duration::from_secs(10);
/// How often a server that says nothing is asked whether it is there, and how long it has to answer: one whose machine is
/// gone closes no connection.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// A server.
pub struct Remote {
    pub runs: RunServiceClient<Line>,
    pub results: ResultServiceClient<Line>,
    files: FileServiceClient<Line>,
    system: SystemServiceClient<Line>,
    /// Files that the server has and that were not sent, by their SHA-256.
    named: HashMap<String, Named>,
    /// What is done when it is lost.
    pub retry: Retry,
}

/// What carries out calls, and serves them.
pub fn runtime() -> Result<Runtime, Complaint> {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Complaint::failed(format!("cannot start threads: {error}")))
}

/// Waits for work. Its type is hidden: runtimes are compiled for each type of work, in three kinds.
pub fn wait_for<T>(runtime: &Runtime, work: impl Future<Output = T>) -> T {
    let work: Pin<Box<dyn Future<Output = T> + '_>> = Box::pin(work);
    runtime.block_on(work)
}

/// Carries out what a command asks a server for.
pub fn carry_out(work: impl Future<Output = Result<(), Complaint>>) -> Result<(), Complaint> {
    wait_for(&runtime()?, work)
}

impl Remote {
    /// Connects to the server that was named.
    pub async fn connect(arguments: &ServerArguments) -> Result<Self, Complaint> {
        let url = &url(arguments);
        let endpoint = Endpoint::from_shared(url.clone())
            .map_err(|error| Complaint::bad_input(format!("`{url}` is not the address of a server: {error}")))?;
        let endpoint = if url.starts_with("https:") { encrypted(endpoint, arguments)? } else { endpoint };
        let endpoint =
            endpoint.connect_timeout(CONNECTING_MAX).http2_keep_alive_interval(KEEPALIVE).keep_alive_timeout(KEEPALIVE);
        // Nobody there from the start is more often a wrong address than a server that comes back.
        let channel = endpoint.connect().await.map_err(|error| {
            let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Complaint::Failed(
                format!("cannot connect to {url}: {cause}"),
                vec!["start one with `tailback serve`, or name another with --server".to_owned()],
            )
        })?;
        let bearer = Bearer { token: token(arguments)?, traceparent: traceparent() };
        let line = || InterceptedService::new(channel.clone(), bearer.clone());
        let retry = Retry::new(url, Duration::from_secs(arguments.retry_time.into()));
        let (runs, results) = (RunServiceClient::new(line()), ResultServiceClient::new(line()));
        let (files, system) = (FileServiceClient::new(line()), SystemServiceClient::new(line()));
        Ok(Self { runs, results, files, system, named: HashMap::new(), retry })
    }

    /// Asks something about runs, again if the connection is lost meanwhile, or a file that was named to the server has to be sent again.
    pub async fn ask_runs<Q: Clone, A>(
        &mut self,
        ask: impl AsyncFn(&mut RunServiceClient<Line>, Q) -> Result<Response<A>, Status>,
        question: Q,
    ) -> Result<A, Status> {
        loop {
            let Self { runs, retry, .. } = self;
            match retry.call(async || ask(runs, question.clone()).await.map(Response::into_inner)).await {
                Ok(answer) => return Ok(answer),
                Err(refused) => self.send_again(refused).await?,
            }
        }
    }

    /// The same about results.
    pub async fn ask_results<Q: Clone, A>(
        &mut self,
        ask: impl AsyncFn(&mut ResultServiceClient<Line>, Q) -> Result<Response<A>, Status>,
        question: Q,
    ) -> Result<A, Status> {
        let Self { results, retry, .. } = self;
        retry.call(async || ask(results, question.clone()).await.map(Response::into_inner)).await
    }

    /// Complains about a server that does not know what is asked for, and would leave it out.
    pub async fn must_know(&mut self, feature: &str) -> Result<GetServerInfoResponse, Complaint> {
        let Self { system, retry, .. } = self;
        let told = retry.call(async || Ok(system.get_server_info(GetServerInfoRequest {}).await?.into_inner())).await?;
        if told.features.iter().any(|known| known == feature) {
            return Ok(told);
        }
        let problem =
            format!("this server (version {}) does not know `{feature}`: nothing was asked of it", told.version);
        Err(Complaint::failed(problem))
    }
}

/// The address of the server, which need not say how it is talked to.
fn url(arguments: &ServerArguments) -> String {
    let server = &arguments.server;
    let is_encrypted = arguments.ca.is_some() || arguments.client_cert.is_some();
    match (server.contains("://"), is_encrypted) {
        (true, _) => server.clone(),
        (false, true) => format!("https://{server}"),
        (false, false) => format!("http://{server}"),
    }
}

fn encrypted(endpoint: Endpoint, arguments: &ServerArguments) -> Result<Endpoint, Complaint> {
    let mut tls = ClientTlsConfig::new();
    tls = match &arguments.ca {
        Some(file) => tls.ca_certificate(Certificate::from_pem(bytes(file)?)),
        None => tls.with_native_roots(),
    };
    if let (Some(certificate), Some(key)) = (&arguments.client_cert, &arguments.client_key) {
        tls = tls.identity(Identity::from_pem(bytes(certificate)?, bytes(key)?));
    }
    endpoint.tls_config(tls).map_err(|error| Complaint::bad_input(format!("the certificates are no good: {error}")))
}

fn token(arguments: &ServerArguments) -> Result<Option<MetadataValue<Ascii>>, Complaint> {
    let token = match &arguments.token_file {
        Some(file) => Some(crate::input::read(file)?),
        None => std::env::var("TAILBACK_TOKEN").ok(),
    };
    let Some(token) = token.map(|token| token.trim().to_owned()).filter(|token| !token.is_empty()) else {
        return Ok(None);
    };
    let mut value: MetadataValue<Ascii> =
        format!("Bearer {token}").parse().map_err(|_| Complaint::bad_input("the token holds odd characters"))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// The context of the trace that this command is part of, if the environment names one.
fn traceparent() -> Option<MetadataValue<Ascii>> {
    std::env::var("TRACEPARENT").ok()?.parse().ok()
}

/// The content of a file.
pub fn bytes(file: &Path) -> Result<Vec<u8>, Complaint> {
    std::fs::read(file).map_err(|error| Complaint::bad_input(format!("cannot read {}: {error}", file.display())))
}

impl From<Status> for Complaint {
    fn from(status: Status) -> Self {
        let details = status.get_error_details();
        let violations = details.bad_request().map(|bad| bad.field_violations.clone()).unwrap_or_default();
        let lines: Vec<String> =
            violations.into_iter().map(|violation| format!("{}: {}", violation.field, violation.description)).collect();
        let message = match status.message() {
            "" => format!("the server says {:?}", status.code()),
            message => message.to_owned(),
        };
        match status.code() {
            Code::InvalidArgument | Code::NotFound | Code::AlreadyExists | Code::FailedPrecondition => {
                let help = (lines.len() > 1).then(|| lines.join("\n        "));
                Self::BadInput(message, help)
            }
            _ => Self::Failed(message, lines),
        }
    }
}
