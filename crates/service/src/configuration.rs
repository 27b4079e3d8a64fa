//! How a server is started, and the rules about what it must not be.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::access::Tokens;
use crate::limits::Limits;

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Where clients connect to; port 0 for any.
    pub listen: SocketAddr,
    /// Where metrics and liveness are told over plain HTTP, if anywhere.
    pub admin_listen: Option<SocketAddr>,
    /// Where everything is kept.
    pub data: PathBuf,
    /// Who is let in; everybody if there are none.
    pub tokens: Option<Tokens>,
    /// How what is said on the wire is encrypted, if at all.
    pub encryption: Option<Encryption>,
    /// Whether it may listen to a network without encryption or tokens.
    pub insecure: bool,
    /// What it allows.
    pub limits: Limits,
    /// The version of the program, as it stands in reports.
    pub version: String,
}

/// Certificates, in PEM.
#[derive(Clone, Debug)]
pub struct Encryption {
    /// The server's certificate, with those between it and the root.
    pub certificate: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
    /// Who must have signed the certificates of clients; without it they need none.
    pub client_authority: Option<Vec<u8>>,
}

/// Why a server is not started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// Everybody on the network could read along.
    #[error("{0} is not a loopback address: give a certificate and a key (--tls-cert, --tls-key), or say --insecure")]
    Unencrypted(SocketAddr),
    /// Everybody on the network could do everything.
    #[error("{0} is not a loopback address: give a file of tokens (--tokens), or say --insecure")]
    Open(SocketAddr),
}

impl Configuration {
    /// A server on a loopback port of the system's choice, for everybody on this machine.
    #[must_use]
    pub fn local(data: PathBuf, version: &str) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            admin_listen: None,
            data,
            tokens: None,
            encryption: None,
            insecure: false,
            limits: Limits::default(),
            version: version.to_owned(),
        }
    }

    /// Refuses to open a network to everybody by accident.
    pub(crate) fn check(&self) -> Result<(), ConfigurationError> {
        if self.listen.ip().is_loopback() || self.insecure {
            return Ok(());
        }
        if self.encryption.is_none() {
            return Err(ConfigurationError::Unencrypted(self.listen));
        }
        if self.tokens.is_none() && self.encryption.as_ref().is_none_or(|with| with.client_authority.is_none()) {
            return Err(ConfigurationError::Open(self.listen));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_not_opened_by_accident() {
        let mut configuration = Configuration::local(PathBuf::new(), "0");
        assert_eq!(configuration.check(), Ok(()));
        configuration.listen = "0.0.0.0:0".parse().expect("an address");
        assert_eq!(configuration.check(), Err(ConfigurationError::Unencrypted(configuration.listen)));
        configuration.encryption =
            Some(Encryption { certificate: Vec::new(), key: Vec::new(), client_authority: None });
        assert_eq!(configuration.check(), Err(ConfigurationError::Open(configuration.listen)));
        configuration.tokens = Some(Tokens::default());
        assert_eq!(configuration.check(), Ok(()));
        (configuration.tokens, configuration.encryption, configuration.insecure) = (None, None, true);
        assert_eq!(configuration.check(), Ok(()));
    }
}
