//! The trace of a message: what it tells is what the protocols' state machines and the formulas say, and it is the same however
//! it is run.

use std::ops::ControlFlow;

use tailback_scenario::Scenario;
use tailback_sim::{MessageChoice, MessageTrace, NoSuchMessage, Run, TraceLine, Which, path_types};

use crate::determinism::matrix::digest;
use crate::scenarios::{names, resolve, resolve_text};

/// The digest of a run in which a message is traced, and the trace.
pub fn traced(scenario: &Scenario, threads: usize, choice: MessageChoice) -> (String, MessageTrace) {
    let message = choice.find(scenario).unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::tracing(scenario, threads, message).expect("threads start");
    run.finish(|_| ControlFlow::Continue(())).expect("nothing goes wrong");
    let findings = run.findings().expect("everything adds up");
    (findings.digest(), run.trace().expect("a message is traced"))
}

/// Of all messages that are the second of a node for another, the one that is offered first.
fn some_message(scenario: &Scenario) -> Option<MessageChoice> {
    let nodes = scenario.topology.built.graph().nodes();
    let pairs = (0..nodes).flat_map(|source| (0..nodes).map(move |destination| (source, destination)));
    let choices = pairs.map(|(source, destination)| MessageChoice { source, destination, number: 1 });
    let offered = choices.filter_map(|choice| match choice.find(scenario).ok()?.which {
        Which::Offered { created, .. } => Some((created, choice)),
        Which::Nth(_) => None, // when that will be is not known yet
    });
    offered.min_by_key(|&(created, _)| created).map(|(_, choice)| choice)
}

#[test]
fn a_trace_changes_no_result_and_is_the_same_however_it_is_run() {
    for name in names() {
        let plain = resolve(&name, &[]);
        let Some(choice) = some_message(&plain) else {
            assert!(
                plain.workload.flows.iter().all(|flow| flow.job.is_some()),
                "{name}: somebody sends something twice"
            );
            continue;
        };
        let expected = digest(&plain, 0);
        let (found, trace) = traced(&plain, 0, choice);
        assert_eq!(found, expected, "{name}: a trace changes results");
        assert!(trace.lines.len() > 3, "{name}: {trace}");
        for (threads, partition) in [(2, "router"), (3, "domain"), (0, "single")] {
            let other = resolve(&name, &[&format!("execution.partition={partition}")]);
            let (found, again) = traced(&other, threads, choice);
            assert_eq!(
                (found.as_str(), &again),
                (expected.as_str(), &trace),
                "{name}: {partition} on {threads} threads"
            );
        }
    }
}

/// The lines about a packet.
pub fn about<'t>(trace: &'t MessageTrace, packet: &str) -> Vec<&'t TraceLine> {
    trace.lines.iter().filter(|line| line.packet == packet).collect()
}

/// A packet that is alone is in each place when the formula says so, and nothing holds it up.
#[test]
fn the_hops_of_a_lone_packet_add_up_to_zero_load_latency() {
    let text = |from, to| {
        format!(
            "routing = \"minimal\"\ntopology.dragonfly = {{ p = 2, a = 4, h = 2, g = 9 }}\n[measure]\nwarmup = 0\ncycles = 20000\n\
             [[traffic]]\nfrom = [{from}]\nload = 0.01\nsize = 8\npattern.hot-spot.to = [{to}]\n"
        )
    };
    for path in path_types(&resolve_text(&text(0, 1))) {
        let (source, destination) = path.example;
        let scenario = resolve_text(&text(source, destination));
        let (_, trace) = traced(&scenario, 0, MessageChoice { source, destination, number: 0 });
        let ticks = u64::from(scenario.clock.ticks_per_cycle);
        let cycles = |ticks_of: u64| ticks_of as f64 / ticks as f64;
        let zero_load = &path.zero_load;
        let lines = about(&trace, "data 0");
        // Sent when it is offered, then in each router, then received.
        let mut at = trace.lines[0].cycle;
        let mut expected = vec![at];
        at += cycles(zero_load.injection);
        for link in &zero_load.links {
            expected.push(at);
            at += cycles(zero_load.router + link);
        }
        expected.push(at);
        expected.push(at + cycles(zero_load.router + zero_load.ejection + zero_load.serialization));
        assert_eq!(lines.iter().map(|line| line.cycle).collect::<Vec<_>>(), expected, "{trace}");
        let latency = expected.last().unwrap() - expected[0];
        assert!((latency - cycles(zero_load.total())).abs() < 1e-9, "{trace}");
        let hops = &lines[1..lines.len() - 1];
        assert!(hops.iter().all(|hop| hop.event.contains("crosses at once, on the link at ")), "{trace}");
        let last = trace.lines.last().unwrap();
        assert_eq!(last.event, format!("complete {latency} cycles after the message was offered"));
    }
}

/// The trace has these lines, among others, in this order.
fn tells(trace: &MessageTrace, expected: &[(f64, &str, &str, &str)]) {
    let mut lines = trace.lines.iter();
    for expected in expected {
        let is_it = |line: &TraceLine| {
            (line.cycle, line.place.as_str(), line.packet.as_str(), line.event.as_str()) == *expected
        };
        assert!(lines.any(is_it), "{expected:?} is not there, or not in its place\n{trace}");
    }
}

/// Three nodes of a cluster send to one of the other, over one channel. A packet of one flit takes 38 cycles between node 0 or 1 and node 7: 1 to
/// the first router, 4 in each of four, 20 on the links between them, 1 to the node. Messages of 160 flits are charged 5 % more, 168.
const CRP: &str = r#"
seed = 3
topology.multi-cluster = { clusters = 2, nodes_per_leaf = 2, leaves = 2, spines = 1, channels = 1 }
links.level1 = { latency = 5, buffer = 64 }
links.inter-cluster = { latency = 10, buffer = 64 }
router = { crossbar_delay = "4 cycles", output_queue = 64, output_queue_per = "channel" }
routing.cluster-ring = {}
protocol.crp = { cells = 4, cell = 300, smallest = 16, largest = 160, timeout = 30 }
measure = { warmup = 0, cycles = 2000 }

[[traffic]]
from = [0, 1, 2]
load = 0.5
size = 160
pattern.hot-spot.to = [7]
"#;

/// Figures 3 to 5 of the paper. Node 0 has taken the first 168 flits of slot 0 when node 2 asks: 132 are left, at the end of the slot, from cycle 168
/// on, and 36 come from slot 1. Of that 264 are left when node 1 asks, from cycle 336 on; slot 0 has nothing, so the channel clears it.
#[test]
fn crp_tells_what_each_table_answers_and_when_data_leaves_for_its_time() {
    let scenario = resolve_text(CRP);
    let trace = |source| traced(&scenario, 0, MessageChoice { source, destination: 7, number: 0 }).1;
    tells(
        &trace(0),
        &[
            (94.0, "node 0", "message", "offered: 160 flits of flow `traffic`; nothing else waits at its node"),
            (94.0, "node 0", "request 0", "sent on VC 3: for 160 flits in one of slots 0–3"),
            (
                95.0,
                "router 0",
                "request 0",
                "table of port 3: of slots 0–3 there is room for 168 flits in 0–3; the request keeps 0–3; reserves 168 flits of slot 0 eagerly",
            ),
            (
                132.0,
                "node 7",
                "request 0",
                "received after 38 cycles: for 160 flits in one of slots 0–3; reserved eagerly: 0",
            ),
            (
                132.0,
                "node 7",
                "request 0",
                "table of the node: of slots 0–3 there is room for 168 flits in 0–3; grants 168 flits of slot 0, from cycle 0 on",
            ),
            (132.0, "node 7", "grant 0", "sent on VC 2: 160 flits from cycle 0 on, which is in slot 0"),
            (165.0, "router 0", "grant 0", "table of port 3: confirms 168 flits of slot 0, reserved eagerly"),
            (170.0, "node 0", "grant 0", "received after 38 cycles: 160 flits from cycle 0 on, which is in slot 0"),
        ],
    );
    tells(
        &trace(2),
        &[(
            173.0,
            "node 7",
            "request 0",
            "table of the node: of slots 0–3 there is room for 168 flits in 0–3; grants 132 flits of slot 0 and 36 of slot 1, from cycle 168 on",
        )],
    );
    // Granted for 336: what leaves 38 cycles before comes in time, be it dropped before or left.
    tells(
        &trace(1),
        &[
            (
                155.5,
                "router 0",
                "request 0",
                "table of port 3: of slots 0–3 there is room for 168 flits in 1–3; the request keeps 1–3; reserves 168 flits of slot 1 eagerly",
            ),
            (
                198.0,
                "node 7",
                "request 0",
                "table of the node: of slots 0–3 there is room for 168 flits in 1–3; grants 168 flits of slot 1, from cycle 336 on",
            ),
            (231.5, "router 0", "speculative data 6", "dropped after more than 30 cycles in input buffers"),
            (236.0, "node 1", "grant 0", "received after 38 cycles: 160 flits from cycle 336 on, which is in slot 1"),
            (237.0, "node 1", "message", "packet 6 is to leave again as data, from cycle 298 on"),
            (240.0, "node 1", "message", "packet 11 has its turn: not before cycle 298"),
            (298.0, "node 1", "data 6", "sent again on VC 0: 8 flits, 147 cycles after the message was offered"),
        ],
    );
}

/// Three nodes send packets of 4 flits to the fourth. The schedule is charged 5 for each, 5 % more in whole flits. A NACK needs 5 cycles in the switch and 1 to the
/// node, so what is granted for cycle 37 may leave at 31, when the NACK comes; the link is busy until 32.
#[test]
fn lhrp_tells_why_a_packet_is_dropped_and_when_it_leaves_again() {
    let scenario = resolve_text(
        r#"
        seed = 1
        routing = "direct"
        topology.single-switch = { nodes = 4 }
        router = { virtual_output_queues = true, output_queue = 32, output_queue_per = "channel" }
        protocol.lhrp = { threshold = 12 }
        measure = { warmup = 0, cycles = 300 }

        [[traffic]]
        from = [0, 1, 2]
        load = 0.9
        size = 4
        pattern.hot-spot.to = [3]
        "#,
    );
    let (_, trace) = traced(&scenario, 0, MessageChoice { source: 0, destination: 3, number: 3 });
    tells(
        &trace,
        &[
            (20.0, "node 0", "message", "offered: 4 flits of flow `traffic`; nothing else waits at its node"),
            (24.0, "node 0", "speculative data 0", "sent on VC 1: 4 flits, 4 cycles after the message was offered"),
            (25.0, "router 0", "speculative data 0", "port 0 VC 1: ends here at once"),
            (
                25.0,
                "router 0",
                "speculative data 0",
                "12 flits wait for the node at port 3, the threshold is 12; the schedule of the node gives 4 flits cycles 37 to 42",
            ),
            (25.0, "router 0", "speculative data 0", "dropped on arrival"),
            (25.0, "router 0", "nack 0", "sent by the router: about 4 flits, names cycle 37"),
            (31.0, "node 0", "nack 0", "received after 6 cycles: about 4 flits, names cycle 37"),
            (31.0, "node 0", "message", "packet 0 is to leave again as data, from cycle 31 on"),
            (32.0, "node 0", "data 0", "sent again on VC 0: 4 flits, 12 cycles after the message was offered"),
            (50.0, "node 3", "message", "complete 30 cycles after the message was offered"),
            (57.0, "node 0", "acknowledgement 0", "received after 7 cycles"),
        ],
    );
}

/// A message of a program that is announced is traced with its announcement and the answer, whoever carries it and in whichever regions.
#[test]
fn announced_messages_of_programs_are_traced_with_what_is_about_them() {
    for protocol in ["baseline", "smsrp"] {
        let text = |more: &str| {
            format!(
                "protocol = \"{protocol}\"\nrouting = \"minimal\"\n[topology.dragonfly]\np = 2\na = 4\nh = 2\ng = 9\n[[program]]\n\
                 collective.alltoall-pairwise = {{ nodes = [0, 9, 70], bytes = 90 }}\nrepeat = 2\neager = 8\nranks_per_node = 2\n\
                 map = [0, 9, 70, 70, 0, 9]\n[[traffic]]\nfrom = \"1..9\"\nload = 0.1\n[measure]\nwarmup = 0\ncycles = 12000\n{more}"
            )
        };
        let resolved = |more: &str| resolve_text(&text(more));
        let choice = |number| MessageChoice { source: 0, destination: 70, number };
        let plain = resolved("");
        let (found, trace) = traced(&plain, 0, choice(5));
        assert_eq!(found, digest(&plain, 0), "a trace changes results");
        let of = |packet: &str, event: &str| {
            let is = |line: &&TraceLine| line.packet == packet && line.event.starts_with(event);
            trace.lines.iter().filter(is).map(|line| (line.cycle, line.place.as_str())).collect::<Vec<_>>()
        };
        let steps = ["announcement", "answer", "message"].map(|part| (of(part, "offered"), of(part, "complete")));
        let [announcement, answer, message] = &steps;
        for (step, (from, to)) in steps.iter().zip([(0, 70), (70, 0), (0, 70)]) {
            let places = (step.0.len(), step.1.len(), step.0[0].1, step.1[0].1);
            assert_eq!(places, (1, 1, format!("node {from}").as_str(), format!("node {to}").as_str()), "{trace}");
        }
        assert!(announcement.1[0].0 <= answer.0[0].0 && answer.1[0].0 <= message.0[0].0, "{trace}");
        assert!(!trace.is_under_way, "{trace}");
        let routers = trace.lines.iter().filter(|line| line.place.starts_with("router")).count();
        assert!(routers >= 3 * 2, "each takes a path between two groups: {trace}");
        for (threads, partition) in [(2, "router"), (3, "domain"), (0, "single")] {
            let other = resolved(&format!("[execution]\npartition = \"{partition}\"\n"));
            assert_eq!(
                traced(&other, threads, choice(5)),
                (found.clone(), trace.clone()),
                "{partition} on {threads} threads"
            );
        }
        let (_, nothing) = traced(&plain, 0, choice(1_000_000));
        assert_eq!(nothing.to_string().lines().last(), Some("The simulation ends before there is such a message."));
    }
}

/// What a node sends itself through the network is traced like any other message.
#[test]
fn a_message_for_its_own_source_is_traced() {
    let of = |pattern: &str| {
        resolve_text(&format!(
            "routing = \"direct\"\ntopology.single-switch.nodes = 4\n[measure]\nwarmup = 0\ncycles = 2000\n\
             [[traffic]]\nload = 0.1\npattern = {pattern}\n"
        ))
    };
    let choice = MessageChoice { source: 1, destination: 1, number: 0 };
    for pattern in ["\"itself\"", "{ uniform = { with_self = true } }"] {
        let (_, trace) = traced(&of(pattern), 0, choice);
        assert!(!trace.is_under_way, "{pattern}: {trace}");
    }
    assert_eq!(choice.find(&of("\"uniform\"")), Err(NoSuchMessage::SameNode(1)));
}

#[test]
fn messages_that_there_are_not_are_refused_with_numbers() {
    let scenario = resolve("protocol-srp", &[]);
    let choice = |source, destination, number| MessageChoice { source, destination, number };
    let nodes = scenario.topology.built.graph().nodes();
    assert_eq!(choice(nodes, 0, 0).find(&scenario), Err(NoSuchMessage::NoNode { node: nodes, nodes }));
    assert_eq!(choice(3, 3, 0).find(&scenario), Err(NoSuchMessage::SameNode(3)));
    let MessageChoice { source, destination, .. } = some_message(&scenario).expect("somebody sends something twice");
    match choice(source, destination, 1_000_000).find(&scenario) {
        Err(NoSuchMessage::TooFew { offered, .. }) => {
            assert!(choice(source, destination, offered - 1).find(&scenario).is_ok());
            assert!(choice(source, destination, offered).find(&scenario).is_err());
        }
        other => panic!("{other:?}"),
    }
}
