//! Confidence intervals: a band around a curve, or a bar at each point.

use super::Curve;
use super::clip::Frame;
use super::layout::Layout;
use super::shapes::{Colour, Drawing, Place};

/// The interval around each point, as far as it lies in the frame.
pub(super) fn band(drawing: &mut Drawing, layout: &Layout, curve: &Curve, colour: Colour) {
    let Some(half_widths) = curve.half_widths.as_ref().filter(|widths| widths.iter().any(|&width| width > 0.0)) else {
        return;
    };
    let Frame { top, bottom, .. } = layout.frame;
    let inside = |(_, y): Place| y.clamp(top, bottom);
    let (mut upper, mut lower) = (Vec::new(), Vec::new());
    for (&(x, y), &width) in curve.points.iter().zip(half_widths) {
        let Some(middle) = layout.place((x, y)) else { continue };
        if !(layout.frame.left..=layout.frame.right).contains(&middle.0) {
            continue;
        }
        upper.push((middle.0, layout.place((x, y + width)).map_or(top, inside)));
        // On a logarithmic axis an interval may go down to nothing.
        lower.push((middle.0, layout.place((x, y - width)).map_or(bottom, inside)));
    }
    if upper.len() > 1 {
        let places = upper.into_iter().chain(lower.into_iter().rev()).collect();
        drawing.group("band", |drawing| drawing.area(places, colour, 0.2));
    }
}

/// The interval around a point.
pub(super) fn error_bar(
    drawing: &mut Drawing,
    layout: &Layout,
    (x, y): Place,
    (at, _): Place,
    half_width: f64,
    colour: Colour,
) {
    if half_width <= 0.0 {
        return;
    }
    let Frame { top, bottom, .. } = layout.frame;
    let end = |value: f64, beyond: f64| layout.place((x, value)).map_or(beyond, |(_, y)| y);
    let (upper, lower) = (end(y + half_width, top - 1.0), end(y - half_width, bottom + 1.0));
    // What is smaller than the line is wide is no news.
    if lower - upper < 1.0 {
        return;
    }
    drawing.line(vec![(at, upper.max(top)), (at, lower.min(bottom))], colour, 0.8, &[]);
    for end in [upper, lower].into_iter().filter(|end| (top..=bottom).contains(end)) {
        drawing.line(vec![(at - 2.0, end), (at + 2.0, end)], colour, 0.8, &[]);
    }
}
