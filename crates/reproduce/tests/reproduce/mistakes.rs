//! What is said about bad figure files.

use tailback_reproduce::Figure;

use crate::by_hand::{CURVES, SERIES, claim};

fn mistakes(text: &str) -> String {
    match Figure::read("figure.toml", text) {
        Ok(figure) => panic!("it was accepted as\n{figure:?}"),
        Err(diagnostics) => diagnostics.to_string(),
    }
}

#[test]
fn all_mistakes_are_found_at_once_each_in_its_place() {
    let text = r#"titel = "x"
source = "Fig. 1"
scenario = 3
[sweep]
over.load = [0.1]
[quick]
sedes = 3
[[panel]]
name = "a"
metric = "latency_mesage_mean"
x_label = "x"
x = [3, 1]
[[claim]]
name = "b"
says = "it"
paper = "yes"
measure = { largest = { metric = "accepted_load" } }
"#;
    let expected = r#"figure.toml:1:1: `title` is missing
  help: add `title = …`: what the figure shows
figure.toml:1:1: unknown key `titel`
  help: did you mean `title`?
figure.toml:3:12: `scenario` is a text, not the number 3
figure.toml:7:1: unknown key `sedes` in [quick]
  help: did you mean `seeds`?
figure.toml:8:1: `panel.y_label` is missing
  help: add `y_label = …`: what the axis upwards says
figure.toml:10:10: there is no figure called "latency_mesage_mean"
  help: did you mean "latency_message_mean"?
figure.toml:12:5: `panel.x` is two numbers, the second above the first, not a list
figure.toml:13:1: `claim.b.expect` is missing
  help: say it for all scales, or for each
figure.toml:13:1: `claim.b.why` is missing
  help: say it for all scales, or for each"#;
    assert_eq!(mistakes(text), expected);
}

#[test]
fn each_kind_of_measure_has_its_words() {
    let value = |inner: &str| format!("{{ value = {{ {inner} }} }}");
    let cases = [
        ("3".to_owned(), "`measure` is a table such as"),
        ("{}".to_owned(), "a measure has one word"),
        ("{ larges = {} }".to_owned(), "did you mean \"largest\"?"),
        (value("curve = \"low\", metric = \"hops_mean\""), "\"low\" has 3 points; say `at` which"),
        (value("curve = \"low\", metric = \"hops_mean\", at = 0.3"), "\"low\" has no point at 0.3"),
        (
            value("curve = \"lower\", metric = \"hops_mean\", at = 0.1"),
            "there is no curve \"lower\"; there is low, high",
        ),
        (value("curve = \"low\", metric = \"links.global\", at = 0.1"), "write `links.<class>.mean`"),
        (value("curve = \"low\", metric = \"ejection.nack\", at = 0.1"), "did you mean \"nacks\"?"),
        (
            value("curve = \"low\", metric = \"ejection.nothing\", at = 0.1"),
            "there is no figure called \"ejection.nothing\"",
        ),
        (value("curve = \"low\", at = 0.1"), "`value.metric` is missing"),
        (value("curve = \"low\", metric = \"hops_mean\", at = 0.1, axis = \"seed\""), "nothing is varied over `seed`"),
        (value("curve = \"low\", metric = \"hops_mean\", att = 0.1"), "unknown key `att` in [value]"),
        ("{ average = { curve = \"low\", metric = \"acepted_load\" } }".to_owned(), "did you mean \"accepted_load\"?"),
        ("{ sum = 3 }".to_owned(), "`sum` is a list of measures"),
        ("{ ratio = [] }".to_owned(), "`ratio` is a list of measures"),
        (
            format!("{{ ratio = [{}] }}", value("curve = \"low\", metric = \"hops_mean\", at = 0.1")),
            "of two measures, not of 1",
        ),
        ("{ order = { curves = [\"low\"], metric = \"hops_mean\" } }".to_owned(), "from the lowest to the highest"),
        ("{ widest = { curves = \"low\", metric = \"hops_mean\" } }".to_owned(), "`widest.curves` is a list of curves"),
        ("{ largest = { curve = \"low\", metric = \"hops_mean\", from = 0.5 } }".to_owned(), "no point in that range"),
        ("{ apart = { curve = \"low\", metric = \"hops_mean\" } }".to_owned(), "`apart.other` is missing"),
        (
            "{ during = { curve = \"low\", at = 0.1, series = \"hops_mean\" } }".to_owned(),
            "there is no figure called \"hops_mean\"",
        ),
        (
            "{ settling = { curve = \"low\", at = 0.1, series = \"accepted_load\", within = 3 } }".to_owned(),
            "`settling.final` is missing",
        ),
    ];
    for (measure, reason) in cases {
        let said = mistakes(&format!("{CURVES}{}", claim(&measure, "{ above = 0 }")));
        assert!(said.contains(reason), "{measure} gave\n{said}");
    }
}

#[test]
fn each_other_mistake_has_its_words() {
    let good = claim("{ largest = { curve = \"low\", metric = \"hops_mean\" } }", "{ above = 0 }");
    let cases = [
        (good.replace("above = 0", "over = 0"), "an expectation is one of four"),
        (good.replace("above = 0", "about = 3"), "`expect.within` is missing"),
        (good.replace("above = 0", "between = [2, 1]"), "two numbers, the second above the first"),
        (good.replace("above = 0", "above = 0, below = 3"), "an expectation is one of four"),
        (good.clone() + &good, "two claims are called \"it\""),
        (good.clone() + "scale = \"huge\"", "unknown scale \"huge\""),
        (good.clone() + "authors_program = { gives = 1, at = \"h = 4\", evidence = \"a.csv\" }", "it refutes nothing"),
        (good.clone() + "authors_program = { gives = -1 }", "`authors_program.evidence` is missing"),
        (good.clone() + "quick.expect = 3", "`expect` is a table, not the number 3"),
        ("[[quick.variant]]\nname = \"lowest\"".to_owned(), "unknown variant \"lowest\""),
        ("[quick]\nevent = -1".to_owned(), "`quick.event` is a whole number"),
        ("[[panel]]\nname = \"a/b\"\nx_label = \"x\"\ny_label = \"y\"\nmetric = \"hops_mean\"".to_owned(), "cannot name a file"),
        ("[[panel]]\nname = \"a\"\nx_label = \"x\"\ny_label = \"y\"".to_owned(), "either a metric, a stack of them, or a series"),
        ("[panel]\nname = \"a\"".to_owned(), "`panel` is a list of tables, `[[panel]]`, not a table"),
        (
            "[[panel]]\nname = \"a\"\nx_label = \"x\"\ny_label = \"y\"\nmetric = \"hops_mean\"\nlog_y = true\ny = [0, 3]".to_owned(),
            "a logarithmic axis cannot begin at 0",
        ),
        (
            "[[panel]]\nname = \"a\"\nx_label = \"x\"\ny_label = \"y\"\nmetric = \"hops_mean\"\ncurves = [\"lowest\"]".to_owned(),
            "there is no curve \"lowest\"",
        ),
        (
            "[[panel]]\nname = \"a\"\nx_label = \"x\"\ny_label = \"y\"\nmetric = \"hops_mean\"\ncurves = [\"low\", \"low\"]".to_owned(),
            "\"low\" is drawn twice",
        ),
    ];
    for (addition, reason) in cases {
        let said = mistakes(&format!("{CURVES}{addition}"));
        assert!(said.contains(reason), "{addition} gave\n{said}");
    }
}

#[test]
fn a_series_needs_one_point_per_curve() {
    let panel = "[[panel]]\nname = \"a\"\nx_label = \"x\"\ny_label = \"y\"\nseries = \"accepted_load\"\n";
    assert!(mistakes(&format!("{CURVES}{panel}")).contains("\"low\" has 3 points"), "there is nothing to draw");
    assert!(Figure::read("figure.toml", &format!("{SERIES}{panel}")).is_ok());
}

#[test]
fn several_series_are_of_one_curve_and_have_names() {
    let panel = "[[panel]]\nname = \"a\"\nx_label = \"x\"\ny_label = \"y\"\n";
    let line = "{ name = \"load\", series = \"accepted_load\" }";
    let of_one = |series: String| format!("{panel}curves = [\"step\"]\nseries = {series}\n");
    let other = "{ name = \"other\", series = \"accepted_load\" }";
    assert!(Figure::read("figure.toml", &format!("{SERIES}{}", of_one(format!("[{line}, {other}]")))).is_ok());
    let cases = [
        (format!("{panel}series = [{line}, {other}]"), "several series of 2 curves"),
        (of_one(format!("[{line}, {line}]")), "\"load\" is drawn twice"),
        (of_one(format!("[{line}]")), "`panel.series` is a column of time series, or a list of 2 to 12 tables"),
        (of_one(format!("[{}]", [line; 13].join(", "))), "or a list of 2 to 12 tables"),
        (of_one(format!("[{line}, {{ series = \"accepted_load\" }}]")), "`panel.series.name` is missing"),
        (of_one(format!("[{line}, {{ name = \"a\", series = \"loads\" }}]")), "there is no figure called \"loads\""),
    ];
    for (addition, reason) in cases {
        let said = mistakes(&format!("{SERIES}{addition}"));
        assert!(said.contains(reason), "{addition} gave\n{said}");
    }
}

#[test]
fn bars_need_one_point_per_curve_and_an_axis_of_their_own() {
    let panel = "[[panel]]\nname = \"a\"\nx_label = \"\"\ny_label = \"y\"\n";
    let stack = format!("{panel}stack = [{{ name = \"hops\", metric = \"hops_mean\" }}]\n");
    assert!(Figure::read("figure.toml", &format!("{CURVES}{stack}at = 0.2")).is_ok());
    let part = "{ name = \"hops\", metric = \"hops_mean\" }";
    let cases = [
        (stack.clone(), "\"low\" has 3 points; say `at` which"),
        (format!("{stack}at = 0.3"), "\"low\" has no point at 0.3"),
        (format!("{stack}at = 0.2\nx = [0, 1]"), "bars have names along the axis to the right, not numbers"),
        (format!("{stack}at = 0.2\ny = [0.5, 1]"), "bars begin at zero"),
        (format!("{stack}at = 0.2\nlog_y = true"), "bars begin at zero"),
        (format!("{stack}at = 0.2\nmetric = \"hops_mean\""), "either a metric, a stack of them, or a series"),
        (format!("{panel}at = 0.2\nstack = []"), "`panel.stack` is a list of one to 6 tables"),
        (format!("{panel}at = 0.2\nstack = [{}]", [part; 7].join(", ")), "`panel.stack` is a list of one to 6 tables"),
        (format!("{panel}at = 0.2\nstack = [{{ name = \"hops\" }}]"), "`panel.stack.metric` is missing"),
        (format!("{panel}metric = \"hops_mean\"\nat = 0.2"), "`at` says at which point bars are"),
    ];
    for (addition, reason) in cases {
        let said = mistakes(&format!("{CURVES}{addition}"));
        assert!(said.contains(reason), "{addition} gave\n{said}");
    }
}

#[test]
fn any_text_is_either_read_or_refused() {
    let good =
        format!("{CURVES}{}", claim("{ largest = { curve = \"low\", metric = \"hops_mean\" } }", "{ above = 0 }"));
    let lines: Vec<&str> = good.lines().collect();
    for cut in 0..lines.len() {
        for twice in 0..lines.len() {
            let mut changed = lines.clone();
            changed.insert(twice, lines[twice]);
            changed.remove(cut);
            // Neither is wrong; a panic is.
            let _ = Figure::read("figure.toml", &changed.join("\n"));
        }
    }
}
