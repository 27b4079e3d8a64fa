//! Strangers who open connections and do nothing with them, or take their time.

use std::net::SocketAddr;

use tailback_service::Limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::harness::{Served, in_time, limits};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
const PING: &[u8] = &[0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
const PONG: &[u8] = &[0, 0, 8, 6, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];

/// A connection from an address of this machine.
async fn connect_from(from: &str, server: &Served) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("there are sockets");
    socket.bind(SocketAddr::new(from.parse().expect("an address"), 0)).expect("it is ours");
    socket.connect(server.address().parse().expect("an address")).await.expect("it accepts")
}

/// A connection over which something was sent. The server may have closed it already.
async fn sent(server: &Served, bytes: &[u8]) -> TcpStream {
    let mut connection = connect_from("127.0.0.1", server).await;
    let _ = connection.write_all(bytes).await;
    connection
}

/// Waits until the server has closed a connection, whichever way.
async fn is_closed(connection: &mut TcpStream) {
    let _ = in_time("a connection is closed", connection.read_to_end(&mut Vec::new())).await;
}

/// Whether the server answers over a connection that is open.
async fn is_answered(connection: &mut TcpStream) -> bool {
    let mut answer = Vec::new();
    if connection.write_all(PING).await.is_err() {
        return false;
    }
    while !answer.windows(PONG.len()).any(|found| found == PONG) {
        if in_time("a ping is answered", connection.read_buf(&mut answer)).await.unwrap_or(0) == 0 {
            return false;
        }
    }
    true
}

#[tokio::test]
async fn who_does_not_open_a_connection_is_cut_off_and_who_idles_is_not() {
    let server = Served::with(Limits { connection_opening_ms_max: 500, ..limits() }).await;
    let mut idle = sent(&server, &[PREFACE, SETTINGS].concat()).await;
    assert!(is_answered(&mut idle).await);
    let mut strangers = Vec::new();
    for bytes in [&b""[..], &PREFACE[..1], PREFACE, &[PREFACE, &SETTINGS[..8]].concat(), &[PREFACE, PING].concat()] {
        strangers.push(sent(&server, bytes).await);
    }
    for stranger in &mut strangers {
        is_closed(stranger).await;
    }
    assert!(is_answered(&mut idle).await, "that time has passed for it, too");
    server.stop().await;
}

/// Keepalive would find most of them, too, but later: that is how a client is found that is not there any more.
#[tokio::test]
async fn who_does_not_finish_headers_is_cut_off_before_who_is_not_there() {
    let server = Served::with(Limits { header_ms_max: 100, ..limits() }).await;
    let mut not_there = sent(&server, &[PREFACE, SETTINGS].concat()).await;
    let headers = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0x83];
    let more = [0, 0, 1, 9, 0, 0, 0, 0, 1, 0x84];
    for begun in [&headers[..1], &headers[..9], &headers, &[&headers[..], &more].concat()] {
        let mut stranger = sent(&server, &[PREFACE, SETTINGS, begun].concat()).await;
        tokio::select! {
            biased;
            () = is_closed(&mut stranger) => {}
            () = is_closed(&mut not_there) => panic!("this took as long as keepalive"),
        }
    }
    assert!(is_answered(&mut not_there).await);
    server.stop().await;
}

#[tokio::test]
async fn one_peer_does_not_take_all_places() {
    let server = Served::with(Limits { connections_max: 3, connections_per_peer_max: 2, ..limits() }).await;
    let open = [PREFACE, SETTINGS].concat();
    let (mut first, mut second) = (sent(&server, &open).await, sent(&server, &open).await);
    assert!(is_answered(&mut first).await && is_answered(&mut second).await);
    assert!(!is_answered(&mut sent(&server, &open).await).await, "it has two");
    assert!(server.metric::<u32>("connections_turned_away_total").await >= 1);
    let mut other = connect_from("127.0.0.2", &server).await;
    other.write_all(&open).await.expect("it reads");
    assert!(is_answered(&mut other).await, "there was a place for another");
    let mut third = connect_from("127.0.0.3", &server).await;
    let _ = third.write_all(&open).await;
    assert!(!is_answered(&mut third).await, "there are three in all");
    assert_eq!(server.metric::<u32>("connections_open{port=\"clients\"}").await, 3);
    drop(first);
    let found = async { while !is_answered(&mut sent(&server, &open).await).await {} };
    in_time("the place of one that has gone is free", found).await;
    assert!(is_answered(&mut second).await && is_answered(&mut other).await);
    server.stop().await;
}

#[tokio::test]
async fn requests_to_the_admin_port_have_a_deadline() {
    let server = Served::with(Limits { connection_opening_ms_max: 100, header_ms_max: 100, ..limits() }).await;
    for begun in ["", "G", "GET /metrics HTTP/1.1\r\nHost: here\r\n"] {
        let mut stranger = TcpStream::connect(server.admin.expect("it has one")).await.expect("it accepts");
        stranger.write_all(begun.as_bytes()).await.expect("it reads");
        is_closed(&mut stranger).await;
    }
    assert!(server.ask_admin("/livez").await.starts_with("HTTP/1.1 200"));
    server.stop().await;
}
