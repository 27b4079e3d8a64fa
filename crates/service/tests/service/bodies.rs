//! What is sent with calls: nobody takes all day for it, and all of it together is not more than there is room for.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::Frame;
use tailback_service::Limits;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::codegen::{Body as HttpBody, Bytes, Service as _};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::harness::{Served, in_time, limits, reason, request};

/// A body of which so many bytes come, and nothing more.
struct Unfinished(Option<Bytes>);

impl Unfinished {
    /// Of a message of 60 kB.
    fn of(bytes: usize) -> Self {
        let mut sent = vec![0, 0, 0, 234, 96];
        sent.resize(bytes, 0);
        Self(Some(sent.into()))
    }
}

impl HttpBody for Unfinished {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.take().map_or(Poll::Pending, |bytes| Poll::Ready(Some(Ok(Frame::data(bytes)))))
    }
}

async fn channel(server: &Served) -> Channel {
    Channel::from_shared(server.url.clone()).expect("an address").connect().await.expect("somebody listens")
}

/// A call of which not everything is sent; what the server says to that.
async fn call(mut channel: Channel, body: Unfinished) -> Status {
    let request = Request::post("/tailback.v1.RunService/CreateRun");
    let request = request.header("content-type", "application/grpc").body(Body::new(body)).expect("it is one");
    std::future::poll_fn(|waking| channel.poll_ready(waking)).await.expect("the connection is open");
    let answer = in_time("a call that is not sent whole is answered", channel.call(request)).await;
    let answer: Response<Body> = answer.expect("it is answered");
    Status::from_header_map(answer.headers()).expect("it is refused at once")
}

#[tokio::test]
async fn who_does_not_finish_a_request_is_refused_and_others_are_not() {
    let server = Served::with(Limits { body_ms_max: 100, ..limits() }).await;
    let channel = channel(&server).await;
    for bytes in [0, 3, 5, 6, 1000] {
        let refused = call(channel.clone(), Unfinished::of(bytes)).await;
        assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::DeadlineExceeded, "DEADLINE_PASSED"));
        assert_eq!(refused.message(), "the request was not sent whole within 0.1 s");
    }
    let mut client = server.client().await;
    let run = client.create(request(crate::harness::SMALL)).await.expect("it was sent whole");
    // Waiting for the answer takes longer, and is no matter of what was sent.
    client.ended(&run.id).await;
    server.stop().await;
}

#[tokio::test]
async fn what_is_sent_has_so_much_room_and_no_more() {
    let server = Served::with(Limits { body_bytes_max: 50_000, ..limits() }).await;
    let channel = channel(&server).await;
    let refused = call(channel.clone(), Unfinished::of(50_001)).await;
    let (name, about) = reason(&refused);
    assert_eq!((refused.code(), name.as_str()), (Code::ResourceExhausted, "TOO_MANY_STREAMS"));
    assert_eq!((about["limit"].as_str(), about["allowed"].as_str()), ("body_bytes_max", "50000"));
    // What others have sent, and not finished, takes room as long as they are there.
    let half = tokio::spawn(call(channel.clone(), Unfinished::of(30_000)));
    let mut client = server.client().await;
    let padded = request(&format!("{}# {}\n", crate::harness::SMALL, "x".repeat(30_000)));
    in_time("there is no room left", async { while client.create(padded.clone()).await.is_ok() {} }).await;
    let refused = client.create(padded.clone()).await.expect_err("there is no room");
    assert_eq!(reason(&refused).1["limit"], "body_bytes_max");
    half.abort();
    let accepted = async {
        while let Err(refused) = client.create(padded.clone()).await {
            assert_eq!(reason(&refused).1["limit"], "body_bytes_max");
        }
    };
    in_time("there is room again", accepted).await;
    server.stop().await;
}
