//! Tables in Parquet files, row by row as texts: they are read as the rows of comma-separated values are.

use std::io;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use csv::StringRecord;
use parquet::errors::{ParquetError, Result as Parsed};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, FileReader as _, Length, SerializedFileReader};
use parquet::record::{Field, Row};
use tailback_goal::ReadAt;

use super::parquet_page::PageStart;
use crate::files::FromStart;

/// What a row takes at least, once it is read: so many rows for the bytes that a text may have.
const ROW_BYTES: u64 = 16;
/// Columns may take so many times the bytes that a text may have, once they are unpacked.
const UNPACKED: u64 = 4;

/// A table in a Parquet file.
pub(super) struct ParquetTable(SerializedFileReader<Chunks>);

impl ParquetTable {
    /// Opens a table that takes no more than a text of so many bytes would.
    pub fn open(file: &Arc<dyn ReadAt>, bytes_max: u64) -> Result<Self, String> {
        let unpacked_max = Arc::new(OnceLock::new());
        let chunks = Chunks { file: file.clone(), unpacked_max: unpacked_max.clone() };
        let reader = SerializedFileReader::new(chunks).map_err(|error| error.to_string())?;
        let metadata = reader.metadata();
        let sizes = metadata
            .row_groups()
            .iter()
            .flat_map(RowGroupMetaData::columns)
            .map(ColumnChunkMetaData::uncompressed_size);
        let unpacked = sum(sizes)?;
        let rows = sum([metadata.file_metadata().num_rows()].into_iter())?;
        for (what, count, limit) in
            [("rows", rows, bytes_max / ROW_BYTES), ("unpacked bytes", unpacked, bytes_max.saturating_mul(UNPACKED))]
        {
            if count > limit {
                return Err(format!("it has {count} {what}, the limit is {limit}"));
            }
        }
        unpacked_max.get_or_init(|| unpacked);
        Ok(Self(reader))
    }

    /// The names of the columns.
    pub fn header(&self) -> StringRecord {
        let fields = self.0.metadata().file_metadata().schema().get_fields();
        fields.iter().map(|field| field.name()).collect()
    }

    /// The rows, as texts.
    pub fn rows(&self) -> Result<impl Iterator<Item = Result<StringRecord, String>>, String> {
        let rows = self.0.get_row_iter(None).map_err(|error| error.to_string())?;
        Ok(rows.map(|row| texts(&row.map_err(|error| error.to_string())?)))
    }
}

/// The sum of numbers that are counts, or should be.
fn sum(mut counts: impl Iterator<Item = i64>) -> Result<u64, String> {
    let add = |sum: u64, count: i64| Some(sum.saturating_add(u64::try_from(count).ok()?));
    counts.try_fold(0, add).ok_or_else(|| "it says that it has fewer than no bytes or rows".to_owned())
}

/// What is in a row, as it would be written.
fn texts(row: &Row) -> Result<StringRecord, String> {
    let text = |(name, field): (&String, &Field)| {
        Ok(match field {
            Field::Byte(number) => number.to_string(),
            Field::Short(number) => number.to_string(),
            Field::Int(number) => number.to_string(),
            Field::Long(number) => number.to_string(),
            Field::UByte(number) => number.to_string(),
            Field::UShort(number) => number.to_string(),
            Field::UInt(number) => number.to_string(),
            Field::ULong(number) => number.to_string(),
            Field::Float(number) => number.to_string(),
            Field::Double(number) => number.to_string(),
            Field::Str(text) => text.clone(),
            // An empty field, which is a mistake where one is needed.
            Field::Null => String::new(),
            _ => return Err(format!("in the column \"{name}\" are neither numbers nor texts")),
        })
    };
    row.get_column_iter().map(text).collect()
}

/// The file, as the library reads it.
struct Chunks {
    file: Arc<dyn ReadAt>,
    unpacked_max: Arc<OnceLock<u64>>,
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Chunks {
    type T = io::BufReader<PageStart>;

    fn get_read(&self, start: u64) -> Parsed<Self::T> {
        if start > self.file.len() {
            return Err(too_short());
        }
        let file = FromStart { file: self.file.clone(), offset: start };
        let unpacked_max = self.unpacked_max.clone();
        Ok(io::BufReader::new(PageStart { file, unpacked_max, is_checked: false }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Parsed<Bytes> {
        // Before there is room made for what is not there.
        if start.saturating_add(length as u64) > self.file.len() {
            return Err(too_short());
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

fn too_short() -> ParquetError {
    ParquetError::EOF("the file is too short".to_owned())
}
