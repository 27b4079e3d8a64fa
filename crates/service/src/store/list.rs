//! Runs by pages.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use sha2::{Digest as _, Sha256};
use tailback_api::v1::ListRunsRequest;

use super::StoreError;
use super::runs::{COLUMNS, Stored, read_row, state_column};
use crate::access::hexadecimal;
use crate::refusal::Refusal;

const PAGE_DEFAULT: u32 = 50;
const PAGE_MAX: u32 = 1000;

/// A page of runs, and the token of the next one.
pub(crate) fn page(connection: &Connection, request: &ListRunsRequest) -> Result<(Vec<Stored>, String), StoreError> {
    let after = read_token(request)?;
    let size = match request.page_size {
        0 => PAGE_DEFAULT,
        size => size.min(PAGE_MAX),
    } as usize;
    let (conditions, mut values) = conditions(request);
    // The runs of a sweep come in their order, all others the newest first.
    let (comparison, order) = if request.parent_id.is_empty() { ("<", "DESC") } else { (">", "ASC") };
    let from = after.map_or_else(String::new, |_| format!("AND number {comparison} ?"));
    values.extend(after.map(Value::Integer));
    let query =
        format!("SELECT {COLUMNS} FROM runs WHERE {conditions} {from} ORDER BY number {order} LIMIT {}", size + 1);
    let mut query = connection.prepare_cached(&query)?;
    let rows = query.query_map(params_from_iter(values), read_row)?;
    let mut found: Vec<Stored> = rows.collect::<Result<_, _>>()?;
    let more = found.len() > size;
    found.truncate(size);
    let token = found.last().filter(|_| more).map_or_else(String::new, |last| token(request, last.number));
    Ok((found, token))
}

/// What is asked for, as SQL and the values in it.
fn conditions(request: &ListRunsRequest) -> (String, Vec<Value>) {
    let mut conditions = vec!["parent = ?".to_owned()];
    let mut values = vec![Value::Text(request.parent_id.clone())];
    let states: Vec<_> = request.states().map(state_column).collect();
    if !states.is_empty() {
        conditions.push(format!("state IN ({})", vec!["?"; states.len()].join(", ")));
        values.extend(states.into_iter().map(Value::Text));
    }
    let digests = [("scenario_digest", &request.scenario_digest), ("result_digest", &request.result_digest)];
    for (column, digest) in digests.into_iter().filter(|(_, digest)| !digest.is_empty()) {
        // All that begin so: `g` comes after each hexadecimal digit.
        conditions.push(format!("{column} >= ? AND {column} < ? || 'g'"));
        values.extend([Value::Text(digest.clone()), Value::Text(digest.clone())]);
    }
    if !request.owner.is_empty() {
        conditions.push("owner = ?".to_owned());
        values.push(Value::Text(request.owner.clone()));
    }
    for (key, value) in sorted(request) {
        let with_label = "EXISTS (SELECT 1 FROM labels WHERE key = ? AND value = ? AND labels.number = runs.number)";
        conditions.push(with_label.to_owned());
        values.extend([Value::Text(key.clone()), Value::Text(value.clone())]);
    }
    (conditions.join(" AND "), values)
}

fn sorted(request: &ListRunsRequest) -> Vec<(&String, &String)> {
    let mut labels: Vec<_> = request.labels.iter().collect();
    labels.sort();
    labels
}

/// A token tells where to go on, and what request it belongs to.
fn token(request: &ListRunsRequest, number: i64) -> String {
    format!("{number:x}-{}", fingerprint(request))
}

fn read_token(request: &ListRunsRequest) -> Result<Option<i64>, Refusal> {
    if request.page_token.is_empty() {
        return Ok(None);
    }
    let parts = request.page_token.split_once('-').filter(|(_, mark)| *mark == fingerprint(request));
    let number = parts.and_then(|(number, _)| i64::from_str_radix(number, 16).ok());
    number
        .map(Some)
        .ok_or_else(|| Refusal::invalid("page_token", "it belongs to another request: pass it with all else unchanged"))
}

/// What a request asks for, apart from the page.
fn fingerprint(request: &ListRunsRequest) -> String {
    let mut asked = request.clone();
    let labels = format!("{:?}", sorted(request));
    (asked.page_token, asked.page_size, asked.include_scenario) = (String::new(), 0, false);
    asked.labels.clear();
    hexadecimal(&Sha256::digest(format!("{asked:?}{labels}")))[..16].to_owned()
}
