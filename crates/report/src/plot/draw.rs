//! How figures are drawn. The only place that knows the plotting library.

use kuva::plot::legend::{LegendEntry, LegendPosition, LegendShape};
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::theme::Theme;

use super::legend::{Axes, Corner};
use super::{Curve, Figure, Style, round_up, tick_step};
use crate::Digest;

/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito), without the yellow that is lost
/// on white; darker ones first.
const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333"];

/// Shapes of markers. Their number and that of the colours have no common divisor, so pairs repeat late.
const MARKERS: [MarkerShape; 6] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Triangle,
    MarkerShape::Diamond,
    MarkerShape::TriangleDown,
    MarkerShape::Pentagon,
];

/// Up to how many curves the legend lies inside of the axes.
const INSIDE_LEGEND_MAX: usize = 8;

impl Figure {
    /// The figure as an SVG image. Its text is text in the viewer's own sans-serif font.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let (plots, layout) = self.drawing();
        with_stable_clip_id(&kuva::render_to_svg(plots, layout))
    }

    /// The figure as a PNG image, with `scale` pixels to a unit: 1 for a small one, 2 for fine print. It needs no font
    /// of the system.
    ///
    /// # Panics
    /// When the library cannot encode its own pixels.
    #[must_use]
    pub fn to_png(&self, scale: f32) -> Vec<u8> {
        let (plots, layout) = self.drawing();
        kuva::render_to_raster(plots, layout, scale).expect("pixels can be encoded")
    }

    fn drawing(&self) -> (Vec<Plot>, Layout) {
        let axes = self.axes();
        let mut plots = Vec::new();
        if self.style == Style::MarkersAndDiagonal {
            let end = axes.x.1.min(axes.y.1);
            let diagonal = LinePlot::new().with_data([(0.0, 0.0), (end, end)]).with_color("#999999");
            plots.push(Plot::Line(diagonal.with_stroke_width(1.0).with_dashed()));
        }
        plots.extend(self.curves.iter().enumerate().map(|(index, curve)| line(curve, index, self.style)));
        // Without any curve there would be no axes either.
        if self.style != Style::Line || self.curves.is_empty() {
            plots.push(markers(&Curve::default(), 0, &axes));
            plots.extend(self.curves.iter().enumerate().map(|(index, curve)| markers(curve, index, &axes)));
        }
        let layout = self.layout(&axes);
        (plots, layout)
    }

    /// Where the axes begin and end; at zero and a little beyond the data, unless the figure says otherwise.
    fn axes(&self) -> Axes {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let largest = |values: &mut dyn Iterator<Item = f64>| {
            let largest = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
            if largest > 0.0 { largest } else { 1.0 }
        };
        let x_max = self.x_max.unwrap_or_else(|| self.end_of_x(largest(&mut points().map(|point| point.0))));
        // A little air above the highest point.
        let y_max = self.y_max.unwrap_or_else(|| round_up(1.02 * largest(&mut points().map(|point| point.1))));
        // There is no zero on a logarithmic axis.
        let least = |values: &mut dyn Iterator<Item = f64>, max: f64| {
            values.filter(|&value| value > 0.0).fold(max / 10.0, f64::min)
        };
        let x_min = if self.log_x { least(&mut points().map(|point| point.0), x_max) } else { 0.0 };
        let y_min = if self.log_y { least(&mut points().map(|point| point.1), y_max) } else { 0.0 };
        Axes { x: (self.x_min.unwrap_or(x_min), x_max), y: (self.y_min.unwrap_or(y_min), y_max) }
    }

    /// Where the axis to the right ends: far enough for whole markers, or at the next tick if that is near.
    fn end_of_x(&self, largest: f64) -> f64 {
        match self.style {
            Style::Markers | Style::MarkersAndDiagonal => 1.02 * largest,
            Style::Line if round_up(largest) < 1.05 * largest => round_up(largest),
            Style::Line => largest,
        }
    }

    fn layout(&self, axes: &Axes) -> Layout {
        let mut layout = Layout::new(axes.x, axes.y)
            .with_theme(theme())
            .with_width(760.0)
            .with_height(500.0)
            .with_title(escaped(&self.title))
            .with_x_label(escaped(&self.x_label))
            .with_y_label(escaped(&self.y_label))
            .with_x_axis_min(axes.x.0)
            .with_x_axis_max(axes.x.1)
            .with_y_axis_min(axes.y.0)
            .with_y_axis_max(axes.y.1)
            .with_tick_format(TickFormat::Auto)
            .with_title_size(17)
            .with_label_size(14)
            .with_tick_size(12)
            .with_body_size(12)
            .with_grid_line_width(0.8);
        let steps = [axes.x, axes.y].map(|(from, to)| tick_step(to - from));
        layout = if self.log_x {
            layout.with_log_x()
        } else {
            layout.with_x_tick_step(steps[0]).with_x_tick_format(tick_format(steps[0]))
        };
        layout = if self.log_y {
            layout.with_log_y()
        } else {
            layout.with_y_tick_step(steps[1]).with_y_tick_format(tick_format(steps[1]))
        };
        let entries: Vec<_> = self.curves.iter().enumerate().map(|(index, curve)| self.entry(curve, index)).collect();
        if entries.iter().any(|entry| !entry.label.is_empty()) {
            let inside = self.style != Style::Line && entries.len() <= INSIDE_LEGEND_MAX;
            let position = if inside { position(self.freest_corner(axes)) } else { LegendPosition::OutsideRightTop };
            layout = layout.with_legend_entries(entries).with_legend_position(position);
        }
        layout
    }

    fn entry(&self, curve: &Curve, index: usize) -> LegendEntry {
        let shape = match self.style {
            Style::Line => LegendShape::Line,
            Style::Markers | Style::MarkersAndDiagonal => LegendShape::Marker(MARKERS[index % MARKERS.len()]),
        };
        LegendEntry { label: escaped(&curve.name), color: colour(index).to_owned(), shape, dasharray: None }
    }
}

fn position(corner: Corner) -> LegendPosition {
    match corner {
        Corner::TopLeft => LegendPosition::InsideTopLeft,
        Corner::TopRight => LegendPosition::InsideTopRight,
        Corner::BottomRight => LegendPosition::InsideBottomRight,
        Corner::BottomLeft => LegendPosition::InsideBottomLeft,
    }
}

/// Renames the clipping area after the content of the image.
///
/// The library numbers clipping areas through all images of a process, so that several can stand on one page. A name
/// from the content does so too, and is the same whenever the figure is the same.
fn with_stable_clip_id(svg: &str) -> String {
    const BEFORE: &str = "<clipPath id=\"";
    let id = svg.split_once(BEFORE).and_then(|(_, rest)| rest.split_once('"')).map(|(id, _)| id);
    let Some(id) = id else { return svg.to_owned() };
    let named = |name: &str| {
        let defined = svg.replace(&format!("{BEFORE}{id}\""), &format!("{BEFORE}{name}\""));
        defined.replace(&format!("clip-path=\"url(#{id})\""), &format!("clip-path=\"url(#{name})\""))
    };
    named(&format!("axes-{}", &Digest::new().text(&named("axes")).hex()[..12]))
}

/// How ticks of a linear axis are written: all in the same way. By itself the library writes 0.01 and 8e-3 beside each other.
fn tick_format(step: f64) -> TickFormat {
    match decimals(step) {
        places @ 3..=6 => TickFormat::Fixed(places),
        _ => TickFormat::Auto,
    }
}

/// The decimal places of a distance between ticks.
fn decimals(step: f64) -> usize {
    (0..12).find(|&places| step * libm::pow(10.0, f64::from(places)) > 0.999).unwrap_or(12) as usize
}

fn line(curve: &Curve, index: usize, style: Style) -> Plot {
    let width = if style == Style::Line { 1.5 } else { 2.0 };
    let points = curve.points.iter().copied();
    Plot::Line(LinePlot::new().with_data(points).with_color(colour(index)).with_stroke_width(width))
}

/// The markers of a curve, those that would be cut in halves left out, and its error bars.
fn markers(curve: &Curve, index: usize, axes: &Axes) -> Plot {
    let mut plot = ScatterPlot::new()
        .with_data(curve.points.iter().copied())
        .with_color(colour(index))
        .with_marker(MARKERS[index % MARKERS.len()])
        .with_size(4.5);
    for (point, half_width) in plot.data.iter_mut().zip(curve.half_widths.iter().flatten()) {
        // None instead of an interval without width, which would be drawn as a dash.
        point.y_err = (*half_width > 0.0).then_some((*half_width, *half_width));
    }
    plot.data.retain(|point| point.y <= axes.y.1 && point.x >= axes.x.0);
    Plot::Scatter(plot)
}

fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

/// Quiet axes on white.
fn theme() -> Theme {
    let dark = || "#333333".to_owned();
    Theme {
        axis_color: dark(),
        tick_color: dark(),
        text_color: "#222222".to_owned(),
        grid_color: "#e4e4e4".to_owned(),
        legend_border: "#cccccc".to_owned(),
        ..Theme::light()
    }
}

/// A text as it is: the library takes what is between dollar signs for a formula.
fn escaped(text: &str) -> String {
    text.replace('$', "\\$")
}
