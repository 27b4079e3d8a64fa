//! What is said about a sweep as a whole.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tailback_scenario::{Scenario, Sweep};

use crate::complaint::Complaint;
use crate::results::{Directory, MANIFEST};

/// What is said about a sweep as a whole.
#[derive(Debug, Deserialize, Serialize)]
pub struct Manifest {
    /// The title of the scenario.
    pub title: String,
    /// The digest of the scenario without anything varied.
    pub scenario_digest: String,
    /// The columns of what is varied.
    pub axes: Vec<String>,
    /// The one of them that is the offered load.
    pub load_axis: Option<String>,
}

impl Manifest {
    pub fn new(base: &Scenario, sweep: &Sweep) -> Self {
        let axes: Vec<String> = sweep.axes.iter().map(|axis| axis.path.clone()).collect();
        let load_axis = sweep.load_axis().map(|index| axes[index].clone());
        Self { title: base.title.clone(), scenario_digest: base.digest.clone(), axes, load_axis }
    }

    pub fn write(&self, directory: &Directory) -> Result<(), Complaint> {
        directory.write(MANIFEST, serde_json::to_string_pretty(self).expect("plain data").as_bytes())
    }
}

/// The manifest of a directory, if it holds a sweep.
pub fn read_manifest(path: &Path) -> Result<Option<Manifest>, Complaint> {
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
