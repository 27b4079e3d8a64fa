//! Accepting connections: who gets a place, and who is turned away.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_stream::wrappers::ReceiverStream;

use super::places::{NoPlace, Place, Places};
use super::{Encrypting, Line, Peer};
use crate::access::Failures;
use crate::meters::Meters;
use crate::sparingly::Sparingly;

/// How long to wait when no connection can be accepted, as when too many files are open.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// One who has arrived, whose connection is encrypted if it is to be.
pub(crate) struct Arrival {
    pub line: Box<dyn Line>,
    pub peer: Peer,
    pub place: Place,
    /// When the connection must be open.
    pub opened_by: Instant,
}

/// Those who arrive.
pub(crate) type Arrivals = ReceiverStream<Arrival>;

/// How connections are accepted.
pub(crate) struct Door {
    pub places: Arc<Places>,
    pub encrypting: Option<Encrypting>,
    /// How long it may take from accepting a connection until it is open.
    pub opening_max: Duration,
    /// Those whose new connections wait; nobody's where who is asking does not matter for all that is asked.
    pub failures: Option<Arc<Failures>>,
    pub meters: Arc<Meters>,
}

/// Accepts connections for as long as somebody takes those who arrive.
pub(crate) fn arrivals(listener: TcpListener, door: Door) -> Arrivals {
    let (arrived, arrivals) = mpsc::channel(1);
    tokio::spawn(accept(listener, Arc::new(door), arrived));
    ReceiverStream::new(arrivals)
}

async fn accept(listener: TcpListener, door: Arc<Door>, arrived: mpsc::Sender<Arrival>) {
    let (turned_away, failed) = (Sparingly::default(), Sparingly::default());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = arrived.closed() => return,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                if let Some(left_out) = failed.is_due() {
                    tracing::warn!(%error, left_out, "cannot accept a connection");
                }
                sleep(RETRY_AFTER).await;
                continue;
            }
        };
        match door.places.take(address.ip()) {
            Ok(place) => {
                let peer = Peer { address, certificate: None, visit: Arc::default() };
                tokio::spawn(open(door.clone(), stream, peer, place, arrived.clone()));
            }
            Err(why) => {
                door.meters.turned_away();
                if let Some(left_out) = turned_away.is_due() {
                    let why = match why {
                        NoPlace::All => "connections_max are open",
                        NoPlace::OfPeer => "connections_per_peer_max are open from there",
                    };
                    tracing::warn!(peer = %address.ip(), why, left_out, "a connection is turned away");
                }
            }
        }
    }
}

/// Encrypts a connection, if it is to be, and passes it on. If many calls from its address were not let in, it waits before:
/// that costs no more than its place, and no other connection waits with it.
async fn open(door: Arc<Door>, stream: TcpStream, mut peer: Peer, place: Place, arrived: mpsc::Sender<Arrival>) {
    // Small messages are not held back; it fails only for connections that are gone.
    let _ = stream.set_nodelay(true);
    if let Some(failures) = &door.failures {
        tokio::select! {
            () = failures.hold_up_newcomer(peer.address.ip()) => {}
            () = arrived.closed() => return,
        }
    }
    let opened_by = Instant::now() + door.opening_max;
    let line: Box<dyn Line> = match &door.encrypting {
        None => Box::new(stream),
        Some(encrypting) => {
            let encrypted = timeout_at(opened_by, encrypting.encrypt(stream)).await;
            match encrypted.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok((stream, certificate)) => {
                    peer.certificate = certificate;
                    Box::new(stream)
                }
                Err(error) => return tracing::debug!(peer = %peer.address, %error, "a connection is not encrypted"),
            }
        }
    };
    // It fails when the server takes no more connections.
    let _ = arrived.send(Arrival { line, peer, place, opened_by }).await;
}
