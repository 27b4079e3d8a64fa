//! What a server keeps in memory does not grow, whatever clients do to it.

use std::time::{Duration, Instant};

use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::scenario_service_client::ScenarioServiceClient;
use tailback_api::v1::{CreateRunRequest, Scenario, ValidateScenarioRequest, WatchRunRequest};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

use crate::attacks::{beyond_all_limits, large_checks, large_sweep};
use crate::program::{Program, SMALL};
use crate::served::Server;

/// What the system's allocator may do on its own account: far below what a leak of any of these would come to.
const GROWTH_MAX: u64 = 24 << 20;

fn endpoint(server: &Server) -> Endpoint {
    Channel::from_shared(server.url.clone()).expect("an address")
}

fn scenario(document: &str) -> Option<Scenario> {
    Some(Scenario { name: "x".to_owned(), document: document.to_owned(), ..Scenario::default() })
}

/// Documents with mistakes: cut off, with a value that cannot be, or with what nobody knows, and a ballast of 100 kB.
fn invalid(number: usize) -> String {
    let ballast = format!("# {}\n", "x".repeat(100_000));
    let bad = ["-1", "1e308", "nan", "\"\"", "[]", "{}", "18446744073709551616"][number % 7];
    match number % 3 {
        0 => format!("{ballast}{}", &SMALL[..SMALL.len() * (number % 50) / 50]).replace("load", "laod") + "[nothing]\n",
        1 => format!("{ballast}{}", SMALL.replace("g = 9", &format!("g = {bad}"))),
        _ => format!("{ballast}{SMALL}unknown-{number} = {bad}\n"),
    }
}

#[test]
fn a_thousand_invalid_scenarios_leave_nothing_behind() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    let runtime = Runtime::new().expect("threads can be started");
    let mut client =
        runtime.block_on(async { RunServiceClient::new(endpoint(&server).connect().await.expect("is up")) });
    let mut before = 0;
    for number in 0..1200 {
        // What is needed once is there by then.
        if number == 200 {
            before = server.memory_bytes();
        }
        let request = CreateRunRequest { scenario: scenario(&invalid(number)), ..CreateRunRequest::default() };
        let refused = runtime.block_on(client.create_run(request)).expect_err("it has a mistake");
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
    }
    let after = server.memory_bytes();
    assert!(after < before + GROWTH_MAX, "from {before} to {after} bytes");
    server.good(&program, &["submit", "small.toml", "--wait"]);
    server.stop();
}

/// What checks may take beyond what an idle server does: one large one, several modest ones, and what the allocator keeps.
const ATTACK_MAX: u64 = 200 << 20;

#[test]
fn what_an_attack_takes_is_bounded() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    let idle = server.peak_memory_bytes();
    let runtime = Runtime::new().expect("threads can be started");
    runtime.block_on(async {
        let mut asked = JoinSet::new();
        for document in large_checks() {
            for _ in 0..4 {
                let (endpoint, scenario) = (endpoint(&server), scenario(&document));
                asked.spawn(async move {
                    let mut client = ScenarioServiceClient::new(endpoint.connect().await.expect("it is up"));
                    client.validate_scenario(ValidateScenarioRequest { scenario, sweep: None }).await
                });
            }
        }
        for answer in asked.join_all().await {
            match answer {
                Ok(checked) => assert!(!checked.into_inner().diagnostics.is_empty(), "each is a mistake"),
                Err(refused) => assert_eq!(refused.code(), Code::ResourceExhausted, "{refused:?}"),
            }
        }
    });
    let peak = server.peak_memory_bytes();
    println!("idle {} MiB, at most {} MiB", idle >> 20, peak >> 20);
    assert!(peak < idle + ATTACK_MAX, "from {idle} to {peak} bytes");
    server.good(&program, &["submit", "small.toml", "--wait"]);
    server.stop();
}

#[test]
fn watchers_that_never_read_are_cut_off_and_cost_nothing() {
    const WATCHERS: usize = 100;
    let program = Program::new();
    program.write("long.toml", SMALL.replace("cycles = 400", "cycles = 500000000"));
    program.write("limits.toml", format!("stream_stall_s_max = 1\nsample_interval_ms = 1\nstreams_max = {WATCHERS}\n"));
    let server = Server::start(&program, &["--limits", "limits.toml"]);
    server.good(&program, &["submit", "long.toml", "--id", "long"]);
    let before = server.memory_bytes();
    let runtime = Runtime::new().expect("threads can be started");
    runtime.block_on(async {
        let request = || WatchRunRequest { run_id: "long".to_owned(), ..WatchRunRequest::default() };
        // Windows that a few events fill.
        let narrow = endpoint(&server).initial_stream_window_size(1 << 10).initial_connection_window_size(1 << 16);
        let mut unread = Vec::new();
        for _ in 0..WATCHERS {
            // A connection each: clients' libraries give one up where too much lies unread.
            let mut sleepy = RunServiceClient::new(narrow.connect().await.expect("it is up"));
            unread.push(sleepy.watch_run(request()).await.expect("there is a place"));
        }
        let mut other = RunServiceClient::new(endpoint(&server).connect().await.expect("it is up"));
        // Their places are free again when they have been cut off: then so many others find room.
        let began = Instant::now();
        let mut reading = Vec::new();
        while reading.len() < WATCHERS {
            match other.watch_run(request()).await {
                Ok(stream) => reading.push(stream),
                Err(refused) => assert_eq!(refused.code(), Code::ResourceExhausted, "{refused:?}"),
            }
            assert!(began.elapsed() < Duration::from_secs(120), "they are not cut off");
        }
        for stream in &mut unread {
            let refused = loop {
                match stream.get_mut().message().await {
                    Ok(event) => assert!(event.is_some(), "the run has no end"),
                    Err(refused) => break refused,
                }
            };
            assert_eq!(refused.code(), Code::Aborted, "{refused:?}");
        }
    });
    let after = server.memory_bytes();
    assert!(after < before + GROWTH_MAX, "from {before} to {after} bytes");
    server.good(&program, &["cancel", "long"]);
    server.stop();
}

/// What 2,000 copies of the overrides of a sweep would take is five times as much.
const SWEEP_MAX: u64 = 32 << 20;

#[test]
fn overrides_of_a_sweep_are_kept_once() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    let runtime = Runtime::new().expect("threads can be started");
    let idle = server.peak_memory_bytes();
    let accepted = runtime.block_on(async {
        let mut client = RunServiceClient::new(endpoint(&server).connect().await.expect("it is up"));
        client.create_run(CreateRunRequest { validate_only: true, ..large_sweep() }).await
    });
    accepted.expect("it is within all limits");
    let peak = server.peak_memory_bytes();
    println!("idle {} MiB, at most {} MiB", idle >> 20, peak >> 20);
    assert!(peak < idle + SWEEP_MAX, "from {idle} to {peak} bytes");
    server.stop();
}

/// What is counted takes next to nothing, and sets up to the limit some 50 MiB; what would be built takes gigabytes.
const COUNTED_MAX: u64 = 64 << 20;

#[test]
fn what_is_beyond_all_limits_is_refused_before_it_is_built() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    let runtime = Runtime::new().expect("threads can be started");
    for document in beyond_all_limits() {
        let before = server.peak_memory_bytes();
        let refused = runtime.block_on(async {
            let mut client = ScenarioServiceClient::new(endpoint(&server).connect().await.expect("it is up"));
            client.validate_scenario(ValidateScenarioRequest { scenario: scenario(&document), sweep: None }).await
        });
        let refused = refused.expect_err("it asks for too much");
        assert_eq!(refused.code(), Code::ResourceExhausted, "{refused:?}");
        let peak = server.peak_memory_bytes();
        println!("{}: from {} to {} MiB", refused.message(), before >> 20, peak >> 20);
        assert!(peak < before + COUNTED_MAX, "from {before} to {peak} bytes: {}", refused.message());
    }
    server.stop();
}
