//! Runs by pages.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use sha2::{Digest as _, Sha256};

use super::StoreError;
use super::runs::{columns, read_row, shown_scenario};
use crate::access::hexadecimal;
use crate::api_error::ApiError;
use crate::domain::{Page, Run, RunFilter, ScenarioSource, Snapshot};

const PAGE_DEFAULT: u32 = 50;
const PAGE_MAX: u32 = 1000;

/// A page of runs with their scenarios if they are wanted, and the token of the next page. It ends before it has more
/// than `bytes_max`, but has one run at least. What one may not see is passed over, and takes no place of a page.
pub(crate) fn page(
    connection: &Connection,
    filter: &RunFilter,
    page: &Page,
    with_scenario: bool,
    bytes_max: u64,
    may_see: impl Fn(&Run) -> bool,
) -> Result<(Vec<Snapshot>, String), StoreError> {
    let after = token_number(filter, &page.token)?;
    let size = match page.size {
        0 => PAGE_DEFAULT,
        size => size.min(PAGE_MAX),
    } as usize;
    let (conditions, mut values) = conditions(filter);
    // The runs of a sweep come in their order, all others the newest first.
    let (comparison, order) = if filter.parent_id.is_empty() { ("<", "DESC") } else { (">", "ASC") };
    let from = after.map_or_else(String::new, |_| format!("AND number {comparison} ?"));
    values.extend(after.map(Value::Integer));
    let columns = columns();
    let query = format!("SELECT {columns} FROM runs WHERE {conditions} {from} ORDER BY number {order}");
    let mut query = connection.prepare_cached(&query)?;
    let mut rows = query.query(params_from_iter(values))?;
    let (mut found, mut bytes, mut last) = (Vec::new(), 0, 0);
    while let Some(row) = rows.next()? {
        let mut stored = read_row(row)?;
        // Of a run whose row is damaged nobody knows the project.
        let is_of_project = filter.project.is_empty() || stored.run.project == filter.project;
        if !is_of_project || !may_see(&stored.run) {
            continue;
        }
        let number = stored.number;
        let scenario = if with_scenario { shown_scenario(connection, &mut stored)? } else { None };
        bytes +=
            row.get_ref("content")?.as_str().map_or(0, str::len) + scenario.as_ref().map_or(0, ScenarioSource::bytes);
        if found.len() == size || (bytes as u64 > bytes_max && !found.is_empty()) {
            return Ok((found, token(filter, last)));
        }
        found.push(stored.snapshot(scenario));
        last = number;
    }
    Ok((found, String::new()))
}

/// What is asked for, as SQL and the values in it.
fn conditions(filter: &RunFilter) -> (String, Vec<Value>) {
    let mut conditions = vec!["parent = ?".to_owned()];
    let mut values = vec![Value::Text(filter.parent_id.clone())];
    if let Some(states) = &filter.states {
        conditions.push(format!("state IN ({})", vec!["?"; states.len()].join(", ")));
        values.extend(states.iter().map(|state| Value::Text(state.word().to_owned())));
    }
    let digests = [("scenario_digest", &filter.scenario_digest), ("result_digest", &filter.result_digest)];
    for (column, digest) in digests.into_iter().filter(|(_, digest)| !digest.is_empty()) {
        // All that begin so: `g` comes after each hexadecimal digit.
        conditions.push(format!("{column} >= ? AND {column} < ? || 'g'"));
        values.extend([Value::Text(digest.clone()), Value::Text(digest.clone())]);
    }
    if !filter.owner.is_empty() {
        conditions.push("owner = ?".to_owned());
        values.push(Value::Text(filter.owner.clone()));
    }
    for (key, value) in &filter.labels {
        let with_label = "EXISTS (SELECT 1 FROM labels WHERE key = ? AND value = ? AND labels.number = runs.number)";
        conditions.push(with_label.to_owned());
        values.extend([Value::Text(key.clone()), Value::Text(value.clone())]);
    }
    (conditions.join(" AND "), values)
}

/// A token tells where to go on, and what filter it belongs to.
fn token(filter: &RunFilter, number: i64) -> String {
    format!("{number:x}-{}", fingerprint(filter))
}

/// Where a list goes on, if it does: refuses the token of another one.
pub(crate) fn token_number(filter: &RunFilter, token: &str) -> Result<Option<i64>, ApiError> {
    if token.is_empty() {
        return Ok(None);
    }
    let parts = token.split_once('-').filter(|(_, mark)| *mark == fingerprint(filter));
    let number = parts.and_then(|(number, _)| i64::from_str_radix(number, 16).ok());
    number.map(Some).ok_or_else(|| {
        ApiError::invalid("page_token", "it belongs to another request: pass it with all else unchanged")
    })
}

fn fingerprint(filter: &RunFilter) -> String {
    hexadecimal(&Sha256::digest(format!("{filter:?}")))[..16].to_owned()
}
