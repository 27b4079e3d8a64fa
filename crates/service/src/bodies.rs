//! What clients send with their calls: by when, and how much of it there is at once.
//!
//! **The invariant it keeps:** what was sent with calls that are not answered yet takes no more than `body_bytes_max`, and a
//! client that sends byte by byte has a place among the calls of its connection for `body_ms_max` at most. A file that is
//! uploaded is not kept here: each of its pieces has that time, and how many there are at once is limited where they go to.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::Request;
use tonic::codegen::{Body as HttpBody, BoxFuture, Service};
use tower::Layer;

use crate::api_error::ApiError;
use crate::limits::Limits;
use crate::rpc;

/// Watches over what is sent with calls.
#[derive(Clone)]
pub(crate) struct BodyLayer {
    /// A permit for each byte that there may be.
    free: Arc<Semaphore>,
    bytes_max: u32,
    time_max: Duration,
}

impl BodyLayer {
    pub(crate) fn new(limits: &Limits) -> Self {
        let bytes_max = limits.body_bytes_max;
        Self { free: Arc::new(Semaphore::new(bytes_max as usize)), bytes_max, time_max: limits.bodies() }
    }

    fn full(&self) -> Status {
        let (what, limit) = ("bytes of requests", "body_bytes_max");
        ApiError::TooManyStreams { what, limit, allowed: self.bytes_max.into() }.into()
    }
}

impl<S> Layer<S> for BodyLayer {
    type Service = Bodies<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Bodies { inner, layer: self.clone() }
    }
}

/// Watches over what is sent with the calls of a service.
#[derive(Clone)]
pub(crate) struct Bodies<S> {
    inner: S,
    layer: BodyLayer,
}

impl<S> Service<Request<Body>> for Bodies<S>
where
    S: Service<Request<Body>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<S::Response, S::Error>;

    fn poll_ready(&mut self, waking: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(waking)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let taken = Arc::new(Mutex::new(None));
        let (layer, held) = (self.layer.clone(), taken.clone());
        let is_upload = request.uri().path() == rpc::UPLOAD;
        let answer = self.inner.call(request.map(|body| {
            let deadline = Box::pin(sleep(layer.time_max));
            Body::new(Counted { body, deadline, layer, taken, is_upload })
        }));
        Box::pin(async move {
            let answer = answer.await;
            // What was sent is kept as a request for as long as that is worked at.
            drop(held);
            answer
        })
    }
}

/// What is sent with a call.
struct Counted {
    body: Body,
    deadline: Pin<Box<Sleep>>,
    layer: BodyLayer,
    /// The bytes that have come, also as long as the call is worked at.
    taken: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
    /// Whether it goes on as long as pieces of it come, none of which is kept.
    is_upload: bool,
}

impl Counted {
    /// Counts bytes that have come, if there may be so many.
    fn take(&self, bytes: usize) -> Result<(), Status> {
        let bytes = u32::try_from(bytes).map_err(|_| self.layer.full())?;
        let more = self.layer.free.clone().try_acquire_many_owned(bytes).map_err(|_| self.layer.full())?;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *taken {
            Some(taken) => taken.merge(more),
            None => *taken = Some(more),
        }
        Ok(())
    }
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, waking: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(waking) else {
            ready!(self.deadline.as_mut().poll(waking));
            return Poll::Ready(Some(Err(ApiError::BodyTooSlow { allowed: self.layer.time_max }.into())));
        };
        let Some(Ok(frame)) = frame else { return Poll::Ready(frame) };
        if self.is_upload {
            let next = Instant::now() + self.layer.time_max;
            self.deadline.as_mut().reset(next);
            return Poll::Ready(Some(Ok(frame)));
        }
        let counted = self.take(frame.data_ref().map_or(0, Bytes::len));
        Poll::Ready(Some(counted.map(|()| frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
