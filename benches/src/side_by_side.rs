//! Variants of one scenario, measured in turns, so that a machine that gets slower or faster does so for all of them.

use crate::whole_runs::{Cost, asked, measure};

/// How often each variant is run; the best run counts.
const REPETITIONS: usize = 5;

/// Measures variants of a scenario, each a name and the values that it sets, and prints what a packet-hop takes with each
/// over what it takes with the first. Those that the command line does not name are left out, but for the first.
///
/// # Panics
/// When there is no variant, or one cannot be run.
pub fn compare(what: &str, scenario: &str, variants: &[(&str, &str)]) {
    let (chosen, short) = asked();
    let (first, _) = variants[0];
    let wanted = |name: &str| name == first || chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    let variants: Vec<_> = variants.iter().filter(|(name, _)| wanted(name)).collect();
    let mut best: Vec<Option<Cost>> = vec![None; variants.len()];
    for _ in 0..if short { 1 } else { REPETITIONS } {
        for ((_, value), best) in variants.iter().zip(&mut best) {
            let cost = measure(scenario, 0, &[(*value).to_owned()], short);
            if best.is_none_or(|best| cost.ns_per_hop() < best.ns_per_hop()) {
                *best = Some(cost);
            }
        }
    }
    println!("{what:<16}{:>14}{:>8} {first}", "ns per hop", "over");
    let least = best[0].expect("the first is always measured").ns_per_hop();
    for ((name, _), cost) in variants.iter().zip(best) {
        let ns = cost.expect("each was measured").ns_per_hop();
        println!("{name:<16}{ns:>14.0}{:>8.2}", ns / least);
    }
}
