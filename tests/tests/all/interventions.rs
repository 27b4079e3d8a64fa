//! Marks, pauses and non-minimal paths by cause: each number against what else is known of a run.

use tailback_report::{Figures, NonminimalPackets, Record, Report};
use tailback_scenario::Document;
use tailback_sim::Timing;

use crate::scenarios::{findings_of, resolve_with};

fn run(text: &str, overrides: &[&str], threads: usize) -> (Report, Record) {
    let scenario = resolve_with(Document::read("interventions.toml", text), overrides);
    let findings = findings_of(&scenario, threads);
    (findings.report(&scenario, "0", &Timing::default()), findings.record.clone())
}

/// The same of one thread, of which it is asserted that other divisions of the network find the same.
fn report(text: &str, overrides: &[&str]) -> Report {
    let (report, record) = run(text, overrides, 1);
    let by_router: Vec<&str> = overrides.iter().copied().chain(["execution.partition=router"]).collect();
    for (divided, threads) in [(overrides, 2), (&by_router, 2)] {
        let (_, other) = run(text, divided, threads);
        for (one, other) in record.flows().iter().zip(other.flows()) {
            assert_eq!(one.interventions, other.interventions, "{threads} threads, {divided:?}");
            // With its maxima, which are in no digest.
            assert_eq!(one.batches, other.batches, "{threads} threads, {divided:?}");
        }
        assert_eq!(record.control_messages(), other.control_messages(), "{threads} threads, {divided:?}");
    }
    let together = record.flows().iter().map(|flow| flow.interventions.held_packets).sum::<u64>();
    assert_eq!(together, report.total.held_packets, "the total is that of all flows");
    report
}

const DRAGONFLY: &str = r#"
[topology.dragonfly]
p = 2
a = 4
h = 2
g = 9

[[traffic]]
load = 0.3
pattern.adversarial.offset = 1

[measure]
warmup = 300
cycles = 800
"#;

/// What a routing does under adversarial traffic, in which every packet goes to another group. Its packets that are not minimal
/// between groups have one cause for it each.
fn nonminimal(routing: &str) -> (NonminimalPackets, Figures) {
    // A node has one head at a time: with two at each router few packets are enough to be many.
    let parameters = match routing {
        "base" => "threshold = 3",
        "statistical" => "threshold = 2, certain = 5",
        "hybrid" => "threshold = 3, share = 80, siblings = 110, siblings_margin = 4",
        "ectn" => "threshold = 3, combined_threshold = 4, period = 50",
        "piggyback" => "saturation_margin = 8, threshold = 0",
        _ => "",
    };
    let total = report(DRAGONFLY, &[&format!("routing={{ {routing} = {{ {parameters} }} }}")]).total;
    let NonminimalPackets { drawn, queues, contention, told, .. } = total.nonminimal_packets;
    let share = total.nonminimal_share.expect("packets have arrived");
    let counted = share * total.packets_delivered as f64;
    let caused = drawn + queues + contention + told;
    assert!((counted - caused as f64).abs() < 0.5, "{routing}: {counted} packets, {:?}", total.nonminimal_packets);
    (total.nonminimal_packets, total)
}

#[test]
fn minimal_and_valiant_routing_look_at_nothing() {
    assert!(nonminimal("minimal").0.is_none());
    let (found, total) = nonminimal("valiant");
    assert_eq!(found, NonminimalPackets { drawn: total.packets_delivered, ..NonminimalPackets::default() });
}

#[test]
fn queues_are_the_cause_where_routers_know_nothing_else() {
    for (routing, local) in [("ugal-l", false), ("par", false), ("olm", true), ("par6-2", true)] {
        let (found, _) = nonminimal(routing);
        assert!(found.queues > 0 && (found.local > 0) == local, "{routing}: {found:?}");
        assert_eq!(NonminimalPackets { queues: 0, local: 0, ..found }, NonminimalPackets::default(), "{routing}");
    }
}

#[test]
fn contention_is_the_cause_where_packets_are_counted() {
    for routing in ["base", "statistical"] {
        let (found, _) = nonminimal(routing);
        assert!(found.contention > 0 && found.local > 0, "{routing}: {found:?}");
        assert_eq!(NonminimalPackets { contention: 0, local: 0, ..found }, NonminimalPackets::default(), "{routing}");
    }
    let (both, _) = nonminimal("hybrid");
    assert!(both.contention > 0 && both.queues > 0 && both.told + both.drawn == 0, "{both:?}");
}

#[test]
fn what_others_have_told_is_a_cause_of_its_own() {
    for routing in ["piggyback", "ugal-g"] {
        let (found, _) = nonminimal(routing);
        assert!(found.told > 0 && found.queues > 0, "{routing}: {found:?}");
        assert_eq!(found.contention + found.drawn + found.local, 0, "{routing}");
    }
    let (found, _) = nonminimal("ectn");
    assert!(found.told > 0 && found.contention > 0 && found.queues + found.drawn == 0, "{found:?}");
}

/// Eight nodes that send more to a ninth than it can take, and a flow to another that nobody else sends to.
const INCAST: &str = r#"
routing = "direct"

[topology.single-switch]
nodes = 10

[router]
virtual_output_queues = true

[links.injection]
buffer = 96

[nic]
queues = "per-destination"

[protocol.ecn]
carrier = "notification"    # they are counted
timer = 24

[[traffic]]
name = "incast"
from = [1, 2, 3, 4, 5, 6, 7, 8]
load = 0.5
size = 24
pattern.hot-spot.to = [0]
saturates = true

[[traffic]]
name = "aside"
from = [0]
load = 0.1
size = 24
pattern.hot-spot.to = [9]

[measure]
warmup = 2000
cycles = 20000
"#;

#[test]
fn ecn_marks_and_holds_who_takes_part_in_an_incast() {
    let marked = report(INCAST, &[]);
    let of = |report: &Report, flow: &str| report.flow(flow).expect("it is there").clone();
    let (incast, aside) = (of(&marked, "incast"), of(&marked, "aside"));
    // There is a notification for each mark; some are on their way when the window begins or ends.
    let notified = marked.counters.get("notifications").copied().expect("they are counted");
    assert!(
        incast.marked_packets > 20 && incast.marked_packets.abs_diff(notified) <= 16,
        "{} {notified}",
        incast.marked_packets
    );
    assert_eq!(marked.total.control_messages, Some(notified), "there are no others");
    assert!(incast.held_packets > 100 && incast.held_cycles_mean > Some(1.0), "{incast:?}");
    assert_eq!((aside.marked_packets, aside.held_packets, aside.held_cycles_mean), (0, 0, None));
    assert!(marked.summary_text().contains("\n  marks     ") && marked.summary_text().contains("\n  pauses    "));

    let plain = report(INCAST, &["protocol=\"baseline\""]);
    assert_eq!((plain.total.marked_packets, plain.total.held_packets), (0, 0));
    assert_eq!(plain.total.control_messages, None);
    assert!(!plain.summary_text().contains("  marks ") && !plain.summary_text().contains("  pauses "));
}

/// Beside the data network each packet is acknowledged by a message where windows are kept end to end, and takes a request, a grant and the return of
/// its place with a central scheduler. Some of them belong to packets that left before the window, or arrive after it.
#[test]
fn messages_beside_the_data_network_are_counted() {
    let clos = |protocol: &str, each: f64| {
        let text = format!("routing = \"clos\"\nprotocol = \"{protocol}\"\n{CLOS}");
        let total = report(&text, &[]).total;
        let found = total.control_messages_per_packet().expect("there are some");
        assert!((found / each - 1.0).abs() < 0.02, "{protocol}: {found} for each packet");
    };
    clos("end-to-end-acknowledgement", 1.0);
    clos("central-scheduler", 3.0);
}

const CLOS: &str = r#"
[topology.two-level-tree]
nodes_per_leaf = 4
leaves = 4
spines = 4

[links]
injection = { latency = 4, buffer = 96 }
ejection = { latency = 4 }
level1 = { latency = 8, buffer = 96 }

[router]
speedup = 1
crossbar_inputs = "per-channel"
crossbar_delay = "8 cycles"
output_queue = 16

[nic]
packet_flits = 8
queues = "per-destination"
vc_choice = "rotation"
delivery = "in-order"

[[traffic]]
size = 8
load = 0.4

[measure]
warmup = 2000
cycles = 20000
"#;
