//! Renato, Pfister and MVCM in whole networks: round trips, windows and shares that can be worked out by hand, and runs that end.

use std::ops::ControlFlow;

use serde_json::Value;
use tailback_sim::{MessageChoice, Run};

use crate::scenarios::{report_of, resolve_text};

/// The half 4-ary 5-fly of the MVCM paper: 512 hosts, 640 switches, three cycles from switch to switch.
const PAPER: &str =
    "[topology.fat-tree]\nchildren = [4, 4, 4, 4, 2]\nparents = [4, 4, 4, 2]\nparallel = [1, 1, 1, 2]\n";
/// 64 hosts, 48 switches.
const SMALL: &str = "[topology.k-ary-n-tree]\nk = 4\nn = 3\n";

/// The report of a run: links of one cycle, buffers of 1024 flits, packets of 278, acknowledgements of 22.
fn run(topology: &str, traffic: &str, protocol: &str, measure: &str) -> Value {
    let levels = if topology == PAPER { 4 } else { 2 };
    let links: String =
        (1..=levels).map(|level| format!("level{level} = {{ latency = 1, buffer = 1024 }}\n")).collect();
    let text = format!(
        "title = \"marks\"\n{topology}[links]\ninjection = {{ latency = 1, buffer = 1024 }}\nejection.latency = 1\n{links}\
         [router]\ncrossbar_delay = 2\noutput_queue = 1024\n[nic]\npacket_flits = 278\n\
         [routing.nearest-common-ancestor]\nup = \"destination\"\n\
         [protocol.{protocol}\nacknowledgement = 22\n{traffic}[measure]\n{measure}"
    );
    serde_json::from_str(&report_of(&resolve_text(&text), 1).to_json()).expect("a report is JSON")
}

fn number(report: &Value, pointer: &str) -> f64 {
    report.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} is no number of the report"))
}

/// What a node sends to another one.
fn flow(name: &str, from: u32, to: u32, load: f64) -> String {
    format!(
        "[[traffic]]\nname = \"{name}\"\nfrom = [{from}]\nload = {load}\nsize = 278\npattern.hot-spot.to = [{to}]\n"
    )
}

const LONG: &str = "warmup = 4000\ncycles = 35400\n";

/// Section 4.3: 305 cycles for a packet, 49 for its acknowledgement; so a window of one leaves 278 of 354 cycles of the link.
#[test]
fn a_window_of_one_packet_is_a_round_trip_each() {
    // Twice what the link can take, so that it is never idle for want of messages.
    let accepted = |to, window: &str| {
        let traffic = ["one", "other"].map(|name| flow(name, 0, to, 1.0)).concat();
        let report = run(PAPER, &traffic, &format!("mvcm]\nwindow = {window}"), LONG);
        (number(&report, "/latency/network/min"), number(&report, "/accepted_load"))
    };
    let (latency, share) = accepted(511, "1");
    assert!(latency == 305.0 && (share - 278.0 / 354.0).abs() < 0.01, "{latency}, {share} of the link");
    let (_, share) = accepted(511, "2");
    assert!(share > 0.995, "{share} of the link with a window of two");
    // By one switch: 281 and 25. Each two more switches are six cycles more.
    let (latency, share) = accepted(1, "1");
    assert!(latency == 281.0 && (share - 278.0 / 306.0).abs() < 0.01, "{latency}, {share} of the link");
    assert_eq!([4, 16, 64].map(|to| accepted(to, "1").0), [287.0, 293.0, 299.0]);
}

/// Two hosts that each could fill the way to a third.
#[test]
fn two_flows_share_a_node() {
    let traffic = [flow("first", 17, 9, 1.0), flow("second", 34, 9, 1.0)].concat();
    let report = run(SMALL, &traffic, "mvcm]\nslot = 330", LONG);
    let shares = ["first", "second"].map(|name| number(&report, &format!("/flows/{name}/accepted_load")));
    assert!(shares.iter().all(|share| (share - 0.5).abs() < 0.05) && shares[0] + shares[1] > 0.95, "{shares:?}");
}

const AROUND: &str = "[[traffic]]\nname = \"around\"\nload = 0.26\nsize = 278\n";

/// Under light uniform traffic nobody is held back: what is offered arrives, and MVCM is as quick as its window.
#[test]
fn light_traffic_is_left_alone() {
    let figures = |protocol: &str| {
        let report = run(SMALL, AROUND, protocol, "warmup = 4000\ncycles = 20000\n");
        let [offered, accepted] = ["offered", "accepted"].map(|kind| number(&report, &format!("/{kind}_load")));
        assert!((accepted / offered - 1.0).abs() < 0.02, "{protocol}: {accepted} of {offered}");
        number(&report, "/latency/message/mean")
    };
    let free = figures("renato]\nresponse = \"none\"\nwindow = \"unlimited\"");
    for protocol in ["renato]", "pfister]", "mvcm]"] {
        let latency = figures(protocol);
        assert!((latency / free - 1.0).abs() < 0.02, "{protocol}: {latency}, and {free} without control");
    }
    let [window, mvcm] =
        ["renato]\nresponse = \"none\"\nwindow = 2\nscope = \"source\"", "mvcm]\nslot = 330\nscope = \"source\""]
            .map(figures);
    assert!((mvcm / window - 1.0).abs() < 0.02, "{mvcm}, and {window} with a window of two");
}

/// A burst to one node: all of it arrives, and all that is acknowledged lets the next packet go.
#[test]
fn a_burst_is_drained() {
    let traffic = "[[traffic]]\nname = \"hot\"\nfrom = { random = 8, outside = [9] }\ncount = 16\nload = 0.45\nsize = 278\n\
                   pattern.hot-spot.to = [9]\n[[traffic]]\nname = \"around\"\ncount = 8\nload = 0.45\nsize = 278\n";
    for protocol in ["renato]", "pfister]", "mvcm]\nslot = 330"] {
        for scope in ["destination", "source"] {
            let protocol = format!("{protocol}\nscope = \"{scope}\"");
            let report = run(SMALL, traffic, &protocol, "until = \"drained\"\nwarmup = 0\ncycles = 3000000\n");
            let counted = ["/count", "/unfinished"].map(|figure| number(&report, figure));
            assert_eq!(counted, [8.0 * 16.0 + 64.0 * 8.0, 0.0], "{protocol}");
            let acknowledged = number(&report, "/counters/acknowledgements") / 22.0; // it counts flits
            assert!((600.0..=640.0).contains(&acknowledged), "{protocol}: {acknowledged}");
        }
    }
}

/// Fig. 8 of the paper, in the 2-ary 3-tree: the routers of a packet, and the ports by which it enters and leaves the second.
fn way(source: u32, destination: u32) -> (Vec<String>, String) {
    let text = format!(
        "title = \"ways\"\n[topology.k-ary-n-tree]\nk = 2\nn = 3\n[routing.nearest-common-ancestor]\nup = \"destination\"\n\
         {}[measure]\nwarmup = 0\ncycles = 2000\n",
        flow("one", source, destination, 0.1).replace("278", "8")
    );
    let scenario = resolve_text(&text);
    let message = MessageChoice { source, destination, number: 0 }.find(&scenario).expect("a message is offered");
    let mut run = Run::tracing(&scenario, 1, message).expect("there is nothing to start");
    run.finish(|_| ControlFlow::Continue(())).expect("nothing goes wrong");
    let trace = run.trace().expect("a message is traced");
    let routers: Vec<_> = trace.lines.iter().filter(|line| line.place.starts_with("router")).collect();
    let ports = routers[1].event.split(" to ").next().expect("there is always a first part").to_owned();
    (routers.iter().map(|line| line.place.clone()).collect(), ports)
}

/// Section 7.9: both hot flows leave the second router by one port; the cold ones come in by the ports that they come in by, and leave by
/// another.
#[test]
fn cold_flows_share_inputs_with_hot_ones_and_no_output() {
    let [first_hot, second_hot, first_cold, second_cold] =
        [(0, 7), (3, 7), (1, 5), (2, 5)].map(|(from, to)| way(from, to));
    assert!([&second_hot, &first_cold, &second_cold].iter().all(|way| way.0[1] == first_hot.0[1]), "one second router");
    let ports = [first_hot.1, second_hot.1, first_cold.1, second_cold.1];
    assert_eq!(
        ports,
        [
            "port 0 VC 0 → port 3 VC 0",
            "port 1 VC 0 → port 3 VC 0",
            "port 0 VC 0 → port 2 VC 0",
            "port 1 VC 0 → port 2 VC 0"
        ]
    );
}

/// Three nodes send to one, and a fourth to another one beside it.
#[test]
fn each_packet_is_counted_by_its_flow_and_its_marks() {
    let hot = flow("hot", 16, 0, 0.9) + &flow("hotter", 32, 0, 0.9) + &flow("hottest", 48, 0, 0.9);
    let traffic = hot + &flow("cold", 5, 1, 0.1);
    // Windows as small as theirs fill no input buffer with three flows.
    for (protocol, marks) in [("renato]\nwindow = \"unlimited\"", 2), ("pfister]", 2), ("mvcm]\nwindow = 16", 3)] {
        let report = run(SMALL, &traffic, protocol, "warmup = 1000\ncycles = 40000\n");
        let counted = |flow: &str, mark: &str| number(&report, &format!("/counters/{flow}.{mark}_packets"));
        let names = &["unmarked", "marked", "validated"][..marks];
        for flow in ["hot", "hotter", "hottest", "cold"] {
            let sum: f64 = names.iter().map(|mark| counted(flow, mark)).sum();
            assert_eq!(sum, number(&report, &format!("/flows/{flow}/packets_delivered")), "{protocol} {flow}");
        }
        assert!(names[1..].iter().any(|mark| counted("hot", mark) > 0.0), "{protocol} marks hot packets");
        assert!(names[1..].iter().all(|mark| counted("cold", mark) == 0.0), "{protocol} marks no cold packet");
    }
}

/// What is accepted of flows from node 0 of a switch to nodes 1, 2 and so on, which want 0.5 of its link each.
fn accepted_from_one_node(flows: u32, protocol: &str, links: &str) -> Vec<f64> {
    let flow = |to: u32| {
        format!(
            "[[traffic]]\nname = \"to{to}\"\nfrom = [0]\nload = 0.5\nsize = 8\npattern.hot-spot.to = [{to}]\nsaturates = true\n"
        )
    };
    let text = format!(
        "routing = \"direct\"\nprotocol.{protocol}\n[topology.single-switch]\nnodes = 5\n{links}\
         [nic]\npacket_flits = 8\nqueues = \"per-destination\"\n{}[measure]\nwarmup = 1000\ncycles = 20000\n",
        (1..=flows).map(flow).collect::<String>()
    );
    let report = report_of(&resolve_text(&text), 1);
    report.flows.iter().map(|(_, flow)| flow.figures.accepted_load).collect()
}

/// Each packet is marked, and the pause after it is 24 cycles.
const PAUSES: &str = "marking = \"input\", input_threshold = 0.0, table = [0, 24], limit = 1, timer = 1000000";

/// A window or a wait of all that a node sends leaves room for one packet at a time: each destination has it in turn.
#[test]
fn destinations_of_a_node_with_one_window_take_turns() {
    let pfister = format!("pfister = {{ scope = \"source\", {PAUSES} }}");
    for protocol in ["renato = { scope = \"source\" }", "mvcm = { scope = \"source\", window = 1 }", &pfister] {
        let shares = accepted_from_one_node(3, protocol, "");
        let equal = shares.iter().sum::<f64>() / 3.0;
        let are_equal = shares.iter().all(|share| (share / equal - 1.0).abs() < 0.02);
        assert!(equal > 0.05 && are_equal, "{protocol}: {shares:?}");
    }
}

/// A pause of 24 cycles after each packet of 8 flits begins when it has left its node, by a link that takes four cycles for a flit.
#[test]
fn pauses_begin_at_the_end_of_a_packet_on_the_link_from_its_node() {
    let pfister = format!("pfister = {{ {PAUSES} }}");
    for (cycles, links) in [(8.0, ""), (32.0, "[links.injection]\ncycles_per_flit = 4\n")] {
        let accepted = accepted_from_one_node(1, &pfister, links)[0];
        let expected = 8.0 / (cycles + 24.0);
        assert!((accepted / expected - 1.0).abs() < 0.01, "{accepted} and not {expected}");
    }
}

/// Queues are numbered by a byte, and there can be 256.
#[test]
fn packets_are_marked_in_any_number_of_queues() {
    let marked = |nodes: u32| {
        let text = format!(
            "routing = \"direct\"\nprotocol.renato = {{ window = \"unlimited\", response = \"none\" }}\n\
             [topology.single-switch]\nnodes = {nodes}\n[links]\ninjection = {{ latency = 1, buffer = 64 }}\n\
             ejection.latency = 1\n[router]\nspeedup = 2\ncrossbar_delay = 5\noutput_queue = 64\n\
             virtual_output_queues = true\n[nic]\npacket_flits = 8\nqueues = \"per-destination\"\n\
             [[traffic]]\npattern.hot-spot.to = [0, 1, 2, 3]\nfrom = {{ outside = [0, 1, 2, 3] }}\nsize = 8\n\
             load = 0.05\n[measure]\nwarmup = 500\ncycles = 1500\n"
        );
        report_of(&resolve_text(&text), 1).total.marked_packets
    };
    assert!(marked(255) > 100 && marked(256) > 100, "{} and {}", marked(255), marked(256));
}
