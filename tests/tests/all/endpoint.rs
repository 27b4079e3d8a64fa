//! `configs/endpoint.toml` shows what it is there for: what a hot spot does to bystanders, and what each protocol makes of both.

use tailback_report::{FlowFigures, Report};

use crate::scenarios::{here, read, report_of, resolve_with};

/// The report of the file with another protocol, at the highest load of its hot spot, in a shorter time.
fn overloaded(protocol: &str) -> Report {
    let overrides =
        [protocol, "traffic.hot.load=0.5", "measure.warmup=12 us", "measure.cycles=8 us", "execution.threads=1"];
    report_of(&resolve_with(read(&here("../configs/endpoint.toml")), &overrides), 1)
}

fn flow<'r>(report: &'r Report, name: &str) -> &'r FlowFigures {
    report.flows.get(name).expect("there are both flows")
}

/// The accepted load and the mean network latency of bystanders.
fn bystanders(report: &Report) -> (f64, f64) {
    let figures = &flow(report, "bystanders").figures;
    (figures.accepted_load, figures.latency.network.mean.expect("some have arrived"))
}

#[test]
fn bystanders_suffer_from_a_hot_spot_unless_a_protocol_holds_it_back() {
    let baseline = overloaded("protocol={ baseline = { acknowledge = true, control_routing = \"minimal\" } }");
    let lhrp = overloaded("protocol=lhrp");
    for report in [&baseline, &lhrp] {
        // All that 4 of 60 take; and that this is less than what is sent is no one's mistake.
        let hot = flow(report, "hot");
        assert!((hot.figures.accepted_load / (4.0 / 60.0) - 1.0).abs() < 0.02, "{}", hot.figures.accepted_load);
        assert!(!hot.judged && !hot.figures.saturated);
    }
    // The queues have only begun to grow.
    let ((free, quick), (stuck, slow)) = (bystanders(&lhrp), bystanders(&baseline));
    assert!(stuck < 0.9 * free, "{stuck} flits per cycle without a protocol, {free} with LHRP");
    assert!(slow > 1.05 * quick, "{slow} cycles without a protocol, {quick} with LHRP");
    assert!(flow(&baseline, "bystanders").figures.saturated && !lhrp.total.saturated);
}

#[test]
fn reservations_alone_fill_the_links_to_the_hot_spot() {
    let report = overloaded("protocol=srp");
    assert_eq!(flow(&report, "hot").figures.messages.delivered, 0);
    let note = "reservations fill 100 % of the ejection links of the destinations of `hot`, data 0 %";
    assert!(report.notes.iter().any(|said| said == note), "{:?}", report.notes);
}
