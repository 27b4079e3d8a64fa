//! Metrics and liveness over HTTP, for monitors and orchestrators, on a port of its own.
//!
//! Each connection is for one request, which has a deadline; what takes a look at the disk is asked of a
//! [probe](crate::probe), which has one, too. Off this machine they are encrypted, and who asks for metrics
//! must be somebody, and waits first where many have not been; liveness is told to everybody at once, as orchestrators bear
//! no tokens.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_stream::StreamExt as _;

use crate::connection::Peer;
use crate::connection::accept::{Arrival, Arrivals};
use crate::connection::places::Places;
use crate::context::{Context, stopped};
use crate::meters::{Gauges, StoredGauges};
use crate::probe::Probe;
use crate::readiness::Readiness;
use crate::store::{Store, StoreError, runs};

/// How long it may take to answer, and the asking one to read the answer.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// How long what the disk and the database say counts, and how long they may take to say it.
const COUNTS_FOR: Duration = Duration::from_secs(1);
const STORED_MAX: Duration = Duration::from_secs(5);

/// What is told, and to whom.
pub(crate) struct Admin {
    context: Arc<Context>,
    /// Where the connections of each port are counted.
    ports: [(&'static str, Arc<Places>); 2],
    /// Whether metrics are told only to those whom the guard lets in.
    is_protected: bool,
    readiness: Readiness,
    stored: Arc<Probe<Option<StoredGauges>>>,
}

impl Admin {
    pub(crate) fn new(context: Arc<Context>, clients: Arc<Places>, admin: Arc<Places>, is_protected: bool) -> Self {
        let ports = [("clients", clients), ("admin", admin)];
        let readiness = Readiness::of(context.clone());
        Self { context, ports, is_protected, readiness, stored: Probe::new(COUNTS_FOR, STORED_MAX) }
    }

    /// Serves until the server is gone.
    pub(crate) async fn serve(self, mut arrivals: Arrivals, gone: watch::Receiver<bool>) {
        let headers_max = self.context.limits.headers();
        let time_max = headers_max + self.context.guard.failures().wait_max() + ANSWER_MAX;
        let router = self.router();
        let mut serving = JoinSet::new();
        let gone = stopped(gone);
        tokio::pin!(gone);
        loop {
            tokio::select! {
                Some(arrival) = arrivals.next() => {
                    serving.spawn(answer(arrival, router.clone(), (headers_max, time_max)));
                }
                Some(_) = serving.join_next() => {}
                () = &mut gone => break,
            }
        }
        drop(arrivals);
        while serving.join_next().await.is_some() {}
    }

    fn router(self) -> Router {
        let metrics =
            async |State(admin): State<Arc<Self>>, Extension(peer), headers| admin.metrics(&peer, &headers).await;
        let ready = async |State(admin): State<Arc<Self>>| told(admin.readiness.ask().await);
        let alive = async |State(admin): State<Arc<Self>>| told(is_alive(&admin.context).await);
        Router::new()
            .route("/metrics", get(metrics))
            .route("/readyz", get(ready))
            .route("/livez", get(alive))
            .with_state(Arc::new(self))
    }

    async fn metrics(&self, peer: &Peer, headers: &HeaderMap) -> Response {
        let authorization = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        if self.is_protected {
            let guard = &self.context.guard;
            guard.failures().hold_up_newcomer(peer.address.ip()).await;
            if let Err(error) = guard.caller(authorization, Some(peer)) {
                return (StatusCode::UNAUTHORIZED, format!("{error}\n")).into_response();
            }
        }
        let store = self.context.store.clone();
        let stored = self.stored.ask(|| stored_gauges(store)).await.flatten();
        let gauges = Gauges {
            stopping: *self.context.stopping.borrow(),
            connections: self.ports.each_ref().map(|(port, places)| (*port, places.count())),
            memory: (self.context.engine.queue().memory_reserved(), self.context.limits.memory_bytes_max),
            stored,
        };
        let text = self.context.meters.text(&gauges);
        ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
    }
}

/// Answers the one request of a connection. Its headers have a deadline, and all of it has.
async fn answer(arrival: Arrival, router: Router, (headers_max, time_max): (Duration, Duration)) {
    let Arrival { line, peer, place, .. } = arrival;
    let address = peer.address;
    let service = TowerToHyperService::new(router.layer(Extension(peer)));
    let mut connection = http1::Builder::new();
    connection.keep_alive(false).timer(TokioTimer::new()).header_read_timeout(headers_max);
    let answered = timeout(time_max, connection.serve_connection(TokioIo::new(line), service)).await;
    if !matches!(answered, Ok(Ok(()))) {
        tracing::debug!(peer = %address, "a request to the admin port is not answered");
    }
    drop(place);
}

/// The store can be read.
async fn is_alive(context: &Context) -> Result<(), StoreError> {
    context.store.read(|connection| Ok(connection.query_row("SELECT 1", [], |_| Ok(()))?)).await
}

/// What the disk and the database say; nothing if they fail, which readiness tells.
async fn stored_gauges(store: Arc<Store>) -> Option<StoredGauges> {
    let disk = store.clone();
    let read = store.read(move |connection| {
        let (disk_free_bytes, database_bytes) = (disk.free_bytes()?, disk.database_bytes()?);
        Ok(StoredGauges { runs: runs::by_state(connection)?, disk_free_bytes, database_bytes })
    });
    read.await.ok()
}

/// That all is well, or why not.
fn told(asked: Result<(), impl Display>) -> (StatusCode, String) {
    match asked {
        Ok(()) => (StatusCode::OK, "ok\n".to_owned()),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
    }
}
