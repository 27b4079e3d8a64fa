//! `tailback run`: one scenario, one report.

mod checkpoint;
mod suggestion;
mod trace;

use std::ops::ControlFlow;
use std::time::Instant;

use tailback_report::{Interruption, Report};
use tailback_scenario::Scenario;
use tailback_sim::{Ending, Exchange, Failure, Findings, Plan, Progress, Run, Timing, Tracing};

use self::checkpoint::{Checkpoint, Checkpoints};
use self::trace::Trace;
use crate::arguments::{Format, RunArguments, ScenarioArguments};
use crate::complaint::Complaint;
use crate::host::Stopwatch;
use crate::output::{count, mebibytes, say, tell_line};
use crate::progress::Bar;
use crate::results::{CHECKPOINT, Directory, INTERRUPTED, REPORT};
use crate::store::VERSION;
use crate::{input, interrupt, ranks};

/// Runs the command.
pub fn run(arguments: &RunArguments) -> Result<(), Complaint> {
    let mut exchange = ranks::join()?;
    let prepared = Prepared::of(arguments, exchange.as_deref());
    let prepared = ranks::agree(exchange.as_deref_mut(), prepared)?;
    prepared.tell(arguments.quiet);
    prepared.run(arguments, exchange)
}

/// A run that can begin.
struct Prepared {
    scenario: Scenario,
    /// Of this process.
    threads: usize,
    plan: Plan,
    traced: Option<Tracing>,
    /// Where the run goes on, if it was ended before.
    checkpoint: Option<Checkpoint>,
    checkpoints: Option<Checkpoints>,
    /// Where results go, if this is the process that writes them.
    directory: Option<Directory>,
    is_first: bool,
}

impl Prepared {
    fn of(arguments: &RunArguments, exchange: Option<&dyn Exchange>) -> Result<Self, Complaint> {
        let (is_first, ranks) = exchange.map_or((true, 1), |exchange| (exchange.rank() == 0, exchange.ranks()));
        let checkpoint = arguments.resume.as_deref().map(Checkpoint::read).transpose()?;
        let scenario = match &checkpoint {
            Some(checkpoint) => checkpoint.scenario(arguments.threads)?,
            None => scenario(arguments)?,
        };
        // Several processes are as many threads as were asked for.
        let threads =
            if ranks > 1 { scenario.execution.threads.unwrap_or(1) as usize } else { input::threads(&scenario) };
        let plan = input::plan(&scenario, threads.max(1) * ranks)?;
        let traced = trace::wanted(&scenario, arguments)?;
        if traced.is_some() && ranks > 1 {
            return Err(Complaint::bad_input("a trace is made by one process: start it without the others"));
        }
        trace::check_out(arguments)?;
        let out = arguments.out.as_deref().or(arguments.resume.as_deref());
        let directory = out.filter(|_| is_first).map(Directory::at).transpose()?;
        if let Some(directory) = &directory {
            directory.refuse_others(&scenario.digest)?;
            directory.refuse_sweep()?;
            if checkpoint.is_none() {
                directory.refuse_unfinished()?;
            }
        }
        let mut checkpoints = Checkpoints::of(arguments, &scenario, out, checkpoint.as_ref())?;
        if is_first {
            checkpoints.iter().for_each(Checkpoints::remove_leftovers);
        } else {
            checkpoints.iter_mut().for_each(Checkpoints::follow);
        }
        // Before the first word: whoever has read it may interrupt.
        if ranks > 1 {
            interrupt::listen_as_one_of_several();
        } else {
            interrupt::listen();
        }
        Ok(Self { scenario, threads, plan, traced, checkpoint, checkpoints, directory, is_first })
    }

    /// Tells what it will take.
    fn tell(&self, quiet: bool) {
        if !quiet {
            let Plan { nodes, routers, regions, memory_bytes, .. } = self.plan;
            let [nodes, routers, regions] =
                [(nodes, "node"), (routers, "router"), (regions, "region")].map(|(n, thing)| count(n, thing));
            tell_line!("{nodes}, {routers}, {regions}, about {} MiB", mebibytes(memory_bytes));
        }
    }

    fn run(mut self, arguments: &RunArguments, exchange: Option<Box<dyn Exchange>>) -> Result<(), Complaint> {
        let (scenario, threads, are_several) = (&self.scenario, self.threads, exchange.is_some());
        let until_drained = scenario.measure.until_drained;
        let new_bar = if until_drained { Bar::at_most } else { Bar::new };
        let mut bar = new_bar(scenario.measure.warmup + scenario.measure.cycles, arguments.quiet || !self.is_first);
        let run = match (self.traced, exchange) {
            (_, Some(exchange)) => Run::together(scenario, threads, exchange),
            (Some(what), None) => Run::tracing(scenario, threads, what),
            (None, None) => Run::new(scenario, threads),
        };
        let mut run = ranks::together(run, are_several)?;
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.load(&mut run, are_several)?;
        }
        let hops_before = run.progress().packet_hops;
        let show = |progress: &Progress, wall: &Instant| {
            bar.show(progress.cycle, || {
                let come = speed(progress, hops_before, wall.elapsed().as_secs_f64());
                let Progress { cycle, cycles, .. } = progress;
                format!("{cycle} of {}{cycles} cycles, {come}", if until_drained { "at most " } else { "" })
            });
        };
        let outcome = finish(&mut run, Stopwatch::of_process, show, self.checkpoints.as_mut());
        bar.clear();
        let trace = Trace::of(&run, arguments);
        trace.iter().for_each(Trace::show); // of a run that fails, too: it may tell why
        let told = match ranks::together(outcome, are_several) {
            Ok(Some(simulated)) => self.tell_results(arguments, simulated, trace.as_ref()),
            Ok(None) => Ok(()),
            Err(complaint) => Err(complaint),
        };
        // What was simulated is not lost if the trace cannot be written.
        match (told, trace::write_chrome(&run, arguments)) {
            (Err(complaint), Err(unwritten)) => {
                unwritten.tell();
                Err(complaint)
            }
            (told, written) => told.and(written),
        }
    }

    /// Prints and writes what was found.
    fn tell_results(
        &self,
        arguments: &RunArguments,
        simulated: Simulated,
        trace: Option<&Trace>,
    ) -> Result<(), Complaint> {
        let (scenario, directory) = (&self.scenario, self.directory.as_ref());
        let Simulated { ending, findings, timing } = simulated;
        let hint = self.checkpoints.as_ref().and_then(Checkpoints::hint);
        let report = findings.report(scenario, VERSION, &timing);
        if ending == Ending::Stopped && report.cycles.measured == 0 {
            let then = hint.unwrap_or_else(|| "nothing was written".to_owned());
            return Err(interrupted(&report, &format!("before anything was measured; {then}")));
        }
        // What cannot be written is printed all the same: it may have taken long.
        let written = directory.map_or(Ok(()), |directory| {
            write(directory, scenario, &findings, &report)?;
            trace.map_or(Ok(()), |trace| trace.write(directory, report.interrupted.is_some()))
        });
        match arguments.format {
            Format::Json => say!("{}", report.to_json()),
            Format::Text => say!("{}", report.summary_text()),
        }
        if ending == Ending::Stopped {
            written?;
            let kept = directory.map(|directory| format!("{} keeps it", directory.path(INTERRUPTED).display()));
            let more: String = [kept, hint].into_iter().flatten().map(|what| format!("; {what}")).collect();
            let what = format!("the report is about the cycles until then, and no result{more}");
            return Err(interrupted(&report, &what));
        }
        if arguments.format == Format::Text && !arguments.quiet && self.checkpoint.is_none() {
            suggestion::tell(&named(arguments).file, scenario);
        }
        written?;
        // What is on disk as a result need not be simulated again.
        directory.map_or(Ok(()), |directory| directory.remove(CHECKPOINT))
    }
}

/// The scenario with what was said beside it.
fn scenario(arguments: &RunArguments) -> Result<Scenario, Complaint> {
    let document = input::document(&named(arguments))?;
    input::resolve(&input::with_options(document, arguments.seed, arguments.threads))
}

/// The file that the arguments name, and what is laid over it.
fn named(arguments: &RunArguments) -> ScenarioArguments {
    ScenarioArguments { file: arguments.file.clone().unwrap_or_default(), set: arguments.set.clone() }
}

/// What is said of a run that somebody has stopped.
fn interrupted(report: &Report, what_then: &str) -> Complaint {
    let Interruption { cycle, of } = report.interrupted.expect("the run was stopped before its end");
    Complaint::Interrupted(format!("interrupted in cycle {cycle} of {of}: {what_then}"))
}

/// Writes a result; or what there is of one, under names that nobody takes for it.
fn write(directory: &Directory, scenario: &Scenario, findings: &Findings, report: &Report) -> Result<(), Complaint> {
    let interrupted = report.interrupted.is_some();
    let (name, series) = if interrupted { (INTERRUPTED, "interrupted-series") } else { (REPORT, "series") };
    directory.write(name, report.to_json().as_bytes())?;
    directory.write("scenario.toml", scenario.text.as_bytes())?;
    findings.series(scenario).map_or(Ok(()), |table| directory.write_table(series, &table))?;
    if !interrupted {
        directory.write_table("histograms", &findings.histograms(scenario))?;
        if let Some(messages) = findings.messages(scenario) {
            directory.write_table("messages", &messages)?;
        }
        findings.trees(scenario).map_or(Ok(()), |table| directory.write_table("trees", &table))?;
        findings.links(scenario).map_or(Ok(()), |table| directory.write_table("links", &table))?;
    }
    let mut outdated =
        [INTERRUPTED, "interrupted-series.csv", "interrupted-series.parquet"].into_iter().chain(trace::INTERRUPTED);
    if interrupted { Ok(()) } else { outdated.try_for_each(|name| directory.remove(name)) }
}

/// What a simulation has come to.
pub struct Simulated {
    /// Whether it came to its end.
    pub ending: Ending,
    pub findings: Findings,
    pub timing: Timing,
}

/// Simulates a scenario to its end, unless somebody asks to stop. What is timed by the stopwatch is the simulation,
/// without reading the scenario and building the network; `show` is told when it began.
pub fn simulate(
    scenario: &Scenario,
    threads: usize,
    start: fn() -> Stopwatch,
    show: impl FnMut(&Progress, &Instant) + Send,
) -> Result<Simulated, Complaint> {
    let simulated = finish(&mut Run::new(scenario, threads)?, start, show, None)?;
    Ok(simulated.expect("a process alone is the first one"))
}

/// The same for a run that is built, of which checkpoints may be wanted. Of several processes the first has what was found.
fn finish(
    run: &mut Run<'_>,
    start: fn() -> Stopwatch,
    mut show: impl FnMut(&Progress, &Instant) + Send,
    mut checkpoints: Option<&mut Checkpoints>,
) -> Result<Option<Simulated>, Failure> {
    let (stopwatch, began) = (start(), Instant::now());
    let ending = loop {
        let is_due = || checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.is_due());
        let ending = run.finish(|progress| {
            show(progress, &began);
            if interrupt::asked() || is_due() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let (Ending::Stopped, Some(checkpoints)) = (ending, checkpoints.as_mut()) {
            checkpoints.write(run, stopwatch.read())?;
        }
        if ending == Ending::Reached || run.any_rank(interrupt::asked())? {
            break ending;
        }
    };
    let is_first = run.gather()?;
    let timing = stopwatch.read();
    let timing = Timing { cpu_s: run.sum_of_ranks((timing.cpu_s * 1e6) as u64)? as f64 / 1e6, ..timing };
    let timing = checkpoints.map_or(timing, |checkpoints| checkpoints.whole(timing));
    is_first.then(|| Ok(Simulated { ending, findings: run.findings()?, timing })).transpose()
}

/// How fast a run is, which began after so many packet-hops.
fn speed(progress: &Progress, hops_before: u64, seconds: f64) -> String {
    let speed = (progress.packet_hops - hops_before) as f64 / seconds.max(1e-3) / 1e6;
    format!("{speed:.1} M packet-hops/s")
}
