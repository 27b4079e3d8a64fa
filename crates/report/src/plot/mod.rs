//! Figures: curves over axes, as SVG, PNG or PDF.
//!
//! What a figure shows is plain data. `layout` finds the places of its parts, `draw` makes shapes of it, and `paint`, which with `pixels`
//! alone knows the plotting library, and `pdf` make a picture of the shapes.

mod around;
mod axis;
mod bars;
mod clip;
mod curves;
mod distribution;
mod draw;
mod heat_map;
mod intervals;
mod layout;
mod legend;
mod looks;
mod overlap;
mod paint;
mod pdf;
mod pixels;
mod shapes;
mod size;
mod ticks;

pub use distribution::{Counted, CountedOf};
pub use heat_map::{Cells, HeatMap};
pub use size::Size;
use ticks::step_for;

/// What a figure shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// What it is about.
    pub title: String,
    /// What runs to the right, with its unit.
    pub x_label: String,
    /// What runs upwards, with its unit.
    pub y_label: String,
    /// The curves, in the order of the legend.
    pub curves: Vec<Curve>,
    /// What is drawn in place of curves.
    pub heat: Option<HeatMap>,
    /// Where the axis to the right begins, if not at zero.
    pub x_min: Option<f64>,
    /// Where the axis to the right ends, if not at the data.
    pub x_max: Option<f64>,
    /// Where the axis upwards ends, if not at the data; what is higher is cut off.
    pub y_max: Option<f64>,
    /// Where the axis upwards begins, if not at zero.
    pub y_min: Option<f64>,
    /// Whether powers of ten are at equal distances on the axis to the right.
    pub log_x: bool,
    /// Whether they are on the axis upwards.
    pub log_y: bool,
    /// Whether what runs upwards are numbers of things: there is nothing between whole ones.
    pub counts: bool,
    /// Whether what runs upwards is the share of values that are not larger, and the tail is to be seen.
    pub percentiles: bool,
    /// The names at 0, 1, 2 and so on to the right, if there are no numbers there.
    pub categories: Vec<String>,
    /// Until where to the right the network warms up, in a figure over time.
    pub warm_up: Option<f64>,
    /// What stands below, in lines.
    pub caption: String,
    /// How large it is.
    pub size: Size,
    /// How curves are drawn.
    pub style: Style,
}

/// A curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Half the heights of the error bars of its points; in a figure of lines only, of the band around it.
    pub half_widths: Option<Vec<f64>>,
    /// From which place to the right its points are not what they stand for but the least that it can be, if any are.
    pub least_from: Option<f64>,
}

/// How curves are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A line with a marker at each point: for few points.
    #[default]
    Markers,
    /// As [`Style::Markers`], with a thin line where both axes agree.
    MarkersAndDiagonal,
    /// A line only: for many points.
    Line,
    /// From each point straight to the right: for histograms.
    Steps,
    /// One bar for each of the [categories](Figure::categories), of all curves on top of each other.
    Bars,
}

/// Beyond this multiple of the latency at the lowest load, curves of latency are cut off.
const LATENCY_MAX: f64 = 6.0;

impl Figure {
    /// Latency over offered load. Curves that leave for saturation are cut off at about six times the lowest latency.
    #[must_use]
    pub fn latency(title: impl Into<String>, unit: &str, curves: Vec<Curve>) -> Self {
        let values = || curves.iter().flat_map(|curve| &curve.points).map(|point| point.1);
        let limit = LATENCY_MAX * values().fold(f64::INFINITY, f64::min);
        let y_max = values().any(|latency| latency > limit).then(|| round_up(limit));
        Self {
            title: title.into(),
            x_label: "offered load (flits/node/cycle)".to_owned(),
            y_label: format!("mean message latency ({unit})"),
            curves,
            y_max,
            ..Self::default()
        }
    }

    /// Accepted over offered load.
    #[must_use]
    pub fn throughput(title: impl Into<String>, curves: Vec<Curve>) -> Self {
        Self {
            title: title.into(),
            x_label: "offered load (flits/node/cycle)".to_owned(),
            y_label: "accepted load (flits/node/cycle)".to_owned(),
            curves,
            style: Style::MarkersAndDiagonal,
            ..Self::default()
        }
    }

    /// Lets ends of axes that were given fit the data where the data would take less than half of an axis: axes that were chosen for a network of
    /// another size would show a smaller one in a corner.
    #[must_use]
    pub fn with_axes_that_fit(mut self) -> Self {
        let raised = self.raised();
        let points = || raised.iter().flat_map(|curve| &curve.points).copied();
        let x_fits =
            axis::is_filled((self.x_min, self.x_max), self.log_x, &points().map(|point| point.0).collect::<Vec<_>>());
        let y_fits =
            axis::is_filled((self.y_min, self.y_max), self.log_y, &points().map(|point| point.1).collect::<Vec<_>>());
        if !x_fits {
            (self.x_min, self.x_max) = (None, None);
        }
        if !y_fits {
            (self.y_min, self.y_max) = (None, None);
        }
        self
    }

    /// Something over time.
    #[must_use]
    pub fn time_series(title: impl Into<String>, y_label: impl Into<String>, curves: Vec<Curve>) -> Self {
        Self {
            title: title.into(),
            x_label: "time (cycles)".to_owned(),
            y_label: y_label.into(),
            curves,
            style: Style::Line,
            ..Self::default()
        }
    }
}

/// The next number upwards that looks good at the end of an axis.
fn round_up(value: f64) -> f64 {
    let step = step_for(value, 10);
    (value / step).ceil() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        for (value, end) in [(912.0, 1000.0), (130.0, 140.0), (1.0, 1.0), (0.33, 0.35), (20.0, 20.0), (5400.0, 6000.0)]
        {
            assert!((round_up(value) / end - 1.0).abs() < 1e-9, "{value}: {}, not {end}", round_up(value));
        }
    }

    #[test]
    fn axes_fit_data_that_would_be_in_a_corner() {
        let of = |points: &[(f64, f64)], log_y: bool| {
            let curves = vec![Curve { points: points.to_vec(), ..Curve::default() }];
            let ends =
                Figure { x_max: Some(1.0), y_min: Some(1.0), y_max: Some(1e5), log_y, curves, ..Figure::default() };
            let fitting = ends.with_axes_that_fit();
            (fitting.x_max, fitting.y_min.zip(fitting.y_max))
        };
        let given = Some((1.0, 1e5));
        assert_eq!(of(&[(0.1, 7.0), (0.9, 200.0)], true), (Some(1.0), None));
        assert_eq!(of(&[(0.1, 7.0), (0.9, 2e4)], true), (Some(1.0), given));
        // What goes on beyond an end is cut off as before.
        assert_eq!(of(&[(0.1, 7.0), (0.2, 9e9)], false), (None, given));
        assert_eq!(of(&[], false), (Some(1.0), given));
    }

    #[test]
    fn latencies_are_cut_off_only_when_they_run_away() {
        let curve = |last| Curve { points: vec![(0.1, 100.0), (0.5, last)], ..Curve::default() };
        assert_eq!(Figure::latency("", "cycles", vec![curve(550.0)]).y_max, None);
        assert_eq!(Figure::latency("", "cycles", vec![curve(9000.0)]).y_max, Some(600.0));
    }
}
