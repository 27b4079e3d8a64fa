//! `tailback sweep`: one scenario many times, and a table.

mod best;
mod manifest;

use std::sync::Mutex;

use tailback_report::{CI95_OVER, Column, Table, sweep_histogram_table, sweep_series_table, sweep_table};
use tailback_scenario::{Axis, Sweep};
use tailback_sim::{Curves, SweepManifest, vary};

use crate::arguments::{Format, SweepArguments};
use crate::complaint::Complaint;
use crate::output::{count, say, say_line, tell_line, there_already};
use crate::rendering::Notes;
use crate::results::Directory;
use crate::shard::Made;
use crate::store::Store;
use crate::work::{self, Order, Task};
use crate::{input, interrupt};
use best::{Direction, best};
pub use manifest::read_manifest;

/// The column that tells whether points are saturated.
const SATURATED: &str = "saturated";

/// Runs the command.
pub fn run(arguments: &SweepArguments) -> Result<(), Complaint> {
    let document = input::document(&arguments.scenario)?;
    let base = document.resolve()?;
    let mut notes = Notes::default();
    notes.tell(&base.notes);
    let sweep = complete(document.sweep()?, arguments)?;
    for (metric, direction) in wanted(arguments) {
        best::check(metric, &varied(&sweep).collect::<Vec<_>>(), direction)?;
    }
    let tasks = sweep.runs(&document).map(|run| Task::new(run.document, &mut notes)).collect::<Result<Vec<_>, _>>()?;
    let places: Vec<(usize, usize)> = (0..tasks.len()).map(|run| sweep.place(run)).collect();
    let jobs = work::jobs(arguments.jobs, tasks.iter())?;
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| ["results".to_owned(), input::stem(&arguments.scenario.file)].iter().collect());
    let directory = Directory::at(&out)?;
    directory.refuse_others(&base.digest)?;
    directory.refuse_run()?;
    let manifest = SweepManifest::new(&base, &sweep);
    manifest::write(&manifest, &directory)?;
    directory.write("scenario.toml", base.text.as_bytes())?;
    let store = Store::at(&out)?;
    // Before the first word: whoever has read it may interrupt.
    interrupt::listen();
    let mut curves = Curves::new(&sweep);
    let mine = arguments.shard.map(|shard| shard.pick(tasks.iter()));
    let is_mine = |task: &Task| mine.as_ref().is_none_or(|mine| mine.contains(&task.digest));
    let wanted = tasks.iter().filter(|task| is_mine(task)).count();
    let kept = |task: &Task| {
        let kept = store.find(&task.digest, task.series)?;
        store.histograms(&kept.report).is_some().then_some(kept)
    };
    let mut missing = Vec::new();
    for (task, &(point, seed)) in tasks.iter().zip(&places) {
        match kept(task) {
            Some(kept) => curves.put(point, seed, kept.report),
            None if is_mine(task) => missing.push((Order { task, store: &store, histograms: true }, (point, seed))),
            None => {}
        }
    }
    if !arguments.quiet {
        let known = there_already(wanted - missing.len());
        tell_line!("{}, {jobs} at a time, into {}{known}", count(wanted as u32, "run"), out.display());
    }
    let (orders, places): (Vec<Order<'_>>, Vec<_>) = missing.into_iter().unzip();
    let curves = Mutex::new(curves);
    let locked = || curves.lock().expect("no worker has panicked");
    let interrupted = work::run_all(
        &orders,
        jobs,
        arguments.quiet,
        |place| locked().is_beyond_end(places[place].0),
        |place, kept| locked().put(places[place].0, places[place].1, kept.report),
    )?;
    let curves = curves.into_inner().expect("no worker has panicked");
    match arguments.shard {
        Some(shard) => {
            let is_there = |task: &Task| kept(task).is_some();
            let done = tasks.iter().filter(|task| is_mine(task) && is_there(task)).count();
            let beyond = orders.iter().zip(&places);
            let beyond = beyond.filter(|(order, place)| curves.is_beyond_end(place.0) && !is_there(order.task)).count();
            shard.tell(Made { runs: wanted, done, beyond }, arguments.format, arguments.quiet);
        }
        None => conclude(&curves, &sweep, &manifest, &directory, &store, arguments)?,
    }
    if interrupted {
        let message = "interrupted; what is finished is kept, and the same command goes on from there";
        return Err(Complaint::Interrupted(message.to_owned()));
    }
    Ok(())
}

/// Writes the table and tells what is in it.
fn conclude(
    curves: &Curves,
    sweep: &Sweep,
    manifest: &SweepManifest,
    directory: &Directory,
    store: &Store,
    arguments: &SweepArguments,
) -> Result<(), Complaint> {
    let points = curves.points();
    let table = manifest.with_origin(sweep_table(&points));
    directory.write_table("sweep", &table)?;
    let details = [
        ("series", sweep_series_table(&points, |report| store.series(report))),
        ("histograms", sweep_histogram_table(&points, |report| store.histograms(report))),
    ];
    for (name, table) in details {
        table.map_or(Ok(()), |table| directory.write_table(name, &manifest.with_origin(table)))?;
    }
    match arguments.format {
        Format::Json => say_line!("{}", table.to_json()),
        Format::Text => say!("{}", main_columns(&table, sweep).to_text()),
    }
    say_best(&table, sweep, arguments)?;
    if !arguments.quiet {
        let out = directory.path("");
        let out = out.components().as_path().display();
        tell_line!("results are in {out}; draw them with `tailback plot {out}`");
    }
    Ok(())
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
    let bad = |problem: String| {
        let of_variants = "; `--set sweep.variant=[]` leaves out the variants of the file";
        let more = if problem.contains("variant \"") { of_variants } else { "" };
        Complaint::BadInput(problem, Some(format!("leave one of the two out, or vary less{more}")))
    };
    if !vary(&mut sweep, axes, arguments.seeds, arguments.no_stop).map_err(bad)? {
        return Err(Complaint::BadInput(
            "there is nothing to vary".to_owned(),
            Some("say what, as in `--over traffic.load=0.1..0.9/0.1`, or add [sweep] to the file".to_owned()),
        ));
    }
    Ok(sweep)
}

/// Says which points have the most and the least of what was asked for: below a table for people, beside one for programs.
fn say_best(table: &Table, sweep: &Sweep, arguments: &SweepArguments) -> Result<(), Complaint> {
    let varied: Vec<&str> = varied(sweep).collect();
    for (metric, direction) in wanted(arguments) {
        let said = best(table, &varied, metric, direction)?;
        match arguments.format {
            Format::Json => tell_line!("{said}"),
            Format::Text => say_line!("{said}"),
        }
    }
    Ok(())
}

/// The columns of which the best point is asked for.
fn wanted(arguments: &SweepArguments) -> impl Iterator<Item = (&str, Direction)> {
    let most = arguments.most.as_deref().map(|metric| (metric, Direction::Most));
    most.into_iter().chain(arguments.least.as_deref().map(|metric| (metric, Direction::Least)))
}

/// The columns that tell points apart.
fn varied(sweep: &Sweep) -> impl Iterator<Item = &str> {
    let variant = (!sweep.variants.is_empty()).then_some("variant");
    variant.into_iter().chain(sweep.axes.iter().map(|axis| axis.path.as_str()))
}

/// The columns that fit on a screen.
fn main_columns(table: &Table, sweep: &Sweep) -> Table {
    main_columns_of(table, varied(sweep))
}

/// The same of any table of a sweep: what is varied, and what matters most of what came of it. Of several flows each is
/// shown, without the time that messages have waited at their sources: for a flow that is meant to be too much that hides
/// everything else.
pub fn main_columns_of<'n>(table: &Table, varied: impl Iterator<Item = &'n str>) -> Table {
    const OF_ALL: [&str; 7] = [
        "offered_load",
        "accepted_load",
        "latency_message_mean",
        "latency_message_mean_ci95",
        CI95_OVER,
        "latency_message_p99",
        "hops_mean",
    ];
    const OF_FLOWS_THAT_END: [&str; 6] =
        ["program_cycles", "completion_mean", "completion_p99", "slowdown_p99", "completion_cycles", "unfinished"];
    let flows = table.columns.iter().filter_map(|column| column.name.strip_suffix(".offered_load"));
    let of_flow = |flow: &str| {
        let metrics = ["accepted_load", "latency_network_mean"].into_iter().chain(OF_FLOWS_THAT_END);
        metrics.map(|metric| format!("{flow}.{metric}")).collect::<Vec<_>>()
    };
    let mut metrics: Vec<String> = flows.flat_map(of_flow).collect();
    if metrics.is_empty() {
        metrics = OF_ALL.into_iter().chain(OF_FLOWS_THAT_END).map(str::to_owned).collect();
    }
    let varied: Vec<&str> = varied.chain(["seeds"]).collect();
    let names = varied.into_iter().chain(metrics.iter().map(String::as_str)).chain([SATURATED]);
    // Flows that never end have no time in which they were completed.
    let says_something = |place: &usize| {
        let is_of_ending = OF_FLOWS_THAT_END.iter().any(|metric| table.columns[*place].name.ends_with(metric));
        !is_of_ending || table.rows.iter().any(|row| row[*place].number().is_some())
    };
    let places: Vec<usize> = names.filter_map(|name| table.column(name).ok()).filter(says_something).collect();
    let column = |&place: &usize| match &table.columns[place] {
        Column { name, .. } if name == SATURATED => Column::text(SATURATED),
        column => column.clone(),
    };
    let mut selected = Table::new(places.iter().map(column).collect());
    for row in &table.rows {
        let cell = |&place: &usize| match &table.columns[place].name {
            name if name == SATURATED => row[place].number().map(yes_or_no).as_deref().into(),
            _ => row[place].clone(),
        };
        selected.push(places.iter().map(cell).collect());
    }
    selected
}

/// The share of seeds that are saturated, in words.
fn yes_or_no(share: f64) -> String {
    match share {
        0.0 => "no".to_owned(),
        1.0 => "yes".to_owned(),
        share => format!("{:.0} % of seeds", 100.0 * share),
    }
}
