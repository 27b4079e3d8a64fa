//! The scoreboard: how many claims of which papers hold, from what is finished or recorded.

use std::collections::BTreeMap;

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
    let claims = |entry: &Entry, scale: Scale| -> Result<Vec<Row>, Complaint> {
        let none = RecordedFigure::default();
        let recorded = records[entry.group.as_str()].figure(&entry.name, scale).unwrap_or(&none);
        let outdated =
            !recorded.claims.is_empty() && recorded.is_outdated(&entry.figure.scenarios(&entry.scenario, scale)?);
        let made = entry.figure.claims.iter().filter(|claim| claim.judgement(scale).is_some());
        let findings: Vec<_> = made.map(|claim| (claim, recorded.finding(claim, scale))).collect();
        let known = rows(&entry.group, &entry.name, scale, &findings);
        let known = known.into_iter().map(|row| Row { outdated: outdated && row.verdict != Verdict::NotRun, ..row });
        let fresh = finished::read(&arguments.out, entry, scale).unwrap_or_default();
        let newest = |row: Row| fresh.iter().find(|fresh| fresh.claim == row.claim).cloned().unwrap_or(row);
        Ok(known.map(newest).collect())
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
