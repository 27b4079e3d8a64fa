//! Watching runs: the sequence contract.

use std::time::{Duration, Instant};

use tailback_api::v1::watch_run_response::Event;
use tailback_api::v1::{
    CancelRunRequest, CreateRunRequest, RunState, Sweep, WaitRunRequest, WatchRunRequest, WatchRunResponse,
};
use tailback_service::Limits;
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::harness::{Client, SMALL, Served, endless, limits, named, reason};

/// All events after a number, and how the stream ended.
async fn all(client: &mut Client, run: &str, after: i64) -> (Vec<WatchRunResponse>, Option<Status>) {
    let mut stream = client.watch(run, after).await.expect("it can be watched");
    let mut events = Vec::new();
    loop {
        match stream.message().await {
            Ok(Some(event)) => events.push(event),
            Ok(None) => return (events, None),
            Err(status) => return (events, Some(status)),
        }
    }
}

fn states(events: &[WatchRunResponse]) -> Vec<RunState> {
    let state = |event: &WatchRunResponse| match &event.event {
        Some(Event::StateChanged(run)) => Some(run.state()),
        _ => None,
    };
    events.iter().filter_map(state).collect()
}

fn ascends(events: &[WatchRunResponse]) {
    assert!(events.windows(2).all(|pair| pair[0].sequence < pair[1].sequence), "{events:?}");
}

#[tokio::test]
async fn every_state_is_told_once_and_in_order() {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(named("one", &SMALL.replace("cycles = 400", "cycles = 200000"))).await.expect("it is accepted");
    let (mut events, status) = all(&mut client, "one", 0).await;
    assert!(status.is_none(), "{status:?}");
    events.retain(|event| !matches!(event.event, Some(Event::Heartbeat(_))));
    ascends(&events);
    let expected = [RunState::Pending, RunState::Running, RunState::Succeeded];
    assert_eq!(states(&events), expected);
    let samples: Vec<_> = events
        .iter()
        .filter_map(|event| if let Some(Event::Sample(sample)) = &event.event { Some(sample) } else { None })
        .collect();
    assert!(!samples.is_empty(), "a run of that length is sampled");
    assert!(samples.windows(2).all(|pair| pair[0].cycle < pair[1].cycle && pair[1].from_cycle >= pair[0].cycle));
    let last = samples.last().expect("there is one");
    assert!(last.accepted_load.is_some_and(|load| (0.2..0.4).contains(&load)), "{last:?}");
    assert!(last.latency_mean.is_some_and(|mean| (80.0..200.0).contains(&mean)), "{last:?}");
    assert!(last.latency_p99 > last.latency_mean && last.cycles_per_second > 0.0, "{last:?}");
    // Afterwards its course can still be seen, as far as anybody has seen it, and further.
    let (again, _) = all(&mut client, "one", 0).await;
    ascends(&again);
    let kept: Vec<i64> = again.iter().map(|event| event.sequence).collect();
    assert!(events.iter().all(|event| kept.binary_search(&event.sequence).is_ok()), "{kept:?}");
    // Wherever one goes on, what follows is what followed.
    for (index, event) in events.iter().enumerate() {
        let (later, _) = all(&mut client, "one", event.sequence).await;
        assert_eq!(states(&later), states(&events[index + 1..]), "after {}", event.sequence);
    }
    server.stop().await;
}

#[tokio::test]
async fn states_only_and_less_often() {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(named("one", &SMALL.replace("cycles = 400", "cycles = 100000"))).await.expect("it is accepted");
    let request = WatchRunRequest { run_id: "one".to_owned(), states_only: true, ..Default::default() };
    let mut stream = client.runs.watch_run(request.clone()).await.expect("it can be watched").into_inner();
    while let Some(event) = stream.message().await.expect("the stream goes on") {
        assert!(!matches!(event.event, Some(Event::Sample(_))));
    }
    client.create(named("two", &SMALL.replace("cycles = 400", "cycles = 100000"))).await.expect("it is accepted");
    let seldom = Some(prost_types::Duration { seconds: 1000, nanos: 0 });
    let request = WatchRunRequest { run_id: "two".to_owned(), sample_interval_min: seldom, ..Default::default() };
    let mut stream = client.runs.watch_run(request).await.expect("it can be watched").into_inner();
    let mut samples = 0;
    while let Some(event) = stream.message().await.expect("the stream goes on") {
        samples += usize::from(matches!(event.event, Some(Event::Sample(_))));
    }
    assert!(samples <= 1, "{samples}");
    server.stop().await;
}

fn cycles(events: &[WatchRunResponse]) -> Vec<u64> {
    let cycle = |event: &WatchRunResponse| match &event.event {
        Some(Event::Sample(sample)) => Some(sample.cycle),
        _ => None,
    };
    events.iter().filter_map(cycle).collect()
}

/// Of runs that fail or are cancelled it is even more of interest how they went.
#[tokio::test]
async fn a_few_samples_are_kept_from_all_of_a_run() {
    let server = Served::with(Limits { samples_kept_max: 4, sample_interval_ms: 1, ..limits() }).await;
    let mut client = server.client().await;
    client.create(named("long", &endless())).await.expect("it is accepted");
    let mut stream = client.watch("long", 0).await.expect("it can be watched");
    let (mut seen, mut first) = (0, 0);
    while seen < 40
        && let Some(event) = stream.message().await.expect("the stream goes on")
    {
        if let Some(Event::Sample(sample)) = event.event {
            (seen, first) = (seen + 1, if seen == 0 { sample.cycle } else { first });
        }
    }
    client.runs.cancel_run(CancelRunRequest { run_id: "long".to_owned() }).await.expect("it can be cancelled");
    client.ended("long").await;
    let (events, end) = all(&mut client, "long", 0).await;
    ascends(&events);
    assert!(end.is_none());
    assert_eq!(states(&events).last(), Some(&RunState::Cancelled));
    let kept = cycles(&events);
    assert!((2..=4).contains(&kept.len()) && kept.is_sorted() && kept[0] <= first, "{kept:?}, the first was {first}");
    let ask = WatchRunRequest { run_id: "long".to_owned(), ..WatchRunRequest::default() };
    let seldom = Some(prost_types::Duration { seconds: 1000, nanos: 0 });
    for (request, expected) in [
        (WatchRunRequest { states_only: true, ..ask.clone() }, 0),
        (WatchRunRequest { sample_interval_min: seldom, ..ask }, 1),
    ] {
        let mut stream = client.runs.watch_run(request).await.expect("it can be watched").into_inner();
        let mut told = Vec::new();
        while let Some(event) = stream.message().await.expect("the stream goes on") {
            told.push(event);
        }
        assert_eq!((cycles(&told).len(), states(&told)), (expected, states(&events)));
    }
    server.stop().await;
}

#[tokio::test]
async fn numbers_that_never_were_are_refused() {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(named("one", SMALL)).await.expect("it is accepted");
    let latest = client.ended("one").await.last_sequence;
    for after in [-1, 1_000_000, i64::MAX, i64::MIN] {
        let refused = client.watch("one", after).await.expect_err("there is no such number");
        let (why, metadata) = reason(&refused);
        assert_eq!((refused.code(), why.as_str()), (Code::OutOfRange, "SEQUENCE_GONE"));
        assert_eq!(metadata["latest"], latest.to_string());
    }
    let (events, status) = all(&mut client, "one", latest).await;
    assert!(events.is_empty() && status.is_none());
    server.stop().await;
}

#[tokio::test]
async fn events_that_are_not_kept_are_gone() {
    let server = Served::with(Limits { events_kept_max: 3, ..limits() }).await;
    let mut client = server.client().await;
    let sweep = Sweep { over: vec!["traffic.load=0.1,0.2,0.3,0.4,0.5".to_owned()], ..Sweep::default() };
    client.create(CreateRunRequest { sweep: Some(sweep), ..named("many", SMALL) }).await.expect("it is accepted");
    client.ended("many").await;
    let refused = client.watch("many", 1).await.expect_err("the second event is gone");
    assert_eq!(reason(&refused).0, "SEQUENCE_GONE");
    let oldest: i64 = reason(&refused).1["oldest"].parse().expect("a number");
    let (events, _) = all(&mut client, "many", 0).await;
    assert_eq!((events.len(), events[0].sequence), (3, oldest));
    assert_eq!(states(&events), [RunState::Succeeded]);
    server.stop().await;
}

#[tokio::test]
async fn silence_is_broken_by_heartbeats() {
    let server = Served::with(Limits { concurrent_runs_max: 1, ..limits() }).await;
    let mut client = server.client().await;
    client.create(named("first", &endless())).await.expect("it is accepted");
    client.until("first", RunState::Running).await;
    client.create(named("waits", SMALL)).await.expect("it is accepted");
    let mut stream = client.watch("waits", 0).await.expect("it can be watched");
    let first = stream.message().await.expect("the stream goes on").expect("there is an event");
    let second = stream.message().await.expect("the stream goes on").expect("there is an event");
    assert!(matches!(second.event, Some(Event::Heartbeat(_))) && second.sequence == first.sequence, "{second:?}");
    server.stop().await;
}

#[tokio::test]
async fn deadlines_end_waiting() {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(named("endless", &endless())).await.expect("it is accepted");
    let mut request = Request::new(WaitRunRequest { run_id: "endless".to_owned(), timeout: None });
    request.metadata_mut().insert("grpc-timeout", "300m".parse().expect("a value"));
    let status = client.runs.wait_run(request).await.expect_err("the run goes on");
    // Whichever side notices first.
    assert!([Code::DeadlineExceeded, Code::Cancelled].contains(&status.code()), "{status:?}");
    assert!(client.get("endless").await.expect("it is there").end_time.is_none());
    server.stop().await;
}

#[tokio::test]
async fn deadlines_end_streams() {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(named("long", &endless())).await.expect("it is accepted");
    let mut request = Request::new(WatchRunRequest { run_id: "long".to_owned(), ..Default::default() });
    // Past the client's own clock, so that it is the server who says so.
    request.metadata_mut().insert("grpc-timeout", "300m".parse().expect("a value"));
    let mut stream = client.runs.watch_run(request).await.expect("it can be watched").into_inner();
    let status = loop {
        match stream.message().await {
            Ok(event) => assert!(event.is_some(), "the run has no end"),
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::DeadlineExceeded);
    server.stop().await;
}

#[tokio::test]
async fn streams_do_not_live_for_ever_and_say_where_to_go_on() {
    let server = Served::with(Limits { stream_lifetime_s_max: 1, ..limits() }).await;
    let mut client = server.client().await;
    client.create(named("long", &endless())).await.expect("it is accepted");
    let (events, status) = all(&mut client, "long", 0).await;
    let status = status.expect("it ended before the run");
    let (why, metadata) = reason(&status);
    assert_eq!((status.code(), why.as_str()), (Code::Unavailable, "STREAM_EXPIRED"));
    let last = events.last().expect("there were events").sequence;
    assert_eq!(metadata["resume_after"], last.to_string());
    server.stop().await;
}

#[tokio::test]
async fn a_stopping_server_says_where_to_go_on() {
    let mut server = Served::start().await;
    let mut client = server.client().await;
    client.create(named("long", &endless())).await.expect("it is accepted");
    let mut stream = client.watch("long", 0).await.expect("it can be watched");
    stream.message().await.expect("the stream goes on").expect("there is an event");
    let channel = tonic::transport::Channel::from_shared(server.url.clone()).expect("an address");
    let mut health = HealthClient::new(channel.connect().await.expect("somebody listens"));
    let serves = health.watch(HealthCheckRequest { service: "tailback.v1.RunService".to_owned() }).await;
    let mut serves = serves.expect("it can be watched").into_inner();
    assert_eq!(serves.message().await.expect("it tells").map(|now| now.status()), Some(ServingStatus::Serving));
    server.ask_to_stop();
    assert_eq!(serves.message().await.expect("it tells").map(|now| now.status()), Some(ServingStatus::NotServing));
    drop((serves, health));
    let status = loop {
        match stream.message().await {
            Ok(event) => assert!(event.is_some(), "the run has no end"),
            Err(status) => break status,
        }
    };
    let (why, metadata) = reason(&status);
    assert_eq!((status.code(), why.as_str()), (Code::Unavailable, "SHUTTING_DOWN"));
    assert!(metadata["resume_after"].parse::<i64>().is_ok_and(|sequence| sequence >= 1));
    server.stop().await;
}

#[tokio::test]
async fn only_so_many_streams_are_open() {
    let server = Served::with(Limits { streams_max: 2, ..limits() }).await;
    let mut client = server.client().await;
    client.create(named("long", &endless())).await.expect("it is accepted");
    let first = client.watch("long", 0).await.expect("there is a place");
    let second = client.watch("long", 0).await.expect("there is a place");
    let refused = client.watch("long", 0).await.expect_err("there are only two");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::ResourceExhausted, "TOO_MANY_STREAMS"));
    drop((first, second));
    // The places are given back when the server notices.
    let began = Instant::now();
    while client.watch("long", 0).await.is_err() {
        assert!(began.elapsed() < Duration::from_secs(60), "the places are not given back");
    }
    server.stop().await;
}

/// A client that takes nothing is cut off; the run does not notice.
#[tokio::test]
async fn who_takes_nothing_is_cut_off() {
    let server = Served::with(Limits { stream_stall_s_max: 1, sample_interval_ms: 1, ..limits() }).await;
    let mut client = server.client().await;
    // A window that a few samples fill.
    let channel = tonic::transport::Channel::from_shared(server.url.clone()).expect("an address");
    let channel = channel.initial_stream_window_size(1 << 10).initial_connection_window_size(1 << 16);
    let mut sleepy = Client::new(channel.connect().await.expect("somebody listens"));
    client.create(named("long", &endless())).await.expect("it is accepted");
    let mut stream = sleepy.watch("long", 0).await.expect("it can be watched");
    let began = Instant::now();
    // Until the server has given it up: then its place is free again.
    while server.open_streams().await > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "it is not given up");
    }
    let mut told = 0;
    let status = loop {
        match stream.message().await {
            Ok(event) => {
                assert!(event.is_some(), "the run has no end");
                told += 1;
            }
            Err(status) => break status,
        }
    };
    assert_eq!((status.code(), reason(&status).0.as_str()), (Code::Aborted, "WATCH_TOO_SLOW"));
    assert!(told < 200, "{told} events were kept for somebody who took none");
    let resume_after: i64 = reason(&status).1["resume_after"].parse().expect("a number");
    client.runs.cancel_run(CancelRunRequest { run_id: "long".to_owned() }).await.expect("it can be cancelled");
    let (events, end) = all(&mut client, "long", resume_after).await;
    assert!(end.is_none());
    assert_eq!(states(&events).last(), Some(&RunState::Cancelled));
    server.stop().await;
}
