//! Files and tables as clients see them.

use tailback_api::v1;
use tailback_api::v1::column::Values;
use tailback_report::{Column, Kind};

use crate::domain::Artifact;

/// A file that a run has left.
pub(crate) fn artifact(Artifact { name, size, sha256, media_type }: Artifact) -> v1::Artifact {
    v1::Artifact { name, size, sha256, media_type }
}

/// A column of a table, by the texts of its cells, of which one that is empty stands for nothing.
pub(crate) fn column<'c>(column: Column, cells: impl Iterator<Item = &'c str> + Clone) -> v1::Column {
    let empty = (0u32..).zip(cells.clone()).filter(|(_, cell)| cell.is_empty()).map(|(row, _)| row).collect();
    let values = match column.kind {
        Kind::Integer => {
            let values = cells.map(|cell| cell.parse().unwrap_or(0)).collect();
            Values::Integers(v1::IntegerColumn { values })
        }
        Kind::Number => {
            let values = cells.map(|cell| cell.parse().unwrap_or(0.0)).collect();
            Values::Numbers(v1::NumberColumn { values })
        }
        Kind::Text => Values::Texts(v1::TextColumn { values: cells.map(str::to_owned).collect() }),
    };
    v1::Column { name: column.name, values: Some(values), empty }
}
