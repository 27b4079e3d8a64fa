//! Tables as comma-separated values, with a line of names first.

use std::io;

use super::{Cell, Column, Kind, NAMES, Table, TableError};

impl Table {
    /// Writes the table as CSV. Numbers are written such that they are read back as the same.
    ///
    /// # Errors
    /// When `writer` refuses.
    pub fn write_csv(&self, writer: impl io::Write) -> Result<(), TableError> {
        let mut writer = csv::Writer::from_writer(writer);
        writer.write_record(self.columns.iter().map(|column| &column.name)).map_err(from_csv)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(field)).map_err(from_csv)?;
        }
        Ok(writer.flush()?)
    }

    /// Reads a table from CSV. The first line has the names; the kind of a column follows from what is in it: whole
    /// numbers, numbers, or else text. A column without any content counts as text, and so do `variant` and `flow`.
    ///
    /// # Errors
    /// When it is no CSV, a line has more or fewer fields than the first, or two columns have the same name; when
    /// `reader` fails.
    pub fn read_csv(reader: impl io::Read) -> Result<Self, TableError> {
        let mut read = CsvRows::new(reader)?;
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        while read.next_row()? {
            rows.push(read.record.iter().map(Cell::from).collect());
        }
        let columns: Vec<Column> = (0..read.columns()).map(|index| read.described(index)).collect();
        for row in &mut rows {
            row.iter_mut().zip(&columns).for_each(|(cell, column)| cell.read_as(column.kind));
        }
        Ok(Self { columns, rows, metadata: Vec::new() })
    }
}

/// A table in CSV that is read row by row, so that whoever wants some rows need not hold all.
pub struct CsvRows<R> {
    reader: csv::Reader<R>,
    /// The row that was read last: kept for its memory.
    record: csv::StringRecord,
    names: Vec<String>,
    /// What each column looks like so far; none without content.
    kinds: Vec<Option<Kind>>,
}

impl<R: io::Read> CsvRows<R> {
    /// Reads the line of names.
    ///
    /// # Errors
    /// As [`Table::read_csv`].
    pub fn new(reader: R) -> Result<Self, TableError> {
        let mut reader = csv::Reader::from_reader(reader);
        let names: Vec<String> = reader.headers().map_err(from_csv)?.iter().map(current_name).collect();
        let twice = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name));
        if let Some((_, name)) = twice {
            return Err(TableError::Line { line: 1, reason: format!("two columns are named `{name}`") });
        }
        let kinds = names.iter().map(|name| NAMES.contains(&name.as_str()).then_some(Kind::Text)).collect();
        Ok(Self { reader, record: csv::StringRecord::new(), kinds, names })
    }

    /// The place of a column.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn column(&self, name: &str) -> Result<usize, TableError> {
        super::place(self.names.iter(), name)
    }

    /// How many columns there are.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.names.len()
    }

    /// Reads the next row; tells whether there is one.
    ///
    /// # Errors
    /// As [`Table::read_csv`].
    pub fn next_row(&mut self) -> Result<bool, TableError> {
        let is_there = self.reader.read_record(&mut self.record).map_err(from_csv)?;
        if is_there {
            for (field, kind) in self.record.iter().zip(&mut self.kinds).filter(|(field, _)| !field.is_empty()) {
                *kind = Some(Kind::of_all(*kind, field));
            }
        }
        Ok(is_there)
    }

    /// What the row that was read last has in a column: an empty text if it has nothing.
    #[must_use]
    pub fn field(&self, column: usize) -> &str {
        self.record.get(column).unwrap_or_default()
    }

    /// A column, whose kind follows from all rows that were read.
    #[must_use]
    pub fn described(&self, column: usize) -> Column {
        Column::new(&self.names[column], self.kinds[column].unwrap_or(Kind::Text))
    }
}

/// The name that a column has now. Tables that the version before this one wrote are read for one version.
pub(super) fn current_name(name: &str) -> String {
    if name == "traffic" { "flow".to_owned() } else { name.replace("detoured_share", "nonminimal_share") }
}

/// A cell as a field. Numbers keep a decimal point, so that a column of them is not taken for whole numbers.
fn field(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => format!("{number:?}"),
    }
}

fn from_csv(error: csv::Error) -> TableError {
    let line = error.position().map_or(1, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(error) => TableError::Io(error),
        csv::ErrorKind::Utf8 { .. } => TableError::Line { line, reason: "it is not UTF-8".to_owned() },
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            TableError::Line { line, reason: format!("it has {len} fields, the first line has {expected_len}") }
        }
        other => TableError::Line { line, reason: format!("it is no CSV: {other:?}") },
    }
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut bytes = Vec::new();
        example().write_csv(&mut bytes).unwrap();
        let expected = "name,count,mean,nothing\n\"first, \"\"quoted\"\"\",3,0.1,\n,,,\ngrößer,12000,2500.0,\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
        assert_eq!(Table::read_csv(expected.as_bytes()).unwrap(), example());
    }

    #[test]
    fn kinds_follow_from_the_content() {
        let table = Table::read_csv("a,b,c,d\n1,1,nan,\n-2,1e3,2,\n,0.5,3,\n".as_bytes()).unwrap();
        let kinds: Vec<_> = table.columns.iter().map(|column| column.kind).collect();
        assert_eq!(kinds, [Kind::Integer, Kind::Number, Kind::Text, Kind::Text]);
        assert_eq!(table.rows[2], [Cell::Empty, Cell::Number(0.5), "3".into(), Cell::Empty]);
    }

    #[test]
    fn names_are_texts_whatever_they_look_like() {
        let table = Table::read_csv("load,variant,traffic\n1,1,1e3\n2,1.0,1000\n".as_bytes()).unwrap();
        let kinds: Vec<_> = table.columns.iter().map(|column| column.kind).collect();
        assert_eq!(kinds, [Kind::Integer, Kind::Text, Kind::Text]);
        assert_eq!(table.rows[1], [Cell::Integer(2), "1.0".into(), "1000".into()]);
        let mut written = Vec::new();
        table.write_csv(&mut written).unwrap();
        assert_eq!(Table::read_csv(written.as_slice()).unwrap(), table);
    }

    #[test]
    fn columns_that_were_called_otherwise_are_read_under_their_names() {
        let table = Table::read_csv("cycle,traffic,detoured_share,hot.detoured_share_ci95\n".as_bytes()).unwrap();
        let names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["cycle", "flow", "nonminimal_share", "hot.nonminimal_share_ci95"]);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |bytes: &[u8]| Table::read_csv(bytes).unwrap_err().to_string();
        assert_eq!(error(b"a,b\n1,2\n3\n"), "line 3: it has 1 fields, the first line has 2");
        assert_eq!(error(b"a,b\n1,\xff\n"), "line 2: it is not UTF-8");
        assert_eq!(error(b"a,b,a\n"), "line 1: two columns are named `a`");
    }
}
