//! Results made by hand.

use tailback_report::{
    Column, Cycles, FlowInput, Kind, LoadCourse, Measured, Named, Performance, Record, RecordPlan, Report, Table,
    Window,
};
use tailback_reproduce::{Figure, Finding, Outcome, Results, Scale, Series};

/// A figure of two curves with three loads and two seeds, and whatever else is added.
pub const CURVES: &str = r#"
title = "Two curves"
source = "Fig. 1"
scenario = "network.toml"

[sweep]
seeds = 2
over."traffic.load" = [0.1, 0.2, 0.4]

[[sweep.variant]]
name = "low"

[[sweep.variant]]
name = "high"
"#;

/// A figure of two time series around cycle 1000.
pub const SERIES: &str = r#"
title = "Two series"
source = "Fig. 2"
scenario = "network.toml"
event = 1000

[[sweep.variant]]
name = "step"

[[sweep.variant]]
name = "wave"
"#;

pub fn read(text: &str) -> Figure {
    Figure::read("figure.toml", text).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// A report with some figures in it.
pub fn report(offered: f64, accepted: f64, latency: f64) -> Report {
    let record = Record::new(RecordPlan::new(1, Window { from: 0, until: 100 }));
    let mut report = Report::new(Measured {
        title: String::new(),
        version: "0".to_owned(),
        scenario_digest: "0".repeat(64),
        result_digest: String::new(),
        seed: 1,
        nodes: 4,
        sources: 4,
        ticks_per_cycle: 1,
        cycle_ns: None,
        cycles: Cycles { warmup: 0, measured: 100 },
        interrupted: None,
        flows: vec![FlowInput {
            name: "all".to_owned(),
            sources: 4,
            source_nodes: Vec::new(),
            offered_load_nominal: None,
            course: LoadCourse::Steady,
            phases: Vec::new(),
        }],
        record: &record,
        links: Vec::new(),
        ejection: Named::default(),
        notes: Vec::new(),
        performance: Performance::new(1.0, 1.0, 0, None, 0),
    });
    report.total.offered_load = offered;
    report.total.accepted_load = accepted;
    report.total.latency.message.mean = Some(latency);
    report.total.latency.message.ci95 = Some(0.5);
    report.flows.0[0].1.figures = report.total.clone();
    report.ejection.0.push(("nacks".to_owned(), 0.125));
    report.counters.0.push(("dropped".to_owned(), 7));
    report.links.push(tailback_report::LinkUtilisation { class: "global".to_owned(), mean: 0.25, max: 0.5 });
    report
}

/// The results of [`CURVES`]: `low` has latencies 100, 110, 140 and accepts everything; `high` has 120, 150, 300 and
/// accepts at most 0.3. The second seed has 2 cycles more everywhere.
pub fn curves(figure: &Figure) -> Results {
    let mut results = Results::new(figure.experiment(Scale::Full));
    let points = [
        (0.1, 0.1, 100.0),
        (0.2, 0.2, 110.0),
        (0.4, 0.4, 140.0),
        (0.1, 0.1, 120.0),
        (0.2, 0.2, 150.0),
        (0.4, 0.3, 300.0),
    ];
    for (point, (offered, accepted, latency)) in points.into_iter().enumerate() {
        for seed in 0..2 {
            let report = report(offered, accepted, latency + 2.0 * seed as f64);
            results.put(point, seed, Outcome { report, series: None });
        }
    }
    results
}

/// A time series of one flow with a latency and a share for each ten cycles up to 3000, each of four packets, of which the slowest takes
/// twice the mean.
pub fn series(latency: impl Fn(f64) -> f64, share: impl Fn(f64) -> f64) -> Series {
    series_by_creation(latency, share, |_| None)
}

/// The same, with how much of each interval has arrived.
pub fn series_by_creation(
    latency: impl Fn(f64) -> f64,
    share: impl Fn(f64) -> f64,
    complete: impl Fn(f64) -> Option<f64>,
) -> Series {
    let integers = ["cycle", "delivered_messages", "delivered_packets"].map(|name| Column::new(name, Kind::Integer));
    let numbers = ["accepted_load", "latency_message_mean", "latency_message_max", "nonminimal_share", "complete"];
    let numbers = numbers.map(|name| Column::new(name, Kind::Number));
    let mut columns = vec![Column::text("flow")];
    columns.extend(integers);
    columns.extend(numbers);
    let mut table = Table::new(columns);
    for cycle in (0_u64..3000).step_by(10) {
        let time = cycle as f64 - 1000.0;
        let four = 4_u64;
        let (share, complete) = (share(time), complete(time));
        let latency = Some(latency(time)).filter(|_| complete != Some(0.0));
        table.push(vec![
            "all".into(),
            cycle.into(),
            four.into(),
            four.into(),
            0.2.into(),
            latency.into(),
            latency.map(|mean| 2.0 * mean).into(),
            share.into(),
            complete.into(),
        ]);
    }
    Series::new(table).expect("it has all columns")
}

/// The results of [`SERIES`]: the latency of `step` goes from 100 to 200, in a hundred cycles in a straight line, and
/// its share from 0 to 1 at once; `wave` rises and falls by 20 every 500 cycles.
pub fn step_and_wave(figure: &Figure) -> Results {
    let mut results = Results::new(figure.experiment(Scale::Full));
    let step = series(|time| 100.0 + time.clamp(0.0, 100.0), |time| f64::from(u8::from(time >= 0.0)));
    let wave = series(|time| 300.0 + 20.0 * (time * std::f64::consts::TAU / 500.0).sin(), |_| 0.5);
    for (point, series) in [step, wave].into_iter().enumerate() {
        results.put(point, 0, Outcome { report: report(0.2, 0.2, 100.0), series: Some(series) });
    }
    results
}

/// What is found about the only claim of a figure.
pub fn finding(figure: &Figure, results: &Results) -> Finding {
    let findings = figure.findings(Scale::Full, results);
    assert_eq!(findings.len(), 1);
    findings[0].1.clone()
}

/// A claim with a measure and an expectation.
pub fn claim(measure: &str, expect: &str) -> String {
    format!(
        "[[claim]]\nname = \"it\"\nsays = \"It is so.\"\npaper = \"yes\"\nmeasure = {measure}\nexpect = {expect}\nwhy = \"so\"\n"
    )
}
