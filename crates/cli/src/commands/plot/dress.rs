//! What somebody says about the looks of figures, laid over what they are by themselves.

use tailback_report::Figure;

use crate::arguments::{LogAxes, PlotArguments, PlotKind};
use crate::complaint::Complaint;

/// Figures as somebody wants them.
pub fn dress(figures: &mut [(String, Figure)], arguments: &PlotArguments) -> Result<(), Complaint> {
    let single = [("--labels", arguments.labels.is_some()), ("--range", arguments.range.is_some())];
    if let Some((option, _)) = single.into_iter().find(|(_, given)| *given && figures.len() > 1) {
        let names: Vec<&str> = figures.iter().map(|(name, _)| name.as_str()).collect();
        let message = format!("{option} is about a single figure, and these are {}: {}", names.len(), names.join(", "));
        return Err(Complaint::BadInput(message, Some("choose what runs upwards with --y".to_owned())));
    }
    for (_, figure) in figures {
        dress_one(figure, arguments)?;
    }
    Ok(())
}

fn dress_one(figure: &mut Figure, arguments: &PlotArguments) -> Result<(), Complaint> {
    if let Some(title) = &arguments.title {
        figure.title.clone_from(title);
    }
    if let Some((x, y)) = &arguments.labels {
        for (label, given) in [(&mut figure.x_label, x), (&mut figure.y_label, y)] {
            if !given.is_empty() {
                label.clone_from(given);
            }
        }
    }
    if let Some(size) = arguments.size {
        figure.size = size;
    }
    let is_distribution = matches!(arguments.kind, Some(PlotKind::Cdf | PlotKind::Histogram));
    if let Some(axes) = arguments.log.filter(|_| !is_distribution) {
        figure.log_x |= axes != LogAxes::Y;
        figure.log_y |= axes != LogAxes::X;
        // On a logarithmic axis all of a curve can be seen.
        if figure.log_y && arguments.latency_max.is_none() {
            figure.y_max = None;
        }
    }
    if let Some(range) = arguments.range {
        let pairs = [
            (&mut figure.x_min, range.x.0),
            (&mut figure.x_max, range.x.1),
            (&mut figure.y_min, range.y.0),
            (&mut figure.y_max, range.y.1),
        ];
        for (end, given) in pairs {
            *end = given.or(*end);
        }
    }
    check(figure)
}

/// Refuses what cannot be drawn.
fn check(figure: &Figure) -> Result<(), Complaint> {
    if !figure.categories.is_empty() && (figure.log_x || figure.x_min.is_some() || figure.x_max.is_some()) {
        let message = "--log and --range: names run to the right, which have neither logarithms nor ends";
        return Err(Complaint::bad_input(message));
    }
    let points = || figure.curves.iter().flat_map(|curve| &curve.points);
    let x: Vec<f64> = points().map(|point| point.0).collect();
    let y: Vec<f64> = points().map(|point| point.1).collect();
    let axes = [
        ("to the right", figure.log_x, figure.x_min, figure.x_max, &x),
        ("upwards", figure.log_y, figure.y_min, figure.y_max, &y),
    ];
    for (axis, is_log, from, to, values) in axes {
        if !is_log {
            continue;
        }
        if let Some(end) = from.into_iter().chain(to).find(|end| *end <= 0.0) {
            let message = format!("--range: the axis {axis} is logarithmic and has no {end}");
            return Err(Complaint::BadInput(
                message,
                Some("let it begin above 0, or leave its beginning out".to_owned()),
            ));
        }
        if !values.is_empty() && values.iter().all(|value| *value <= 0.0) {
            return Err(Complaint::bad_input(format!(
                "--log: nothing {axis} is above 0, so a logarithmic axis shows nothing"
            )));
        }
    }
    if figure.percentiles && [figure.y_min, figure.y_max].into_iter().flatten().any(|end| !(0.0..1.0).contains(&end)) {
        let message = "--range: the axis upwards shows shares from 0 to below 1, as in `,0.5..0.9999`";
        return Err(Complaint::bad_input(message));
    }
    Ok(())
}
