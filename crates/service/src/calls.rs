//! What is done about each call: it gets a number, is traced, and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tonic::codegen::http::{HeaderValue, Request, Response};
use tonic::codegen::{BoxFuture, Service};
use tonic::{Code, Status};
use tower::Layer;
use tracing::Instrument as _;

use crate::meters::Meters;
use crate::{rpc, trace_context};

/// The header with the number of a call. A client may choose its own.
const REQUEST_ID: &str = "x-request-id";

/// What calls are counted as whose method is none of ours. What is counted once stays in memory, and clients could invent any number of names, whether they
/// are let in or not.
const OTHER: &str = "other";

/// Counts and traces calls.
#[derive(Clone)]
pub(crate) struct CallLayer {
    meters: Arc<Meters>,
    next: Arc<AtomicU64>,
}

impl CallLayer {
    pub(crate) fn new(meters: Arc<Meters>) -> Self {
        Self { meters, next: Arc::new(AtomicU64::new(1)) }
    }
}

impl<S> Layer<S> for CallLayer {
    type Service = Calls<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Calls { inner, layer: self.clone() }
    }
}

/// Counts and traces the calls of a service.
#[derive(Clone)]
pub(crate) struct Calls<S> {
    inner: S,
    layer: CallLayer,
}

impl<S, B, R> Service<Request<B>> for Calls<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<S::Response, S::Error>;

    fn poll_ready(&mut self, waking: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(waking)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let id = request.headers().get(REQUEST_ID).filter(|id| is_tame(id)).cloned();
        let id = id.unwrap_or_else(|| HeaderValue::from(self.layer.next.fetch_add(1, Ordering::Relaxed)));
        let path = request.uri().path();
        let counted_as = rpc::method(path).unwrap_or(OTHER);
        let shown: String = path.chars().take(100).collect();
        let span = tracing::info_span!("call", method = shown, id = id.to_str().unwrap_or_default());
        if let Some(traceparent) = request.headers().get(trace_context::TRACEPARENT) {
            trace_context::go_on(&span, traceparent.to_str().unwrap_or_default());
        }
        let (answer, meters) = (self.inner.call(request), self.layer.meters.clone());
        let call = async move {
            let mut response = answer.await?;
            let code = Status::from_header_map(response.headers()).map_or(Code::Ok, |status| status.code());
            meters.call(counted_as, code);
            tracing::debug!(?code, "answered");
            response.headers_mut().insert(REQUEST_ID, id);
            Ok(response)
        };
        Box::pin(call.instrument(span))
    }
}

/// Short, and of plain characters.
fn is_tame(id: &HeaderValue) -> bool {
    id.len() <= 64 && id.as_bytes().iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte))
}
