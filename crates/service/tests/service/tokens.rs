//! Servers with tokens, and clients who bear them.

use std::path::{Path, PathBuf};

use tailback_api::v1::file_service_client::FileServiceClient;
use tailback_api::v1::result_service_client::ResultServiceClient;
use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_service::{Configuration, Grant, Limits, Role, Tokens, add_line, new_token};
use tonic::codegen::InterceptedService;
use tonic::transport::Channel;
use tonic::{Request, Status};

use crate::harness::{Served, configuration};

type AddHeader = Box<dyn FnMut(Request<()>) -> Result<Request<()>, Status>>;
pub type Line = InterceptedService<Channel, AddHeader>;
pub type Bearing = RunServiceClient<Line>;

fn add(header: &str) -> AddHeader {
    let header = header.to_owned();
    Box::new(move |mut request| {
        request.metadata_mut().insert("authorization", header.parse().expect("a value"));
        Ok(request)
    })
}

pub async fn connect(server: &Served) -> Channel {
    let channel = Channel::from_shared(server.url.clone()).expect("an address").connect().await;
    channel.expect("somebody listens")
}

/// A client with a header.
pub async fn bearing(server: &Served, header: &str) -> Bearing {
    over(&connect(server).await, header)
}

/// The same over a connection that others may use, too.
pub fn over(channel: &Channel, header: &str) -> Bearing {
    RunServiceClient::with_interceptor(channel.clone(), add(header))
}

/// The same for results.
pub async fn reading(server: &Served, header: &str) -> ResultServiceClient<Line> {
    ResultServiceClient::with_interceptor(connect(server).await, add(header))
}

/// The same for files.
pub async fn uploading(server: &Served, header: &str) -> FileServiceClient<Line> {
    FileServiceClient::with_interceptor(connect(server).await, add(header))
}

/// A file of tokens, and the headers that bear them.
pub fn tokens(folder: &Path, people: &[(&str, Role)]) -> (PathBuf, Vec<String>) {
    granted(folder, people.iter().map(|&(name, role)| (name, role.into())))
}

/// The same with more than a role.
pub fn granted<'n>(folder: &Path, people: impl IntoIterator<Item = (&'n str, Grant)>) -> (PathBuf, Vec<String>) {
    let file = folder.join("tokens");
    let add = |(name, grant)| {
        let (token, line) = new_token(name, &grant).expect("there are random bytes");
        add_line(&file, &line).expect("it can be written");
        format!("Bearer {token}")
    };
    let headers = people.into_iter().map(add).collect();
    (file, headers)
}

/// A server that goes by a file of tokens.
pub async fn serve(folder: &Path, file: &Path, limits: Limits) -> Served {
    let tokens = Some(Tokens::read(file).expect("it is well formed"));
    Served::configured(Configuration { tokens, limits, ..configuration(&folder.join("data")) }).await
}
