//! Tables: what is written as CSV and Parquet, shown as text and drawn.

mod csv;
mod parquet;
mod read_parquet;
mod text;

use std::fmt;

use serde::{Serialize, Serializer};

pub use csv::CsvRows;
pub use text::{significant, with_half_width};

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
}

impl Kind {
    /// The narrowest kind of texts that were of a kind so far, none if there were none, and one more.
    fn of_all(so_far: Option<Self>, text: &str) -> Self {
        match so_far.unwrap_or(Self::Integer) {
            Self::Integer if text.parse::<i64>().is_ok() => Self::Integer,
            Self::Integer | Self::Number if text.parse().is_ok_and(f64::is_finite) => Self::Number,
            _ => Self::Text,
        }
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What its cells hold.
    pub kind: Kind,
}

/// The columns of names that people give, as of variants and flows. They are texts, even where all names look like numbers: `1` and `1.0` are two.
const NAMES: [&str; 2] = ["variant", "flow"];

impl Column {
    /// A column.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind }
    }

    /// A column of text.
    #[must_use]
    pub fn text(name: impl Into<String>) -> Self {
        Self::new(name, Kind::Text)
    }
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// Nothing; `null` in JSON.
    #[default]
    Empty,
    /// Text, not empty.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A finite number.
    Number(f64),
}

impl Cell {
    /// The number in it, whole or not.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            Self::Empty | Self::Text(_) => None,
        }
    }
}

impl Cell {
    /// Reads a text as what its column is.
    fn read_as(&mut self, kind: Kind) {
        let Self::Text(text) = self else { return };
        *self = match kind {
            Kind::Integer => text.parse().map_or(Self::Empty, Self::Integer),
            Kind::Number => text.parse().map_or(Self::Empty, Self::Number),
            Kind::Text => return,
        };
    }
}

/// As it stands in CSV, but for numbers, which have no decimal point if they need none.
impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => Ok(()),
            Self::Text(text) => text.fmt(formatter),
            Self::Integer(number) => number.fmt(formatter),
            Self::Number(number) => number.fmt(formatter),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        if text.is_empty() { Self::Empty } else { Self::Text(text.to_owned()) }
    }
}

impl From<u64> for Cell {
    /// What is beyond the largest `i64`, as no count ever is, becomes that.
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Cell {
    /// What is not finite leaves the cell empty.
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Number(number) } else { Self::Empty }
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

/// Why a table cannot be read, written or used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A line of a CSV file is not as it should be.
    #[error("line {line}: {reason}")]
    Line {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// There is no such column.
    #[error("there is no column `{name}`; there are {known}")]
    UnknownColumn {
        /// The name that was looked for.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The column holds something else.
    #[error("column `{0}` does not hold numbers")]
    NotNumbers(String),
    /// A file is not what is written as Parquet.
    #[error("it is no table in Parquet: {0}")]
    NotParquet(String),
    /// The Parquet writer refuses.
    #[error("cannot write Parquet: {0}")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// Reading or writing fails.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Rows of cells in named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
    /// What is known of it as a whole, by name: of which run it is. Parquet files have it, CSV has no place for it.
    pub metadata: Vec<(String, String)>,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new(), metadata: Vec::new() }
    }

    /// The same table, of which more is known.
    #[must_use]
    pub fn with_metadata(mut self, name: &str, value: &impl ToString) -> Self {
        self.metadata.push((name.to_owned(), value.to_string()));
        self
    }

    /// Appends a row.
    ///
    /// # Panics
    /// When the cells do not fit the columns.
    pub fn push(&mut self, mut row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "a row has a cell for every column");
        for (cell, column) in row.iter_mut().zip(&self.columns) {
            if let (Cell::Integer(number), Kind::Number) = (&*cell, column.kind) {
                *cell = Cell::Number(*number as f64);
            }
            let fits = match cell {
                Cell::Empty => true,
                Cell::Text(_) => column.kind == Kind::Text,
                Cell::Integer(_) => column.kind == Kind::Integer,
                Cell::Number(_) => column.kind == Kind::Number,
            };
            assert!(fits, "{cell:?} is not of the kind of column `{}`", column.name);
        }
        self.rows.push(row);
    }

    /// The place of the column with this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn column(&self, name: &str) -> Result<usize, TableError> {
        place(self.columns.iter().map(|column| &column.name), name)
    }

    /// Makes the cells of a text column numbers if all of them are.
    pub(crate) fn infer_kind(&mut self, column: usize) {
        let texts =
            self.rows.iter().filter_map(|row| if let Cell::Text(text) = &row[column] { Some(text) } else { None });
        let kind = texts.fold(None, |kind: Option<Kind>, text| Some(Kind::of_all(kind, text))).unwrap_or(Kind::Text);
        self.columns[column].kind = kind;
        self.rows.iter_mut().for_each(|row| row[column].read_as(kind));
    }

    /// The table as JSON: a list with an object for each row, whose keys are in the order of the columns.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("cells are finite, and keys are text")
    }
}

/// The place of a column with this name.
fn place<'c>(mut names: impl Iterator<Item = &'c String> + Clone, name: &str) -> Result<usize, TableError> {
    let all = names.clone();
    let known = || all.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let place = names.position(|known| known == name);
    place.ok_or_else(|| TableError::UnknownColumn { name: name.to_owned(), known: known() })
}

/// A list with a map for each row.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.iter().map(|row| Row { columns: &self.columns, row }))
    }
}

struct Row<'a> {
    columns: &'a [Column],
    row: &'a [Cell],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().map(|column| &column.name).zip(self.row))
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Number(number) => serializer.serialize_f64(*number),
        }
    }
}

/// A table with every kind of column and with empty cells.
#[cfg(test)]
fn example() -> Table {
    let columns = [("name", Kind::Text), ("count", Kind::Integer), ("mean", Kind::Number), ("nothing", Kind::Text)];
    let mut table = Table::new(columns.map(|(name, kind)| Column::new(name, kind)).to_vec());
    table.push(vec!["first, \"quoted\"".into(), 3_u64.into(), 0.1.into(), Cell::Empty]);
    table.push(vec![Cell::Empty, Cell::Empty, f64::NAN.into(), Cell::Empty]);
    table.push(vec!["größer".into(), 12_000_u64.into(), 2500.0.into(), Cell::Empty]);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_the_order_of_columns() {
        let json = serde_json::to_string(&example()).unwrap();
        let expected = r#"[{"name":"first, \"quoted\"","count":3,"mean":0.1,"nothing":null},"#;
        assert!(json.starts_with(expected), "{json}");
        assert!(example().to_json().ends_with("\"mean\": 2500.0,\n    \"nothing\": null\n  }\n]"));
    }

    #[test]
    #[should_panic(expected = "is not of the kind of column `count`")]
    fn cells_must_fit_their_columns() {
        example().push(vec!["a".into(), "b".into(), 1.0.into(), Cell::Empty]);
    }

    #[test]
    fn unknown_columns_are_named_with_the_known_ones() {
        let error = example().column("latency").unwrap_err().to_string();
        assert_eq!(error, "there is no column `latency`; there are `name`, `count`, `mean`, `nothing`");
    }
}
