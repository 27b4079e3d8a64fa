//! Whatever clients send, they get a clean error, and the server goes on.

use proptest::prelude::*;
use tailback_api::v1::{CreateRunRequest, GetServerInfoRequest, Scenario, ValidateScenarioRequest};
use tailback_service::{Configuration, Limits, Role, Server, Tokens, check_data};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::Code;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;

use crate::harness::{Client, SMALL, Served, configuration, in_time, limits, named, reason, request};
use crate::tokens::tokens;

/// The server answers, and carries out runs.
async fn is_well(client: &mut Client, name: &str) {
    client.create(named(name, SMALL)).await.expect("it accepts runs");
    assert_eq!(client.ended(name).await.state(), tailback_api::v1::RunState::Succeeded);
}

#[tokio::test]
async fn random_bytes_and_half_open_connections() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let address = server.url.trim_start_matches("http://").to_owned();
    let mut silent = Vec::new();
    for seed in 0..100u64 {
        let mut connection = TcpStream::connect(&address).await.expect("it accepts");
        let bytes: Vec<u8> =
            (0..seed * 7).map(|index| (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (index % 57)) as u8).collect();
        // The server may have closed it already.
        let _ = connection.write_all(&bytes).await;
        if seed % 3 == 0 {
            let _ = connection.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x04\x08\0\0\0\0\0").await;
        }
        silent.push(connection);
    }
    let mut http1 = TcpStream::connect(&address).await.expect("it accepts");
    http1.write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n").await.expect("it reads");
    let mut answer = Vec::new();
    let _ = in_time("HTTP/1.1 is refused", http1.read_to_end(&mut answer)).await;
    is_well(&mut client, "after").await;
    drop(silent);
    server.stop().await;
}

/// What calls any method, with any bytes.
async fn raw(server: &Served) -> tonic::client::Grpc<Channel> {
    let channel = Channel::from_shared(server.url.clone()).expect("an address").connect().await;
    tonic::client::Grpc::new(channel.expect("somebody listens"))
}

/// Messages that are none, of methods that exist and others.
#[tokio::test]
async fn malformed_and_oversize_messages() {
    let server = Served::with(Limits { message_bytes_max: 100_000, ..limits() }).await;
    let mut client = server.client().await;
    let mut raw = raw(&server).await;
    for bytes in [vec![0xff; 50], vec![0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], b"\x22\x05abc".to_vec(), vec![8]] {
        for method in ["CreateRun", "WatchRun", "ListRuns", "NoSuchMethod"] {
            raw.ready().await.expect("it is there");
            let path = PathAndQuery::try_from(format!("/tailback.v1.RunService/{method}")).expect("a path");
            let request = tonic::Request::new(bytes.clone());
            let refused = in_time("bytes are refused", raw.unary(request, path, codec::Bytes)).await;
            let refused = refused.expect_err("it is no message");
            let expected: &[Code] = if method == "NoSuchMethod" {
                &[Code::Unimplemented]
            } else {
                &[Code::Internal, Code::InvalidArgument]
            };
            assert!(expected.contains(&refused.code()), "{method} says {refused:?}");
        }
    }
    let large = named("large", &format!("{SMALL}#{}", "x".repeat(200_000)));
    let refused = client.create(large).await.expect_err("it is too large");
    assert_eq!(refused.code(), Code::OutOfRange, "{refused:?}");
    is_well(&mut client, "after").await;
    server.stop().await;
}

/// Strangers call what they like, too.
#[tokio::test]
async fn methods_that_clients_invent_are_counted_as_one() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, _) = tokens(folder.path(), &[("alice", Role::Read)]);
    let server = Served::configured(Configuration {
        tokens: Some(Tokens::read(&file).expect("it is well formed")),
        admin_listen: Some(std::net::SocketAddr::from(([127, 0, 0, 1], 0))),
        limits: Limits { refusal_pause_ms_max: 0, ..limits() },
        ..configuration(&folder.path().join("data"))
    })
    .await;
    let mut raw = raw(&server).await;
    let invented = (0..50).map(|number| format!("Invented{number}\"}}"));
    for method in invented.chain(["ListRuns".to_owned()]) {
        raw.ready().await.expect("it is there");
        let path = PathAndQuery::try_from(format!("/tailback.v1.RunService/{method}")).expect("a path");
        let refused = raw.unary(tonic::Request::new(Vec::new()), path, codec::Bytes);
        let refused = in_time("an invented method is refused", refused).await;
        assert_eq!(refused.expect_err("no token is shown").code(), Code::Unauthenticated, "{method}");
    }
    let metrics = server.ask_admin("/metrics").await;
    let counted: Vec<&str> = metrics.lines().filter_map(|line| line.strip_prefix("tailback_calls_total")).collect();
    let expected = [
        "{method=\"/tailback.v1.RunService/ListRuns\",code=\"Unauthenticated\"} 1",
        "{method=\"other\",code=\"Unauthenticated\"} 50",
    ];
    assert_eq!(counted, expected);
    server.stop().await;
}

/// Bytes as they are.
mod codec {
    use bytes::{Buf as _, BufMut as _};
    use tonic::Status;
    use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

    pub struct Bytes;

    impl Codec for Bytes {
        type Encode = Vec<u8>;
        type Decode = Vec<u8>;
        type Encoder = Self;
        type Decoder = Self;

        fn encoder(&mut self) -> Self {
            Self
        }

        fn decoder(&mut self) -> Self {
            Self
        }
    }

    impl Encoder for Bytes {
        type Item = Vec<u8>;
        type Error = Status;

        fn encode(&mut self, item: Vec<u8>, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
            into.put_slice(&item);
            Ok(())
        }
    }

    impl Decoder for Bytes {
        type Item = Vec<u8>;
        type Error = Status;

        fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
            let mut bytes = vec![0; from.remaining()];
            from.copy_to_slice(&mut bytes);
            Ok(Some(bytes))
        }
    }
}

/// A scenario with something wrong in it, or anything else.
fn documents() -> impl Strategy<Value = String> {
    let at = any::<prop::sample::Index>();
    let cut = at.prop_map(|at| SMALL.chars().take(at.index(SMALL.len())).collect());
    let inserted = (any::<prop::sample::Index>(), "\\PC{1,12}").prop_map(|(at, text)| {
        let at = at.index(SMALL.len());
        format!("{}{text}{}", &SMALL[..at], &SMALL[at..])
    });
    let keys = prop::sample::select(vec!["p", "a", "h", "g", "load", "warmup", "cycles", "[router]\nspeedup"]);
    let values =
        prop::sample::select(vec!["-1", "0", "1e308", "nan", "\"\"", "[]", "{}", "18446744073709551616", "99"]);
    let replaced = (keys, values).prop_map(|(key, value)| format!("{SMALL}\n[x]\n{key} = {value}\n"));
    prop_oneof![cut, inserted, replaced, "\\PC{0,200}", "(\\[{1,40}|a\\.){1,60}"]
}

/// A thousand of them, one after the other: each gets an answer, and memory does not grow.
#[tokio::test]
async fn a_thousand_invalid_scenarios() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let server = Served::start().await;
    let mut client = server.client().await;
    let mut runner = TestRunner::deterministic();
    let mut refused = 0;
    for number in 0..1000 {
        let document = documents().new_tree(&mut runner).expect("there is one").current();
        let scenario = Scenario { name: "x".to_owned(), document, ..Scenario::default() };
        let (scenario, sweep) = (Some(scenario), None);
        let checked = ValidateScenarioRequest { scenario: scenario.clone(), sweep };
        let checked =
            in_time(format!("scenario {number} is checked"), client.scenarios.validate_scenario(checked)).await;
        let checked = checked.expect("it answers OK").into_inner();
        let asked = CreateRunRequest { validate_only: true, scenario, ..CreateRunRequest::default() };
        match client.create(asked).await {
            Ok(_) => assert!(checked.diagnostics.is_empty()),
            Err(status) => {
                assert_eq!(status.code(), Code::InvalidArgument, "scenario {number}: {status:?}");
                assert!(!checked.diagnostics.is_empty());
                refused += 1;
            }
        }
    }
    assert!(refused > 700, "only {refused} were invalid");
    is_well(&mut client, "after").await;
    server.stop().await;
}

#[tokio::test]
async fn scenarios_that_are_too_large_are_not_even_read() {
    let server = Served::with(Limits { scenario_bytes_max: 1000, ..limits() }).await;
    let mut client = server.client().await;
    let large = format!("{SMALL}#{}", "x".repeat(1000));
    let refused = client.create(request(&large)).await.expect_err("it is too large");
    assert_eq!((refused.code(), reason(&refused).1["limit"].as_str()), (Code::ResourceExhausted, "scenario_bytes_max"));
    is_well(&mut client, "after").await;
    server.stop().await;
}

#[tokio::test]
async fn headers_are_bounded() {
    let server = Served::with(Limits { header_bytes_max: 4 << 10, ..limits() }).await;
    let mut client = server.client().await;
    for (bytes, is_taken) in [(1000, true), (100_000, false)] {
        let mut request = tonic::Request::new(GetServerInfoRequest {});
        request.metadata_mut().insert("x-ballast", "x".repeat(bytes).parse().expect("a value"));
        let answered = in_time(format!("{bytes} bytes of headers"), client.system.get_server_info(request)).await;
        assert_eq!(answered.is_ok(), is_taken, "{bytes} bytes: {answered:?}");
    }
    is_well(&mut client, "after").await;
    server.stop().await;
}

/// Who asks for more at once on a connection waits until something is over; others do not.
#[tokio::test]
async fn a_connection_has_so_many_calls_at_once() {
    let server = Served::with(Limits { connection_calls_max: 2, ..limits() }).await;
    let (mut client, mut other) = (server.client().await, server.client().await);
    other.create(named("long", &crate::harness::endless())).await.expect("it is accepted");
    let first = client.watch("long", 0).await.expect("there is a place");
    let second = client.watch("long", 0).await.expect("there is a place");
    let third = client.get("long");
    tokio::pin!(third);
    tokio::select! {
        biased;
        _ = &mut third => panic!("it is a third call"),
        found = other.get("long") => drop(found.expect("it is there")),
    }
    drop((first, second));
    in_time("there is a place for a third call", third).await.expect("now there is a place");
    server.stop().await;
}

#[tokio::test]
async fn the_admin_port_tells_how_it_is() {
    let server = Served::start().await;
    let get = async |path: &'static str| server.ask_admin(path).await;
    let mut client = server.client().await;
    is_well(&mut client, "one").await;
    client.system.get_server_info(GetServerInfoRequest {}).await.expect("it answers");
    assert!(get("/livez").await.starts_with("HTTP/1.1 200") && get("/readyz").await.starts_with("HTTP/1.1 200"));
    let metrics = get("/metrics").await;
    assert!(metrics.contains("tailback_runs_ended_total{state=\"succeeded\"} 1"), "{metrics}");
    let counted = "tailback_calls_total{method=\"/tailback.v1.RunService/CreateRun\",code=\"Ok\"} 1";
    assert!(metrics.contains(counted), "{metrics}");
    server.stop().await;
}

#[cfg(unix)]
#[tokio::test]
async fn the_data_directory_is_private_and_its_lock_no_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let data = folder.path().join("data");
    Served::at(&data, limits()).await.stop().await;
    let mode = std::fs::metadata(&data).expect("it was made").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    // Of somebody who hopes that it is emptied.
    let other = folder.path().join("other");
    std::fs::write(&other, "precious").expect("it can be written");
    std::fs::remove_file(data.join("lock")).expect("it is there");
    symlink(&other, data.join("lock")).expect("a link can be made");
    let refused = Server::bind(configuration(&data)).await.err().expect("it is a link");
    assert!(refused.to_string().contains("lock"), "{refused}");
    let refused = check_data(&data).expect_err("it is a link for whoever looks, too");
    assert!(refused.to_string().contains("cannot open") && refused.to_string().contains("lock"), "{refused}");
    assert_eq!(std::fs::read(&other).expect("it is there"), b"precious");
}
