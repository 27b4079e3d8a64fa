//! How links are shared by control packets and data, by an exact formula.

use tailback_scenario::Document;

use crate::scenarios::{report_of, resolve_with};

/// Node 2 sends a message of one flit in each cycle, so that an acknowledgement comes back for it in nearly each; node 0 would fill the
/// same link to node 2 with data.
const TEXT: &str = r#"
routing = "direct"
protocol.baseline.acknowledge = true
[topology.single-switch]
nodes = 3
[router]
output_queue_per = "class"
virtual_output_queues = true
[[traffic]]
name = "acknowledged"
from = [2]
load = 1.0
size = 1
pattern.hot-spot.to = [1]
[[traffic]]
name = "data"
from = [0]
load = 1.0
size = 8
pattern.hot-spot.to = [2]
[measure]
warmup = 2000
cycles = 20000
"#;

/// What arrives of the data, in flits per cycle.
fn data_with(limit: &str) -> f64 {
    let set = format!("router.control_limit={limit}");
    let report = report_of(&resolve_with(Document::read("limit.toml", TEXT), &[&set]), 1);
    report.flows.get("data").expect("there is such a flow").figures.accepted_load
}

/// After each `limit` flits of acknowledgements there is a data packet of 8 flits.
#[test]
fn a_data_packet_follows_each_so_many_flits_of_control_packets() {
    for limit in [1u32, 8, 24, 72] {
        let (expected, found) = (8.0 / f64::from(8 + limit), data_with(&limit.to_string()));
        assert!((found - expected).abs() < 0.001, "a limit of {limit}: {found}, not {expected}");
    }
    let unlimited = data_with("\"unlimited\"");
    assert!(unlimited < 0.02, "control packets have the link for themselves: {unlimited}");
}
