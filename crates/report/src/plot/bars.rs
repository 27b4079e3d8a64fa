//! Bars: one for each name along the axis to the right, of the values of all curves on top of each other.

use std::borrow::Cow;

use super::intervals::error_bar;
use super::layout::Layout;
use super::looks::Look;
use super::shapes::{Drawing, Shape, TEXT};
use super::{Curve, Figure, Style};

/// What a bar takes of the room that its name has.
const WIDTH: f64 = 0.6;
/// The line around a part of a bar, in points.
const OUTLINE: f64 = 0.5;

impl Figure {
    /// The curves with the heights at which they are drawn: those of bars stand on the curves before.
    pub(super) fn raised(&self) -> Cow<'_, [Curve]> {
        if self.style != Style::Bars {
            return Cow::Borrowed(&self.curves);
        }
        let mut heights: Vec<(f64, f64)> = Vec::new();
        let mut onto = |(x, y): (f64, f64)| match heights.iter_mut().find(|(known, _)| *known == x) {
            Some((_, height)) => {
                *height += y;
                (x, *height)
            }
            None => {
                heights.push((x, y));
                (x, y)
            }
        };
        let raise = |curve: &Curve| Curve { points: curve.points.iter().map(|&p| onto(p)).collect(), ..curve.clone() };
        Cow::Owned(self.curves.iter().map(raise).collect())
    }

    /// What a reader must know about bars that cannot be seen as a whole.
    pub(super) fn about_bars(&self, layout: &Layout) -> Vec<String> {
        let is_cut = |&(_, end): &(f64, f64)| layout.y.share(end).is_some_and(|share| share > 1.0 + 1e-9);
        let cut = self.raised().iter().flat_map(|curve| &curve.points).any(is_cut);
        let cut = cut.then(|| "bars that reach the upper edge go on beyond it".to_owned());
        let has_bar = |place: usize| self.curves.iter().any(|curve| curve.points.iter().any(|p| p.0 == place as f64));
        let empty = self.categories.iter().enumerate().filter(|(place, _)| !has_bar(*place));
        let empty: Vec<&str> = empty.map(|(_, name)| name.as_str()).collect();
        let empty = (!empty.is_empty()).then(|| format!("no values: {}", empty.join(", ")));
        cut.into_iter().chain(empty).collect()
    }

    /// The bars, with an error bar at the upper end of each part.
    pub(super) fn bars(&self, drawing: &mut Drawing, layout: &Layout) {
        let raised_curves = self.raised();
        for (index, (curve, raised)) in self.curves.iter().zip(raised_curves.iter()).enumerate() {
            drawing.group("bars", |drawing| self.parts(drawing, layout, curve, raised, Look::of(index)));
        }
        for raised in raised_curves.iter() {
            for (&point, &half_width) in raised.points.iter().zip(raised.half_widths.iter().flatten()) {
                let place = layout.place(point).filter(|&place| layout.frame.holds(place));
                place.into_iter().for_each(|place| error_bar(drawing, layout, point, place, half_width, TEXT));
            }
        }
    }

    /// The parts of all bars that one curve has, from where those before it end.
    fn parts(&self, drawing: &mut Drawing, layout: &Layout, curve: &Curve, raised: &Curve, look: Look) {
        let half = 0.5 * WIDTH * layout.frame.width() / self.categories.len().max(1) as f64;
        let inside = |y: f64| y.clamp(layout.frame.top, layout.frame.bottom);
        for (&(x, end), &(_, height)) in raised.points.iter().zip(&curve.points) {
            let (Some((middle, top)), Some((_, bottom))) = (layout.place((x, end)), layout.place((x, end - height)))
            else {
                continue;
            };
            let (top, bottom) = (inside(top), inside(bottom));
            if bottom > top {
                let (left, right) = (middle - half, middle + half);
                let places = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
                let outline = Some(("#ffffff", OUTLINE));
                drawing.shapes.push(Shape::Area { places, fill: look.colour, opacity: 1.0, outline });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Size;
    use super::*;

    fn figure(size: Size) -> Figure {
        let curve = |name: &str, heights: [f64; 2]| Curve {
            name: name.to_owned(),
            points: (0..2).map(|place| (f64::from(place), heights[place as usize])).collect(),
            ..Curve::default()
        };
        Figure {
            y_label: "share of links".to_owned(),
            categories: vec!["baseline".to_owned(), "LHRP".to_owned()],
            curves: vec![curve("data", [0.8, 0.75]), curve("NACKs", [0.0, 0.01]), curve("grants", [0.15, 0.2])],
            style: Style::Bars,
            size,
            ..Figure::default()
        }
    }

    /// Left, top, right and bottom of the parts of bars.
    fn parts(drawing: &Drawing) -> Vec<(&'static str, [f64; 4])> {
        let part = |shape: &Shape| match shape {
            Shape::Area { places, fill, outline: Some(_), .. } => {
                Some((*fill, [places[0].0, places[0].1, places[2].0, places[2].1]))
            }
            _ => None,
        };
        drawing.shapes.iter().filter_map(part).collect()
    }

    #[test]
    fn parts_of_a_bar_stand_on_each_other() {
        for size in [Size::SINGLE_COLUMN, Size::DOUBLE_COLUMN, Size::default()] {
            let drawing = figure(size).drawing();
            let parts = parts(&drawing);
            // Nothing is drawn of what there is nothing of.
            let colours: Vec<&str> = parts.iter().map(|part| part.0).collect();
            let [data, nacks, grants] = [0, 1, 2].map(|index| Look::of(index).colour);
            assert_eq!(colours, [data, data, nacks, grants, grants], "{size:?}");
            let height = |part: usize| parts[part].1[3] - parts[part].1[1];
            let near = |one: f64, other: f64| (one - other).abs() < 1e-6 * other.abs().max(1.0);
            assert!(near(height(0) / 0.8, height(1) / 0.75) && near(height(2) / 0.01, height(3) / 0.15), "{parts:?}");
            assert!(near(parts[3].1[3], parts[0].1[1]), "grants stand on data where there are no NACKs");
            assert!(near(parts[2].1[3], parts[1].1[1]) && near(parts[4].1[3], parts[2].1[1]), "{parts:?}");
            assert!(parts[0].1[2] < parts[1].1[0], "bars are apart");
        }
        let svg = figure(Size::default()).to_svg();
        assert!([">baseline<", ">LHRP<", ">data<", ">NACKs<"].iter().all(|text| svg.contains(text)));
    }

    #[test]
    fn axes_have_room_for_whole_bars_and_cut_off_what_is_beyond_a_given_end() {
        let mut figure = figure(Size::default());
        figure.y_max = Some(0.9);
        let drawing = figure.drawing();
        let cut = parts(&drawing);
        assert!(cut.iter().all(|part| part.1[1] >= 0.0) && cut[3].1[1] == cut[4].1[1], "{cut:?}");
        let says = |drawing: &Drawing| {
            drawing
                .shapes
                .iter()
                .any(|shape| matches!(shape, Shape::Text { text, .. } if text.contains("go on beyond")))
        };
        assert!(says(&drawing), "a reader is told");
        figure.y_max = None;
        assert!(!says(&figure.drawing()));
        // Half of the axis is taken by the whole bar, not by any part of it.
        figure.y_max = Some(1.7);
        assert_eq!(figure.clone().with_axes_that_fit().y_max, Some(1.7));
        figure.y_max = Some(2.5);
        assert_eq!(figure.with_axes_that_fit().y_max, None);
    }

    #[test]
    fn points_of_bars_have_names() {
        let mut csv = Vec::new();
        figure(Size::default()).to_table().write_csv(&mut csv).unwrap();
        let csv = String::from_utf8(csv).unwrap();
        assert!(csv.starts_with("curve,x,y,y_ci95,bound\ndata,baseline,0.8,,\ndata,LHRP,0.75,,\n"), "{csv}");
    }

    #[test]
    fn bars_without_values_are_named() {
        let mut figure = figure(Size::default());
        figure.curves.iter_mut().for_each(|curve| curve.points.truncate(1));
        assert!(figure.to_svg().contains("no values: LHRP"));
    }
}
