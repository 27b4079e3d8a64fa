//! What is said about a sweep as a whole.

use std::path::{Path, PathBuf};

use tailback_sim::SweepManifest;

use crate::complaint::Complaint;
use crate::results::{Directory, MANIFEST};

/// Writes it into the directory of its sweep.
pub fn write(manifest: &SweepManifest, directory: &Directory) -> Result<(), Complaint> {
    directory.write(MANIFEST, serde_json::to_string_pretty(manifest).expect("plain data").as_bytes())
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
