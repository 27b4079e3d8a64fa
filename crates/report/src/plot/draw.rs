//! How figures are drawn.

use super::around::axes;
use super::clip::{Frame, Seen, seen};
use super::intervals::{band, error_bar};
use super::layout::Layout;
use super::looks::Look;
use super::overlap::{Drawn, Overlaps};
use super::shapes::{Colour, Dash, Drawing, Place, Shape};
use super::{Curve, Figure, Style};

const GRID: Colour = "#e6e6e6";
/// What is behind the warm-up.
const WARM_UP: Colour = "#f1ede4";

/// From so many curves of many points on, a few of their points are marked.
const MARKED_FROM: usize = 7;
/// How a line is interrupted that shows the least that something can be.
const LEAST: Dash = &[1.5, 1.5];
/// On a curve of many points, the distance of marks.
const MARK_DISTANCE: f64 = 60.0;
/// Arrows of a curve that are nearer than this to each other would be a blot.
const ARROW_DISTANCE: f64 = 12.0;

impl Figure {
    /// The figure as shapes.
    pub(super) fn drawing(&self) -> Drawing {
        let plain = Layout::new(self, &self.captions(&[]));
        let is_bars = self.style == Style::Bars;
        let about = if is_bars { self.about_bars(&plain) } else { self.about_curves(&plain) };
        // A further caption takes height from the panel.
        let layout = Layout::new(self, &self.captions(&about));
        let mut drawing = Drawing { width: layout.size.width, height: layout.size.height, shapes: Vec::new() };
        if let Some(heat) = &self.heat {
            self.heat(&mut drawing, &layout, heat);
        } else {
            self.panel(&mut drawing, &layout);
        }
        if is_bars {
            self.bars(&mut drawing, &layout);
        } else {
            self.curves(&mut drawing, &layout);
        }
        axes(&mut drawing, &layout);
        self.around(&mut drawing, &layout);
        drawing
    }

    /// What a reader must know about curves that cannot be seen as a whole.
    fn about_curves(&self, layout: &Layout) -> Vec<String> {
        let curves: Vec<Seen> = self.curves.iter().map(|curve| visible(curve, layout)).collect();
        let mut about_curves = Vec::new();
        if curves.iter().any(|seen| !seen.leaves.is_empty()) {
            about_curves.push("arrows: the curve goes on beyond the frame".to_owned());
        }
        if self.curves.iter().any(|curve| curve.least_from.is_some()) {
            about_curves.push("dotted: the least that it can be, as not all had arrived when runs ended".to_owned());
        }
        let empty: Vec<&str> =
            self.curves.iter().filter(|curve| curve.points.is_empty()).map(|curve| curve.name.as_str()).collect();
        if !empty.is_empty() && empty.len() < self.curves.len() {
            about_curves.push(format!("no values: {}", empty.join(", ")));
        }
        let absent = self.absent(layout);
        if !absent.is_empty() {
            about_curves.push(format!("beyond the frame: {}", absent.join(", ")));
        }
        let names: Vec<&str> = self.curves.iter().map(|curve| curve.name.as_str()).collect();
        about_curves.extend(self.overlaps(layout).captions(&names));
        about_curves
    }

    fn curves(&self, drawing: &mut Drawing, layout: &Layout) {
        let overlaps = self.overlaps(layout);
        // A band would dim what is below it: lines are drawn when all bands are.
        for (index, curve) in self.curves.iter().enumerate().filter(|_| self.style == Style::Line) {
            band(drawing, layout, curve, Look::of(index).colour);
        }
        for (index, curve) in self.curves.iter().enumerate() {
            drawing.group("curve", |drawing| self.curve(drawing, layout, &overlaps, curve, index));
        }
    }

    /// What is said below: what was given, and what a reader must know about curves that cannot be seen as a whole.
    fn captions(&self, about_curves: &[String]) -> Vec<String> {
        let mut captions: Vec<String> = self.caption.lines().map(str::to_owned).collect();
        if self.warm_up.is_some_and(|until| self.x_min.is_none_or(|from| until > from)) {
            captions.push("shaded: warm-up".to_owned());
        }
        captions.extend_from_slice(about_curves);
        captions
    }

    /// Which curves lie on each other.
    fn overlaps(&self, layout: &Layout) -> Overlaps {
        let drawn = |curve: &Curve| {
            let points = curve.points.iter().filter_map(|&point| layout.place(point));
            let points = points.filter(|&place| !self.has_many() && layout.frame.holds(place)).collect();
            // Between names there is nothing.
            let has_line = self.categories.is_empty();
            let line = || visible(&self.stepped(curve, layout), layout).parts;
            Drawn { parts: if has_line { line() } else { Vec::new() }, points }
        };
        Overlaps::new(self.curves.iter().map(drawn).collect(), &layout.frame, self.line_width(layout))
    }

    /// Whether there are too many points for a marker at each.
    fn has_many(&self) -> bool {
        matches!(self.style, Style::Line | Style::Steps)
    }

    /// Whether curves have markers, at each point or now and then.
    pub(super) fn has_markers(&self) -> bool {
        self.style != Style::Bars && (!self.has_many() || self.curves.len() >= MARKED_FROM)
    }

    fn line_width(&self, layout: &Layout) -> f64 {
        let share = if self.has_many() { 0.12 } else { 0.155 };
        share * f64::from(layout.fonts.tick)
    }

    /// The names of curves of which nothing can be seen.
    fn absent(&self, layout: &Layout) -> Vec<String> {
        let is_seen = |curve: &Curve| {
            let places: Vec<Place> = curve.points.iter().filter_map(|&point| layout.place(point)).collect();
            places.iter().any(|&place| layout.frame.holds(place)) || !visible(curve, layout).parts.is_empty()
        };
        let absent = self.curves.iter().filter(|curve| !curve.points.is_empty() && !is_seen(curve));
        absent.map(|curve| curve.name.clone()).collect()
    }

    /// What lies behind the curves.
    fn panel(&self, drawing: &mut Drawing, layout: &Layout) {
        let Frame { left, top, right, bottom } = layout.frame;
        if let Some(end) = self.warm_up.and_then(|end| layout.x.share(end)).filter(|&share| share > 0.0) {
            let end = (left + end * layout.frame.width()).min(right);
            drawing.group("warm-up", |drawing| {
                drawing.area(vec![(left, top), (end, top), (end, bottom), (left, bottom)], WARM_UP, 1.0);
            });
        }
        for tick in &layout.x_ticks {
            let x = left + tick.share * layout.frame.width();
            drawing.line(vec![(x, top), (x, bottom)], GRID, if tick.label.is_empty() { 0.3 } else { 0.6 }, &[]);
        }
        for tick in &layout.y_ticks {
            let y = bottom - tick.share * layout.frame.height();
            drawing.line(vec![(left, y), (right, y)], GRID, if tick.label.is_empty() { 0.3 } else { 0.6 }, &[]);
        }
        if self.style == Style::MarkersAndDiagonal {
            let end = layout.x.to.min(layout.y.to);
            let start = layout.x.from.max(layout.y.from);
            let places = [start, end].map(|value| layout.place((value, value)));
            for part in seen(&places, &layout.frame).parts {
                drawing.line(part, "#999999", 0.8, &[4.0, 3.0]);
            }
        }
    }

    fn curve(&self, drawing: &mut Drawing, layout: &Layout, overlaps: &Overlaps, curve: &Curve, index: usize) {
        let look = Look::of(index);
        let seen = visible(&self.stepped(curve, layout), layout);
        let half_widths = curve.half_widths.as_deref().unwrap_or_default();
        let (many, marker, width) = (self.has_many(), layout.marker(), self.line_width(layout));
        // Between names there is nothing.
        if self.categories.is_empty() {
            for part in overlaps.with_gaps(index, seen.parts.clone()) {
                let (known, least) = split(part, curve.least_from.and_then(|from| layout.x.share(from)), &layout.frame);
                drawing.line(known, look.colour, width, look.dash);
                drawing.line(least, look.colour, width, LEAST);
            }
        }
        for &centre in seen.dots.iter().filter(|_| many) {
            drawing.shapes.push(Shape::Circle { centre, radius: width, fill: look.colour, outline: None });
        }
        if !many {
            let points = curve.points.iter().filter_map(|&point| layout.place(point).map(|place| (point, place)));
            let inside: Vec<_> = points.filter(|(_, place)| layout.frame.holds(*place)).collect();
            for (point, place) in &inside {
                let at = curve.points.iter().position(|known| known == point);
                let half_width = at.and_then(|at| half_widths.get(at)).copied().unwrap_or(0.0);
                error_bar(drawing, layout, *point, *place, half_width, look.colour);
            }
            let marked = inside.iter().filter(|(_, place)| overlaps.is_marked(index, *place));
            marked.for_each(|(_, place)| look.mark(drawing, *place, marker));
        } else if self.has_markers() {
            // Curves begin at different places: marks of one do not cover those of another.
            let start = MARK_DISTANCE * (0.1 + (index % 6) as f64 / 6.0);
            seen.parts.iter().for_each(|part| along(part, start).for_each(|place| look.mark(drawing, place, marker)));
        }
        let mut last: Option<Place> = None;
        for (tip, from) in seen.leaves {
            if last.is_none_or(|last| libm::hypot(last.0 - tip.0, last.1 - tip.1) > ARROW_DISTANCE) {
                drawing.group("leaves", |drawing| look.arrow(drawing, tip, from, 1.25 * marker));
                last = Some(tip);
            }
        }
    }

    /// The points that lines go through. Steps go down to the bottom where there is nothing, also on an axis that has no place for it.
    fn stepped(&self, curve: &Curve, layout: &Layout) -> Curve {
        if self.style != Style::Steps {
            return curve.clone();
        }
        let height = |y: f64| y.max(layout.y.from);
        let mut points: Vec<(f64, f64)> =
            curve.points.first().map(|point| (point.0, layout.y.from)).into_iter().collect();
        for pair in curve.points.windows(2) {
            points.extend([(pair[0].0, height(pair[0].1)), (pair[1].0, height(pair[0].1))]);
        }
        points.extend(curve.points.last().map(|point| (point.0, height(point.1))));
        Curve { points, ..curve.clone() }
    }
}

fn visible(curve: &Curve, layout: &Layout) -> Seen {
    let places: Vec<Option<Place>> = curve.points.iter().map(|&point| layout.place(point)).collect();
    seen(&places, &layout.frame)
}

/// A line before and after a share of the frame's width.
fn split(mut line: Vec<Place>, share: Option<f64>, frame: &Frame) -> (Vec<Place>, Vec<Place>) {
    let Some(end) = share.map(|share| frame.left + share * frame.width()) else { return (line, Vec::new()) };
    let first = line.iter().position(|place| place.0 > end).unwrap_or(line.len());
    // The place before belongs to both.
    let rest = line[first.saturating_sub(1)..].to_vec();
    line.truncate(first);
    (line, rest)
}

/// Places along a line, from `start` on at equal distances.
fn along(part: &[Place], start: f64) -> impl Iterator<Item = Place> {
    let (mut places, mut next, mut gone) = (Vec::new(), start, 0.0);
    for pair in part.windows(2) {
        // Along the axis: a line that goes up and down would have marks side by side.
        let length = (pair[1].0 - pair[0].0).abs();
        while length > 0.0 && gone + length >= next {
            let share = (next - gone) / length;
            places.push((pair[0].0 + share * (pair[1].0 - pair[0].0), pair[0].1 + share * (pair[1].1 - pair[0].1)));
            next += MARK_DISTANCE;
        }
        gone += length;
    }
    places.into_iter()
}

#[cfg(test)]
mod tests {
    use super::super::Size;
    use super::*;

    fn curve(name: &str, points: &[(f64, f64)]) -> Curve {
        Curve { name: name.to_owned(), points: points.to_vec(), ..Curve::default() }
    }

    fn texts(drawing: &Drawing) -> Vec<&str> {
        let mut texts = Vec::new();
        for shape in &drawing.shapes {
            if let Shape::Text { text, .. } = shape {
                texts.push(text.as_str());
            }
        }
        texts
    }

    fn groups(drawing: &Drawing, wanted: &str) -> usize {
        drawing.shapes.iter().filter(|shape| matches!(shape, Shape::Begin(kind) if *kind == wanted)).count()
    }

    #[test]
    fn curves_that_leave_the_frame_end_with_an_arrow_and_the_caption_says_so() {
        let curves = vec![curve("stays", &[(0.1, 1.0), (0.5, 2.0)]), curve("leaves", &[(0.1, 1.0), (0.5, 90.0)])];
        let figure = Figure { y_max: Some(5.0), curves, ..Figure::default() };
        let drawing = figure.drawing();
        assert_eq!(groups(&drawing, "leaves"), 1);
        assert!(texts(&drawing).contains(&"arrows: the curve goes on beyond the frame"));
        let drawing = Figure { y_max: None, ..figure.clone() }.drawing();
        assert_eq!(groups(&drawing, "leaves"), 0);
        assert!(!texts(&drawing).iter().any(|text| text.starts_with("arrows")));
        let with_nothing = vec![curve("stays", &[(0.1, 1.0)]), curve("nothing", &[])];
        let drawing = Figure { curves: with_nothing, ..figure.clone() }.drawing();
        assert!(texts(&drawing).contains(&"no values: nothing"));
        let beyond = Figure { y_max: Some(0.5), ..figure };
        assert!(texts(&beyond.drawing()).contains(&"beyond the frame: stays, leaves"));
    }

    /// Of equal curves each is seen, in gaps of those that are drawn later, and the caption says so.
    #[test]
    fn curves_that_lie_on_each_other_are_named() {
        let equal = || [(0.1, 1.0), (0.3, 1.5), (0.5, 2.0)];
        let curves =
            vec![curve("below", &equal()), curve("other", &[(0.1, 3.0), (0.5, 3.0)]), curve("above", &equal())];
        for style in [Style::Markers, Style::Line, Style::Steps] {
            let figure = Figure { style, curves: curves.clone(), ..Figure::default() };
            let drawing = figure.drawing();
            assert!(texts(&drawing).contains(&"drawn in turns: below lies on above"), "{style:?}");
            let lines = |index: usize| {
                let of_curve = |shape: &&Shape| {
                    let colour = Look::of(index).colour;
                    matches!(shape, Shape::Line { colour: found, .. } if *found == colour)
                };
                drawing.shapes.iter().filter(of_curve).count()
            };
            // One in the panel and one in the legend, but for the one with gaps. Steps go up side by side.
            assert_eq!(lines(0), 2, "{style:?}");
            assert!(style == Style::Steps || lines(1) == 2, "{style:?}");
            assert!(lines(2) > 10, "{style:?}: {}", lines(2));
            let apart = Figure { curves: curves[..2].to_vec(), ..figure };
            assert!(!texts(&apart.drawing()).iter().any(|text| text.contains("in turns")));
        }
        let names = vec!["MIN".to_owned(), "VAL".to_owned()];
        let points = vec![curve("a", &[(0.0, 1.0), (1.0, 2.0)]), curve("b", &[(0.0, 1.0), (1.0, 2.0)])];
        let figure = Figure { categories: names, curves: points, ..Figure::default() };
        assert!(texts(&figure.drawing()).contains(&"drawn in turns: a lies on b"));
    }

    #[test]
    fn what_is_at_least_so_much_is_dotted() {
        let known = curve("a", &[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 3.0)]);
        let figure = |least_from: f64| {
            let curves = vec![Curve { least_from: Some(least_from), ..known.clone() }];
            Figure { style: Style::Line, title: "b".to_owned(), curves, ..Figure::default() }
        };
        // The lines of the panel, of which the sample in the legend is none, by where they begin and end.
        let lines = |least_from: f64| {
            let drawing = figure(least_from).drawing();
            let line = |shape: &Shape| match shape {
                Shape::Line { places, dash, colour, .. }
                    if *colour == Look::of(0).colour && places[0].1 != places[1].1 =>
                {
                    Some((places.len(), *dash == LEAST))
                }
                _ => None,
            };
            drawing.shapes.iter().filter_map(line).collect::<Vec<_>>()
        };
        assert_eq!(lines(2.0), [(3, false)], "what follows is level");
        assert_eq!(lines(1.0), [(2, false), (3, true)]);
        assert_eq!(lines(0.0), [(4, true)]);
        assert!(texts(&figure(1.0).drawing()).iter().any(|text| text.starts_with("dotted")));
    }

    #[test]
    fn warm_ups_are_shaded_and_intervals_are_bands() {
        let mut uncertain = curve("a", &[(0.0, 1.0), (50.0, 1.0), (100.0, 1.0)]);
        uncertain.half_widths = Some(vec![0.1, 0.2, 0.1]);
        let caption = "72 nodes, scaled down".to_owned();
        let figure = Figure { warm_up: Some(30.0), caption, ..Figure::time_series("", "load", vec![uncertain]) };
        let drawing = figure.drawing();
        assert_eq!([groups(&drawing, "warm-up"), groups(&drawing, "band")], [1, 1]);
        assert!(["72 nodes, scaled down", "shaded: warm-up"].iter().all(|text| texts(&drawing).contains(text)));
        let later = Figure { x_min: Some(40.0), ..figure };
        assert_eq!(groups(&later.drawing(), "warm-up"), 0);
        assert!(!texts(&later.drawing()).contains(&"shaded: warm-up"));
    }

    /// Nothing of a drawing lies beyond its edges, whatever its size.
    #[test]
    fn drawings_are_as_large_as_they_say() {
        for size in [Size::SINGLE_COLUMN, Size::DOUBLE_COLUMN, Size::default()] {
            let curves = (0..12).map(|index| curve(&format!("name {index}"), &[(0.1, 100.0), (0.9, 9e5)])).collect();
            let drawing = Figure { size, ..Figure::latency("What a long title this is", "ns", curves) }.drawing();
            for shape in &drawing.shapes {
                let places = match shape {
                    Shape::Line { places, .. } | Shape::Area { places, .. } => places.clone(),
                    Shape::Circle { centre, .. } => vec![*centre],
                    Shape::Text { place, .. } => vec![*place],
                    Shape::Begin(_) | Shape::End => Vec::new(),
                };
                let inside = |(x, y): &Place| (0.0..=drawing.width).contains(x) && (0.0..=drawing.height).contains(y);
                assert!(places.iter().all(inside), "{size:?}: {shape:?}");
            }
        }
    }
}
