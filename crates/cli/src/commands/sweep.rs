//! `tailback sweep`: one scenario many times, and a table.

mod store;
mod work;

use std::path::Path;

use tailback_report::{Table, sweep_table};
use tailback_scenario::{Axis, Sweep};
use tailback_sim::{Curves, Plan, vary};

use crate::arguments::{Format, SweepArguments};
use crate::complaint::Complaint;
use crate::output::{count, say, say_line};
use crate::{host, input, interrupt};
pub use store::read_manifest;

use store::Store;
use work::Task;

/// Runs the command.
pub fn run(arguments: &SweepArguments) -> Result<(), Complaint> {
    let document = input::document(&arguments.scenario)?;
    let base = document.resolve()?;
    let sweep = complete(document.sweep()?, arguments)?;
    let tasks = work::tasks(&document, &sweep)?;
    let largest = tasks.iter().map(|task| &task.scenario).max_by_key(|scenario| Plan::new(scenario).memory_bytes);
    let jobs = arguments.jobs.map_or_else(host::cores, |jobs| jobs as usize).clamp(1, tasks.len().max(1));
    if let Some(scenario) = largest {
        input::plan(scenario, jobs as u64)?;
    }
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| ["results".to_owned(), input::stem(&arguments.scenario.file)].iter().collect());
    let store = Store::open(&out, &base, &sweep)?;
    // Before the first word: whoever has read it may interrupt.
    interrupt::listen();
    if !arguments.quiet {
        announce(&tasks, jobs, &store, &out);
    }
    let mut curves = Curves::new(&sweep);
    let interrupted = work::run_all(&tasks, &mut curves, &store, jobs, arguments.quiet)?;
    let table = sweep_table(&curves.points());
    store.write_table(&table)?;
    match arguments.format {
        Format::Json => say_line!("{}", table.to_json()),
        Format::Text => say!("{}", main_columns(&table, &sweep).to_text()),
    }
    if !arguments.quiet {
        eprintln!("results are in {}; draw them with `tailback plot {}`", out.display(), out.display());
    }
    if interrupted {
        let message = "interrupted; what is finished is kept, and the same command goes on from there";
        return Err(Complaint::Interrupted(message.to_owned()));
    }
    Ok(())
}

/// Says what is going to be done.
fn announce(tasks: &[Task], jobs: usize, store: &Store, out: &Path) {
    let known = tasks.iter().filter(|task| store.find(&task.scenario.digest).is_some()).count();
    let known = if known > 0 { format!("; {known} of them are there already") } else { String::new() };
    eprintln!("{}, {jobs} at a time, into {}{known}", count(tasks.len() as u32, "run"), out.display());
}

/// What the command line says goes before what the file says.
fn complete(mut sweep: Sweep, arguments: &SweepArguments) -> Result<Sweep, Complaint> {
    let axis = |text: &String| {
        Axis::parse(text).map_err(|message| {
            let help = "write `--over traffic.load=0.1..0.9/0.1` or `--over routing=minimal,valiant`".to_owned();
            Complaint::BadInput(message, Some(help))
        })
    };
    let axes = arguments.over.iter().map(axis).collect::<Result<_, _>>()?;
    if !vary(&mut sweep, axes, arguments.seeds, arguments.no_stop) {
        return Err(Complaint::BadInput(
            "there is nothing to vary".to_owned(),
            Some("say what, as in `--over traffic.load=0.1..0.9/0.1`, or add [sweep] to the file".to_owned()),
        ));
    }
    Ok(sweep)
}

/// The columns that fit on a screen.
fn main_columns(table: &Table, sweep: &Sweep) -> Table {
    let variant = (!sweep.variants.is_empty()).then_some("variant");
    main_columns_of(table, variant.into_iter().chain(sweep.axes.iter().map(|axis| axis.path.as_str())))
}

/// The same of any table of a sweep: what is varied, and what matters most of what came of it.
pub fn main_columns_of<'n>(table: &Table, varied: impl Iterator<Item = &'n str>) -> Table {
    let fixed = [
        "seeds",
        "offered_load",
        "accepted_load",
        "latency_message_mean",
        "latency_message_mean_ci95",
        "latency_message_p99",
        "hops_mean",
        "saturated",
    ];
    let places: Vec<usize> = varied.chain(fixed).filter_map(|name| table.column(name).ok()).collect();
    let mut selected = Table::new(places.iter().map(|&place| table.columns[place].clone()).collect());
    for row in &table.rows {
        selected.push(places.iter().map(|&place| row[place].clone()).collect());
    }
    selected
}
