//! Ctrl-C ends cleanly and keeps what is finished.
//!
//! These runs would take hours. They are interrupted as soon as they have said something, which is after they have
//! begun to listen.

use crate::program::Program;
use crate::running::Running;

const FOR_EVER: &str = "measure.cycles=2000000000";
/// The same before anything is measured.
const WARM_UP_FOR_EVER: &str = "measure.warmup=2000000000";

#[test]
fn a_run_that_is_interrupted_before_it_measures_leaves_nothing() {
    let program = Program::new();
    let before = program.files();
    let mut running = Running::start(&program, &["run", "small.toml", "--set", WARM_UP_FOR_EVER, "--out", "out"]);
    running.wait_for("72 nodes");
    let (code, stdout, stderr) = running.interrupt();
    assert_eq!((code, stdout.as_str()), (Some(130), ""), "{stderr}");
    assert!(stderr.contains("interrupted in cycle") && stderr.contains("nothing was written"), "{stderr}");
    assert_eq!(program.files(), before);
}

#[test]
fn an_interrupted_run_keeps_what_was_measured_and_does_not_take_it_for_a_result() {
    let program = Program::new();
    let run = ["run", "small.toml", "--set", FOR_EVER, "--set", "measure.series=100000000", "--out", "out"];
    let mut running = Running::start(&program, &[&run[..], &["--format", "json"]].concat());
    let line = running.wait_for(" of 2000000100 cycles");
    let seen: u64 =
        line.split(' ').next().and_then(|cycle| cycle.parse().ok()).expect("the line begins with the cycle");
    let (code, stdout, stderr) = running.interrupt();
    assert_eq!(code, Some(130), "{stderr}");
    let said = "the report is about the cycles until then, and no result; out/interrupted.json keeps it";
    assert!(stderr.contains("interrupted in cycle") && stderr.contains(said), "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).expect("it is JSON");
    let number = |path: &str| report.pointer(path).and_then(serde_json::Value::as_u64).expect("it is a number");
    let reached = number("/interrupted/cycle");
    assert!(reached >= seen && number("/interrupted/of") == 2_000_000_100, "{seen}: {}", report["interrupted"]);
    assert_eq!((number("/cycles/measured"), report["result_digest"].as_str()), (reached - 100, Some("")));
    let loads = ["offered_load", "accepted_load"].map(|name| report[name].as_f64().expect("it is a number"));
    assert!(loads.iter().all(|load| (load - 0.3).abs() < 0.05), "loads are of the cycles until then: {loads:?}");
    assert_eq!(program.read("out/interrupted.json"), stdout);
    assert!(!program.path("out/report.json").exists() && !program.path("out/series.csv").exists());
    assert!(program.read("out/interrupted-series.csv").lines().count() > 1);
    // Under a name that a sweep looks for it is no result either.
    let digest = &report["scenario_digest"].as_str().expect("it is a text")[..16];
    std::fs::create_dir_all(program.path("swept/runs")).expect("folders can be made");
    program.write(&format!("swept/runs/{digest}.json"), &stdout);
    let sweep = ["sweep", "small.toml", "--set", "measure.series=100000000", "--over", "measure.cycles=2000000000"];
    let mut running = Running::start(&program, &[&sweep[..], &["--out", "swept"]].concat());
    let line = running.wait_for("1 run");
    assert!(!line.contains("there already"), "{line}");
    running.interrupt();
}

/// Nothing is in flight between regions where there is only one, so nothing ends a window but whoever wants to look.
#[test]
fn a_run_in_one_region_is_interrupted_too() {
    let program = Program::new();
    let one = ["--set", "execution.partition=single", "--threads", "1"];
    let mut running = Running::start(&program, &[&["run", "small.toml", "--set", FOR_EVER][..], &one].concat());
    running.wait_for(" of 2000000100 cycles");
    let (code, _, stderr) = running.interrupt();
    assert!(code == Some(130) && stderr.contains("interrupted in cycle"), "{code:?}: {stderr}");
}

#[test]
fn a_finished_run_takes_the_place_of_an_interrupted_one() {
    let program = Program::new();
    program.good(&["run", "small.toml", "--quiet", "--out", "out"]);
    std::fs::rename(program.path("out/report.json"), program.path("out/interrupted.json")).expect("it is there");
    let others = program.run(&["run", "small.toml", "--seed", "2", "--out", "out"]);
    assert!(others.code == Some(2) && others.stderr.contains("another scenario"), "{}", others.stderr);
    program.good(&["run", "small.toml", "--quiet", "--out", "out"]);
    assert!(program.path("out/report.json").exists() && !program.path("out/interrupted.json").exists());
}

#[test]
fn an_interrupted_sweep_keeps_what_is_finished() {
    let program = Program::new();
    let sweep = ["sweep", "small.toml", "--jobs", "1", "--out", "out"];
    let over = format!("{},2000000000", "measure.cycles=200");
    let mut running = Running::start(&program, &[&sweep[..], &["--over", &over]].concat());
    running.wait_for("1 of 2 runs");
    let (code, stdout, stderr) = running.interrupt();
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("what is finished is kept"), "{stderr}");
    assert_eq!(stdout.lines().count(), 2, "a header and the finished run:\n{stdout}");
    let kept: Vec<_> = program.files().into_keys().filter(|path| path.starts_with(program.path("out/runs"))).collect();
    assert_eq!(kept.len(), 3, "the folder, and the finished run with its histograms: {kept:?}");
    // The same sweep, made shorter, goes on from there.
    let said = program.run(&[&sweep[..], &["--over", "measure.cycles=200,300"]].concat());
    assert!(said.code == Some(0) && said.stderr.contains("1 of them"), "{}", said.stderr);
    assert_eq!(said.stdout.lines().count(), 3);
}

#[test]
fn an_interrupted_reproduction_keeps_what_is_finished() {
    let program = Program::new();
    std::fs::create_dir_all(program.path("configs/papers/toy")).expect("folders can be made");
    program.write("configs/papers/toy/network.toml", crate::program::SMALL);
    let figure = |cycles: &str| {
        format!(
            "title = \"t\"\nsource = \"s\"\nscenario = \"network.toml\"\nsweep.over.\"measure.cycles\" = [{cycles}]\n\
             claim = [{{ name = \"c\", says = \"c\", paper = \"c\", expect = {{ above = 0 }}, why = \"c\", \
             measure = {{ largest = {{ metric = \"accepted_load\" }} }} }}]"
        )
    };
    // Dearest first: two workers, one of which is done soon.
    program.write("configs/papers/toy/fig1.toml", figure("200, 2000000000"));
    let arguments = ["reproduce", "toy/fig1", "--jobs", "2", "--format", "json"];
    let mut running = Running::start(&program, &arguments);
    running.wait_for("1 of 2 runs");
    let (code, stdout, stderr) = running.interrupt();
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("what is finished is kept"), "{stderr}");
    assert!(stdout.contains("\"verdict\": \"not_run\""), "{stdout}");
    program.write("configs/papers/toy/fig1.toml", figure("200, 300"));
    let said = program.run(&arguments);
    assert!(said.code == Some(0) && said.stderr.contains("1 of them"), "{}", said.stderr);
    assert!(said.stdout.contains("\"verdict\": \"pass\""), "{}", said.stdout);
}

/// 64,000 computations of some milliseconds each: whoever asks to stop waits for one.
#[test]
fn an_interrupted_computation_has_no_verdict() {
    let program = Program::new();
    std::fs::create_dir_all(program.path("configs/papers/toy")).expect("folders can be made");
    let figure = "title = \"t\"\nsource = \"s\"\n\
        formula.single-stage-throughput = { inputs = 8, by = \"simulation\", slots = 100000 }\n\
        sweep = { seeds = 1000, over = { \"formula.single-stage-throughput.buffer\" = \"1..64\" } }\n\
        claim = [{ name = \"c\", says = \"c\", paper = \"c\", expect = { above = 0 }, why = \"c\", \
        measure = { largest = { metric = \"formula.throughput\" } } }]";
    program.write("configs/papers/toy/fig1.toml", figure);
    let mut running = Running::start(&program, &["reproduce", "toy/fig1", "--format", "json"]);
    running.wait_for("64000 computations");
    let (code, stdout, stderr) = running.interrupt();
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("nothing is kept of computations"), "{stderr}");
    assert!(stdout.contains("\"verdict\": \"not_run\""), "{stdout}");
}
