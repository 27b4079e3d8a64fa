//! The scoreboard: how many claims of which papers hold, from what is finished or recorded.

use std::collections::BTreeMap;

use tailback_report::{Cell, Column, Kind, Table};
use tailback_reproduce::{Count, RecordedFigure, Row, Scale, count, rows};

use super::catalogue::{Catalogue, Entry};
use super::finished;
use crate::arguments::{Format, ReproduceArguments};
use crate::complaint::Complaint;
use crate::output::{say, say_line};

/// Prints it. For programs it is the claims at one scale, for people the numbers of both.
pub fn tell(catalogue: &Catalogue, arguments: &ReproduceArguments, scale: Scale) -> Result<(), Complaint> {
    let entries = catalogue.all()?;
    let mut records = BTreeMap::new();
    for group in &catalogue.groups {
        records.insert(group.name.as_str(), group.record()?);
    }
    let claims = |entry: &Entry, scale: Scale| {
        let none = RecordedFigure::default();
        let recorded = records[entry.group.as_str()].figure(&entry.name, scale).unwrap_or(&none);
        let made = entry.figure.claims.iter().filter(|claim| claim.judgement(scale).is_some());
        let findings: Vec<_> = made.map(|claim| (claim, recorded.finding(claim))).collect();
        let known = rows(&entry.group, &entry.name, scale, &findings);
        let fresh = finished::read(&arguments.out, entry, scale).unwrap_or_default();
        let newest = |row: Row| fresh.iter().find(|fresh| fresh.claim == row.claim).cloned().unwrap_or(row);
        known.into_iter().map(newest).collect::<Vec<Row>>()
    };
    match arguments.format {
        Format::Json => {
            let rows: Vec<Row> = entries.iter().flat_map(|entry| claims(entry, scale)).collect();
            say_line!("{}", serde_json::to_string_pretty(&rows).expect("plain data"));
        }
        Format::Text => {
            let mut table = Table::new(columns());
            for entry in &entries {
                for scale in Scale::ALL {
                    let verdicts = claims(entry, scale).into_iter().map(|row| row.verdict);
                    table.push(line(&entry.group, &entry.name, scale, count(verdicts)));
                }
            }
            say!("{}", table.to_text());
        }
    }
    Ok(())
}

/// How many claims hold, in a sentence.
pub fn summary(rows: &[Row]) -> String {
    let Count { pass, fail, refuted, undecided, not_run } = count(rows.iter().map(|row| row.verdict));
    format!("claims: {pass} pass, {fail} fail, {refuted} refuted, {undecided} undecided, {not_run} not run\n")
}

fn columns() -> Vec<Column> {
    let texts = ["paper", "figure", "scale"].map(Column::text);
    let counts = ["pass", "fail", "refuted", "undecided", "not_run"].map(|name| Column::new(name, Kind::Integer));
    texts.into_iter().chain(counts).collect()
}

fn line(paper: &str, figure: &str, scale: Scale, count: Count) -> Vec<Cell> {
    let Count { pass, fail, refuted, undecided, not_run } = count;
    let counts = [pass, fail, refuted, undecided, not_run];
    [paper, figure, scale.name()].into_iter().map(Cell::from).chain(counts.into_iter().map(Cell::from)).collect()
}
