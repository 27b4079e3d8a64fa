//! Who gets in: tokens, roles, ownership, certificates.

use std::process::Command;

use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::{CancelRunRequest, DeleteRunRequest, GetRunRequest, ListRunsRequest, RunState};
use tailback_service::{Configuration, Encryption, Role, Tokens, new_token};
use tonic::codegen::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Identity};
use tonic::{Code, Request, Status};

use crate::harness::{Client, SMALL, Served, endless, limits, named, reason};

type AddHeader = Box<dyn FnMut(Request<()>) -> Result<Request<()>, Status>>;
type Bearing = RunServiceClient<InterceptedService<Channel, AddHeader>>;

/// A client with a header.
async fn bearing(server: &Served, header: &str) -> Bearing {
    let channel = Channel::from_shared(server.url.clone()).expect("an address").connect().await;
    let header = header.to_owned();
    let add: AddHeader = Box::new(move |mut request| {
        request.metadata_mut().insert("authorization", header.parse().expect("a value"));
        Ok(request)
    });
    RunServiceClient::with_interceptor(channel.expect("somebody listens"), add)
}

#[tokio::test]
async fn tokens_say_who_one_is_and_what_one_may_do() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("tokens");
    let people = [("alice", Role::Submit), ("bob", Role::Submit), ("carol", Role::Read), ("dave", Role::Admin)];
    let (mut lines, mut tokens) = (String::new(), Vec::new());
    for (name, role) in people {
        let (token, line) = new_token(name, role).expect("there are random bytes");
        lines += &format!("{line}\n");
        tokens.push(format!("Bearer {token}"));
    }
    std::fs::write(&file, lines).expect("it can be written");
    let server = Served::configured(Configuration {
        tokens: Some(Tokens::read(&file).expect("it is well formed")),
        limits: limits(),
        ..Configuration::local(folder.path().join("data"), "test")
    })
    .await;
    let mut nobody = server.client().await;
    let refused = nobody.get("one").await.expect_err("there is no token");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::Unauthenticated, "NOT_AUTHENTICATED"));
    for header in ["Bearer tb_0000", "Basic YWxpY2U6", "Bearer", ""] {
        let refused = bearing(&server, header).await.list_runs(ListRunsRequest::default()).await;
        assert_eq!(refused.expect_err("nobody bears that").code(), Code::Unauthenticated, "{header}");
    }
    let mut alice = bearing(&server, &tokens[0]).await;
    let mut bob = bearing(&server, &tokens[1].replace("Bearer", "bearer")).await;
    let mut carol = bearing(&server, &tokens[2]).await;
    let mut dave = bearing(&server, &tokens[3]).await;
    let created = alice.create_run(named("one", &endless())).await.expect("she may").into_inner();
    assert_eq!(created.run.expect("there is a run").owner, "alice");
    let run_id = || "one".to_owned();
    assert!(carol.get_run(GetRunRequest { run_id: run_id() }).await.is_ok(), "everybody may see it");
    let refused = carol.create_run(named("two", SMALL)).await.expect_err("she may only read");
    assert_eq!((refused.code(), reason(&refused).1["role"].as_str()), (Code::PermissionDenied, "read"));
    let refused = bob.cancel_run(CancelRunRequest { run_id: run_id() }).await.expect_err("it is not his");
    assert_eq!((refused.code(), reason(&refused).1["owner"].as_str()), (Code::PermissionDenied, "alice"));
    assert!(dave.cancel_run(CancelRunRequest { run_id: run_id() }).await.is_ok(), "he may do everything");
    let mut ended = false;
    while !ended {
        let run = alice.get_run(GetRunRequest { run_id: run_id() }).await.expect("it is there").into_inner().run;
        ended = run.expect("there is a run").state() == RunState::Cancelled;
    }
    let refused = bob.delete_run(DeleteRunRequest { run_id: run_id() }).await.expect_err("it is not his");
    assert_eq!(refused.code(), Code::PermissionDenied);
    alice.delete_run(DeleteRunRequest { run_id: run_id() }).await.expect("it is hers");
    server.stop().await;
}

/// A root, a server's certificate and a client's, made by openssl.
struct Certificates(tempfile::TempDir);

impl Certificates {
    fn make() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let script = "set -e
            key() { openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out $1.key; }
            key root; openssl req -x509 -new -key root.key -subj /CN=root -days 2 -out root.pem
            for who in server client; do
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
}

#[tokio::test]
async fn certificates_are_asked_for() {
    let certificates = Certificates::make();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let encryption = Encryption {
        certificate: certificates.read("server.pem"),
        key: certificates.read("server.key"),
        client_authority: Some(certificates.read("root.pem")),
    };
    let server = Served::configured(Configuration {
        encryption: Some(encryption),
        limits: limits(),
        ..Configuration::local(folder.path().to_owned(), "test")
    })
    .await;
    let connect = async |tls: ClientTlsConfig| {
        let endpoint = Channel::from_shared(server.url.clone()).expect("an address");
        let channel = endpoint.tls_config(tls).expect("it is well formed").connect().await.ok()?;
        Client::new(channel).system.get_server_info(tailback_api::v1::GetServerInfoRequest {}).await.ok()
    };
    let root = || ClientTlsConfig::new().ca_certificate(Certificate::from_pem(certificates.read("root.pem")));
    let identity = Identity::from_pem(certificates.read("client.pem"), certificates.read("client.key"));
    let told = connect(root().identity(identity)).await.expect("it is let in").into_inner();
    assert!(told.features.contains(&"tls".to_owned()));
    assert!(connect(root()).await.is_none(), "without a certificate nobody is let in");
    let plain = Channel::from_shared(server.url.replace("https", "http")).expect("an address").connect().await;
    let plain = match plain {
        Ok(channel) => Client::new(channel).get("one").await.err(),
        Err(_) => None,
    };
    assert!(plain.is_none_or(|status| status.code() != Code::NotFound), "nothing is said without encryption");
    server.stop().await;
}
