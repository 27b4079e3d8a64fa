//! Sweeps: runs made of runs.

use tailback_api::v1::watch_run_response::Event;
use tailback_api::v1::{
    CancelRunRequest, CreateRunRequest, DeleteRunRequest, ListArtifactsRequest, ListRunsRequest, QuerySeriesRequest,
    Run, RunState, Sweep,
};
use tailback_service::Limits;
use tonic::Code;

use crate::damage::content;
use crate::harness::{Client, SMALL, Served, endless, limits, named, reason, violations};

fn sweep(id: &str, document: &str, over: &[&str]) -> CreateRunRequest {
    let over = over.iter().map(|&axis| axis.to_owned()).collect();
    CreateRunRequest { sweep: Some(Sweep { over, ..Sweep::default() }), ..named(id, document) }
}

/// The same without ends of curves.
fn whole_sweep(id: &str, document: &str, over: &[&str]) -> CreateRunRequest {
    let mut asked = sweep(id, document, over);
    asked.sweep.as_mut().expect("it is a sweep").run_saturated = true;
    asked
}

async fn children(client: &mut Client, id: &str) -> Vec<Run> {
    let asked = ListRunsRequest { parent_id: id.to_owned(), page_size: 1000, ..Default::default() };
    client.runs.list_runs(asked).await.expect("they can be listed").into_inner().runs
}

#[tokio::test]
async fn a_sweep_has_its_points_as_runs_and_a_table_at_the_end() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let asked = whole_sweep("curve", SMALL, &["routing=minimal,valiant", "traffic.load=0.1..0.3/0.1"]);
    client.create(asked).await.expect("it is accepted");
    let mut events = client.watch("curve", 0).await.expect("it can be watched");
    let mut ended = Vec::new();
    while let Some(event) = events.message().await.expect("the stream goes on") {
        if let Some(Event::ChildEnded(child)) = event.event {
            ended.push(child);
        }
    }
    assert_eq!(ended.len(), 6);
    assert_eq!(ended[5].progress.map(|progress| (progress.children_ended, progress.children)), Some((6, 6)));
    let runs = children(&mut client, "curve").await;
    let names: Vec<_> = runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(names, ["curve.1", "curve.2", "curve.3", "curve.4", "curve.5", "curve.6"]);
    assert!(runs.iter().all(|run| run.parent_id == "curve" && run.state() == RunState::Succeeded));
    let digests: std::collections::BTreeSet<_> = runs.iter().map(|run| &run.scenario_digest).collect();
    assert_eq!(digests.len(), 6);
    let listed = client.runs.list_runs(ListRunsRequest::default()).await.expect("they can be listed").into_inner();
    assert_eq!(listed.runs.len(), 1, "runs of sweeps are listed with their sweeps");
    let table = QuerySeriesRequest { run_id: "curve".to_owned(), ..Default::default() };
    let table = client.results.query_series(table).await.expect("it is there").into_inner();
    assert_eq!(table.rows, 6);
    let names: Vec<_> = table.columns.iter().take(2).map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["routing", "traffic.load"]);
    let artifacts = client.results.list_artifacts(ListArtifactsRequest { run_id: "curve".to_owned() }).await;
    let artifacts = artifacts.expect("they can be listed").into_inner().artifacts;
    let names: Vec<_> = artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    let histograms = ["histograms.csv", "histograms.parquet"];
    assert_eq!(names, [&histograms[..], &["scenario.toml", "sweep.csv", "sweep.json", "sweep.parquet"]].concat());
    let digest = client.get("curve").await.expect("it is there").scenario_digest;
    for table in ["sweep.parquet", "histograms.parquet"] {
        let parquet = content(&mut client, "curve", table).await.expect("it is there");
        let tells = parquet.windows(digest.len()).any(|bytes| bytes == digest.as_bytes());
        assert!(!digest.is_empty() && tells, "metadata of {table} tell of which sweep it is");
    }
    // The same again finds the same.
    let asked = whole_sweep("again", SMALL, &["routing=minimal,valiant", "traffic.load=0.1..0.3/0.1"]);
    client.create(asked).await.expect("it is accepted");
    let again = client.ended("again").await;
    assert_eq!(again.result_digest, client.ended("curve").await.result_digest);
    // Runs of a sweep go with it.
    let delete = |run: &str| DeleteRunRequest { run_id: run.to_owned() };
    let refused = client.runs.delete_run(delete("curve.1")).await.expect_err("it is a part");
    assert_eq!(reason(&refused).0, "PART_OF_SWEEP");
    client.runs.delete_run(delete("curve")).await.expect("it has ended");
    assert_eq!(client.get("curve.1").await.expect_err("it is gone").code(), Code::NotFound);
    server.stop().await;
}

#[tokio::test]
async fn sweeps_have_series_of_means_over_seeds() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let mut asked = whole_sweep("curve", &format!("{SMALL}series = 100\n"), &["traffic.load=0.1,0.2"]);
    asked.sweep.as_mut().expect("it is a sweep").seeds = 3;
    client.create(asked).await.expect("it is accepted");
    assert_eq!(client.ended("curve").await.note, "", "nothing is left out");
    let table =
        |name: &str| QuerySeriesRequest { run_id: "curve".to_owned(), table: name.to_owned(), ..Default::default() };
    let series = client.results.query_series(table("series")).await.expect("it is there").into_inner();
    // Two loads, and 500 cycles with the warm-up.
    assert_eq!(series.rows, 2 * 5);
    let names: Vec<_> = series.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names[..5], ["traffic.load", "variant", "seeds", "cycle", "flow"]);
    assert!(names.contains(&"accepted_load_ci95"), "{names:?}");
    let histograms = client.results.query_series(table("histograms")).await.expect("it is there").into_inner();
    assert!(histograms.rows > 50, "{}", histograms.rows);
    server.stop().await;
}

#[tokio::test]
async fn curves_end_where_they_are_saturated() {
    let server = Served::start().await;
    let mut client = server.client().await;
    // With all traffic from a group to the next, minimal routing saturates early.
    let adversarial = SMALL
        .replace("load = 0.3", "load = 0.1\npattern.adversarial.offset = 1")
        .replace("cycles = 400", "cycles = 3000");
    client.create(sweep("curve", &adversarial, &["traffic.load=0.05..1/0.05"])).await.expect("it is accepted");
    let ended = client.ended("curve").await;
    assert_eq!(ended.state(), RunState::Succeeded, "{:?}", ended.error);
    let runs = children(&mut client, "curve").await;
    let skipped: Vec<_> = runs.iter().filter(|run| run.state() == RunState::Cancelled).collect();
    assert!(skipped.len() > 8, "{} of 20 were not run", skipped.len());
    assert!(skipped.iter().all(|run| run.note.contains("saturated")));
    let table = QuerySeriesRequest { run_id: "curve".to_owned(), ..Default::default() };
    let table = client.results.query_series(table).await.expect("it is there").into_inner();
    assert!((2..10).contains(&table.rows), "{} points", table.rows);
    server.stop().await;
}

#[tokio::test]
async fn a_sweep_is_cancelled_as_a_whole() {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(sweep("long", &endless(), &["traffic.load=0.1..0.9/0.1"])).await.expect("it is accepted");
    client.until("long", RunState::Running).await;
    let cancelled = client.runs.cancel_run(CancelRunRequest { run_id: "long".to_owned() }).await;
    assert_eq!(cancelled.expect("it can be").into_inner().run.expect("there is a run").state(), RunState::Cancelling);
    assert_eq!(client.ended("long").await.state(), RunState::Cancelled);
    let runs = children(&mut client, "long").await;
    assert!(runs.iter().all(|run| run.state() == RunState::Cancelled));
    // All are counted, those that never began as well.
    let metrics = server.ask_admin("/metrics").await;
    let counted = format!("tailback_runs_ended_total{{state=\"cancelled\"}} {}", runs.len() + 1);
    assert!(metrics.contains(&counted), "{metrics}");
    server.stop().await;
}

#[tokio::test]
async fn mistakes_of_any_point_are_told_before_anything_is_run() {
    let server = Served::start().await;
    let mut client = server.client().await;
    for (over, field) in [
        ("traffic.load=0.8..1.2/0.2", "scenario"),
        ("trafic.load=0.1,0.2", "scenario"),
        ("traffic.load", "sweep.over"),
        ("traffic.load=0.5..0.1/0.1", "sweep.over"),
    ] {
        let refused = client.create(sweep("bad", SMALL, &[over])).await.expect_err("it has a mistake");
        assert_eq!(refused.code(), Code::InvalidArgument, "{over}");
        assert!(violations(&refused)[0].0.starts_with(field), "{over}: {:?}", violations(&refused));
    }
    let refused = client.create(sweep("bad", SMALL, &[])).await.expect_err("there is nothing to vary");
    assert_eq!(violations(&refused)[0].0, "sweep");
    let many = sweep("bad", SMALL, &["seed=1..5000"]);
    assert_eq!(reason(&client.create(many).await.expect_err("that is too many")).1["limit"], "sweep_runs_max");
    let listed = client.runs.list_runs(ListRunsRequest::default()).await.expect("they can be listed").into_inner();
    assert!(listed.runs.is_empty());
    server.stop().await;
}

/// Tables of all points are made if they have room, counted before they are made.
#[tokio::test]
async fn what_is_too_large_as_one_table_stays_with_the_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let document = format!("{SMALL}series = 50\n");
    let mut wanted = 0u64;
    // As many bytes as there may be, then one less than it takes, and just as many.
    for (id, spare) in [("roomy", None), ("tight", Some(-1)), ("exact", Some(0))] {
        let sweep_table_bytes_max =
            spare.map_or(u64::MAX, |spare| wanted.checked_add_signed(spare).expect("it takes some"));
        let server = Served::at(folder.path(), Limits { sweep_table_bytes_max, ..limits() }).await;
        let mut client = server.client().await;
        client.create(whole_sweep(id, &document, &["traffic.load=0.1,0.2"])).await.expect("it is accepted");
        let sweep = client.ended(id).await;
        assert_eq!(sweep.state(), RunState::Succeeded, "{:?}", sweep.error);
        let files = |run: &str| ListArtifactsRequest { run_id: run.to_owned() };
        let listed = client.results.list_artifacts(files(id)).await.expect("they can be listed").into_inner().artifacts;
        let has = |name: &str| listed.iter().any(|file| file.name == name);
        assert_eq!(has("histograms.csv") && has("histograms.parquet"), id != "tight", "{id}");
        assert!(has("series.csv"), "{id}: time series are smaller");
        let note = format!("histograms.csv would have some {wanted} bytes, the limit is {sweep_table_bytes_max}");
        assert_eq!(sweep.note.contains(&note), id == "tight", "{id}: {}", sweep.note);
        if id == "roomy" {
            for run in ["roomy.1", "roomy.2"] {
                let found = client.results.list_artifacts(files(run)).await.expect("they can be listed").into_inner();
                wanted += found.artifacts.iter().find(|file| file.name == "histograms.csv").expect("it is there").size;
            }
        }
        server.stop().await;
    }
}
