//! ECN in networks: a law that its pauses obey whatever the network does, and what it does to bystanders of a hot spot.

use tailback_report::Report;
use tailback_scenario::Document;

use crate::scenarios::{here, read, report_of, resolve_with};

fn report(document: &Document, overrides: &[&str]) -> Report {
    report_of(&resolve_with(document.clone(), overrides), 1)
}

/// Eight nodes that send more to a ninth than it can take.
const HOT_SPOT: &str = r#"
routing = "direct"

[topology.single-switch]
nodes = 9

[links.injection]
buffer = 96

[router]
virtual_output_queues = true

[nic]
queues = "per-destination"

[protocol.ecn]
carrier = "notification"    # they are counted

[[traffic]]
from = { outside = [0] }
load = 0.9
size = 24
pattern.hot-spot.to = [0]
saturates = true

[measure]
warmup = 200000
cycles = 200000
"#;

/// In the long run pauses grow as much as they shrink. They shrink by 1 with each period of the timer; so a source is told of
/// marks once in as many periods as one mark adds cycles.
#[test]
fn marks_come_as_often_as_timers_take_them_back() {
    let document = Document::read("hot-spot.toml", HOT_SPOT);
    for (increment, timer) in [(24, 96), (24, 24), (96, 24)] {
        let set = [format!("protocol.ecn.increment={increment}"), format!("protocol.ecn.timer={timer}")];
        let report = report(&document, &set.each_ref().map(String::as_str));
        let expected = 8.0 * 200_000.0 / f64::from(increment * timer);
        let marks = report.counters.get("notifications").copied().expect("there are some") as f64;
        assert!(
            (marks / expected - 1.0).abs() < 0.04,
            "{marks} marks with {increment} per mark and a timer of {timer}"
        );
    }
}

/// A node that always has something for another one, every packet of which is marked: the pause is 24 cycles all the time.
const PAUSED: &str = r#"
routing = "direct"

[topology.single-switch]
nodes = 2

[nic]
packet_flits = 8
queues = "per-destination"

[protocol.ecn]
threshold = 0.0
increment = 24
longest = 24
timer = 1000000

[[traffic]]
from = [0]
load = 0.9
size = 8
pattern.hot-spot.to = [1]
saturates = true

[measure]
warmup = 1000
cycles = 20000
"#;

/// Pauses begin when a packet has left its node, whatever the link to its destination and the line behind it take.
#[test]
fn pauses_begin_at_the_end_of_a_packet_on_the_link_from_its_node() {
    let document = Document::read("paused.toml", PAUSED);
    // What the 8 flits of a packet take to leave.
    let links: [(f64, &[&str]); 5] = [
        (8.0, &[]),
        (32.0, &["links.injection.cycles_per_flit=4"]),
        (8.0, &["nic.delivery=\"in-order\"", "nic.line=2"]),
        (1.0, &["links.injection.whole_packets=true"]),
        (8.0, &["links.injection={ whole_packets = true, side_by_side = true }"]),
    ];
    for (cycles, overrides) in links {
        let (accepted, expected) = (report(&document, overrides).total.accepted_load, 8.0 / (cycles + 24.0));
        assert!((accepted / expected - 1.0).abs() < 0.01, "{accepted} and not {expected} with {overrides:?}");
    }
}

/// Sixteen nodes send to two in a small network, eight times as much as these take.
const SMALL: [&str; 9] = [
    "topology.dragonfly={ p = 2, a = 4, h = 2, g = 9, arrangement = \"absolute\" }",
    "links.local={ latency = \"10 ns\", buffer = 256 }",
    "links.global={ latency = \"200 ns\", buffer = 512 }",
    "nodes.hot={ random = 2 }",
    "nodes.senders={ random = 16, outside = \"hot\" }",
    "traffic.hot.load=1",
    "measure.warmup=60 us",
    "measure.cycles=20 us",
    "execution.threads=1",
];

#[test]
fn the_hot_spot_waits_at_its_sources_and_bystanders_go_by() {
    let endpoint = read(&here("../configs/endpoint.toml"));
    let baseline = "protocol={ baseline = { acknowledge = true, control_routing = \"minimal\" } }";
    let [stuck, freed] = [baseline, "protocol.ecn.timer=20"].map(|protocol| {
        let overrides: Vec<&str> = SMALL.into_iter().chain([protocol]).collect();
        report(&endpoint, &overrides)
    });
    let flow = |report: &Report, name: &str| report.flows.get(name).expect("there are both flows").figures.clone();
    let offered = flow(&freed, "bystanders").offered_load;
    assert!(flow(&freed, "bystanders").accepted_load > 0.99 * offered && !freed.total.saturated);
    assert!(flow(&stuck, "bystanders").accepted_load < 0.5 * offered, "the hot spot's tree has reached everybody");
    let in_network = |report: &Report, name: &str| flow(report, name).latency.network.mean.expect("some have arrived");
    assert!(in_network(&freed, "hot") < 0.1 * in_network(&stuck, "hot"));
    // What is left to the hot spot: half at least, though pauses are longer than they need be.
    let hot = flow(&freed, "hot").accepted_load * 16.0 / 2.0;
    assert!((0.5..=1.0).contains(&hot), "{hot} of what hot nodes take");
}
