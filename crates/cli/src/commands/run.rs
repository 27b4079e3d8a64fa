//! `tailback run`: one scenario, one report.

mod checkpoint;
mod trace;

use std::ops::ControlFlow;
use std::time::Instant;

use tailback_report::{Interruption, Report};
use tailback_scenario::Scenario;
use tailback_sim::{Ending, Findings, Progress, Run, Timing, TracedMessage};

use self::checkpoint::{Checkpoint, Checkpoints};
use self::trace::Trace;
use crate::arguments::{Format, RunArguments, ScenarioArguments};
use crate::complaint::Complaint;
use crate::host::Stopwatch;
use crate::output::{count, mebibytes, say, tell_line};
use crate::progress::Bar;
use crate::results::{CHECKPOINT, Directory, INTERRUPTED, REPORT};
use crate::store::VERSION;
use crate::{input, interrupt};

/// Runs the command.
pub fn run(arguments: &RunArguments) -> Result<(), Complaint> {
    let checkpoint = arguments.resume.as_deref().map(Checkpoint::read).transpose()?;
    let scenario = match &checkpoint {
        Some(checkpoint) => checkpoint.scenario(arguments.threads)?,
        None => scenario(arguments)?,
    };
    let plan = input::plan(&scenario)?;
    let traced = traced(&scenario, arguments)?;
    let directory = arguments.out.as_deref().or(arguments.resume.as_deref()).map(Directory::at).transpose()?;
    if let Some(directory) = &directory {
        directory.refuse_others(&scenario.digest)?;
        if checkpoint.is_none() {
            directory.refuse_unfinished()?;
        }
    }
    let mut checkpoints = Checkpoints::of(arguments, &scenario, directory.as_ref(), checkpoint.as_ref())?;
    // Before the first word: whoever has read it may interrupt.
    interrupt::listen();
    if !arguments.quiet {
        let [nodes, routers, regions] = [(plan.nodes, "node"), (plan.routers, "router"), (plan.regions, "region")]
            .map(|(n, thing)| count(n, thing));
        tell_line!("{nodes}, {routers}, {regions}, about {} MiB", mebibytes(plan.memory_bytes));
    }
    let threads = input::threads(&scenario);
    let mut bar = Bar::new(scenario.measure.warmup + scenario.measure.cycles, arguments.quiet);
    let mut run = match traced {
        Some(message) => Run::tracing(&scenario, threads, message)?,
        None => Run::new(&scenario, threads)?,
    };
    if let Some(checkpoint) = &checkpoint {
        checkpoint.load(&mut run)?;
    }
    let hops_before = run.progress().packet_hops;
    let show = |progress: &Progress, wall: &Instant| {
        bar.show(progress.cycle, || speed(progress, hops_before, wall.elapsed().as_secs_f64()));
    };
    let outcome = finish(&mut run, Stopwatch::of_process, show, checkpoints.as_mut());
    bar.clear();
    let trace = Trace::of(&run, arguments);
    trace.iter().for_each(Trace::show); // of a run that fails, too: it may tell why
    let Simulated { ending, findings, timing } = outcome?;
    let report = findings.report(&scenario, VERSION, &timing);
    if ending == Ending::Stopped && report.cycles.measured == 0 {
        let hint = checkpoints.as_ref().and_then(Checkpoints::hint);
        let then = hint.unwrap_or_else(|| "nothing was written".to_owned());
        return Err(interrupted(&report, &format!("before anything was measured; {then}")));
    }
    // What cannot be written is printed all the same: it may have taken long.
    let written = directory.as_ref().map_or(Ok(()), |directory| {
        write(directory, &scenario, &findings, &report)?;
        trace.as_ref().map_or(Ok(()), |trace| trace.write(directory, report.interrupted.is_some()))
    });
    match arguments.format {
        Format::Json => say!("{}", report.to_json()),
        Format::Text => say!("{}", report.summary_text()),
    }
    if ending == Ending::Stopped {
        written?;
        let mut kept = directory
            .map_or_else(String::new, |directory| format!("; {} keeps it", directory.path(INTERRUPTED).display()));
        if let Some(hint) = checkpoints.as_ref().and_then(Checkpoints::hint) {
            kept += &format!("; {hint}");
        }
        return Err(interrupted(&report, &format!("the report is about the cycles until then, and no result{kept}")));
    }
    if arguments.format == Format::Text && !arguments.quiet && checkpoint.is_none() {
        suggest(arguments, &scenario);
    }
    written?;
    // What is on disk as a result need not be simulated again.
    directory.map_or(Ok(()), |directory| directory.remove(CHECKPOINT))
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

/// The message that is to be traced, if one is.
fn traced(scenario: &Scenario, arguments: &RunArguments) -> Result<Option<TracedMessage>, Complaint> {
    let message = arguments.trace_message.map(|choice| choice.find(scenario)).transpose();
    message.map_err(|error| Complaint::BadInput(error.to_string(), error.help()))
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
    finish(&mut Run::new(scenario, threads)?, start, show, None)
}

/// The same for a run that is built, of which checkpoints may be wanted.
fn finish(
    run: &mut Run<'_>,
    start: fn() -> Stopwatch,
    mut show: impl FnMut(&Progress, &Instant) + Send,
    mut checkpoints: Option<&mut Checkpoints>,
) -> Result<Simulated, Complaint> {
    let (stopwatch, began) = (start(), Instant::now());
    let ending = loop {
        let is_due = || checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.is_due());
        let ending = run.finish(|progress| {
            show(progress, &began);
            if interrupt::asked() || is_due() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let (Ending::Stopped, Some(checkpoints)) = (ending, checkpoints.as_mut()) {
            checkpoints.write(run, stopwatch.read());
        }
        if ending == Ending::Reached || interrupt::asked() {
            break ending;
        }
    };
    let timing = stopwatch.read();
    let timing = checkpoints.map_or(timing, |checkpoints| checkpoints.whole(timing));
    Ok(Simulated { ending, findings: run.findings()?, timing })
}

/// How far a run has come, and how fast it is, which began after so many packet-hops.
fn speed(progress: &Progress, hops_before: u64, seconds: f64) -> String {
    let Progress { cycle, cycles, packet_hops, .. } = *progress;
    let speed = (packet_hops - hops_before) as f64 / seconds.max(1e-3) / 1e6;
    format!("{cycle} of {cycles} cycles, {speed:.1} M packet-hops/s")
}

/// What one could do next.
fn suggest(arguments: &RunArguments, scenario: &Scenario) {
    let named = named(arguments);
    let (file, name) = (named.file.display(), input::stem(&named.file));
    tell_line!("\ntry next:");
    let flows = &scenario.workload.flows;
    let timed = flows.iter().find(|flow| flow.is_timed());
    let program = flows.iter().find(|flow| flow.job.is_some());
    let (varied, what) = match (timed, program) {
        (Some(flow), _) => {
            (format!("traffic.{}.size=8,64,512", flow.name), "completion times over the size of messages")
        }
        // A path that leaves out which one means all programs: one that has no name cannot be named.
        (None, Some(_)) => ("program.map=linear,random".to_owned(), "where the ranks are best placed"),
        (None, None) => ("traffic.load=0.1..0.9/0.1".to_owned(), "latency and throughput over load"),
    };
    tell_line!("  tailback sweep {file} --over {varied}   {what}");
    tell_line!("  tailback plot results/{name}   the curves as pictures");
    tell_line!("  tailback explain {file}   where each cycle of latency comes from");
}
