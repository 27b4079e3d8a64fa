//! Reading what is tabulated.

use tailback_scenario::reading::{Item, Node, Reading, TableReader};
use tailback_scenario::{Diagnostic, Span};

use super::fields::{file_name, needed_text, positive, text, texts};
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
    let columns = match table.take("column").map(|entry| &entry.node) {
        Some(Node { item: Item::List(list), .. }) if !list.is_empty() => {
            let each = |node| column(node, rows.as_deref().unwrap_or_default(), experiments, reading);
            list.iter().map(each).collect::<Vec<_>>().into_iter().collect()
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
    Some(Sheet { name: name?, title, rows: rows?, columns: columns? })
}

fn column(node: &Node, rows: &[String], experiments: &[Experiment; 2], reading: &mut Reading) -> Option<Heading> {
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
    let is_said = |table: &TableReader<'_>| table.table.get("measure").is_some();
    if !is_said(&table) && own.iter().any(Option::is_none) {
        missing(&table, "measure", "for all scales, or for each", reading);
    }
    table.close(reading);
    let [quick, full] = own.map(|own| own.or_else(|| general.clone()));
    let measures = [quick?, full?];
    for ((span, measure), experiment) in measures.iter().zip(experiments) {
        check(*span, measure, rows, experiment, reading);
    }
    Some(Heading { title: title?, unit, factor, measures: measures.map(|(_, measure)| measure) })
}

fn measured(table: &mut TableReader<'_>, reading: &mut Reading) -> Option<(Span, Measure)> {
    let entry = table.take("measure")?;
    Some((entry.node.span, measure(&entry.node, reading)?))
}

/// Complains once about each thing that an experiment has not.
fn check(span: Span, measure: &Measure, rows: &[String], experiment: &Experiment, reading: &mut Reading) {
    if let Some(complaint) = rows.iter().find_map(|row| Heading::in_row(measure, row).check(experiment).err()) {
        reading.blame(Diagnostic::at(span, complaint));
    }
}

fn missing(table: &TableReader<'_>, key: &str, what: &str, reading: &mut Reading) {
    let message = format!("`{}` is missing", table.path_of(key));
    reading.blame(Diagnostic::at(table.span, message).help(format!("add `{key} = …`: {what}")));
}
