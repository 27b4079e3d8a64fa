//! What figure files say that the programs of papers' authors give, computed again from the runs of those programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tailback_reproduce::{Figure, Refutation};

use crate::scenarios::here;

/// A table of runs: by line, the values by column.
type Runs = Vec<BTreeMap<String, String>>;

fn runs(file: &str) -> Runs {
    let text = fs::read_to_string(here("..").join(file)).unwrap_or_else(|error| panic!("cannot read {file}: {error}"));
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().expect("a file has a header");
    lines.map(|line| header.iter().cloned().zip(line).collect()).collect()
}

fn number(run: &BTreeMap<String, String>, column: &str) -> f64 {
    run[column].parse().unwrap_or_else(|_| panic!("{column} is {}", run[column]))
}

/// The mean over seeds in the steady state.
fn steady(runs: &Runs, pattern: &str, mech: &str, load: f64, column: &str) -> f64 {
    let is_it = |run: &&BTreeMap<_, _>| {
        run["pattern"] == pattern && run["mech"] == mech && (number(run, "offered") - load).abs() < 1e-9
    };
    let values: Vec<f64> = runs.iter().filter(is_it).map(|run| number(run, column)).collect();
    assert!(!values.is_empty(), "{pattern}, {mech} at {load}");
    values.iter().sum::<f64>() / values.len() as f64
}

/// A time series: when intervals begin, what was measured, and of how many packets.
fn series(runs: &Runs, mech: &str, buffers: &str, column: &str) -> Vec<(f64, f64, f64)> {
    let is_it = |run: &&BTreeMap<String, String>| run["mech"] == mech && run["buffers"] == buffers;
    let sample = |run| (number(run, "bin_start"), number(run, column), number(run, "packets"));
    runs.iter().filter(is_it).map(sample).collect()
}

fn mean(series: &[(f64, f64, f64)], from: f64, until: f64) -> f64 {
    let inside = || series.iter().filter(|(time, ..)| (from..until).contains(time));
    inside().map(|(_, value, packets)| value * packets).sum::<f64>()
        / inside().map(|(.., packets)| packets).sum::<f64>()
}

/// From when on a series stays within 5 % of its mean in the interval at its end.
fn settled(series: &[(f64, f64, f64)], from: f64, until: f64) -> f64 {
    let level = mean(series, from, until);
    let span: Vec<_> = series.iter().filter(|(time, ..)| (0.0..until).contains(time)).collect();
    let last = span.iter().rposition(|(_, value, _)| (value - level).abs() > 0.05 * level);
    span[last.expect("it changes") + 1].0
}

/// The number of a claim from the runs of the authors' program, by the claim's own rule.
fn given(claim: &str, runs: &Runs) -> f64 {
    match claim {
        "fig05b val-reaches-its-limit" => steady(runs, "ADV+1", "VAL", 0.5, "accepted"),
        "fig05b pb-is-slightly-worse-than-val" => {
            steady(runs, "ADV+1", "PBc125b", 0.5, "accepted") / steady(runs, "ADV+1", "VAL", 0.5, "accepted")
        }
        "fig05b pb-is-slightly-slower-than-val" => {
            let latency = |mech, load| steady(runs, "ADV+1", mech, load, "latency_total");
            let ratios = [0.3, 0.4].map(|load| latency("PBc125", load) / latency("VAL", load));
            ratios[0].min(ratios[1])
        }
        "fig05b ectn-has-a-hump" => {
            let latency = |mech| steady(runs, "ADV+1", mech, 0.1, "latency_total");
            latency("ECtN") / latency("OLM")
        }
        "fig06 base-competes-with-olm" => {
            let latency = |mech| steady(runs, "MIX50", mech, 0.35, "latency_total");
            latency("OLM") / latency("Base")
        }
        "fig07b hybrid-misroutes-nothing-before" => steady(runs, "UN", "Hybrid", 0.2, "global_misrouted_share"),
        "fig07b olm-misroutes-later" => {
            let series = series(runs, "OLM", "32/256", "globally_misrouted_share");
            let (before, after) = (mean(&series, -200.0, 0.0), mean(&series, 200.0, 1000.0));
            let there = before + 0.8 * (after - before);
            series.iter().find(|(time, value, _)| *time >= 0.0 && *value >= there).expect("it gets there").0
        }
        "fig07a pb-takes-a-hundred-cycles" => settled(&series(runs, "PBc125", "32/256", "latency"), 600.0, 1000.0),
        "fig08 pb-takes-five-hundred-cycles" => settled(&series(runs, "PB", "256/2048", "latency"), 1000.0, 1500.0),
        other => panic!("say how the number of {other} is computed"),
    }
}

#[test]
fn the_authors_programs_give_what_is_said() {
    let folder = here("..").join("configs/papers");
    let mut refutations: Vec<(String, Refutation)> = Vec::new();
    for paper in ["contention", "lhrp"] {
        let mut files: Vec<_> = fs::read_dir(folder.join(paper)).expect("it is there").flatten().collect();
        files.sort_by_key(fs::DirEntry::path);
        for file in files.iter().map(fs::DirEntry::path) {
            let name = file.file_stem().and_then(|stem| stem.to_str()).expect("names are text").to_owned();
            if name.starts_with("fig") {
                refutations.extend(of(&name, &file));
            }
        }
    }
    assert!(!refutations.is_empty());
    for (claim, Refutation { gives, evidence, .. }) in refutations {
        let found = given(&claim, &runs(&evidence));
        assert!((found - gives).abs() <= 0.002 * found.abs(), "{claim}: {gives} is said, {evidence} gives {found}");
    }
}

fn of(name: &str, file: &Path) -> Vec<(String, Refutation)> {
    let text = fs::read_to_string(file).expect("it can be read");
    let figure = Figure::read(name, &text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let claims = figure.claims.into_iter();
    claims.filter_map(|claim| Some((format!("{name} {}", claim.name), claim.refutation?))).collect()
}
