//! What adaptive routing costs: the time of a packet-hop with each mechanism, over that with MIN, at 16,512 nodes and
//! load 0.4.
//!
//! The mechanisms take turns, so that a machine that gets slower or faster does so for all of them; the best of several
//! runs counts. `cargo bench -p tailback-benches --bench adaptive-cost` takes about a minute.

use tailback_benches::whole_runs::{Cost, asked, measure};

const MECHANISMS: &[&str] = &["minimal", "piggyback", "olm", "base", "hybrid", "ectn"];
const REPETITIONS: usize = 5;

fn main() {
    let (chosen, short) = asked();
    let wanted = |name: &str| name == "minimal" || chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    let mechanisms: Vec<&str> = MECHANISMS.iter().copied().filter(|name| wanted(name)).collect();
    let mut best: Vec<Option<Cost>> = vec![None; mechanisms.len()];
    for _ in 0..if short { 1 } else { REPETITIONS } {
        for (mechanism, best) in mechanisms.iter().zip(&mut best) {
            let cost = measure("dragonfly-16k-adaptive", 0, &[format!("routing={mechanism}")], short);
            if best.is_none_or(|best| cost.ns_per_hop() < best.ns_per_hop()) {
                *best = Some(cost);
            }
        }
    }
    println!("{:<12}{:>18}{:>12}", "routing", "ns per hop", "over MIN");
    let minimal = best[0].expect("MIN is always measured").ns_per_hop();
    for (mechanism, cost) in mechanisms.iter().zip(best) {
        let ns = cost.expect("each was measured").ns_per_hop();
        println!("{mechanism:<12}{ns:>18.0}{:>12.2}", ns / minimal);
    }
}
