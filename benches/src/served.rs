//! A server in the process of a benchmark, whose workers are that program as well.

use std::sync::Arc;

use tailback_service::{Configuration, Connection, Limits, Server, WorkerCommand};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::transport::Channel;

/// What makes a program a worker of its own server.
const WORKER: &str = "--worker";

/// If this process was started as a worker, it is one, and to end then.
pub fn is_worker() -> bool {
    let is_worker = std::env::args().any(|argument| argument == WORKER);
    if is_worker {
        tailback_service::work(Connection::Socket, &Arc::default()).expect("a server has started it");
    }
    is_worker
}

/// Whether a benchmark is wanted, and not a test of one: Cargo says so.
pub fn is_whole() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// A server in a folder of its own, until it is stopped.
pub struct Served {
    url: String,
    _folder: TempDir,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Served {
    /// Starts one.
    pub async fn start(limits: Limits) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let worker = WorkerCommand::this_program(&[WORKER]);
        let configuration = Configuration { limits, ..Configuration::local(folder.path().to_owned(), "bench", worker) };
        let server = Server::bind(configuration).await.expect("it can be started");
        let url = format!("http://{}", server.address());
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(async {
            server.serve(async { stopped.await.unwrap_or(()) }).await.expect("it serves");
        });
        Self { url, _folder: folder, stop, serving }
    }

    /// A connection to it.
    pub async fn channel(&self) -> Channel {
        let endpoint = Channel::from_shared(self.url.clone()).expect("an address");
        endpoint.connect().await.expect("somebody listens")
    }

    /// Stops it, and waits until it has.
    pub async fn stop(self) {
        drop(self.stop);
        self.serving.await.expect("it ends");
    }
}
