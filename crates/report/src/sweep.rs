//! The table of a sweep: one row for each point, with means over seeds.

use crate::table::{Cell, Column, Kind};
use crate::{Estimate, Figures, METRICS, Metric, MetricOf, Report, Table};

/// One point of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPoint {
    /// What was set to what.
    pub settings: Vec<(String, String)>,
    /// The name of what is compared at equal settings; may be empty.
    pub variant: String,
    /// The results, one for each seed.
    pub reports: Vec<Report>,
}

/// The column that says what confidence intervals of a row are over: `seeds`, or the `batches` of a single run.
pub const CI95_OVER: &str = "ci95_over";

/// The table of a sweep.
///
/// It has a column for each setting (those of all points, in the order of their first appearance), `variant`, `seeds`,
/// [`CI95_OVER`], `cycle_ns`, and for each metric its mean over the seeds and in `<metric>_ci95` half the width of the 95 %
/// confidence interval by Student's t: over seeds, or with a single seed, of mean latencies only, over the batches of
/// that run. `saturated` is the share of the seeds. Metrics of flows that end are there if there are such flows,
/// those of the network if the reports have them. If there are several flows, their metrics follow as `<flow>.<metric>`.
/// Latencies are in link cycles.
#[must_use]
pub fn sweep_table(points: &[SweepPoint]) -> Table {
    let settings = distinct(points.iter().flat_map(|point| point.settings.iter().map(|(key, _)| key.as_str())));
    let reports = || points.iter().flat_map(|point| &point.reports);
    let mut flows = distinct(reports().flat_map(|report| report.flows.iter().map(|(name, _)| name)));
    if flows.len() == 1 {
        flows.clear();
    }
    let applies = |metric: &&Metric| match metric.of {
        MetricOf::All => true,
        MetricOf::Network => reports().any(|report| (metric.value)(&report.total).is_some()),
        MetricOf::Marked => reports().any(|report| report.total.marked_packets > 0),
        MetricOf::Held => reports().any(|report| report.total.held_packets > 0),
        MetricOf::Nonminimal => reports().any(|report| !report.total.nonminimal_packets.is_none()),
        MetricOf::OrderedData => reports().any(|report| report.total.latency.resequencing.is_some()),
        MetricOf::FlowsThatEnd => reports().any(|report| report.total.completions.is_some()),
        MetricOf::Programs => reports().any(|report| !report.programs.is_empty()),
    };
    let metrics: Vec<&Metric> = METRICS.iter().filter(applies).collect();
    let mut table = Table::new(columns(&settings, &flows, &metrics));
    for point in points {
        table.push(row(point, &settings, &flows, &metrics));
    }
    (0..settings.len()).for_each(|column| table.infer_kind(column));
    table
}

/// Each name once, in the order of first appearance.
pub(crate) fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

fn columns(settings: &[&str], flows: &[&str], metrics: &[&Metric]) -> Vec<Column> {
    let mut columns: Vec<_> = settings.iter().map(|name| Column::text(*name)).collect();
    columns.push(Column::text("variant"));
    columns.push(Column::new("seeds", Kind::Integer));
    columns.push(Column::text(CI95_OVER));
    columns.push(Column::new("cycle_ns", Kind::Number));
    let prefixes = std::iter::once(String::new()).chain(flows.iter().map(|name| format!("{name}.")));
    for prefix in prefixes {
        for Metric { name, .. } in metrics.iter().filter(|metric| prefix.is_empty() || metric.is_of_flows()) {
            columns.push(Column::new(format!("{prefix}{name}"), Kind::Number));
            columns.push(Column::new(format!("{prefix}{name}_ci95"), Kind::Number));
        }
    }
    columns
}

fn row(point: &SweepPoint, settings: &[&str], flows: &[&str], metrics: &[&Metric]) -> Vec<Cell> {
    let setting = |name: &&str| {
        let found = point.settings.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).into()
    };
    let mut row: Vec<Cell> = settings.iter().map(setting).collect();
    row.push(point.variant.as_str().into());
    row.push((point.reports.len() as u64).into());
    row.push(if point.reports.len() > 1 { "seeds" } else { "batches" }.into());
    row.push(point.reports.first().and_then(|report| report.cycle_ns).into());
    let total: Vec<_> = point.reports.iter().map(|report| &report.total).collect();
    add_metrics(&mut row, &total, metrics.iter().copied());
    for name in flows {
        let of_flow = |report| Report::flow(report, name);
        let figures: Vec<_> = point.reports.iter().filter_map(of_flow).collect();
        add_metrics(&mut row, &figures, metrics.iter().copied().filter(|metric| metric.is_of_flows()));
    }
    row
}

/// Appends the means of all metrics over the seeds, and their confidence intervals. Those are none where a seed has no such number: the mean of
/// the others would be another one, as of flows that have ended it is the quickest that are known.
fn add_metrics<'a>(row: &mut Vec<Cell>, seeds: &[&Figures], metrics: impl Iterator<Item = &'a Metric>) {
    for metric in metrics {
        let samples: Option<Vec<f64>> = seeds.iter().map(|figures| (metric.value)(figures)).collect();
        let estimate = samples.and_then(|samples| Estimate::from_samples(&samples));
        let single = if let [figures] = seeds { (metric.ci95)(figures) } else { None };
        row.push(estimate.map(|estimate| estimate.mean).into());
        row.push(estimate.and_then(|estimate| estimate.half_width_95).or(single).into());
    }
}
