//! A figure that is being reproduced: its runs, and what becomes of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tailback_reproduce::{
    Basis, Claim, Computation, Filled, Finding, Outcome, RecordedRuns, Results, Row, Scale, Series, Table,
    digest_of_scenarios,
};
use tailback_sim::Plan;

use super::catalogue::Entry;
use super::finished::CLAIMS;
use super::folder;
use crate::complaint::Complaint;
use crate::host::{self, Stopwatch};
use crate::interrupt;
use crate::output::{count, tell_line, there_already};
use crate::progress::duration;
use crate::rendering::Notes;
use crate::results::Directory;
use crate::store::{Kept, Store, VERSION};
use crate::work::{self, Order, Task};

/// A figure that is being reproduced.
pub struct Project {
    pub entry: Entry,
    pub scale: Scale,
    directory: Directory,
    store: Store,
    tasks: Vec<Task>,
    /// Point and seed of each task.
    points: Vec<(usize, usize)>,
    /// What is computed instead of run.
    computations: Vec<Computation>,
    /// Seconds of processor time that this took.
    computed_cpu_s: f64,
    results: Results,
    /// Seconds that all invocations together took.
    times: Times,
}

/// How long it took to make a figure, over all invocations.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Times {
    pub wall_s: f64,
}

/// The file that keeps them.
const TIMES: &str = "times.json";

impl Project {
    /// Plans a figure. Mistakes of any run are told before anything is run.
    pub fn new(entry: Entry, scale: Scale, out: &Path, notes: &mut Notes) -> Result<Self, Complaint> {
        let path = folder(out, &entry.group, &entry.name, scale);
        let experiment = entry.figure.experiment(scale);
        let computations = entry.figure.computations(scale)?;
        let tasks = match entry.figure.basis {
            Basis::Formula => Vec::new(),
            Basis::Scenario(_) => {
                let base = experiment.base(&entry.scenario);
                let runs = experiment.sweep.runs(&base);
                runs.map(|run| Task::new(run.document, notes)).collect::<Result<Vec<_>, _>>()?
            }
        };
        let points = (0..tasks.len()).map(|run| experiment.sweep.place(run)).collect();
        let times = std::fs::read(path.join(TIMES)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(Self {
            directory: Directory::at(&path)?,
            // Figures of a paper share their runs: two drawings of the same are made of the same.
            store: Store::at(&out.join(&entry.group))?,
            results: Results::new(experiment),
            times: times.unwrap_or_default(),
            entry,
            scale,
            tasks,
            points,
            computations,
            computed_cpu_s: 0.0,
        })
    }

    pub fn folder(&self) -> PathBuf {
        self.directory.path("")
    }

    /// The runs that it is made of.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Whether its points are computed, and not run.
    pub fn is_computed(&self) -> bool {
        !self.computations.is_empty()
    }

    pub fn times(&self) -> Times {
        self.times
    }

    /// Seconds of processor time that its runs took, or what is computed instead.
    pub fn cpu_s(&self) -> f64 {
        self.results.outcomes().map(|outcome| outcome.report.performance.cpu_s).sum::<f64>() + self.computed_cpu_s
    }

    /// What its verdicts are about.
    pub fn recorded_runs(&self) -> RecordedRuns {
        let run = self.tasks.iter().map(|task| task.digest.as_str());
        let computed = self.computations.iter().map(|computation| computation.formula.text.as_str());
        RecordedRuns {
            program: VERSION.to_owned(),
            seeds: self.results.seeds(),
            count: self.tasks.len() + self.computations.len(),
            scenarios: digest_of_scenarios(run.chain(computed)),
        }
    }

    pub fn findings(&self) -> Vec<(&Claim, Finding)> {
        self.entry.figure.findings(self.scale, &self.results)
    }

    /// The claims as they are written down, with the runs that they were found in.
    pub fn rows(&self) -> Vec<Row> {
        let scenarios = self.recorded_runs().scenarios;
        let rows = self.entry.figure.rows(&self.entry.group, &self.entry.name, self.scale, &self.results);
        rows.into_iter().map(|row| Row { scenarios: scenarios.clone(), ..row }).collect()
    }

    /// How large the networks are that its drawings show, and whether that is as large as they should be.
    fn size_in_words(&self) -> String {
        if self.entry.figure.basis == Basis::Formula {
            return "computed, without a network".to_owned();
        }
        let nodes = self.results.outcomes().map(|outcome| outcome.report.nodes);
        let sizes: BTreeSet<u64> = nodes.collect();
        let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else { return String::new() };
        let nodes = if least == most { format!("{most} nodes") } else { format!("{least} to {most} nodes") };
        match self.scale {
            Scale::Full => format!("{nodes}, full size"),
            // What is varied may be the size.
            Scale::Quick if self.full_nodes() == Some(*most) => format!("{nodes}, full size, fewer or shorter runs"),
            Scale::Quick => format!("{nodes}, scaled down"),
        }
    }

    /// How many nodes there are at full size, before anything is varied.
    fn full_nodes(&self) -> Option<u64> {
        let experiment = self.entry.figure.experiment(Scale::Full);
        let scenario = experiment.base(&self.entry.scenario).resolve().ok()?;
        Some(Plan::on(&scenario, 1).nodes.into())
    }

    /// The tables, filled in as far as runs are there.
    pub fn tables(&self) -> Vec<Filled<'_>> {
        self.entry.figure.sheets.iter().map(|sheet| sheet.fill(self.scale, &self.results)).collect()
    }

    /// Writes the drawings with their points, the tables, the claims and how long it took.
    pub fn write(&self) -> Result<(), Complaint> {
        let size = self.size_in_words();
        for panel in &self.entry.figure.panels {
            let drawing = panel.draw(&self.results);
            // Axes are those of the paper, and of a network of its size.
            let mut drawing = if self.scale == Scale::Full { drawing } else { drawing.with_axes_that_fit() };
            drawing.caption = format!("{size}\n{}", drawing.caption).trim().to_owned();
            self.directory.write(&format!("{}.svg", panel.name), drawing.to_svg().as_bytes())?;
            self.directory.write_table(&panel.name, &drawing.to_table())?;
        }
        for filled in self.tables() {
            self.directory.write_table(&filled.sheet.name, &filled.to_table())?;
            self.directory.write(&format!("{}.md", filled.sheet.name), filled.to_markdown().as_bytes())?;
        }
        let json = serde_json::to_string_pretty(&self.rows()).expect("plain data") + "\n";
        self.directory.write(CLAIMS, json.as_bytes())?;
        let (figure, findings) = (&self.entry.figure, self.findings());
        let table = Table { title: &figure.title, source: &figure.source, scale: self.scale, findings: &findings };
        self.directory.write("claims.md", table.to_markdown().as_bytes())?;
        self.directory.write(TIMES, serde_json::to_string(&self.times).expect("plain data").as_bytes())
    }

    fn take(&mut self, task: usize, kept: Kept) -> Result<(), Complaint> {
        let (point, seed) = self.points[task];
        let series = kept.series.map(Series::new).transpose();
        let series = series.map_err(|error| Complaint::failed(format!("a time series is damaged: {error}")))?;
        self.results.put(point, seed, Outcome { report: kept.report, series });
        Ok(())
    }

    /// Computes what is computed, on as many threads as runs are made at the same time. Tells whether somebody asked to stop.
    pub fn compute(&mut self, jobs: Option<u32>, quiet: bool) -> bool {
        if self.computations.is_empty() {
            return false;
        }
        let start = Instant::now();
        let threads = jobs.map_or_else(host::cores, |jobs| jobs as usize).min(self.computations.len());
        if !quiet {
            tell_line!("{}, {threads} at a time", count(self.computations.len() as u32, "computation"));
        }
        let next = AtomicUsize::new(0);
        let compute = || {
            let (stopwatch, mut found) = (Stopwatch::of_thread(), Vec::new());
            while !interrupt::asked()
                && let Some(computation) = self.computations.get(next.fetch_add(1, Ordering::Relaxed))
            {
                found.push((computation.point, computation.seed, computation.formula.compute()));
            }
            (found, stopwatch.read().cpu_s)
        };
        let shares: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(compute)).collect();
            threads.into_iter().map(|thread| thread.join().expect("formulas are computed without panics")).collect()
        });
        for (found, cpu_s) in shares {
            self.computed_cpu_s += cpu_s;
            found.into_iter().for_each(|(point, seed, numbers)| self.results.put(point, seed, numbers));
        }
        self.times.wall_s = start.elapsed().as_secs_f64();
        interrupt::asked()
    }

    /// Takes the runs that are there. The others are those to be made: dearest first, so that no long one is left for the end.
    fn missing(&mut self) -> Result<Vec<usize>, Complaint> {
        let mut missing = Vec::new();
        for task in 0..self.tasks.len() {
            match self.store.find(&self.tasks[task].digest, self.tasks[task].series) {
                Some(kept) => self.take(task, kept)?,
                None => missing.push(task),
            }
        }
        missing.sort_by(|&a, &b| self.tasks[b].weight.total_cmp(&self.tasks[a].weight));
        Ok(missing)
    }
}

/// Makes the runs that are missing of so many, figure by figure, each of them once. Tells whether somebody asked to stop.
pub fn run_all(
    projects: &mut [Project],
    wanted: &[Vec<FigureRun>],
    of: usize,
    jobs: Option<u32>,
    quiet: bool,
) -> Result<bool, Complaint> {
    if of == 0 {
        return Ok(false);
    }
    let jobs = work::jobs(jobs, projects.iter().flat_map(|project| &project.tasks))?;
    if !quiet {
        let known = there_already(of - wanted.len());
        tell_line!("{}, {jobs} at a time{known}", count(of as u32, "run"));
    }
    let order = |users: &Vec<FigureRun>| {
        let FigureRun { project, task } = users[0];
        Order { task: &projects[project].tasks[task], store: &projects[project].store, histograms: false }
    };
    let orders: Vec<Order<'_>> = wanted.iter().map(order).collect();
    let (start, found) = (Instant::now(), Mutex::new(Vec::new()));
    let pass_on = |order: usize, kept: Kept| found.lock().expect("no worker has panicked").push((order, kept));
    let interrupted = work::run_all(&orders, jobs, quiet, |_| false, pass_on)?;
    let found = found.into_inner().expect("no worker has panicked");
    let cpu_s = |kept: &Kept| kept.report.performance.cpu_s;
    let total: f64 = found.iter().map(|(_, kept)| cpu_s(kept)).sum();
    // The time that has passed is shared out by the processor time that runs took.
    let wall_per_cpu = start.elapsed().as_secs_f64() / total.max(f64::MIN_POSITIVE);
    for (order, kept) in found {
        projects[wanted[order][0].project].times.wall_s += wall_per_cpu * cpu_s(&kept);
        for &FigureRun { project, task } in &wanted[order] {
            projects[project].take(task, kept.clone())?;
        }
    }
    Ok(interrupted)
}

/// A run, as a figure needs it.
#[derive(Clone, Copy)]
pub struct FigureRun {
    project: usize,
    task: usize,
}

/// Takes the runs that are there. The others are those to be made, each with all figures that need it.
pub fn wanted(projects: &mut [Project]) -> Result<Vec<Vec<FigureRun>>, Complaint> {
    let mut wanted: Vec<Vec<FigureRun>> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (project, planned) in projects.iter_mut().enumerate() {
        for task in planned.missing()? {
            let order = *known.entry(planned.tasks[task].digest.clone()).or_insert(wanted.len());
            if order == wanted.len() {
                wanted.push(Vec::new());
            }
            wanted[order].push(FigureRun { project, task });
        }
    }
    Ok(wanted)
}

/// How many runs all figures need, each counted once.
pub fn runs(projects: &[Project]) -> usize {
    projects.iter().flat_map(Project::tasks).map(|task| &task.digest).collect::<BTreeSet<_>>().len()
}

/// The digest of the scenario of a run, by the figures that need it.
pub fn digest<'p>(projects: &'p [Project], users: &[FigureRun]) -> &'p str {
    let FigureRun { project, task } = users[0];
    &projects[project].tasks[task].digest
}

/// What all figures together took.
pub fn took(projects: &[Project]) -> String {
    let wall: f64 = projects.iter().map(|project| project.times.wall_s).sum();
    let runs = projects.iter().flat_map(|project| project.results.outcomes()).map(|outcome| &outcome.report);
    let once: BTreeMap<&str, f64> = runs.map(|run| (run.scenario_digest.as_str(), run.performance.cpu_s)).collect();
    let computed: f64 = projects.iter().map(|project| project.computed_cpu_s).sum();
    let cpu = once.values().sum::<f64>() + computed;
    format!("took {} ({} of CPU), all invocations together", duration(wall), duration(cpu))
}
