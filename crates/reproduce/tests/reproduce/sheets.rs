//! Tables of measures: read, filled in, told, and refused.

use tailback_report::Cell;
use tailback_reproduce::{Absent, Figure, Measured, Results, Scale};

use crate::by_hand::{CURVES, SERIES, curves, read, step_and_wave};

const SHEET: &str = r#"
[[table]]
name = "both"
title = "Both curves"
rows = ["low", "high"]

[[table.column]]
title = "most"
unit = "%"
factor = 100
measure = { largest = { curve = "*", metric = "accepted_load" } }

[[table.column]]
title = "to low"
measure = { ratio = [
    { value = { curve = "*", metric = "latency_message_mean", at = 0.1 } },
    { value = { curve = "low", metric = "latency_message_mean", at = 0.1 } },
] }
"#;

/// What stands in the only table of a figure.
fn cells(figure: &Figure, scale: Scale, results: &Results) -> Vec<Vec<Result<f64, Absent>>> {
    let filled = figure.sheets[0].fill(scale, results);
    let means = |row: Vec<Result<Measured, _>>| row.into_iter().map(|cell| cell.map(|cell| cell.value)).collect();
    filled.cells.into_iter().map(means).collect()
}

fn mistakes(text: &str) -> String {
    Figure::read("figure.toml", text).expect_err("it is wrong").to_string()
}

#[test]
fn a_star_stands_for_the_row() {
    let figure = read(&format!("{CURVES}{SHEET}"));
    let ratio = f64::midpoint(120.0 / 100.0, 122.0 / 102.0);
    let found = cells(&figure, Scale::Full, &curves(&figure));
    for (row, expected) in [[40.0, 1.0], [30.0, ratio]].into_iter().enumerate() {
        for (column, expected) in expected.into_iter().enumerate() {
            let number = *found[row][column].as_ref().expect("all has been run");
            assert!((number - expected).abs() < 1e-9, "row {row}, column {column}: {number}");
        }
    }
}

#[test]
fn a_star_may_be_a_part_of_a_name_in_any_measure() {
    let measures = [
        r#"{ value = { curve = "*gh", metric = "latency_message_mean", at = 0.2 } }"#,
        r#"{ largest = { curve = "*gh", metric = "latency_message_mean", until = 0.2 } }"#,
        r#"{ difference = [{ sum = [{ smallest = { curve = "*gh", metric = "latency_message_mean", from = 0.2 } }] }, { apart = { curve = "*gh", other = "*gh", metric = "latency_message_mean" } }] }"#,
        r#"{ order = { curves = [["*gh"], ["*gh", "high"]], metric = "latency_message_mean" } }"#,
    ];
    for (measure, expected) in measures.into_iter().zip([151.0, 151.0, 151.0, 1.0]) {
        let sheet =
            format!("[[table]]\nname = \"t\"\nrows = [\"hi\"]\n[[table.column]]\ntitle = \"c\"\nmeasure = {measure}\n");
        let figure = read(&format!("{CURVES}{sheet}"));
        assert_eq!(cells(&figure, Scale::Full, &curves(&figure)), [[Ok(expected)]], "{measure}");
    }
    for word in ["during", "amplitude"] {
        let measure = format!("{{ {word} = {{ curve = \"*ave\", series = \"accepted_load\" }} }}");
        let sheet =
            format!("[[table]]\nname = \"t\"\nrows = [\"w\"]\n[[table.column]]\ntitle = \"c\"\nmeasure = {measure}\n");
        let figure = read(&format!("{SERIES}{sheet}"));
        let found = cells(&figure, Scale::Full, &step_and_wave(&figure));
        assert!(found[0][0].is_ok(), "{measure}: {found:?}");
    }
}

#[test]
fn a_scale_may_have_a_measure_of_its_own() {
    let own = "quick.measure = { smallest = { curve = \"*\", metric = \"accepted_load\" } }\n";
    let sheet =
        SHEET.replacen("metric = \"accepted_load\" } }\n", &format!("metric = \"accepted_load\" }} }}\n{own}"), 1);
    let figure = read(&format!("{CURVES}{sheet}"));
    let results = curves(&figure);
    for (scale, expected) in [(Scale::Quick, 10.0), (Scale::Full, 40.0)] {
        let number = *cells(&figure, scale, &results)[0][0].as_ref().expect("all has been run");
        assert!((number - expected).abs() < 1e-9, "{}: {number}", scale.name());
    }
}

#[test]
fn tables_are_told_to_people_and_programs() {
    let figure = read(&format!("{CURVES}{SHEET}"));
    let results = curves(&figure);
    let filled = figure.sheets[0].fill(Scale::Full, &results);
    let text = "\
Both curves
  [1] most (%)
  [2] to low
                [1]            [2]
  low   40.00 ± 0.0    1.000 ± 0.0
  high  30.00 ± 0.0  1.198 ± 0.025
";
    assert_eq!(filled.to_text(), text);
    let markdown = "\
# Both curves

| | most (%) | to low |
| --- | ---: | ---: |
| low | 40.00 ± 0.0 | 1.000 ± 0.0 |
| high | 30.00 ± 0.0 | 1.198 ± 0.025 |
";
    assert_eq!(filled.to_markdown(), markdown);
    let table = filled.to_table();
    let mut csv = Vec::new();
    table.write_csv(&mut csv).expect("memory does not fail");
    let csv = String::from_utf8(csv).expect("it is text");
    assert!(csv.starts_with("row,column,unit,value,ci95\nlow,most,%,40"), "{csv}");
    assert_eq!(table.rows.len(), 4);
}

#[test]
fn a_number_that_is_not_there_is_an_empty_cell() {
    let broken = SHEET.replace("accepted_load", "links.nowhere.mean");
    let figure = read(&format!("{CURVES}{broken}"));
    let whole = curves(&figure);
    let mut part = Results::new(figure.experiment(Scale::Full));
    for (point, load) in [0.1, 0.2, 0.4].into_iter().enumerate() {
        for seed in 0..2 {
            part.put(point, seed, whole.at("low", None, Some(load), seed).expect("it is there").clone());
        }
    }
    let filled = figure.sheets[0].fill(Scale::Full, &part);
    let text = "\
Both curves
  [1] most (%)
  [2] to low
        [1]          [2]
  low        1.000 ± 0.0
  high
  low, most: the runs have no such figure
  empty for want of runs: 2
";
    assert_eq!(filled.to_text(), text);
    let markdown = filled.to_markdown();
    assert!(markdown.contains("| low |  | 1.000 ± 0.0 |\n| high |  |  |\n"), "{markdown}");
    assert!(
        markdown.ends_with("\n* low, most: the runs have no such figure\n* empty for want of runs: 2\n"),
        "{markdown}"
    );
    let values = filled.to_table().rows.into_iter().map(|row| row[3].clone()).collect::<Vec<_>>();
    assert_eq!(values, [Cell::Empty, Cell::Number(1.0), Cell::Empty, Cell::Empty]);
}

#[test]
fn each_mistake_in_a_table_has_its_words() {
    let cases = [
        (
            SHEET.replace("\"low\", \"high\"]", "\"low\", \"higher\"]"),
            "there is no curve \"higher\"; there is low, high",
        ),
        (SHEET.replace("[\"low\", \"high\"]", "\"low\""), "`table.rows` is a list of texts"),
        (SHEET.replace("rows = [\"low\", \"high\"]", ""), "`table.rows` is missing"),
        (SHEET.replace("name = \"both\"", "name = \"a/b\""), "cannot name a file"),
        (SHEET.replace("name = \"both\"", ""), "`table.name` is missing"),
        (SHEET.replace("title = \"most\"", ""), "`table.column.title` is missing"),
        (SHEET.replace("unit =", "units ="), "unknown key `units` in [table.column.most]"),
        (SHEET.replace("factor = 100", "factor = 0"), "`table.column.most.factor` is a number above zero"),
        (SHEET.replace("measure = { largest", "measure = { largets"), "did you mean \"largest\"?"),
        (SHEET.replace("measure = { largest", "quick.measure = { largest"), "`table.column.most.measure` is missing"),
        (SHEET.replace("at = 0.1 } },\n] }", "at = 0.3 } },\n] }"), "\"low\" has no point at 0.3"),
        ("[[table]]\nname = \"t\"\nrows = [\"low\"]\n".to_owned(), "`table.column` is missing"),
        ("[[table]]\nname = \"t\"\nrows = [\"low\"]\ncolumn = 3\n".to_owned(), "`[[table.column]]`, not the number 3"),
        ("[table]\nname = \"t\"\n".to_owned(), "`table` is a list of tables, `[[table]]`, not a table"),
        (SHEET.to_owned() + SHEET, "two tables or panels are called \"both\""),
        (
            SHEET.to_owned() + "[[panel]]\nname = \"both\"\nmetric = \"hops_mean\"\nx_label = \"x\"\ny_label = \"y\"\n",
            "two tables or panels are called \"both\"",
        ),
    ];
    for (addition, reason) in cases {
        let said = mistakes(&format!("{CURVES}{addition}"));
        assert!(said.contains(reason), "{addition} gave\n{said}");
    }
}
