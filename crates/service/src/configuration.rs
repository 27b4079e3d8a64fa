//! How a server is started, and the rules about what it must not be.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::access::Tokens;
use crate::engine::process::WorkerCommand;
use crate::limits::Limits;

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Where clients connect to; port 0 for any.
    pub listen: SocketAddr,
    /// Where metrics and liveness are told over HTTP, if anywhere.
    pub admin_listen: Option<SocketAddr>,
    /// Where browsers are shown the page, if anywhere.
    pub page_listen: Option<SocketAddr>,
    /// Where everything is kept.
    pub data: PathBuf,
    /// Whether a database that is damaged or lost is set aside, and runs are rebuilt from their files.
    pub recover: bool,
    /// Who is let in; everybody if there are none.
    pub tokens: Option<Tokens>,
    /// How what is said on the wire is encrypted, if at all.
    pub encryption: Option<Encryption>,
    /// Whether it may listen to a network without encryption or tokens.
    pub insecure: bool,
    /// What it allows.
    pub limits: Limits,
    /// What is started to carry out a run. It must call [`work`](crate::work).
    pub worker: WorkerCommand,
    /// Where it is started.
    pub placement: Placement,
    /// Where control groups are mounted, if the server is to make some for its workers. Then it moves into one itself, so this
    /// is for programs that do nothing else.
    pub control_groups: Option<PathBuf>,
    /// The version of the program, as it stands in reports.
    pub version: String,
}

/// Where workers are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// On this machine.
    #[default]
    Here,
    /// On the nodes of a cluster, which have the same folders, as jobs of Slurm: with these options of `sbatch` besides those that a run needs. The worker's last
    /// argument is its folder, for [`Connection::Folder`](crate::Connection).
    Slurm(Vec<String>),
}

/// Certificates, in PEM.
#[derive(Clone, Debug)]
pub struct Encryption {
    /// The server's certificate, with those between it and the root.
    pub certificate: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
    /// Who must have signed the certificates of clients; without it they need none. Whose they are is said with the tokens.
    pub client_authority: Option<Vec<u8>>,
}

impl Encryption {
    /// Reads it from files.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn read(certificate: &Path, key: &Path, client_authority: Option<&Path>) -> Result<Self, CertificateError> {
        let read = |what, path: &Path| {
            std::fs::read(path).map_err(|error| CertificateError::of(what, &format!("{}: {error}", path.display())))
        };
        let authority = client_authority.map(|path| read("the certificate of who signs those of clients", path));
        let certificate = read("the certificate of the server", certificate)?;
        Ok(Self { certificate, key: read("the key of the server", key)?, client_authority: authority.transpose()? })
    }
}

/// Why a certificate or a key cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} cannot be used: {problem}")]
pub struct CertificateError {
    what: &'static str,
    problem: String,
}

impl CertificateError {
    pub(crate) fn of(what: &'static str, problem: &impl ToString) -> Self {
        Self { what, problem: problem.to_string() }
    }
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
    /// Nobody is asked for the certificates that are to let some in.
    #[error("the tokens name certificates (cert=), which no client is asked for: say who signs them (--client-ca)")]
    NoCertificates,
}

impl Configuration {
    /// A server on a loopback port of the system's choice, for everybody on this machine.
    #[must_use]
    pub fn local(data: PathBuf, version: &str, worker: WorkerCommand) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            admin_listen: None,
            page_listen: None,
            data,
            recover: false,
            tokens: None,
            encryption: None,
            insecure: false,
            limits: Limits::default(),
            worker,
            placement: Placement::Here,
            control_groups: None,
            version: version.to_owned(),
        }
    }

    /// Refuses to open a network to everybody by accident.
    pub(crate) fn check(&self) -> Result<(), ConfigurationError> {
        for address in [Some(self.listen), self.admin_listen, self.page_listen].into_iter().flatten() {
            if self.must_protect(address) && self.encryption.is_none() {
                return Err(ConfigurationError::Unencrypted(address));
            }
            // That somebody has signed a client's certificate does not say who the client is.
            if self.must_protect(address) && self.tokens.is_none() {
                return Err(ConfigurationError::Open(address));
            }
        }
        let names_certificates = self.tokens.as_ref().is_some_and(Tokens::have_certificates);
        if names_certificates && self.encryption.as_ref().is_none_or(|with| with.client_authority.is_none()) {
            return Err(ConfigurationError::NoCertificates);
        }
        Ok(())
    }

    /// Whether an address can be reached by others, to whom it must not be open.
    pub(crate) fn must_protect(&self, address: SocketAddr) -> bool {
        !address.ip().is_loopback() && !self.insecure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_not_opened_by_accident() {
        let mut configuration = Configuration::local(PathBuf::new(), "0", WorkerCommand::this_program(&[]));
        assert_eq!(configuration.check(), Ok(()));
        configuration.listen = "0.0.0.0:0".parse().expect("an address");
        assert_eq!(configuration.check(), Err(ConfigurationError::Unencrypted(configuration.listen)));
        configuration.encryption =
            Some(Encryption { certificate: Vec::new(), key: Vec::new(), client_authority: None });
        assert_eq!(configuration.check(), Err(ConfigurationError::Open(configuration.listen)));
        configuration.encryption.as_mut().expect("it is there").client_authority = Some(Vec::new());
        assert_eq!(configuration.check(), Err(ConfigurationError::Open(configuration.listen)), "who are they?");
        configuration.tokens = Some(Tokens::default());
        assert_eq!(configuration.check(), Ok(()));
        (configuration.tokens, configuration.encryption, configuration.insecure) = (None, None, true);
        assert_eq!(configuration.check(), Ok(()));
    }

    #[test]
    fn metrics_and_the_page_are_not_opened_by_accident_either() {
        let open: SocketAddr = "0.0.0.0:0".parse().expect("an address");
        for (admin, page) in [(Some(open), None), (None, Some(open))] {
            let mut configuration = Configuration::local(PathBuf::new(), "0", WorkerCommand::this_program(&[]));
            (configuration.admin_listen, configuration.page_listen) = (admin, page);
            assert_eq!(configuration.check(), Err(ConfigurationError::Unencrypted(open)));
            configuration.encryption =
                Some(Encryption { certificate: Vec::new(), key: Vec::new(), client_authority: None });
            assert_eq!(configuration.check(), Err(ConfigurationError::Open(open)));
            configuration.tokens = Some(Tokens::default());
            assert_eq!(configuration.check(), Ok(()));
            assert!(configuration.must_protect(open) && !configuration.must_protect(configuration.listen));
        }
    }
}
