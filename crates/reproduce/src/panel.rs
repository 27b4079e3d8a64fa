//! What is drawn of a figure.

use tailback_report::{Curve, Estimate, Figure, Style};

use crate::quantity::{Quantity, SeriesColumn};
use crate::results::{Absent, Found, Results};
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
    /// A bar for each curve, of several figures of its reports on top of each other.
    Bars {
        /// What they are made of, from the lowest upwards.
        parts: Vec<Part>,
        /// What is varied along a curve, if that is not clear.
        axis: Option<String>,
        /// At which point of a curve; its only one if none is given.
        at: Option<f64>,
    },
    /// Time series around the event, averaged over all seeds.
    Series {
        /// What runs upwards: of each curve the same one, or of one curve several.
        lines: Vec<Line>,
        /// Cycles that are averaged.
        bin: Option<f64>,
    },
}

/// A time series that is drawn.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name in the legend; none for that of its curve.
    pub name: Option<String>,
    /// What it shows.
    pub column: SeriesColumn,
    /// What values are multiplied by before they are drawn, beside what all of the panel are.
    pub factor: f64,
}

/// A part of each bar.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name in the legend.
    pub name: String,
    /// How high it is.
    pub quantity: Quantity,
}

impl Shown {
    /// What runs to the right, or is varied along a curve.
    pub(crate) fn axis(&self) -> Option<&str> {
        match self {
            Self::Curves { axis, .. } | Self::Bars { axis, .. } => axis.as_deref(),
            Self::Series { .. } => None,
        }
    }
}

impl Panel {
    /// The drawing of what there is. Below it stands of which runs the time series is not drawn, and why.
    #[must_use]
    pub fn draw(&self, results: &Results) -> Figure {
        let axis = self.shown.axis();
        let place = results.experiment().axis(axis).unwrap_or_default();
        let names = self.curves.clone().unwrap_or_else(|| results.experiment().curve_names(place));
        let frame = self.frame.clone();
        match &self.shown {
            Shown::Curves { quantity, .. } => {
                let curves = names.into_iter().map(|name| self.curve(name, quantity, axis, results)).collect();
                Figure { curves, style: Style::Markers, ..frame }
            }
            Shown::Bars { parts, at, .. } => {
                let curves = parts.iter().map(|part| self.part(part, &names, axis, *at, results)).collect();
                Figure { curves, style: Style::Bars, categories: names, ..frame }
            }
            Shown::Series { lines, bin } => {
                let (mut curves, mut caption) = (Vec::new(), String::new());
                for (line, name) in lines.iter().flat_map(|line| names.iter().map(move |name| (line, name))) {
                    match self.series(name, line, *bin, results) {
                        Ok(curve) => curves.push(curve),
                        Err(Absent::NotRun(_)) => {}
                        Err(Absent::Undefined(why) | Absent::Incomplete(why)) => {
                            caption += &format!("not drawn: {name}: {why}\n");
                        }
                    }
                }
                Figure { curves, style: Style::Line, caption, ..frame }
            }
        }
    }

    /// The means over all seeds of the points of which all have been run, with error bars.
    fn curve(&self, name: String, quantity: &Quantity, axis: Option<&str>, results: &Results) -> Curve {
        let places: Vec<f64> =
            results.experiment().curve(&name, axis).unwrap_or_default().iter().map(|p| p.0).collect();
        let (mut points, mut half_widths) = (Vec::new(), Vec::new());
        for x in places {
            let Some((mean, half_width)) = self.mean(&name, quantity, axis, Some(x), results) else { continue };
            points.push((self.x_factor * x, mean));
            half_widths.push(half_width);
        }
        Curve { name, points, half_widths: Some(half_widths), ..Curve::default() }
    }

    /// A part of the bars of the curves with these names, of which one without a number has none.
    fn part(&self, part: &Part, names: &[String], axis: Option<&str>, at: Option<f64>, results: &Results) -> Curve {
        let mean = |(place, name): (usize, &String)| Some((place, self.mean(name, &part.quantity, axis, at, results)?));
        let found: Vec<_> = names.iter().enumerate().filter_map(mean).collect();
        Curve {
            name: part.name.clone(),
            points: found.iter().map(|&(place, (mean, _))| (place as f64, mean)).collect(),
            half_widths: Some(found.into_iter().map(|(_, (_, half_width))| half_width).collect()),
            ..Curve::default()
        }
    }

    /// The mean over all seeds at a point of a curve, and half the width of its interval; none if a seed has not been run, or has no such number.
    fn mean(
        &self,
        curve: &str,
        quantity: &Quantity,
        axis: Option<&str>,
        at: Option<f64>,
        results: &Results,
    ) -> Option<(f64, f64)> {
        let found: Result<Vec<&Found>, _> =
            (0..results.seeds()).map(|seed| results.at(curve, axis, at, seed)).collect();
        let found = found.ok()?;
        let values: Option<Vec<f64>> = found.iter().map(|found| quantity.of(found)).collect();
        let estimate = Estimate::from_samples(&values?)?;
        let single = if let [found] = found.as_slice() { quantity.ci95_of(found) } else { None };
        Some((self.factor * estimate.mean, self.factor * estimate.half_width_95.or(single).unwrap_or(0.0)))
    }

    /// All seeds together, if all have been run.
    fn series(&self, curve: &str, line: &Line, bin: Option<f64>, results: &Results) -> Result<Curve, Absent> {
        let Line { name, column, factor } = line;
        let mut samples = Vec::new();
        for seed in 0..results.seeds() {
            let found = results.at(curve, None, None, seed)?;
            samples.extend(results.samples(found, column)?);
        }
        let wanted = |&(x, _): &(f64, f64)| {
            self.frame.x_min.is_none_or(|least| x >= least) && self.frame.x_max.is_none_or(|most| x <= most)
        };
        // The mean over what has arrived so far leaves out the slowest packets, and may be less than it will be.
        let mut bins = binned(samples, bin);
        bins.retain(|sample| sample.is_complete() || (column.waits() && sample.is_bound()));
        let least_from = bins.iter().find(|sample| !sample.is_complete()).map(|sample| self.x_factor * sample.time);
        let factor = self.factor * factor;
        let points = bins.iter().map(|sample| (self.x_factor * sample.time, factor * sample.value)).filter(wanted);
        let name = name.clone().unwrap_or_else(|| curve.to_owned());
        Ok(Curve { name, points: points.collect(), least_from, ..Curve::default() })
    }
}
