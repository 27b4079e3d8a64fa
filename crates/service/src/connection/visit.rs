//! One who is at the other end of a connection.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// One who is at the other end of a connection. Each call finds it among its extensions.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub address: SocketAddr,
    /// The fingerprint of the certificate that was shown, which somebody has signed whom the server trusts.
    pub certificate: Option<[u8; 32]>,
    pub visit: Arc<Visit>,
}

/// Where the peer of a call is; nowhere if that is not known.
pub(crate) fn address(peer: Option<&Peer>) -> IpAddr {
    peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.address.ip())
}

/// What has come of the calls of a connection so far.
#[derive(Debug, Default)]
pub(crate) struct Visit {
    is_known: AtomicBool,
    pause: Mutex<Option<Instant>>,
}

impl Visit {
    /// A call was let in: from now on this is no stranger. A proxy has many callers on one connection; those who bear good
    /// tokens must not wait for one who does not.
    pub(crate) fn is_let_in(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Whether a call was let in.
    pub(crate) fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    /// Nothing is read from a stranger for so long. It costs the stranger time, and the server nothing: what was sent
    /// waits at the stranger's own end.
    pub(crate) fn pause(&self, length: Duration) -> bool {
        let is_stranger = !self.is_known();
        if is_stranger && !length.is_zero() {
            *self.pause.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + length);
        }
        is_stranger
    }

    /// Until when nothing is to be read, said once.
    pub(crate) fn take_pause(&self) -> Option<Instant> {
        self.pause.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
