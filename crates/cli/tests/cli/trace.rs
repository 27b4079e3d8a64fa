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
