//! What those who run a server are told: whether it can do its work, and its metrics.

use rusqlite::Connection;
use tailback_api::v1::{CancelRunRequest, CreateRunRequest, RunState};
use tailback_service::Limits;

use crate::harness::{SMALL, Served, endless, in_time, limits, named};
use crate::uploading::{LIST, upload};

/// A value of a metric with its labels.
async fn value(server: &Served, name: &str) -> f64 {
    server.metric(name).await
}

/// Asks until a metric has a value: what the disk and the database say counts for a moment.
async fn until(server: &Served, name: &str, wanted: f64) {
    in_time(format!("{name} is {wanted}"), async { while value(server, name).await != wanted {} }).await;
}

fn is(answer: &str, code: u32, reason: &str) -> bool {
    answer.starts_with(&format!("HTTP/1.1 {code}")) && answer.ends_with(&format!("{reason}\n"))
}

#[tokio::test]
async fn a_server_is_ready_when_all_is_well() {
    let server = Served::start().await;
    for path in ["/readyz", "/livez", "/readyz"] {
        let answer = server.ask_admin(path).await;
        assert!(is(&answer, 200, "ok"), "{path}: {answer}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_server_without_room_is_alive_and_not_ready() {
    let server = Served::with(Limits { disk_free_bytes_min: u64::MAX, ..limits() }).await;
    let answer = server.ask_admin("/readyz").await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.ends_with(&format!("less than disk_free_bytes_min = {}\n", u64::MAX)), "{answer}");
    assert!(is(&server.ask_admin("/livez").await, 200, "ok"));
    // That is for orchestrators to know: whoever calls gets what there still is.
    let mut client = server.client().await;
    client.create(named("one", SMALL)).await.expect("there is room for it");
    assert_eq!(client.ended("one").await.state(), RunState::Succeeded);
    server.stop().await;
}

#[tokio::test]
async fn a_server_whose_database_cannot_be_written_is_not_ready_until_it_can() {
    let server = Served::start().await;
    let other = Connection::open(server.folder.join("tailback.sqlite")).expect("it is there");
    other.execute_batch("BEGIN IMMEDIATE").expect("nobody writes");
    let answer = server.ask_admin("/readyz").await;
    assert!(is(&answer, 503, "the disk or the database has not answered within 2 s"), "{answer}");
    assert!(is(&server.ask_admin("/livez").await, 200, "ok"), "it can be read");
    let mut client = server.client().await;
    assert!(client.get("nobody").await.is_err_and(|refused| refused.code() == tonic::Code::NotFound));
    other.execute_batch("ROLLBACK").expect("it is ours");
    while !is(&server.ask_admin("/readyz").await, 200, "ok") {}
    server.stop().await;
}

#[tokio::test]
async fn a_server_whose_database_cannot_be_read_is_not_ready() {
    let server = Served::start().await;
    let database = Connection::open(server.folder.join("tailback.sqlite")).expect("it is there");
    database.execute_batch("ALTER TABLE runs RENAME TO gone").expect("it can be changed");
    let answer = server.ask_admin("/readyz").await;
    assert!(is(&answer, 503, "the database cannot be read; the log says why"), "{answer}");
    let metrics = server.ask_admin("/metrics").await;
    assert!(metrics.contains("tailback_streams_open ") && !metrics.contains("tailback_disk"), "{metrics}");
    database.execute_batch("ALTER TABLE gone RENAME TO runs").expect("it can be changed");
    while !is(&server.ask_admin("/readyz").await, 200, "ok") {}
    server.stop().await;
}

#[tokio::test]
async fn metrics_tell_what_runs_take_and_how_long_they_waited() {
    let server = Served::with(Limits { memory_bytes_max: 1 << 30, concurrent_runs_max: 1, ..limits() }).await;
    let mut client = server.client().await;
    client.create(named("first", &endless())).await.expect("it is accepted");
    client.until("first", RunState::Running).await;
    client.create(named("second", SMALL)).await.expect("it is accepted");
    until(&server, "runs{state=\"running\"}", 1.0).await;
    until(&server, "runs{state=\"pending\"}", 1.0).await;
    assert_eq!(value(&server, "memory_limit_bytes").await, f64::from(1 << 30));
    let reserved = value(&server, "memory_reserved_bytes").await;
    assert!(reserved > 0.0 && reserved <= f64::from(1 << 30), "{reserved}");
    let mut used = 0.0;
    if cfg!(target_os = "linux") {
        // A worker is looked at now and again, and not when it begins.
        let looked_at = async {
            while used == 0.0 {
                used = value(&server, "memory_used_bytes").await;
            }
        };
        in_time("a worker is looked at", looked_at).await;
        assert!(used <= reserved, "{used}");
        assert!(value(&server, "run_memory_used_bytes{run=\"first\"}").await > 0.0);
    }
    until(&server, "run_waiting_seconds_count", 1.0).await;
    let run_id = "first".to_owned();
    client.runs.cancel_run(CancelRunRequest { run_id }).await.expect("it can be cancelled");
    assert_eq!(client.ended("second").await.state(), RunState::Succeeded);
    for (state, count) in [("succeeded", 1.0), ("cancelled", 1.0), ("pending", 0.0), ("running", 0.0), ("failed", 0.0)]
    {
        until(&server, &format!("runs{{state=\"{state}\"}}"), count).await;
    }
    until(&server, "memory_reserved_bytes", 0.0).await;
    until(&server, "memory_used_bytes", 0.0).await;
    let metrics = server.ask_admin("/metrics").await;
    assert!(!metrics.contains("run=\""), "no run is named that is not simulated any more:\n{metrics}");
    // One was looked at, and the other has said it itself.
    let peaks = if cfg!(target_os = "linux") { 2.0 } else { 0.0 };
    assert_eq!(value(&server, "attempt_memory_peak_bytes_count").await, peaks);
    assert_eq!(value(&server, "attempt_memory_peak_bytes_bucket{le=\"+Inf\"}").await, peaks);
    assert!(value(&server, "attempt_memory_peak_bytes_sum").await >= used);
    assert_eq!(value(&server, "run_waiting_seconds_count").await, 2.0);
    assert_eq!(value(&server, "run_waiting_seconds_bucket{le=\"+Inf\"}").await, 2.0);
    assert!(value(&server, "run_waiting_seconds_sum").await >= 0.0);
    assert!(value(&server, "run_waiting_seconds_bucket{le=\"0.01\"}").await <= 2.0);
    server.stop().await;
}

#[tokio::test]
async fn metrics_name_no_run_that_not_everybody_may_know_of() {
    let server = Served::start().await;
    let mut client = server.client().await;
    client.create(CreateRunRequest { private: true, ..named("hidden", &endless()) }).await.expect("it is accepted");
    client.until("hidden", RunState::Running).await;
    if cfg!(target_os = "linux") {
        let without_a_name = "tailback_run_memory_used_bytes{run=\"\"} ";
        let looked_at = async { while !server.ask_admin("/metrics").await.contains(without_a_name) {} };
        in_time("its memory is told", looked_at).await;
    }
    assert!(!server.ask_admin("/metrics").await.contains("hidden"));
    server.stop().await;
}

#[tokio::test]
async fn metrics_tell_the_disk_and_the_connections_of_each_port() {
    let server = Served::start().await;
    let client = server.client().await;
    until(&server, "connections_open{port=\"clients\"}", 1.0).await;
    assert!(value(&server, "connections_open{port=\"admin\"}").await >= 1.0, "the one that asks");
    assert!(value(&server, "disk_free_bytes").await > 0.0);
    assert!(value(&server, "database_size_bytes").await >= 4096.0);
    drop(client);
    until(&server, "connections_open{port=\"clients\"}", 0.0).await;
    server.stop().await;
}

/// What reads metrics in earnest refuses a family whose samples are not together, or that has no type.
#[tokio::test]
async fn metrics_keep_to_their_format() {
    let server = Served::start().await;
    let metrics = server.ask_admin("/metrics").await;
    let (_, body) = metrics.split_once("\r\n\r\n").expect("there is a body");
    let (mut family, mut seen) = (String::new(), std::collections::BTreeSet::new());
    for line in body.lines() {
        if let Some(about) = line.strip_prefix("# TYPE ") {
            let (name, kind) = about.split_once(' ').expect("a name and a type");
            assert!(["counter", "gauge", "histogram"].contains(&kind) && seen.insert(name.to_owned()), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            name.clone_into(&mut family);
        } else if !line.starts_with("# HELP ") {
            let (name, number) = line.rsplit_once(' ').expect("a name and a value");
            assert!(name.starts_with(&family) && number.parse::<f64>().is_ok(), "{line} is not of {family}");
        }
    }
    assert!(seen.len() > 15, "{seen:?}");
    server.stop().await;
}

/// Limits that mean "never", and are more than any clock can tell.
#[tokio::test]
async fn times_may_be_as_long_as_numbers_can_be() {
    let server = Served::with(Limits {
        wall_time_s_max: u64::MAX,
        check_s_max: u64::MAX,
        stream_lifetime_s_max: u64::MAX,
        stream_stall_s_max: u64::MAX,
        wait_s_max: u64::MAX,
        heartbeat_s: u64::MAX,
        body_ms_max: u64::MAX,
        header_ms_max: u64::MAX,
        connection_opening_ms_max: u64::MAX,
        refusal_pause_ms_max: u64::MAX,
        ended_age_s_max: u64::MAX,
        file_age_s_max: u64::MAX,
        retention_interval_s: u64::MAX,
        shutdown_s_max: u64::MAX,
        ..limits()
    })
    .await;
    let mut client = server.client().await;
    upload(&mut client.files, "list.csv", LIST.as_bytes()).await.expect("it is kept");
    client.create(named("one", SMALL)).await.expect("it is accepted");
    client.until("one", RunState::Succeeded).await;
    assert_eq!(client.ended("one").await.state(), RunState::Succeeded);
    server.stop().await;
}
