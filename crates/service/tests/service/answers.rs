//! What is answered and nobody takes: there is room for so much of it, and not for long.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::Frame;
use tailback_api::v1::GetScenarioSchemaRequest;
use tailback_service::Limits;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::codegen::{Body as HttpBody, Bytes, Service as _};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::harness::{Served, in_time, limits, reason};

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
    assert!(refused.message().contains("bytes of answers that nobody takes"), "{refused:?}");
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
    // Whoever takes them after all is told.
    for answer in untaken {
        assert_eq!(end(answer).await.code(), Code::Aborted);
    }
    server.stop().await;
}
