//! Where runs are kept, to be found again.

use std::fs::File;
use std::path::Path;

use tailback_report::{Figures, Report, Table, TableError};

use crate::complaint::Complaint;
use crate::results::Directory;

/// The version of the program, which is part of what a run depends on.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The runs in a directory, by the digests of their scenarios.
#[derive(Debug)]
pub struct Store {
    directory: Directory,
}

/// What is kept of a run.
#[derive(Clone, Debug)]
pub struct Kept {
    pub report: Report,
    /// The time series, if the scenario asks for one.
    pub series: Option<Table>,
}

impl Store {
    /// The runs in the folder of a directory. Nothing is written yet.
    pub fn at(path: &Path) -> Result<Self, Complaint> {
        Ok(Self { directory: Directory::at(&path.join("runs"))? })
    }

    /// What this version of the program has found when it ran a scenario before, with a time series if there has to be
    /// one.
    pub fn find(&self, scenario_digest: &str, with_series: bool) -> Option<Kept> {
        let report = self.directory.read_report(&format!("{}.json", stem(scenario_digest)))?;
        if report.scenario_digest != scenario_digest || report.version != VERSION || report.interrupted.is_some() {
            return None;
        }
        let series = if with_series { Some(self.series(&report)?) } else { None };
        Some(Kept { report, series })
    }

    /// The time series of a run that is kept, if it is undamaged.
    pub fn series(&self, report: &Report) -> Option<Table> {
        self.table(&series_name(&report.scenario_digest)).filter(|table| is_series_of(table, report).unwrap_or(false))
    }

    /// The histograms of a run that is kept, if they are undamaged; the version before this one did not keep any.
    pub fn histograms(&self, report: &Report) -> Option<Table> {
        let table = self.table(&histograms_name(&report.scenario_digest))?;
        are_histograms_of(&table, report).unwrap_or(false).then_some(table)
    }

    fn table(&self, name: &str) -> Option<Table> {
        Table::read_csv(File::open(self.directory.path(name)).ok()?).ok()
    }

    /// Keeps the histograms of a run, before the run itself.
    pub fn keep_histograms(&self, scenario_digest: &str, histograms: &Table) -> Result<(), Complaint> {
        let mut csv = Vec::new();
        histograms.write_csv(&mut csv).map_err(|error| Complaint::failed(error.to_string()))?;
        self.directory.write(&histograms_name(scenario_digest), &csv)
    }

    /// Keeps a run. The report goes last: where it is, all is there.
    pub fn keep(&self, kept: &Kept) -> Result<(), Complaint> {
        let digest = &kept.report.scenario_digest;
        if let Some(series) = &kept.series {
            let mut csv = Vec::new();
            series.write_csv(&mut csv).map_err(|error| Complaint::failed(error.to_string()))?;
            self.directory.write(&series_name(digest), &csv)?;
        }
        self.directory.write(&format!("{}.json", stem(digest)), kept.report.to_json().as_bytes())
    }
}

/// Whether a time series has, for each flow, all intervals of a run, of which the first two tell how long they are.
fn is_series_of(series: &Table, report: &Report) -> Result<bool, TableError> {
    let (cycle, flow) = (series.column("cycle")?, series.column("flow")?);
    let end = (report.cycles.warmup + report.cycles.measured) as f64;
    let is_whole = |name: &str| {
        let of_flow = series.rows.iter().filter(|row| row[flow].to_string() == name);
        let starts: Vec<f64> = of_flow.filter_map(|row| row[cycle].number()).collect();
        let width = starts.get(1).copied().unwrap_or(end);
        starts.first() == Some(&0.0) && starts.len() as f64 == (end / width).ceil()
    };
    Ok(report.flows.iter().all(|(name, _)| is_whole(name)))
}

/// Whether histograms hold as much as the report of a run says that there was.
fn are_histograms_of(histograms: &Table, report: &Report) -> Result<bool, TableError> {
    let (figure, count) = (histograms.column("figure")?, histograms.column("count")?);
    let held = |name: &str| {
        let of_figure = histograms.rows.iter().filter(|row| row[figure].to_string() == name);
        of_figure.filter_map(|row| row[count].number()).sum::<f64>()
    };
    let Figures { latency, packets_delivered, completions, .. } = &report.total;
    let completed = completions.as_ref().map_or(0, |completions| completions.completion.samples);
    let told = [
        ("message_latency", latency.message.samples),
        ("network_latency", latency.network.samples),
        ("hops", *packets_delivered),
        ("completion", completed),
        ("slowdown", completed),
    ];
    Ok(told.into_iter().all(|(name, samples)| held(name) == samples as f64))
}

fn stem(scenario_digest: &str) -> &str {
    &scenario_digest[..16]
}

fn histograms_name(scenario_digest: &str) -> String {
    format!("{}-histograms.csv", stem(scenario_digest))
}

fn series_name(scenario_digest: &str) -> String {
    format!("{}-series.csv", stem(scenario_digest))
}
