//! Claims of figures that have been reproduced before.

use std::path::Path;

use tailback_reproduce::{Row, Scale};

use super::catalogue::Entry;
use super::folder;

/// The file with the claims of a figure.
pub const CLAIMS: &str = "claims.json";

/// The claims about a figure as they were written down when it was last reproduced; none if it was not, or nobody can read them.
pub fn read(out: &Path, entry: &Entry, scale: Scale) -> Vec<Row> {
    let bytes = std::fs::read(folder(out, &entry.group, &entry.name, scale).join(CLAIMS)).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}
