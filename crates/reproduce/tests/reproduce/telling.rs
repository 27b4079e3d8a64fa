//! What is drawn, told and recorded.

use tailback_reproduce::{
    Bound, Count, Figure, Outcome, Record, RecordedFigure, RecordedRuns, Results, Scale, Table, Verdict, count,
};

use crate::by_hand::{CURVES, SERIES, claim, curves, finding, read, report, series_by_creation, step_and_wave};

const LATENCY: &str = r#"
[[panel]]
name = "latency"
metric = "latency_message_mean"
x_label = "load"
y_label = "latency (cycles)"
x = [0, 0.5]
y = [100, 200]
"#;

#[test]
fn panels_show_means_over_seeds_with_error_bars() {
    let figure = read(&format!("{CURVES}{LATENCY}factor = 2\nx_factor = 100\ncurves = [\"low\"]\n"));
    let drawing = figure.panels[0].draw(&curves(&figure));
    assert_eq!(drawing.curves.len(), 1);
    assert_eq!(drawing.curves[0].points, [(10.0, 202.0), (20.0, 222.0), (40.0, 282.0)]);
    let half_widths = drawing.curves[0].half_widths.as_ref().expect("there are two seeds");
    assert!(half_widths.iter().all(|width| (width - 2.0 * 12.706).abs() < 0.01));
    assert_eq!(
        (drawing.x_min, drawing.x_max, drawing.y_min, drawing.y_max),
        (Some(0.0), Some(0.5), Some(100.0), Some(200.0))
    );
    assert!(drawing.to_svg().contains("latency (cycles)"));
}

#[test]
fn panels_show_bars_of_several_figures() {
    let panel = LATENCY.replace("x = [0, 0.5]\ny = [100, 200]\n", "at = 0.4\n").replace(
        "metric = \"latency_message_mean\"",
        "stack = [{ name = \"accepted\", metric = \"accepted_load\" }, { name = \"latency\", metric = \"latency_message_mean\" }]",
    );
    let figure = read(&format!("{CURVES}{panel}"));
    let drawing = figure.panels[0].draw(&curves(&figure));
    assert_eq!(drawing.categories, ["low", "high"]);
    let parts: Vec<_> = drawing.curves.iter().map(|curve| (curve.name.as_str(), curve.points.clone())).collect();
    assert_eq!(parts[0], ("accepted", vec![(0.0, 0.4), (1.0, 0.3)]));
    assert_eq!(parts[1], ("latency", vec![(0.0, 141.0), (1.0, 301.0)]));
    let mut some = Results::new(figure.experiment(Scale::Full));
    for (seed, latency) in [140.0, 142.0].into_iter().enumerate() {
        some.put(2, seed, Outcome { report: report(0.4, 0.4, latency), series: None });
    }
    let drawing = figure.panels[0].draw(&some);
    assert_eq!(drawing.categories, ["low", "high"], "what has not been run has its place");
    assert!(drawing.curves.iter().all(|curve| curve.points.len() == 1) && drawing.to_svg().contains(">high<"));
}

#[test]
fn panels_show_series_around_the_event() {
    let panel = LATENCY.replace("metric", "series").replace("x = [0, 0.5]", "x = [-100, 200]\nbin = 50");
    let figure = read(&format!("{SERIES}{panel}"));
    let drawing = figure.panels[0].draw(&step_and_wave(&figure));
    assert_eq!(drawing.curves.iter().map(|curve| curve.name.as_str()).collect::<Vec<_>>(), ["step", "wave"]);
    let expected =
        [(-100.0, 100.0), (-50.0, 100.0), (0.0, 120.0), (50.0, 170.0), (100.0, 200.0), (150.0, 200.0), (200.0, 200.0)];
    assert_eq!(drawing.curves[0].points, expected);
    let panel = panel.replace("x = [-100, 200]", "x = [-10, 20]\nx_factor = 0.1");
    let drawing = read(&format!("{SERIES}{panel}")).panels[0].draw(&step_and_wave(&figure));
    assert_eq!(drawing.curves[0].points, expected.map(|(x, y)| (0.1 * x, y)));
}

/// As runs of an earlier version may lack what is drawn by now.
#[test]
fn series_that_runs_have_nothing_for_are_named_below_a_panel() {
    let panel = LATENCY.replace("metric = \"latency_message_mean\"", "series = \"latency_network_mean\"");
    let figure = read(&format!("{SERIES}{}", panel.replace("x = [0, 0.5]", "x = [-100, 200]")));
    let drawing = figure.panels[0].draw(&step_and_wave(&figure));
    assert!(drawing.curves.is_empty());
    let lines: Vec<&str> = drawing.caption.lines().collect();
    assert!(lines[0].starts_with("not drawn: step: ") && lines[0].contains("latency_network_mean"), "{lines:?}");
    assert!(lines.len() == 2 && lines[1].starts_with("not drawn: wave: "), "{lines:?}");
    // What has not been run is no mistake of its runs.
    let nothing = figure.panels[0].draw(&Results::new(figure.experiment(Scale::Full)));
    assert_eq!((nothing.curves.len(), nothing.caption.as_str()), (0, ""));
}

#[test]
fn a_panel_shows_several_series_of_one_curve() {
    let lines = r#"[{ name = "slowest", series = "latency_message_max" }, { name = "load", series = "all.accepted_load", factor = 500 }]"#;
    let panel = LATENCY.replace("metric = \"latency_message_mean\"", &format!("series = {lines}\ncurves = [\"step\"]"));
    let panel = panel.replace("x = [0, 0.5]", "x = [-100, 0]\nbin = 50");
    let figure = read(&format!("{SERIES}{panel}"));
    let drawing = figure.panels[0].draw(&step_and_wave(&figure));
    let found: Vec<_> = drawing.curves.iter().map(|curve| (curve.name.as_str(), curve.points.clone())).collect();
    let expected = [("slowest", [200.0, 200.0, 280.0]), ("load", [100.0; 3])];
    assert_eq!(found, expected.map(|(name, values)| (name, [-100.0, -50.0, 0.0].into_iter().zip(values).collect())));
}

/// Results of which from cycle 90 after the event on less and less has arrived when the run ends, 1,900 cycles later, and from 160 on
/// nothing. What has arrived took 100 cycles.
fn ended_early(figure: &Figure) -> Results {
    let arrived = |time: f64| Some((1.0 - (time - 90.0).max(0.0) / 70.0).max(0.0));
    let mut results = step_and_wave(figure);
    let series = series_by_creation(|_| 100.0, |_| 0.0, arrived);
    results.put(0, 0, Outcome { report: report(0.2, 0.2, 100.0), series: Some(series) });
    results
}

/// Means of which what is missing has waited for longer are the least that they will be, and drawn as that; others are not drawn.
#[test]
fn what_has_not_all_arrived_is_drawn_as_what_it_is_at_least() {
    let panel = LATENCY.replace("metric", "series").replace("x = [0, 0.5]", "x = [0, 200]\nbin = 20");
    let figure = read(&format!("{SERIES}{panel}"));
    let drawing = figure.panels[0].draw(&ended_early(&figure));
    let xs = |curve: usize| drawing.curves[curve].points.iter().map(|point| point.0).collect::<Vec<_>>();
    assert_eq!(xs(0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0, 140.0], "from 160 on nothing has arrived");
    assert_eq!((drawing.curves[0].least_from, drawing.curves[1].least_from), (Some(100.0), None));
    assert_eq!(xs(1).len(), 11, "the other curve is complete");
    assert!(drawing.to_svg().contains("dotted: the least that it can be"));
    let mut csv = Vec::new();
    drawing.to_table().write_csv(&mut csv).expect("memory can be written");
    let csv = String::from_utf8(csv).expect("it is text");
    assert!(csv.contains("\nstep,80.0,100.0,,\nstep,100.0,100.0,,at_least\n"), "{csv}");
    // Of other things nothing is known.
    let figure = read(&format!("{SERIES}{}", panel.replace("latency_message_mean", "nonminimal_share")));
    let drawing = figure.panels[0].draw(&ended_early(&figure));
    assert_eq!((drawing.curves[0].points.len(), drawing.curves[0].least_from), (5, None));
}

/// What is missing has waited for longer than the mean already: that is the least that the mean will be, and decides what it can.
#[test]
fn what_has_not_all_arrived_is_judged_by_what_has() {
    let during = |until| {
        format!("{{ during = {{ curve = \"step\", series = \"latency_message_mean\", span = [0, {until}] }} }}")
    };
    let ratio = |other: &str| {
        let [early, late] = ["-100, 0", "0, 130"].map(|span| {
            format!("{{ during = {{ curve = \"step\", series = \"latency_message_mean\", span = [{span}] }} }}")
        });
        if other == "late" {
            format!("{{ ratio = [{early}, {late}] }}")
        } else {
            format!("{{ ratio = [{late}, {early}] }}")
        }
    };
    let cases = [
        (during(100), "{ below = 100 }", Bound::Exact, Verdict::Pass),
        (during(130), "{ below = 100 }", Bound::AtLeast, Verdict::Undecided),
        (during(130), "{ below = 99 }", Bound::AtLeast, Verdict::Fail),
        (during(200), "{ above = 100 }", Bound::AtLeast, Verdict::Pass),
        (during(200), "{ above = 101 }", Bound::AtLeast, Verdict::Undecided),
        (during(200), "{ between = [90, 110] }", Bound::AtLeast, Verdict::Undecided),
        (ratio("early"), "{ above = 1 }", Bound::AtLeast, Verdict::Pass),
        (ratio("late"), "{ above = 1.1 }", Bound::AtMost, Verdict::Fail),
    ];
    for (measure, expect, bound, verdict) in cases {
        let figure = read(&format!("{SERIES}{}", claim(&measure, expect)));
        let found = finding(&figure, &ended_early(&figure));
        assert_eq!((found.bound, found.verdict), (bound, verdict), "{measure} {expect}: {found:?}");
        let told =
            Table { title: "", source: "", scale: Scale::Full, findings: &[(&figure.claims[0], found)] }.to_text();
        let words = ["measured at least 1", "measured at most 1", "measured 1"];
        let place = [Bound::AtLeast, Bound::AtMost, Bound::Exact].iter().position(|known| *known == bound);
        assert!(told.contains(words[place.expect("it is one of these")]), "{told}");
    }
}

#[test]
fn what_could_be_anything_is_not_judged() {
    let series = |column: &str| format!("curve = \"step\", series = \"{column}\", span = [0, 130]");
    let late = format!("{{ during = {{ {} }} }}", series("latency_message_mean"));
    let cases = [
        format!("{{ peak = {{ {} }} }}", series("latency_message_mean")),
        // Latency in the network begins when a packet leaves, which what is missing may not have done.
        format!("{{ during = {{ {} }} }}", series("nonminimal_share")),
        format!("{{ ratio = [{late}, {late}] }}"),
        // What is not in the runs may be there once they go on.
        format!(
            "{{ sum = [{{ value = {{ curve = \"step\", metric = \"hops_mean\" }} }}, {{ peak = {{ {} }} }}] }}",
            series("latency_message_mean")
        ),
    ];
    for measure in cases {
        let figure = read(&format!("{SERIES}{}", claim(&measure, "{ below = 100 }")));
        let found = finding(&figure, &ended_early(&figure));
        assert_eq!((found.measured, found.verdict), (None, Verdict::Undecided), "{measure}");
        let note = found.note.expect("it says why");
        let of_some = "of the packets created 100 cycles after the event 85.7 % had arrived when the run ended";
        assert!(note == of_some || note.contains("could move it either way"), "{note}");
    }
}

#[test]
fn what_has_not_been_run_is_not_drawn() {
    let figure = read(&format!("{CURVES}{LATENCY}"));
    let drawing = figure.panels[0].draw(&Results::new(figure.experiment(Scale::Full)));
    assert!(drawing.curves.iter().all(|curve| curve.points.is_empty()));
    assert!(drawing.to_svg().starts_with("<svg"));
}

#[test]
fn scales_lay_their_own_over_the_figure() {
    let text = format!(
        "{CURVES}[quick]\nset.seed = 9\nseeds = 1\nevent = 5\nover.\"traffic.load\" = [0.3]\n[[quick.variant]]\nname = \"low\"\nset.routing = \"valiant\"\n"
    );
    let figure = read(&text);
    let (quick, full) = (figure.experiment(Scale::Quick), figure.experiment(Scale::Full));
    assert_eq!((quick.sweep.points().len(), full.sweep.points().len()), (2, 6));
    assert_eq!((quick.sweep.runs_per_point(), full.sweep.runs_per_point()), (1, 2));
    assert_eq!(quick.assignments, ["seed=9"]);
    assert_eq!(quick.sweep.points()[0].assignments, ["routing=\"valiant\""]);
    assert_eq!((quick.event, full.event), (5, 0));
    assert_eq!(figure.experiment(Scale::Quick), quick);
}

#[test]
fn claims_may_be_of_one_scale_or_differ_by_scale() {
    let measure = "{ largest = { curve = \"low\", metric = \"accepted_load\" } }";
    let differing = claim(measure, "{ above = 0.4 }")
        + "quick.expect = { about = 0.035, within_percent = 20 }\nquick.why = \"smaller\"\n";
    let only_full = claim(measure, "{ below = 0.1 }").replace("\"it\"", "\"other\"")
        + "scale = \"full\"\ntried = \"this and that\"\n";
    let figure = read(&format!("{CURVES}{differing}{only_full}"));
    let results = curves(&figure);
    let findings = figure.findings(Scale::Full, &results);
    assert_eq!(findings.iter().map(|(_, found)| found.verdict).collect::<Vec<_>>(), [Verdict::Pass, Verdict::Fail]);
    let quick: Vec<_> = figure.claims.iter().filter_map(|claim| claim.judgement(Scale::Quick)).collect();
    assert_eq!(quick.len(), 1);
    assert_eq!(
        (quick[0].expect.to_string().as_str(), quick[0].why.as_str()),
        ("0.035 ± 0.007", "smaller"),
        "not 0.007000000000000001"
    );

    let table = Table { title: "Two curves", source: "Fig. 1", scale: Scale::Full, findings: &findings };
    let text = "\
Two curves (Fig. 1, full)
  pass      It is so.
            measured 0.4000 ± 0.0, expected at least 0.4; paper: yes
  fail      It is so.
            measured 0.4000 ± 0.0, expected at most 0.1; paper: yes
            tried: this and that
";
    assert_eq!(table.to_text(), text);
    let markdown = table.to_markdown();
    assert!(markdown.contains("| fail | It is so. | yes | measured 0.4000 ± 0.0 | at most 0.1 |"), "{markdown}");
    assert!(markdown.contains("* other: so; tried: this and that"), "{markdown}");

    let rows = figure.rows("paper", "fig1", Scale::Full, &results);
    let json = serde_json::to_value(&rows).expect("plain data");
    let expected = serde_json::json!({
        "paper": "paper", "figure": "fig1", "name": "it", "claim": "It is so.", "paper_value": "yes", "measured": 0.4,
        "interval": [0.4, 0.4], "tolerance": "at least 0.4", "verdict": "pass", "outdated": false,
    });
    assert_eq!(json[0], expected);
}

#[test]
fn changed_verdicts_are_noticed() {
    let measure = "{ largest = { curve = \"low\", metric = \"accepted_load\" } }";
    let passes = read(&format!("{CURVES}{}", claim(measure, "{ above = 0.4 }")));
    let fails = read(&format!("{CURVES}{}", claim(measure, "{ above = 0.5 }")));
    let renamed = read(&format!("{CURVES}{}", claim(measure, "{ above = 0.4 }").replace("\"it\"", "\"that\"")));
    let mut record = Record::default();
    let runs = RecordedRuns { program: "0".to_owned(), seeds: 2, count: 12, scenarios: "0".repeat(64) };
    let findings = passes.findings(Scale::Full, &curves(&passes));
    record.put("fig1", Scale::Full, RecordedFigure::new(&findings, runs.clone(), 1.0, 2.0));
    let written = serde_json::to_string(&record).expect("plain data");
    let record: Record = serde_json::from_str(&written).expect("it was written like that");
    assert!(record.figure("fig1", Scale::Quick).is_none());
    let recorded = record.figure("fig1", Scale::Full).expect("it was put there");
    assert_eq!(recorded.runs, runs);
    assert!(recorded.changes(&passes.findings(Scale::Full, &curves(&passes))).is_empty());
    assert_eq!(recorded.changes(&fails.findings(Scale::Full, &curves(&fails))), ["it was pass and is fail"]);
    let said = recorded.changes(&renamed.findings(Scale::Full, &curves(&renamed)));
    assert_eq!(said, ["that is pass, and was not recorded", "it is recorded, and no longer claimed"]);
    let found = |figure: &Figure| recorded.finding(&figure.claims[0], Scale::Full);
    assert_eq!(found(&renamed).verdict, Verdict::NotRun);
    let known = found(&passes);
    assert_eq!((known.measured, known.half_width, known.verdict), (Some(0.4), Some(0.0), Verdict::Pass));
    // A bound that has changed since is the one that counts.
    assert_eq!(found(&fails).verdict, Verdict::Fail);
}

/// What would decide is the interval: 101 ± 12.7.
#[test]
fn a_bound_inside_the_interval_decides_nothing() {
    let measure = "{ value = { curve = \"low\", metric = \"latency_message_mean\", at = 0.1 } }";
    for (expect, verdict) in [
        ("{ below = 114 }", Verdict::Pass),
        ("{ below = 113 }", Verdict::Undecided),
        ("{ below = 100 }", Verdict::Undecided),
        ("{ below = 88 }", Verdict::Fail),
        ("{ above = 90 }", Verdict::Undecided),
        ("{ between = [88, 114] }", Verdict::Pass),
        ("{ about = 101, within = 5 }", Verdict::Undecided),
        ("{ between = [20, 30] }", Verdict::Fail),
    ] {
        let figure = read(&format!("{CURVES}{}", claim(measure, expect)));
        assert_eq!(finding(&figure, &curves(&figure)).verdict, verdict, "{expect}");
    }
}

#[test]
fn the_authors_program_refutes_what_it_contradicts_in_the_same_direction() {
    let measure = "{ largest = { curve = \"low\", metric = \"accepted_load\" } }";
    let refuting =
        |gives: f64| format!("authors_program = {{ gives = {gives}, at = \"h = 4\", evidence = \"runs.csv\" }}\n");
    let judged = |expect: &str, gives: f64| {
        let figure = read(&format!("{CURVES}{}{}", claim(measure, expect), refuting(gives)));
        let results = curves(&figure);
        let findings = figure.findings(Scale::Full, &results);
        let (title, source, scale) = ("Two curves", "Fig. 1", Scale::Full);
        (findings[0].1.verdict, Table { title, source, scale, findings: &findings }.to_text())
    };
    let (verdict, text) = judged("{ between = [0.1, 0.2] }", 0.3);
    assert_eq!(verdict, Verdict::Refuted);
    assert!(text.contains("the authors' program gives 0.3000 (h = 4), ours 0.4000; see runs.csv"), "{text}");
    assert_eq!(judged("{ between = [0.1, 0.2] }", 0.05).0, Verdict::Fail);
    assert_eq!(judged("{ above = 0.4 }", 0.3).0, Verdict::Pass);

    // Scaled down, it stays a failure.
    let figure = read(&format!("{CURVES}{}{}", claim(measure, "{ below = 0.1 }"), refuting(0.3)));
    let quick = figure.findings(Scale::Quick, &curves(&figure));
    assert_eq!(quick[0].1.verdict, Verdict::Fail);
}

#[test]
fn verdicts_are_counted() {
    let verdicts = [Verdict::Pass, Verdict::Fail, Verdict::Pass, Verdict::NotRun, Verdict::Refuted, Verdict::Undecided];
    assert_eq!(count(verdicts), Count { pass: 2, fail: 1, refuted: 1, undecided: 1, not_run: 1 });
}
