//! How latencies are distributed, from the histograms of runs and sweeps.

use tailback_report::{Counted, Curve, Figure, Style, Table};

use super::source::{Source, only, tell_apart, unknown};
use super::words::file_name;
use crate::arguments::{LogAxes, PlotArguments, PlotKind};
use crate::complaint::Complaint;

/// Figures of histograms that are times.
const TIMES: [&str; 4] = ["message_latency", "network_latency", "resequencing", "completion"];

/// The name of the file, and the figure.
pub fn figure(sources: &[Source], kind: PlotKind, arguments: &PlotArguments) -> Result<(String, Figure), Complaint> {
    if arguments.x.is_some() {
        return Err(Complaint::bad_input(
            "--x: in a distribution, what is counted runs to the right; choose it with --y",
        ));
    }
    let wanted = arguments.y.as_deref().unwrap_or("message_latency");
    let has_clock = sources.iter().all(|source| source.cycle_ns().is_some());
    let is_time = TIMES.contains(&wanted);
    let mut curves = Vec::new();
    for source in sources {
        let Some(mut table) = source.table("histograms")? else {
            let message = format!("{} holds no histograms", source.path.display());
            let help =
                "make it with `tailback run … --out DIR` or `tailback sweep …`; earlier versions did not write it";
            return Err(Complaint::BadInput(message, Some(help.to_owned())));
        };
        keep(&mut table, wanted)?;
        only(&mut table, &arguments.only)?;
        let by = by(source, &table, arguments)?;
        tell_apart(&mut table, &by)?;
        let factor = source.cycle_ns().filter(|_| has_clock && is_time).unwrap_or(1.0);
        let by: Vec<&str> = by.iter().map(String::as_str).collect();
        let groups = Counted::of_table(&table, &by).map_err(|error| source.damaged("histograms", &error))?;
        for group in groups {
            let names: Vec<String> =
                source.prefix.iter().cloned().chain(group.names).filter(|name| !name.is_empty()).collect();
            let name = names.join(", ");
            curves.push(match kind {
                PlotKind::Histogram => Curve::histogram(name, &group.counted, factor),
                _ => Curve::cumulative(name, &group.counted, factor),
            });
        }
    }
    // A packet that stays in its router has no hops, and a logarithmic axis has no place for that.
    let usual = if wanted == "hops" { LogAxes::Y } else { LogAxes::Both };
    let axes = arguments.log.unwrap_or(usual);
    let (log_x, log_y) = (axes != LogAxes::Y, axes != LogAxes::X);
    if !log_y {
        // Only a scale of nines has no place for all of them.
        curves.iter_mut().filter_map(|curve| curve.points.last_mut()).for_each(|last| last.1 = 1.0);
    }
    let words = wanted.replace('_', " ");
    let unit = match (is_time, has_clock) {
        (true, true) => " (ns)",
        (true, false) => " (cycles)",
        _ => "",
    };
    let counted = if wanted.starts_with("network") || wanted == "hops" { "packets" } else { "messages" };
    let figure = Figure {
        title: sources.first().map_or("", Source::title).to_owned(),
        x_label: format!("{words}{unit}"),
        curves,
        log_x,
        ..Figure::default()
    };
    let figure = match kind {
        PlotKind::Histogram => Figure { y_label: counted.to_owned(), style: Style::Steps, log_y, ..figure },
        _ => Figure {
            y_label: format!("share of {counted}"),
            style: Style::Line,
            percentiles: log_y,
            y_max: (!log_y).then_some(1.0),
            ..figure
        },
    };
    let suffix = if kind == PlotKind::Histogram { "histogram" } else { "cdf" };
    Ok((file_name(&format!("{wanted}-{suffix}")), figure))
}

/// Keeps the rows of one figure.
fn keep(table: &mut Table, wanted: &str) -> Result<(), Complaint> {
    let column = table.column("figure").map_err(|error| Complaint::bad_input(error.to_string()))?;
    let mut known: Vec<String> = Vec::new();
    for row in &table.rows {
        let name = row[column].to_string();
        if !known.contains(&name) {
            known.push(name);
        }
    }
    table.rows.retain(|row| row[column].to_string() == wanted);
    if table.rows.is_empty() {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        return Err(unknown("--y", "histogram of", wanted, &known));
    }
    Ok(())
}

/// What tells the curves of a directory apart. What is left out is added up.
fn by(source: &Source, table: &Table, arguments: &PlotArguments) -> Result<Vec<String>, Complaint> {
    let mut varying = source.varying(table);
    let flow = table.column("flow").ok();
    if flow.is_some_and(|flow| table.rows.iter().any(|row| row[flow] != table.rows[0][flow])) || varying.is_empty() {
        varying.push("flow".to_owned());
    }
    let known: Vec<&str> = varying.iter().map(String::as_str).collect();
    match arguments.by.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(unknown("--by", "varied value", name, &known)),
        None if arguments.by.is_empty() => Ok(varying),
        None => Ok(arguments.by.clone()),
    }
}
