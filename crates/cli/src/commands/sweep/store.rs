//! Where the runs of a sweep are kept, to be found again.

use std::path::{Path, PathBuf};

use tailback_report::{Report, Table};
use tailback_scenario::{Scenario, Sweep};
use tailback_sim::SweepManifest;

use crate::complaint::Complaint;
use crate::results::{Directory, MANIFEST};

/// The directory of a sweep.
pub struct Store {
    directory: Directory,
}

impl Store {
    /// The directory of a sweep, which may hold runs of it already.
    pub fn open(path: &Path, base: &Scenario, sweep: &Sweep) -> Result<Self, Complaint> {
        let directory = Directory::at(path)?;
        directory.refuse_others(&base.digest)?;
        let text = serde_json::to_string_pretty(&SweepManifest::new(base, sweep)).expect("plain data");
        directory.write(MANIFEST, text.as_bytes())?;
        directory.write("scenario.toml", base.text.as_bytes())?;
        Ok(Self { directory })
    }

    /// The report of a scenario that has been run before.
    pub fn find(&self, scenario_digest: &str) -> Option<Report> {
        let report = self.directory.read_report(&name(scenario_digest))?;
        (report.scenario_digest == scenario_digest).then_some(report)
    }

    /// Keeps a report.
    pub fn keep(&self, report: &Report) -> Result<(), Complaint> {
        self.directory.write(&name(&report.scenario_digest), report.to_json().as_bytes())
    }

    pub fn write_table(&self, table: &Table) -> Result<(), Complaint> {
        self.directory.write_table("sweep", table)
    }
}

fn name(scenario_digest: &str) -> String {
    format!("runs/{}.json", &scenario_digest[..16])
}

/// The manifest of a directory, if it holds a sweep.
pub fn read_manifest(path: &Path) -> Result<Option<SweepManifest>, Complaint> {
    let path: PathBuf = path.join(MANIFEST);
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Complaint::bad_input(format!("cannot read {}: {error}", path.display())))?;
    let manifest = serde_json::from_str(&text)
        .map_err(|error| Complaint::bad_input(format!("{} is damaged: {error}", path.display())))?;
    Ok(Some(manifest))
}
