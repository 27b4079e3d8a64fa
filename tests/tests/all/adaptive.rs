//! Adaptive routing sees what waits for a link, wherever in the router that is.

use tailback_scenario::Document;

use crate::scenarios::{report_of, resolve_with};

/// A dragonfly in which a minimal link to the next group carries an eighth of what its group sends.
const OVERLOADED: &str = r#"
[topology.dragonfly]
p = 2
a = 4
h = 2
g = 9

[links.local]
latency = 2
buffer = 32

[links.global]
latency = 1       # so little is on the link that it tells nothing
buffer = 64

[router]
output_queue_per = "channel"    # without bounds: links downstream never stand still

[routing.piggyback]

[[traffic]]
pattern.adversarial.offset = 1
load = 0.35

[measure]
warmup = 1000
cycles = 2000
"#;

#[test]
fn queues_behind_the_crossbar_make_packets_detour() {
    for credits in ["crossbar", "link"] {
        let set = format!("router.credits = \"{credits}\"");
        let report = report_of(&resolve_with(Document::read("overloaded.toml", OVERLOADED), &[&set]), 1);
        let accepted = report.total.accepted_load / report.total.offered_load;
        assert!(accepted > 0.98, "credits at the {credits}: {accepted} of what was offered");
    }
}
