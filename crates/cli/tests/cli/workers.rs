//! Runs are simulated by processes of their own: what becomes of a run ends neither the server nor another run.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Program, SMALL};
use crate::served::{LOG, Server};

/// A run that takes some seconds, and the same for longer than any test waits.
pub fn long() -> String {
    SMALL.replace("cycles = 400", "cycles = 100000")
}

pub fn endless() -> String {
    SMALL.replace("cycles = 400", "cycles = 500000000")
}

/// A run whose sources have more to send than the network takes, so that what waits there grows and grows.
pub fn growing() -> String {
    endless().replace("load = 0.3", "load = 1.0\nsize = 1\npattern = \"adversarial\"")
}

/// Of the memory a run may have 80 MiB, if its plan says no more.
fn server(program: &Program) -> Server {
    let limits = "checkpoint_interval_ms = 20\nsample_interval_ms = 10\nconcurrent_runs_max = 2\n";
    program.write("limits.toml", format!("{limits}memory_bytes_max = {}\n", 160 << 20));
    Server::start(program, &["--limits", "limits.toml"])
}

pub fn listed(program: &Program, server: &Server, id: &str) -> Value {
    let listed = server.good(program, &["list", "--limit", "1000", "--format", "json"]);
    let listed: Vec<Value> = serde_json::from_str(&listed).expect("it is JSON");
    listed.into_iter().find(|run| run["id"] == id).unwrap_or_else(|| panic!("{id} is lost"))
}

/// What happened to a run until it ended, event by event.
pub fn events(program: &Program, server: &Server, id: &str) -> Vec<Value> {
    let told = server.ask(program, &["watch", id, "--format", "json"]).stdout;
    told.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["event"] == kind).count()
}

/// Waits until a run has written a checkpoint.
fn until_checkpoint(program: &Program) {
    let began = Instant::now();
    while !program.path("data/checkpoints").read_dir().is_ok_and(|mut all| all.next().is_some()) {
        assert!(began.elapsed() < Duration::from_secs(60), "there is none");
        std::thread::yield_now();
    }
}

/// Waits for a worker of a server that is not one of these.
pub fn another_worker(server: &Server, known: &[u32]) -> u32 {
    let began = Instant::now();
    loop {
        if let Some(worker) = server.workers().into_iter().find(|worker| !known.contains(worker)) {
            return worker;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "there is none");
        std::thread::yield_now();
    }
}

#[test]
fn a_run_whose_worker_is_killed_goes_on_and_finds_the_same() {
    let program = Program::new();
    program.write("run.toml", long());
    let undisturbed: Value =
        serde_json::from_str(&program.good(&["run", "run.toml", "--quiet", "--format", "json"])).expect("it is JSON");
    let server = server(&program);
    server.good(&program, &["submit", "run.toml", "--id", "one"]);
    let mut killed = Vec::new();
    while killed.len() < 2 {
        let worker = another_worker(&server, &killed);
        until_checkpoint(&program);
        Server::kill_process(worker);
        killed.push(worker);
    }
    let events = events(&program, &server, "one");
    let run = listed(&program, &server, "one");
    assert_eq!(run["state"], "succeeded", "{run}");
    assert_eq!(run["result_digest"], undisturbed["result_digest"]);
    assert_eq!((count(&events, "attempt_failed"), &run["failed_attempts"]), (2, &Value::from(2)));
    let failed = events.iter().find(|event| event["event"] == "attempt_failed").expect("there are two");
    assert_eq!(failed["error"], "the process that simulated it was ended by signal 9");
    server.stop();
}

#[test]
fn a_run_that_loses_worker_after_worker_fails_and_others_do_not() {
    let program = Program::new();
    program.write("run.toml", endless());
    program.write("short.toml", SMALL);
    let server = server(&program);
    server.good(&program, &["submit", "run.toml", "--id", "doomed"]);
    let mut killed = Vec::new();
    while killed.len() < 3 {
        let worker = another_worker(&server, &killed);
        Server::kill_process(worker);
        killed.push(worker);
    }
    let events = events(&program, &server, "doomed");
    assert_eq!(count(&events, "attempt_failed"), 3);
    let end = events.last().expect("there are some");
    let why = "the process that simulated it was ended by signal 9; it was tried 3 times";
    assert_eq!((&end["state"], &end["error"]), (&Value::from("failed"), &Value::from(why)));
    server.good(&program, &["submit", "short.toml", "--wait", "--quiet"]);
    server.stop();
}

#[test]
fn a_run_that_takes_more_memory_than_it_may_fails_alone() {
    let program = Program::new();
    program.write("grows.toml", growing());
    program.write("run.toml", long());
    let server = server(&program);
    server.good(&program, &["submit", "grows.toml", "--id", "grows"]);
    server.good(&program, &["submit", "run.toml", "--id", "other"]);
    let events = events(&program, &server, "grows");
    let end = events.last().expect("there are some");
    assert_eq!(end["state"], "failed");
    let why = end["error"].as_str().expect("it says why");
    assert!(
        why.starts_with("the run took more than the 80 MiB of memory") && why.ends_with("; it was tried 3 times"),
        "{why}"
    );
    assert!(server.memory_bytes() < 200 << 20, "the server itself takes none of it");
    server.good(&program, &["watch", "other", "--states"]);
    assert_eq!(listed(&program, &server, "other")["state"], "succeeded");
    server.stop();
}

#[test]
fn workers_end_with_their_server() {
    let program = Program::new();
    program.write("run.toml", endless());
    let server = server(&program);
    server.good(&program, &["submit", "run.toml", "--id", "one"]);
    let worker = another_worker(&server, &[]);
    server.kill();
    let began = Instant::now();
    while Server::is_worker(worker) {
        assert!(began.elapsed() < Duration::from_secs(60), "it goes on");
        std::thread::yield_now();
    }
}

#[test]
fn a_server_does_not_wait_for_a_worker_that_does_not_answer() {
    let program = Program::new();
    program.write("run.toml", endless());
    program.write("limits.toml", "shutdown_s_max = 1\n");
    let server = Server::start(&program, &["--limits", "limits.toml"]);
    server.good(&program, &["submit", "run.toml", "--id", "one"]);
    let worker = another_worker(&server, &[]);
    assert!(Server::freeze_process(worker));
    server.stop_in_time();
    assert!(program.read(LOG).contains("stopping took too long"));
    Server::kill_process(worker);
}

#[test]
fn nobody_else_starts_workers() {
    let program = Program::new();
    let said = program.run(&["worker"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.starts_with("error: servers start workers, nobody else does"), "{}", said.stderr);
}

/// How nice a process is.
fn nice(process: &str) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("it has fields").split_whitespace().collect();
    // The nineteenth of all, of which two stand before and in the parenthesis.
    fields[16].parse().expect("a number")
}

#[test]
fn workers_give_way_to_their_server() {
    let program = Program::new();
    program.write("run.toml", endless());
    let server = server(&program);
    server.good(&program, &["submit", "run.toml", "--id", "one"]);
    let worker = another_worker(&server, &[]);
    until_checkpoint(&program);
    let (nice, own) = (nice(&worker.to_string()), nice("self"));
    assert!(nice >= (own + 10).min(19), "it gives way to the server: {nice}, started by one of {own}");
    let adjusted = std::fs::read_to_string(format!("/proc/{worker}/oom_score_adj")).expect("it runs");
    assert_eq!(adjusted.trim(), "800", "it goes before the server when the machine has no memory left");
    server.good(&program, &["cancel", "one"]);
    server.stop();
}

#[test]
fn jobs_of_a_scheduler_need_one() {
    let program = Program::new();
    let said = program.run(&["serve", "--slurm=--partition=batch"]);
    assert!(said.code == Some(2) && said.stderr.contains("say `--workers slurm` as well"), "{}", said.stderr);
    let said = program.run_with(&["serve", "--listen", "127.0.0.1:0", "--workers", "slurm"], &[("PATH", "/nowhere")]);
    assert!(said.code == Some(1) && said.stderr.contains("sbatch starts no jobs"), "{}", said.stderr);
    assert!(!program.path("tailback-data").exists(), "nothing is made for a server that does not start");
}
