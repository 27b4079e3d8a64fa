//! A server that is asked for whatever may take memory, by many at once: what it takes at most is bounded.

use std::future::Future;

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::attacks::{
    Attacker, check, fill, guess, list, read_results, submit, submit_giant, submit_large, take_nothing, upload, watch,
};
use crate::program::Program;
use crate::served::Server;

/// Bytes that attacks may take beyond what an idle server does, one kind after the other or all at once: 200 MB, which is 190 MiB.
const ATTACK_MAX: u64 = 200_000_000;
/// Bytes that a server may still occupy beyond an idle one when all is over and a large check has been made. Before the allocator was told to give back, it was 200 million.
const LEFT_MAX: u64 = 80_000_000;
/// Clients that do the same at once.
const AT_ONCE: usize = 24;
/// How often each does it where all kinds are done at once; those that the server does one after the other only once.
const ROUNDS: usize = 3;

/// A server that is attacked, by three people from an address each, and by a stranger.
struct Attacked {
    program: Program,
    server: Server,
    idle: u64,
    attackers: Vec<Attacker>,
    strangers: Vec<Attacker>,
}

impl Attacked {
    fn start() -> Self {
        let program = Program::new();
        let token = |name: &str| {
            let token = program.good(&["token", name, "--tokens", "tokens"]);
            program.write(&format!("{name}.token"), &token);
            program.make_private(&format!("{name}.token"), true);
            token
        };
        let tokens = ["alice", "bob", "carol"].map(token);
        program.write("limits.toml", "refusal_pause_ms_max = 1\nconcurrent_runs_max = 1\n");
        let server = Server::start(&program, &["--tokens", "tokens", "--limits", "limits.toml"]);
        let idle = server.peak_memory_bytes();
        submit(&program, &server);
        let attackers = (2..).zip(&tokens).map(|(peer, token)| Attacker::with(&server, token, peer)).collect();
        let strangers = vec![Attacker::with(&server, "wrong", 9)];
        Self { program, server, idle, attackers, strangers }
    }

    /// Compares the most that the server has occupied so far with what it may.
    fn measured(&self, what: &str) {
        let (idle, peak) = (self.idle, self.server.peak_memory_bytes());
        println!("{what}: idle {} MiB, at most {} MiB so far", idle >> 20, peak >> 20);
        assert!(peak < idle + ATTACK_MAX, "{what}: from {idle} to {peak} bytes");
    }

    /// Has it serve after all, and ends it.
    fn end(self) {
        let token = ["--token-file", "alice.token"];
        self.server.good(&self.program, &[&["cancel", "endless"][..], &token].concat());
        self.server.stop();
    }
}

/// Has many do the same at once, `rounds` times each.
fn begin<F>(all: &mut JoinSet<()>, attackers: &[Attacker], rounds: usize, attack: fn(Attacker, usize) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    for number in 0..AT_ONCE {
        let attacker = attackers[number % attackers.len()].clone();
        all.spawn(async move {
            for _ in 0..rounds {
                attack(attacker.clone(), number).await;
            }
        });
    }
}

/// Waits for all of them.
async fn ended(mut all: JoinSet<()>) {
    while let Some(done) = all.join_next().await {
        done.expect("none of them panics");
    }
}

async fn alone<F>(attackers: &[Attacker], attack: fn(Attacker, usize) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut all = JoinSet::new();
    begin(&mut all, attackers, 1, attack);
    ended(all).await;
}

#[test]
fn what_many_attacks_at_once_take_is_bounded() {
    let attacked = Attacked::start();
    let Attacked { attackers, strangers, .. } = &attacked;
    Runtime::new().expect("threads can be started").block_on(async {
        fill(&attackers[0]).await;
        attacked.measured("many and large runs");
        alone(attackers, list).await;
        attacked.measured("lists");
        alone(attackers, submit_giant).await;
        attacked.measured("giants");
        alone(attackers, upload).await;
        attacked.measured("uploads");
        alone(attackers, watch).await;
        attacked.measured("watches");
        alone(attackers, read_results).await;
        attacked.measured("results");
        alone(strangers, guess).await;
        attacked.measured("wrong tokens");
    });
    attacked.end();
}

#[test]
fn what_all_attacks_together_take_is_bounded() {
    let attacked = Attacked::start();
    let Attacked { attackers, strangers, .. } = &attacked;
    Runtime::new().expect("threads can be started").block_on(async {
        fill(&attackers[0]).await;
        attacked.measured("many and large runs");
        let mut all = JoinSet::new();
        let mut untaken = Vec::new();
        for attacker in attackers {
            untaken.push(take_nothing(attacker).await);
        }
        attacked.measured("answers that nobody takes");
        begin(&mut all, attackers, 1, submit_large);
        begin(&mut all, attackers, 1, check);
        begin(&mut all, attackers, ROUNDS, read_results);
        begin(&mut all, attackers, ROUNDS, list);
        begin(&mut all, attackers, ROUNDS, submit_giant);
        begin(&mut all, attackers, ROUNDS, upload);
        begin(&mut all, attackers, ROUNDS, watch);
        begin(&mut all, strangers, ROUNDS, guess);
        ended(all).await;
        attacked.measured("all together");
        drop(untaken);
        check(attackers[0].clone(), 0).await;
        let left = attacked.server.memory_bytes();
        println!("when all is over: {} MiB", left >> 20);
        assert!(left < attacked.idle + LEFT_MAX, "from {} to {left} bytes", attacked.idle);
    });
    attacked.end();
}
