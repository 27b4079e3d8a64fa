//! The points of a sweep, and where its curves end.

use std::collections::BTreeMap;

use tailback_report::{Report, SweepPoint};
use tailback_scenario::{Point, Sweep};

/// The points of a sweep with the reports that are there so far.
#[derive(Debug)]
pub struct Curves {
    points: Vec<Point>,
    seeds: usize,
    load_axis: Option<usize>,
    stops: bool,
    /// By point: its curve.
    curve_of: Vec<usize>,
    /// By curve: its points.
    curves: Vec<Vec<usize>>,
    /// By point, then by seed.
    reports: Vec<Vec<Option<Report>>>,
}

impl Curves {
    /// The points of a sweep, none of which has been run.
    #[must_use]
    pub fn new(sweep: &Sweep) -> Self {
        let points = sweep.points();
        let (seeds, load_axis) = (sweep.runs_per_point(), sweep.load_axis());
        let (mut known, mut curve_of, mut curves) = (BTreeMap::new(), Vec::new(), Vec::new());
        for (place, point) in points.iter().enumerate() {
            let others = point.settings.iter().enumerate().filter(|(axis, _)| Some(*axis) != load_axis);
            let key = (&point.variant, others.map(|(_, (_, value))| value).collect::<Vec<_>>());
            let curve = *known.entry(key).or_insert_with(|| {
                curves.push(Vec::new());
                curves.len() - 1
            });
            curve_of.push(curve);
            curves[curve].push(place);
        }
        Self {
            stops: sweep.stop_when_saturated && load_axis.is_some(),
            reports: vec![vec![None; seeds]; points.len()],
            points,
            seeds,
            load_axis,
            curve_of,
            curves,
        }
    }

    /// The report of a point with a seed, both counted from 0.
    ///
    /// # Panics
    /// When there is no such point or seed.
    pub fn put(&mut self, point: usize, seed: usize, report: Report) {
        self.reports[point][seed] = Some(report);
    }

    /// Whether a point lies beyond the end of its curve, as far as is known.
    #[must_use]
    pub fn is_beyond_end(&self, point: usize) -> bool {
        self.stops && self.end_of(point).is_some_and(|end| self.load(point) > self.load(end))
    }

    /// The first saturated point of the curve of `point`.
    fn end_of(&self, point: usize) -> Option<usize> {
        let on_curve = self.curves[self.curve_of[point]].iter().copied();
        on_curve.filter(|&other| self.is_saturated(other)).min_by(|&a, &b| self.load(a).total_cmp(&self.load(b)))
    }

    fn load(&self, point: usize) -> f64 {
        let value = self.load_axis.map(|axis| self.points[point].settings[axis].1.as_str());
        value.and_then(|value| value.parse().ok()).unwrap_or(0.0)
    }

    /// Whether all seeds have been run, and more than half of them were saturated.
    fn is_saturated(&self, point: usize) -> bool {
        let saturated = |report: &Option<Report>| report.as_ref().map(|report| report.total.saturated);
        let known: Option<Vec<bool>> = self.reports[point].iter().map(saturated).collect();
        known.is_some_and(|seeds| 2 * seeds.iter().filter(|&&saturated| saturated).count() > self.seeds)
    }

    /// All points that have been run and belong to their curves. Which those are does not depend on the order in which
    /// they were run.
    #[must_use]
    pub fn points(&self) -> Vec<SweepPoint> {
        let finished = |&point: &usize| self.reports[point].iter().all(Option::is_some) && !self.is_beyond_end(point);
        let sweep_point = |point: usize| SweepPoint {
            settings: self.points[point].settings.iter().map(readable).collect(),
            variant: self.points[point].variant.clone(),
            reports: self.reports[point].iter().flatten().cloned().collect(),
        };
        (0..self.points.len()).filter(finished).map(sweep_point).collect()
    }
}

/// A setting as it stands in tables: without the quotes of a file.
fn readable((path, value): &(String, String)) -> (String, String) {
    (path.clone(), value.trim_matches('"').to_owned())
}
