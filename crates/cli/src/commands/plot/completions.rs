//! What is drawn of sweeps in which flows end: how long their messages took, over what is varied.

use tailback_report::{Curve, Figure, Kind, Table, TableError};
use tailback_sim::SweepManifest;

use super::words::is_time;

/// The column, the name of the file, and what the axis says.
const METRICS: [(&str, &str, &str); 2] = [
    ("completion_p99", "completion", "99th percentile of completion times"),
    ("slowdown_p99", "slowdown", "99th percentile of slowdowns"),
];

/// From so many times the smallest value on, an axis has powers of ten at equal distances.
const WIDE: f64 = 30.0;

/// The figures of a sweep, by the names of their files. None if no flow ends, or if nothing but loads, words and seeds is varied.
pub(super) fn figures(
    table: &Table,
    manifest: &SweepManifest,
    unit: &str,
) -> Result<Vec<(String, Figure)>, TableError> {
    let is_number = |name: &str| table.columns.iter().any(|column| column.name == name && column.kind != Kind::Text);
    let axis = manifest.axes.iter().find(|axis| is_number(axis)).filter(|_| manifest.load_axis.is_none());
    let Some(axis) = axis else { return Ok(Vec::new()) };
    let others = manifest.axes.iter().filter(|other| *other != axis).map(String::as_str);
    let by: Vec<&str> = others.chain(is_there(table, "variant").then_some("variant")).collect();
    let mut figures = Vec::new();
    for (metric, name, y_label) in METRICS {
        for flow in flows(table) {
            let (column, file) = match flow {
                Some(flow) => (format!("{flow}.{metric}"), format!("{name}-{flow}")),
                None => (metric.to_owned(), name.to_owned()),
            };
            if !is_there(table, &column) {
                continue;
            }
            let curves = Curve::from_table(table, axis, &column, &by)?;
            if curves.iter().any(|curve| !curve.points.is_empty()) {
                let title = flow.map_or_else(|| manifest.title.clone(), |flow| format!("{}: {flow}", manifest.title));
                let unit = if is_time(metric) { format!(" ({unit})") } else { String::new() };
                figures.push((file, figure(title, axis, &format!("{y_label}{unit}"), curves)));
            }
        }
    }
    Ok(figures)
}

fn is_there(table: &Table, column: &str) -> bool {
    table.columns.iter().any(|known| known.name == column)
}

/// The flows of a sweep; that of a single one has no name.
fn flows(table: &Table) -> Vec<Option<&str>> {
    let named = table.columns.iter().filter_map(|column| column.name.strip_suffix(".offered_load"));
    let flows: Vec<_> = named.map(Some).collect();
    if flows.is_empty() { vec![None] } else { flows }
}

fn figure(title: String, axis: &str, y_label: &str, curves: Vec<Curve>) -> Figure {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let is_wide = |values: &mut dyn Iterator<Item = f64>| {
        let (least, most) =
            values.fold((f64::INFINITY, 0.0f64), |(least, most), value| (least.min(value), most.max(value)));
        least > 0.0 && most > WIDE * least
    };
    let (log_x, log_y) = (is_wide(&mut points().map(|point| point.0)), is_wide(&mut points().map(|point| point.1)));
    let (x_label, y_label) = (axis.to_owned(), y_label.to_owned());
    Figure { title, x_label, y_label, log_x, log_y, curves, ..Figure::default() }
}
