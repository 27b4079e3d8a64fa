//! `sweep`, when all is well.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::program::{Program, SMALL, compare};

/// The reports of the runs that a sweep has kept, and when.
fn runs(program: &Program, out: &str) -> BTreeMap<PathBuf, SystemTime> {
    let entries = fs::read_dir(program.path(out).join("runs")).expect("a sweep keeps its runs");
    let entries = entries.map(|entry| entry.expect("the folder can be read to its end"));
    let written = |entry: &fs::DirEntry| entry.metadata().and_then(|about| about.modified()).expect("files have times");
    let is_report = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "json");
    entries.filter(is_report).map(|entry| (entry.path(), written(&entry))).collect()
}

fn values<'a>(csv: &'a str, column: &str) -> Vec<&'a str> {
    let mut lines = csv.lines();
    let header = lines.next().expect("there is a header");
    let place = header.split(',').position(|name| name == column).unwrap_or_else(|| panic!("no {column} in {header}"));
    lines.map(|line| line.split(',').nth(place).expect("lines are as long as the header")).collect()
}

#[test]
fn a_table_is_printed_and_written() {
    let program = Program::new();
    let arguments = ["sweep", "small.toml", "--over", "traffic.load=0.05..0.2/0.05", "--out", "out", "--jobs", "1"];
    let said = program.run(&arguments);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    compare("sweep", &arguments, &format!("{}--- standard error\n{}", said.stdout, said.stderr));
    let csv = program.read("out/sweep.csv");
    assert_eq!(values(&csv, "traffic.load").len(), said.stdout.lines().count() - 1);
    let manifest: serde_json::Value = serde_json::from_str(&program.read("out/sweep.json")).expect("it is JSON");
    let digest = manifest["scenario_digest"].as_str().expect("it has a digest");
    for table in ["sweep", "histograms"] {
        let parquet = fs::read(program.path(&format!("out/{table}.parquet"))).expect("it is written");
        assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
        let tells = parquet.windows(digest.len()).any(|bytes| bytes == digest.as_bytes());
        assert!(tells, "metadata of {table}.parquet tell of which sweep it is");
    }
    assert!(program.path("out/scenario.toml").exists() && program.path("out/sweep.json").exists());
}

#[test]
fn results_go_to_a_place_of_their_own_if_none_is_given() {
    let program = Program::new();
    let said = program.run(&["sweep", "small.toml", "--over", "seed=1,2"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(values(&program.read("results/small/sweep.csv"), "seed"), ["1", "2"]);
    assert!(said.stderr.contains("results/small"), "{}", said.stderr);
}

/// Why packets have left their minimal paths is a column for each cause, which can be drawn.
#[test]
fn non_minimal_paths_have_a_column_for_each_cause() {
    let program = Program::new();
    program.good(&["sweep", "small.toml", "--quiet", "--over", "routing=minimal,valiant", "--out", "paths"]);
    let csv = program.read("paths/sweep.csv");
    let column = |name: &str| values(&csv, name).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let drawn: Vec<f64> = column("nonminimal_drawn").iter().map(|count| count.parse().expect("a number")).collect();
    assert!(drawn[0] == 0.0 && drawn[1] > 0.0, "Valiant draws the groups that it goes by: {drawn:?}");
    for cause in ["queues", "contention", "told", "local"] {
        assert_eq!(column(&format!("nonminimal_{cause}")), ["0.0", "0.0"], "{cause}");
    }
    program.good(&["plot", "paths", "--x", "routing", "--y", "nonminimal_drawn", "--out", "drawn"]);
    let drawings = fs::read_dir(program.path("drawn")).expect("it is written");
    let drawings: Vec<_> = drawings.map(|entry| entry.expect("it can be read").path()).collect();
    assert!(
        drawings
            .iter()
            .any(|path| fs::read_to_string(path).is_ok_and(|svg| svg.contains("non-minimal paths that are drawn")))
    );
    // Where nothing leaves its path there are no such columns.
    program.good(&[
        "sweep",
        "small.toml",
        "--quiet",
        "--over",
        "seed=1,2",
        "--set",
        "routing=minimal",
        "--out",
        "none",
    ]);
    assert!(!program.read("none/sweep.csv").contains("nonminimal_drawn"));
}

/// A switch with one receiver for three senders: saturated from a load of a third on.
const BOTTLENECK: &str = r#"
routing = "direct"
topology.single-switch.nodes = 4
traffic = { from = "1..4", load = 0.1, pattern = { hot-spot = { to = [0] } } }
measure = { warmup = 500, cycles = 3000 }
"#;

#[test]
fn a_curve_ends_where_it_is_saturated() {
    let program = Program::new();
    program.write("bottleneck.toml", BOTTLENECK);
    let sweep = ["sweep", "bottleneck.toml", "--quiet", "--over", "traffic.load=0.1..0.9/0.1"];
    program.good(&[&sweep[..], &["--out", "one", "--jobs", "1"]].concat());
    let csv = program.read("one/sweep.csv");
    assert_eq!(values(&csv, "traffic.load"), ["0.1", "0.2", "0.3", "0.4"]);
    assert_eq!(runs(&program, "one").len(), 4, "nothing beyond is run by a single worker");
    program.good(&[&sweep[..], &["--out", "two", "--jobs", "2"]].concat());
    assert_eq!(program.read("two/sweep.csv"), csv);
    program.good(&[&sweep[..], &["--out", "all", "--no-stop"]].concat());
    assert_eq!(values(&program.read("all/sweep.csv"), "traffic.load").len(), 9);
}

/// A flow that is there to be too much ends no curve; the others still may.
#[test]
fn a_flow_that_is_to_saturate_ends_no_curve() {
    let program = Program::new();
    let hot =
        "{ name = \"hot\", saturates = true, from = \"1..4\", load = 0.1, pattern = { hot-spot = { to = [0] } } }";
    let calm = "{ name = \"calm\", from = \"5..8\", load = 0.2, pattern = { hot-spot = { to = [4] } } }";
    let network = BOTTLENECK.lines().filter(|line| !line.starts_with("traffic")).collect::<Vec<_>>().join("\n");
    let network = network.replace("nodes = 4", "nodes = 8");
    program.write("hot.toml", format!("{network}\ntraffic = [{hot}, {calm}]\n"));
    let over = |path: &str| format!("{path}=0.1..0.9/0.1");
    let sweep = |path: &str, out: &str| {
        program.good(&["sweep", "hot.toml", "--quiet", "--jobs", "1", "--over", &over(path), "--out", out]);
        program.read(&format!("{out}/sweep.csv"))
    };
    let csv = sweep("traffic.hot.load", "one");
    assert_eq!(values(&csv, "saturated"), ["0.0"; 9]);
    // Six of eight nodes send: the overall load is theirs.
    let load = |column: &str, row: usize| values(&csv, column)[row].parse::<f64>().expect("it is a number");
    assert!(
        (load("offered_load", 8) - (load("hot.offered_load", 8) + load("calm.offered_load", 8)) / 2.0).abs() < 1e-9
    );
    let csv = sweep("traffic.calm.load", "two");
    let last = values(&csv, "calm.saturated").pop().expect("there are points");
    assert!(last == "1.0" && values(&csv, "traffic.calm.load").len() < 9, "{csv}");
}

#[test]
fn the_table_says_yes_or_no() {
    let program = Program::new();
    program.write("bottleneck.toml", BOTTLENECK);
    let sweep = ["sweep", "bottleneck.toml", "--quiet", "--over", "traffic.load=0.1,0.9"];
    let last_column = |more: &[&str]| -> Vec<String> {
        let said = program.good(&[&sweep[..], more].concat());
        said.lines().skip(1).map(|line| line.split("  ").last().expect("there are columns").trim().to_owned()).collect()
    };
    assert_eq!(last_column(&["--out", "one"]), ["no", "yes"]);
    assert_eq!(last_column(&["--out", "two", "--seeds", "2"]), ["no", "yes"]);
    // At the edge chance decides.
    let edge = ["--out", "edge", "--seeds", "8", "--set", "measure.cycles=640", "--set", "measure.warmup=100"];
    let said =
        program.good(&[&["sweep", "bottleneck.toml", "--quiet", "--over", "traffic.load=0.42"], &edge[..]].concat());
    assert!(said.contains(" % of seeds"), "{said}");
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let program = Program::new();
    let sweep = ["sweep", "small.toml", "--quiet", "--seeds", "3", "--over", "traffic.load=0.1,0.2,0.3"];
    for (jobs, out) in [("1", "one"), ("2", "two"), ("8", "eight")] {
        program.good(&[&sweep[..], &["--jobs", jobs, "--out", out]].concat());
    }
    let one = program.read("one/sweep.csv");
    assert_eq!(values(&one, "seeds")[0], "3");
    assert_eq!(program.read("two/sweep.csv"), one);
    assert_eq!(program.read("eight/sweep.csv"), one);
}

#[test]
fn what_has_been_run_is_not_run_again() {
    let program = Program::new();
    let sweep = ["sweep", "small.toml", "--over", "traffic.load=0.05,0.1,0.15", "--no-stop", "--out", "out"];
    let first = program.good(&sweep);
    let before = runs(&program, "out");
    assert_eq!(before.len(), 3);
    assert_eq!(program.good(&sweep), first);
    assert_eq!(runs(&program, "out"), before);
    // One is lost, and one is damaged: these two come back.
    let paths: Vec<PathBuf> = before.keys().cloned().collect();
    fs::remove_file(&paths[0]).expect("it was there");
    fs::write(&paths[1], "{").expect("it can be written");
    let said = program.run(&sweep);
    assert!(said.stderr.contains("1 of them"), "{}", said.stderr);
    assert_eq!(said.stdout, first);
    let after = runs(&program, "out");
    assert_eq!(after.len(), 3);
    assert_eq!(after[&paths[2]], before[&paths[2]], "the third is left alone");
    assert!(fs::read_to_string(&paths[1]).expect("it is there").contains("result_digest"));
}

/// What stands beside a report counts as much.
#[test]
fn a_run_whose_histograms_or_series_are_damaged_is_made_again() {
    let program = Program::new();
    let over = ["--over", "traffic.load=0.05,0.1", "--no-stop", "--set", "measure.series=50", "--out", "out"];
    let sweep = [&["sweep", "small.toml"][..], &over].concat();
    program.good(&sweep);
    let before = program.files();
    let of = |kind: &str| -> Vec<PathBuf> {
        let is_one = |path: &&PathBuf| path.to_string_lossy().ends_with(&format!("-{kind}.csv"));
        before.keys().filter(is_one).cloned().collect()
    };
    let whole = |path: &PathBuf| String::from_utf8(before[path].clone()).expect("it is text");
    let first_lines = |path: &PathBuf| whole(path).lines().take(3).map(|line| format!("{line}\n")).collect::<String>();
    for kind in ["histograms", "series"] {
        let [one, two] = of(kind).try_into().expect("there is one for each run");
        fs::write(&one, "damaged").expect("it can be written");
        fs::write(&two, first_lines(&two)).expect("it can be written");
        let said = program.run(&sweep);
        assert!(said.code == Some(0) && !said.stderr.contains("there already"), "{kind}: {}", said.stderr);
        let after = program.files();
        let is_result = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "csv");
        let changed: Vec<_> = before.keys().filter(is_result).filter(|path| before[*path] != after[*path]).collect();
        assert!(changed.is_empty(), "{kind}: {changed:?}");
        assert!(program.run(&sweep).stderr.contains("2 of them are there already"));
    }
}

#[test]
fn variants_are_curves_of_their_own() {
    let program = Program::new();
    let text = r#"
[sweep]
seeds = [4, 5]
over."traffic.load" = [0.05, 0.1]
[[sweep.variant]]
name = "MIN"
set = { routing = "minimal" }
[[sweep.variant]]
name = "VAL"
set = { routing.valiant.target = "group" }
"#;
    program.write("variants.toml", format!("{SMALL}{text}"));
    let arguments = ["sweep", "variants.toml", "--quiet", "--no-stop", "--out", "out"];
    let said = program.good(&arguments);
    compare("sweep-variants", &arguments, &said);
    let csv = program.read("out/sweep.csv");
    assert_eq!(values(&csv, "variant"), ["MIN", "MIN", "VAL", "VAL"]);
    assert_eq!(values(&csv, "traffic.load"), ["0.05", "0.1", "0.05", "0.1"]);
    assert_eq!(runs(&program, "out").len(), 8);
    let manifest: serde_json::Value = serde_json::from_str(&program.read("out/sweep.json")).expect("it is JSON");
    let (min, val) = (["routing=\"minimal\""], ["routing.valiant.target=\"group\""]);
    assert_eq!(manifest["variants"], serde_json::json!([{ "name": "MIN", "set": min }, { "name": "VAL", "set": val }]));
}

#[test]
fn the_best_point_is_said_with_what_was_varied() {
    let program = Program::new();
    let arguments = [
        "sweep",
        "small.toml",
        "--quiet",
        "--no-stop",
        "--over",
        "routing=minimal,valiant",
        "--over",
        "traffic.load=0.05,0.1",
        "--most",
        "accepted_load",
        "--least",
        "latency_message_mean",
        "--out",
        "out",
    ];
    let said = program.good(&arguments);
    compare("sweep-best", &arguments, &said);
    let csv = program.read("out/sweep.csv");
    let numbers = |column| values(&csv, column).into_iter().map(|value| value.parse().expect("a number"));
    let most = numbers("accepted_load").fold(0.0, f64::max);
    let least = numbers("latency_message_mean").fold(f64::INFINITY, f64::min);
    let wanted = format!(
        "most accepted_load: {most:.6} with routing=minimal, traffic.load=0.1\n\
         least latency_message_mean: {least:.6} with routing=minimal, traffic.load=0.1\n"
    );
    assert!(said.ends_with(&wanted), "{said}");
    // A name that there is not is told with those that there are, before anything is run.
    let said = program.run(&["sweep", "small.toml", "--over", "traffic.load=0.05", "--most", "throughput"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("--most: there is no column `throughput`; there are"), "{}", said.stderr);
    assert!(!program.path("results").exists());
}

#[test]
fn a_table_for_programs_is_json() {
    let sweep = ["sweep", "small.toml", "--quiet", "--no-stop", "--over", "traffic.load=0.1,0.2", "--format", "json"];
    let table: serde_json::Value = serde_json::from_str(&Program::new().good(&sweep)).expect("it is JSON");
    let rows = table.as_array().expect("it is a list of rows");
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["accepted_load"].is_number() && row["latency_message_mean"].is_number()));
}
