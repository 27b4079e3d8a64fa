//! Directories of results.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tailback_report::{Report, Table};

use crate::complaint::Complaint;

/// A directory that results go to.
#[derive(Debug)]
pub struct Directory(PathBuf);

/// The name of a report in its directory.
pub const REPORT: &str = "report.json";

impl Directory {
    /// A directory that is there or can be made. Nothing is written yet.
    pub fn at(path: &Path) -> Result<Self, Complaint> {
        if path.exists() && !path.is_dir() {
            return Err(Complaint::bad_input(format!("{} is a file, not a directory", path.display())));
        }
        Ok(Self(path.to_owned()))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Refuses if a run of another scenario has left its results here.
    pub fn refuse_others(&self, scenario_digest: &str) -> Result<(), Complaint> {
        let path = self.path(REPORT);
        if !path.exists() {
            return Ok(());
        }
        match self.read_report(REPORT) {
            Some(report) if report.scenario_digest == scenario_digest => Ok(()),
            Some(report) => Err(Complaint::BadInput(
                format!(
                    "{} holds results of another scenario (digest {}…)",
                    self.0.display(),
                    &report.scenario_digest.get(..12).unwrap_or_default()
                ),
                Some("choose another directory, or remove it".to_owned()),
            )),
            None => Err(Complaint::BadInput(
                format!("{} is not a report that can be read", path.display()),
                Some("choose another directory, or remove it".to_owned()),
            )),
        }
    }

    /// A report, if there is one that can be read.
    pub fn read_report(&self, name: &str) -> Option<Report> {
        Report::read_json(fs::File::open(self.path(name)).ok()?).ok()
    }

    /// Writes a file as a whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Complaint> {
        let path = self.path(name);
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(path.parent().unwrap_or(&self.0))?;
            let unfinished = path.with_extension("unfinished");
            let mut file = fs::File::create(&unfinished)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)
        };
        write().map_err(|error| Complaint::failed(format!("cannot write {}: {error}", path.display())))
    }

    /// Writes a table as CSV and as Parquet.
    pub fn write_table(&self, name: &str, table: &Table) -> Result<(), Complaint> {
        let (mut csv, mut parquet) = (Vec::new(), Vec::new());
        table.write_csv(&mut csv).map_err(|error| Complaint::failed(error.to_string()))?;
        table.write_parquet(&mut parquet).map_err(|error| Complaint::failed(error.to_string()))?;
        self.write(&format!("{name}.csv"), &csv)?;
        self.write(&format!("{name}.parquet"), &parquet)
    }
}
