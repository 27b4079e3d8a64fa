//! Encryption of connections.

use std::sync::{Arc, PoisonError, RwLock};

use sha2::{Digest as _, Sha256};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;

use crate::configuration::{CertificateError, Encryption};

const SERVER: &str = "the certificate of the server";
const AUTHORITY: &str = "the certificate of who signs those of clients";

/// What is spoken over an encrypted connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Calls. Clients must have a certificate if there is somebody who signs those.
    Http2,
    /// What monitors ask. They may have a certificate.
    Http1,
    /// Calls of browsers, which must have a certificate as other clients must.
    Page,
}

/// Encrypts connections. Copies have the same certificates in force.
#[derive(Clone)]
pub(crate) struct Encrypting {
    protocol: Protocol,
    acceptor: Arc<RwLock<TlsAcceptor>>,
}

impl Encrypting {
    /// # Errors
    /// When certificates or key cannot be read, or do not belong together.
    pub(crate) fn new(with: &Encryption, protocol: Protocol) -> Result<Self, CertificateError> {
        Ok(Self { protocol, acceptor: Arc::new(RwLock::new(acceptor(with, protocol)?)) })
    }

    /// Encrypts a connection; gives the fingerprint of the client's certificate, if it has shown one.
    pub(super) async fn encrypt(&self, stream: TcpStream) -> std::io::Result<(TlsStream<TcpStream>, Option<[u8; 32]>)> {
        let acceptor = self.acceptor.read().unwrap_or_else(PoisonError::into_inner).clone();
        let stream = acceptor.accept(stream).await?;
        let certificates = stream.get_ref().1.peer_certificates();
        let certificate = certificates.and_then(<[_]>::first).map(|certificate| Sha256::digest(certificate).into());
        Ok((stream, certificate))
    }
}

/// The certificates that are in force for new connections, from the last time that their files could be used. Connections
/// that are open keep theirs.
#[derive(Clone)]
pub struct CertificatesInForce(Vec<Encrypting>);

impl CertificatesInForce {
    /// Those of a server, which may have none.
    pub(crate) fn of<'e>(all: impl IntoIterator<Item = &'e Encrypting>) -> Self {
        Self(all.into_iter().cloned().collect())
    }

    /// Reads them again. If that is not possible, or they cannot be used, all stays as it was.
    pub fn read_again(&self, read: impl FnOnce() -> Result<Encryption, CertificateError>) {
        match read().and_then(|with| self.replace(&with)) {
            Ok(()) => tracing::info!("the certificates were read again"),
            Err(error) => tracing::error!(%error, "the certificates stay as they were"),
        }
    }

    /// All or none.
    fn replace(&self, with: &Encryption) -> Result<(), CertificateError> {
        let made =
            self.0.iter().map(|encrypting| acceptor(with, encrypting.protocol)).collect::<Result<Vec<_>, _>>()?;
        for (encrypting, made) in self.0.iter().zip(made) {
            *encrypting.acceptor.write().unwrap_or_else(PoisonError::into_inner) = made;
        }
        Ok(())
    }
}

fn acceptor(with: &Encryption, protocol: Protocol) -> Result<TlsAcceptor, CertificateError> {
    let builder = ServerConfig::builder();
    let builder = match &with.client_authority {
        None => builder.with_no_client_auth(),
        Some(authority) => builder.with_client_cert_verifier(verifier(authority, protocol)?),
    };
    let key = PrivateKeyDer::from_pem_slice(&with.key);
    let key = key.map_err(|error| CertificateError::of("the key of the server", &error))?;
    let mut config = builder
        .with_single_cert(certificates(&with.certificate, SERVER)?, key)
        .map_err(|error| CertificateError::of(SERVER, &error))?;
    config.alpn_protocols = match protocol {
        Protocol::Http2 => vec![b"h2".to_vec()],
        Protocol::Http1 | Protocol::Page => vec![b"http/1.1".to_vec()],
    };
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Looks at who has signed the certificates of clients.
fn verifier(authority: &[u8], protocol: Protocol) -> Result<Arc<dyn ClientCertVerifier>, CertificateError> {
    let unusable = |error: &dyn std::fmt::Display| CertificateError::of(AUTHORITY, &error);
    let mut roots = RootCertStore::empty();
    for certificate in certificates(authority, AUTHORITY)? {
        roots.add(certificate).map_err(|error| unusable(&error))?;
    }
    let verifier = WebPkiClientVerifier::builder(roots.into());
    let verifier = match protocol {
        Protocol::Http2 | Protocol::Page => verifier,
        Protocol::Http1 => verifier.allow_unauthenticated(),
    };
    verifier.build().map_err(|error| unusable(&error))
}

fn certificates(pem: &[u8], what: &'static str) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|error| CertificateError::of(what, &error))?;
    if found.is_empty() { Err(CertificateError::of(what, &"there is none in the file")) } else { Ok(found) }
}

/// The fingerprint of the first certificate in a file: SHA-256, as `openssl x509 -fingerprint -sha256` prints it.
pub(crate) fn fingerprint(pem: &[u8]) -> Result<[u8; 32], CertificateError> {
    let certificates = certificates(pem, "the certificate of the client")?;
    Ok(Sha256::digest(&certificates[0]).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_certificates_is_said() {
        let with = |certificate: &[u8], key: &[u8], authority: Option<&[u8]>| Encryption {
            certificate: certificate.to_vec(),
            key: key.to_vec(),
            client_authority: authority.map(<[u8]>::to_vec),
        };
        let key = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        let broken = b"-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n";
        for (encryption, problem) in [
            (with(b"", b"", None), "the key of the server"),
            (with(b"", key, None), "the certificate of the server cannot be used: there is none"),
            (with(broken, key, None), "the certificate of the server"),
            (with(b"", key, Some(b"")), "the certificate of who signs"),
        ] {
            let refused = Encrypting::new(&encryption, Protocol::Http2).err().expect("it is wrong").to_string();
            assert!(refused.contains(problem), "{refused}");
        }
        assert!(fingerprint(broken).is_err());
    }
}
