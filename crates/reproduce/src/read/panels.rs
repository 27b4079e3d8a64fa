//! Reading what is drawn.

use tailback_report::Figure;
use tailback_scenario::Diagnostic;
use tailback_scenario::reading::{Node, Reading, TableReader};

use super::fields::{file_name, flag, needed_text, positive, range, text, texts};
use super::measures::{quantity, series_column};
use crate::experiment::Experiment;
use crate::panel::{Panel, Shown};

/// Reads a panel.
pub fn panel(node: &Node, experiment: &Experiment, reading: &mut Reading) -> Option<Panel> {
    let mut table = TableReader::of(node, "panel".to_owned(), reading);
    let name = file_name(&mut table, reading);
    let frame = frame(&mut table, reading);
    let factor = positive(&mut table, "factor", reading).unwrap_or(1.0);
    let x_factor = positive(&mut table, "x_factor", reading).unwrap_or(1.0);
    let shown = shown(&mut table, reading);
    let curves = table.take("curves").and_then(|entry| texts(&entry.node, "panel.curves", reading));
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

/// Either `metric` over an axis, or `series` over time.
fn shown(table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Shown> {
    let (metric, series) = (table.take("metric"), table.take("series"));
    let axis = text(table, "axis", reading);
    let bin = positive(table, "bin", reading);
    match (metric, series) {
        (Some(metric), None) => Some(Shown::Curves { quantity: quantity(&metric.node, reading)?, axis }),
        (None, Some(series)) => Some(Shown::Series { column: series_column(&series.node, reading)?, bin }),
        _ => {
            let help = "write `metric = …` for curves over what is varied, or `series = …` for curves over time";
            reading.blame(Diagnostic::at(table.span, "a panel shows either a metric or a series").help(help));
            None
        }
    }
}

fn check(
    node: &Node,
    shown: Option<&Shown>,
    curves: Option<&[String]>,
    experiment: &Experiment,
    reading: &mut Reading,
) {
    let Some(shown) = shown else { return };
    let axis = match shown {
        Shown::Curves { axis, .. } => axis.as_deref(),
        Shown::Series { .. } => None,
    };
    let names = match (experiment.axis(axis), curves) {
        (Err(complaint), _) => Err(complaint),
        (Ok(place), None) => Ok(experiment.curve_names(place)),
        (Ok(_), Some(names)) => Ok(names.to_vec()),
    };
    let fits = |name: &String| match (shown, experiment.curve(name, axis)?.len()) {
        (Shown::Series { .. }, points) if points > 1 => {
            Err(format!("\"{name}\" has {points} points, and so as many series; vary nothing but variants and seeds"))
        }
        _ => Ok(()),
    };
    if let Err(complaint) = names.and_then(|names| names.iter().try_for_each(fits)) {
        reading.blame(Diagnostic::at(node.span, complaint));
    }
}
