//! The figures of the README: packet-hops per CPU second on fixed scenarios, memory, and what threads gain.
//!
//! `cargo bench -p tailback-benches --bench packet-hops` takes about two minutes; give names of scenarios,
//! as in `-- dragonfly-16k`, to run only those.

use std::collections::BTreeMap;

use tailback_benches::whole_runs::{Cost, asked, measure};

/// The scenarios under `configs/bench`, with threads (0 is the sequential executor) and how often to run each.
const RUNS: &[(&str, usize, usize)] = &[
    ("dragonfly-16k", 0, 3),
    ("dragonfly-16k", 2, 3),
    ("dragonfly-16k-light", 0, 3),
    ("dragonfly-16k-adversarial", 0, 3),
    ("dragonfly-16k-idle", 0, 3),
    ("dragonfly-1k", 0, 3),
    ("dragonfly-million", 2, 1),
    ("tree-512", 1, 3),
    ("tree-512", 2, 3),
];

fn main() {
    let (chosen, short) = asked();
    println!(
        "{:<28}{:>8}{:>10}{:>10}{:>14}{:>12}",
        "scenario", "threads", "wall s", "CPU s", "M hops/CPU s", "peak MiB"
    );
    let mut costs = BTreeMap::new();
    for &(name, threads, repetitions) in RUNS {
        let wanted = chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
        // A million nodes are too much for a look at whether it works.
        if !wanted || (short && name.ends_with("million")) {
            continue;
        }
        let repetitions = if short { 1 } else { repetitions };
        let best =
            (0..repetitions).map(|_| measure(name, threads, &[], short)).min_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s));
        let cost = best.expect("it ran");
        let Cost { wall_s, cpu_s, peak_mib, .. } = cost;
        let speed = cost.millions_per_cpu_s();
        println!("{name:<28}{threads:>8}{wall_s:>10.2}{cpu_s:>10.2}{speed:>14.2}{peak_mib:>12.0}");
        costs.insert((name, threads), cost);
    }
    compare(&costs);
    if let Some(default) = costs.get(&("tree-512", 1)) {
        let single = measure("tree-512", 1, &["execution.regions=1".to_owned()], short);
        println!("{:<58}{:>6.2}", "512-host tree, default regions over one, CPU", default.cpu_s / single.cpu_s);
    }
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
    let tree = |threads| cost("tree-512", threads).map(|cost| cost.wall_s);
    ratio("two threads over one, wall, 512-host tree", over(tree(1), tree(2)));
    ratio("cost of a packet-hop, 16,512 nodes over 1,056", over(speed("dragonfly-1k"), half));
    ratio("cost of a packet-hop, load 0.001 over load 0.5", over(half, speed("dragonfly-16k-idle")));
}
