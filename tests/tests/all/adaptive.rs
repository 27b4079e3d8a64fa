//! Adaptive routing sees what waits for a link, wherever in the router that is.

use std::ops::ControlFlow;

use tailback_scenario::Document;
use tailback_sim::Run;
use tailback_sim::Timing;

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
        let document = Document::read("overloaded.toml", OVERLOADED).with(&format!("router.credits = \"{credits}\""));
        let scenario = document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let mut run = Run::new(&scenario, 1).expect("there is nothing to start");
        run.finish(|_| ControlFlow::Continue(())).expect("nothing goes wrong");
        let report = run.findings().expect("everything adds up").report(&scenario, "0", &Timing::default());
        let accepted = report.total.accepted_load / report.total.offered_load;
        assert!(accepted > 0.98, "credits at the {credits}: {accepted} of what was offered");
    }
}
