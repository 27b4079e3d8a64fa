//! Killing a server, its workers or both at any moment loses nothing: what it has accepted is carried out, and finds what it
//! would have found. `TAILBACK_KILLS=200` kills more often than `cargo test` does.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

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

    fn kill(self, server: &Server) {
        if self != Self::Server {
            server.workers().into_iter().for_each(Server::kill_process);
        }
        if self != Self::Workers {
            server.kill();
        }
    }
}

/// Seeds of the runs: so that each has a result of its own.
const SEEDS: u64 = 3;

/// Numbers without any order, the same each time.
fn scattered(index: u64) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33
}

/// The digest of what a run with a seed finds that nobody disturbs.
fn undisturbed(program: &Program, seed: u64) -> String {
    let report = program.good(&["run", "run.toml", "--quiet", "--format", "json", "--seed", &seed.to_string()]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("it is JSON");
    report["result_digest"].as_str().expect("it has a digest").to_owned()
}

#[test]
fn killed_at_any_moment() {
    let program = Program::new();
    program.write("run.toml", SMALL.replace("cycles = 400", "cycles = 100000"));
    // As many attempts as there are workers to lose.
    program.write("limits.toml", "checkpoint_interval_ms = 20\nsample_interval_ms = 10\nattempts_max = 10000\n");
    let expected: Vec<String> = (0..SEEDS).map(|seed| undisturbed(&program, seed)).collect();
    let mut accepted = BTreeMap::new();
    for kill in 0..kills() {
        let server = Server::start(&program, &["--limits", "limits.toml"]);
        let id = format!("run-{kill}");
        let (seed, victim) = (scattered(kill) % SEEDS, Victim::of(kill));
        let said = std::thread::scope(|scope| {
            let submitting = scope.spawn(|| {
                let threads = if kill % 4 == 0 { "2" } else { "0" };
                let seed = seed.to_string();
                let run = ["submit", "run.toml", "--id", &id, "--seed", &seed, "--threads", threads];
                let sweep = ["submit", "run.toml", "--id", &id, "--over", "seed=0,1,2", "--quiet"];
                let what = if kill % 10 == 9 { &sweep[..] } else { &run };
                // The next server has another address.
                server.ask(&program, &[what, &["--retry-time", "0"]].concat())
            });
            // The moment itself is what matters here, whatever happens in it.
            std::thread::park_timeout(Duration::from_micros(scattered(kill + 1000) % 150_000));
            let said = if kill % 3 == 0 { None } else { Some(submitting.join().expect("it ends")) };
            victim.kill(&server);
            said
        });
        if victim == Victim::Workers {
            server.stop();
        }
        // Whether it was accepted is not known to one whose answer got lost: then it may be there or not.
        if said.is_some_and(|said| said.code == Some(0)) {
            accepted.insert(id, (kill % 10 != 9).then_some(seed));
        }
    }
    assert!(accepted.len() > 20, "only {} were accepted", accepted.len());
    let server = Server::start(&program, &["--limits", "limits.toml"]);
    let mut sweeps = BTreeSet::new();
    for (id, seed) in &accepted {
        server.good(&program, &["watch", id, "--states"]);
        let listed = server.good(&program, &["list", "--limit", "1000", "--format", "json"]);
        let listed: Vec<serde_json::Value> = serde_json::from_str(&listed).expect("it is JSON");
        let run = listed.iter().find(|run| run["id"] == id.as_str()).unwrap_or_else(|| panic!("{id} is lost"));
        assert_eq!(run["state"], "succeeded", "{run}");
        let digest = run["result_digest"].as_str().expect("it has a digest").to_owned();
        match seed {
            Some(seed) => assert_eq!(digest, expected[*seed as usize], "{id}"),
            None => drop(sweeps.insert(digest)),
        }
    }
    assert_eq!(sweeps.len(), 1, "all sweeps find the same: {sweeps:?}");
    let listed = server.good(&program, &["list", "--limit", "1000", "--format", "json"]);
    let listed: Vec<serde_json::Value> = serde_json::from_str(&listed).expect("it is JSON");
    let restarts: u64 = listed.iter().filter_map(|run| run["restarts"].as_u64()).sum();
    assert!(restarts > 10, "runs were taken up again only {restarts} times");
    server.stop();
}
