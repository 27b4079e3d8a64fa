//! Streams to clients that take what they get at their own pace.
//!
//! A task makes one message at a time, and the next when the client has taken that. A client that takes nothing for too
//! long is given up: then the task ends, and with it all that the stream costs. So does the stream of a caller whose token
//! was revoked meanwhile, before its next message.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as Waking, Poll, ready};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio::time::{sleep_until, timeout};
use tokio_stream::Stream;
use tonic::Status;

use crate::access::{Caller, Guard};
use crate::api_error::ApiError;
use crate::context::{Context, StreamPlace, stopped};

/// What the client reads.
pub(crate) struct Outgoing<T> {
    messages: mpsc::Receiver<T>,
    /// What is said at the end; nothing if all went well.
    end: Arc<Mutex<Option<ApiError>>>,
}

impl<T> Stream for Outgoing<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, waking: &mut Waking<'_>) -> Poll<Option<Self::Item>> {
        let message = ready!(self.messages.poll_recv(waking));
        Poll::Ready(message.map(Ok).or_else(|| {
            let end = self.end.lock().unwrap_or_else(PoisonError::into_inner).take();
            end.map(|error| Err(error.into()))
        }))
    }
}

/// Where messages go.
pub(super) struct Sink<T> {
    messages: mpsc::Sender<T>,
    stopping: watch::Receiver<bool>,
    stall_max: Duration,
    caller: Caller,
    guard: Guard,
    /// When the stream has lived long enough, or the client gives up.
    until: Instant,
    /// What is said then.
    at_end: ApiError,
}

/// Why nothing more is sent.
#[derive(Debug)]
pub(super) enum Closed {
    /// The client has gone: nobody is there to be told anything.
    Gone,
    /// The client is told.
    Because(ApiError),
}

impl From<ApiError> for Closed {
    fn from(error: ApiError) -> Self {
        Self::Because(error)
    }
}

impl<T> Sink<T> {
    /// Sends a message, when the client has taken the one before.
    pub(super) async fn send(&self, message: T) -> Result<(), Closed> {
        let place = self.unless_over(timeout(self.stall_max, self.messages.reserve())).await?;
        self.guard.must_still_be(&self.caller)?;
        match place {
            Ok(Ok(place)) => {
                place.send(message);
                Ok(())
            }
            Ok(Err(_)) => Err(Closed::Gone),
            Err(_) => {
                let then = "read on from the offset that you have";
                Err(ApiError::ReadTooSlow { stalled: self.stall_max, then }.into())
            }
        }
    }

    /// Waits for something, unless the stream must end before.
    pub(super) async fn unless_over<W>(&self, wanted: impl Future<Output = W>) -> Result<W, Closed> {
        tokio::select! {
            biased;
            () = stopped(self.stopping.clone()) => Err(ApiError::ShuttingDown { resume_after: None }.into()),
            () = sleep_until(self.until.into()) => Err(self.at_end.clone().into()),
            got = wanted => Ok(got),
            () = self.messages.closed() => Err(Closed::Gone),
        }
    }
}

/// What is as long as for ever.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The instant after so long, which limits may say to be more than any clock can tell.
pub(super) fn from_now(length: Duration) -> Instant {
    Instant::now() + length.min(FOR_EVER)
}

/// Opens a stream to a caller, whose messages `make` makes.
pub(super) fn open<T, F>(
    context: &Context,
    place: StreamPlace,
    caller: Caller,
    deadline: Option<Instant>,
    make: impl FnOnce(Sink<T>) -> F,
) -> Outgoing<T>
where
    T: Send + 'static,
    F: Future<Output = Result<(), Closed>> + Send + 'static,
{
    // One message waits for the client; what else there is to say is made when it is wanted.
    let (messages, receiver) = mpsc::channel(1);
    let expires = from_now(context.limits.stream_lifetime());
    let (until, at_end) = match deadline {
        Some(deadline) if deadline < expires => (deadline, ApiError::DeadlinePassed { resume_after: None }),
        _ => (expires, ApiError::StreamExpired { resume_after: None }),
    };
    let stall_max = context.limits.stream_stall();
    let (stopping, guard) = (context.stopping.clone(), context.guard.clone());
    let sink = Sink { messages: messages.clone(), stopping, stall_max, caller, guard, until, at_end };
    let end = Arc::new(Mutex::new(None));
    let (made, said) = (make(sink), end.clone());
    tokio::spawn(async move {
        if let Err(Closed::Because(error)) = made.await {
            *said.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
        // Only now is the stream closed: whoever reads it finds the last word.
        drop((messages, place));
    });
    Outgoing { messages: receiver, end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Failures;

    /// Watches alone have numbers to go on after.
    #[tokio::test]
    async fn who_takes_nothing_is_told_to_read_on() {
        let guard = Guard::new(None, Arc::new(Failures::new(Duration::ZERO)), Arc::default());
        let caller = guard.caller(None, None).expect("everybody is let in");
        let ((messages, untaken), (_running, stopping)) = (mpsc::channel(1), watch::channel(false));
        let (until, at_end) = (from_now(FOR_EVER), ApiError::StreamExpired { resume_after: None });
        let sink = Sink { messages, stopping, stall_max: Duration::ZERO, caller, guard, until, at_end };
        sink.send(0).await.expect("there is room for one");
        let Err(Closed::Because(refused)) = sink.send(1).await else { panic!("nobody has taken the first") };
        assert_eq!(refused.to_string(), "nothing was taken for 0 s; read on from the offset that you have");
        drop(untaken);
    }
}
