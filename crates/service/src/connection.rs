//! Connections: how many there may be, and that none is held without a word.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream;
use tonic::transport::server::{Connected, TcpConnectInfo};

/// Connections that are open at once; others wait to be accepted.
const OPEN_MAX: usize = 4096;
/// How long a connection may be open before its first byte arrives.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// A connection.
pub(crate) struct Connection {
    stream: TcpStream,
    /// When it is closed, unless a byte has arrived before.
    silence: Option<Pin<Box<Sleep>>>,
    _permit: OwnedSemaphorePermit,
}

/// The connections that clients open.
pub(crate) fn incoming(listener: TcpListener) -> impl Stream<Item = io::Result<Connection>> {
    let places = Arc::new(Semaphore::new(OPEN_MAX));
    let (accepted, connections) = tokio::sync::mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let Ok(permit) = places.clone().acquire_owned().await else { return };
            let stream = tokio::select! {
                stream = listener.accept() => stream,
                () = accepted.closed() => return,
            };
            let connection = match stream {
                Ok((stream, _)) => {
                    // Small messages are not held back; it fails only for connections that are gone.
                    let _ = stream.set_nodelay(true);
                    Connection { stream, silence: Some(Box::pin(sleep(SILENCE_MAX))), _permit: permit }
                }
                Err(error) => {
                    // Too many files are open, say: there may be fewer in a moment.
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            if accepted.send(Ok(connection)).await.is_err() {
                return;
            }
        }
    });
    tokio_stream::wrappers::ReceiverStream::new(connections)
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, waking: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(waking, into);
        if into.filled().len() > before {
            self.silence = None;
        }
        let silence = self.silence.as_mut().filter(|_| read.is_pending());
        if silence.is_some_and(|silence| silence.as_mut().poll(waking).is_ready()) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, waking: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(waking, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, waking: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(waking)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, waking: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(waking)
    }
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}
