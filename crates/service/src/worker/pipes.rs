//! A connection whose two directions are standard input and output.
//!
//! What a scheduler gives its jobs as input and output are pipes or files, and no socket. Two threads carry what is said between them and a pair of sockets.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};

/// What carries answers to standard output.
pub(super) struct Answers {
    /// This end of the connection.
    stream: UnixStream,
    carrying: JoinHandle<()>,
}

/// The worker's end of a connection by standard input and output.
pub(super) fn connect() -> io::Result<(UnixStream, Answers)> {
    connect_to(io::stdin(), io::stdout())
}

fn connect_to(
    mut input: impl io::Read + Send + 'static,
    mut output: impl io::Write + Send + 'static,
) -> io::Result<(UnixStream, Answers)> {
    let (ours, theirs) = UnixStream::pair()?;
    let (mut orders, mut answers) = (theirs.try_clone()?, theirs);
    let carry = move || {
        // Whatever ends it, the server is gone.
        let _ = io::copy(&mut input, &mut orders);
        let _ = orders.shutdown(Shutdown::Write);
    };
    thread::Builder::new().name("input".to_owned()).spawn(carry)?;
    let carry = move || {
        let mut piece = [0; 64 << 10];
        while let Ok(bytes @ 1..) = io::Read::read(&mut answers, &mut piece) {
            if output.write_all(&piece[..bytes]).and_then(|()| output.flush()).is_err() {
                break;
            }
        }
    };
    let carrying = thread::Builder::new().name("output".to_owned()).spawn(carry)?;
    Ok((ours.try_clone()?, Answers { stream: ours, carrying }))
}

impl Answers {
    /// Waits until all that was said is on standard output. Nothing can be said afterwards.
    pub(super) fn finish(self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        // It panics for no reason.
        let _ = self.carrying.join();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn all_that_is_said_arrives_before_it_ends() {
        let (mut server, input) = UnixStream::pair().expect("there are sockets");
        let (output, mut said) = UnixStream::pair().expect("there are sockets");
        let (mut worker, answers) = connect_to(input, output).expect("there are threads");
        server.write_all(b"order").expect("it is read");
        let mut order = [0; 5];
        worker.read_exact(&mut order).expect("it arrives");
        worker.write_all(&[7; 100_000]).expect("it is carried on");
        let reader = thread::spawn(move || {
            let mut all = Vec::new();
            said.read_to_end(&mut all).expect("it ends");
            all.len()
        });
        answers.finish();
        assert_eq!((&order, reader.join().expect("it reads")), (b"order", 100_000));
    }

    #[test]
    fn a_server_that_is_gone_is_noticed() {
        let (mut worker, _answers) = connect_to(io::empty(), io::sink()).expect("there are threads");
        assert_eq!(worker.read(&mut [0; 8]).expect("it can be read"), 0);
    }
}
