//! What a browser goes on sending of a call that has been answered: a file that is refused by its header, say.
//!
//! Browsers send a call to its end before they read its answer. If the server closed the connection meanwhile, what it has
//! said would be lost, and the page could not tell why the file is refused.
//!
//! **The invariant it keeps:** nothing of it is kept, and it is listened to no longer than an upload would have been: for
//! known callers only, within the limits of a file, and as long as pieces of it come.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::connection::Visit;
use crate::context::stopped;
use crate::limits::Limits;

/// How long, and how much, the rest of a call is listened to.
#[derive(Clone)]
pub(super) struct ListenLimits {
    visit: Arc<Visit>,
    bytes_max: u64,
    piece_time_max: Duration,
    time_max: Duration,
    stopping: watch::Receiver<bool>,
}

impl ListenLimits {
    pub(super) fn new(visit: Arc<Visit>, limits: &Limits, stopping: watch::Receiver<bool>) -> Self {
        let (piece_time_max, time_max) = (limits.bodies(), limits.stream_lifetime());
        Self { visit, bytes_max: limits.file_bytes_max, piece_time_max, time_max, stopping }
    }

    /// Reads what comes, and forgets it.
    async fn listen(self, mut body: Incoming) {
        let mut bytes = 0;
        let reading = async {
            while let Ok(Some(Ok(frame))) = timeout(self.piece_time_max, next(&mut body)).await {
                bytes += frame.data_ref().map_or(0, Bytes::len) as u64;
                if bytes > self.bytes_max {
                    break;
                }
            }
        };
        tokio::select! {
            _ = timeout(self.time_max, reading) => {}
            () = stopped(self.stopping) => {}
        }
    }
}

async fn next(body: &mut Incoming) -> Option<Result<Frame<Bytes>, hyper::Error>> {
    std::future::poll_fn(|waking| Pin::new(&mut *body).poll_frame(waking)).await
}

/// What is sent with a call; what is left of it when the call has been answered is listened to.
pub(super) struct Sent {
    body: Option<Incoming>,
    limits: ListenLimits,
}

impl Sent {
    pub(super) fn new(body: Incoming, limits: ListenLimits) -> Self {
        Self { body: Some(body), limits }
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        let rest = self.body.take().filter(|body| !body.is_end_stream() && self.limits.visit.is_known());
        if let (Some(rest), Ok(runtime)) = (rest, Handle::try_current()) {
            runtime.spawn(self.limits.clone().listen(rest));
        }
    }
}

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        waking: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.body.as_mut().map_or(Poll::Ready(None), |body| Pin::new(body).poll_frame(waking))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(HttpBody::size_hint).unwrap_or_default()
    }
}
