//! What is answered: bytes from the beginning, and so many of them at once.
//!
//! The framework makes bytes of an answer when its client begins to take it, and a client may have hundreds of calls on each of
//! its connections and take nothing. So an answer becomes bytes here, and these are counted until they are sent.
//!
//! **The invariant it keeps:** what clients have not taken of answers is not more than [`AT_ONCE`] times `answer_bytes_max`, of
//! which one peer leaves a quarter to others, and who takes nothing of one for `stream_stall_s_max` does not get the rest of it. Streams are made message by message, see
//! `rpc/stream.rs`, and pass.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::body::Frame;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::sleep;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::codegen::{Body as HttpBody, BoxFuture, Service, StdError};
use tower::Layer;

use crate::api_error::ApiError;
use crate::connection::address;
use crate::connection::places::{Place, Places};
use crate::endings::{TameEnd, tame_words};
use crate::limits::Limits;
use crate::rpc;

/// Largest answers that may wait for their clients at once.
const AT_ONCE: u32 = 8;
/// What is sent at once: who takes one byte of it keeps all of it in memory.
const PIECE_BYTES: usize = 16 << 10;

/// A place that an answer has until it is bytes, and is counted as these: put among its extensions.
#[derive(Clone)]
pub(crate) struct UntilBytes {
    _permit: Arc<OwnedSemaphorePermit>,
}

impl UntilBytes {
    /// Waits for a place.
    pub(crate) async fn take(places: &Arc<Semaphore>) -> Result<Self, ApiError> {
        let permit = places.clone().acquire_owned().await;
        let permit = permit.map_err(|error| ApiError::Internal(format!("there are no places: {error}")))?;
        Ok(Self { _permit: Arc::new(permit) })
    }
}

/// Watches over what is answered.
#[derive(Clone)]
pub(crate) struct AnswerLayer {
    /// A place for each byte that there may be.
    places: Arc<Places>,
    stall_max: Duration,
}

impl AnswerLayer {
    pub(crate) fn new(limits: &Limits) -> Self {
        let bytes_max = limits.answer_bytes_max.saturating_mul(AT_ONCE);
        Self { places: Places::new(bytes_max, bytes_max), stall_max: limits.stream_stall() }
    }

    /// The same answer to a peer, as bytes that are counted; or that there is no room for it.
    async fn keep<R>(&self, answer: Response<R>, peer: IpAddr) -> Response<Body>
    where
        R: HttpBody<Data = Bytes>,
        R::Error: Into<StdError>,
    {
        let (mut head, body) = answer.into_parts();
        let taken = self.take(body, peer).await;
        head.extensions.remove::<UntilBytes>();
        match taken {
            Ok(rest) => Response::from_parts(head, Body::new(Kept::new(rest, self.stall_max))),
            Err(refused) => refused.into_http(),
        }
    }

    async fn take<R>(&self, body: R, peer: IpAddr) -> Result<Rest, Status>
    where
        R: HttpBody<Data = Bytes>,
        R::Error: Into<StdError>,
    {
        let (mut body, mut rest) = (pin!(body), Rest::default());
        while let Some(frame) = poll_fn(|waking| body.as_mut().poll_frame(waking)).await {
            match frame.map_err(|error| Status::from_error(error.into()))?.into_data() {
                Ok(data) => {
                    for bytes in data.chunks(PIECE_BYTES) {
                        rest.pieces.push_back(self.piece(bytes, peer)?);
                    }
                }
                Err(frame) => rest.trailers = frame.into_trailers().ok(),
            }
        }
        Ok(rest)
    }

    fn piece(&self, bytes: &[u8], peer: IpAddr) -> Result<Bytes, Status> {
        let of = ["bytes of answers that nobody takes", "bytes of answers that nobody takes at one address"];
        let full = |why| self.places.refusal(why, of, "answer_bytes_max");
        let place = self.places.take_many(peer, bytes.len() as u32).map_err(full)?;
        Ok(Bytes::from_owner(Piece { bytes: bytes.into(), _place: place }))
    }
}

impl<S> Layer<S> for AnswerLayer {
    type Service = Answers<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Answers { inner, layer: self.clone() }
    }
}

/// Watches over the answers of a service.
#[derive(Clone)]
pub(crate) struct Answers<S> {
    inner: S,
    layer: AnswerLayer,
}

impl<S, B, R> Service<Request<B>> for Answers<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    R: HttpBody<Data = Bytes> + Send + 'static,
    R::Error: Into<StdError>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<Self::Response, S::Error>;

    fn poll_ready(&mut self, waking: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(waking)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let is_one = rpc::has_one_answer(request.uri().path());
        let peer = address(request.extensions().get());
        let (answer, layer) = (self.inner.call(request), self.layer.clone());
        Box::pin(async move {
            let mut answer = answer.await?.map(TameEnd::new);
            tame_words(answer.headers_mut());
            Ok(if is_one { layer.keep(answer, peer).await } else { answer.map(Body::new) })
        })
    }
}

/// Bytes that are counted as long as anybody has them.
struct Piece {
    bytes: Box<[u8]>,
    _place: Place,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// What is not sent yet of an answer.
#[derive(Default)]
struct Rest {
    pieces: VecDeque<Bytes>,
    trailers: Option<HeaderMap>,
    /// How many pieces were taken.
    taken: u64,
}

impl Rest {
    fn next(&mut self) -> Option<Frame<Bytes>> {
        self.taken += 1;
        self.pieces.pop_front().map(Frame::data).or_else(|| self.trailers.take().map(Frame::trailers))
    }

    fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.trailers.is_none()
    }

    /// Nobody gets what is left; whoever asks after all is told why.
    fn abort(&mut self, stalled: Duration) {
        let why = Status::from(ApiError::ReadTooSlow { stalled, then: "ask again" });
        let mut trailers = HeaderMap::new();
        self.pieces.clear();
        self.trailers = why.add_header(&mut trailers).is_ok().then_some(trailers);
    }
}

/// An answer that waits for its client.
struct Kept {
    rest: Arc<Mutex<Rest>>,
    /// Who gives it up when nothing of it is taken: a body that nobody takes is not asked for anything.
    watch: Option<AbortHandle>,
}

impl Kept {
    fn new(rest: Rest, stall_max: Duration) -> Self {
        let is_empty = rest.pieces.is_empty();
        let rest = Arc::new(Mutex::new(rest));
        let watched = rest.clone();
        let watch = async move {
            let mut taken = 0;
            loop {
                sleep(stall_max).await;
                let mut rest = lock(&watched);
                if rest.taken == taken {
                    return rest.abort(stall_max);
                }
                taken = rest.taken;
            }
        };
        Self { rest, watch: (!is_empty).then(|| tokio::spawn(watch).abort_handle()) }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.watch.as_ref().inspect(|watch| watch.abort());
    }
}

impl HttpBody for Kept {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Poll::Ready(lock(&self.rest).next().map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        lock(&self.rest).is_empty()
    }
}

fn lock(rest: &Mutex<Rest>) -> MutexGuard<'_, Rest> {
    rest.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[tokio::test]
    async fn a_place_is_held_until_the_answer_is_bytes_and_no_longer() {
        let (layer, places) = (AnswerLayer::new(&Limits::default()), Arc::new(Semaphore::new(1)));
        let mut answer = Response::new(Body::empty());
        answer.extensions_mut().insert(UntilBytes::take(&places).await.expect("there is one"));
        assert_eq!(places.available_permits(), 0);
        let _kept = layer.keep(answer, Ipv4Addr::LOCALHOST.into()).await;
        assert_eq!(places.available_permits(), 1);
    }
}
