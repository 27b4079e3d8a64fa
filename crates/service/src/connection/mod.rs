//! Connections: how many there may be, what those who open them owe, and by when.
//!
//! A connection is [accepted](accept) if there is a [place](places) for it, and encrypted here rather than by the framework
//! of the calls, so that what arrives can be looked at: from then on its [frames](frames) say what the client owes.
//!
//! **The invariant it keeps:** whoever owes something has a deadline for it. Whoever owes nothing may be silent; keepalive
//! pings find out whether that one is there at all.

pub(crate) mod accept;
mod frames;
pub(crate) mod places;
mod tls;
mod visit;

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_rustls::server::TlsStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::transport::server::Connected;

use accept::Arrivals;
use frames::{Frames, Owed};
use places::Place;
pub use tls::CertificatesInForce;
pub(crate) use tls::{Encrypting, Protocol, fingerprint};
pub(crate) use visit::{Peer, Visit, address};

/// What goes over a connection, encrypted or not.
pub(crate) trait Line: AsyncRead + AsyncWrite + Send + Unpin {}

impl Line for TcpStream {}
impl Line for TlsStream<TcpStream> {}

/// A connection over which calls come.
pub(crate) struct Connection {
    line: Box<dyn Line>,
    peer: Peer,
    frames: Frames,
    owed: Owed,
    /// When the connection is closed, unless what is owed has come.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Until when nothing is read.
    pause: Option<Pin<Box<Sleep>>>,
    headers_max: Duration,
    _place: Place,
}

/// The connections of those who arrive. `headers_max` is how long the headers of a call may take.
pub(crate) fn incoming(arrivals: Arrivals, headers_max: Duration) -> impl Stream<Item = io::Result<Connection>> {
    arrivals.map(move |arrival| {
        Ok(Connection {
            line: arrival.line,
            peer: arrival.peer,
            frames: Frames::new(),
            owed: Owed::Opening,
            deadline: Some(Box::pin(sleep_until(arrival.opened_by))),
            pause: None,
            headers_max,
            _place: arrival.place,
        })
    })
}

impl Connection {
    /// The visit of somebody whom nobody knows may be made slower.
    fn poll_pause(&mut self, waking: &mut Context<'_>) -> Poll<()> {
        if let Some(until) = self.peer.visit.take_pause() {
            self.pause = Some(Box::pin(sleep_until(until)));
        }
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(waking));
            self.pause = None;
        }
        Poll::Ready(())
    }

    /// What is owed may have changed with what has arrived.
    fn set_deadline(&mut self) {
        let owed = self.frames.owed();
        if owed != self.owed {
            self.owed = owed;
            let deadline = || Box::pin(sleep_until(Instant::now() + self.headers_max));
            self.deadline = (owed != Owed::Nothing).then(deadline);
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, waking: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_pause(waking));
        let before = into.filled().len();
        let read = Pin::new(&mut self.line).poll_read(waking, into);
        self.frames.put(&into.filled()[before..]);
        self.set_deadline();
        let deadline = self.deadline.as_mut().filter(|_| read.is_pending());
        if deadline.is_some_and(|deadline| deadline.as_mut().poll(waking).is_ready()) {
            tracing::debug!(peer = %self.peer.address, owed = ?self.owed, "a client takes too long");
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, waking: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.line).poll_write(waking, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, waking: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.line).poll_flush(waking)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, waking: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.line).poll_shutdown(waking)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        waking: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.line).poll_write_vectored(waking, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.line.is_write_vectored()
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}
