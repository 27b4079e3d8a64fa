//! The page: its files, and its calls as browsers make them, over HTTP/1.1.

use std::net::SocketAddr;

use prost::Message;
use tailback_api::v1::upload_file_request::Part;
use tailback_api::v1::{ListRunsRequest, UploadFileRequest, UploadHeader, WatchRunRequest};
use tailback_service::{Configuration, Limits, Role, Tokens, add_line, new_token};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::{SMALL, Served, configuration, endless, limits, named};

const WEB: &str = "content-type: application/grpc-web+proto\r\nx-grpc-web: 1\r\n";
const CANNOT_BE_FOUND: &str = "HTTP/1.1 404";

/// A server with a page, and with tokens if it is given some.
async fn served(folder: &tempfile::TempDir, limits: Limits, tokens: Option<Tokens>) -> Served {
    let page_listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    Served::configured(Configuration { page_listen, tokens, limits, ..configuration(folder.path()) }).await
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

/// Sends a request; the answer is read from the connection.
async fn send(server: &Served, request: &[u8]) -> TcpStream {
    let mut connection = TcpStream::connect(server.page.expect("it has a page")).await.expect("it accepts");
    connection.write_all(request).await.expect("it reads");
    connection
}

/// What is answered until the connection is closed.
async fn answered(server: &Served, request: &[u8]) -> String {
    let mut answer = Vec::new();
    send(server, request).await.read_to_end(&mut answer).await.expect("it answers");
    String::from_utf8_lossy(&answer).into_owned()
}

async fn get(server: &Served, path: &str, headers: &str) -> String {
    answered(server, format!("GET {path} HTTP/1.1\r\nconnection: close\r\n{headers}\r\n").as_bytes()).await
}

/// A call as browsers send it.
fn call(method: &str, message: &impl Message, headers: &str) -> Vec<u8> {
    let message = message.encode_to_vec();
    let length = message.len() + 5;
    let head = format!("POST /tailback.v1.{method} HTTP/1.1\r\ncontent-length: {length}\r\n{headers}\r\n");
    [head.as_bytes(), &[0], &u32::try_from(message.len()).expect("it is short").to_be_bytes(), &message].concat()
}

/// Lists runs as a page does.
async fn list(server: &Served, headers: &str) -> String {
    let headers = format!("host: localhost\r\nconnection: close\r\n{WEB}{headers}");
    answered(server, &call("RunService/ListRuns", &ListRunsRequest::default(), &headers)).await
}

#[tokio::test]
async fn files_are_given_with_what_keeps_others_out() {
    let folder = folder();
    let server = served(&folder, limits(), None).await;
    for (path, kind) in [("/", "text/html"), ("/page.js", "text/javascript"), ("/page.css", "text/css")] {
        let file = get(&server, path, "host: 127.0.0.1\r\n").await;
        let (head, body) = file.split_once("\r\n\r\n").expect("there is a body");
        assert!(head.starts_with("HTTP/1.1 200") && head.contains(&format!("content-type: {kind}")), "{head}");
        for header in ["default-src 'none'; script-src 'self';", "frame-ancestors 'none'", "nosniff", "no-referrer"] {
            assert!(head.contains(header), "{header} is not among\n{head}");
        }
        assert!(body.len() > 100, "{path} is empty");
    }
    assert!(get(&server, "/../page.js", "host: 127.0.0.1\r\n").await.starts_with(CANNOT_BE_FOUND));
    assert!(get(&server, "/tailback.v1.RunService/ListRuns", "host: [::1]\r\n").await.starts_with(CANNOT_BE_FOUND));
    for (headers, why) in [("host: example.org\r\n", "by no other name"), ("", "send the header Host")] {
        let refused = get(&server, "/", headers).await;
        assert!(refused.starts_with("HTTP/1.1 403") && refused.contains(why), "{refused}");
    }
    server.stop().await;
}

#[tokio::test]
async fn calls_are_answered_as_on_the_other_port() {
    let folder = folder();
    let server = served(&folder, limits(), None).await;
    let mut client = server.client().await;
    client.create(named("first", SMALL)).await.expect("it is accepted");
    let own = server.page.expect("it has a page");
    let listed = answered(
        &server,
        &call(
            "RunService/ListRuns",
            &ListRunsRequest::default(),
            &format!("host: {own}\r\norigin: http://{own}\r\nconnection: close\r\n{WEB}"),
        ),
    )
    .await;
    assert!(listed.starts_with("HTTP/1.1 200") && listed.contains("grpc-status:0"), "{listed}");
    assert!(listed.contains("first"), "{listed}");
    for headers in ["origin: http://example.org\r\n", "origin: null\r\n"] {
        let refused = list(&server, headers).await;
        assert!(refused.starts_with("HTTP/1.1 403") && !refused.contains("first"), "{refused}");
    }
    // What a form of another page can send is no call.
    let form = "host: localhost\r\nconnection: close\r\ncontent-type: text/plain\r\n";
    let refused = answered(&server, &call("RunService/ListRuns", &ListRunsRequest::default(), form)).await;
    assert!(refused.starts_with("HTTP/1.1 400") && !refused.contains("first"), "{refused}");
    server.stop().await;
}

#[tokio::test]
async fn tokens_are_asked_for_as_on_the_other_port() {
    let folder = folder();
    let file = folder.path().join("tokens");
    let (token, line) = new_token("alice", &Role::Read.into()).expect("there are random bytes");
    add_line(&file, &line).expect("it can be written");
    let tokens = Tokens::read(&file).expect("it is well formed");
    let limits = Limits { refusal_pause_ms_max: 0, ..limits() };
    let server = served(&folder, limits, Some(tokens)).await;
    for header in [String::new(), format!("authorization: Bearer {token}x\r\n")] {
        let refused = list(&server, &header).await;
        assert!(refused.contains("grpc-status: 16") && !refused.contains("grpc-status:0"), "{refused}");
    }
    let shown = format!("authorization: Bearer {token}\r\n");
    let listed = list(&server, &shown).await;
    assert!(listed.contains("grpc-status:0"), "{listed}");
    // The files are for everybody, and any name will do: nobody who shows nothing gets further.
    assert!(get(&server, "/", "host: example.org\r\n").await.starts_with("HTTP/1.1 200"));
    assert!(!get(&server, "/?token=x", "host: localhost\r\n").await.contains("token=x"));
    server.stop().await;
}

#[tokio::test]
async fn streams_end_with_the_server_and_idle_connections_before() {
    let folder = folder();
    let mut server = served(&folder, Limits { header_ms_max: 300, ..limits() }, None).await;
    let mut client = server.client().await;
    client.create(named("long", &endless())).await.expect("it is accepted");
    let request = WatchRunRequest { run_id: "long".to_owned(), ..WatchRunRequest::default() };
    let request = call("RunService/WatchRun", &request, &format!("host: localhost\r\n{WEB}"));
    let mut watching = send(&server, &request).await;
    let mut told = vec![0; 4096];
    let length = watching.read(&mut told).await.expect("it is told something");
    assert!(told[..length].starts_with(b"HTTP/1.1 200"));
    // These owe headers: none, and a part of them.
    for begun in [&b""[..], b"GET / HTTP/1.1\r\nhost: loc"] {
        let mut idle = send(&server, begun).await;
        let _ = idle.read_to_end(&mut Vec::new()).await;
    }
    server.ask_to_stop();
    let mut rest = Vec::new();
    watching.read_to_end(&mut rest).await.expect("it ends as it should");
    let rest = String::from_utf8_lossy(&rest);
    assert!(rest.contains("grpc-status:14"), "the stream must say that the server stops");
    server.stop().await;
}

/// Browsers read the answer to a call when they have sent all of it.
#[tokio::test]
async fn a_file_is_refused_in_words_though_all_of_it_is_sent() {
    let folder = folder();
    let server = served(&folder, Limits { file_bytes_max: 8 << 20, files_per_owner_max: 0, ..limits() }, None).await;
    let size = 6 << 20;
    let header = UploadHeader { name: "x".to_owned(), size: size as u64, sha256: "0".repeat(64) };
    let header = UploadFileRequest { part: Some(Part::Header(header)) }.encode_to_vec();
    let length = u32::try_from(header.len()).expect("it is short").to_be_bytes();
    let whole = header.len() + 5 + size;
    let own = server.page.expect("it has a page");
    let head = format!(
        "POST /tailback.v1.FileService/UploadFile HTTP/1.1\r\nhost: {own}\r\ncontent-length: {whole}\r\nconnection: close\r\n{WEB}\r\n"
    );
    let request = [head.as_bytes(), &[0], &length, &header, &vec![0; size]].concat();
    let refused = answered(&server, &request).await;
    assert!(refused.contains("files%20of%20one%20owner%20are%20asked%20for"), "{refused}");
    server.stop().await;
}
