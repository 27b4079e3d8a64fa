//! `run --trace-message`.

use std::collections::{BTreeMap, BTreeSet};

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

/// A trace may go to where the report goes, which is not there yet; so it comes after the report.
#[test]
fn a_trace_is_written_after_the_report() {
    let program = program();
    let traced = ["run", "lone.toml", "--trace-message", "0,40,2", "--out", "traced"];
    program.good(&[&traced[..], &["--trace-out", "traced/trace.json"]].concat());
    assert!(program.read("traced/trace.json").starts_with('{') && program.path("traced/report.json").exists());
    let said = program.run(&[&traced[..3], &["0,40,2", "--trace-out", "traced"]].concat());
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
    assert!(said.stderr.contains("cannot write `traced`: "), "{}", said.stderr);
}

#[test]
fn a_trace_without_packets_is_called_empty() {
    let program = program();
    let said = program.run(&["run", "lone.toml", "--trace-packets", "1,40", "--trace-out", "trace.json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let empty = "no packet of node 1 for node 40 leaves: the trace in trace.json is empty";
    assert!(said.stderr.contains(empty) && !said.stderr.contains("has the trace"), "{}", said.stderr);
}

/// What came before it is not seen again.
#[test]
fn a_trace_does_not_begin_at_a_checkpoint() {
    let arguments = ["run", "--resume", "out", "--trace-message", "0,40,2"];
    let said = Program::new().run(&arguments);
    assert_eq!(said.code, Some(2));
    compare("mistake-trace-resumed", &arguments, &said.stderr);
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

/// The text at a key of an event, a field that it has to have.
fn text<'e>(event: &'e Value, key: &str) -> &'e str {
    event[key].as_str().unwrap_or_else(|| panic!("{key} is no text: {event}"))
}

/// A whole number, and a time, which is not negative.
fn whole(event: &Value, key: &str) -> u64 {
    event[key].as_u64().unwrap_or_else(|| panic!("{key} is no whole number: {event}"))
}

fn time(event: &Value, key: &str) -> f64 {
    event[key].as_f64().filter(|time| *time >= 0.0).unwrap_or_else(|| panic!("{key} is no time: {event}"))
}

/// What an event of a phase has beside `name`, `ph`, `pid`, `tid` and `ts`: what it must have, and what it may.
fn fields(phase: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match phase {
        "X" => (&["cat", "dur"], &["args"]),
        "i" => (&["s"], &["args"]),
        "M" => (&["args"], &[]),
        "s" | "t" => (&["cat", "id"], &[]),
        "f" => (&["cat", "id", "bp"], &[]),
        other => panic!("there is no phase {other:?} in these traces"),
    }
}

/// Checks a trace against the rules of the trace event format (the document that Perfetto's reader goes by): phases with their fields,
/// metadata that names all processes and lines once, bars, instants, and arrows each of whose ends lies in a bar of its line.
fn keeps_to_the_format(trace: &Value) {
    let whole_file: Vec<&String> = trace.as_object().expect("an object").keys().collect();
    assert_eq!(whole_file, ["displayTimeUnit", "otherData", "traceEvents"]);
    assert!(["ms", "ns"].contains(&text(trace, "displayTimeUnit")) && trace["otherData"].is_object());
    let events = trace["traceEvents"].as_array().expect("a list");
    let mut named: BTreeSet<(&str, u64, u64)> = BTreeSet::new();
    let mut bars: BTreeMap<(u64, u64), Vec<(f64, f64)>> = BTreeMap::new();
    let mut arrows: BTreeMap<(&str, &str, u64), Vec<&Value>> = BTreeMap::new();
    for event in events {
        let (phase, name) = (text(event, "ph"), text(event, "name"));
        let line = (whole(event, "pid"), whole(event, "tid"));
        let at = time(event, "ts");
        let (must, may) = fields(phase);
        let always = ["name", "ph", "pid", "tid", "ts"];
        for key in event.as_object().expect("an object").keys().map(String::as_str) {
            assert!(always.iter().chain(must).chain(may).any(|known| *known == key), "{key} has no meaning: {event}");
        }
        assert!(must.iter().all(|key| !event[key].is_null()), "{must:?} are needed: {event}");
        match phase {
            "X" => bars.entry(line).or_default().push((at, at + time(event, "dur"))),
            "i" => assert!(["g", "p", "t"].contains(&text(event, "s")), "{event}"),
            "M" => {
                let (is_number, of_line) = match name {
                    "process_name" | "process_sort_index" => (name.ends_with("index"), false),
                    "thread_name" | "thread_sort_index" => (name.ends_with("index"), true),
                    other => panic!("there is no metadata {other:?}"),
                };
                let value = &event["args"][if is_number { "sort_index" } else { "name" }];
                assert!(if is_number { value.as_f64().is_some() } else { value.is_string() }, "{event}");
                assert!(of_line || line.1 == 0, "a process has no line: {event}");
                assert!(named.insert((name, line.0, line.1)), "it is said twice: {event}");
            }
            _ => arrows.entry((text(event, "cat"), name, whole(event, "id"))).or_default().push(event),
        }
    }
    for event in events.iter().filter(|event| event["ph"] != "M") {
        let (pid, tid) = (whole(event, "pid"), whole(event, "tid"));
        assert!(named.contains(&("process_name", pid, 0)), "its process has no name: {event}");
        // Instants of a process are on no line of it.
        assert!(event["ph"] == "i" || named.contains(&("thread_name", pid, tid)), "its line has no name: {event}");
    }
    for (id, steps) in &arrows {
        let phases: Vec<&str> = steps.iter().map(|step| text(step, "ph")).collect();
        let [first, between @ .., last] = phases.as_slice() else { panic!("{id:?} has one end") };
        assert!(*first == "s" && *last == "f" && between.iter().all(|phase| *phase == "t"), "{id:?}: {phases:?}");
        assert!(steps.windows(2).all(|pair| time(pair[0], "ts") <= time(pair[1], "ts")), "{id:?} goes back");
        for step in steps {
            let (line, at) = ((whole(step, "pid"), whole(step, "tid")), time(step, "ts"));
            let around = bars.get(&line).into_iter().flatten().any(|&(from, to)| from <= at && at <= to);
            assert!(around, "no bar is around {step}");
            assert!(step["ph"] != "f" || text(step, "bp") == "e", "{step}");
        }
    }
    assert!(!bars.is_empty() && !arrows.is_empty());
}

/// With data, control packets, packets that are dropped and sent again, and one message alone.
#[test]
fn traces_keep_to_the_format_of_trace_events() {
    let program = hot();
    program.write("lone.toml", SMALL.replace("load = 0.3", "from = [0]\nload = 0.1\npattern.hot-spot.to = [40]"));
    let lhrp = ["--set", "protocol.lhrp.threshold=24"];
    for (file, more) in [
        ("hot.toml", &["--trace-packets", "8,13"][..]),
        ("clock.toml", &["--trace-packets", "8,13"]),
        ("hot.toml", &[&["--trace-packets", "8,13"], &lhrp[..]].concat()),
        ("hot.toml", &[&["--trace-message", "8,13,5"], &lhrp[..]].concat()),
        ("lone.toml", &["--trace-message", "0,40,2"]),
    ] {
        program.good(&[&["run", file, "--quiet", "--trace-out", "trace.json"], more].concat());
        keeps_to_the_format(&serde_json::from_str(&program.read("trace.json")).expect("it is JSON"));
    }
}
