//! The trace of a message: what it tells is what the protocols' state machines and the formulas say, and it is the same however
//! it is run.

use std::ops::ControlFlow;

use tailback_scenario::{Document, Scenario};
use tailback_sim::{MessageChoice, MessageTrace, NoSuchMessage, Run, TraceLine, path_types};

use crate::determinism::matrix::digest;
use crate::scenarios::{names, resolve};

fn scenario(text: &str) -> Scenario {
    Document::read("trace.toml", text).resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// The digest of a run in which a message is traced, and the trace.
fn traced(scenario: &Scenario, threads: usize, choice: MessageChoice) -> (String, MessageTrace) {
    let message = choice.find(scenario).unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::tracing(scenario, threads, message).expect("threads start");
    run.finish(|_| ControlFlow::Continue(())).expect("nothing goes wrong");
    let findings = run.findings().expect("everything adds up");
    (findings.digest(), run.trace().expect("a message is traced"))
}

/// Of all messages that are the second of a node for another, the one that is offered first.
fn some_message(scenario: &Scenario) -> MessageChoice {
    let nodes = scenario.topology.built.graph().nodes();
    let pairs = (0..nodes).flat_map(|source| (0..nodes).map(move |destination| (source, destination)));
    let choices = pairs.map(|(source, destination)| MessageChoice { source, destination, number: 1 });
    let offered = choices.filter_map(|choice| Some((choice.find(scenario).ok()?.created, choice)));
    offered.min_by_key(|&(created, _)| created).expect("somebody sends something twice").1
}

#[test]
fn a_trace_changes_no_result_and_is_the_same_however_it_is_run() {
    for name in names() {
        let plain = resolve(&name, &[]);
        let (expected, choice) = (digest(&plain, 0), some_message(&plain));
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
fn about<'t>(trace: &'t MessageTrace, packet: &str) -> Vec<&'t TraceLine> {
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
    for path in path_types(&scenario(&text(0, 1))) {
        let (source, destination) = path.example;
        let scenario = scenario(&text(source, destination));
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

#[test]
fn messages_that_there_are_not_are_refused_with_numbers() {
    let scenario = resolve("protocol-srp", &[]);
    let choice = |source, destination, number| MessageChoice { source, destination, number };
    let nodes = scenario.topology.built.graph().nodes();
    assert_eq!(choice(nodes, 0, 0).find(&scenario), Err(NoSuchMessage::NoNode { node: nodes, nodes }));
    assert_eq!(choice(3, 3, 0).find(&scenario), Err(NoSuchMessage::SameNode(3)));
    let MessageChoice { source, destination, .. } = some_message(&scenario);
    match choice(source, destination, 1_000_000).find(&scenario) {
        Err(NoSuchMessage::TooFew { offered, .. }) => {
            assert!(choice(source, destination, offered - 1).find(&scenario).is_ok());
            assert!(choice(source, destination, offered).find(&scenario).is_err());
        }
        other => panic!("{other:?}"),
    }
}
