//! Stopping and starting again: nothing is lost, and results are those of undisturbed runs.

use std::path::Path;

use tailback_api::v1::watch_run_response::Event;
use tailback_api::v1::{CreateRunRequest, Execution, RunState, Sweep};
use tailback_service::{ServeError, Server};

use crate::harness::{SMALL, Served, configuration, limits, named};

fn long() -> String {
    SMALL.replace("cycles = 400", "cycles = 300000")
}

/// The digest of a run that nobody disturbs.
async fn undisturbed(document: &str) -> String {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(named("one", document)).await.expect("it is accepted");
    let digest = client.ended("one").await.result_digest;
    server.stop().await;
    digest
}

/// Stops the server in the middle of a run, and starts it again, until the run has ended.
async fn disturbed(folder: &Path, threads: u32) -> (String, u32, bool) {
    let server = Served::at(folder, limits()).await;
    let execution = Some(Execution { threads: Some(threads), ..Execution::default() });
    server.client().await.create(CreateRunRequest { execution, ..named("one", &long()) }).await.expect("accepted");
    server.stop().await;
    let mut reached = 0;
    loop {
        let server = Served::at(folder, limits()).await;
        let mut client = server.client().await;
        let run = client.get("one").await.expect("it is still there");
        let mut events = client.watch("one", run.last_sequence).await.expect("it can be watched");
        // As soon as it has come a little further.
        let mut samples = 0;
        while samples < 2
            && let Some(event) = events.message().await.expect("the stream goes on")
        {
            if let Some(Event::Sample(sample)) = event.event {
                samples += u32::from(sample.cycle > reached);
                reached = reached.max(sample.cycle);
            }
        }
        let run = client.get("one").await.expect("it is still there");
        let went_on = client.watch("one", 0).await.expect("it can be watched");
        let went_on = from_checkpoint(went_on, run.last_sequence).await;
        server.stop().await;
        if run.state() == RunState::Succeeded {
            return (run.result_digest, run.restarts, went_on);
        }
        assert_eq!(run.state(), RunState::Running, "{:?}", run.error);
    }
}

/// Whether any of the events up to a number tells that the run went on from a checkpoint.
async fn from_checkpoint(mut events: tonic::Streaming<tailback_api::v1::WatchRunResponse>, until: i64) -> bool {
    let mut found = false;
    while let Some(event) = events.message().await.expect("the stream goes on") {
        found |= matches!(&event.event, Some(Event::Recovered(recovered)) if recovered.cycle > 0);
        if event.sequence >= until {
            break;
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_go_on_and_find_what_they_would_have_found() {
    let expected = undisturbed(&long()).await;
    for threads in [0, 2] {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (digest, restarts, from_checkpoint) = disturbed(folder.path(), threads).await;
        assert_eq!(digest, expected);
        assert!(restarts >= 1 && from_checkpoint, "it was stopped in the middle {restarts} times");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sweeps_go_on_too() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let over = vec!["traffic.load=0.1,0.2,0.3,0.4".to_owned()];
    let request = |id: &str| {
        let sweep = Some(Sweep { over: over.clone(), ..Sweep::default() });
        CreateRunRequest { sweep, ..named(id, &SMALL.replace("cycles = 400", "cycles = 30000")) }
    };
    let server = Served::at(folder.path(), limits()).await;
    server.client().await.create(request("curve")).await.expect("it is accepted");
    server.stop().await;
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    client.until("curve", RunState::Running).await;
    server.stop().await;
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let ended = client.ended("curve").await;
    assert_eq!(ended.state(), RunState::Succeeded, "{:?}", ended.error);
    client.create(request("again")).await.expect("it is accepted");
    assert_eq!(client.ended("again").await.result_digest, ended.result_digest);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_of_events_go_on_after_a_restart() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    client.create(named("one", &crate::harness::endless())).await.expect("it is accepted");
    let mut events = client.watch("one", 0).await.expect("it can be watched");
    let (mut last, mut seen) = (0, 0);
    while let Some(event) = events.message().await.expect("the stream goes on") {
        last = event.sequence;
        if let Some(Event::Sample(sample)) = event.event {
            seen = sample.cycle;
            break;
        }
    }
    server.stop().await;
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    for after in [0, last] {
        let mut events = client.watch("one", after).await.expect("it goes on");
        let (mut before, mut cycles) = (after, Vec::new());
        let recovered = loop {
            let next = events.message().await.expect("the stream goes on").expect("there is an event");
            assert!(next.sequence > before, "{} after {before}", next.sequence);
            before = next.sequence;
            match next.event {
                Some(Event::Recovered(recovered)) => break recovered,
                Some(Event::Sample(sample)) => cycles.push(sample.cycle),
                _ => {}
            }
        };
        // What was seen of it before is still there, up to where it goes on from.
        assert!(cycles.is_sorted() && cycles.iter().all(|&cycle| cycle <= recovered.cycle), "{cycles:?}");
        assert_eq!(cycles.contains(&seen), after == 0 && seen <= recovered.cycle, "{seen} in {cycles:?}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_has_one_server() {
    let server = Served::start().await;
    let second = Server::bind(configuration(&server.folder)).await;
    assert!(matches!(second.err(), Some(ServeError::Store(_))));
    server.stop().await;
}
