//! The page: what a browser shows of the server, on a port of its own.
//!
//! Its [files](files) are part of the program. What they show comes over the calls that all clients make, in the form that
//! browsers can send (gRPC-Web): these go through the same guard, and take of the same limits. Connections count among those
//! of clients, by HTTP/1.1: there is one call at a time on each.
//!
//! **The invariant it keeps:** a page of another server learns nothing from this one and changes nothing on it, whatever
//! name leads here; see [origin]. Nothing that is served names another server.

mod files;
mod line;
mod origin;
mod rest;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_stream::StreamExt as _;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::service::Routes;
use tonic_web::{GrpcWebLayer, GrpcWebService};
use tower::{Layer as _, ServiceExt};

use crate::answers::Answers;
use crate::bodies::Bodies;
use crate::calls::Calls;
use crate::connection::Peer;
use crate::connection::accept::{Arrival, Arrivals};
use crate::context::stopped;
use crate::layers::Layers;
use crate::limits::Limits;
use line::PageLine;
use origin::Names;
use rest::{ListenLimits, Sent};

/// Bytes that HTTP needs for headers at least.
const HEADERS_BYTES_MIN: usize = 8 << 10;

/// What every answer carries: the page runs what came with it, speaks with its own server, and is in nobody's frame.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

/// Calls as browsers send them: the layers are those of the other port, and count together with it.
type WebCalls = GrpcWebService<Calls<Bodies<Answers<axum::Router>>>>;

/// The page, and the calls that it makes.
#[derive(Clone)]
pub(crate) struct Page {
    calls: WebCalls,
    names: Names,
    limits: Arc<Limits>,
}

impl Page {
    /// `is_guarded` says whether nobody is let in who shows nothing, or who takes this server for another: then it may
    /// have any name.
    pub(crate) fn new(
        routes: Routes,
        Layers { calls, bodies, answers }: &Layers,
        limits: Arc<Limits>,
        is_guarded: bool,
    ) -> Self {
        let calls = GrpcWebLayer::new().layer(calls.layer(bodies.layer(answers.layer(routes.into_axum_router()))));
        Self { calls, names: if is_guarded { Names::Any } else { Names::Own }, limits }
    }

    /// Serves until the server stops; then calls that are being answered come to their ends.
    pub(crate) async fn serve(self, mut arrivals: Arrivals, stopping: watch::Receiver<bool>) {
        let mut serving = JoinSet::new();
        let stop = stopped(stopping.clone());
        tokio::pin!(stop);
        loop {
            tokio::select! {
                Some(arrival) = arrivals.next() => {
                    serving.spawn(self.clone().visited(arrival, stopping.clone()));
                }
                Some(_) = serving.join_next() => {}
                () = &mut stop => break,
            }
        }
        drop(arrivals);
        while serving.join_next().await.is_some() {}
    }

    /// Answers the requests of a connection.
    async fn visited(self, arrival: Arrival, stopping: watch::Receiver<bool>) {
        let Arrival { line, peer, place, .. } = arrival;
        let address = peer.address;
        let headers_max: Duration = self.limits.headers();
        let bytes_max = (self.limits.header_bytes_max as usize).max(HEADERS_BYTES_MIN);
        let line = PageLine::new(line, peer.visit.clone(), self.limits.stream_stall());
        let listen_limits = ListenLimits::new(peer.visit.clone(), &self.limits, stopping.clone());
        let answering = service_fn(move |request: Request<Incoming>| {
            let request = request.map(|body| Sent::new(body, listen_limits.clone()));
            self.clone().answer(request, peer.clone())
        });
        let mut connection = http1::Builder::new();
        connection.timer(TokioTimer::new()).header_read_timeout(headers_max).max_buf_size(bytes_max);
        let connection = connection.serve_connection(TokioIo::new(line), answering);
        tokio::pin!(connection);
        let served = tokio::select! {
            served = connection.as_mut() => served,
            () = stopped(stopping) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = served {
            tracing::debug!(peer = %address, %error, "a connection to the page has failed");
        }
        drop(place);
    }

    async fn answer(self, request: Request<Sent>, peer: Peer) -> Result<Response<Body>, Infallible> {
        let mut response = match origin::check(&request, self.names) {
            Err(refused) => plain(StatusCode::FORBIDDEN, refused.to_string()),
            Ok(()) if *request.method() == Method::POST => self.called(request, peer).await,
            Ok(()) => files::get(&request),
        };
        for (name, value) in HEADERS {
            response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        Ok(response)
    }

    async fn called(mut self, mut request: Request<Sent>, peer: Peer) -> Response<Body> {
        request.extensions_mut().insert(peer);
        let Ok(ready) = ServiceExt::<Request<Sent>>::ready(&mut self.calls).await;
        let Ok(response) = ready.call(request).await;
        response
    }
}

/// An answer in words.
fn plain(code: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::new(text + "\n"));
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
