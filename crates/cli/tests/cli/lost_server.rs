//! Commands that talk to a server outlive it: they go on with the next one where they were.

use std::io::Write as _;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Program, SMALL};
use crate::relay::Relay;
use crate::running::Running;
use crate::served::Server;

/// How often a server is killed while something waits for a run.
const KILLS: usize = 2;
const LOST: &str = "is lost (";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A program with a scenario that takes some seconds, and a server whose runs are checkpointed often.
fn long() -> (Program, Server) {
    let program = Program::new();
    program.write("long.toml", SMALL.replace("cycles = 400", "cycles = 400000"));
    program.write("limits.toml", "checkpoint_interval_ms = 20\nsample_interval_ms = 10\nartifact_bytes_max = 40000\n");
    let server = start(&program);
    (program, server)
}

fn start(program: &Program) -> Server {
    Server::start(program, &["--limits", "limits.toml"])
}

/// Kills a server, and leads to another one of the same folder.
fn replace(server: Server, program: &Program, relay: &Relay) -> Server {
    drop(server);
    let server = start(program);
    relay.lead_to(&server);
    server
}

#[test]
fn watching_goes_on_after_the_server_was_killed() {
    let (program, mut server) = long();
    let relay = Relay::to(&server);
    server.good(&program, &["submit", "long.toml", "--id", "long"]);
    let mut watching = Running::start(&program, &["watch", "long", "--format", "json", "--server", &relay.url]);
    let (mut events, mut kills, mut recovered) = (Vec::new(), 0, 0);
    while let Some(line) = watching.next_line() {
        let event = json(&line);
        recovered += usize::from(event["event"] == "recovered");
        // Samples that were told before the last kill may still be on their way.
        let is_followed_again = event["event"] == "sample" && recovered == kills;
        events.push(event);
        if kills < KILLS && is_followed_again {
            server = replace(server, &program, &relay);
            kills += 1;
        }
    }
    let (code, _, stderr) = watching.end();
    assert_eq!((code, stderr.matches(LOST).count()), (Some(0), KILLS), "each loss is said once:\n{stderr}");
    let numbers: Vec<i64> = events.iter().filter_map(|event| event["sequence"].as_i64()).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "none twice: {numbers:?}");
    // Who watches afterwards sees the same changes of state, under the same numbers.
    let kept = server.good(&program, &["watch", "long", "--format", "json", "--states"]);
    let kept: Vec<Value> = kept.lines().map(json).collect();
    let seen: Vec<Value> = events.into_iter().filter(|event| event["event"] != "sample").collect();
    assert_eq!(seen, kept, "none is lost");
    assert!(kept.iter().any(|event| event["event"] == "recovered"), "{kept:?}");
    server.stop();
}

#[test]
fn submitting_and_waiting_goes_on_and_ends_as_it_would_have() {
    let (program, server) = long();
    let relay = Relay::to(&server);
    let submit = ["submit", "long.toml", "--id", "long", "--wait", "--format", "json", "--server", &relay.url];
    let mut waiting = Running::start(&program, &submit);
    waiting.wait_for(" cycles/s");
    let server = replace(server, &program, &relay);
    let (code, stdout, stderr) = waiting.end();
    assert_eq!((code, stderr.matches(LOST).count()), (Some(0), 1), "{stderr}");
    let undisturbed = program.good(&["run", "long.toml", "--quiet", "--format", "json"]);
    assert_eq!(json(&stdout)["result_digest"], json(&undisturbed)["result_digest"]);
    let listed = json(&server.good(&program, &["list", "--format", "json"]));
    assert_eq!((listed.as_array().map(Vec::len), &listed[0]["restarts"]), (Some(1), &1.into()));
    server.stop();
}

#[test]
fn a_run_whose_acceptance_was_not_heard_of_is_not_accepted_twice() {
    let (program, server) = long();
    let relay = Relay::to(&server);
    relay.withhold_answers(true);
    let submitting = Running::start(&program, &["submit", "small.toml", "--server", &relay.url]);
    let runs = || json(&server.good(&program, &["list", "--format", "json"]));
    while runs() == json("[]") {}
    relay.withhold_answers(false);
    relay.cut();
    let (code, stdout, stderr) = submitting.end();
    assert_eq!((code, stderr.matches(LOST).count()), (Some(0), 1), "{stderr}");
    let runs = runs();
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
    assert_eq!(runs[0]["id"], stdout.trim());
    server.stop();
}

#[test]
fn a_run_whose_deletion_was_not_heard_of_is_deleted() {
    let (program, server) = long();
    let runs = || json(&server.good(&program, &["list", "--format", "json"]));
    for id in ["one", "two"] {
        server.good(&program, &["submit", "small.toml", "--id", id, "--wait"]);
    }
    let relay = Relay::to(&server);
    let delete = |id: &str| Running::start(&program, &["cancel", "--delete", id, "--server", &relay.url]);
    let (code, _, stderr) = delete("one").end();
    assert_eq!(code, Some(0), "{stderr}");
    // The last of its calls is the one that deletes.
    relay.withhold_answers_from_call(2 * relay.calls());
    let deleting = delete("two");
    while runs() != json("[]") {}
    relay.withhold_answers(false);
    relay.cut();
    let (code, stdout, stderr) = deleting.end();
    assert_eq!((code, stdout.as_str(), stderr.matches(LOST).count()), (Some(0), "two deleted\n", 1), "{stderr}");
    server.stop();
}

#[test]
fn without_time_to_retry_a_lost_server_is_the_end() {
    let (program, server) = long();
    let relay = Relay::to(&server);
    server.good(&program, &["submit", "long.toml", "--id", "long"]);
    let watch = ["watch", "long", "--retry-time", "0", "--server", &relay.url];
    let mut watching = Running::start(&program, &watch);
    while !watching.next_line().expect("it goes on").contains("cycles/s") {}
    drop(server);
    let (code, _, stderr) = watching.end();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.starts_with(&format!("error: {} is lost: ", relay.url)), "{stderr}");
}

/// As the server of the page does, and others that speak another protocol.
#[test]
fn who_answers_in_another_way_is_no_server() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    std::thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            // Who has gone already is not told.
            let _ = client.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        }
    });
    let (started, program) = (Instant::now(), Program::new());
    let said = program.run(&["list", "--server", &url]);
    assert!(said.code == Some(1) && started.elapsed() < Duration::from_secs(60), "{}", said.stderr);
    let told = format!("error: {url} does not answer as a tailback server: is it the port of `--listen`?");
    assert!(said.stderr.contains(&told), "{}", said.stderr);
}

#[test]
fn a_sweep_that_is_not_there_has_no_list() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    let said = server.ask(&program, &["list", "--sweep", "nope"]);
    assert!(said.code == Some(2) && said.stderr.contains("there is no run called `nope`"), "{}", said.stderr);
    server.stop();
}

#[test]
fn how_a_run_ended_is_an_exit_code() {
    let (program, server) = long();
    // Its results are larger than they may be.
    let large = ["submit", "small.toml", "--id", "large", "--set", "measure.series=1", "--wait"];
    let said = server.ask(&program, &large);
    assert_eq!((said.code, said.stdout.as_str()), (Some(3), ""), "{}", said.stderr);
    assert!(said.stderr.contains("error: large failed: the artifacts have"), "{}", said.stderr);
    let said = server.ask(&program, &["watch", "large"]);
    assert!(said.code == Some(3) && said.stderr.starts_with("error: large failed: "), "{}", said.stderr);
    let endless = ["submit", "small.toml", "--id", "endless", "--set", "measure.cycles=500000000", "--wait"];
    let mut waiting = Running::start(&program, &[&endless[..], &["--server", &server.url]].concat());
    waiting.wait_for("running");
    server.good(&program, &["cancel", "endless"]);
    let (code, stdout, stderr) = waiting.end();
    assert_eq!((code, stdout.as_str()), (Some(4), ""), "{stderr}");
    let said = server.ask(&program, &["watch", "endless", "--states"]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(4), "error: endless was cancelled\n"));
    let good = ["submit", "small.toml", "--id", "good", "--set", "measure.series=100"];
    server.good(&program, &good);
    assert_eq!(server.ask(&program, &["watch", "good"]).code, Some(0));
    server.stop();
}
