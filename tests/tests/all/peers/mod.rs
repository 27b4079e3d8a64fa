//! The curves of three other simulators ("peers"), and what ours makes of the same networks.
//!
//! Each peer's network is a file in `configs/peers`, each curve one of its variants, and what the peer measured is in
//! `tests/reference`. All loads of all curves are simulated here and compared:
//!
//! * up to half of saturation mean latencies differ by at most 1 %, up to 90 % of it by at most 5 %;
//! * beyond saturation accepted loads differ by at most 2 %;
//! * with adaptive routing, at most 2 % up to 80 % of saturation, and 2.5 % beyond; with PB 4 % and 3 %.
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
mod zero_load;

use crate::scenarios::here;
use compare::Comparison;
use curves::{CURVES, KNOWN_DIFFERENCES};

#[test]
fn ours_agrees_with_the_curves_of_others() {
    let comparisons: Vec<Comparison> = measure::all(CURVES);
    let mut complaints: Vec<String> = comparisons.iter().flat_map(Comparison::complaints).collect();
    for known in KNOWN_DIFFERENCES {
        let of_curve = |comparison: &&Comparison| comparison.curve.name == known.curve;
        let comparison = comparisons.iter().find(of_curve);
        let is_there = |size: &&curves::Size| comparison.is_some_and(|comparison| comparison.has(size));
        let missing = known.sizes.iter().filter(|size| !is_there(size));
        complaints.extend(missing.map(|size| format!("{} at {} is not compared", known.curve, size.offered)));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    tailback_tests::compare(&here("reference/COMPARISON.md"), &table::markdown(&comparisons));
}
