//! `tailback run`: one scenario, one report.

use std::ops::ControlFlow;

use tailback_scenario::Scenario;
use tailback_sim::{Ending, Findings, Progress, Run};

use crate::arguments::{Format, RunArguments};
use crate::complaint::Complaint;
use crate::host::{Stopwatch, cores};
use crate::progress::Bar;
use crate::results::{Directory, REPORT};
use crate::{input, interrupt};

/// Runs the command.
pub fn run(arguments: &RunArguments) -> Result<(), Complaint> {
    let mut document = input::document(&arguments.scenario)?;
    if let Some(seed) = arguments.seed {
        document = document.with(&format!("seed={seed}"));
    }
    if let Some(threads) = arguments.threads {
        document = document.with(&format!("execution.threads={threads}"));
    }
    let scenario = document.resolve()?;
    let plan = input::plan(&scenario, 1)?;
    let directory = arguments.out.as_deref().map(Directory::at).transpose()?;
    if let Some(directory) = &directory {
        directory.refuse_others(&scenario.digest)?;
    }
    if !arguments.quiet {
        eprintln!(
            "{} nodes, {} routers, {} regions, about {} MiB",
            plan.nodes,
            plan.routers,
            plan.regions,
            plan.memory_bytes >> 20
        );
    }
    interrupt::listen();
    let threads = scenario.execution.threads.map_or_else(cores, |threads| threads as usize);
    let stopwatch = Stopwatch::of_process();
    let bar = Bar::new(scenario.measure.warmup + scenario.measure.cycles, "cycles", arguments.quiet);
    let findings = simulate(&scenario, threads, |progress| {
        bar.show(progress.cycle, || speed(progress, stopwatch.wall().as_secs_f64()));
    });
    bar.clear();
    let findings = findings?;
    let report = findings.report(&scenario, env!("CARGO_PKG_VERSION"), &stopwatch.read());
    if let Some(directory) = &directory {
        directory.write(REPORT, report.to_json().as_bytes())?;
        directory.write("scenario.toml", scenario.text.as_bytes())?;
        if let Some(series) = findings.series(&scenario) {
            directory.write_table("series", &series)?;
        }
    }
    match arguments.format {
        Format::Json => println!("{}", report.to_json()),
        Format::Text => print!("{}", report.summary_text()),
    }
    if arguments.format == Format::Text && !arguments.quiet {
        suggest(arguments);
    }
    Ok(())
}

/// Simulates a scenario to its end, unless somebody asks to stop.
pub fn simulate(scenario: &Scenario, threads: usize, show: impl Fn(&Progress)) -> Result<Findings, Complaint> {
    let mut run = Run::new(scenario, threads)?;
    let ending = run.finish(|progress| {
        show(progress);
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match ending? {
        Ending::Reached => Ok(run.findings()?),
        Ending::Stopped => {
            let Progress { cycle, cycles, .. } = run.progress();
            Err(Complaint::Interrupted(format!("interrupted in cycle {cycle} of {cycles}; nothing was written")))
        }
    }
}

fn speed(progress: &Progress, seconds: f64) -> String {
    format!("({:.1} M packet-hops/s)", progress.packet_hops as f64 / seconds.max(1e-3) / 1e6)
}

/// What one could do next.
fn suggest(arguments: &RunArguments) {
    let file = arguments.scenario.file.display();
    let name = input::stem(&arguments.scenario.file);
    eprintln!("\ntry next:");
    eprintln!("  tailback sweep {file} --over traffic.load=0.1..0.9/0.1   latency and throughput over load");
    eprintln!("  tailback plot results/{name}   the curves as pictures");
    eprintln!("  tailback explain {file}   where each cycle of latency comes from");
}
