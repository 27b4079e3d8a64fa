//! Where runs are kept, to be found again.

use std::fs::File;
use std::path::Path;

use tailback_report::{Report, Table};

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
        let series = if with_series { Some(self.series(scenario_digest)?) } else { None };
        Some(Kept { report, series })
    }

    /// The time series of a run that is kept.
    pub fn series(&self, scenario_digest: &str) -> Option<Table> {
        Table::read_csv(File::open(self.directory.path(&series_name(scenario_digest))).ok()?).ok()
    }

    /// The histograms of a run that is kept.
    pub fn histograms(&self, scenario_digest: &str) -> Option<Table> {
        Table::read_csv(File::open(self.directory.path(&histograms_name(scenario_digest))).ok()?).ok()
    }

    /// Whether the histograms of a run are kept; the version before this one did not.
    pub fn has_histograms(&self, scenario_digest: &str) -> bool {
        self.directory.path(&histograms_name(scenario_digest)).exists()
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

fn stem(scenario_digest: &str) -> &str {
    &scenario_digest[..16]
}

fn histograms_name(scenario_digest: &str) -> String {
    format!("{}-histograms.csv", stem(scenario_digest))
}

fn series_name(scenario_digest: &str) -> String {
    format!("{}-series.csv", stem(scenario_digest))
}
