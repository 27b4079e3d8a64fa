//! `run --trace-message`.

use serde_json::Value;

use crate::program::{Program, SMALL, compare};

/// One packet that is alone, with a clock.
fn program() -> Program {
    let program = Program::new();
    let lone = SMALL.replace("load = 0.3", "from = [0]\nload = 0.1\npattern.hot-spot.to = [40]");
    program.write("lone.toml", format!("{lone}\n[clock]\ncycle = \"2 ns\"\n"));
    program
}

#[test]
fn a_trace_comes_before_the_report() {
    let arguments = ["run", "lone.toml", "--quiet", "--trace-message", "0,40,2"];
    compare("run-trace", &arguments, &program().good(&arguments));
}

#[test]
fn a_trace_is_kept_beside_the_report_and_changes_nothing_in_it() {
    let program = program();
    let said = program.good(&["run", "lone.toml", "--quiet", "--trace-message", "0,40,2", "--out", "traced"]);
    assert!(said.starts_with(&program.read("traced/trace.txt")), "{said}");
    program.good(&["run", "lone.toml", "--quiet", "--out", "plain"]);
    let digest = |name: &str| -> Value {
        let report: Value = serde_json::from_str(&program.read(name)).expect("a report is JSON");
        report["result_digest"].clone()
    };
    assert_eq!(digest("traced/report.json"), digest("plain/report.json"));
}

#[test]
fn json_has_a_line_for_each_event_and_then_the_report() {
    let program = program();
    let arguments = ["run", "lone.toml", "--quiet", "--trace-message", "0,40,2", "--format", "json", "--out", "traced"];
    let said = program.good(&arguments);
    let values: Vec<Value> =
        serde_json::Deserializer::from_str(&said).into_iter().collect::<Result<_, _>>().expect("all of it is JSON");
    let (report, lines) = values.split_last().expect("there is a report");
    assert!(report["result_digest"].is_string(), "{report}");
    assert_eq!(lines[0]["packet"], "message");
    assert!(lines.iter().all(|line| line["ns"].as_f64() == line["cycle"].as_f64().map(|cycle| 2.0 * cycle)));
    assert_eq!(program.read("traced/trace.jsonl").lines().count(), lines.len());
}

/// Four nodes that send more to node 13 than it can take.
fn hot() -> Program {
    let program = Program::new();
    let hot = SMALL.replace("load = 0.3", "from = [0, 1, 2, 8]\nload = 0.6\nsize = 24\npattern.hot-spot.to = [13]");
    program.write("hot.toml", hot.clone());
    program.write("clock.toml", format!("{hot}\n[clock]\ncycle = \"2 ns\"\n"));
    program
}

#[test]
fn packets_are_told_one_after_the_other() {
    let arguments =
        ["run", "hot.toml", "--quiet", "--trace-packets", "8,13", "--trace-most", "4", "--trace-from", "90"];
    compare("run-trace-packets", &arguments, &hot().good(&arguments));
}

/// A trace for programs: bars contain one another or do not overlap, and those of a packet have no gaps from its creation to its end.
#[test]
fn a_trace_for_perfetto_adds_up() {
    let program = hot();
    for (file, cycle_us) in [("hot.toml", 1.0), ("clock.toml", 0.002)] {
        let arguments = ["run", file, "--quiet", "--trace-packets", "8,13", "--trace-out", "trace.json"];
        assert!(program.good(&arguments).starts_with("A small dragonfly"), "it is not printed, too");
        let trace: Value = serde_json::from_str(&program.read("trace.json")).expect("it is JSON");
        assert_eq!(trace["otherData"]["traced"], "packets of node 8 for node 13");
        let events = trace["traceEvents"].as_array().expect("there are events");
        let bars: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
        let line = |bar: &Value| (bar["pid"].as_u64(), bar["tid"].as_u64());
        let ends = |bar: &Value| {
            let (from, length) = (bar["ts"].as_f64().expect("a time"), bar["dur"].as_f64().expect("a length"));
            assert!(from >= 0.0 && length >= 0.0, "{bar}");
            (from, from + length)
        };
        let near = 1e-6 * cycle_us;
        // In the order of the file an outer bar is before those in it.
        let mut open: Vec<&Value> = Vec::new();
        for &bar in &bars {
            let (from, to) = ends(bar);
            while open.last().is_some_and(|last| line(last) != line(bar) || ends(last).1 <= from + near) {
                open.pop();
            }
            assert!(open.last().is_none_or(|last| ends(last).1 + near >= to), "{bar} is not in {:?}", open.last());
            open.push(bar);
        }
        let packets: Vec<&&Value> = bars.iter().filter(|bar| bar["cat"] == "packet").collect();
        assert!(packets.len() > 10);
        for packet in packets {
            let (mut at, end) = ends(packet);
            for bar in bars.iter().filter(|bar| bar["cat"] == "stretch" && line(bar) == line(packet)) {
                let (from, to) = ends(bar);
                assert!((from - at).abs() < near, "{bar} begins at {at}");
                at = to;
            }
            assert!((at - end).abs() < near, "{packet} ends at {at}");
            let cycles = packet["args"]["latency_cycles"].as_f64().expect("a latency");
            assert!((cycles * cycle_us - packet["dur"].as_f64().expect("a length")).abs() < near);
            // Arrows go through all routers.
            let number = &packet["args"]["packet"];
            let steps = |ph: &str| {
                events.iter().filter(|event| event["ph"] == ph && event["id"].as_f64() == number.as_f64()).count()
            };
            if packet["args"]["state"] == "arrived" {
                assert!(steps("s") == 1 && steps("f") == 1 && steps("t") >= 4, "{packet}");
            }
        }
    }
}

#[test]
fn a_message_can_be_looked_at_in_perfetto() {
    let program = program();
    program.good(&["run", "lone.toml", "--quiet", "--trace-message", "0,40,2", "--trace-out", "trace.json"]);
    let trace: Value = serde_json::from_str(&program.read("trace.json")).expect("it is JSON");
    let events = trace["traceEvents"].as_array().expect("there are events");
    let packet = events.iter().find(|event| event["cat"] == "packet").expect("it has a packet");
    assert_eq!((packet["dur"].as_f64(), &packet["args"]["state"]), (Some(0.298), &Value::from("arrived")));
    assert!(
        events.iter().any(|event| event["ph"] == "i" && event["name"].as_str().is_some_and(|n| n.contains("offered")))
    );
}
