//! The curves of three other simulators ("peers"), and what ours makes of the same networks.
//!
//! Each peer's network is a file in `configs/peers`, each curve one of its variants, and what the peer measured is in
//! `tests/reference`. All loads of all curves are simulated here and compared:
//!
//! * up to half of saturation mean latencies differ by at most 1 %, up to 90 % of it by at most 5 %;
//! * beyond saturation accepted loads differ by at most 2 %;
//! * with adaptive routing, at most 5 % up to 80 % of saturation, and 4 % beyond.
//!
//! Saturation is the largest accepted load of the peer's curve. Whatever does not keep this is in
//! [`KNOWN_DIFFERENCES`](curves::KNOWN_DIFFERENCES) with its size and cause, and must stay as it is. Nothing is chosen
//! so that it fits: values in the files follow from the peers' rules.
//!
//! The result is a table, `tests/reference/COMPARISON.md`, compared and rewritten like all golden files.

mod compare;
mod curves;
mod measure;
mod reference;
mod table;

use crate::scenarios::here;
use compare::Comparison;
use curves::{CURVES, KNOWN_DIFFERENCES};

#[test]
fn ours_agrees_with_the_curves_of_others() {
    let comparisons: Vec<Comparison> = measure::all(CURVES);
    let mut complaints: Vec<String> = comparisons.iter().flat_map(Comparison::complaints).collect();
    let is_there = |known: &curves::Known| comparisons.iter().any(|comparison| comparison.has(known));
    let missing = KNOWN_DIFFERENCES.iter().filter(|known| !is_there(known));
    complaints.extend(missing.map(|known| format!("{} at {} is not compared", known.curve, known.offered)));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    tailback_tests::compare(&here("reference/COMPARISON.md"), &table::markdown(&comparisons));
}
