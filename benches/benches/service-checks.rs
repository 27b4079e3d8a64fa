//! How long reports and small checks take while slow checks wait: a dozen sweeps of 2,000 networks of two million nodes, each of
//! which takes longer than anybody waits, are being validated all the while.
//!
//! `cargo bench -p tailback-benches --bench service-checks` takes some seconds; as a test it does the same with fewer reports.

use std::time::{Duration, Instant};

use tailback_api::v1::result_service_client::ResultServiceClient;
use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::{CreateRunRequest, GetReportRequest, Scenario, Sweep, WaitRunRequest};
use tailback_benches::served::{Served, is_whole, is_worker};
use tailback_service::Limits;
use tokio::task::JoinSet;
use tonic::transport::Channel;

/// Slow checks at once.
const CHECKS: usize = 12;

fn request(dragonfly: &str) -> CreateRunRequest {
    let document = format!(
        "routing = \"minimal\"\n[topology.dragonfly]\n{dragonfly}\n[[traffic]]\nload = 0.3\n[measure]\nwarmup = 100\n\
         cycles = 400\n"
    );
    let scenario = Scenario { name: "checks.toml".to_owned(), document, ..Scenario::default() };
    CreateRunRequest { scenario: Some(scenario), validate_only: true, ..CreateRunRequest::default() }
}

fn small() -> CreateRunRequest {
    request("p = 2\na = 4\nh = 2\ng = 9")
}

fn slow() -> CreateRunRequest {
    let sweep = Some(Sweep { over: vec!["seed=1..2000".to_owned()], ..Sweep::default() });
    CreateRunRequest { sweep, ..request("p = 32\na = 60\nh = 18\ng = 1041") }
}

/// A run that has a report.
async fn finished(channel: Channel) -> String {
    let mut runs = RunServiceClient::new(channel);
    let asked = CreateRunRequest { validate_only: false, ..small() };
    let run_id = runs.create_run(asked).await.expect("it is accepted").into_inner().run.expect("there is a run").id;
    let ended = runs.wait_run(WaitRunRequest { run_id, timeout: None }).await.expect("it can be waited for");
    ended.into_inner().run.expect("there is a run").id
}

/// How long each of `count` reports takes, and each of as many small checks.
async fn measure(channel: Channel, run_id: &str, count: usize) -> [Vec<Duration>; 2] {
    let (mut results, mut runs) = (ResultServiceClient::new(channel.clone()), RunServiceClient::new(channel));
    let mut took = [Vec::new(), Vec::new()];
    for _ in 0..count {
        let began = Instant::now();
        let report = results.get_report(GetReportRequest { run_id: run_id.to_owned() }).await;
        assert!(!report.expect("it has one").into_inner().json.is_empty());
        took[0].push(began.elapsed());
        let began = Instant::now();
        runs.create_run(small()).await.expect("it is right");
        took[1].push(began.elapsed());
    }
    took.map(|mut took| {
        took.sort();
        took
    })
}

fn print(when: &str, [reports, checks]: &[Vec<Duration>; 2]) {
    for (what, took) in [("GetReport", reports), ("a small check", checks)] {
        let quantile = |q: f64| took[((took.len() - 1) as f64 * q) as usize].as_secs_f64() * 1e3;
        let [half, most, slowest] = [0.5, 0.99, 1.0].map(quantile);
        println!("{what} {when}: p50 {half:.1} ms, p99 {most:.1} ms, the slowest {slowest:.1} ms of {}", took.len());
    }
}

async fn all(count: usize) {
    let server = Served::start(Limits { memory_bytes_max: 1 << 40, ..Limits::default() }).await;
    let run_id = finished(server.channel().await).await;
    print("alone", &measure(server.channel().await, &run_id, count).await);
    let mut checks = JoinSet::new();
    for _ in 0..CHECKS {
        let mut runs = RunServiceClient::new(server.channel().await);
        checks.spawn(async move { runs.create_run(slow()).await });
    }
    print(&format!("behind {CHECKS} slow checks"), &measure(server.channel().await, &run_id, count).await);
    assert!(checks.try_join_next().is_none(), "all of them are still being made, or wait");
    checks.shutdown().await;
    server.stop().await;
}

fn main() {
    if is_worker() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    runtime.block_on(all(if is_whole() { 500 } else { 20 }));
}
