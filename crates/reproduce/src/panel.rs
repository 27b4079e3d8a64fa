//! What is drawn of a figure.

use tailback_report::{Curve, Estimate, Figure, Style};

use crate::quantity::{Quantity, SeriesColumn};
use crate::results::{Found, Results};
use crate::series::Sample;
use crate::signal::binned;

/// A drawing with the axes of the paper.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Its name, which its file has.
    pub name: String,
    /// The title, the labels and the ends of the axes; without curves.
    pub frame: Figure,
    /// What is shown.
    pub shown: Shown,
    /// What values are multiplied by, as 100 for percent.
    pub factor: f64,
    /// What places to the right are multiplied by.
    pub x_factor: f64,
    /// The curves, if not all.
    pub curves: Option<Vec<String>>,
}

/// What a drawing shows.
#[derive(Clone, Debug)]
pub enum Shown {
    /// A figure of reports over something that is varied.
    Curves {
        /// What runs upwards.
        quantity: Quantity,
        /// What runs to the right, if that is not clear.
        axis: Option<String>,
    },
    /// A time series around the event, averaged over all seeds.
    Series {
        /// What runs upwards.
        column: SeriesColumn,
        /// Cycles that are averaged.
        bin: Option<f64>,
    },
}

impl Panel {
    /// The drawing of what there is.
    #[must_use]
    pub fn draw(&self, results: &Results) -> Figure {
        let axis = match &self.shown {
            Shown::Curves { axis, .. } => axis.as_deref(),
            Shown::Series { .. } => None,
        };
        let place = results.experiment().axis(axis).unwrap_or_default();
        let names = self.curves.clone().unwrap_or_else(|| results.experiment().curve_names(place));
        let curves = names.into_iter().filter_map(|name| match &self.shown {
            Shown::Curves { quantity, .. } => Some(self.curve(name, quantity, axis, results)),
            Shown::Series { column, bin } => self.series(name, column, *bin, results),
        });
        let style = match &self.shown {
            Shown::Curves { .. } => Style::Markers,
            Shown::Series { .. } => Style::Line,
        };
        Figure { curves: curves.collect(), style, ..self.frame.clone() }
    }

    /// The means over all seeds of the points of which all have been run, with error bars.
    fn curve(&self, name: String, quantity: &Quantity, axis: Option<&str>, results: &Results) -> Curve {
        let places: Vec<f64> =
            results.experiment().curve(&name, axis).unwrap_or_default().iter().map(|p| p.0).collect();
        let (mut points, mut half_widths) = (Vec::new(), Vec::new());
        for x in places {
            let found: Result<Vec<&Found>, _> =
                (0..results.seeds()).map(|seed| results.at(&name, axis, Some(x), seed)).collect();
            let Ok(found) = found else { continue };
            let values: Vec<f64> = found.iter().filter_map(|found| quantity.of(found)).collect();
            let Some(estimate) = Estimate::from_samples(&values) else { continue };
            let single = if let [found] = found.as_slice() { quantity.ci95_of(found) } else { None };
            points.push((self.x_factor * x, self.factor * estimate.mean));
            half_widths.push(self.factor * estimate.half_width_95.or(single).unwrap_or(0.0));
        }
        Curve { name, points, half_widths: Some(half_widths) }
    }

    /// All seeds together; none if any has not been run.
    fn series(&self, name: String, column: &SeriesColumn, bin: Option<f64>, results: &Results) -> Option<Curve> {
        let mut samples = Vec::new();
        for seed in 0..results.seeds() {
            let found = results.at(&name, None, None, seed).ok()?;
            samples.extend(results.samples(found, column).ok()?);
        }
        let wanted = |&(x, _): &(f64, f64)| {
            self.frame.x_min.is_none_or(|least| x >= least) && self.frame.x_max.is_none_or(|most| x <= most)
        };
        // The mean over what has arrived so far would leave out the slowest packets.
        let bins = binned(samples, bin).into_iter().filter(Sample::is_complete);
        let points = bins.map(|sample| (self.x_factor * sample.time, self.factor * sample.value)).filter(wanted);
        Some(Curve { name, points: points.collect(), half_widths: None })
    }
}
