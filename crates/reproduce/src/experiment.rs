//! The runs of a figure at one of its scales.

use tailback_scenario::{Axis, Document, Point, Sweep};

/// How large a figure is reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scale {
    /// Scaled down, for minutes.
    Quick,
    /// As the paper has it.
    Full,
}

impl Scale {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Quick, Self::Full];

    /// Its name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}

/// The runs of a figure at a scale: a sweep over a scenario that overrides have been laid over.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The overrides.
    pub assignments: Vec<String>,
    /// What is varied.
    pub sweep: Sweep,
    /// The cycle that times of series are counted from.
    pub event: u64,
}

impl Experiment {
    /// The scenario without anything varied.
    #[must_use]
    pub fn base(&self, scenario: &Document) -> Document {
        self.assignments.iter().fold(scenario.clone(), |document, assignment| document.with(assignment))
    }

    /// The axis that runs to the right: the one with this path; without one the load, or the only one there is.
    ///
    /// # Errors
    /// When there is no such axis, or it is not clear which one is meant.
    pub fn axis(&self, path: Option<&str>) -> Result<Option<usize>, String> {
        let axes = &self.sweep.axes;
        let paths = || axes.iter().map(|axis| format!("`{}`", axis.path)).collect::<Vec<_>>().join(", ");
        match path {
            Some(path) => match axes.iter().position(|axis| axis.path == path) {
                Some(place) => Ok(Some(place)),
                None => Err(format!("nothing is varied over `{path}`; there is {}", paths())),
            },
            None if axes.len() <= 1 => Ok((!axes.is_empty()).then_some(0)),
            None => match self.sweep.load_axis() {
                Some(place) => Ok(Some(place)),
                None => Err(format!("say along which `axis`: {}", paths())),
            },
        }
    }

    /// The points of a curve with their places to the right, from left to right.
    ///
    /// # Errors
    /// When there is no such curve, or the axis has values that are no numbers.
    pub fn curve(&self, name: &str, axis: Option<&str>) -> Result<Vec<(f64, usize)>, String> {
        let axis = self.axis(axis)?;
        let points = self.sweep.points();
        let on_curve = points.iter().enumerate().filter(|(_, point)| point.curve(axis) == name);
        let placed: Result<Vec<(f64, usize)>, String> =
            on_curve.map(|(place, point)| Ok((position(point, axis)?, place))).collect();
        let mut placed = placed?;
        if placed.is_empty() {
            return Err(format!("there is no curve \"{name}\"; there is {}", self.curve_names(axis).join(", ")));
        }
        placed.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(placed)
    }

    /// Whether a curve has a point at `at`, or is one point where nobody says which.
    ///
    /// # Errors
    /// A sentence about what it has instead.
    pub(crate) fn check_place(&self, curve: &str, axis: Option<&str>, at: Option<f64>) -> Result<(), String> {
        let points = self.curve(curve, axis)?;
        match at {
            None if points.len() > 1 => Err(format!("\"{curve}\" has {} points; say `at` which", points.len())),
            Some(at) if !points.iter().any(|(x, _)| same(*x, at)) => Err(format!("\"{curve}\" has no point at {at}")),
            _ => Ok(()),
        }
    }

    /// The names of all curves along an axis, in the order of the file.
    #[must_use]
    pub fn curve_names(&self, axis: Option<usize>) -> Vec<String> {
        let mut names = Vec::new();
        for point in self.sweep.points() {
            let name = point.curve(axis);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Lays other values, seeds and overrides over it.
    pub(crate) fn rescale(&mut self, scaling: &Scaling) {
        self.assignments.extend(scaling.assignments.iter().cloned());
        for axis in &scaling.axes {
            match self.sweep.axes.iter_mut().find(|known| known.path == axis.path) {
                Some(known) => *known = axis.clone(),
                None => self.sweep.axes.push(axis.clone()),
            }
        }
        for (name, assignments) in &scaling.variants {
            if let Some(variant) = self.sweep.variants.iter_mut().find(|variant| variant.name == *name) {
                variant.assignments.extend(assignments.iter().cloned());
            }
        }
        if let Some(seeds) = &scaling.seeds {
            self.sweep.seeds.clone_from(seeds);
        }
        self.event = scaling.event.unwrap_or(self.event);
    }
}

/// What a scale lays over a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scaling {
    pub assignments: Vec<String>,
    pub axes: Vec<Axis>,
    pub seeds: Option<Vec<u64>>,
    /// Further overrides of some variants, by name.
    pub variants: Vec<(String, Vec<String>)>,
    pub event: Option<u64>,
}

/// Where a point lies to the right; at zero without an axis.
fn position(point: &Point, axis: Option<usize>) -> Result<f64, String> {
    let Some(axis) = axis else { return Ok(0.0) };
    let (path, value) = &point.settings[axis];
    value.parse().map_err(|_| format!("`{path}` takes the value {value}, which is no place on an axis"))
}

/// Whether two places on an axis are the same, however they were written.
pub(crate) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9)
}
