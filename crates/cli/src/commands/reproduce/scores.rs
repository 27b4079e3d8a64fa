//! The scoreboard: how many claims of which papers hold, from what is finished or recorded.

use std::collections::BTreeMap;
use std::path::Path;

use tailback_report::{Cell, Column, Kind, Table};
use tailback_reproduce::{Count, RecordedFigure, Row, Scale, Verdict, count, rows};

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
    let none = RecordedFigure::default();
    let claims = |entry: &Entry, scale: Scale| {
        let recorded = records[entry.group.as_str()].figure(&entry.name, scale).unwrap_or(&none);
        known_claims(entry, scale, recorded, &arguments.out)
    };
    match arguments.format {
        Format::Json => {
            let mut rows = Vec::new();
            for entry in &entries {
                rows.extend(claims(entry, scale)?);
            }
            say_line!("{}", serde_json::to_string_pretty(&rows).expect("plain data"));
        }
        Format::Text => {
            let mut table = Table::new(columns());
            for entry in &entries {
                for scale in Scale::ALL {
                    table.push(line(entry, scale, &claims(entry, scale)?));
                }
            }
            say!("{}", table.to_text());
        }
    }
    Ok(())
}

/// What is known of the claims about a figure: as they were found when it was last made, if the same would be run now, or else as recorded.
fn known_claims(entry: &Entry, scale: Scale, recorded: &RecordedFigure, out: &Path) -> Result<Vec<Row>, Complaint> {
    let finished = finished::read(out, entry, scale);
    // To put scenarios together takes a while, and where nothing is known they are not needed.
    let is_known = !(recorded.claims.is_empty() && finished.is_empty());
    let scenarios = if is_known { entry.figure.scenarios(&entry.scenario, scale)? } else { String::new() };
    let finished = RecordedFigure::of_rows(&finished, &scenarios);
    let mut claims = Vec::new();
    for claim in entry.figure.claims.iter().filter(|claim| claim.judgement(scale).is_some()) {
        let known = if finished.claims.contains_key(&claim.name) { &finished } else { recorded };
        for mut row in rows(&entry.group, &entry.name, scale, &[(claim, known.finding(claim, scale))]) {
            if row.verdict != Verdict::NotRun {
                row.scenarios.clone_from(&known.runs.scenarios);
                row.outdated = known.is_outdated(&scenarios);
            }
            claims.push(row);
        }
    }
    Ok(claims)
}

/// How many claims hold, in a sentence.
pub fn summary(rows: &[Row]) -> String {
    let Count { pass, fail, refuted, undecided, not_run } = count(rows.iter().map(|row| row.verdict));
    format!("claims: {pass} pass, {fail} fail, {refuted} refuted, {undecided} undecided, {not_run} not run\n")
}

fn columns() -> Vec<Column> {
    let texts = ["paper", "figure", "scale"].map(Column::text);
    let counts =
        ["pass", "fail", "refuted", "undecided", "not_run", "outdated"].map(|name| Column::new(name, Kind::Integer));
    texts.into_iter().chain(counts).collect()
}

fn line(entry: &Entry, scale: Scale, claims: &[Row]) -> Vec<Cell> {
    let Count { pass, fail, refuted, undecided, not_run } = count(claims.iter().map(|row| row.verdict));
    let outdated = claims.iter().filter(|row| row.outdated).count() as u64;
    let texts = [entry.group.as_str(), entry.name.as_str(), scale.name()];
    let counts = [pass, fail, refuted, undecided, not_run, outdated];
    texts.into_iter().map(Cell::from).chain(counts.into_iter().map(Cell::from)).collect()
}
