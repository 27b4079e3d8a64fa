//! Runs that were ended before they were done go on, and find the same.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tailback_sim::STATE_FORMAT;

use crate::program::{Program, compare};
use crate::running::Running;

/// Seconds on a quick machine, so that there is time to end it.
const LONG: &str = "measure.cycles=300000";
const FOR_EVER: &str = "measure.cycles=2000000000";
const CHECKPOINT: &str = "out/checkpoint";

/// A run that writes checkpoints into `out`.
fn start(program: &Program, every: &str, set: &str) -> Running {
    Running::start(program, &["run", "small.toml", "--set", set, "--checkpoint-every", every, "--out", "out"])
}

fn bytes_of(program: &Program) -> Vec<u8> {
    fs::read(program.path(CHECKPOINT)).expect("it is there")
}

/// A program that was killed when it had written a checkpoint.
fn killed(set: &str) -> Program {
    let program = Program::new();
    let running = start(&program, "1 ms", set);
    while !program.path(CHECKPOINT).exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(running);
    program
}

fn result_digest(report: &str) -> String {
    let report: Value = serde_json::from_str(report).expect("a report is JSON");
    report["result_digest"].as_str().expect("a digest is a text").to_owned()
}

fn undisturbed(program: &Program) -> String {
    result_digest(&program.good(&["run", "small.toml", "--set", LONG, "--quiet", "--format", "json", "--threads", "0"]))
}

#[test]
fn a_run_that_was_killed_goes_on_and_finds_the_same_on_other_threads() {
    let program = killed(LONG);
    assert!(!program.path("out/report.json").exists());
    // As a process leaves them that is killed while it writes, this one and another.
    let leftovers = ["out/checkpoint.unfinished", "out/checkpoint.1.unfinished"].map(|name| program.path(name));
    leftovers.iter().for_each(|path| fs::write(path, "half of a st").expect("there is room"));
    let said = program.good(&["run", "--resume", "out", "--threads", "2", "--quiet", "--format", "json"]);
    assert_eq!(result_digest(&said), undisturbed(&program));
    assert_eq!(program.read("out/report.json"), said);
    assert!(!program.path(CHECKPOINT).exists(), "it is removed when the run is done");
    assert!(leftovers.iter().all(|path| !path.exists()), "nobody is going to finish them");
    let again = program.run(&["run", "--resume", "out"]);
    assert_eq!(again.code, Some(2), "there is nothing left to go on with: {}", again.stderr);
}

#[test]
fn a_run_that_was_interrupted_goes_on_from_there() {
    let program = Program::new();
    let mut running = start(&program, "1 h", LONG);
    running.wait_for("72 nodes");
    let (code, _, stderr) = running.interrupt();
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("`tailback run --resume out` goes on from cycle "), "{stderr}");
    let said = program.good(&["run", "--resume", "out", "--threads", "0", "--quiet", "--format", "json"]);
    assert_eq!(result_digest(&said), undisturbed(&program));
    let left = program.files();
    let is_left = |name: &str| name.contains("interrupted") || name.contains("checkpoint");
    assert!(!left.keys().any(|path| is_left(&path.display().to_string())), "{:?}", left.keys());
}

/// Nobody starts again by mistake what could go on.
#[test]
fn a_checkpoint_stays_until_its_run_is_done() {
    let program = killed(FOR_EVER);
    let before = bytes_of(&program);
    let arguments = ["run", "small.toml", "--out", "out"];
    let said = program.run(&arguments);
    assert_eq!(said.code, Some(2));
    compare("mistake-checkpoint-unfinished", &arguments, &said.stderr);
    assert_eq!(bytes_of(&program), before);
}

#[test]
fn checkpoints_that_cannot_be_used_are_refused_and_stay() {
    let program = killed(FOR_EVER);
    let whole = bytes_of(&program);
    let place = |byte: u8, bytes: &[u8]| bytes.iter().position(|&other| other == byte).expect("it is there");
    let rest = &whole[place(b'\n', &whole) + 1..];
    let (heading, state) = rest.split_at(place(b'\n', rest));
    let heading: Value = serde_json::from_slice(heading).expect("a heading is JSON");
    let with = |change: &dyn Fn(&mut Value)| {
        let mut heading = heading.clone();
        change(&mut heading);
        // Behind the state are the checksums of its blocks, and how long it is.
        let (rest, length) = state.split_last_chunk().expect("it has a length");
        let length = u64::from_le_bytes(*length) as usize;
        let sums = &state[1 + length..];
        assert_eq!(rest.len(), 1 + length + length.div_ceil(16 << 10) * 32);
        let heading = heading.to_string() + "\n";
        let digest = Sha256::new().chain_update(&heading).chain_update(sums).finalize();
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        [format!("state {digest}\n").as_bytes(), heading.as_bytes(), &state[1..]].concat()
    };
    let mut bent = whole.clone();
    bent[whole.len() / 2] ^= 1;
    let unfit = [
        ("damaged", bent),
        ("cut-off", whole[..whole.len() / 2].to_vec()),
        ("foreign", b"a file of somebody else\n".to_vec()),
        ("other-version", with(&|heading| heading["version"] = "0.0.1".into())),
        ("other-scenario", with(&|heading| heading["scenario_digest"] = "0".into())),
    ];
    let arguments = ["run", "--resume", "out", "--threads", "2"];
    for (name, bytes) in unfit {
        program.write(CHECKPOINT, &bytes);
        let said = program.run(&arguments);
        assert_eq!(said.code, Some(2), "{name}: {}", said.stderr);
        let folder = program.path("").canonicalize().expect("it is there");
        let stderr = said.stderr.replace(&folder.display().to_string(), "FOLDER");
        let [format, version] = [STATE_FORMAT.to_string(), env!("CARGO_PKG_VERSION").to_owned()];
        let stderr = stderr.replace(&format!("format {format}"), "format N").replace(&version, "VERSION");
        let stderr = stderr.replace(&format!("with {format}"), "with N");
        compare(&format!("mistake-checkpoint-{name}"), &arguments, &stderr);
        assert_eq!(bytes_of(&program), bytes, "{name}");
    }
    // And the whole one is read.
    program.write(CHECKPOINT, &whole);
    let mut running = Running::start(&program, &["run", "--resume", "out"]);
    running.wait_for("72 nodes");
    assert_eq!(running.interrupt().0, Some(130));
}

/// Wherever the program is started next, and whatever is in a file that the scenario names.
#[test]
fn files_that_scenarios_name_are_found_again_and_have_to_be_the_same() {
    let program = Program::new();
    let folder = program.path("jobs");
    fs::create_dir(&folder).expect("the folder can be written to");
    let schedule = "num_ranks 2\nrank 0 {\na: send 640b to 1 tag 3\n}\nrank 1 {\nb: recv 640b from 0 tag 3\n}\n";
    program.write("jobs/pair.goal", schedule);
    let text = "[clock]\nflit = \"64 B\"\ncycle = \"1 ns\"\n[[program]]\ngoal = \"pair.goal\"\nnodes = [3, 40]\n";
    program.write("jobs/pair.toml", format!("{}{text}", crate::program::SMALL));
    let arguments = ["run", "jobs/pair.toml", "--set", FOR_EVER, "--checkpoint-every", "1 h", "--out", "out"];
    let mut running = Running::start(&program, &arguments);
    running.wait_for("72 nodes");
    assert_eq!(running.interrupt().0, Some(130));
    let mut running = Running::start(&program, &["run", "--resume", "out"]);
    running.wait_for("72 nodes");
    assert_eq!(running.interrupt().0, Some(130));
    program.write("jobs/pair.goal", schedule.replace("640b", "641b"));
    let said = program.run(&["run", "--resume", "out"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("jobs/pair.toml names has changed"), "{}", said.stderr);
}

#[test]
fn checkpoints_need_a_directory_and_an_interval() {
    let program = Program::new();
    for (name, more) in
        [("nowhere", &["--checkpoint-every", "1 s"][..]), ("never", &["--checkpoint-every", "10", "--out", "out"])]
    {
        let arguments = [&["run", "small.toml"], more].concat();
        let said = program.run(&arguments);
        assert_eq!(said.code, Some(2));
        compare(&format!("mistake-checkpoint-{name}"), &arguments, &said.stderr);
    }
    assert!(!program.path("out").exists());
}
