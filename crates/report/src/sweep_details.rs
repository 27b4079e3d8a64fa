//! What sweeps have beside their table: time series and histograms of each point, over all of its seeds.

use std::collections::BTreeMap;

use crate::series::SERIES_FIGURES;
use crate::sweep::distinct;
use crate::table::{Cell, Column, Kind};
use crate::{Estimate, Report, SweepPoint, Table};

/// The time series of the points of a sweep, of which `series` gives that of a run.
///
/// The columns are what is varied, `variant`, `seeds`, `cycle`, `flow`, and for each figure of a series its mean over the seeds and in
/// `<figure>_ci95` half the width of the mean's 95 % confidence interval. Both are none where a seed has no such number, as where nothing of a
/// flow arrived, or its run was over: the mean of the others would be another one. None if no run has a series.
pub fn sweep_series_table(points: &[SweepPoint], mut series: impl FnMut(&Report) -> Option<Table>) -> Option<Table> {
    let settings = settings(points);
    let mut columns = columns(&settings);
    columns.extend([Column::new("cycle", Kind::Integer), Column::text("flow")]);
    for figure in SERIES_FIGURES {
        columns.extend([figure.to_owned(), format!("{figure}_ci95")].map(|name| Column::new(name, Kind::Number)));
    }
    let mut table = Table::new(columns);
    for point in points {
        // By flow and by cycle: what each seed has.
        let (mut flows, mut rows) = (Vec::new(), BTreeMap::<(usize, i64), [Vec<f64>; SERIES_FIGURES.len()]>::new());
        for run in point.reports.iter().filter_map(&mut series) {
            let places = SERIES_FIGURES.map(|figure| run.column(figure).ok());
            let (Ok(cycle), Ok(flow)) = (run.column("cycle"), run.column("flow")) else { continue };
            for row in &run.rows {
                let Cell::Integer(cycle) = row[cycle] else { continue };
                let values = rows.entry((place(&mut flows, row[flow].to_string()), cycle)).or_default();
                for (values, place) in values.iter_mut().zip(places) {
                    values.extend(place.and_then(|place| row[place].number()));
                }
            }
        }
        for ((flow, cycle), values) in rows {
            let mut row = start(point, &settings);
            row.extend([Cell::Integer(cycle), flows[flow].as_str().into()]);
            for samples in values {
                let is_of_all = samples.len() == point.reports.len();
                let estimate = Estimate::from_samples(&samples).filter(|_| is_of_all);
                row.push(estimate.map(|estimate| estimate.mean).into());
                row.push(estimate.and_then(|estimate| estimate.half_width_95).into());
            }
            table.push(row);
        }
    }
    finished(table, settings.len())
}

/// The histograms of the points of a sweep, of which `histograms` gives those of a run, added up over the seeds.
///
/// The columns are what is varied, `variant`, `seeds`, and those of [`histogram_table`](crate::histogram_table). None if no run has any.
pub fn sweep_histogram_table(
    points: &[SweepPoint],
    mut histograms: impl FnMut(&Report) -> Option<Table>,
) -> Option<Table> {
    let settings = settings(points);
    let mut columns = columns(&settings);
    columns.extend(["flow", "figure"].map(Column::text));
    columns.extend(["from", "to"].map(|name| Column::new(name, Kind::Number)));
    columns.push(Column::new("count", Kind::Integer));
    let mut table = Table::new(columns);
    for point in points {
        let (mut whose, mut buckets) = (Vec::new(), BTreeMap::<(usize, u64), (f64, f64, u64)>::new());
        for run in point.reports.iter().filter_map(&mut histograms) {
            let places = ["flow", "figure", "from", "to", "count"].map(|name| run.column(name).ok());
            let [Some(flow), Some(figure), Some(from), Some(to), Some(count)] = places else { continue };
            // Rows of one histogram follow each other.
            let mut last = None;
            for row in &run.rows {
                let numbers = (row[from].number(), row[to].number(), &row[count]);
                let (Some(from), Some(to), &Cell::Integer(count)) = numbers else { continue };
                let names = [&row[flow], &row[figure]];
                let place = match last {
                    Some((known, place)) if known == names => place,
                    _ => place(&mut whose, names.map(Cell::to_string)),
                };
                last = Some((names, place));
                // Numbers that are not negative are in the order of their bits.
                buckets.entry((place, from.to_bits())).or_insert((from, to, 0)).2 += count.unsigned_abs();
            }
        }
        for ((place, _), (from, to, count)) in buckets {
            let [flow, figure] = &whose[place];
            let mut row = start(point, &settings);
            row.extend([flow.as_str().into(), figure.as_str().into(), from.into(), to.into(), count.into()]);
            table.push(row);
        }
    }
    finished(table, settings.len())
}

/// The place of a value among those that are known; it is known from then on.
fn place<T: PartialEq>(known: &mut Vec<T>, value: T) -> usize {
    known.iter().position(|other| *other == value).unwrap_or_else(|| {
        known.push(value);
        known.len() - 1
    })
}

fn settings(points: &[SweepPoint]) -> Vec<&str> {
    distinct(points.iter().flat_map(|point| point.settings.iter().map(|(key, _)| key.as_str())))
}

fn columns(settings: &[&str]) -> Vec<Column> {
    let mut columns: Vec<Column> = settings.iter().map(|name| Column::text(*name)).collect();
    columns.extend([Column::text("variant"), Column::new("seeds", Kind::Integer)]);
    columns
}

fn start(point: &SweepPoint, settings: &[&str]) -> Vec<Cell> {
    let setting = |name: &&str| {
        let found = point.settings.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).into()
    };
    let mut row: Vec<Cell> = settings.iter().map(setting).collect();
    row.extend([point.variant.as_str().into(), (point.reports.len() as u64).into()]);
    row
}

fn finished(mut table: Table, settings: usize) -> Option<Table> {
    (0..settings).for_each(|column| table.infer_kind(column));
    (!table.rows.is_empty()).then_some(table)
}
