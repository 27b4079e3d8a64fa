//! Tables from Parquet files, column by column.

use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, FileReader as _, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::{Cell, Column, Kind, Table, TableError, csv::current_name};

/// So many values are read at once.
const BATCH: usize = 1 << 14;

impl Table {
    /// Reads a table from a Parquet file of integers, numbers and texts, any of which may be null.
    ///
    /// # Errors
    /// When it is no Parquet file, or there is something else in it.
    pub fn read_parquet(reader: impl ChunkReader + 'static) -> std::result::Result<Self, TableError> {
        // At some damaged pages the library panics where it should refuse: nothing that it held is used after that.
        let result = catch_unwind(AssertUnwindSafe(|| read(reader)));
        let damaged = || Err(ParquetError::General("a page in it is damaged".to_owned()));
        result.unwrap_or_else(|_| damaged()).map_err(|error| TableError::NotParquet(error.to_string()))
    }
}

fn read(reader: impl ChunkReader + 'static) -> Result<Table> {
    let file = SerializedFileReader::new(reader)?;
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let (mut columns, mut rows) = (Vec::new(), Vec::new());
    for place in 0..file.num_row_groups() {
        let group = file.get_row_group(place)?;
        group.metadata().columns().iter().try_for_each(check_place)?;
        let mut cells = Vec::new();
        for (place, descriptor) in schema.columns().iter().enumerate() {
            let (kind, found) = read_column(group.get_column_reader(place)?, descriptor)?;
            columns.push(Column::new(current_name(descriptor.name()), kind));
            cells.push(found.into_iter());
        }
        let count = cells.first().map_or(0, ExactSizeIterator::len);
        if let Some(place) = cells.iter().position(|cells| cells.len() != count) {
            let message =
                format!("the column \"{}\" does not have as many values as the first", schema.column(place).name());
            return Err(ParquetError::General(message));
        }
        rows.extend((0..count).map(|_| cells.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>()));
    }
    columns.truncate(schema.num_columns());
    if columns.is_empty() {
        // Without any rows there is no group of them.
        columns = schema.columns().iter().map(|column| Column::text(current_name(column.name()))).collect();
    }
    Ok(Table { columns, rows, metadata: Vec::new() })
}

/// Refuses what the library would panic at.
fn check_place(column: &ColumnChunkMetaData) -> Result<()> {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    if start < 0 || column.compressed_size() < 0 {
        return Err(ParquetError::General(format!("the column \"{}\" lies nowhere", column.column_descr().name())));
    }
    Ok(())
}

/// All of a column, with what it holds.
fn read_column(reader: ColumnReader, descriptor: &ColumnDescriptor) -> Result<(Kind, Vec<Cell>)> {
    if descriptor.max_rep_level() > 0 || descriptor.max_def_level() > 1 {
        return Err(ParquetError::General(format!("the column \"{}\" has parts", descriptor.name())));
    }
    let nullable = descriptor.max_def_level() == 1;
    Ok(match reader {
        ColumnReader::Int32ColumnReader(reader) => {
            (Kind::Integer, read_values(reader, nullable, |number| Ok(Cell::Integer(number.into())))?)
        }
        ColumnReader::Int64ColumnReader(reader) => {
            (Kind::Integer, read_values(reader, nullable, |number| Ok(Cell::Integer(number)))?)
        }
        ColumnReader::FloatColumnReader(reader) => {
            (Kind::Number, read_values(reader, nullable, |number| Ok(f64::from(number).into()))?)
        }
        ColumnReader::DoubleColumnReader(reader) => {
            (Kind::Number, read_values(reader, nullable, |number| Ok(number.into()))?)
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            let text = |bytes: ByteArray| Ok(bytes.as_utf8()?.into());
            (Kind::Text, read_values(reader, nullable, text)?)
        }
        _ => {
            let message = format!("in the column \"{}\" are neither numbers nor texts", descriptor.name());
            return Err(ParquetError::General(message));
        }
    })
}

fn read_values<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    nullable: bool,
    cell: impl Fn(T::T) -> Result<Cell>,
) -> Result<Vec<Cell>> {
    let mut cells = Vec::new();
    loop {
        let (mut values, mut defined) = (Vec::new(), Vec::new());
        let (count, _, _) = reader.read_records(BATCH, nullable.then_some(&mut defined), None, &mut values)?;
        if count == 0 {
            return Ok(cells);
        }
        let mut values = values.into_iter();
        for index in 0..count {
            let is_there = !nullable || defined.get(index) == Some(&1);
            cells.push(if is_there { values.next().map(&cell).transpose()?.unwrap_or_default() } else { Cell::Empty });
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::example;
    use super::*;

    fn written(table: &Table) -> Bytes {
        let mut bytes = Vec::new();
        table.write_parquet(&mut bytes).unwrap();
        bytes.into()
    }

    #[test]
    fn what_is_written_is_read_back() {
        assert_eq!(Table::read_parquet(written(&example())).unwrap(), example());
        let mut empty = example();
        empty.rows.clear();
        let read = Table::read_parquet(written(&empty)).unwrap();
        assert_eq!((read.columns.len(), read.rows.len()), (4, 0));
    }

    #[test]
    fn rows_of_several_batches_stay_together() {
        let mut table = Table::new(vec![Column::new("a", Kind::Integer), Column::text("b")]);
        for number in 0..3 * BATCH as u64 + 7 {
            let text = (number % 5 > 0).then(|| number.to_string());
            table.push(vec![number.into(), text.as_deref().into()]);
        }
        assert!(Table::read_parquet(written(&table)).unwrap() == table);
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let bytes = written(&example());
        let error = |bytes: Bytes| Table::read_parquet(bytes).unwrap_err().to_string();
        assert!(error(Bytes::from_static(b"a,b\n1,2\n")).starts_with("it is no table in Parquet: "));
        for length in 0..bytes.len() {
            error(bytes.slice(..length));
        }
    }

    #[test]
    fn a_changed_byte_ends_no_program() {
        let bytes = written(&example());
        for place in 0..bytes.len() {
            for change in [0x01, 0x10, 0x80, 0xff] {
                let mut changed = bytes.to_vec();
                changed[place] ^= change;
                // A value may be another one now: what counts is that there is an answer.
                let _ = Table::read_parquet(Bytes::from(changed));
            }
        }
    }
}
