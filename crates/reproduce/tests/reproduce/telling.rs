//! What is drawn, told and recorded.

use tailback_reproduce::{Count, Record, RecordedFigure, Scale, Table, Verdict, count};

use crate::by_hand::{CURVES, SERIES, claim, curves, read, step_and_wave};

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

#[test]
fn what_has_not_been_run_is_not_drawn() {
    let figure = read(&format!("{CURVES}{LATENCY}"));
    let drawing = figure.panels[0].draw(&tailback_reproduce::Results::new(figure.experiment(Scale::Full)));
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
        + "quick.expect = { about = 2, within_percent = 10 }\nquick.why = \"smaller\"\n";
    let only_full = claim(measure, "{ below = 0.1 }").replace("\"it\"", "\"other\"")
        + "scale = \"full\"\ntried = \"this and that\"\n";
    let figure = read(&format!("{CURVES}{differing}{only_full}"));
    let results = curves(&figure);
    let findings = figure.findings(Scale::Full, &results);
    assert_eq!(findings.iter().map(|(_, found)| found.verdict).collect::<Vec<_>>(), [Verdict::Pass, Verdict::Fail]);
    let quick: Vec<_> = figure.claims.iter().filter_map(|claim| claim.judgement(Scale::Quick)).collect();
    assert_eq!(quick.len(), 1);
    assert_eq!((quick[0].expect.to_string().as_str(), quick[0].why.as_str()), ("2 ± 0.2", "smaller"));

    let table = Table { title: "Two curves", source: "Fig. 1", scale: Scale::Full, findings: &findings };
    let text = "\
Two curves (Fig. 1, full)
  pass    It is so.
          measured 0.4000 ± 0.0, expected at least 0.4; paper: yes
  fail    It is so.
          measured 0.4000 ± 0.0, expected at most 0.1; paper: yes
          tried: this and that
";
    assert_eq!(table.to_text(), text);
    let markdown = table.to_markdown();
    assert!(markdown.contains("| fail | It is so. | yes | measured 0.4000 ± 0.0 | at most 0.1 |"), "{markdown}");
    assert!(markdown.contains("* other: so Tried: this and that"), "{markdown}");

    let rows = figure.rows("paper", "fig1", Scale::Full, &results);
    let json = serde_json::to_value(&rows).expect("plain data");
    let expected = serde_json::json!({
        "paper": "paper", "figure": "fig1", "claim": "It is so.", "paper_value": "yes", "measured": 0.4,
        "interval": [0.4, 0.4], "tolerance": "at least 0.4", "verdict": "pass",
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
    record.put("fig1", Scale::Full, RecordedFigure::new(&passes.findings(Scale::Full, &curves(&passes)), 1.0, 2.0));
    let written = serde_json::to_string(&record).expect("plain data");
    let record: Record = serde_json::from_str(&written).expect("it was written like that");
    assert!(record.figure("fig1", Scale::Quick).is_none());
    let recorded = record.figure("fig1", Scale::Full).expect("it was put there");
    assert!(recorded.changes(&passes.findings(Scale::Full, &curves(&passes))).is_empty());
    assert_eq!(recorded.changes(&fails.findings(Scale::Full, &curves(&fails))), ["it was pass and is fail"]);
    let said = recorded.changes(&renamed.findings(Scale::Full, &curves(&renamed)));
    assert_eq!(said, ["that is pass, and was not recorded", "it is recorded, and no longer claimed"]);
    assert_eq!(recorded.finding(&renamed.claims[0]).verdict, Verdict::NotRun);
    assert_eq!(recorded.finding(&passes.claims[0]).measured, Some(0.4));
}

#[test]
fn verdicts_are_counted() {
    let verdicts = [Verdict::Pass, Verdict::Fail, Verdict::Pass, Verdict::NotRun];
    assert_eq!(count(verdicts), Count { pass: 2, fail: 1, not_run: 1 });
}
