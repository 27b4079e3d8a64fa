//! Which point of a sweep has the most or the least of something, as when parameters are tuned.

use tailback_report::{Cell, Table, TableError, sweep_table};

use crate::complaint::Complaint;

/// In which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Most,
    Least,
}

/// Complains, before anything is run, about a name that no column can have: neither what is varied nor a metric, of all flows or of one.
pub fn check(metric: &str, varied: &[&str], direction: Direction) -> Result<(), Complaint> {
    let metrics = sweep_table(&[]);
    let names = |known: &str| metric.strip_suffix(known).is_some_and(|flow| flow.is_empty() || flow.ends_with('.'));
    if varied.contains(&metric) || metrics.columns.iter().any(|column| names(&column.name)) {
        return Ok(());
    }
    metrics.column(metric).map(|_| ()).map_err(|error| unknown(direction, &error))
}

fn unknown(direction: Direction, error: &TableError) -> Complaint {
    Complaint::BadInput(format!("--{}: {error}", word(direction)), None)
}

/// Says which point has the most, or the least, of what a column has: the first of several. `varied` are the columns that tell points apart.
pub fn best(table: &Table, varied: &[&str], metric: &str, direction: Direction) -> Result<String, Complaint> {
    let column = table.column(metric).map_err(|error| unknown(direction, &error))?;
    let is_better = |value: f64, than: f64| if direction == Direction::Most { value > than } else { value < than };
    let mut found: Option<(f64, &Vec<Cell>)> = None;
    for row in &table.rows {
        if let Some(value) = row[column].number()
            && found.is_none_or(|(best, _)| is_better(value, best))
        {
            found = Some((value, row));
        }
    }
    let Some((value, row)) = found else {
        return Ok(format!("{} {metric}: no point has any", word(direction)));
    };
    let setting = |name: &&str| {
        let cell = &row[table.column(name).ok()?];
        Some(format!("{name}={}", shown(cell)))
    };
    let settings: Vec<String> = varied.iter().filter_map(setting).collect();
    Ok(format!("{} {metric}: {value:.6} with {}", word(direction), settings.join(", ")))
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Most => "most",
        Direction::Least => "least",
    }
}

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => number.to_string(),
    }
}
