//! Calls as bytes: what no client of ours would send, over HTTP/2, and from browsers over HTTP/1.1.

use std::net::SocketAddr;
use std::sync::LazyLock;

use proptest::prelude::*;
use prost::Message as _;
use prost_types::FileDescriptorSet;
use tailback_api::FILE_DESCRIPTOR_SET;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::body::Body;
use tonic::codegen::http::Request;
use tonic::codegen::{Body as _, Bytes, Service as _};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::harness::{SMALL, named};

/// A call.
#[derive(Clone, Debug)]
pub struct RawCall {
    path: String,
    kind: &'static str,
    encoding: &'static str,
    authorization: Option<String>,
    body: Vec<u8>,
}

/// All methods that there are, those of others that are mounted too, and some that there are not.
static PATHS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let described = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("it was generated with the services");
    let mut paths: Vec<String> =
        ["/", "//", "/tailback.v1.RunService/", "/tailback.v1.RunService/Invented", "/grpc.health.v1.Health/Check"]
            .map(str::to_owned)
            .to_vec();
    paths.push("/grpc.health.v1.Health/Watch".to_owned());
    paths.extend(["v1", "v1alpha"].map(|v| format!("/grpc.reflection.{v}.ServerReflection/ServerReflectionInfo")));
    for file in &described.file {
        for service in &file.service {
            let of = format!("/{}.{}", file.package(), service.name());
            paths.extend(service.method.iter().map(|method| format!("{of}/{}", method.name())));
        }
    }
    paths
});

/// A message, or bytes that are none.
fn payloads() -> impl Strategy<Value = Vec<u8>> {
    let text = |text: &[u8]| [&[0x0a, text.len() as u8][..], text].concat();
    prop_oneof![
        2 => Just(Vec::new()),
        2 => prop::sample::select(vec!["a", "b", "small", "../x"]).prop_map(move |name| text(name.as_bytes())),
        1 => Just(named("a", SMALL).encode_to_vec()),
        2 => prop::collection::vec(any::<u8>(), 0..200),
        1 => (1usize..6_000_000).prop_map(|bytes| vec![0; bytes]),
    ]
}

/// What precedes a message says how long it is, and whether it is compressed; or something else.
fn framed((flag, payload, lie): (u8, Vec<u8>, Option<u32>)) -> Vec<u8> {
    let length = lie.unwrap_or(payload.len() as u32);
    [&[flag][..], &length.to_be_bytes(), &payload].concat()
}

pub fn raw_calls() -> impl Strategy<Value = RawCall> {
    let kinds = ["application/grpc", "application/grpc+json", "application/grpc-web+proto", "text/plain", ""];
    let encodings = ["", "identity", "gzip", "gzip", "br", "\u{7f}gzip"];
    let flag = prop_oneof![4 => Just(0u8), 3 => Just(1), 1 => any::<u8>()];
    let lie = prop::option::weighted(0.2, prop_oneof![Just(0), Just(u32::MAX), 0..300u32]);
    let frames = prop::collection::vec((flag, payloads(), lie).prop_map(framed), 0..3);
    let tokens = ["Bearer ", "Bearer tb_0123456789", "Basic YTpi", "bearer\t", ""].map(str::to_owned).to_vec();
    let authorization = prop::option::of(prop::sample::select(tokens));
    let path = prop::sample::select(PATHS.clone());
    let kind = prop_oneof![4 => Just(kinds[0]), 1 => prop::sample::select(kinds.to_vec())];
    let encoding = prop::sample::select(encodings.to_vec());
    let parts = (path, kind, encoding, authorization, frames);
    parts.prop_map(|(path, kind, encoding, authorization, frames)| RawCall {
        path,
        kind,
        encoding,
        authorization,
        body: frames.concat(),
    })
}

impl RawCall {
    /// What it is answered with: its status, or OK if it has a message.
    pub async fn over(self, channel: &mut Channel) -> Result<(), Status> {
        let mut request = Request::post(self.path).header("content-type", self.kind).header("te", "trailers");
        if let Ok(encoding) = tonic::codegen::http::HeaderValue::from_str(self.encoding) {
            request = request.header("grpc-encoding", encoding);
        }
        if let Some(authorization) = self.authorization {
            request = request.header("authorization", authorization);
        }
        let body = Body::new(http_body(self.body));
        let request = request.body(body).map_err(|error| Status::invalid_argument(error.to_string()))?;
        std::future::poll_fn(|waking| channel.poll_ready(waking)).await.expect("the connection is open");
        let answer = channel.call(request).await.map_err(|error| Status::unknown(format!("no answer: {error:?}")))?;
        if let Some(status) = Status::from_header_map(answer.headers()) {
            return ok(status);
        }
        if !answer.status().is_success() {
            return Err(Status::new(Code::Unimplemented, format!("HTTP {}", answer.status())));
        }
        let mut body = std::pin::pin!(answer.into_body());
        while let Some(frame) = std::future::poll_fn(|waking| body.as_mut().poll_frame(waking)).await {
            let frame = frame?;
            if let Some(trailers) = frame.trailers_ref() {
                return ok(Status::from_header_map(trailers).expect("trailers have a status"));
            }
            if frame.data_ref().is_some_and(|data| !data.is_empty()) {
                return Ok(());
            }
        }
        Err(Status::unknown("the answer ends without a status"))
    }

    /// The same by a browser; whatever is said, it is no failure of the server.
    pub async fn by_browser(self, page: SocketAddr) {
        let mut connection = TcpStream::connect(page).await.expect("it accepts");
        let Self { path, kind, encoding, authorization, body } = self;
        let authorization = authorization.map_or_else(String::new, |shown| format!("authorization: {shown}\r\n"));
        let encoding = if encoding.starts_with('\u{7f}') { "" } else { encoding };
        let kind = if kind == "application/grpc" { "application/grpc-web+proto" } else { kind };
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: {kind}\r\nx-grpc-web: 1\r\n\
             grpc-encoding: {encoding}\r\n{authorization}content-length: {}\r\n\r\n",
            body.len()
        );
        // It may have been refused by its headers, and be closed before all is sent.
        let _ = connection.write_all(&[head.as_bytes(), &body].concat()).await;
        let mut answer = Vec::new();
        let found = |answer: &[u8]| answer.windows(4).position(|end| end == b"\r\n\r\n").map(|at| at + 4);
        // A watch goes on and on: its first words are enough.
        while found(&answer).is_none_or(|body| body == answer.len()) {
            if connection.read_buf(&mut answer).await.unwrap_or(0) == 0 {
                break;
            }
        }
        let answer = String::from_utf8_lossy(&answer);
        let code =
            answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).and_then(|code| code.parse::<u32>().ok());
        assert!(code.is_some_and(|code| code < 500), "{path} of {kind}: {answer:?}");
    }
}

fn ok(status: Status) -> Result<(), Status> {
    if status.code() == Code::Ok { Ok(()) } else { Err(status) }
}

/// A body of one piece.
fn http_body(bytes: Vec<u8>) -> impl tonic::codegen::Body<Data = Bytes, Error = Status> + Send + 'static {
    struct Whole(Option<Bytes>);
    impl tonic::codegen::Body for Whole {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Status>>> {
            std::task::Poll::Ready(self.0.take().map(|bytes| Ok(hyper::body::Frame::data(bytes))))
        }
    }
    Whole(Some(bytes.into()))
}
