//! Many runs, several at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tailback_scenario::{Document, Scenario};
use tailback_sim::{Ending, Plan};

use crate::commands::run::{Simulated, simulate};
use crate::complaint::Complaint;
use crate::host::{self, Stopwatch};
use crate::progress::Bar;
use crate::rendering::Notes;
use crate::store::{Kept, Store, VERSION};
use crate::{input, interrupt};

/// A run that is to be made. The scenario is resolved again when it is its turn: of many, most of the time only the
/// documents are held.
#[derive(Debug)]
pub struct Task {
    document: Document,
    pub digest: String,
    /// Whether it gives a time series.
    pub series: bool,
    /// The memory that it will take, and that it may take if the scenario says so.
    memory_bytes: u64,
    memory_allowed: Option<u64>,
    /// How long it will take, in a unit that is the same for all.
    pub weight: f64,
}

/// What a load of 0 costs, as a load.
const IDLE: f64 = 0.05;

impl Task {
    /// The run of a document, whose notes are told.
    pub fn new(document: Document, notes: &mut Notes) -> Result<Self, Complaint> {
        let scenario = document.resolve()?;
        notes.tell(&scenario.notes);
        let plan = Plan::on(&scenario, 1);
        Ok(Self {
            document,
            series: scenario.measure.series.is_some(),
            memory_bytes: plan.memory_bytes,
            memory_allowed: scenario.execution.memory_bytes,
            weight: weight(&scenario, plan.nodes),
            digest: scenario.digest,
        })
    }
}

/// Runs cost what their packets do.
fn weight(scenario: &Scenario, nodes: u32) -> f64 {
    let measure = scenario.measure;
    let cycles = measure.warmup + measure.cycles;
    let flows = scenario.workload.flows.iter();
    let sent: f64 = flows.map(|flow| flow.mean_load(0, cycles) * f64::from(flow.sources.len())).sum();
    cycles as f64 * (sent + IDLE * f64::from(nodes))
}

/// How many of these runs are made at the same time: as many as were asked for, or else as there are cores and as fit
/// into memory.
pub fn jobs<'t>(asked: Option<u32>, tasks: impl Iterator<Item = &'t Task> + Clone) -> Result<usize, Complaint> {
    let available = host::available_bytes();
    let fitting = |task: &Task| {
        let limit = task.memory_allowed.or(available).unwrap_or(u64::MAX);
        (limit / task.memory_bytes.max(1)).max(1) as usize
    };
    let count = tasks.clone().count().max(1);
    let fit = tasks.clone().map(fitting).min().unwrap_or(1);
    let jobs = asked.map_or_else(|| host::cores().min(fit), |jobs| jobs as usize).min(count);
    if let Some(largest) = tasks.max_by_key(|task| task.memory_bytes) {
        input::check_memory(largest.memory_bytes, largest.memory_allowed, jobs as u64)?;
    }
    Ok(jobs)
}

/// A run with the store that it goes to.
pub struct Order<'t> {
    pub task: &'t Task,
    pub store: &'t Store,
    /// Whether its histograms are kept, too.
    pub histograms: bool,
}

/// Makes all runs in their order, `jobs` at a time, keeps them and passes them on by their places. Before each, `skip`
/// says whether it has become unnecessary. Tells whether somebody asked to stop.
pub fn run_all(
    orders: &[Order<'_>],
    jobs: usize,
    quiet: bool,
    skip: impl Fn(usize) -> bool + Sync,
    pass_on: impl Fn(usize, Kept) + Sync,
) -> Result<bool, Complaint> {
    let next = AtomicUsize::new(0);
    let gauge = Gauge::new(orders, quiet);
    let failure = Mutex::new(None::<Complaint>);
    let stopped = || interrupt::asked() || failure.lock().expect("no worker has panicked").is_some();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(orders.len()) {
            scope.spawn(|| {
                while !stopped() {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(order) = orders.get(place) else { break };
                    if skip(place) {
                        gauge.finish(order.task.weight, 0);
                        continue;
                    }
                    match run_one(order, &gauge) {
                        Ok(kept) => pass_on(place, kept),
                        Err(complaint) => {
                            failure.lock().expect("no worker has panicked").get_or_insert(complaint);
                        }
                    }
                }
            });
        }
    });
    gauge.clear();
    match failure.into_inner().expect("no worker has panicked") {
        None => Ok(interrupt::asked()),
        Some(Complaint::Interrupted(_)) => Ok(true),
        Some(complaint) => Err(complaint),
    }
}

fn run_one(order: &Order<'_>, gauge: &Gauge) -> Result<Kept, Complaint> {
    let scenario = order.task.document.resolve()?;
    let (weight, told) = (order.task.weight, AtomicU64::new(0));
    // Runs share the cores among themselves, so each is sequential.
    let Simulated { ending, findings, timing } = simulate(&scenario, 0, Stopwatch::of_thread, |progress, _| {
        let units = (weight * progress.cycle as f64 / progress.cycles.max(1) as f64) as u64;
        gauge.advance(units - told.swap(units, Ordering::Relaxed));
    })?;
    if ending == Ending::Stopped {
        return Err(Complaint::Interrupted("the run is not kept, as it is not finished".to_owned()));
    }
    let kept = Kept { report: findings.report(&scenario, VERSION, &timing), series: findings.series(&scenario) };
    if order.histograms {
        order.store.keep_histograms(&kept.report.scenario_digest, &findings.histograms(&scenario))?;
    }
    order.store.keep(&kept)?;
    gauge.finish(weight, told.into_inner());
    Ok(kept)
}

/// How much of all runs is done, by their weights.
struct Gauge {
    bar: Mutex<Bar>,
    done: AtomicU64,
    finished: AtomicUsize,
    runs: usize,
}

impl Gauge {
    fn new(orders: &[Order<'_>], quiet: bool) -> Self {
        let total: f64 = orders.iter().map(|order| order.task.weight).sum();
        Self {
            bar: Mutex::new(Bar::new(total as u64, quiet)),
            done: AtomicU64::new(0),
            finished: AtomicUsize::new(0),
            runs: orders.len(),
        }
    }

    fn advance(&self, units: u64) {
        let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
        // Whoever comes while another tells leaves it to that one.
        if let Ok(mut bar) = self.bar.try_lock() {
            bar.show(done, || format!("{} of {} runs", self.finished.load(Ordering::Relaxed), self.runs));
        }
    }

    fn finish(&self, weight: f64, told: u64) {
        self.finished.fetch_add(1, Ordering::Relaxed);
        self.advance((weight as u64).saturating_sub(told));
    }

    fn clear(&self) {
        self.bar.lock().expect("nobody panics while telling").clear();
    }
}
