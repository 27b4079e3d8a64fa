//! Rows and columns of a table, read row by row: no more of it is held than what is asked for.

use std::io::Read;

use tailback_api::v1::{QuerySeriesRequest, QuerySeriesResponse};
use tailback_report::{Cell, CsvRows, TableError};

use crate::api_error::ApiError;
use crate::limits::Limits;
use crate::names;
use crate::pool::Stop;
use crate::wire;

/// Rows that are read before looking whether somebody still waits for them.
const ROWS_AT_ONCE: usize = 1000;
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

/// The part of a table that is asked for, if it is not too large.
pub(super) fn select(
    table: impl Read,
    request: &QuerySeriesRequest,
    limits: &Limits,
    stop: &Stop,
) -> Result<QuerySeriesResponse, ApiError> {
    let mut rows = CsvRows::new(table).map_err(|error| damaged(&error))?;
    let selection = Selection::new(&rows, request)?;
    let (mut kept, mut bytes, mut knows_flow) = (Vec::new(), 0, false);
    for index in 0.. {
        let Some(row) = rows.next().transpose().map_err(|error| damaged(&error))? else { break };
        if index % ROWS_AT_ONCE == 0 {
            stop.check()?;
        }
        knows_flow |= selection.is_of_flow(&row);
        if selection.is_of_flow(&row) && selection.is_in_time(&row) {
            let cells: Vec<Cell> = selection.columns.iter().map(|&column| row[column].clone()).collect();
            bytes += cells.iter().map(bytes_of).sum::<u64>();
            limits.check_answer(bytes)?;
            kept.push(cells);
        }
    }
    if selection.flow.is_some() && !knows_flow {
        let problem = format!("there is no flow {}", names::quoted(&request.traffic));
        return Err(ApiError::invalid("traffic", problem));
    }
    let table = rows.finish(&selection.columns, kept);
    let columns = (0..table.columns.len()).map(|index| wire::column(&table, index)).collect();
    Ok(QuerySeriesResponse { columns, rows: table.rows.len() as u32 })
}

fn damaged(error: &TableError) -> ApiError {
    ApiError::Internal(format!("a table cannot be read: {error}"))
}

fn bytes_of(cell: &Cell) -> u64 {
    CELL_BYTES + if let Cell::Text(text) = cell { text.len() as u64 } else { 0 }
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

    fn is_of_flow(&self, row: &[Cell]) -> bool {
        self.flow.is_none_or(|(column, flow)| matches!(&row[column], Cell::Text(text) if text == flow))
    }

    fn is_in_time(&self, row: &[Cell]) -> bool {
        self.cycles.is_none_or(|(column, from, until)| match &row[column] {
            Cell::Text(text) => text.parse().is_ok_and(|cycle: f64| from <= cycle && cycle < until),
            _ => false,
        })
    }
}
