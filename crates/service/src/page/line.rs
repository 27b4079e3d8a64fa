//! What goes over a connection to the page.
//!
//! **The invariant it keeps:** a browser that takes nothing for too long is cut off; strangers who fail to show who they are
//! are not listened to for a while, as on the other port.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep, sleep_until};

use crate::connection::{Line, Visit};

/// A connection to the page.
pub(super) struct PageLine {
    line: Box<dyn Line>,
    visit: Arc<Visit>,
    /// Until when nothing is read.
    pause: Option<Pin<Box<Sleep>>>,
    /// How long it may take nothing.
    stall_max: Duration,
    /// By when it must take something again.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl PageLine {
    pub(super) fn new(line: Box<dyn Line>, visit: Arc<Visit>, stall_max: Duration) -> Self {
        Self { line, visit, pause: None, stall_max, deadline: None }
    }

    fn poll_pause(&mut self, waking: &mut Context<'_>) -> Poll<()> {
        if let Some(until) = self.visit.take_pause() {
            self.pause = Some(Box::pin(sleep_until(until)));
        }
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(waking));
            self.pause = None;
        }
        Poll::Ready(())
    }

    /// Whether what was to be written has been, or has waited for too long.
    fn in_time<T>(&mut self, written: Poll<io::Result<T>>, waking: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let stall_max = self.stall_max;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(stall_max)));
        ready!(deadline.as_mut().poll(waking));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for PageLine {
    fn poll_read(mut self: Pin<&mut Self>, waking: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_pause(waking));
        Pin::new(&mut self.line).poll_read(waking, into)
    }
}

impl AsyncWrite for PageLine {
    fn poll_write(mut self: Pin<&mut Self>, waking: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.line).poll_write(waking, bytes);
        self.in_time(written, waking)
    }

    fn poll_flush(mut self: Pin<&mut Self>, waking: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.line).poll_flush(waking);
        self.in_time(flushed, waking)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, waking: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.line).poll_shutdown(waking);
        self.in_time(shut, waking)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        waking: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.line).poll_write_vectored(waking, pieces);
        self.in_time(written, waking)
    }

    fn is_write_vectored(&self) -> bool {
        self.line.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    /// Both ends of a connection.
    async fn ends() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there are ports");
        let address = listener.local_addr().expect("it has one");
        let (there, here) = tokio::join!(TcpStream::connect(address), listener.accept());
        (there.expect("it accepts"), here.expect("it arrives").0)
    }

    #[tokio::test]
    async fn who_takes_nothing_is_cut_off() {
        let (there, here) = ends().await;
        let mut line = PageLine::new(Box::new(here), Arc::default(), Duration::from_millis(50));
        let written = line.write_all(&vec![0; 64 << 20]).await;
        assert_eq!(written.expect_err("nobody reads").kind(), io::ErrorKind::TimedOut);
        drop(there);
    }

    #[tokio::test]
    async fn who_takes_what_there_is_is_served() {
        let (mut there, here) = ends().await;
        let mut line = PageLine::new(Box::new(here), Arc::default(), Duration::from_secs(600));
        let taking = tokio::spawn(async move { there.read_to_end(&mut Vec::new()).await });
        line.write_all(&vec![0; 4 << 20]).await.expect("somebody reads");
        drop(line);
        assert_eq!(taking.await.expect("it ends").expect("it reads"), 4 << 20);
    }
}
