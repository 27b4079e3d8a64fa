//! Figures over time, of runs and, with the mean and a band over seeds, of sweeps.

use tailback_report::{Curve, Figure, Table};

use super::source::{Source, only, tell_apart, unknown};
use super::words::{file_name, is_time, measured};
use crate::arguments::PlotArguments;
use crate::complaint::Complaint;

/// What is drawn if nothing else is asked for: the column, and the name of the file.
const USUAL: [(&str, &str); 3] = [
    ("accepted_load", "accepted-over-time"),
    ("latency_message_mean", "latency-over-time"),
    ("offered_load", "offered-over-time"),
];

/// Columns of a series that say what a row is of.
const OF_ROWS: [&str; 4] = ["variant", "seeds", "cycle", "flow"];

/// The names of the files, and the figures, of those directories that have time series.
pub fn figures(sources: &[&Source], arguments: &PlotArguments) -> Result<Vec<(String, Figure)>, Complaint> {
    if arguments.x.is_some() {
        return Err(Complaint::bad_input("--x: in a time series, time runs to the right"));
    }
    let wanted: Vec<(String, String)> = match &arguments.y {
        None => USUAL.map(|(column, name)| (column.to_owned(), name.to_owned())).to_vec(),
        Some(y) => {
            let usual = USUAL.iter().find(|(column, _)| column == y);
            vec![(
                y.clone(),
                usual.map_or_else(|| file_name(&format!("{y}-over-time")), |(_, name)| (*name).to_owned()),
            )]
        }
    };
    let has_clock = sources.iter().all(|source| source.cycle_ns().is_some());
    let unit = if has_clock { "ns" } else { "cycles" };
    let mut curves: Vec<Vec<Curve>> = vec![Vec::new(); wanted.len()];
    for source in sources {
        let Some(mut table) = source.table("series")? else { continue };
        if let Some(y) = &arguments.y {
            must_have(source, &table, y)?;
        }
        only(&mut table, &arguments.only)?;
        let factor = source.cycle_ns().filter(|_| has_clock).unwrap_or(1.0);
        let by = by(source, &table, arguments)?;
        tell_apart(&mut table, &by)?;
        let by: Vec<&str> = by.iter().map(String::as_str).collect();
        for ((column, _), curves) in wanted.iter().zip(&mut curves) {
            let found = Curve::from_table(&table, "cycle", column, &by);
            let found = found.map_err(|error| source.damaged("series", &error))?;
            let height = if is_time(column) { factor } else { 1.0 };
            curves.extend(found.into_iter().map(|curve| scaled(curve, factor, height)).map(
                |curve| match &source.prefix {
                    Some(prefix) if curve.name.is_empty() => Curve { name: prefix.clone(), ..curve },
                    Some(prefix) => Curve { name: format!("{prefix}: {}", curve.name), ..curve },
                    None => curve,
                },
            ));
        }
    }
    let mut warm_ups = sources.iter().map(|source| source.warm_up().map(|cycles| (cycles as f64, source.cycle_ns())));
    let first = warm_ups.next().flatten();
    let warm_up = first.filter(|first| warm_ups.all(|other| other == Some(*first)));
    let warm_up = warm_up.map(|(cycles, ns)| if has_clock { cycles * ns.unwrap_or(1.0) } else { cycles });
    let title = match sources {
        [source] => source.title(),
        _ => sources.iter().find(|source| source.manifest.is_some()).map_or("", |source| source.title()),
    };
    let figure = |((column, name), curves): ((String, String), Vec<Curve>)| {
        let label =
            if column.ends_with("_load") { measured(&format!("flow.{column}"), unit) } else { measured(&column, unit) };
        let has_band = curves.iter().any(|curve| curve.half_widths.is_some());
        let caption =
            if has_band { "bands: 95 % confidence intervals of the mean over seeds".to_owned() } else { String::new() };
        let x_label = format!("time ({unit})");
        (
            name,
            Figure {
                x_label,
                warm_up: warm_up.filter(|until| *until > 0.0),
                caption,
                ..Figure::time_series(title, label, curves)
            },
        )
    };
    Ok(wanted.into_iter().zip(curves).map(figure).collect())
}

/// Refuses what is no figure of the time series of a directory.
fn must_have(source: &Source, table: &Table, y: &str) -> Result<(), Complaint> {
    let axes = source.manifest.iter().flat_map(|manifest| &manifest.axes);
    let of_rows: Vec<&str> = OF_ROWS.into_iter().chain(axes.map(String::as_str)).collect();
    let names = table.columns.iter().map(|column| column.name.as_str());
    let known: Vec<&str> = names.filter(|name| !of_rows.contains(name) && !name.ends_with("_ci95")).collect();
    if known.contains(&y) { Ok(()) } else { Err(unknown("--y", "figure of time series", y, &known)) }
}

/// What tells the curves of a directory apart.
fn by(source: &Source, table: &Table, arguments: &PlotArguments) -> Result<Vec<String>, Complaint> {
    let mut varying = source.varying(table);
    let flow = table.column("flow").ok();
    let several = flow.is_some_and(|flow| table.rows.iter().any(|row| row[flow] != table.rows[0][flow]));
    if several || source.manifest.is_none() {
        varying.push("flow".to_owned());
    }
    if arguments.by.is_empty() {
        return Ok(varying);
    }
    let known: Vec<&str> = varying.iter().map(String::as_str).collect();
    if let Some(name) = arguments.by.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(unknown("--by", "varied value", name, &known));
    }
    if let Some(missing) = varying.iter().find(|name| !arguments.by.contains(name)) {
        let message = format!("--by: `{missing}` is varied, too, so several series would be one curve");
        return Err(Complaint::BadInput(message, Some(format!("add it, or choose one with --only {missing}=…"))));
    }
    Ok(arguments.by.clone())
}

fn scaled(curve: Curve, width: f64, height: f64) -> Curve {
    Curve {
        points: curve.points.into_iter().map(|(x, y)| (width * x, height * y)).collect(),
        half_widths: curve.half_widths.map(|widths| widths.into_iter().map(|half| height * half).collect()),
        ..curve
    }
}

/// Whether a directory has a time series.
pub fn has_any(source: &Source) -> bool {
    source.has("series")
}
