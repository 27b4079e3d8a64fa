//! Who gets in by a certificate, and how connections are encrypted.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tailback_api::v1::{GetServerInfoRequest, GetServerInfoResponse};
use tailback_service::{
    Configuration, ConfigurationError, Encryption, Limits, Role, ServeError, Server, Tokens, add_line,
    certificate_line, new_token,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Identity};
use tonic::{Code, Request, Status};

use crate::harness::{Client, Served, configuration, limits};

/// A root, a server's certificate and a client's, made by openssl.
struct Certificates(tempfile::TempDir);

impl Certificates {
    fn make() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let script = "set -e
            key() { openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out $1.key; }
            key root; openssl req -x509 -new -key root.key -subj /CN=root -days 2 -out root.pem
            for who in server client other; do
                key $who; openssl req -new -key $who.key -subj /CN=$who -out $who.csr
                printf 'basicConstraints=CA:FALSE\\nsubjectAltName=DNS:localhost,IP:127.0.0.1' > $who.ext
                openssl x509 -req -in $who.csr -CA root.pem -CAkey root.key -CAcreateserial -days 2 \
                    -extfile $who.ext -out $who.pem
            done";
        let made = Command::new("sh").args(["-c", script]).current_dir(folder.path()).output();
        let made = made.expect("there is a shell");
        assert!(made.status.success(), "openssl says {}", String::from_utf8_lossy(&made.stderr));
        Self(folder)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.path().join(name)).expect("it was made")
    }

    /// How a server is encrypted by them that asks clients for theirs.
    fn encryption(&self) -> Encryption {
        Encryption {
            certificate: self.read("server.pem"),
            key: self.read("server.key"),
            client_authority: Some(self.read("root.pem")),
        }
    }

    /// A connection to a server, with a certificate or without.
    async fn connect(&self, server: &Served, who: Option<&str>) -> Result<Client, Status> {
        let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(self.read("root.pem")));
        if let Some(who) = who {
            tls = tls.identity(Identity::from_pem(self.read(&format!("{who}.pem")), self.read(&format!("{who}.key"))));
        }
        let endpoint = Channel::from_shared(server.url.clone()).expect("an address");
        let channel = endpoint.tls_config(tls).expect("it is well formed").connect().await;
        channel.map(Client::new).map_err(|error| Status::unavailable(error.to_string()))
    }

    /// Asks a server who one is, with a certificate and a token or without.
    async fn ask(
        &self,
        server: &Served,
        who: Option<&str>,
        token: Option<&str>,
    ) -> Result<GetServerInfoResponse, Status> {
        ask(&mut self.connect(server, who).await?, token).await
    }
}

/// Asks a server who one is.
async fn ask(client: &mut Client, token: Option<&str>) -> Result<GetServerInfoResponse, Status> {
    let mut request = Request::new(GetServerInfoRequest {});
    if let Some(token) = token {
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().expect("a value"));
    }
    Ok(client.system.get_server_info(request).await?.into_inner())
}

#[tokio::test]
async fn certificates_are_asked_for() {
    let certificates = Certificates::make();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::configured(Configuration {
        encryption: Some(certificates.encryption()),
        limits: limits(),
        ..configuration(folder.path())
    })
    .await;
    let told = certificates.ask(&server, Some("client"), None).await.expect("it is let in");
    assert!(told.features.contains(&"tls".to_owned()));
    assert!(certificates.ask(&server, None, None).await.is_err(), "without a certificate nobody is let in");
    let plain = Channel::from_shared(server.url.replace("https", "http")).expect("an address").connect().await;
    let plain = match plain {
        Ok(channel) => Client::new(channel).get("one").await.err(),
        Err(_) => None,
    };
    assert!(plain.is_none_or(|status| status.code() != Code::NotFound), "nothing is said without encryption");
    server.stop().await;
}

/// Connections from now on see the new ones; with what cannot be used nothing changes.
#[tokio::test]
async fn certificates_are_read_again() {
    let (old, new) = (Certificates::make(), Certificates::make());
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::configured(Configuration {
        encryption: Some(old.encryption()),
        limits: limits(),
        ..configuration(folder.path())
    })
    .await;
    let sees = async |whose: &Certificates| whose.ask(&server, Some("client"), None).await.is_ok();
    assert!(sees(&old).await && !sees(&new).await);
    let missing = folder.path().join("missing");
    server.certificates.read_again(|| Encryption::read(&missing, &missing, None));
    server.certificates.read_again(|| Ok(Encryption { key: new.read("server.key"), ..old.encryption() }));
    assert!(sees(&old).await && !sees(&new).await);
    let file = |name: &str| new.0.path().join(name);
    let read = || Encryption::read(&file("server.pem"), &file("server.key"), Some(&file("root.pem")));
    server.certificates.read_again(read);
    assert!(sees(&new).await && !sees(&old).await);
    server.stop().await;
}

#[tokio::test]
async fn certificates_say_who_one_is() {
    let certificates = Certificates::make();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("tokens");
    let line = certificate_line("carol", &Role::Read.into(), &certificates.read("client.pem"));
    add_line(&file, &line.expect("it is a certificate")).expect("it can be written");
    let (token, line) = new_token("alice", &Role::Submit.into()).expect("there are random bytes");
    add_line(&file, &line).expect("it can be written");
    let tokens = Some(Tokens::read(&file).expect("it is well formed"));
    let configuration = Configuration {
        tokens,
        encryption: Some(certificates.encryption()),
        limits: limits(),
        ..configuration(&folder.path().join("data"))
    };
    let unencrypted = Server::bind(Configuration { encryption: None, ..configuration.clone() }).await.err();
    assert!(matches!(unencrypted, Some(ServeError::Configuration(ConfigurationError::NoCertificates))));
    let server = Served::configured(configuration).await;
    let ask = async |who, token| {
        let told = certificates.ask(&server, who, token).await;
        told.map(|told| (told.caller, told.caller_role)).map_err(|status| status.code())
    };
    let [alice, carol] =
        [("alice", "submit"), ("carol", "read")].map(|(name, role)| (name.to_owned(), role.to_owned()));
    assert_eq!(ask(Some("client"), None).await, Ok(carol.clone()));
    assert_eq!(ask(Some("other"), None).await, Err(Code::Unauthenticated), "it is signed, but nobody's");
    assert_eq!(ask(Some("other"), Some(&token)).await, Ok(alice.clone()));
    assert_eq!(ask(Some("client"), Some(&token)).await, Ok(alice), "a token goes first");
    assert_eq!(ask(Some("client"), Some("tb_00")).await, Err(Code::Unauthenticated), "and must be good");
    assert!(ask(None, Some(&token)).await.is_err(), "there must be a certificate");
    server.stop().await;
}

/// What the admin port answers over an encrypted connection.
async fn ask_admin(address: SocketAddr, root: &Path, request: &str) -> String {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(root).expect("it is a certificate")).expect("it can be one");
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = TcpStream::connect((std::net::Ipv4Addr::LOCALHOST, address.port())).await.expect("it accepts");
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("it is encrypted");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    answer
}

/// A server that tells metrics off this machine, and a token for it.
async fn monitored(folder: &Path, certificates: &Certificates, limits: Limits) -> (Served, String) {
    let file = folder.join("tokens");
    let (token, line) = new_token("monitor", &Role::Read.into()).expect("there are random bytes");
    add_line(&file, &line).expect("it can be written");
    let server = Served::configured(Configuration {
        admin_listen: Some("0.0.0.0:0".parse().expect("an address")),
        tokens: Some(Tokens::read(&file).expect("it is well formed")),
        encryption: Some(certificates.encryption()),
        limits,
        ..configuration(&folder.join("data"))
    });
    (server.await, token)
}

#[tokio::test]
async fn metrics_off_this_machine_are_encrypted_and_for_those_who_are_known() {
    let certificates = Certificates::make();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (server, token) = monitored(folder.path(), &certificates, limits()).await;
    let (address, root) = (server.admin.expect("it has one"), certificates.0.path().join("root.pem"));
    let get = async |path: &str, header: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n");
        ask_admin(address, &root, &request).await
    };
    let status = |answer: &str| answer.split(' ').nth(1).map(ToOwned::to_owned).expect("it has one");
    assert_eq!(status(&get("/livez", "").await), "200", "orchestrators bear no tokens");
    let refused = get("/metrics", "").await;
    assert_eq!(status(&refused), "401");
    assert!(!refused.contains("tailback_"), "{refused}");
    assert_eq!(status(&get("/metrics", "Authorization: Bearer tb_00\r\n").await), "401");
    let told = get("/metrics", &format!("Authorization: Bearer {token}\r\n")).await;
    assert!(told.contains("tailback_calls_not_let_in_total 2"), "{told}");
    server.stop().await;
}

#[tokio::test]
async fn liveness_is_told_at_once_where_metrics_have_to_wait() {
    let certificates = Certificates::make();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let limits = Limits { refusal_pause_ms_max: u64::from(u32::MAX), ..limits() };
    let (server, token) = monitored(folder.path(), &certificates, limits).await;
    let mut known = certificates.connect(&server, Some("client")).await.expect("it is encrypted");
    ask(&mut known, Some(&token)).await.expect("it is let in");
    for _ in 0..25 {
        assert_eq!(
            ask(&mut known, Some("tb_00")).await.err().map(|refused| refused.code()),
            Some(Code::Unauthenticated)
        );
    }
    let (address, root) = (server.admin.expect("it has one"), certificates.0.path().join("root.pem"));
    let shown = format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n");
    let metrics = ask_admin(address, &root, &shown);
    tokio::pin!(metrics);
    for _ in 0..3 {
        let told = tokio::select! {
            biased;
            told = &mut metrics => panic!("many have failed there: {told}"),
            told = ask_admin(address, &root, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n") => told,
        };
        assert!(told.starts_with("HTTP/1.1 200"), "{told}");
    }
    server.stop().await;
}

#[tokio::test]
async fn who_does_not_finish_the_handshake_is_cut_off() {
    let certificates = Certificates::make();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::configured(Configuration {
        encryption: Some(certificates.encryption()),
        limits: Limits { connection_opening_ms_max: 100, ..limits() },
        ..configuration(folder.path())
    })
    .await;
    for sent in [&b""[..], &[22], &[22, 3, 1, 0, 200, 1]] {
        let mut stranger = TcpStream::connect(server.address()).await.expect("it accepts");
        stranger.write_all(sent).await.expect("it reads");
        let mut answer = Vec::new();
        // Cut off, whichever way.
        let _ = stranger.read_to_end(&mut answer).await;
    }
    server.stop().await;
}
