//! Killing a server, its workers or both at any moment loses nothing: what it has accepted is carried out, and finds what it
//! would have found. `TAILBACK_KILLS=200` kills more often than `cargo test` does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::program::{Program, SMALL};
use crate::served::Server;

/// How often something is killed.
fn kills() -> u64 {
    std::env::var("TAILBACK_KILLS").map_or(50, |kills| kills.parse().expect("TAILBACK_KILLS is a number"))
}

/// What is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Victim {
    Server,
    Workers,
    Both,
}

impl Victim {
    fn of(kill: u64) -> Self {
        [Self::Server, Self::Workers, Self::Both, Self::Server][kill as usize % 4]
    }

    /// Kills it; tells how many workers were there.
    fn kill(self, server: &Server) -> usize {
        let mut workers = if self == Self::Server { Vec::new() } else { server.workers() };
        workers.retain(|&worker| Server::kill_process(worker));
        if self != Self::Workers {
            server.kill();
        }
        workers.len()
    }
}

/// Seeds of the runs: so that each has a result of its own.
const SEEDS: u64 = 3;

/// Numbers without any order, the same each time.
fn scattered(index: u64) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33
}

/// What a run of a seed is submitted with, or a sweep of all seeds.
fn submission(seed: Option<u64>) -> Vec<String> {
    let all = ["submit", "run.toml"].map(str::to_owned);
    let more = match seed {
        Some(seed) => ["--seed".to_owned(), seed.to_string()],
        None => ["--over", "seed=0,1,2"].map(str::to_owned),
    };
    all.into_iter().chain(more).collect()
}

/// The files that a run has left, as far as they are the same whenever it is carried out, and its digest.
#[derive(Debug, PartialEq)]
struct Left {
    files: BTreeMap<String, Vec<u8>>,
    reports: BTreeMap<String, Value>,
    digest: Value,
}

impl Left {
    /// What a server gives, which compares each file with its SHA-256.
    fn of(program: &Program, server: &Server, run: &Value) -> Self {
        let id = run["id"].as_str().expect("it has a name");
        let folder = format!("fetched/{id}");
        server.good(program, &["fetch", id, "--out", &folder, "--quiet"]);
        let (mut files, mut reports) = (BTreeMap::new(), BTreeMap::new());
        for entry in fs::read_dir(program.path(&folder)).expect("it was fetched") {
            let path = entry.expect("to its end").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("it is a name").to_owned();
            let bytes = fs::read(&path).expect("it can be read");
            match name.as_str() {
                // These tell how long it took, and on how many threads.
                "report.txt" | "sweep.csv" | "sweep.parquet" => drop(files.insert(name, Vec::new())),
                "report.json" | "sweep.json" => {
                    let report = without_time(serde_json::from_slice(&bytes).expect("it is JSON"));
                    reports.insert(name, report);
                }
                _ => drop(files.insert(name, bytes)),
            }
        }
        Self { files, reports, digest: run["result_digest"].clone() }
    }
}

fn without_time(mut report: Value) -> Value {
    report.as_object_mut().expect("it is a table").remove("performance");
    report
}

/// All runs of a server; those of sweeps stand behind them.
fn listed(program: &Program, server: &Server) -> Vec<Value> {
    let list = |more: &[&str]| -> Vec<Value> {
        let listed = server.good(program, &[&["list", "--limit", "1000", "--format", "json"], more].concat());
        serde_json::from_str(&listed).expect("it is JSON")
    };
    let mut runs = list(&[]);
    let sweeps: Vec<Value> = runs.iter().filter(|run| run["children"] != 0).cloned().collect();
    runs.extend(sweeps.iter().flat_map(|sweep| list(&["--sweep", sweep["id"].as_str().expect("it has a name")])));
    runs
}

/// What runs leave that nobody disturbs: one of each seed, and a sweep.
fn undisturbed(program: &Program) -> Vec<Left> {
    let server = Server::of(program.command(&["serve", "--listen", "127.0.0.1:0", "--data", "calm"]), program);
    let left = |seed: Option<u64>| {
        let id = format!("calm-{}", seed.map_or(SEEDS, |seed| seed));
        let asked = submission(seed);
        let asked: Vec<&str> = asked.iter().map(String::as_str).chain(["--id", &id, "--wait", "--quiet"]).collect();
        server.good(program, &asked);
        let run = listed(program, &server).into_iter().find(|run| run["id"] == id.as_str()).expect("it is there");
        Left::of(program, &server, &run)
    };
    let all = (0..SEEDS).map(Some).chain([None]).map(left).collect();
    server.stop();
    all
}

/// Each event of a run came once, and in its order. Gives the attempts that were lost with their worker.
fn events_are_right(program: &Program, server: &Server, run: &Value) -> usize {
    let id = run["id"].as_str().expect("it has a name");
    let told = server.good(program, &["watch", id, "--format", "json"]);
    let events: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let number = |event: &Value, key: &str| event[key].as_u64().unwrap_or_else(|| panic!("{id}: {key} of {event}"));
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    let rises = |kind: &str, key: &str| {
        let numbers: Vec<u64> = of(kind).iter().map(|event| number(event, key)).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{id}: {key} of {kind} is {numbers:?}");
    };
    let sequence: Vec<u64> = events.iter().map(|event| number(event, "sequence")).collect();
    assert!(sequence[0] == 1 && sequence.is_sorted_by(|one, next| one < next), "{id}: {sequence:?}");
    let states: Vec<&Value> = of("state").iter().map(|event| &event["state"]).collect();
    assert_eq!(states, ["pending", "running", "succeeded"], "{id}");
    assert_eq!(of("recovered").len() as u64, number(run, "restarts"), "{id}: {told}");
    rises("attempt_failed", "attempt");
    rises("sample", "cycle");
    rises("child", "children_ended");
    let children: BTreeSet<&str> = of("child").iter().filter_map(|event| event["run"].as_str()).collect();
    let counted = ["child", "attempt_failed"].map(|kind| of(kind).len() as u64);
    assert_eq!(counted, [number(run, "children"), number(run, "failed_attempts")], "{id}: {told}");
    assert_eq!(children.len(), of("child").len(), "{id}: {told}");
    let lost = |event: &&&Value| event["error"].as_str().is_some_and(|error| error.contains("signal 9"));
    of("attempt_failed").iter().filter(lost).count()
}

#[test]
fn killed_at_any_moment() {
    let program = Program::new();
    program.write("run.toml", SMALL.replace("cycles = 400", "cycles = 100000"));
    // As many attempts as there are workers to lose.
    program.write("limits.toml", "checkpoint_interval_ms = 20\nsample_interval_ms = 10\nattempts_max = 10000\n");
    let expected = undisturbed(&program);
    let (mut accepted, mut workers_killed) = (BTreeMap::new(), 0);
    for kill in 0..kills() {
        let server = Server::start(&program, &["--limits", "limits.toml"]);
        let id = format!("run-{kill}");
        let seed = (kill % 10 != 9).then_some(scattered(kill) % SEEDS);
        let victim = Victim::of(kill);
        let said = std::thread::scope(|scope| {
            let submitting = scope.spawn(|| {
                let threads = if kill % 4 == 0 { "2" } else { "0" };
                let asked = submission(seed);
                // The next server has another address.
                let how = ["--id", &id, "--threads", threads, "--quiet", "--retry-time", "0"];
                server.ask(&program, &asked.iter().map(String::as_str).chain(how).collect::<Vec<_>>())
            });
            // The moment itself is what matters here, whatever happens in it.
            std::thread::park_timeout(Duration::from_micros(scattered(kill + 1000) % 150_000));
            let said = if kill % 3 == 0 { None } else { Some(submitting.join().expect("it ends")) };
            workers_killed += victim.kill(&server);
            said
        });
        if victim == Victim::Workers {
            server.stop();
        }
        // Whether it was accepted is not known to one whose answer got lost: then it may be there or not.
        if said.is_some_and(|said| said.code == Some(0)) {
            accepted.insert(id, seed);
        }
    }
    assert!(accepted.len() > 20, "only {} were accepted", accepted.len());
    assert!(workers_killed > 0, "there was no worker whenever workers were to be killed");
    let server = Server::start(&program, &["--limits", "limits.toml"]);
    for id in accepted.keys() {
        server.good(&program, &["watch", id, "--states"]);
    }
    let runs = listed(&program, &server);
    for (id, seed) in &accepted {
        let run = runs.iter().find(|run| run["id"] == id.as_str()).unwrap_or_else(|| panic!("{id} is lost"));
        assert_eq!(run["state"], "succeeded", "{run}");
        let of = seed.unwrap_or(SEEDS) as usize;
        assert_eq!(Left::of(&program, &server, run), expected[of], "{id}");
    }
    // Also of those that may have been accepted, and of the runs of sweeps.
    let lost: usize = runs.iter().map(|run| events_are_right(&program, &server, run)).sum();
    assert!(runs.iter().any(|run| run["parent"] != ""), "runs of sweeps are listed");
    assert!(lost > 0, "no attempt was lost with its worker");
    let restarts: u64 = runs.iter().filter_map(|run| run["restarts"].as_u64()).sum();
    assert!(restarts > 10, "runs were taken up again only {restarts} times");
    eprintln!(
        "{} accepted, {workers_killed} workers killed, {lost} attempts lost, {restarts} restarts",
        accepted.len()
    );
    server.stop();
    program.good(&["fsck", "data"]);
}
