//! Reading what is tabulated.

use tailback_scenario::reading::{Item, Node, Reading, TableReader};
use tailback_scenario::{Diagnostic, Span};

use super::fields::{file_name, missing, needed_text, positive, text, texts};
use super::measures::measure;
use crate::experiment::{Experiment, Scale};
use crate::measure::Measure;
use crate::sheet::{Heading, Sheet};

/// Reads a table. `experiments` are the runs at each scale.
pub fn sheet(node: &Node, experiments: &[Experiment; 2], reading: &mut Reading) -> Option<Sheet> {
    let mut table = TableReader::of(node, "table".to_owned(), reading);
    let name = file_name(&mut table, reading);
    let title = text(&mut table, "title", reading).unwrap_or_default();
    let rows = match table.take("rows") {
        Some(entry) => texts(&entry.node, "table.rows", reading),
        None => {
            missing(&table, "rows", "the names of curves, of which each column may name others", reading);
            None
        }
    };
    let columns: Option<Vec<Found>> = match table.take("column").map(|entry| &entry.node) {
        Some(Node { item: Item::List(list), .. }) if !list.is_empty() => {
            let columns: Vec<_> = list.iter().map(|node| column(node, reading)).collect();
            columns.into_iter().collect()
        }
        Some(node) => {
            reading.mismatch(node, "table.column", "a list of tables, `[[table.column]]`");
            None
        }
        None => {
            missing(&table, "column", "what stands in each row", reading);
            None
        }
    };
    table.close(reading);
    let (name, rows, columns) = (name?, rows?, columns?);
    check(&rows, &columns, experiments, reading);
    Some(Sheet { name, title, rows, columns: columns.into_iter().map(|found| found.heading).collect() })
}

/// A column, and where its measures are.
struct Found {
    heading: Heading,
    spans: [Span; 2],
}

fn column(node: &Node, reading: &mut Reading) -> Option<Found> {
    let mut table = TableReader::of(node, "table.column".to_owned(), reading);
    let title = needed_text(&mut table, "title", "what it says above the column", reading);
    if let Some(title) = &title {
        table.path = format!("table.column.{title}");
    }
    let unit = text(&mut table, "unit", reading).unwrap_or_default();
    let factor = positive(&mut table, "factor", reading).unwrap_or(1.0);
    let general = measured(&mut table, reading);
    let own = Scale::ALL.map(|scale| {
        let entry = table.take(scale.name())?;
        let mut inner = TableReader::of(&entry.node, table.path_of(scale.name()), reading);
        let own = measured(&mut inner, reading);
        inner.close(reading);
        own
    });
    if table.table.get("measure").is_none() && own.iter().any(Option::is_none) {
        missing(&table, "measure", "for all scales, or for each", reading);
    }
    table.close(reading);
    let [quick, full] = own.map(|own| own.or_else(|| general.clone()));
    let ((quick_span, quick), (full_span, full)) = (quick?, full?);
    Some(Found {
        heading: Heading { title: title?, unit, factor, measures: [quick, full] },
        spans: [quick_span, full_span],
    })
}

fn measured(table: &mut TableReader<'_>, reading: &mut Reading) -> Option<(Span, Measure)> {
    let entry = table.take("measure")?;
    Some((entry.node.span, measure(&entry.node, reading)?))
}

/// Complains once about each thing that an experiment has not: a row without a curve is wrong in all columns.
fn check(rows: &[String], columns: &[Found], experiments: &[Experiment; 2], reading: &mut Reading) {
    let mut said: Vec<String> = Vec::new();
    for Found { heading, spans } in columns {
        for ((measure, span), experiment) in heading.measures.iter().zip(spans).zip(experiments) {
            for complaint in rows.iter().filter_map(|row| Heading::in_row(measure, row).check(experiment).err()) {
                if !said.contains(&complaint) {
                    reading.blame(Diagnostic::at(*span, complaint.clone()));
                    said.push(complaint);
                }
            }
        }
    }
}
