//! Rows and columns of a table, read row by row: no more of it is held than what is asked for.

use std::io::Read;

use tailback_api::v1::{QuerySeriesRequest, QuerySeriesResponse};
use tailback_report::{CsvRows, TableError};

use crate::api_error::ApiError;
use crate::limits::Limits;
use crate::names;
use crate::pool::Stop;
use crate::wire;

/// Rows that are read before looking whether somebody still waits for them.
const ROWS_AT_ONCE: usize = 1000;
/// Columns that may be asked for by their names, and the bytes of all texts of a request: it is held while others are read.
const COLUMNS_MAX: usize = 4096;
const TEXT_BYTES_MAX: usize = 256 << 10;
/// What a cell takes in an answer, about.
const CELL_BYTES: u64 = 8;

/// What of a table is asked for.
struct Selection<'r> {
    /// The columns, by their places.
    columns: Vec<usize>,
    /// The column of flows, and the flow.
    flow: Option<(usize, &'r str)>,
    /// The column of cycles, the first cycle, and the one behind the last.
    cycles: Option<(usize, f64, f64)>,
}

/// Refuses a request that is too large.
pub(super) fn check_size(request: &QuerySeriesRequest) -> Result<(), ApiError> {
    let QuerySeriesRequest { columns, traffic, table, .. } = request;
    let bytes = columns.iter().chain([traffic, table]).map(String::len).sum();
    for (count, limit, what) in [(columns.len(), COLUMNS_MAX, "columns"), (bytes, TEXT_BYTES_MAX, "bytes of texts")] {
        if count > limit {
            return Err(ApiError::invalid("columns", format!("{count} {what}, the limit is {limit}")));
        }
    }
    Ok(())
}

/// The part of a table that is asked for, if it is not too large; the table is the content of the file with this name.
pub(super) fn select(
    (name, table): (&str, impl Read),
    request: &QuerySeriesRequest,
    limits: &Limits,
    stop: &Stop,
) -> Result<QuerySeriesResponse, ApiError> {
    let mut rows = CsvRows::new(table).map_err(|error| damaged(&error))?;
    let selection = Selection::new(&rows, request)?;
    let mut kept = vec![Cells::default(); selection.columns.len()];
    let (mut count, mut bytes, mut knows_flow) = (0, 0, false);
    for index in 0.. {
        if index % ROWS_AT_ONCE == 0 {
            stop.check()?;
        }
        if !rows.next_row().map_err(|error| damaged(&error))? {
            break;
        }
        knows_flow |= selection.is_of_flow(&rows);
        if selection.is_of_flow(&rows) && selection.is_in_time(&rows) {
            let fields = || selection.columns.iter().map(|&column| rows.field(column));
            bytes += fields().map(|field| CELL_BYTES + field.len() as u64).sum::<u64>();
            if limits.check_answer(bytes).is_err() {
                let (file, allowed) = (name.to_owned(), limits.answer_bytes_max.into());
                return Err(ApiError::TableTooLarge { file, allowed, asked: bytes });
            }
            kept.iter_mut().zip(fields()).for_each(|(cells, field)| cells.push(field));
            count += 1;
        }
    }
    if selection.flow.is_some() && !knows_flow {
        let problem = format!("there is no flow {}", names::quoted(&request.traffic));
        return Err(ApiError::invalid("traffic", problem));
    }
    let columns = selection.columns.iter().zip(kept);
    let columns = columns.map(|(&column, cells)| wire::column(rows.described(column), cells.iter())).collect();
    Ok(QuerySeriesResponse { columns, rows: count })
}

fn damaged(error: &TableError) -> ApiError {
    ApiError::Internal(format!("a table cannot be read: {error}"))
}

/// The texts of a column's cells, one behind the other: as texts of their own they would take several times as much.
#[derive(Clone, Default)]
struct Cells {
    texts: String,
    /// Where each of them ends.
    ends: Vec<usize>,
}

impl Cells {
    fn push(&mut self, text: &str) {
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
    }

    fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.texts[start..end])
    }
}

impl<'r> Selection<'r> {
    fn new<R: Read>(rows: &CsvRows<R>, request: &'r QuerySeriesRequest) -> Result<Self, ApiError> {
        let place = |name: &str| rows.column(name).map_err(|error| ApiError::invalid("columns", error.to_string()));
        if request.columns.len() > rows.columns() {
            let problem = format!("{} columns are asked for, there are {}", request.columns.len(), rows.columns());
            return Err(ApiError::invalid("columns", problem));
        }
        let columns = match request.columns.as_slice() {
            [] => (0..rows.columns()).collect(),
            names => names.iter().map(|name| place(name)).collect::<Result<_, _>>()?,
        };
        let no_column = |field| move |_| ApiError::invalid(field, "the table has no column of it");
        let flow = match request.traffic.as_str() {
            "" => None,
            flow => Some((place("flow").map_err(no_column("traffic"))?, flow)),
        };
        let field = if request.from_cycle.is_some() { "from_cycle" } else { "until_cycle" };
        let cycles = match (request.from_cycle, request.until_cycle) {
            (None, None) => None,
            (from, until) => {
                let column = place("cycle").map_err(no_column(field))?;
                Some((column, from.unwrap_or(0) as f64, until.map_or(f64::INFINITY, |until| until as f64)))
            }
        };
        Ok(Self { columns, flow, cycles })
    }

    fn is_of_flow<R: Read>(&self, rows: &CsvRows<R>) -> bool {
        self.flow.is_none_or(|(column, flow)| rows.field(column) == flow)
    }

    fn is_in_time<R: Read>(&self, rows: &CsvRows<R>) -> bool {
        self.cycles.is_none_or(|(column, from, until)| {
            rows.field(column).parse().is_ok_and(|cycle: f64| from <= cycle && cycle < until)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::pool::Pool;

    #[tokio::test]
    async fn a_part_that_is_too_large_says_how_to_ask_for_less() {
        let pool = Pool::start("reads", "reads_max", 1).expect("a thread can be started");
        let limits = Limits { answer_bytes_max: 40, ..Limits::default() };
        let ask = |columns: &[&str]| {
            let columns = columns.iter().map(|&name| name.to_owned()).collect();
            let (request, limits) = (QuerySeriesRequest { columns, ..Default::default() }, limits.clone());
            let content = &b"cycle,load\n0,1\n10,2\n20,3\n"[..];
            pool.run(Duration::from_secs(60), move |stop| select(("links.csv", content), &request, &limits, stop))
        };
        let refused = ask(&[]).await.expect_err("three rows of two cells take more");
        let expected = "the rows that are asked for take more than the 40 bytes of answer that this server allows; ask for fewer \
                        `columns`, or for fewer rows by `traffic`, `from_cycle` and `until_cycle`, or read the file `links.csv` \
                        with ReadArtifact";
        assert_eq!(refused.to_string(), expected);
        assert_eq!(ask(&["load"]).await.expect("it is less").rows, 3);
    }
}
