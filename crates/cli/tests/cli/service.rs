//! Serving, and the commands that talk to a server.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::program::{Program, SMALL, compare};
use crate::served::{LOG, Server};

/// What is said without what differs from time to time: times of day, digests, ports.
fn masked(said: &str) -> String {
    let word = |word: &str| {
        let is_time = word.len() == 8 && word.bytes().filter(|&byte| byte == b':').count() == 2;
        let is_port = word.starts_with("http://127.0.0.1:");
        match word {
            _ if is_time => "HH:MM:SS".to_owned(),
            _ if is_port => "http://127.0.0.1:PORT".to_owned(),
            word => word.to_owned(),
        }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    said.lines().map(|text| format!("{}\n", line(text))).collect()
}

/// Asks a server, and compares the answer with a golden file.
fn answers(server: &Server, program: &Program, name: &str, arguments: &[&str]) {
    let said = server.good(program, arguments);
    compare(&format!("service-{name}"), arguments, &masked(&said));
}

/// The server refuses with the words of a golden file.
fn refuses(server: &Server, program: &Program, name: &str, code: i32, arguments: &[&str]) {
    let said = server.ask(program, arguments);
    assert_eq!((said.code, said.stdout.as_str()), (Some(code), ""), "{arguments:?} says\n{}", said.stderr);
    compare(&format!("service-mistake-{name}"), arguments, &masked(&said.stderr));
}

#[test]
fn a_run_from_submitting_to_fetching() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    answers(&server, &program, "submit-wait", &["submit", "small.toml", "--id", "first", "--wait", "--quiet"]);
    let submit = ["submit", "small.toml", "--id", "second", "--label", "kind=test", "--set", "traffic.load=0.2"];
    let submit = [&submit[..], &["--priority", "-2"]].concat();
    answers(&server, &program, "submit", &submit);
    answers(&server, &program, "watch", &["watch", "second", "--states"]);
    let submit =
        ["submit", "small.toml", "--id", "curve", "--over", "traffic.load=0.1,0.2", "--no-stop", "--wait", "--quiet"];
    answers(&server, &program, "submit-sweep", &submit);
    answers(&server, &program, "list", &["list"]);
    answers(&server, &program, "list-label", &["list", "--label", "kind=test"]);
    answers(&server, &program, "list-sweep", &["list", "--sweep", "curve"]);
    answers(&server, &program, "fetch", &["fetch", "first"]);
    // What was fetched is what running it here gives.
    program.good(&["run", "small.toml", "--quiet", "--out", "here"]);
    let report = |folder: &str| -> serde_json::Value {
        serde_json::from_str(&program.read(&format!("{folder}/report.json"))).expect("it is JSON")
    };
    assert_eq!(report("results/first")["result_digest"], report("here")["result_digest"]);
    assert_eq!(program.read("results/first/scenario.toml"), program.read("here/scenario.toml"));
    // And a sweep can be drawn.
    server.good(&program, &["fetch", "curve", "--quiet"]);
    program.good(&["plot", "results/curve"]);
    answers(&server, &program, "cancel", &["cancel", "first", "second"]);
    refuses(&server, &program, "retry", 2, &["retry", "first"]);
    answers(&server, &program, "delete", &["cancel", "--delete", "first", "curve"]);
    let listed: serde_json::Value =
        serde_json::from_str(&server.good(&program, &["list", "--format", "json"])).expect("it is JSON");
    assert_eq!(listed[0]["id"], "second");
    assert_eq!((listed.as_array().map(Vec::len), &listed[0]["state"]), (Some(1), &"succeeded".into()));
    server.stop();
}

/// A sweep is printed as by `sweep`.
#[test]
fn variants_of_a_sweep_are_printed() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    let variant =
        |name: &str, routing: &str| format!("[[sweep.variant]]\nname = \"{name}\"\nset.routing = \"{routing}\"\n");
    let sweep = "[sweep.over]\ntraffic.load = [0.05, 0.1]\n";
    let variants = variant("MIN", "minimal") + &variant("VAL", "valiant");
    program.write("variants.toml", format!("{SMALL}{sweep}{variants}"));
    let said = server.good(&program, &["submit", "variants.toml", "--sweep", "--no-stop", "--wait", "--quiet"]);
    assert_eq!(said, program.good(&["sweep", "variants.toml", "--no-stop", "--quiet"]));
    assert!(said.starts_with("variant"), "{said}");
    server.stop();
}

/// All tables that there are.
#[test]
fn what_is_fetched_is_what_a_run_writes() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    let ending = "load = 0.3\n[[traffic]]\nname = \"burst\"\nload = 0.5\ncount = 20\n";
    let tables = "messages = true\nseries = 50\ntrees = { every = 50 }\nlinks = { every = 50 }\n";
    program.write("all.toml", format!("{}{tables}", SMALL.replace("load = 0.3\n", ending)));
    server.good(&program, &["submit", "all.toml", "--id", "all", "--wait", "--quiet"]);
    server.good(&program, &["fetch", "all", "--quiet", "--out", "fetched"]);
    program.good(&["run", "all.toml", "--quiet", "--out", "here"]);
    let names = |folder: &str| -> Vec<String> {
        let files = std::fs::read_dir(program.path(folder)).expect("it is there");
        let name = |file: std::io::Result<std::fs::DirEntry>| file.expect("to its end").file_name().into_string();
        let mut names: Vec<String> = files.map(|file| name(file).expect("it is a name")).collect();
        names.sort();
        names
    };
    let written = names("here");
    // Five tables, each as CSV and as Parquet; the report for people is what `run` prints.
    assert_eq!(written.len(), 2 + 2 * 5, "{written:?}");
    let fetched: Vec<String> = names("fetched").into_iter().filter(|name| name != "report.txt").collect();
    assert_eq!(fetched, written);
    let read = |folder: &str, name: &str| std::fs::read(program.path(folder).join(name)).expect("it is there");
    for name in written.iter().filter(|name| *name != "report.json") {
        assert!(read("fetched", name) == read("here", name), "{name} is another one");
    }
    program.good(&["plot", "fetched", "--kind", "cdf"]);
    // Of a sweep, too, but for what it keeps of its runs.
    let over = ["--over", "traffic.burst.load=0.1,0.2", "--seeds", "2", "--no-stop", "--quiet"];
    server.good(&program, &[&["submit", "all.toml", "--id", "curve", "--wait"], &over[..]].concat());
    server.good(&program, &["fetch", "curve", "--quiet"]);
    program.good(&[&["sweep", "all.toml", "--out", "swept"], &over[..]].concat());
    let written: Vec<String> = names("swept").into_iter().filter(|name| name != "runs").collect();
    assert_eq!(names("results/curve"), written);
    assert_eq!(written.len(), 2 + 2 * 3, "{written:?}");
    for name in &written {
        assert!(read("results/curve", name) == read("swept", name), "{name} is another one");
    }
    for kind in ["cdf", "histogram", "series"] {
        program.good(&["plot", "results/curve", "--kind", kind, "--only", "flow=burst"]);
    }
    assert!(program.read("results/curve/accepted-over-time.svg").contains("class=\"band\""));
    server.stop();
}

/// A scenario with a schedule and a list of messages beside it.
#[test]
fn files_that_a_scenario_names_are_uploaded() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    std::fs::create_dir(program.path("jobs")).expect("the folder can be written to");
    let schedule = "num_ranks 2\nrank 0 {\na: send 640b to 1 tag 3\n}\nrank 1 {\nb: recv 640b from 0 tag 3\n}\n";
    program.write("jobs/pair.goal", schedule);
    program.write("jobs/list.csv", "time,source,destination,flits\n0,0,1,8\n");
    program.write("jobs/other.csv", "time,source,destination,flits\n0,1,0,8\n");
    let text = "[clock]\nflit = \"64 B\"\ncycle = \"1 ns\"\n[[program]]\nname = \"pair\"\ngoal = \"pair.goal\"\n\
                nodes = [3, 40]\n[[program]]\nname = \"list\"\nmessages = \"list.csv\"\nnodes = [5, 50]\n";
    program.write("jobs/both.toml", format!("{SMALL}{text}"));
    let said = server.ask(&program, &["submit", "jobs/both.toml", "--id", "first", "--wait"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("uploading list.csv (38 bytes)"), "{}", said.stderr);
    program.good(&["run", "jobs/both.toml", "--quiet", "--out", "here"]);
    server.good(&program, &["fetch", "first", "--quiet"]);
    let digest = |folder: &str| -> serde_json::Value {
        let text = program.read(&format!("{folder}/report.json"));
        serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON")["result_digest"].clone()
    };
    assert_eq!(digest("results/first"), digest("here"));
    assert_eq!(program.read("results/first/scenario.toml"), program.read("here/scenario.toml"));
    // What runs of a sweep name is there, too, and nothing is sent twice.
    let over = ["--over", "program.list.messages=list.csv,other.csv", "--wait"];
    let said = server.ask(&program, &[&["submit", "jobs/both.toml", "--id", "curve"], &over[..]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let uploaded: Vec<&str> = said.stderr.lines().filter(|line| line.starts_with("uploading")).collect();
    assert_eq!(uploaded, ["uploading other.csv (38 bytes)"]);
    // What is damaged there is sent once more, and nothing else.
    let damaged = std::fs::read_dir(program.path("data/files"))
        .expect("it is there")
        .map(|file| file.expect("to its end").path());
    let damaged = damaged.filter(|path| std::fs::read_to_string(path).is_ok_and(|text| text.starts_with("num_ranks")));
    damaged.for_each(|path| std::fs::write(path, "damaged").expect("it can be written"));
    let said = server.ask(&program, &["submit", "jobs/both.toml", "--id", "mended", "--wait"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let uploaded: Vec<&str> = said.stderr.lines().filter(|line| line.starts_with("uploading")).collect();
    assert_eq!(uploaded, [format!("uploading pair.goal ({} bytes)", schedule.len())]);
    answers(&server, &program, "files", &["files"]);
    let listed: serde_json::Value =
        serde_json::from_str(&server.good(&program, &["files", "--format", "json"])).expect("it is JSON");
    let sha256 = listed[0]["sha256"].as_str().expect("it is a text").to_owned();
    assert_eq!(server.good(&program, &["files", "--delete", &sha256]), format!("{sha256} deleted\n"));
    refuses(&server, &program, "no-file", 2, &["files", "--delete", &sha256]);
    server.stop();
}

#[test]
fn what_was_cancelled_is_retried() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    server.good(&program, &["submit", "small.toml", "--id", "long", "--set", "measure.cycles=500000000"]);
    server.good(&program, &["cancel", "long"]);
    while !server.good(&program, &["list"]).contains("cancelled") {}
    answers(&server, &program, "retry", &["retry", "long"]);
    server.good(&program, &["cancel", "--delete", "long"]);
    server.stop();
}

#[test]
fn an_address_need_not_say_how_it_is_talked_to() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    let address = server.url.strip_prefix("http://").expect("it is not encrypted");
    program.good(&["list", "--server", address]);
    let said = program.run(&["list", "--server", address, "--ca", "small.toml"]);
    assert!(said.stderr.contains("certificates are no good") || said.stderr.contains("https://"), "{}", said.stderr);
    server.stop();
}

#[test]
fn mistakes_of_clients() {
    let program = Program::new();
    program.write("limits.toml", "threads_max = 2\n");
    let server = Server::start(&program, &["--limits", "limits.toml"]);
    refuses(&server, &program, "unknown-run", 2, &["watch", "nobody"]);
    refuses(&server, &program, "bad-name", 2, &["submit", "small.toml", "--id", "../x"]);
    refuses(&server, &program, "bad-scenario", 2, &["submit", "small.toml", "--set", "traffic.laod=1"]);
    refuses(&server, &program, "bad-label", 2, &["list", "--label", "nonsense"]);
    refuses(&server, &program, "bad-point", 2, &["submit", "small.toml", "--over", "traffic.load=0.8..1.2/0.2"]);
    refuses(&server, &program, "threads", 1, &["submit", "small.toml", "--threads", "1000"]);
    server.good(&program, &["submit", "small.toml", "--id", "taken"]);
    refuses(&server, &program, "taken", 2, &["submit", "small.toml", "--id", "taken"]);
    server.stop();
}

#[test]
fn mistakes_of_those_who_serve() {
    let program = Program::new();
    program.write("limits.toml", "queue_maxx = 3\n");
    program.write("tokens", "alice boss 00\n");
    program.make_private("tokens", true);
    program.write("readable", "");
    program.make_private("readable", false);
    for (name, arguments) in [
        ("open", &["--listen", "0.0.0.0:0"][..]),
        ("admin", &["--listen", "127.0.0.1:0", "--admin", "0.0.0.0:0"]),
        ("readable", &["--listen", "127.0.0.1:0", "--tokens", "readable"]),
        ("limits", &["--listen", "127.0.0.1:0", "--limits", "limits.toml"]),
        ("tokens", &["--listen", "127.0.0.1:0", "--tokens", "tokens"]),
    ] {
        let arguments = [&["serve"], arguments].concat();
        let said = program.run(&arguments);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.stderr);
        compare(&format!("service-mistake-serve-{name}"), &arguments, &said.stderr);
    }
}

/// What the log of a server, which is JSON, says about who did what.
fn audit(program: &Program) -> Vec<serde_json::Value> {
    let log = program.read(LOG);
    let lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("it is JSON"));
    lines.filter(|line| line["target"] == "audit").map(|line| line["fields"].clone()).collect()
}

/// Who has done what from where is in the log, one line each; and who was not let in, without what was shown.
#[test]
fn the_log_says_who_did_what() {
    let program = Program::new();
    let token = program.good(&["token", "alice", "--tokens", "tokens", "--role", "admin"]);
    program.write("alice.token", &token);
    program.write("stranger.token", "tb_1234");
    let server = Server::start(&program, &["--tokens", "tokens", "--log", "json"]);
    let as_alice = |arguments: &[&str]| server.good(&program, &[arguments, &["--token-file", "alice.token"]].concat());
    as_alice(&["submit", "small.toml", "--id", "one", "--wait"]);
    as_alice(&["cancel", "one"]);
    as_alice(&["cancel", "--delete", "one"]);
    assert_eq!(server.ask(&program, &["cancel", "one", "--token-file", "stranger.token"]).code, Some(1));
    server.stop();
    let (log, audit) = (program.read(LOG), audit(&program));
    let done: Vec<&str> = audit.iter().filter_map(|fields| fields["action"].as_str()).collect();
    assert_eq!(done, ["submit", "cancel", "cancel", "delete"]);
    for fields in &audit[..4] {
        assert_eq!(
            (&fields["run"], &fields["name"], &fields["role"]),
            (&"one".into(), &"alice".into(), &"admin".into())
        );
        assert!(fields["from"].as_str().is_some_and(|from| from.starts_with("127.0.0.1:")), "{fields}");
    }
    assert_eq!(audit[4]["why"], "what was shown is not known");
    assert!(audit[4]["peer"].as_str().is_some_and(|from| from.starts_with("127.0.0.1:")), "{}", audit[4]);
    assert!(!log.contains("tb_1234") && !log.contains(token.trim()), "tokens are not logged");
}

#[test]
fn the_log_says_what_is_not_kept_any_longer() {
    let program = Program::new();
    program.write("limits.toml", "ended_artifact_bytes_max = 1\nretention_interval_s = 1\n");
    let server = Server::start(&program, &["--limits", "limits.toml", "--log", "json"]);
    server.good(&program, &["submit", "small.toml", "--id", "one"]);
    while server.good(&program, &["list", "--format", "json"]).trim() != "[]" {}
    server.stop();
    let audit = audit(&program);
    let last = audit.last().expect("there are some");
    assert_eq!((&last["action"], &last["run"], &last["name"]), (&"delete".into(), &"one".into(), &"retention".into()));
    assert_eq!(last["why"], "ended_artifact_bytes_max");
}

/// However many connections strangers open: there are descriptors left for runs.
#[cfg(target_os = "linux")]
#[test]
fn strangers_leave_descriptors_to_runs() {
    let program = Program::new();
    let mut command = Command::new("sh");
    let script = "ulimit -n 100 && exec \"$0\" serve --listen 127.0.0.1:0 --data data";
    command.args(["-c", script, env!("CARGO_BIN_EXE_tailback")]);
    let server = Server::of(command, &program);
    let address = server.url.trim_start_matches("http://").to_owned();
    let connect = |_| std::net::TcpStream::connect(&address).expect("the system accepts");
    assert!(program.read(LOG).contains("raise the limit of open files"));
    let sweep = ["--over", "traffic.load=0.05..0.5/0.05", "--no-stop"];
    server.good(&program, &[&["submit", "small.toml", "--id", "before"], &sweep[..]].concat());
    let strangers: Vec<_> = (0..200).map(connect).collect();
    drop(strangers);
    // Their places are free again as soon as the server has seen that they are gone.
    while server.ask(&program, &["watch", "before"]).code != Some(0) {}
    server.good(&program, &[&["submit", "small.toml", "--id", "after", "--wait"], &sweep[..]].concat());
    let failed = server.good(&program, &["list", "--state", "failed", "--format", "json"]);
    assert_eq!(failed.trim(), "[]");
    server.stop();
}

/// As in a container whose root cannot be written to: there is no place for temporary files.
#[test]
fn large_sweeps_need_no_folder_but_their_own() {
    let program = Program::new();
    std::fs::create_dir(program.path("data")).expect("a folder can be made");
    let own_mounts = ["--user", "--map-root-user", "--mount", "sh", "-c"];
    let read_only = "mount --bind data data && mount -o remount,bind,ro /";
    let probe = Command::new("unshare").args(own_mounts).arg(read_only).current_dir(program.path("")).status();
    if !probe.is_ok_and(|status| status.success()) {
        return tailback_tests::skip("own-mounts", "a sweep beside a root that cannot be written to");
    }
    let script = format!("{read_only} && exec \"$0\" serve --listen 127.0.0.1:0 --data data");
    let mut command = Command::new("unshare");
    command.args(own_mounts).args([&script, env!("CARGO_BIN_EXE_tailback")]);
    let server = Server::of(command, &program);
    let over = ["--over", "traffic.load=0.01..0.6/0.01", "--no-stop"];
    server.good(&program, &[&["submit", "small.toml", "--id", "large", "--wait"], &over[..]].concat());
    server.stop();
}

/// Where the system lets us have a small disk of our own.
#[test]
fn runs_wait_for_room_on_a_full_disk_and_the_rest_stays_readable() {
    let program = Program::new();
    let text = SMALL.replace("cycles = 400", "cycles = 300000\nseries = 1");
    program.write("large.toml", &text);
    std::fs::create_dir(program.path("data")).expect("a folder can be made");
    let own_disk = ["--user", "--map-root-user", "--mount", "sh", "-c"];
    let probe = Command::new("unshare").args(own_disk).arg("mount -t tmpfs tmpfs /mnt").status();
    if !probe.is_ok_and(|status| status.success()) {
        return tailback_tests::skip("own-mounts", "runs on a full disk");
    }
    let script = "mount -t tmpfs -o size=80m tmpfs data && head -c 64M /dev/zero >data/filler \
                  && exec \"$0\" serve --listen 127.0.0.1:0 --data data";
    let mut command = Command::new("unshare");
    command.args(own_disk).args([script, env!("CARGO_BIN_EXE_tailback")]);
    let server = Server::of(command, &program);
    server.good(&program, &["submit", "small.toml", "--id", "small", "--wait"]);
    server.good(&program, &["submit", "large.toml", "--id", "large"]);
    let began = Instant::now();
    while !program.read(LOG).contains("what was found cannot be written: it is tried again error=the disk is full") {
        assert!(began.elapsed() < Duration::from_secs(120), "{}", program.read(LOG));
        std::thread::yield_now();
    }
    server.good(&program, &["fetch", "small"]);
    let listed = server.good(&program, &["list"]);
    assert!(listed.contains("running") && listed.contains("succeeded"), "{listed}");
    server.remove_file(&program.path("data/filler"));
    server.good(&program, &["watch", "large", "--states"]);
    let listed = server.good(&program, &["list"]);
    assert!(!listed.contains("running") && !listed.contains("failed"), "{listed}");
    server.stop();
}
