//! Tables as Parquet files, compressed with zstd.

use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::{Cell, Column, Kind, Table, TableError};

/// How many rows are written as a group: enough to compress well, few enough to be read in pieces.
const GROUP_ROWS: usize = 1 << 17;

impl Table {
    /// Writes the table as a Parquet file. All columns may be null: 64-bit integers, doubles and UTF-8 texts.
    ///
    /// # Errors
    /// When `writer` refuses.
    pub fn write_parquet(&self, writer: impl io::Write + Send) -> std::result::Result<(), TableError> {
        let compression = Compression::ZSTD(ZstdLevel::default());
        let metadata = self.metadata.iter().map(|(name, value)| KeyValue::new(name.clone(), value.clone())).collect();
        let properties = WriterProperties::builder().set_compression(compression);
        let properties = properties.set_key_value_metadata(Some(metadata)).build();
        let mut file = SerializedFileWriter::new(writer, Arc::new(self.schema()?), Arc::new(properties))?;
        for rows in self.rows.chunks(GROUP_ROWS) {
            let mut group = file.next_row_group()?;
            for (place, column) in self.columns.iter().enumerate() {
                let mut writer = group.next_column()?.expect("the schema has all columns");
                write_column(&mut writer, column.kind, rows.iter().map(|row| &row[place]))?;
                writer.close()?;
            }
            group.close()?;
        }
        file.close()?;
        Ok(())
    }

    fn schema(&self) -> Result<Type> {
        let fields = self.columns.iter().map(|column| Ok(Arc::new(field(column)?))).collect::<Result<_>>()?;
        Type::group_type_builder("table").with_fields(fields).build()
    }
}

/// A column in the schema.
fn field(column: &Column) -> Result<Type> {
    let (physical, logical) = match column.kind {
        Kind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Integer => (PhysicalType::INT64, None),
        Kind::Number => (PhysicalType::DOUBLE, None),
    };
    let builder = Type::primitive_type_builder(&column.name, physical);
    builder.with_logical_type(logical).with_repetition(Repetition::OPTIONAL).build()
}

fn write_column<'a>(
    writer: &mut SerializedColumnWriter<'_>,
    kind: Kind,
    cells: impl Iterator<Item = &'a Cell>,
) -> Result<()> {
    match kind {
        Kind::Text => write_values::<ByteArrayType>(writer, cells, |cell| match cell {
            Cell::Text(text) => Some(ByteArray::from(text.as_str())),
            _ => None,
        }),
        Kind::Integer => write_values::<Int64Type>(writer, cells, |cell| match cell {
            Cell::Integer(number) => Some(*number),
            _ => None,
        }),
        Kind::Number => write_values::<DoubleType>(writer, cells, Cell::number),
    }
}

/// Writes the values that there are, and which of the cells they belong to.
fn write_values<'a, T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = &'a Cell>,
    value: impl Fn(&Cell) -> Option<T::T>,
) -> Result<()> {
    let values: Vec<Option<T::T>> = cells.map(value).collect();
    let defined: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    writer.typed::<T>().write_batch(&values, Some(&defined), None)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::super::example;
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let table = example();
        let mut bytes = Vec::new();
        table.write_parquet(&mut bytes).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let codec = reader.metadata().row_group(0).column(0).compression();
        assert!(matches!(codec, Compression::ZSTD(_)), "{codec:?}");
        let rows: Vec<Vec<(String, Cell)>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap().get_column_iter().map(|(name, field)| (name.clone(), cell(field))).collect())
            .collect();
        for (row, expected) in rows.iter().zip(&table.rows) {
            let names: Vec<_> = table.columns.iter().map(|column| column.name.clone()).collect();
            let expected: Vec<_> = names.into_iter().zip(expected.clone()).collect();
            assert_eq!(row, &expected);
        }
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn what_is_known_of_a_table_is_in_its_file() {
        let mut bytes = Vec::new();
        example().with_metadata("seed", &7).with_metadata("cycle_ns", &0.5).write_parquet(&mut bytes).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let found = reader.metadata().file_metadata().key_value_metadata().expect("it has some");
        let found: Vec<_> = found.iter().map(|pair| (pair.key.as_str(), pair.value.as_deref())).collect();
        assert_eq!(found, [("seed", Some("7")), ("cycle_ns", Some("0.5"))]);
    }

    #[test]
    fn a_table_without_rows_is_a_file_too() {
        let mut bytes = Vec::new();
        Table::new(vec![Column::text("a")]).write_parquet(&mut bytes).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }

    fn cell(field: &Field) -> Cell {
        match field {
            Field::Null => Cell::Empty,
            Field::Str(text) => Cell::Text(text.clone()),
            Field::Long(number) => Cell::Integer(*number),
            Field::Double(number) => Cell::Number(*number),
            other => panic!("there is no {other:?} in a table"),
        }
    }
}
