//! Metrics and liveness over HTTP, for monitors and orchestrators, on a port of its own.
//!
//! Each connection is for one request, which has a deadline. Off this machine they are encrypted, and who asks for metrics
//! must be somebody; liveness is told to everybody, as orchestrators bear no tokens.

use std::sync::Arc;
use std::time::Duration;

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
use crate::meters::Gauges;
use crate::store::StoreError;

/// How long it may take to answer, and the asking one to read the answer.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// What is told, and to whom.
#[derive(Clone)]
pub(crate) struct Admin {
    pub context: Arc<Context>,
    /// Where the connections of clients are counted.
    pub clients: Arc<Places>,
    /// Whether metrics are told only to those whom the guard lets in.
    pub is_protected: bool,
}

impl Admin {
    /// Serves until the server is gone.
    pub(crate) async fn serve(self, mut arrivals: Arrivals, gone: watch::Receiver<bool>) {
        let headers_max = self.context.limits.headers();
        let router = self.router();
        let mut serving = JoinSet::new();
        let gone = stopped(gone);
        tokio::pin!(gone);
        loop {
            tokio::select! {
                Some(arrival) = arrivals.next() => {
                    serving.spawn(answer(arrival, router.clone(), headers_max));
                }
                Some(_) = serving.join_next() => {}
                () = &mut gone => break,
            }
        }
        drop(arrivals);
        while serving.join_next().await.is_some() {}
    }

    fn router(self) -> Router {
        let ready = self.context.clone();
        let alive = self.context.clone();
        Router::new()
            .route("/metrics", get(async move |Extension(peer), headers| self.metrics(&peer, &headers)))
            .route(
                "/readyz",
                get(async move || if *ready.stopping.borrow() { not("the server stops") } else { good() }),
            )
            .route(
                "/livez",
                get(async move || match is_alive(&alive).await {
                    Ok(()) => good(),
                    Err(error) => not(&error.to_string()),
                }),
            )
    }

    fn metrics(&self, peer: &Peer, headers: &HeaderMap) -> Response {
        let authorization = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        if self.is_protected
            && let Err(error) = self.context.guard.caller(authorization, Some(peer))
        {
            return (StatusCode::UNAUTHORIZED, format!("{error}\n")).into_response();
        }
        let (pending, running) = self.context.engine.queue().counts();
        let (stopping, connections) = (*self.context.stopping.borrow(), self.clients.count());
        let text = self.context.meters.text(&Gauges { pending, running, stopping, connections });
        ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
    }
}

/// Answers the one request of a connection.
async fn answer(arrival: Arrival, router: Router, headers_max: Duration) {
    let Arrival { line, peer, place, .. } = arrival;
    let address = peer.address;
    let service = TowerToHyperService::new(router.layer(Extension(peer)));
    let mut connection = http1::Builder::new();
    connection.keep_alive(false).timer(TokioTimer::new()).header_read_timeout(headers_max);
    let answered = timeout(headers_max + ANSWER_MAX, connection.serve_connection(TokioIo::new(line), service)).await;
    if !matches!(answered, Ok(Ok(()))) {
        tracing::debug!(peer = %address, "a request to the admin port is not answered");
    }
    drop(place);
}

/// The store can be read.
async fn is_alive(context: &Context) -> Result<(), StoreError> {
    context.store.read(|connection| Ok(connection.query_row("SELECT 1", [], |_| Ok(()))?)).await
}

type Answer = (StatusCode, String);

fn good() -> Answer {
    (StatusCode::OK, "ok\n".to_owned())
}

fn not(reason: &str) -> Answer {
    (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n"))
}
