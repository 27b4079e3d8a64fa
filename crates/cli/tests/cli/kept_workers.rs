//! A worker whose run has succeeded takes the next: what becomes of that is as if it were a new one.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::Program;
use crate::served::Server;
use crate::workers::{another_worker, endless, events, growing, listed, long};

/// Carries out one run at a time, which may have 80 MiB if it says no more, in one attempt or so many.
fn server(program: &Program, attempts: u32) -> Server {
    let limits = "checkpoint_interval_ms = 20\nsample_interval_ms = 10\nconcurrent_runs_max = 1\n";
    program.write("limits.toml", format!("{limits}attempts_max = {attempts}\nmemory_bytes_max = {}\n", 80 << 20));
    Server::start(program, &["--limits", "limits.toml"])
}

/// Has two runs of a scenario carried out, a short one and the scenario itself; gives the worker, which has the second.
fn both_in_one(program: &Program, server: &Server, scenario: &str) -> u32 {
    program.write("both.toml", scenario);
    let cycles = scenario.split("cycles = ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let over = format!("measure.cycles=400,{}", cycles.expect("it says how many"));
    server.good(program, &["submit", "both.toml", "--id", "both", "--over", &over]);
    let worker = another_worker(server, &[]);
    until(|| child(program, server, "both.2")["state"] != "pending");
    assert_eq!(server.workers(), [worker], "it carries out both");
    worker
}

fn until(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing happens");
        std::thread::yield_now();
    }
}

fn child(program: &Program, server: &Server, id: &str) -> Value {
    let listed = server.good(program, &["list", "--sweep", "both", "--format", "json"]);
    let listed: Vec<Value> = serde_json::from_str(&listed).expect("it is JSON");
    listed.into_iter().find(|run| run["id"] == id).unwrap_or_else(|| panic!("{id} is lost"))
}

#[test]
fn a_kept_worker_that_is_killed_ends_one_attempt_of_one_run() {
    let program = Program::new();
    let server = server(&program, 3);
    let worker = both_in_one(&program, &server, &long());
    Server::kill_process(worker);
    server.good(&program, &["watch", "both", "--states"]);
    let [first, second] = ["both.1", "both.2"].map(|id| child(&program, &server, id));
    assert_eq!((&first["state"], &first["failed_attempts"]), (&"succeeded".into(), &0.into()));
    assert_eq!((&second["state"], &second["failed_attempts"]), (&"succeeded".into(), &1.into()));
    for (id, cycles) in [("both.1", "measure.cycles=400"), ("both.2", "measure.cycles=100000")] {
        let alone = program.good(&["run", "both.toml", "--set", cycles, "--quiet", "--format", "json"]);
        let alone: Value = serde_json::from_str(&alone).expect("it is JSON");
        assert_eq!(child(&program, &server, id)["result_digest"], alone["result_digest"], "{id}");
    }
    server.stop();
}

#[test]
fn a_kept_worker_is_held_to_the_memory_of_each_run() {
    let program = Program::new();
    let server = server(&program, 1);
    let worker = both_in_one(&program, &server, &growing());
    let limits = std::fs::read_to_string(format!("/proc/{worker}/limits")).expect("it runs");
    let data = limits.lines().find(|line| line.starts_with("Max data size")).expect("it is limited");
    let allowed = data.split_whitespace().nth(3).and_then(|bytes| bytes.parse().ok());
    assert_eq!(allowed, Some(144 << 20), "with 64 MiB for the process: {data}");
    let events = events(&program, &server, "both.2");
    let end = events.last().expect("there are some");
    let why = end["error"].as_str().expect("it says why");
    assert!(why.starts_with("the run took more than the 80 MiB of memory"), "{why}");
    assert_eq!(child(&program, &server, "both.1")["state"], "succeeded");
    assert!(!Server::is_worker(worker), "it takes no other run");
    server.stop();
}

#[test]
fn a_kept_worker_ends_with_a_run_that_is_cancelled_or_when_there_is_none() {
    let program = Program::new();
    let server = server(&program, 3);
    let worker = both_in_one(&program, &server, &endless());
    server.good(&program, &["cancel", "both"]);
    until(|| !Server::is_worker(worker));
    program.write("short.toml", crate::program::SMALL);
    server.good(&program, &["submit", "short.toml", "--id", "one", "--wait", "--quiet"]);
    // One that waits may be gone for any reason: that is no attempt of the next run.
    server.workers().into_iter().for_each(|worker| _ = Server::kill_process(worker));
    server.good(&program, &["submit", "short.toml", "--id", "two", "--wait", "--quiet"]);
    assert_eq!(listed(&program, &server, "two")["failed_attempts"], 0);
    until(|| server.workers().is_empty());
    server.stop();
}
