//! Time series of runs.

use tailback_report::{Cell, Table, TableError};

use crate::quantity::SeriesColumn;

/// What several values of a time series are together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Together {
    /// Their mean.
    #[default]
    Mean,
    /// The largest of them.
    Largest,
}

/// A value of a time series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When its interval begins, in cycles from the event on.
    pub time: f64,
    /// The value.
    pub value: f64,
    /// How much it counts when values are averaged: how many packets it is the mean of.
    pub weight: f64,
    /// The share of what was created in its interval that the run has seen arrive, where packets count when they were created.
    pub complete: f64,
    /// For how many cycles at least the run went on after its interval.
    pub age: f64,
    /// What it is together with others.
    pub together: Together,
}

/// The share from which an interval counts as complete: what is missing is slow, but one in a thousand hardly moves a mean.
const COMPLETE: f64 = 0.999;

impl Sample {
    /// Whether its value, a time that has passed, is the least that it will be: what is missing has waited for longer.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.weight > 0.0 && self.age >= self.value
    }

    /// Whether the run has seen enough of it to say anything.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete >= COMPLETE
    }
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
        // Series of other events have nothing there.
        let complete = self.table.column("complete").ok();
        let rows = self.table.rows.iter();
        let rows = rows.filter(|row| wanted.flow.as_ref().is_none_or(|name| name_of(&row[flow]) == *name));
        let last = self.table.rows.iter().filter_map(|row| row[cycle].number()).fold(0.0, f64::max);
        let (width, together) = (self.width(cycle), wanted.together);
        let sample = |row: &Vec<Cell>| {
            // Nobody knows whether the last interval of all is a whole one.
            let age = (last - row[cycle].number()? - width).max(0.0);
            let complete = complete.and_then(|complete| row[complete].number()).unwrap_or(1.0);
            let time = row[cycle].number()? - event as f64;
            match row[value].number() {
                Some(value) => {
                    let weight = weight.map_or(Some(1.0), |weight| row[weight].number())?;
                    Some(Sample { time, value, weight, complete, age, together })
                }
                // Nothing of it has arrived: it must not pass for an interval in which nothing was created.
                None => {
                    let nothing = Sample { time, value: 0.0, weight: 0.0, complete, age, together };
                    (complete < COMPLETE).then_some(nothing)
                }
            }
        };
        Ok(rows.filter_map(sample).collect())
    }

    /// The cycles of an interval; none where there is only one, whose end nobody knows.
    pub(crate) fn interval(&self) -> Option<f64> {
        let cycle = self.table.column("cycle").ok()?;
        Some(self.width(cycle)).filter(|width| width.is_finite())
    }

    /// The cycles of an interval, of which rows say when it begins.
    fn width(&self, cycle: usize) -> f64 {
        let begins = |row: &Vec<Cell>| row[cycle].number().unwrap_or_default();
        let steps = self.table.rows.windows(2).map(|pair| begins(&pair[1]) - begins(&pair[0]));
        steps.filter(|step| *step > 0.0).fold(f64::INFINITY, f64::min)
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
