//! Claims of figures that have been reproduced before.

use std::path::Path;

use tailback_reproduce::{Row, Scale};

use super::catalogue::Entry;
use super::folder;

/// The file with the claims of a figure.
pub const CLAIMS: &str = "claims.json";

/// The claims about a figure as they were found when it was last reproduced, if it was.
pub fn read(out: &Path, entry: &Entry, scale: Scale) -> Option<Vec<Row>> {
    let bytes = std::fs::read(folder(out, &entry.group, &entry.name, scale).join(CLAIMS)).ok()?;
    serde_json::from_slice(&bytes).ok()
}
