//! What earlier versions of the program have left: nothing of it is lost, and clients see it as they did.

use std::path::Path;

use prost::Message as _;
use rusqlite::Connection;
use tailback_api::v1::watch_run_response::Event;
use tailback_api::v1::{
    CancelRunRequest, CreateRunRequest, Execution, ListRunsRequest, Run, RunState, WatchRunResponse,
};
use tailback_service::Server;

use crate::harness::{Client, SMALL, Served, configuration, limits, named};

const VERSION_2: &str = include_str!("fixtures/version_2.sql");

/// The database of a folder.
fn database(folder: &Path) -> Connection {
    Connection::open(folder.join("tailback.sqlite")).expect("it can be opened")
}

/// A folder as a program of version 2 has left it.
fn left_by_version_2() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    database(folder.path()).execute_batch(VERSION_2).expect("it is SQL");
    folder
}

/// The runs that the old program told, which it kept as the messages that it sent.
fn runs_told(folder: &Path) -> Vec<Run> {
    let database = database(folder);
    let query = "SELECT body, last_event, text FROM runs JOIN documents ON document = hash ORDER BY number";
    let mut query = database.prepare(query).expect("it can be asked");
    let rows = query.query_map([], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get(1)?, row.get(2)?)));
    let told = rows.expect("it can be asked").map(|row| {
        let (body, last_sequence, document) = row.expect("it can be read");
        let mut run = Run { last_sequence, ..Run::decode(body.as_slice()).expect("it is a run") };
        run.scenario.as_mut().expect("it has one").document = document;
        run
    });
    told.collect()
}

/// The events and samples of a run that the old program told.
fn events_told(folder: &Path, id: &str) -> Vec<WatchRunResponse> {
    let database = database(folder);
    let query = "SELECT events.body, events.sequence AS place FROM events JOIN runs USING (number) WHERE id = ?1
        UNION SELECT samples.body, samples.sequence FROM samples JOIN runs USING (number) WHERE id = ?1
        ORDER BY place";
    let mut query = database.prepare(query).expect("it can be asked");
    let rows = query.query_map([id], |row| row.get::<_, Vec<u8>>(0)).expect("it can be asked");
    let told = rows.map(|body| WatchRunResponse::decode(body.expect("it can be read").as_slice()));
    told.collect::<Result<_, _>>().expect("they are events")
}

async fn events(client: &mut Client, id: &str) -> Vec<WatchRunResponse> {
    let mut stream = client.watch(id, 0).await.expect("it can be watched");
    let mut events = Vec::new();
    while let Some(event) = stream.message().await.expect("the stream goes on") {
        events.push(event);
    }
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn what_version_2_has_kept_is_told_as_it_was() {
    let folder = left_by_version_2();
    let told = runs_told(folder.path());
    let ended: Vec<&Run> = told.iter().filter(|run| run.end_time.is_some()).collect();
    let events_told: Vec<_> = ended.iter().map(|run| events_told(folder.path(), &run.id)).collect();
    assert_eq!((told.len(), ended.len()), (7, 6));
    assert!(events_told.iter().flatten().any(|event| matches!(event.event, Some(Event::Sample(_)))));
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    for (run, events_told) in ended.into_iter().zip(&events_told) {
        assert_eq!(&client.get(&run.id).await.expect("it is still there"), run);
        assert_eq!(&events(&mut client, &run.id).await, events_told);
    }
    let failed = ListRunsRequest { states: vec![RunState::Failed.into()], ..Default::default() };
    let failed = client.runs.list_runs(failed).await.expect("they can be listed").into_inner().runs;
    assert_eq!(failed.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), ["bad"]);
    server.stop().await;
    let kept: String = database(folder.path())
        .query_row("SELECT content ->> 'state' FROM runs WHERE id = 'one'", [], |row| row.get(0))
        .expect("any program can read it");
    assert_eq!(kept, "succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_version_2_has_not_finished_goes_on() {
    let folder = left_by_version_2();
    let (last, before) = (events_told(folder.path(), "long"), runs_told(folder.path()).pop().expect("it is the last"));
    let last =
        last.iter().rfind(|event| !matches!(event.event, Some(Event::Sample(_)))).expect("it has events").sequence;
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let mut stream = client.watch("long", last).await.expect("it can be watched from where somebody was");
    let recovered = loop {
        let next = stream.message().await.expect("the stream goes on").expect("there is an event");
        match next.event {
            Some(Event::Recovered(recovered)) => break recovered,
            // Of what was kept before.
            Some(Event::Sample(_)) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(recovered.cycle, 0, "checkpoints of other programs are not read");
    let run = client.get("long").await.expect("it is still there");
    assert_eq!((run.state(), run.restarts), (RunState::Running, before.restarts + 1));
    client.runs.cancel_run(CancelRunRequest { run_id: "long".to_owned() }).await.expect("it can be");
    assert_eq!(client.ended("long").await.state(), RunState::Cancelled);
    server.stop().await;
}

/// The answer to a request may have been lost when the server was stopped to be replaced.
#[tokio::test(flavor = "multi_thread")]
async fn requests_that_version_2_has_answered_are_known() {
    let folder = left_by_version_2();
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let again = CreateRunRequest { request_id: "request-1".to_owned(), ..named("one", SMALL) };
    let answer = client.create(again).await.expect("it is the same request");
    assert_eq!(answer, client.get("one").await.expect("it is there"));
    let execution = Some(Execution { threads: Some(1), ..Execution::default() });
    let new = CreateRunRequest { request_id: "request-2".to_owned(), execution, ..named("two", SMALL) };
    let answer = client.create(new.clone()).await.expect("it is accepted");
    assert_eq!(client.create(new).await.expect("it is the same request").create_time, answer.create_time);
    server.stop().await;
}

#[tokio::test]
async fn what_later_versions_have_left_is_refused_and_not_touched() {
    let folder = left_by_version_2();
    database(folder.path()).pragma_update(None, "user_version", 99).expect("it can be set");
    let refused = Server::bind(configuration(folder.path())).await;
    let problem = refused.err().expect("it cannot be read").to_string();
    assert!(problem.contains("version 99") && problem.contains("use the program that made it"), "{problem}");
    assert_eq!(runs_told(folder.path()).len(), 7);
}
