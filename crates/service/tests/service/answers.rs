//! What is answered and nobody takes: there is room for so much of it, and not for long.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::Frame;
use tailback_api::v1::{GetScenarioSchemaRequest, ReadArtifactRequest};
use tailback_service::Limits;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::codegen::{Body as HttpBody, Bytes, Service as _};
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;

use crate::harness::{Client, SMALL, Served, in_time, limit, limits, reason, request};

/// A message without a content, as it is sent.
struct Nothing(Option<Bytes>);

impl HttpBody for Nothing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// A connection from a local address over which a few bytes of each answer come, as long as nobody takes them.
async fn narrow(server: &Served, from: [u8; 4]) -> Channel {
    let endpoint = Channel::from_shared(server.url.clone()).expect("an address").local_address(Some(from.into()));
    endpoint.initial_stream_window_size(100).connect().await.expect("somebody listens")
}

/// Asks for the schema, which is large, and takes nothing of it.
async fn ask(channel: &mut Channel) -> Response<Body> {
    let request = Request::post("/tailback.v1.ScenarioService/GetScenarioSchema");
    let request = request.header("content-type", "application/grpc");
    let request = request.body(Body::new(Nothing(Some(Bytes::from_static(&[0; 5]))))).expect("it is one");
    in_time("the connection takes a call", std::future::poll_fn(|waking| channel.poll_ready(waking)))
        .await
        .expect("it is open");
    in_time("a call is answered", channel.call(request)).await.expect("it is answered")
}

fn refusal(answer: &Response<Body>) -> Option<Status> {
    Status::from_header_map(answer.headers())
}

/// What an answer ends with.
async fn end(answer: Response<Body>) -> Status {
    let mut body = answer.into_body();
    loop {
        let frame = std::future::poll_fn(|waking| Pin::new(&mut body).poll_frame(waking));
        let frame = in_time("an answer comes to its end", frame).await.expect("it ends in words");
        if let Ok(trailers) = frame.expect("the connection stands").into_trailers() {
            return Status::from_header_map(&trailers).expect("they say how it ends");
        }
    }
}

#[tokio::test]
async fn answers_that_nobody_takes_are_limited_and_given_up() {
    // Room for a mebibyte.
    let server = Served::with(Limits { answer_bytes_max: 128 << 10, stream_stall_s_max: 1, ..limits() }).await;
    let mut channel = narrow(&server, [127, 0, 0, 1]).await;
    let mut untaken = Vec::new();
    let refused = loop {
        let answer = ask(&mut channel).await;
        match refusal(&answer) {
            Some(refused) => break refused,
            None => untaken.push(answer),
        }
        assert!(untaken.len() < 1000, "they are not counted");
    };
    assert!(!untaken.is_empty(), "there is room for one");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::ResourceExhausted, "TOO_MANY_STREAMS"));
    let told = "786432 bytes of answers that nobody takes at one address are open already";
    assert!(refused.message().contains(told), "{refused:?}");
    // One peer leaves something to others.
    let mut other = narrow(&server, [127, 0, 0, 2]).await;
    assert!(refusal(&ask(&mut other).await).is_none(), "another peer is answered");
    // Whoever is there is answered again, though nobody has taken anything.
    let mut client = server.client().await;
    let answered = async {
        while let Err(refused) = client.scenarios.get_scenario_schema(GetScenarioSchemaRequest::default()).await {
            assert_eq!(refused.code(), Code::ResourceExhausted, "{refused:?}");
        }
    };
    in_time("there is room again", answered).await;
    // Whoever takes it after all is told; the oldest was given up, and others may be later.
    let told = end(untaken.remove(0)).await;
    assert_eq!((told.code(), reason(&told).0.as_str()), (Code::Aborted, "READ_TOO_SLOW"));
    assert_eq!(told.message(), "nothing was taken for 1 s; ask again");
    server.stop().await;
}

/// A client that takes nothing of a large file keeps pieces of it in the server's memory, so that there are few such files.
#[tokio::test]
async fn files_that_nobody_takes_are_few_and_leave_others_room() {
    let server = Served::with(Limits { reads_max: 1, ..limits() }).await;
    let mut client = server.client().await;
    let document = SMALL.replace("cycles = 400", "cycles = 20000\nseries = 1");
    let run_id = client.create(request(&document)).await.expect("it is accepted").id;
    client.ended(&run_id).await;
    let size = std::fs::metadata(server.folder.join("artifacts/1/series.csv")).expect("it is there").len();
    assert!(size > 1 << 20, "{size} bytes could all be on their way");
    let asked = ReadArtifactRequest { run_id, name: "series.csv".to_owned(), offset: 0 };
    let (mut one, mut other) =
        (Client::new(narrow(&server, [127, 0, 0, 1]).await), Client::new(narrow(&server, [127, 0, 0, 2]).await));
    let mut untaken = Vec::new();
    let refused = loop {
        match in_time("a file is found", one.results.read_artifact(asked.clone())).await {
            Ok(stream) => untaken.push(stream),
            Err(refused) => break refused,
        }
        assert!(untaken.len() < 100, "they are not counted");
    };
    assert_eq!((reason(&refused).0.as_str(), limit(&refused).as_str()), ("TOO_MANY_STREAMS", "reads_max"));
    assert_eq!(untaken.len(), 3, "a quarter is left to others");
    assert!(refused.message().starts_with("3 files that are sent to one address are open already"), "{refused:?}");
    let mut taken = in_time("another peer", other.results.read_artifact(asked.clone())).await.expect("is served");
    assert!(taken.get_mut().message().await.expect("it can be read").is_some());
    drop(untaken);
    let again = async { while one.results.read_artifact(asked.clone()).await.is_err() {} };
    in_time("there is room again", again).await;
    server.stop().await;
}

/// Who takes nothing of a file for too long goes on where it is: files have no events.
#[tokio::test]
async fn who_takes_nothing_of_a_file_is_told_to_read_on() {
    let server = Served::with(Limits { stream_stall_s_max: 1, ..limits() }).await;
    let mut client = server.client().await;
    let document = SMALL.replace("cycles = 400", "cycles = 20000\nseries = 1");
    let run_id = client.create(request(&document)).await.expect("it is accepted").id;
    client.ended(&run_id).await;
    let asked = ReadArtifactRequest { run_id, name: "series.csv".to_owned(), offset: 0 };
    let mut sleepy = Client::new(narrow(&server, [127, 0, 0, 1]).await);
    let mut untaken = sleepy.results.read_artifact(asked.clone()).await.expect("it is there").into_inner();
    // Until the server has given it up: then its place is free again.
    in_time("it is given up", async { while server.open_streams().await > 0 {} }).await;
    let mut taken = 0;
    let told = loop {
        match in_time("what is left comes", untaken.message()).await {
            Ok(piece) => taken += piece.expect("the file has no end yet").content.len() as u64,
            Err(told) => break told,
        }
    };
    assert_eq!((told.code(), reason(&told).0.as_str()), (Code::Aborted, "READ_TOO_SLOW"));
    assert_eq!(told.message(), "nothing was taken for 1 s; read on from the offset that you have");
    let rest = client.results.read_artifact(ReadArtifactRequest { offset: taken, ..asked }).await;
    let mut rest = rest.expect("it goes on").into_inner();
    assert_eq!(rest.message().await.expect("it can be read").expect("there is more").offset, taken);
    server.stop().await;
}

/// Reflection repeats the names that it is asked for.
#[tokio::test]
async fn no_terminal_obeys_what_reflection_says() {
    let server = Served::with(limits()).await;
    let mut client =
        ServerReflectionClient::new(Channel::from_shared(server.url.clone()).expect("an address").connect_lazy());
    let asked = MessageRequest::FileByFilename("\u{1b}[2J".to_owned());
    let asked = ServerReflectionRequest { host: String::new(), message_request: Some(asked) };
    let told = async { client.server_reflection_info(tokio_stream::iter([asked])).await?.into_inner().message().await };
    let refused = in_time("reflection answers", told).await.expect_err("there is no such file");
    assert!(refused.message().contains(r"\u001b[2J"), "{refused:?}");
    server.stop().await;
}
