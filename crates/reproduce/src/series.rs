//! Time series of runs.

use tailback_report::{Cell, Table, TableError};

use crate::quantity::Flow;

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

/// The time series of a run, as a table with a row for each traffic and interval.
#[derive(Clone, Debug)]
pub struct Series {
    table: Table,
    traffics: Vec<String>,
}

impl Series {
    /// Takes it from the table that a run has given.
    ///
    /// # Errors
    /// When the table is another one.
    pub fn new(table: Table) -> Result<Self, TableError> {
        let (cycle, traffic) = (table.column("cycle")?, table.column("traffic")?);
        if table.rows.iter().any(|row| row[cycle].number().is_none()) {
            return Err(TableError::NotNumbers("cycle".to_owned()));
        }
        let mut traffics: Vec<String> = Vec::new();
        for row in &table.rows {
            let name = name_of(&row[traffic]);
            if !traffics.contains(&name) {
                traffics.push(name);
            }
        }
        Ok(Self { table, traffics })
    }

    /// The values of a column in times counted from cycle `event`; intervals without a value are left out. Of several
    /// traffics the values follow each other.
    ///
    /// # Errors
    /// When there is no such traffic, or loads of several would have to be averaged.
    pub fn samples(&self, flow: &Flow, event: u64) -> Result<Vec<Sample>, String> {
        let known = || self.traffics.join(", ");
        match &flow.traffic {
            Some(traffic) if !self.traffics.contains(traffic) => {
                return Err(format!("there is no traffic `{traffic}`; there is {}", known()));
            }
            None if flow.weight.is_none() && self.traffics.len() > 1 => {
                return Err(format!("say which traffic's {} is meant, of {}", flow.column, known()));
            }
            _ => {}
        }
        let column = |name: &str| self.table.column(name).map_err(|error| error.to_string());
        let (cycle, traffic, value) = (column("cycle")?, column("traffic")?, column(flow.column)?);
        let weight = flow.weight.map(column).transpose()?;
        let wanted =
            self.table.rows.iter().filter(|row| flow.traffic.as_ref().is_none_or(|t| name_of(&row[traffic]) == *t));
        let sample = |row: &Vec<Cell>| {
            Some(Sample {
                time: row[cycle].number()? - event as f64,
                value: row[value].number()?,
                weight: weight.map_or(Some(1.0), |weight| row[weight].number())?,
            })
        };
        Ok(wanted.filter_map(sample).collect())
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
