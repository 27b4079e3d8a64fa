//! `reproduce`: figures of a paper that somebody might have written about a dragonfly of 72 nodes, and a study of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::program::{Program, SMALL, Said, compare};

/// Latency of two ways to route.
const FIG1: &str = r#"title = "Latency under uniform traffic"
source = "Fig. 1"
scenario = "network.toml"

[sweep]
seeds = 2
over = { "traffic.load" = [0.1, 0.2, 0.3] }

[[sweep.variant]]
name = "MIN"

[[sweep.variant]]
name = "VAL"
set = { routing = "valiant" }

[quick]
seeds = 1
over = { "traffic.load" = [0.1, 0.2] }

[[panel]]
name = "latency"
metric = "latency_message_mean"
x_label = "load"
y_label = "latency (cycles)"
x = [0, 0.4]

[[claim]]
name = "min-is-lower"
says = "MIN has a lower latency than VAL"
paper = "lower"
measure = { order = { curves = ["MIN", "VAL"], metric = "latency_message_mean" } }
expect = { above = 1 }
why = "the paper only says that it is lower"

[[claim]]
name = "val-is-not-much-worse"
says = "At load 0.1 VAL takes at most a tenth longer"
paper = "a tenth"
measure = { ratio = [
    { value = { curve = "VAL", metric = "latency_message_mean", at = 0.1 } },
    { value = { curve = "MIN", metric = "latency_message_mean", at = 0.1 } },
] }
expect = { below = 1.1 }
why = "the paper's own words"
tried = "two ways to draw the detour"
"#;

/// What happens when the traffic changes.
const FIG2: &str = r#"title = "Latency when traffic changes"
source = "Fig. 2"
scenario = "network.toml"
ci = false
event = 300
set = { measure.cycles = 700, measure.series = 10, measure.series_by = "creation", traffic.phases = [{ from = 300, load = 0.05 }] }

[[panel]]
name = "change"
series = "latency_message_mean"
bin = 50
x_label = "cycles"
y_label = "latency (cycles)"
x = [-200, 200]

[[claim]]
name = "it-gets-better"
says = "With less traffic latency is lower"
paper = "lower"
scale = "full"
measure = { difference = [
    { during = { series = "latency_message_mean", span = [20, 150] } },
    { during = { series = "latency_message_mean", span = [-150, 0] } },
] }
expect = { below = 0 }
why = "the paper only says that it is lower"
"#;

/// A study with a table.
const STUDY: &str = r#"title = "What a detour costs"
source = "beyond any paper"
scenario = "networks/small.toml"

[[sweep.variant]]
name = "MIN"

[[sweep.variant]]
name = "VAL"
set = { routing = "valiant" }

[[table]]
name = "ways"
title = "Two ways to route"
rows = ["MIN", "VAL"]

[[table.column]]
title = "mean latency"
unit = "cycles"
measure = { value = { curve = "*", metric = "latency_message_mean" } }

[[table.column]]
title = "hops, by those of MIN"
measure = { ratio = [
    { value = { curve = "*", metric = "hops_mean" } },
    { value = { curve = "MIN", metric = "hops_mean" } },
] }

[[claim]]
name = "val-takes-longer"
says = "VAL takes longer"
paper = "none"
measure = { order = { curves = ["MIN", "VAL"], metric = "latency_message_mean" } }
expect = { above = 1 }
why = "its ways are"
"#;

/// What is computed, and run on no network.
const FIG4: &str = r#"title = "What a scheduler costs"
source = "Fig. 4"

[formula.scheduler-cost]
part = "central"

[sweep]
over = { "formula.scheduler-cost.nodes" = [64, 1024] }

[[panel]]
name = "costs"
metric = "formula.transistors"
factor = 1e-6
x_label = "nodes"
y_label = "transistors (millions)"

[[claim]]
name = "a-chip-is-large-enough"
says = "With 1,024 nodes it fits a chip: the number is transistors"
paper = "feasible"
measure = { value = { metric = "formula.transistors", at = 1024 } }
expect = { below = 1e9 }
why = "chips have so many"
"#;

/// The program beside a folder with one paper.
fn paper() -> Program {
    let program = Program::new();
    fs::create_dir_all(program.path("configs/papers/toy")).expect("folders can be made");
    program.write("configs/papers/toy/network.toml", SMALL);
    program.write("configs/papers/toy/fig1.toml", FIG1);
    program.write("configs/papers/toy/fig2.toml", FIG2);
    program
}

/// The program beside a folder with one paper and one study.
fn study() -> Program {
    let program = paper();
    fs::create_dir_all(program.path("configs/studies/networks")).expect("folders can be made");
    program.write("configs/studies/networks/small.toml", SMALL);
    program.write("configs/studies/detour.toml", STUDY);
    program
}

/// The files that runs are kept in, and when they were written.
fn runs(program: &Program) -> BTreeMap<PathBuf, std::time::SystemTime> {
    let entries = fs::read_dir(program.path("results/reproduce/toy/runs")).expect("runs are kept");
    let entries = entries.map(|entry| entry.expect("the folder can be read to its end"));
    let written = |entry: &fs::DirEntry| entry.metadata().and_then(|about| about.modified()).expect("files have times");
    entries.map(|entry| (entry.path(), written(&entry))).collect()
}

fn json(text: &str) -> Vec<serde_json::Map<String, serde_json::Value>> {
    serde_json::from_str(text).expect("it is a list of objects")
}

#[test]
fn a_figure_is_run_drawn_and_judged() {
    let program = paper();
    let arguments = ["reproduce", "toy/fig1", "--jobs", "2"];
    let said = program.run(&arguments);
    assert_eq!(said.code, Some(0), "a claim that does not hold is a result: {}", said.stderr);
    compare("reproduce", &arguments, &said.stdout);
    assert!(said.stderr.contains("4 runs, 2 at a time") && said.stderr.contains("of CPU"), "{}", said.stderr);
    let folder = "results/reproduce/toy/fig1-quick";
    assert!(program.read(&format!("{folder}/latency.svg")).starts_with("<svg"));
    assert!(program.read(&format!("{folder}/latency.csv")).starts_with("curve,x,y,y_ci95,bound\nMIN,0.1,"));
    assert!(program.read(&format!("{folder}/claims.md")).contains("| pass | MIN has a lower latency than VAL |"));
    let claims = json(&program.read(&format!("{folder}/claims.json")));
    assert_eq!(claims.len(), 2);
    assert_eq!(runs(&program).len(), 4);
}

#[test]
fn a_figure_may_be_computed_without_a_network() {
    let program = paper();
    program.write("configs/papers/toy/fig4.toml", FIG4);
    let arguments = ["reproduce", "toy/fig4", "--record"];
    let said = program.run(&arguments);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    compare("reproduce-computed", &arguments, &said.stdout);
    assert!(!said.stderr.contains("runs"), "nothing is run: {}", said.stderr);
    let folder = "results/reproduce/toy/fig4-quick";
    let points = program.read(&format!("{folder}/costs.csv"));
    assert!(points.contains(",1024.0,398.4588"), "{points}");
    assert!(program.read(&format!("{folder}/costs.svg")).contains("computed, without a network"));
    // Verdicts are recorded and checked as others are.
    assert!(program.read("configs/papers/toy/verdicts.json").contains("a-chip-is-large-enough"));
    program.good(&["reproduce", "toy/fig4", "--check", "--quiet"]);
    program.write("configs/papers/toy/fig4.toml", FIG4.replace("below = 1e9", "below = 1e6"));
    let changed = program.run(&["reproduce", "toy/fig4", "--check", "--quiet"]);
    assert_ne!(changed.code, Some(0));
    assert!(changed.stderr.contains("a-chip-is-large-enough was pass and is fail"), "{}", changed.stderr);
    // A value out of its range is bad input, before anything is written.
    program.write("configs/papers/toy/fig4.toml", FIG4.replace("[64, 1024]", "[64, 1024, 0]"));
    let refused = program.run(&["reproduce", "toy/fig4"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("is outside 1 to"), "{}", refused.stderr);
}

#[test]
fn a_share_of_runs_computes_nothing() {
    let program = paper();
    program.write("configs/papers/toy/fig4.toml", FIG4);
    program.good(&["reproduce", "toy/fig4", "--shard", "1/2", "--quiet"]);
    assert!(!program.path("results/reproduce/toy/fig4-quick/costs.csv").exists(), "a share draws nothing");
}

#[test]
fn a_study_is_found_beside_papers_and_tabulated() {
    let program = study();
    let arguments = ["reproduce", "studies/detour", "--quiet", "--record"];
    compare("reproduce-study", &arguments, &program.good(&arguments));
    let folder = "results/reproduce/studies/detour-quick";
    let csv = program.read(&format!("{folder}/ways.csv"));
    assert!(csv.starts_with("row,column,unit,value,ci95\nMIN,mean latency,cycles,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 4);
    let markdown = program.read(&format!("{folder}/ways.md"));
    assert!(markdown.contains("| | mean latency (cycles) | hops, by those of MIN |"), "{markdown}");
    assert!(program.path(&format!("{folder}/ways.parquet")).exists());
    // Its verdicts are beside it, and nowhere else.
    assert!(program.path("configs/studies/verdicts.json").exists());
    assert!(!program.path("configs/papers/toy/verdicts.json").exists());
    program.good(&["reproduce", "studies", "--check", "--quiet"]);
    compare("reproduce-scores-study", &["reproduce"], &program.good(&["reproduce"]));
}

#[test]
fn a_table_is_told_as_far_as_runs_are_there() {
    let program = study();
    let arguments = ["reproduce", "studies/detour", "--no-run", "--quiet"];
    compare("reproduce-study-not-run", &arguments, &program.good(&arguments));
}

#[test]
fn studies_need_no_papers() {
    let program = study();
    fs::remove_dir_all(program.path("configs/papers")).expect("it is there");
    program.good(&["reproduce", "studies/detour", "--quiet"]);
}

#[test]
fn claims_for_programs_are_one_list() {
    let program = paper();
    let claims = json(&program.good(&["reproduce", "toy", "--full", "--quiet", "--format", "json"]));
    assert_eq!(claims.len(), 3);
    let keys = [
        "claim",
        "figure",
        "interval",
        "measured",
        "name",
        "outdated",
        "paper",
        "paper_value",
        "scenarios",
        "tolerance",
        "verdict",
    ];
    for claim in &claims {
        assert_eq!(claim.keys().map(String::as_str).collect::<Vec<_>>(), keys);
        let verdict = claim["verdict"].as_str().expect("a word");
        assert!(claim["measured"].is_number() && ["pass", "fail", "undecided"].contains(&verdict), "{claim:?}");
    }
    assert_eq!(claims.iter().map(|claim| &claim["figure"]).collect::<Vec<_>>(), ["fig1", "fig1", "fig2"]);
    assert!(claims[0]["interval"].is_array(), "there are two seeds");
    assert!(claims[2]["interval"].is_null(), "there is one");
    let change = program.read("results/reproduce/toy/fig2-full/change.csv");
    assert_eq!(change.lines().count(), 1 + 9, "a header and 50 cycles each from -200 to 200: {change}");
}

#[test]
fn what_has_been_run_is_not_run_again_whatever_figure_it_is_for() {
    let program = paper();
    program.write("configs/papers/toy/fig3.toml", FIG1.replace("Fig. 1", "Fig. 3"));
    let said = program.run(&["reproduce", "toy", "--jobs", "1"]);
    assert!(said.code == Some(0) && said.stderr.contains("5 runs, 1 at a time\n"), "{}", said.stderr);
    let before = runs(&program);
    assert_eq!(before.len(), 6, "five runs, one with a series");
    let said = program.run(&["reproduce", "toy"]);
    assert!(said.stderr.contains("5 of them are there already"), "{}", said.stderr);
    assert_eq!(runs(&program), before);
    // One is lost, one is damaged, and one is of another version of the program.
    let reports: Vec<&PathBuf> = before.keys().filter(|path| !path.ends_with("series.csv")).collect();
    let reports: Vec<&PathBuf> =
        reports.into_iter().filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    fs::remove_file(reports[0]).expect("it was there");
    fs::write(reports[1], "{").expect("it can be written");
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let old = fs::read_to_string(reports[2]).expect("it is there");
    assert!(old.contains(&version));
    fs::write(reports[2], old.replace(&version, "\"version\": \"0.0.0\"")).expect("it can be written");
    let said = program.run(&["reproduce", "toy"]);
    assert!(said.stderr.contains("2 of them are there already"), "{}", said.stderr);
    assert!(fs::read_to_string(reports[2]).expect("it is there").contains(&version));
}

#[test]
fn a_lost_series_is_made_again() {
    let program = paper();
    program.good(&["reproduce", "toy/fig2", "--full", "--quiet"]);
    let series: Vec<PathBuf> =
        runs(&program).into_keys().filter(|path| path.to_string_lossy().ends_with("-series.csv")).collect();
    assert_eq!(series.len(), 1);
    fs::remove_file(&series[0]).expect("it was there");
    let said = program.run(&["reproduce", "toy/fig2", "--full"]);
    assert!(said.code == Some(0) && !said.stderr.contains("already"), "{}", said.stderr);
    assert!(series[0].exists());
}

#[test]
fn the_scoreboard_counts_what_is_finished_or_recorded() {
    let program = paper();
    compare("reproduce-nothing-yet", &["reproduce"], &program.good(&["reproduce"]));
    program.good(&["reproduce", "toy/fig1", "--quiet", "--record"]);
    program.good(&["reproduce", "toy/fig2", "--full", "--quiet"]);
    let scores = program.good(&["reproduce"]);
    compare("reproduce-scores", &["reproduce"], &scores);
    let quick = json(&program.good(&["reproduce", "--format", "json"]));
    let verdicts: Vec<_> = quick.iter().map(|claim| claim["verdict"].as_str().expect("a word")).collect();
    assert_eq!(verdicts, ["pass", "fail"]);
    let full = json(&program.good(&["reproduce", "--full", "--format", "json"]));
    let verdicts: Vec<_> = full.iter().map(|claim| claim["verdict"].as_str().expect("a word")).collect();
    assert_eq!(verdicts, ["not_run", "not_run", "pass"]);
    // What is recorded is known where nothing has been run.
    fs::remove_dir_all(program.path("results")).expect("it is there");
    let quick = json(&program.good(&["reproduce", "--format", "json"]));
    assert_eq!(quick[0]["verdict"], "pass");
    assert!(quick[0]["measured"].is_number() && quick[0]["outdated"] == false);
}

#[test]
fn what_was_found_in_other_runs_is_outdated() {
    let program = paper();
    program.good(&["reproduce", "toy/fig1", "--quiet", "--record"]);
    let outdated = || -> Vec<bool> {
        let claims = json(&program.good(&["reproduce", "--out", "elsewhere", "--format", "json"]));
        claims.iter().map(|claim| claim["outdated"] == true).collect()
    };
    assert_eq!(outdated(), [false, false]);
    // Other bounds are judged by the same runs.
    program.write("configs/papers/toy/fig1.toml", FIG1.replace("below = 1.1", "below = 9"));
    assert_eq!(outdated(), [false, false]);
    program.write("configs/papers/toy/fig1.toml", FIG1.replace("seeds = 1\n", "seeds = 2\n"));
    assert_eq!(outdated(), [true, true]);
    let scores = ["reproduce", "--out", "elsewhere"];
    compare("reproduce-scores-outdated", &scores, &program.good(&scores));
}

#[test]
fn what_is_finished_counts_if_it_is_of_the_same_runs() {
    let program = paper();
    let (figure, records) = ("configs/papers/toy/fig1.toml", "configs/papers/toy/verdicts.json");
    let verdicts = || -> Vec<String> {
        let claims = json(&program.good(&["reproduce", "--format", "json"]));
        let told = claims.iter().map(|claim| {
            let verdict = claim["verdict"].as_str().expect("a word").to_owned();
            if claim["outdated"] == true { verdict + ", outdated" } else { verdict }
        });
        told.collect()
    };
    program.good(&["reproduce", "toy/fig1", "--quiet", "--record"]);
    let recorded = program.read(records);
    program.write(records, "{}");
    assert_eq!(verdicts(), ["pass", "fail"]);
    // Other bounds are judged by the same runs.
    program.write(figure, FIG1.replace("below = 1.1", "below = 9"));
    assert_eq!(verdicts(), ["pass", "pass"]);
    // Claims go by their names, whatever they say.
    program.write(figure, FIG1.replace("MIN has a lower latency than VAL", "VAL has a higher latency than MIN"));
    assert_eq!(verdicts(), ["pass", "fail"]);
    // Of other runs nothing is known but what is recorded, and that is of other runs too.
    program.write(figure, FIG1.replace("seeds = 1\n", "seeds = 2\n"));
    assert_eq!(verdicts(), ["not_run", "not_run"]);
    program.write(records, &recorded);
    assert_eq!(verdicts(), ["pass, outdated", "fail, outdated"]);
    // What is half made knows no better.
    program.good(&["reproduce", "toy/fig1", "--no-run", "--quiet"]);
    assert_eq!(verdicts(), ["pass, outdated", "fail, outdated"]);
    program.good(&["reproduce", "toy/fig1", "--quiet"]);
    assert!(verdicts().iter().all(|verdict| !verdict.contains("outdated") && verdict != "not_run"));
    // Earlier files do not say whose runs they are of, nor how claims are called.
    let claims = "results/reproduce/toy/fig1-quick/claims.json";
    let (finished, mut old) = (program.read(claims), json(&program.read(claims)));
    for claim in &mut old {
        claim.remove("name");
        claim.remove("scenarios");
    }
    program.write(records, "{}");
    program.write(claims, serde_json::to_string(&old).expect("plain data"));
    assert_eq!(verdicts(), ["not_run", "not_run"]);
    program.write(claims, finished);
    assert!(verdicts().iter().all(|verdict| verdict != "not_run"));
}

#[test]
fn a_changed_verdict_fails_the_check() {
    let program = paper();
    let check = |program: &Program| -> Said { program.run(&["reproduce", "toy", "--ci", "--check", "--quiet"]) };
    let said = check(&program);
    assert_eq!(said.code, Some(1));
    compare("reproduce-unrecorded", &["reproduce", "toy", "--ci", "--check", "--quiet"], &said.stderr);
    program.good(&["reproduce", "toy", "--quiet", "--record"]);
    assert_eq!(check(&program).code, Some(0));
    program.write("configs/papers/toy/fig1.toml", FIG1.replace("below = 1.1", "below = 9"));
    let said = check(&program);
    assert_eq!(said.code, Some(1));
    compare("reproduce-changed", &["reproduce", "toy", "--ci", "--check", "--quiet"], &said.stderr);
    program.good(&["reproduce", "toy", "--quiet", "--record"]);
    assert_eq!(check(&program).code, Some(0));
    assert!(!program.path("results/reproduce/toy/fig2-full").exists());
}

#[test]
fn claims_can_be_judged_without_running_anything() {
    let program = paper();
    let claims = json(&program.good(&["reproduce", "toy/fig1", "--no-run", "--quiet", "--format", "json"]));
    assert!(claims.iter().all(|claim| claim["verdict"] == "not_run" && claim["measured"].is_null()));
    program.good(&["reproduce", "toy/fig1", "--quiet"]);
    let claims = json(&program.good(&["reproduce", "toy/fig1", "--no-run", "--quiet", "--format", "json"]));
    assert!(claims.iter().all(|claim| claim["measured"].is_number()));
}

#[test]
fn only_figures_for_ci_are_checked_there() {
    let program = paper();
    program.good(&["reproduce", "toy", "--ci", "--quiet"]);
    assert!(program.path("results/reproduce/toy/fig1-quick").exists());
    assert!(!program.path("results/reproduce/toy/fig2-quick").exists(), "it says ci = false");
}

/// Refused with the words of a golden file, and nothing is written.
fn refuses(program: &Program, name: &str, arguments: &[&str]) {
    let before = program.files();
    let said = program.run(arguments);
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "tailback {arguments:?} says\n{}", said.stderr);
    assert!(program.files() == before, "tailback {arguments:?} has written something");
    compare(&format!("mistake-reproduce-{name}"), arguments, &said.stderr);
}

#[test]
fn what_is_not_there_is_refused() {
    let program = paper();
    refuses(&program, "unknown-paper", &["reproduce", "tyo"]);
    refuses(&program, "check-of-nothing", &["reproduce", "--check"]);
    refuses(&program, "unknown-figure", &["reproduce", "toy/fig11"]);
    refuses(&program, "unlike-any-figure", &["reproduce", "toy/network"]);
    refuses(&program, "no-configs", &["reproduce", "toy", "--configs", "elsewhere"]);
    program.write("configs/papers/toy/fig1.toml", FIG1.replace("network.toml", "netwrok.toml"));
    refuses(&program, "no-scenario", &["reproduce", "toy/fig1"]);
    program.write("configs/papers/toy/verdicts.json", "[");
    program.write("configs/papers/toy/fig1.toml", FIG1);
    refuses(&program, "damaged-verdicts", &["reproduce"]);
}

#[test]
fn a_study_that_is_not_there_is_refused() {
    let program = study();
    refuses(&program, "unknown-study", &["reproduce", "studies/detuor"]);
    refuses(&program, "unlike-studies", &["reproduce", "study"]);
    refuses(&program, "scenario-of-a-study", &["reproduce", "studies/small"]);
    program.write("configs/studies/detour.toml", STUDY.replace("[\"MIN\", \"VAL\"]\n\n", "[\"MIN\", \"VALIANT\"]\n\n"));
    refuses(&program, "unknown-row", &["reproduce", "studies/detour"]);
    fs::remove_dir_all(program.path("configs")).expect("it is there");
    refuses(&program, "no-configs-at-all", &["reproduce"]);
}

#[test]
fn bad_figures_are_refused_with_all_their_mistakes() {
    let program = paper();
    let bad = FIG1.replace("title", "titel").replace("at = 0.1", "at = 0.15").replace("order", "ordre");
    program.write("configs/papers/toy/fig1.toml", bad);
    program.write("configs/papers/toy/fig2.toml", FIG2.replace("ci = false", "ci = 3"));
    refuses(&program, "several", &["reproduce", "toy"]);
    program.write("configs/papers/toy/fig1.toml", "title = ");
    refuses(&program, "no-toml", &["reproduce", "toy/fig1"]);
}

#[test]
fn bad_runs_are_refused_before_any_is_made() {
    let program = paper();
    program.write("configs/papers/toy/fig1.toml", FIG1.replace("\"valiant\"", "\"valiante\""));
    refuses(&program, "bad-variant", &["reproduce", "toy/fig1"]);
    program.write("configs/papers/toy/fig1.toml", FIG1.replace("[0.1, 0.2]", "[0.1, 1.2]"));
    refuses(&program, "bad-load", &["reproduce", "toy/fig1"]);
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let program = paper();
    for options in [["--quick", "--full"], ["--check", "--record"]] {
        let said = program.run(&[&["reproduce", "toy"], &options[..]].concat());
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
        assert!(said.stderr.contains("cannot be used with"), "{}", said.stderr);
    }
}
