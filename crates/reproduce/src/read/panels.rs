//! Reading what is drawn.

use std::collections::BTreeSet;

use tailback_report::Figure;
use tailback_scenario::Diagnostic;
use tailback_scenario::reading::{Item, Node, Reading, TableReader};

use super::fields::{file_name, flag, needed_text, number, positive, range, text, texts};
use super::measures::{metric, quantity, series_column};
use crate::experiment::Experiment;
use crate::panel::{Line, Panel, Part, Shown};

/// So many parts of a bar have colours of their own.
const PARTS_MAX: usize = 6;

/// So many lines have colours or strokes of their own.
const LINES_MAX: usize = 12;

/// Reads a panel.
pub fn panel(node: &Node, experiment: &Experiment, reading: &mut Reading) -> Option<Panel> {
    let mut table = TableReader::of(node, "panel".to_owned(), reading);
    let name = file_name(&mut table, reading);
    let frame = frame(&mut table, reading);
    let factor = positive(&mut table, "factor", reading).unwrap_or(1.0);
    let x_factor = positive(&mut table, "x_factor", reading).unwrap_or(1.0);
    let shown = shown(&mut table, reading);
    if let (Some(Shown::Bars { .. }), Some(frame)) = (&shown, &frame) {
        check_frame_of_bars(&table, frame, x_factor, reading);
    }
    let curves = table.take("curves").and_then(|entry| texts(&entry.node, "panel.curves", reading));
    check_names(node, curves.iter().flatten().map(String::as_str), reading);
    check(node, shown.as_ref(), curves.as_deref(), experiment, reading);
    table.close(reading);
    Some(Panel { name: name?, frame: frame?, shown: shown?, factor, x_factor, curves })
}

fn frame(table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Figure> {
    let title = text(table, "title", reading).unwrap_or_default();
    let x_label = needed_text(table, "x_label", "what the axis to the right says", reading);
    let y_label = needed_text(table, "y_label", "what the axis upwards says", reading);
    let (x, y) = (range(table, "x", reading), range(table, "y", reading));
    let (log_x, log_y) = (flag(table, "log_x", false, reading), flag(table, "log_y", false, reading));
    for (log, key, ends) in [(log_x, "x", x), (log_y, "y", y)] {
        if log && ends.is_some_and(|(low, _)| low <= 0.0) {
            let message = format!("a logarithmic axis cannot begin at {}", ends.map_or(0.0, |ends| ends.0));
            reading.blame(Diagnostic::at(table.span, message).help(format!("let `{key}` begin above zero")));
        }
    }
    Some(Figure {
        title,
        x_label: x_label?,
        y_label: y_label?,
        x_min: x.map(|x| x.0),
        x_max: x.map(|x| x.1),
        y_min: y.map(|y| y.0),
        y_max: y.map(|y| y.1),
        log_x,
        log_y,
        ..Figure::default()
    })
}

/// Names stand along the axis to the right of bars, and they begin at zero.
fn check_frame_of_bars(table: &TableReader<'_>, frame: &Figure, x_factor: f64, reading: &mut Reading) {
    let has_numbers = frame.x_min.is_some() || frame.log_x || x_factor != 1.0;
    if has_numbers {
        let help = "remove `x`, `log_x` and `x_factor`";
        reading
            .blame(Diagnostic::at(table.span, "bars have names along the axis to the right, not numbers").help(help));
    }
    if frame.log_y || frame.y_min.is_some_and(|least| least != 0.0) {
        let help = "let `y` begin at 0, without `log_y`";
        reading.blame(Diagnostic::at(table.span, "bars begin at zero").help(help));
    }
}

/// Either `metric` over an axis, or `stack`s of several at one of its places, or `series` over time.
fn shown(table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Shown> {
    let (metric, stack, series) = (table.take("metric"), table.take("stack"), table.take("series"));
    let axis = text(table, "axis", reading);
    let bin = positive(table, "bin", reading);
    let at = number(table, "at", reading);
    if at.is_some() && stack.is_none() {
        reading.blame(Diagnostic::at(table.span, "`at` says at which point bars are").help("remove `at`"));
    }
    match (metric, stack, series) {
        (Some(metric), None, None) => Some(Shown::Curves { quantity: quantity(&metric.node, reading)?, axis }),
        (None, Some(stack), None) => Some(Shown::Bars { parts: parts(&stack.node, reading)?, axis, at }),
        (None, None, Some(series)) => Some(Shown::Series { lines: lines(&series.node, reading)?, bin }),
        _ => {
            let help = "write `metric = …` for curves over what is varied, `stack = […]` for bars, or `series = …` for curves over time";
            reading.blame(
                Diagnostic::at(table.span, "a panel shows either a metric, a stack of them, or a series").help(help),
            );
            None
        }
    }
}

/// What bars are made of.
fn parts(node: &Node, reading: &mut Reading) -> Option<Vec<Part>> {
    let nodes = match &node.item {
        Item::List(nodes) if (1..=PARTS_MAX).contains(&nodes.len()) => nodes,
        _ => {
            let wanted = format!("a list of one to {PARTS_MAX} tables, each with a `name` and a `metric`");
            reading.mismatch(node, "panel.stack", &wanted);
            return None;
        }
    };
    let parts: Vec<Part> = nodes.iter().map(|node| part(node, reading)).collect::<Option<_>>()?;
    check_names(node, parts.iter().map(|part| part.name.as_str()), reading);
    Some(parts)
}

/// What has one name in a legend twice cannot be told apart.
fn check_names<'n>(node: &Node, names: impl Iterator<Item = &'n str>, reading: &mut Reading) {
    let mut seen = BTreeSet::new();
    let twice: BTreeSet<&str> = names.filter(|name| !seen.insert(*name)).collect();
    for name in twice {
        let diagnostic = Diagnostic::at(node.span, format!("\"{name}\" is drawn twice"));
        reading.blame(diagnostic.help("give each a name of its own"));
    }
}

/// The time series that are drawn: a column, or a list of several.
fn lines(node: &Node, reading: &mut Reading) -> Option<Vec<Line>> {
    match &node.item {
        Item::List(nodes) if (2..=LINES_MAX).contains(&nodes.len()) => {
            let lines: Vec<Line> = nodes.iter().map(|node| line(node, reading)).collect::<Option<_>>()?;
            check_names(node, lines.iter().filter_map(|line| line.name.as_deref()), reading);
            Some(lines)
        }
        Item::List(_) => {
            let wanted =
                format!("a column of time series, or a list of 2 to {LINES_MAX} tables with a `name` and a `series`");
            reading.mismatch(node, "panel.series", &wanted);
            None
        }
        _ => Some(vec![Line { name: None, column: series_column(node, reading)?, factor: 1.0 }]),
    }
}

fn line(node: &Node, reading: &mut Reading) -> Option<Line> {
    let mut table = TableReader::of(node, "panel.series".to_owned(), reading);
    let name = needed_text(&mut table, "name", "what its legend says", reading);
    let series = needed_text(&mut table, "series", "the column of the time series", reading);
    let column = series.and_then(|_| series_column(&table.table.get("series")?.node, reading));
    let factor = positive(&mut table, "factor", reading);
    table.close(reading);
    Some(Line { name: Some(name?), column: column?, factor: factor.unwrap_or(1.0) })
}

fn part(node: &Node, reading: &mut Reading) -> Option<Part> {
    let mut table = TableReader::of(node, "panel.stack".to_owned(), reading);
    let name = needed_text(&mut table, "name", "what its legend says", reading);
    let quantity = metric(&mut table, reading);
    table.close(reading);
    Some(Part { name: name?, quantity: quantity? })
}

fn check(
    node: &Node,
    shown: Option<&Shown>,
    curves: Option<&[String]>,
    experiment: &Experiment,
    reading: &mut Reading,
) {
    let Some(shown) = shown else { return };
    let axis = shown.axis();
    let names = match (experiment.axis(axis), curves) {
        (Err(complaint), _) => Err(complaint),
        (Ok(place), None) => Ok(experiment.curve_names(place)),
        (Ok(_), Some(names)) => Ok(names.to_vec()),
    };
    if let (Shown::Series { lines, .. }, Ok(names)) = (shown, &names)
        && lines.len() > 1
        && names.len() != 1
    {
        let help = "name the one whose series are drawn, as in `curves = [\"…\"]`";
        reading.blame(Diagnostic::at(node.span, format!("several series of {} curves", names.len())).help(help));
        return;
    }
    let fits = |name: &String| match shown {
        Shown::Bars { at, .. } => experiment.check_place(name, axis, *at),
        Shown::Curves { .. } => experiment.curve(name, axis).map(drop),
        Shown::Series { .. } => match experiment.curve(name, axis)?.len() {
            0 | 1 => Ok(()),
            points => Err(format!(
                "\"{name}\" has {points} points, and so as many series; vary nothing but variants and seeds"
            )),
        },
    };
    if let Err(complaint) = names.and_then(|names| names.iter().try_for_each(fits)) {
        reading.blame(Diagnostic::at(node.span, complaint));
    }
}
