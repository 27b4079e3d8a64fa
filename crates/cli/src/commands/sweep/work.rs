//! The runs of a sweep, several at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tailback_scenario::{Document, Scenario, Sweep};
use tailback_sim::{Curves, SweepRun, sweep_runs};

use super::store::Store;
use crate::commands::run::simulate;
use crate::complaint::Complaint;
use crate::host::Stopwatch;
use crate::interrupt;
use crate::progress::Bar;

/// A run of a sweep.
pub struct Task {
    point: usize,
    seed: usize,
    pub scenario: Scenario,
}

/// All runs, point by point. Mistakes of any are told before anything is run.
pub fn tasks(document: &Document, sweep: &Sweep) -> Result<Vec<Task>, Complaint> {
    let task = |run: SweepRun| {
        let document = run.overrides.iter().fold(document.clone(), |document, set| document.with(set));
        Ok(Task { point: run.point, seed: run.seed, scenario: document.resolve()? })
    };
    sweep_runs(sweep).into_iter().map(task).collect()
}

/// Runs all tasks that have not been run before and lie on their curves, `jobs` at a time. Tells whether somebody asked
/// to stop.
pub fn run_all(
    tasks: &[Task],
    curves: &mut Curves,
    store: &Store,
    jobs: usize,
    quiet: bool,
) -> Result<bool, Complaint> {
    let next = AtomicUsize::new(0);
    let finished = AtomicUsize::new(0);
    let shared = Mutex::new((curves, None::<Complaint>));
    std::thread::scope(|scope| {
        for worker in 0..jobs {
            let (next, finished, shared) = (&next, &finished, &shared);
            scope.spawn(move || {
                let bar = Bar::new(tasks.len() as u64, "runs", quiet || worker > 0);
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tell = || bar.show(finished.load(Ordering::Relaxed) as u64, String::new);
                    if !run_one(task, store, shared, tell) {
                        break;
                    }
                    finished.fetch_add(1, Ordering::Relaxed);
                }
                bar.clear();
            });
        }
    });
    match shared.into_inner().expect("no worker has panicked").1 {
        None => Ok(false),
        Some(Complaint::Interrupted(_)) => Ok(true),
        Some(complaint) => Err(complaint),
    }
}

type Shared<'c> = Mutex<(&'c mut Curves, Option<Complaint>)>;

/// Runs a task unless that is not necessary. Tells whether to go on.
fn run_one(task: &Task, store: &Store, shared: &Shared<'_>, tell: impl Fn()) -> bool {
    {
        let shared = shared.lock().expect("no worker has panicked");
        if shared.1.is_some() || interrupt::asked() {
            return false;
        }
        if shared.0.is_beyond_end(task.point) {
            return true;
        }
    }
    let report = match store.find(&task.scenario.digest) {
        Some(report) => Ok(report),
        None => run_anew(task, store, tell),
    };
    let mut shared = shared.lock().expect("no worker has panicked");
    match report {
        Ok(report) => {
            shared.0.put(task.point, task.seed, report);
            true
        }
        Err(complaint) => {
            shared.1.get_or_insert(complaint);
            false
        }
    }
}

fn run_anew(task: &Task, store: &Store, tell: impl Fn()) -> Result<tailback_report::Report, Complaint> {
    // Runs share the cores among themselves, so each is sequential.
    let (findings, timing) = simulate(&task.scenario, 0, Stopwatch::of_thread, |_, _| tell())?;
    let report = findings.report(&task.scenario, env!("CARGO_PKG_VERSION"), &timing);
    store.keep(&report)?;
    Ok(report)
}
