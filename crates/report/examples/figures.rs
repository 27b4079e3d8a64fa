//! Figures of made-up results on one page, to judge their looks: `cargo run --example figures > figures.html`.

use tailback_report::{Curve, Figure};

const NAMES: [&str; 9] =
    ["minimal", "Valiant", "UGAL-L", "contention-based", "PiggyBack", "ECtN", "optimum", "PAR", "OLM"];

/// The load at which an algorithm saturates.
fn saturation(index: usize) -> f64 {
    0.35 + 0.07 * index as f64
}

fn latency(index: usize, load: f64) -> f64 {
    let room = saturation(index) - load;
    let waiting = if room > 0.004 { 8.0 * load / room } else { 2500.0 - 12_000.0 * room };
    130.0 + 25.0 * index as f64 + waiting
}

fn accepted(index: usize, load: f64) -> f64 {
    load.min(saturation(index) + 0.02 * (load - saturation(index)))
}

/// The first algorithms over loads up to 0.9, with error bars if wanted.
fn over_load(count: usize, uncertain: bool, value: fn(usize, f64) -> f64) -> Vec<Curve> {
    let loads = || (1..=18).map(|step| f64::from(step) * 0.05);
    let curve = |index: usize| Curve {
        name: NAMES[index].to_owned(),
        points: loads().map(|load| (load, value(index, load))).collect(),
        half_widths: uncertain.then(|| loads().map(|load| 20.0 * load * load).collect()),
    };
    (0..count).map(curve).collect()
}

fn over_time(index: usize) -> Curve {
    let bump = |time: f64| 0.3 / (1.0 + ((time - 20_000.0) / 2000.0).powi(2)) + 0.02 * (time / 90.0).sin();
    let points = (0..400).map(|step| f64::from(step) * 100.0);
    let points = points.map(|time| (time, 0.4 + 0.1 * index as f64 + bump(time))).collect();
    Curve { name: NAMES[index].to_owned(), points, half_widths: None }
}

fn main() {
    let uniform = "Uniform traffic on a dragonfly of 16,512 nodes";
    let adversarial = "Adversarial traffic on a dragonfly of 16,512 nodes";
    let figures = [
        Figure::latency(uniform, "cycles", over_load(5, true, latency)),
        Figure::latency(uniform, "ns", over_load(9, false, latency)),
        Figure::latency("One curve", "cycles", over_load(1, true, |index, load| latency(index, 0.35 * load))),
        Figure::throughput(adversarial, over_load(6, false, accepted)),
        Figure::time_series("After a hotspot", "accepted load (flits/node/cycle)", (0..3).map(over_time).collect()),
        Figure::latency("Nothing yet", "cycles", Vec::new()),
    ];
    println!("<!doctype html><meta charset=\"utf-8\"><title>figures</title>");
    figures.iter().for_each(|figure| println!("{}", figure.to_svg()));
}
