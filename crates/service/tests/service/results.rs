//! What runs have found.

use sha2::{Digest as _, Sha256};
use tailback_api::v1::column::Values;
use tailback_api::v1::{
    CreateRunRequest, Execution, GetReportRequest, ListArtifactsRequest, QuerySeriesRequest, ReadArtifactRequest,
    ReadArtifactResponse, RunErrorReason, RunState,
};
use tailback_scenario::Document;
use tailback_sim::Run;
use tonic::Code;

use crate::damage::content;
use crate::harness::{Client, SMALL, Served, endless, named, reason, violations};

async fn read(client: &mut Client, run: &str, name: &str, offset: u64) -> Vec<ReadArtifactResponse> {
    let request = ReadArtifactRequest { run_id: run.to_owned(), name: name.to_owned(), offset };
    let mut stream = client.results.read_artifact(request).await.expect("it is there").into_inner();
    let mut pieces = Vec::new();
    while let Some(piece) = stream.message().await.expect("the stream goes on") {
        pieces.push(piece);
    }
    pieces
}

fn joined(pieces: &[ReadArtifactResponse]) -> Vec<u8> {
    pieces.iter().flat_map(|piece| piece.content.to_vec()).collect()
}

/// A burst of messages that are written down.
fn with_messages() -> String {
    let burst = SMALL.replace("load = 0.3", "load = 0.3\ncount = 5");
    format!("{burst}messages = true\n")
}

#[tokio::test]
async fn messages_that_are_written_down_are_tables() {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(named("listed", &with_messages())).await.expect("it is accepted");
    let ended = client.ended("listed").await;
    assert_eq!(ended.state(), RunState::Succeeded, "{:?}", ended.error);
    let asked = ListArtifactsRequest { run_id: "listed".to_owned() };
    let listed = client.results.list_artifacts(asked).await.expect("it is there").into_inner().artifacts;
    let names: Vec<_> = listed.iter().map(|artifact| artifact.name.as_str()).collect();
    let expected = ["histograms.csv", "histograms.parquet", "messages.csv", "messages.parquet"];
    assert_eq!(names, [&expected[..], &["report.json", "report.txt", "scenario.toml"]].concat());
    let csv = content(&mut client, "listed", "messages.csv").await.expect("it is there");
    let csv = String::from_utf8(csv).expect("it is text");
    assert!(csv.starts_with("flow,source,destination,flits,created,completed,completion,slowdown\n"), "{csv}");
    assert!(csv.lines().count() > 300, "{} lines", csv.lines().count());
    let parquet = content(&mut client, "listed", "messages.parquet").await.expect("it is there");
    assert!(parquet.starts_with(b"PAR1"));
    // They count among the bytes that a run may leave.
    let artifact_bytes_max = csv.len() as u64;
    let execution = Some(Execution { artifact_bytes_max, ..Execution::default() });
    let asked = CreateRunRequest { execution, ..named("large", &with_messages()) };
    client.create(asked).await.expect("it is accepted");
    let error = client.ended("large").await.error.expect("it has failed");
    assert_eq!(error.reason(), RunErrorReason::ArtifactBytes);
    assert!(error.message.contains(&format!("the run may have {artifact_bytes_max}")), "{}", error.message);
    // A run that takes these results has them, too.
    client.create(CreateRunRequest { reuse: true, ..named("again", &with_messages()) }).await.expect("it is accepted");
    assert!(client.ended("again").await.note.contains("those of run `listed`"));
    assert_eq!(content(&mut client, "again", "messages.csv").await.expect("it is there"), csv.into_bytes());
    server.stop().await;
}

#[tokio::test]
async fn a_run_finds_what_the_simulator_finds() {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(named("one", SMALL)).await.expect("it is accepted");
    let ended = client.ended("one").await;
    let scenario = Document::read("test.toml", SMALL).resolve().expect("it has no mistakes");
    let mut run = Run::new(&scenario, 0).expect("it can be started");
    run.finish(|_| std::ops::ControlFlow::Continue(())).expect("it goes well");
    let findings = run.findings().expect("it adds up");
    assert_eq!((ended.result_digest, ended.scenario_digest), (findings.digest(), scenario.digest));
    let report = client.results.get_report(GetReportRequest { run_id: "one".to_owned() }).await.expect("it is there");
    let report = report.into_inner();
    let parsed = tailback_report::Report::read_json(report.json.as_bytes()).expect("it is a report");
    assert_eq!((parsed.result_digest.as_str(), parsed.version.as_str()), (findings.digest().as_str(), "test"));
    assert!(report.text.contains("A small dragonfly"));
    server.stop().await;
}

/// Whichever threads simulate: all of them count.
#[tokio::test]
async fn processor_time_is_that_of_all_threads() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let document = SMALL.replace("cycles = 400", "cycles = 20000");
    for threads in [0, 1, 2] {
        let id = format!("on-{threads}");
        let execution = Some(Execution { threads: Some(threads), ..Execution::default() });
        client.create(CreateRunRequest { execution, ..named(&id, &document) }).await.expect("it is accepted");
        client.ended(&id).await;
        let report = client.results.get_report(GetReportRequest { run_id: id }).await.expect("it is there");
        let report = tailback_report::Report::read_json(report.into_inner().json.as_bytes()).expect("it is a report");
        let performance = report.performance;
        assert_eq!(performance.threads, threads.max(1));
        // Threads cannot do more than run all the time; the clocks of the two are not read at the same moment.
        let most = performance.wall_s * f64::from(threads.max(1)) * 1.1 + 0.1;
        assert!(performance.cpu_s > 0.001 && performance.cpu_s < most, "{performance:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn artifacts_are_read_from_any_offset() {
    let server = Served::start().await;
    let mut client = server.client().await;
    // Large enough for several pieces.
    let long = format!("{SMALL}series = 1\n").replace("cycles = 400", "cycles = 4000");
    client.create(named("one", &long)).await.expect("it is accepted");
    client.ended("one").await;
    let listed = client.results.list_artifacts(ListArtifactsRequest { run_id: "one".to_owned() }).await;
    let artifacts = listed.expect("they can be listed").into_inner().artifacts;
    let names: Vec<_> = artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    let tables = ["histograms.csv", "histograms.parquet"];
    let expected = ["report.json", "report.txt", "scenario.toml", "series.csv", "series.parquet"];
    assert_eq!(names, [&tables[..], &expected].concat());
    for artifact in &artifacts {
        let pieces = read(&mut client, "one", &artifact.name, 0).await;
        assert_eq!(pieces[0].artifact.as_ref(), Some(artifact));
        let content = joined(&pieces);
        assert_eq!(content.len() as u64, artifact.size);
        let digest: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, artifact.sha256);
        for offset in [1, artifact.size / 2, artifact.size] {
            let rest = read(&mut client, "one", &artifact.name, offset).await;
            assert_eq!(joined(&rest), content[offset as usize..], "{} from {offset}", artifact.name);
        }
    }
    assert!(read(&mut client, "one", "series.csv", 0).await.len() > 1, "it has several pieces");
    let beyond = ReadArtifactRequest { run_id: "one".to_owned(), name: "report.json".to_owned(), offset: u64::MAX };
    let refused = client.results.read_artifact(beyond).await.expect_err("that is behind its end");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::OutOfRange, "OFFSET_OUT_OF_RANGE"));
    for name in ["../../tailback.sqlite", "/etc/passwd", "report.json/..", "", "report.json\0"] {
        let request = ReadArtifactRequest { run_id: "one".to_owned(), name: name.to_owned(), offset: 0 };
        let refused = client.results.read_artifact(request).await.expect_err("there is no such artifact");
        assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::NotFound, "ARTIFACT_NOT_FOUND"), "{name}");
    }
    server.stop().await;
}

#[tokio::test]
async fn series_are_selected_by_column_traffic_and_time() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let text = format!("{SMALL}series = 1\n").replace("load = 0.3", "load = 0.3\nname = \"background\"");
    client.create(named("one", &text)).await.expect("it is accepted");
    client.ended("one").await;
    let all = QuerySeriesRequest { run_id: "one".to_owned(), ..Default::default() };
    let series = client.results.query_series(all.clone()).await.expect("it is there").into_inner();
    assert_eq!((series.rows, series.columns[0].name.as_str()), (500, "cycle"));
    let part = QuerySeriesRequest {
        columns: vec!["cycle".to_owned(), "latency_message_mean".to_owned()],
        traffic: "background".to_owned(),
        from_cycle: Some(0),
        until_cycle: Some(3),
        ..all.clone()
    };
    let series = client.results.query_series(part).await.expect("it is there").into_inner();
    let Some(Values::Integers(cycles)) = &series.columns[0].values else { panic!("cycles are whole numbers") };
    assert_eq!(cycles.values, [0, 1, 2]);
    assert_eq!(series.columns[1].empty, [0, 1, 2], "nothing has arrived in the first cycles");
    for (field, request) in [
        ("columns", QuerySeriesRequest { columns: vec!["colour".to_owned()], ..all.clone() }),
        ("traffic", QuerySeriesRequest { traffic: "nobody".to_owned(), ..all }),
    ] {
        let refused = client.results.query_series(request).await.expect_err("there is no such thing");
        assert_eq!((refused.code(), violations(&refused)[0].0.as_str()), (Code::InvalidArgument, field));
    }
    server.stop().await;
}

#[tokio::test]
async fn tables_are_asked_for_by_name() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let looked = "links = { every = 50, select = \"global\" }\ntrees = { every = 100 }\n";
    client.create(named("one", &format!("{SMALL}{looked}"))).await.expect("it is accepted");
    let ended = client.ended("one").await;
    assert_eq!(ended.state(), RunState::Succeeded, "{:?}", ended.error);
    let table =
        |name: &str| QuerySeriesRequest { run_id: "one".to_owned(), table: name.to_owned(), ..Default::default() };
    let part = QuerySeriesRequest { from_cycle: Some(100), until_cycle: Some(200), ..table("links") };
    let links = client.results.query_series(part).await.expect("it is there").into_inner();
    // Each of nine groups has a link to each other one; there are two instants.
    assert_eq!((links.rows, links.columns[0].name.as_str()), (2 * 9 * 8, "cycle"));
    for (name, column) in [("histograms", "figure"), ("trees", "root")] {
        let found = client.results.query_series(table(name)).await.expect("it is there").into_inner();
        assert!(found.columns.iter().any(|found| found.name == column), "{name}");
    }
    for (name, expected) in
        [("series", "NO_SERIES"), ("messages", "ARTIFACT_NOT_FOUND"), ("../1/links", "ARTIFACT_NOT_FOUND")]
    {
        let refused = client.results.query_series(table(name)).await.expect_err("it is not asked for");
        assert_eq!(reason(&refused).0, expected, "{name}");
        assert!(!refused.message().contains("``"), "{refused:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn what_is_not_there_says_why() {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(named("plain", SMALL)).await.expect("it is accepted");
    client.create(named("long", &endless())).await.expect("it is accepted");
    client.ended("plain").await;
    let series = |run: &str| QuerySeriesRequest { run_id: run.to_owned(), ..Default::default() };
    let refused = client.results.query_series(series("plain")).await.expect_err("it asks for none");
    assert_eq!(reason(&refused).0, "NO_SERIES");
    let report = |run: &str| GetReportRequest { run_id: run.to_owned() };
    let refused = client.results.get_report(report("long")).await.expect_err("it runs");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::FailedPrecondition, "RUN_NOT_ENDED"));
    let run_id = "long".to_owned();
    client.runs.cancel_run(tailback_api::v1::CancelRunRequest { run_id }).await.expect("it can be");
    client.ended("long").await;
    let refused = client.results.get_report(report("long")).await.expect_err("it was cancelled");
    assert_eq!(reason(&refused).0, "NO_RESULTS");
    let refused = client.results.get_report(report("nobody")).await.expect_err("there is no such run");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::NotFound, "RUN_NOT_FOUND"));
    server.stop().await;
}
