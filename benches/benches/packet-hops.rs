//! The figures of the README: packet-hops per CPU second on fixed scenarios, memory, and what threads gain.
//!
//! Each run has a process of its own, so that its memory is its own: the bench calls itself with a scenario and a number
//! of threads. `cargo bench -p tailback-benches --bench packet-hops` takes about two minutes; give names of scenarios,
//! as in `-- dragonfly-16k`, to run only those.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use cpu_time::ProcessTime;
use tailback_scenario::Document;
use tailback_sim::Run;

/// The scenarios under `configs/bench`, with threads (0 is the sequential executor) and how often to run each.
const RUNS: &[(&str, usize, usize)] = &[
    ("dragonfly-16k", 0, 3),
    ("dragonfly-16k", 2, 3),
    ("dragonfly-16k-light", 0, 3),
    ("dragonfly-16k-adversarial", 0, 3),
    ("dragonfly-16k-idle", 0, 3),
    ("dragonfly-1k", 0, 3),
    ("dragonfly-million", 2, 1),
];

/// What a run took.
#[derive(Clone, Copy, Debug)]
struct Cost {
    wall_s: f64,
    cpu_s: f64,
    hops: f64,
    peak_mib: f64,
}

impl Cost {
    fn millions_per_cpu_s(self) -> f64 {
        self.hops / self.cpu_s / 1e6
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, name, threads, cycles] = arguments.as_slice()
        && word == "one"
    {
        run_one(name, threads.parse().expect("a number of threads"), cycles.parse().ok());
        return;
    }
    // As criterion's benches do, `--test` only shows that everything runs.
    let short = arguments.iter().any(|argument| argument == "--test");
    let chosen: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    println!(
        "{:<28}{:>8}{:>10}{:>10}{:>14}{:>12}",
        "scenario", "threads", "wall s", "CPU s", "M hops/CPU s", "peak MiB"
    );
    let mut costs = BTreeMap::new();
    for &(name, threads, repetitions) in RUNS {
        let wanted = chosen.is_empty() || chosen.iter().any(|chosen| *chosen == name);
        // A million nodes are too much for a look at whether it works.
        if !wanted || (short && name.ends_with("million")) {
            continue;
        }
        let repetitions = if short { 1 } else { repetitions };
        let best = (0..repetitions).map(|_| measure(name, threads, short)).min_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s));
        let cost = best.expect("it ran");
        let Cost { wall_s, cpu_s, peak_mib, .. } = cost;
        let speed = cost.millions_per_cpu_s();
        println!("{name:<28}{threads:>8}{wall_s:>10.2}{cpu_s:>10.2}{speed:>14.2}{peak_mib:>12.0}");
        costs.insert((name, threads), cost);
    }
    compare(&costs);
}

/// The ratios that the figures are for.
fn compare(costs: &BTreeMap<(&str, usize), Cost>) {
    let ratio = |what: &str, value: Option<f64>| {
        if let Some(value) = value {
            println!("{what:<58}{value:>6.2}");
        }
    };
    let cost = |name, threads| costs.get(&(name, threads)).copied();
    let speed = |name| cost(name, 0).map(Cost::millions_per_cpu_s);
    let over = |a: Option<f64>, b: Option<f64>| Some(a? / b?);
    let half = speed("dragonfly-16k");
    let wall = |threads| cost("dragonfly-16k", threads).map(|cost| cost.wall_s);
    ratio("two threads over one, wall", over(wall(0), wall(2)));
    ratio("cost of a packet-hop, 16,512 nodes over 1,056", over(speed("dragonfly-1k"), half));
    ratio("cost of a packet-hop, load 0.001 over load 0.5", over(half, speed("dragonfly-16k-idle")));
}

fn measure(name: &str, threads: usize, short: bool) -> Cost {
    let cycles = if short { "50" } else { "all" };
    let this = std::env::current_exe().expect("this program has a path");
    let output = Command::new(this)
        .args(["one", name, &threads.to_string(), cycles])
        .output()
        .expect("this program can be called again");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("numbers");
    let numbers: Vec<f64> = text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    let [wall_s, cpu_s, hops, peak_mib] = numbers[..] else { panic!("four numbers, not {text}") };
    Cost { wall_s, cpu_s, hops, peak_mib }
}

/// Runs a scenario in this process and prints what it took.
fn run_one(name: &str, threads: usize, cycles: Option<u64>) {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "..", "configs", "bench", &format!("{name}.toml")].iter().collect();
    let text = std::fs::read_to_string(&path).expect("the scenario is there");
    let mut document = Document::read(name, &text);
    if let Some(cycles) = cycles {
        document = document.with("measure.warmup=0").with(&format!("measure.cycles={cycles}"));
    }
    let scenario = document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let mut run = Run::new(&scenario, threads).expect("threads start");
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    run.finish(|_| ControlFlow::Continue(())).expect("it runs");
    let (wall_s, cpu_s) = (wall.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    let findings = run.findings().expect("everything adds up");
    println!("{wall_s} {cpu_s} {} {}", findings.packet_hops, peak_mib());
}

/// The most memory that this process has had in use, where the system tells; else 0.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    let kibibytes = line.split_whitespace().next().and_then(|number| number.parse::<f64>().ok());
    kibibytes.unwrap_or(0.0) / 1024.0
}
