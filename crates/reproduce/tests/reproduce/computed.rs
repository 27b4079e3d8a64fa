//! Figures that are computed: a formula takes the place of runs.

use tailback_reproduce::{Basis, Figure, Results, Scale, Verdict};

use crate::by_hand::{claim, finding, read};

/// What a switch needs, for two sizes of networks and two ways to keep bits.
const COSTS: &str = r#"
title = "Costs"
source = "Fig. 3"

[formula.scheduler-cost]
part = "central"

[sweep]
over."formula.scheduler-cost.nodes" = [64, 1024]

[[sweep.variant]]
name = "registers"

[[sweep.variant]]
name = "memory"
set = { formula.scheduler-cost.storage = "memory" }

[[panel]]
name = "costs"
metric = "formula.transistors"
x_label = "nodes"
y_label = "transistors"
"#;

fn computed(figure: &Figure) -> Results {
    let mut results = Results::new(figure.experiment(Scale::Full));
    for computation in figure.computations(Scale::Full).expect("its values can be computed") {
        results.put(computation.point, computation.seed, computation.formula.compute());
    }
    results
}

#[test]
fn what_is_computed_is_drawn_and_judged() {
    let measure = r#"{ value = { curve = "registers", metric = "formula.transistors", at = 1024 } }"#;
    let figure = read(&format!("{COSTS}{}", claim(measure, "{ about = 398458880, within = 0 }")));
    assert_eq!(figure.basis, Basis::Formula);
    let results = computed(&figure);
    assert_eq!(finding(&figure, &results).verdict, Verdict::Pass);
    let curves = figure.panels[0].draw(&results).curves;
    assert_eq!(curves.len(), 2);
    assert_eq!(curves[0].points[1], (1024.0, 398_458_880.0));
    assert_eq!(curves[1].points[1], (1024.0, 0.3 * 398_458_880.0));
    assert_eq!(results.outcomes().count(), 0, "no run was made");
}

#[test]
fn what_only_runs_have_a_formula_has_not() {
    let measure = r#"{ value = { curve = "registers", metric = "accepted_load", at = 64 } }"#;
    let figure = read(&format!("{COSTS}{}", claim(measure, "{ above = 0 }")));
    let found = finding(&figure, &computed(&figure));
    assert_eq!((found.measured, found.verdict), (None, Verdict::Fail));
    let measure = r#"{ during = { curve = "registers", axis = "formula.scheduler-cost.nodes", at = 64, series = "accepted_load" } }"#;
    let figure = read(&format!("{COSTS}{}", claim(measure, "{ above = 0 }")));
    let found = finding(&figure, &computed(&figure));
    assert_eq!((found.measured, found.verdict), (None, Verdict::Fail));
}

#[test]
fn a_scale_changes_values() {
    let figure = read(&format!("{COSTS}[quick]\nover.\"formula.scheduler-cost.nodes\" = [64]\nseeds = 2\n"));
    let counts = Scale::ALL.map(|scale| figure.computations(scale).expect("they can be computed").len());
    assert_eq!(counts, [4, 4], "two curves: of a point and two seeds, of two points and one seed");
}

#[test]
fn bad_formulas_are_refused() {
    let mistakes = |text: &str| Figure::read("figure.toml", text).expect_err("it has mistakes").to_string();
    let both = mistakes(&format!("scenario = \"network.toml\"\n{COSTS}"));
    assert!(both.contains("a figure is made of a scenario or of a formula, not of both"), "{both}");
    let neither = mistakes(&COSTS.replace("[formula.scheduler-cost]\npart = \"central\"", ""));
    assert!(neither.contains("`scenario` is missing") && neither.contains("[formula.NAME]"), "{neither}");
    let unknown = mistakes(&COSTS.replace("formula.transistors", "formula.transistor"));
    assert!(unknown.contains("did you mean \"transistors\"?"), "{unknown}");
    let numbers =
        mistakes(&format!("formula = 3\n{}", COSTS.replace("[formula.scheduler-cost]\npart = \"central\"", "")));
    assert!(numbers.contains("`formula` is the name of a formula, or a table"), "{numbers}");
    // Values are read when they are needed, each with its place.
    let read = |text: &str| Figure::read("figure.toml", text).expect("the file itself is in order");
    for (from, to, message) in [
        ("[64, 1024]", "[64, 0]", "is outside 1 to"),
        ("part = \"central\"", "part = \"centre\"", "did you mean \"central\"?"),
        ("part = \"central\"", "parts = \"central\"", "did you mean `part`?"),
    ] {
        let refused = read(&COSTS.replace(from, to)).computations(Scale::Full).expect_err("a value is wrong");
        assert!(refused.to_string().contains(message), "{refused}");
    }
}
