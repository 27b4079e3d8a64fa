//! Time series of runs.

use tailback_report::{Cell, Table, TableError};

use crate::quantity::SeriesColumn;

/// A value of a time series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When its interval begins, in cycles from the event on.
    pub time: f64,
    /// The value.
    pub value: f64,
    /// How much it counts when values are averaged: how many packets it is the mean of.
    pub weight: f64,
}

/// The time series of a run, as a table with a row for each flow and interval.
#[derive(Clone, Debug)]
pub struct Series {
    table: Table,
    flows: Vec<String>,
}

impl Series {
    /// Takes it from the table that a run has given.
    ///
    /// # Errors
    /// When the table is another one.
    pub fn new(table: Table) -> Result<Self, TableError> {
        let (cycle, flow) = (table.column("cycle")?, table.column("flow")?);
        if table.rows.iter().any(|row| row[cycle].number().is_none()) {
            return Err(TableError::NotNumbers("cycle".to_owned()));
        }
        let mut flows: Vec<String> = Vec::new();
        for row in &table.rows {
            let name = name_of(&row[flow]);
            if !flows.contains(&name) {
                flows.push(name);
            }
        }
        Ok(Self { table, flows })
    }

    /// The values of a column in times counted from cycle `event`; intervals without a value are left out. Of several
    /// flows the values follow each other.
    ///
    /// # Errors
    /// When there is no such flow, or loads of several would have to be averaged.
    pub fn samples(&self, wanted: &SeriesColumn, event: u64) -> Result<Vec<Sample>, String> {
        let known = || self.flows.join(", ");
        match &wanted.flow {
            Some(flow) if !self.flows.contains(flow) => {
                return Err(format!("there is no flow `{flow}`; there is {}", known()));
            }
            None if wanted.weight.is_none() && self.flows.len() > 1 => {
                return Err(format!("say which flow's {} is meant, of {}", wanted.column, known()));
            }
            _ => {}
        }
        let column = |name: &str| self.table.column(name).map_err(|error| error.to_string());
        let (cycle, flow, value) = (column("cycle")?, column("flow")?, column(wanted.column)?);
        let weight = wanted.weight.map(column).transpose()?;
        let rows = self.table.rows.iter();
        let rows = rows.filter(|row| wanted.flow.as_ref().is_none_or(|name| name_of(&row[flow]) == *name));
        let sample = |row: &Vec<Cell>| {
            Some(Sample {
                time: row[cycle].number()? - event as f64,
                value: row[value].number()?,
                weight: weight.map_or(Some(1.0), |weight| row[weight].number())?,
            })
        };
        Ok(rows.filter_map(sample).collect())
    }
}

/// A name, though it may look like a number.
fn name_of(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => number.to_string(),
    }
}
