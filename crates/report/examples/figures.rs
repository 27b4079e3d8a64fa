//! Figures of made-up results on one page, to judge their looks: `cargo run --example figures > figures.html`.

use tailback_report::{Curve, Figure, Size, Style};

const NAMES: [&str; 12] = [
    "minimal",
    "Valiant",
    "UGAL-L",
    "contention-based",
    "PiggyBack",
    "ECtN",
    "optimum",
    "PAR",
    "OLM",
    "UGAL-G",
    "Hybrid",
    "RLM",
];

/// The load at which an algorithm saturates.
fn saturation(index: usize) -> f64 {
    0.35 + 0.05 * index as f64
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
        ..Curve::default()
    };
    (0..count).map(curve).collect()
}

fn over_time(index: usize) -> Curve {
    let bump = |time: f64| 0.3 / (1.0 + ((time - 20_000.0) / 2000.0).powi(2)) + 0.02 * (time / 90.0).sin();
    let points = (0..400).map(|step| f64::from(step) * 100.0);
    let points = points.map(|time| (time, 0.4 + 0.1 * index as f64 + bump(time))).collect();
    Curve { name: NAMES[index].to_owned(), points, ..Curve::default() }
}

/// A small share of values that take ten to a hundred times as long.
fn distribution(index: usize) -> Curve {
    let share = |step: i32| 1.0 - 10_f64.powf(-f64::from(step) / 20.0);
    let points = (0..90).map(|step| (120.0 * 1.03_f64.powi(step * (index as i32 + 1)), share(step))).collect();
    Curve { name: NAMES[index].to_owned(), points, ..Curve::default() }
}

fn counts(index: usize) -> Curve {
    let count = |step: f64| (1e5 * (-((step - 20.0 - 5.0 * index as f64) / 8.0).powi(2)).exp()).floor();
    let points = (0..60).map(f64::from).map(|step| (100.0 * 1.05_f64.powf(step), count(step))).collect();
    Curve { name: NAMES[index].to_owned(), points, ..Curve::default() }
}

/// A curve over time with a band of what is known about it.
fn banded(index: usize) -> Curve {
    let curve = over_time(index);
    Curve { half_widths: Some(curve.points.iter().map(|point| 0.03 + point.0 * 1e-6).collect()), ..curve }
}

fn figures() -> Vec<Figure> {
    let uniform = "Uniform traffic on a dragonfly of 16,512 nodes";
    let adversarial = "Adversarial traffic on a dragonfly of 16,512 nodes";
    let load = "accepted load (flits/node/cycle)";
    let time = |count: usize| Figure::time_series("After a hotspot", load, (0..count).map(banded).collect());
    let twelve = Figure::latency(uniform, "ns", over_load(12, false, latency));
    let narrow = Figure { size: Size::SINGLE_COLUMN, ..Figure::latency(uniform, "ns", over_load(5, true, latency)) };
    let cdf = Figure {
        title: "Who waits how long".to_owned(),
        x_label: "message latency (ns)".to_owned(),
        y_label: "share of messages".to_owned(),
        curves: (0..3).map(distribution).collect(),
        style: Style::Line,
        log_x: true,
        percentiles: true,
        ..Figure::default()
    };
    let histogram = Figure {
        x_label: "message latency (ns)".to_owned(),
        y_label: "messages".to_owned(),
        curves: (0..3).map(counts).collect(),
        style: Style::Steps,
        log_x: true,
        log_y: true,
        ..Figure::default()
    };
    let categories = Figure {
        categories: ["round robin", "age", "random"].map(str::to_owned).to_vec(),
        curves: vec![Curve {
            name: "a".into(),
            points: vec![(0.0, 310.0), (1.0, 290.0), (2.0, 330.0)],
            ..Curve::default()
        }],
        x_label: "router.arbiter".to_owned(),
        y_label: "latency (ns)".to_owned(),
        ..Figure::default()
    };
    vec![
        Figure::latency(uniform, "cycles", over_load(5, true, latency)),
        twelve.clone(),
        Figure { size: Size::SINGLE_COLUMN, ..twelve.clone() },
        Figure { size: Size::DOUBLE_COLUMN, log_y: true, y_max: None, ..twelve },
        narrow,
        Figure::latency("One curve", "cycles", over_load(1, true, |index, load| latency(index, 0.35 * load))),
        Figure::throughput(adversarial, over_load(6, false, accepted)),
        Figure { warm_up: Some(5000.0), caption: "72 nodes, scaled down".to_owned(), ..time(3) },
        time(12),
        cdf,
        histogram,
        categories,
        Figure::latency("Nothing yet", "cycles", Vec::new()),
    ]
}

fn main() {
    println!("<!doctype html><meta charset=\"utf-8\"><title>figures</title>");
    figures().iter().for_each(|figure| println!("{}", figure.to_svg()));
}
