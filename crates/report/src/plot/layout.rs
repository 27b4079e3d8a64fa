//! Where everything of a figure lies: the panel, and around it the title, the legend, the captions and what is written along the axes.

use super::axis::{Axis, SHARE_MAX, Scale, Tick};
use super::clip::Frame;
use super::legend::Legend;
use super::shapes::{balanced, lines, width_of};
use super::{Figure, Size, Style};

/// Sizes of texts, in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fonts {
    pub title: u32,
    pub label: u32,
    pub tick: u32,
    pub caption: u32,
}

impl Fonts {
    /// What can be read in a figure of this size, and leaves room for curves.
    fn of(size: Size) -> Self {
        match size.width {
            width if width < 330.0 => Self { title: 8, label: 8, tick: 7, caption: 6 },
            width if width < 540.0 => Self { title: 10, label: 9, tick: 8, caption: 7 },
            _ => Self { title: 12, label: 10, tick: 9, caption: 8 },
        }
    }
}

/// Where the parts of a figure lie.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub size: Size,
    pub fonts: Fonts,
    pub title: Vec<String>,
    /// What the axis upwards says, in lines.
    pub y_label: Vec<String>,
    pub caption: Vec<String>,
    pub legend: Legend,
    /// The panel.
    pub frame: Frame,
    pub x: Axis,
    pub y: Axis,
    pub x_ticks: Vec<Tick>,
    pub y_ticks: Vec<Tick>,
    /// In how many rows, in turn, stands what is written along the axis to the right.
    pub x_rows: usize,
}

/// Between neighbours.
pub(super) const GAP: f64 = 4.0;
/// Half the size of markers, in sizes of the text along the axes.
const MARKER: f64 = 0.29;
/// About this share of the width of a figure is the panel's.
const PANEL_SHARE: f64 = 0.78;
/// Names that do not fit side by side stand in at most so many rows.
const ROWS_MAX: usize = 3;

/// The height of a line of text.
pub(super) fn line_height(font: u32) -> f64 {
    1.35 * f64::from(font)
}

/// In how many rows, in turn, names have room that stand along an axis.
fn rows_for(axis: &Axis, width: f64, font: u32) -> usize {
    let Scale::Names(names) = &axis.scale else { return 1 };
    let widest = names.iter().map(|name| width_of(name, font)).fold(0.0, f64::max);
    let room = PANEL_SHARE * width / names.len().max(1) as f64;
    (libm::ceil((widest + GAP) / room) as usize).clamp(1, ROWS_MAX)
}

impl Layout {
    /// Lays a figure out, with captions below.
    pub fn new(figure: &Figure, captions: &[String]) -> Self {
        let mut size = figure.size;
        let fonts = Fonts::of(size);
        let (x, y) = figure.axes();
        let room = size.width - 2.0 * GAP;
        let title = balanced(&figure.title, fonts.title, room);
        let caption: Vec<String> = captions.iter().flat_map(|text| lines(text, fonts.caption, room)).collect();
        let names: Vec<&str> = figure.curves.iter().map(|curve| curve.name.as_str()).collect();
        let names = if names == [figure.title.as_str()] { Vec::new() } else { names };
        let legend = Legend::new(&names, size, fonts.tick);
        let line = line_height;
        let x_rows = rows_for(&x, size.width, fonts.tick);
        if size.grows {
            size.height += legend.height_below() + (x_rows - 1) as f64 * line(fonts.tick);
        }
        let title_height = if title.is_empty() { 0.0 } else { title.len() as f64 * line(fonts.title) + 1.0 };
        let label_height = |text: &str| if text.is_empty() { 0.0 } else { line(fonts.label) };
        let below = 1.2 * GAP
            + x_rows as f64 * line(fonts.tick)
            + label_height(&figure.x_label)
            + legend.height_below()
            + caption.len() as f64 * line(fonts.caption)
            + GAP;
        let top = GAP + title_height + 0.5 * f64::from(fonts.tick);
        let bottom = (size.height - below).max(top + 20.0);
        let y_label = balanced(&figure.y_label, fonts.label, (bottom - top).max(0.7 * size.height));
        let y_ticks = y.ticks(((bottom - top) / (2.6 * f64::from(fonts.tick))) as usize);
        let widest = y_ticks.iter().map(|tick| width_of(&tick.label, fonts.tick)).fold(0.0, f64::max);
        let left = GAP + y_label.len() as f64 * line(fonts.label) + widest + 2.0 * GAP;
        let x_room = |ticks: &[Tick]| {
            ticks.last().map_or(0.0, |tick| width_of(&tick.label, fonts.tick) / 2.0 - (1.0 - tick.share) * room / 2.0)
        };
        let widest_x = x.ticks(6).iter().map(|tick| width_of(&tick.label, fonts.tick)).fold(10.0, f64::max);
        let bar = figure.heat.as_ref().map_or(0.0, |heat| heat.width_beside(bottom - top, fonts.tick, fonts.label));
        let right = size.width - GAP - legend.width_beside() - bar;
        let x_ticks = x.ticks(((right - left) / (1.6 * widest_x).max(3.5 * f64::from(fonts.tick))) as usize);
        let right = if legend.width_beside() + bar > 0.0 { right } else { right - x_room(&x_ticks).max(GAP) };
        let frame = Frame { left, top, right: right.max(left + 20.0), bottom };
        Self { size, fonts, title, y_label, caption, legend, frame, x, y, x_ticks, y_ticks, x_rows }
    }

    /// Half the size of markers, in points.
    pub fn marker(&self) -> f64 {
        MARKER * f64::from(self.fonts.tick)
    }

    /// The place of a point; none if the axes have none for it.
    pub fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let Frame { left, bottom, .. } = self.frame;
        Some((left + self.x.share(x)? * self.frame.width(), bottom - self.y.share(y)? * self.frame.height()))
    }
}

impl Figure {
    /// Where the axes begin and end.
    fn axes(&self) -> (Axis, Axis) {
        if let Some(heat) = &self.heat {
            return (heat.columns.axis(), heat.rows.axis());
        }
        let curves = self.raised();
        // What cannot be seen to the side takes no room upwards, and what is above an end that is given none to the side.
        let highest = if self.percentiles { Some(self.y_max.unwrap_or(SHARE_MAX)) } else { self.y_max };
        let xs: Vec<f64> = curves.iter().flat_map(|curve| below(&curve.points, highest)).map(|point| point.0).collect();
        let x = Axis::around(self.scale_of_x(), (self.x_min, self.x_max), &xs, &[], false);
        let points = || curves.iter().flat_map(|curve| &curve.points);
        let inside = |place: f64| x.share(place).is_some_and(|share| (-1e-9..=1.0 + 1e-9).contains(&share));
        let ys: Vec<f64> = points().filter(|point| inside(point.0)).map(|point| point.1).collect();
        let ends = |curve: &super::Curve| {
            let widths = curve.half_widths.clone().unwrap_or_default();
            curve
                .points
                .iter()
                .zip(widths)
                .filter(|(point, _)| inside(point.0))
                .map(|(point, width)| point.1 + width)
                .collect::<Vec<_>>()
        };
        let above: Vec<f64> = curves.iter().flat_map(ends).collect();
        let y_scale = match (self.percentiles, self.log_y) {
            (true, _) => Scale::Nines,
            (false, true) => Scale::Log,
            (false, false) if self.counts => Scale::Whole,
            (false, false) => Scale::Linear,
        };
        let y = match self.style {
            // What is counted, or has a height, begins at nothing.
            Style::Steps | Style::Bars if !self.log_y && self.y_min.is_none() => {
                Axis::around(y_scale, (Some(0.0), self.y_max), &ys, &above, true)
            }
            _ => Axis::around(y_scale, (self.y_min, self.y_max), &ys, &above, true),
        };
        (x, y)
    }

    fn scale_of_x(&self) -> Scale {
        if !self.categories.is_empty() {
            Scale::Names(self.categories.clone())
        } else if self.log_x {
            Scale::Log
        } else {
            Scale::Linear
        }
    }
}

/// The points up to the last one that is not above an end, and the one after it: to there lines go.
fn below(points: &[(f64, f64)], highest: Option<f64>) -> &[(f64, f64)] {
    let Some(highest) = highest else { return points };
    let seen = points.iter().rposition(|point| point.1 <= highest);
    let count = seen.map_or(points.len(), |last| last + 2).min(points.len());
    &points[..count]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Curve;

    /// Names that are too wide to stand side by side do not overlap.
    #[test]
    fn wide_names_stand_in_rows() {
        let names = |names: &[&str]| {
            let categories: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let points = (0..names.len()).map(|place| (place as f64, 1.0)).collect();
            let curves = vec![Curve { points, ..Curve::default() }];
            let figure = Figure { size: Size::SINGLE_COLUMN, categories, curves, ..Figure::default() };
            Layout::new(&figure, &[])
        };
        let few = names(&["MIN", "VAL", "UGAL-L"]);
        assert_eq!((few.x_rows, few.size.height), (1, Size::SINGLE_COLUMN.height));
        let many = names(&["minimal", "valiant", "ugal-l", "ugal-g", "piggyback", "par", "olm", "base"]);
        assert!(
            many.x_rows > 1 && many.size.height > few.size.height && many.frame.height() > 0.9 * few.frame.height()
        );
        for row in 0..many.x_rows {
            let in_row: Vec<&Tick> = many.x_ticks.iter().skip(row).step_by(many.x_rows).collect();
            for pair in in_row.windows(2) {
                let apart = (pair[1].share - pair[0].share) * many.frame.width();
                let wide = f64::midpoint(width_of(&pair[0].label, 7), width_of(&pair[1].label, 7));
                assert!(apart > wide, "{} and {}", pair[0].label, pair[1].label);
            }
        }
    }

    /// In any size and with any number of curves, the panel is inside of the figure and has most of it, and the legend is outside of the
    /// panel.
    #[test]
    fn panels_have_most_of_a_figure() {
        for size in [Size::SINGLE_COLUMN, Size::DOUBLE_COLUMN, Size::default()] {
            for count in [1, 3, 12] {
                let curve = |index: usize| Curve {
                    name: format!("curve number {index}"),
                    points: vec![(0.1, 100.0), (0.9, 130_000.0)],
                    ..Curve::default()
                };
                let curves = (0..count).map(curve).collect();
                let figure = Figure { size, ..Figure::latency("A title", "ns", curves) };
                let layout = Layout::new(&figure, &["one caption".to_owned()]);
                let Frame { left, top, right, bottom } = layout.frame;
                assert!(left > 0.0 && top > 0.0 && right < size.width && bottom < size.height, "{layout:?}");
                let share = layout.frame.width() * layout.frame.height() / (size.width * size.height);
                assert!(share > 0.25, "{size:?} with {count}: {share}");
            }
        }
    }
}
