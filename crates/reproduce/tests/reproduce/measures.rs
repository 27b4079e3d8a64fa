//! Every measure on results whose numbers can be worked out in the head.

use tailback_reproduce::{Figure, MEASURES, Outcome, RecordedFigure, RecordedRuns, Results, Scale, Verdict};

use crate::by_hand::{CURVES, SERIES, claim, curves, finding, read, report, step_and_wave};

/// Measures of curves, and what they are for the results made by hand, as a mean of both seeds.
const OF_CURVES: &[(&str, f64)] = &[
    (r#"{ value = { curve = "low", metric = "latency_message_mean", at = 0.2 } }"#, 111.0),
    (r#"{ value = { curve = "low", metric = "all.latency_message_mean", at = 0.20, axis = "traffic.load" } }"#, 111.0),
    (r#"{ value = { curve = "low", metric = "links.global.mean", at = 0.1 } }"#, 0.25),
    (r#"{ value = { curve = "low", metric = "links.global.max", at = 0.1 } }"#, 0.5),
    (r#"{ value = { curve = "low", metric = "counters.dropped", at = 0.1 } }"#, 7.0),
    (r#"{ value = { curve = "low", metric = "ejection.nacks", at = 0.1 } }"#, 0.125),
    (r#"{ largest = { curve = "high", metric = "accepted_load" } }"#, 0.3),
    (r#"{ largest = { curve = "low", metric = "latency_message_mean", until = 0.2 } }"#, 111.0),
    (r#"{ smallest = { curve = "low", metric = "latency_message_mean" } }"#, 101.0),
    (r#"{ smallest = { curve = "low", metric = "latency_message_mean", from = 0.2 } }"#, 111.0),
    (r#"{ average = { curve = "high", metric = "latency_message_mean", from = 0.1, until = 0.2 } }"#, 136.0),
    // At 0.4: 300 instead of 140, and 302 instead of 142.
    (
        r#"{ apart = { curve = "high", other = "low", metric = "latency_message_mean" } }"#,
        50.0 * (160.0 / 140.0 + 160.0 / 142.0),
    ),
    (r#"{ distance = { curve = "low", other = "high", metric = "latency_message_mean" } }"#, 160.0),
    (r#"{ distance = { curve = "low", other = "high", metric = "latency_message_mean", until = 0.2 } }"#, 40.0),
    // At 0.1: 120 above 100, and 122 above 102.
    (
        r#"{ order = { curves = ["low", "high"], metric = "latency_message_mean" } }"#,
        (120.0 / 100.0 + 122.0 / 102.0) / 2.0,
    ),
    // At 0.4: 300 above 140, and 302 above 142.
    (
        r#"{ widest = { curves = ["low", "high"], metric = "latency_message_mean" } }"#,
        (300.0 / 140.0 + 302.0 / 142.0) / 2.0,
    ),
    (r#"{ order = { curves = [["low"], ["low", "low"]], metric = "latency_message_mean" } }"#, 1.0),
    (
        r#"{ ratio = [{ largest = { curve = "high", metric = "accepted_load" } }, { largest = { curve = "low", metric = "accepted_load" } }] }"#,
        0.75,
    ),
    (
        r#"{ difference = [{ value = { curve = "high", metric = "hops_mean", at = 0.1 } }, { value = { curve = "low", metric = "hops_mean", at = 0.1 } }] }"#,
        f64::NAN,
    ),
    (
        r#"{ difference = [{ value = { curve = "high", metric = "latency_message_mean", at = 0.1 } }, { value = { curve = "low", metric = "latency_message_mean", at = 0.1 } }] }"#,
        20.0,
    ),
    (
        r#"{ sum = [{ largest = { curve = "high", metric = "accepted_load" } }, { value = { curve = "low", metric = "ejection.nacks", at = 0.1 } }] }"#,
        0.425,
    ),
    (
        r#"{ largest_of = [{ largest = { curve = "high", metric = "accepted_load" } }, { largest = { curve = "low", metric = "accepted_load" } }] }"#,
        0.4,
    ),
    (
        r#"{ smallest_of = [{ largest = { curve = "high", metric = "accepted_load" } }, { largest = { curve = "low", metric = "accepted_load" } }] }"#,
        0.3,
    ),
];

/// Measures of time series.
const OF_SERIES: &[(&str, f64)] = &[
    (r#"{ during = { curve = "step", series = "latency_message_mean", span = [-100, 0] } }"#, 100.0),
    (r#"{ during = { curve = "step", series = "latency_message_mean", span = [0, 100] } }"#, 145.0),
    (r#"{ during = { curve = "wave", series = "accepted_load" } }"#, 0.2),
    // The largest of a span, not the mean of what is largest in its intervals.
    (r#"{ during = { curve = "step", series = "latency_message_max", span = [0, 100] } }"#, 380.0),
    (r#"{ trough = { curve = "step", series = "latency_message_max", bin = 50, span = [0, 100] } }"#, 280.0),
    (r#"{ peak = { curve = "step", series = "latency_message_mean", span = [-50, 60] } }"#, 150.0),
    (r#"{ peak = { curve = "step", series = "latency_message_mean", bin = 20, span = [-60, 60] } }"#, 145.0),
    (r#"{ peak_time = { curve = "step", series = "latency_message_mean", bin = 20, span = [-60, 60] } }"#, 40.0),
    (r#"{ peak_time = { curve = "step", series = "latency_message_mean", span = [0, 2000] } }"#, 100.0),
    (r#"{ trough = { curve = "step", series = "latency_message_mean", span = [30, 60] } }"#, 130.0),
    (r#"{ trough_time = { curve = "step", series = "latency_message_mean", span = [30, 60] } }"#, 30.0),
    // Within 10 % of 200 from 180 on, which is after 80 cycles.
    (
        r#"{ settling = { curve = "step", series = "latency_message_mean", within = 10, final = [500, 1000], span = [0, 2000] } }"#,
        80.0,
    ),
    (
        r#"{ reaching = { curve = "step", series = "latency_message_mean", percent = 30, before = [-500, 0], final = [500, 1000], span = [0, 2000] } }"#,
        30.0,
    ),
    (
        r#"{ reaching = { curve = "step", series = "nonminimal_share", percent = 90, before = [-500, 0], final = [500, 1000], span = [0, 2000] } }"#,
        0.0,
    ),
    (r#"{ amplitude = { curve = "wave", series = "latency_message_mean", bin = 10, span = [-1000, 1000] } }"#, 20.0),
    (r#"{ period = { curve = "wave", series = "all.latency_message_mean", bin = 20, span = [-1000, 2000] } }"#, 500.0),
];

fn check(text: &str, results: impl Fn(&Figure) -> Results, cases: &[(&str, f64)]) {
    for (measure, expected) in cases {
        let figure = read(&format!("{text}{}", claim(measure, "{ above = 0 }")));
        let found = finding(&figure, &results(&figure));
        let Some(measured) = found.measured else {
            assert!(expected.is_nan() && found.verdict == Verdict::Fail, "{measure} gives no number: {:?}", found.note);
            continue;
        };
        // A straight line through a wave takes a little of it away.
        let close = (measured - expected).abs() <= 0.03 * expected.abs().max(1e-9);
        let exact = (measured - expected).abs() <= 1e-9 * expected.abs().max(1.0);
        let is_of_a_wave = measure.contains("amplitude") || measure.contains("period");
        assert!(if is_of_a_wave { close } else { exact }, "{measure} gives {measured}, not {expected}");
    }
}

#[test]
fn of_curves() {
    check(CURVES, curves, OF_CURVES);
}

#[test]
fn of_time_series() {
    check(SERIES, step_and_wave, OF_SERIES);
}

#[test]
fn each_word_is_tested() {
    let all = OF_CURVES.iter().chain(OF_SERIES);
    let tested: Vec<&str> = all.map(|(measure, _)| measure.split_whitespace().nth(1).expect("it has a word")).collect();
    for word in MEASURES {
        assert!(tested.contains(&word), "no test has the measure `{word}`");
    }
}

#[test]
fn intervals_are_over_seeds_or_those_of_the_only_one() {
    let measure = r#"{ value = { curve = "low", metric = "latency_message_mean", at = 0.1 } }"#;
    let figure = read(&format!("{CURVES}{}", claim(measure, "{ about = 101, within = 1 }")));
    let found = finding(&figure, &curves(&figure));
    // Two values that are 2 apart: the standard error is 1, and Student's t with one degree of freedom 12.7.
    assert!((found.half_width.expect("there are two seeds") - 12.706).abs() < 0.01, "{found:?}");
    assert_eq!(found.verdict, Verdict::Undecided, "the interval reaches beyond both bounds");
    let single = read(&format!("{}{}", CURVES.replace("seeds = 2", "seeds = 1"), claim(measure, "{ below = 99 }")));
    let mut results = Results::new(single.experiment(Scale::Full));
    assert_eq!(finding(&single, &results).verdict, Verdict::NotRun);
    for (point, _) in single.experiment(Scale::Full).sweep.points().iter().enumerate() {
        results.put(point, 0, Outcome { report: report(0.1, 0.1, 100.0), series: None });
    }
    let found = finding(&single, &results);
    assert_eq!((found.measured, found.half_width, found.verdict), (Some(100.0), Some(0.5), Verdict::Fail));
}

#[test]
fn a_claim_whose_runs_are_not_all_there_is_open() {
    let measure = r#"{ largest = { curve = "high", metric = "accepted_load" } }"#;
    let figure = read(&format!("{CURVES}{}", claim(measure, "{ above = 0 }")));
    let whole = curves(&figure);
    let mut part = Results::new(figure.experiment(Scale::Full));
    for seed in 0..2 {
        let outcome = whole.at("low", None, Some(0.1), seed).expect("it is there").clone();
        part.put(0, seed, outcome);
    }
    let found = finding(&figure, &part);
    assert_eq!((found.verdict, found.measured), (Verdict::NotRun, None));
    assert!(found.note.expect("it says why").contains("high traffic.load = 0.1 has not been run"));
}

/// What the runs that are there lack decides nothing before the others are there.
#[test]
fn a_missing_run_goes_before_what_is_not_in_others() {
    let hops = |curve: &str| format!("{{ value = {{ curve = \"{curve}\", metric = \"hops_mean\", at = 0.1 }} }}");
    let measures = [
        format!("{{ difference = [{}, {}] }}", hops("low"), hops("high")),
        r#"{ apart = { curve = "low", other = "high", metric = "hops_mean" } }"#.to_owned(),
        r#"{ apart = { curve = "high", other = "low", metric = "hops_mean" } }"#.to_owned(),
        r#"{ order = { curves = ["low", "high"], metric = "hops_mean" } }"#.to_owned(),
        hops("low"),
    ];
    for measure in measures {
        let figure = read(&format!("{CURVES}{}", claim(&measure, "{ above = 0 }")));
        // Of the first curve, and of its first seed only.
        let mut part = Results::new(figure.experiment(Scale::Full));
        for point in 0..3 {
            part.put(point, 0, Outcome { report: report(0.1, 0.1, 100.0), series: None });
        }
        let found = finding(&figure, &part);
        assert_eq!(found.verdict, Verdict::NotRun, "{measure}: {found:?}");
        assert_eq!(finding(&figure, &curves(&figure)).verdict, Verdict::Fail, "{measure}");
    }
}

#[test]
fn nothing_is_divided_by_zero() {
    for measure in [
        r#"{ apart = { curve = "high", other = "low", metric = "accepted_load" } }"#,
        r#"{ order = { curves = ["low", "high"], metric = "accepted_load" } }"#,
    ] {
        let figure = read(&format!("{CURVES}{}", claim(measure, "{ above = 0 }")));
        for high in [0.0, 0.3] {
            let mut results = Results::new(figure.experiment(Scale::Full));
            for (point, accepted) in [0.0, 0.0, 0.0, high, high, high].into_iter().enumerate() {
                for seed in 0..2 {
                    results.put(point, seed, Outcome { report: report(0.1, accepted, 100.0), series: None });
                }
            }
            let found = finding(&figure, &results);
            assert_eq!((found.measured, found.verdict), (None, Verdict::Fail), "{measure}: {found:?}");
            assert!(found.note.as_deref().is_some_and(|note| note.contains("divided by zero")), "{found:?}");
        }
    }
}

/// The latency of `step` has settled after 80 cycles, by intervals of ten cycles and by bins of twenty: not after exactly 80.
#[test]
fn a_time_is_no_surer_than_an_interval_is_long() {
    for (bin, expect, half_width, verdict) in [
        ("", "{ below = 90 }", 10.0, Verdict::Pass),
        ("", "{ below = 89 }", 10.0, Verdict::Undecided),
        ("bin = 20, ", "{ below = 100 }", 20.0, Verdict::Pass),
        ("bin = 20, ", "{ below = 90 }", 20.0, Verdict::Undecided),
        ("bin = 20, ", "{ above = 101 }", 20.0, Verdict::Fail),
        ("bin = 1, ", "{ below = 89 }", 10.0, Verdict::Undecided),
    ] {
        let series = format!("curve = \"step\", series = \"latency_message_mean\", {bin}span = [0, 2000]");
        let measure = format!("{{ settling = {{ {series}, within = 10, final = [500, 1000] }} }}");
        let figure = read(&format!("{SERIES}{}", claim(&measure, expect)));
        let found = finding(&figure, &step_and_wave(&figure));
        let expected = (Some(80.0), Some(half_width), verdict);
        assert_eq!((found.measured, found.half_width, found.verdict), expected, "{bin}{expect}");
        let findings = [(&figure.claims[0], found)];
        let mut recorded = RecordedFigure::new(&findings, RecordedRuns::default(), 0.0, 0.0);
        let known = recorded.finding(&figure.claims[0], Scale::Full);
        assert_eq!((known.measured, known.half_width, known.verdict), expected, "{bin}{expect}");
        // Earlier records may have an interval of nothing, as of seeds that all agree.
        recorded.claims.get_mut("it").expect("it is recorded").half_width = Some(0.0);
        let known = recorded.finding(&figure.claims[0], Scale::Full);
        if bin == "bin = 20, " {
            assert_eq!((known.half_width, known.verdict), (Some(half_width), verdict), "{expect}");
        }
    }
}

#[test]
fn what_is_not_in_the_runs_fails_and_says_why() {
    for (measure, why) in [
        (r#"{ value = { curve = "low", metric = "nobody.hops_mean", at = 0.1 } }"#, "no such figure"),
        (r#"{ value = { curve = "low", metric = "counters.none", at = 0.1 } }"#, "no such figure"),
        (r#"{ value = { curve = "low", metric = "ejection.grants", at = 0.1 } }"#, "no such figure"),
        (r#"{ during = { curve = "low", at = 0.1, series = "accepted_load" } }"#, "no time series"),
    ] {
        let figure = read(&format!("{CURVES}{}", claim(measure, "{ above = 0 }")));
        let found = finding(&figure, &curves(&figure));
        assert_eq!(found.verdict, Verdict::Fail);
        assert!(found.note.as_deref().is_some_and(|note| note.contains(why)), "{measure}: {found:?}");
    }
    for (measure, why) in [
        (r#"{ during = { curve = "step", series = "nobody.accepted_load" } }"#, "there is no flow `nobody`"),
        (
            r#"{ during = { curve = "step", series = "nonminimal_share", span = [9000, 9001] } }"#,
            "nothing was delivered",
        ),
        (
            r#"{ peak = { curve = "step", series = "latency_message_mean", span = [9000, 9001] } }"#,
            "nothing was delivered",
        ),
        (r#"{ period = { curve = "step", series = "nonminimal_share", span = [200, 900] } }"#, "nothing comes back"),
    ] {
        let figure = read(&format!("{SERIES}{}", claim(measure, "{ above = 0 }")));
        let found = finding(&figure, &step_and_wave(&figure));
        assert!(found.note.as_deref().is_some_and(|note| note.contains(why)), "{measure}: {found:?}");
    }
}
