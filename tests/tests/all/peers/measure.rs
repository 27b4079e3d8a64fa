//! What ours makes of the peers' networks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tailback_report::Report;
use tailback_scenario::{Document, Scenario};

use super::compare::{Comparison, Point, Zone, zone};
use super::curves::Curve;
use super::reference::{Row, rows};
use crate::scenarios::{here, read, report_of};

/// Packets per run in the steady state: their paths differ in length, and their mean shall be known to a tenth of a percent.
const PACKETS: f64 = 150_000.0;
/// Cycles after which a network below saturation is in its steady state, and the fewest to measure then.
const WARM_UP: u64 = 4000;
const CYCLES_MIN: u64 = 20_000;
/// Runs close to saturation and beyond, where what is measured depends on when: as long as the file says, as theirs were.
const SEEDS: u64 = 6;

/// A run to be made.
struct Task {
    curve: usize,
    row: usize,
    document: Document,
}

/// What a run has found.
#[derive(Clone, Copy, Debug)]
pub struct Ours {
    pub accepted: f64,
    pub total: f64,
    pub network: f64,
}

/// Simulates all curves, on all cores.
pub fn all(curves: &'static [Curve]) -> Vec<Comparison> {
    let theirs: Vec<Vec<Row>> = curves.iter().map(rows).collect();
    let mut tasks: Vec<Task> = Vec::new();
    for (number, (curve, rows)) in curves.iter().zip(&theirs).enumerate() {
        let base = document(curve);
        for (row, theirs) in rows.iter().enumerate() {
            let documents = runs(&base, theirs, curve.load_factor, zone(rows, theirs, curve.tolerance));
            tasks.extend(documents.into_iter().map(|document| Task { curve: number, row, document }));
        }
    }
    let results = in_parallel(&tasks);
    let points = |curve: usize, rows: Vec<Row>| {
        let ours = |row: usize| {
            let of_row = tasks.iter().zip(&results).filter(|(task, _)| (task.curve, task.row) == (curve, row));
            let ours = mean(&of_row.map(|(_, ours)| *ours).collect::<Vec<_>>());
            // Loads are per node that sends, on both sides.
            Ours { accepted: ours.accepted / curves[curve].load_factor, ..ours }
        };
        let zones: Vec<Zone> = rows.iter().map(|row| zone(&rows, row, curves[curve].tolerance)).collect();
        let point = |(row, (theirs, zone))| Point { ours: ours(row), theirs, zone };
        rows.into_iter().zip(zones).enumerate().map(point).collect()
    };
    let comparison = |(number, rows)| Comparison { curve: &curves[number], points: points(number, rows) };
    theirs.into_iter().enumerate().map(comparison).collect()
}

/// The scenario of a curve.
pub fn document(curve: &Curve) -> Document {
    let document = read(&here("../configs/peers").join(format!("{}.toml", curve.scenario)));
    let sweep = document.sweep().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let variant = sweep.variants.iter().find(|variant| variant.name == curve.variant);
    let variant = variant.unwrap_or_else(|| panic!("{} has no variant {}", curve.scenario, curve.variant));
    variant.assignments.iter().fold(document, |document, set| document.with(set))
}

/// The runs for a point.
fn runs(base: &Document, theirs: &Row, load_factor: f64, zone: Zone) -> Vec<Document> {
    let document = base.clone().with(&format!("traffic.load={:.6}", theirs.offered * load_factor));
    if matches!(zone, Zone::Near | Zone::Beyond) {
        return (1..=SEEDS).map(|seed| document.clone().with(&format!("seed={seed}"))).collect();
    }
    let scenario = resolve(&document);
    let flits = scenario.workload.flows[0].size.mean() * PACKETS;
    let cycles = flits / theirs.offered / f64::from(scenario.topology.built.graph().nodes());
    let cycles = (cycles as u64).max(CYCLES_MIN);
    vec![document.with(&format!("measure.warmup={WARM_UP}")).with(&format!("measure.cycles={cycles}"))]
}

/// A document that has no mistakes, as a scenario.
pub fn resolve(document: &Document) -> Scenario {
    document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn in_parallel(tasks: &[Task]) -> Vec<Ours> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(number) else { break };
                    let ours = simulate(&resolve(&task.document));
                    done.lock().expect("nobody panics with the lock").push((number, ours));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("nobody panics with the lock");
    done.sort_by_key(|&(number, _)| number);
    done.into_iter().map(|(_, ours)| ours).collect()
}

fn simulate(scenario: &Scenario) -> Ours {
    let Report { total, .. } = report_of(scenario, 0);
    let latency = |mean: Option<f64>| mean.expect("packets arrive");
    Ours {
        accepted: total.accepted_load,
        total: latency(total.latency.message.mean),
        network: latency(total.latency.network.mean),
    }
}

fn mean(runs: &[Ours]) -> Ours {
    let mean = |value: fn(&Ours) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
    Ours { accepted: mean(|run| run.accepted), total: mean(|run| run.total), network: mean(|run| run.network) }
}
