//! Files and tables as clients see them.

use tailback_api::v1;
use tailback_api::v1::column::Values;
use tailback_report::{Cell, Kind, Table};

use crate::domain::Artifact;

/// A file that a run has left.
pub(crate) fn artifact(Artifact { name, size, sha256, media_type }: Artifact) -> v1::Artifact {
    v1::Artifact { name, size, sha256, media_type }
}

/// A column of a table.
pub(crate) fn column(table: &Table, index: usize) -> v1::Column {
    let cells = || table.rows.iter().map(|row| &row[index]);
    let empty = (0u32..).zip(cells()).filter(|(_, cell)| **cell == Cell::Empty).map(|(row, _)| row).collect();
    let values = match table.columns[index].kind {
        Kind::Integer => {
            let integer = |cell: &Cell| if let Cell::Integer(number) = cell { *number } else { 0 };
            Values::Integers(v1::IntegerColumn { values: cells().map(integer).collect() })
        }
        Kind::Number => {
            Values::Numbers(v1::NumberColumn { values: cells().map(|cell| cell.number().unwrap_or(0.0)).collect() })
        }
        Kind::Text => {
            let text = |cell: &Cell| if let Cell::Text(text) = cell { text.clone() } else { String::new() };
            Values::Texts(v1::TextColumn { values: cells().map(text).collect() })
        }
    };
    v1::Column { name: table.columns[index].name.clone(), values: Some(values), empty }
}
