//! What peers measured.

use std::fs;

use super::curves::Curve;
use crate::scenarios::here;

/// How a peer calls what is compared.
#[derive(Debug)]
pub struct Columns {
    pub offered: &'static str,
    /// From the creation of a packet to the arrival of its last flit.
    pub total: &'static str,
    /// From the first flit leaving the source, if there is such a thing.
    pub network: Option<&'static str>,
    /// By how many cycles later than ours it begins.
    pub network_begins_later_by: f64,
}

/// A point of a curve: means over all seeds. Latencies are missing where they mean nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// As it stands in the file.
    pub text: String,
    pub offered: f64,
    pub accepted: f64,
    pub total: Option<f64>,
    pub network: Option<f64>,
}

/// The points of a curve, in order of offered load.
pub fn rows(curve: &Curve) -> Vec<Row> {
    let path = here("reference").join(curve.file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a file has a header");
    let column = |name: &str| {
        let place = header.iter().position(|&column| column == name);
        place.unwrap_or_else(|| panic!("{} has no column {name}", curve.file))
    };
    let wanted: Vec<(usize, &str)> = curve.rows.iter().map(|&(name, value)| (column(name), value)).collect();
    let mut found: Vec<Vec<&str>> = Vec::new();
    for line in lines.filter(|line| wanted.iter().all(|&(column, value)| line[column] == value)) {
        // Some runs are listed twice.
        if !found.contains(&line) {
            found.push(line);
        }
    }
    let offered = column(curve.columns.offered);
    let load = |line: &Vec<&str>| line[offered].parse::<f64>().expect("loads are numbers");
    found.sort_by(|a, b| load(a).total_cmp(&load(b)));
    let mean = |lines: &[Vec<&str>], name| {
        let values: Vec<f64> = lines.iter().filter_map(|line| line[column(name)].parse().ok()).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let row = |lines: &[Vec<&str>]| Row {
        text: lines[0][offered].to_owned(),
        offered: load(&lines[0]),
        accepted: mean(lines, "accepted").expect("accepted loads are numbers"),
        total: mean(lines, curve.columns.total),
        network: curve.columns.network.and_then(|network| mean(lines, network)),
    };
    found.chunk_by(|a, b| a[offered] == b[offered]).map(row).collect()
}
