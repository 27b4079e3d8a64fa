//! Many runs of one scenario: values laid over it, one after the other.

mod overlap;
mod reading;

use std::collections::BTreeSet;

use crate::decimal::Decimal;
use crate::document::Document;
use overlap::Path;
pub(crate) use reading::read_sweep;
pub use reading::{assignments, axes, seeds, sweep, variants};

/// What is varied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// The seeds, as many runs per point.
    pub seeds: Vec<u64>,
    /// What is varied value by value.
    pub axes: Vec<Axis>,
    /// What is varied as a whole: each is a curve, or several.
    pub variants: Vec<Variant>,
    /// Whether a curve ends at its first saturated point.
    pub stop_when_saturated: bool,
}

/// A path and the values it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The path.
    pub path: String,
    /// The values, as in a file.
    pub values: Vec<String>,
    /// What mistakes in them name: where they were given.
    pub origin: &'static str,
}

/// The origin of axes on the command line.
const OPTION: &str = "--over";
/// That of axes in a file.
const SECTION: &str = "[sweep] over";

/// Several overrides under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The overrides, as in `path=value`.
    pub assignments: Vec<String>,
}

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The name of its variant; empty without variants.
    pub variant: String,
    /// The variant's overrides.
    pub assignments: Vec<String>,
    /// The values of the axes.
    pub settings: Vec<(String, String)>,
}

/// A run of a sweep.
#[derive(Clone, Debug)]
pub struct SweepRun {
    /// The place of its point among all points.
    pub point: usize,
    /// The place of its seed among those of the point.
    pub seed: usize,
    /// What is laid over the document of the sweep, each as `path=value`.
    pub overrides: Vec<String>,
    /// Its scenario: that document with these.
    pub document: Document,
}

/// What is said of two paths of which one counts an element and the other one names it.
const SAME: &str = ", which may be the same: write both by name, or both by number";

/// More runs, and more values of one path, than anybody waits for.
const RUNS_MAX: usize = 100_000;
/// More paths, and more variants, than anybody can tell apart.
const AXES_MAX: usize = 64;
const VARIANTS_MAX: usize = 1024;
/// The most bytes of a value, and of what a variant sets: each point has a copy.
const VALUE_BYTES_MAX: usize = 4096;
const VARIANT_BYTES_MAX: usize = 16_384;
/// More seeds than anybody waits for.
pub const SEEDS_MAX: u64 = 10_000;

impl Sweep {
    /// All points: variant by variant, the last axis fastest.
    #[must_use]
    pub fn points(&self) -> Vec<Point> {
        let none = [Variant { name: String::new(), assignments: Vec::new() }];
        let variants = if self.variants.is_empty() { &none[..] } else { &self.variants };
        let mut points = Vec::new();
        for variant in variants {
            let mut settings: Vec<Vec<(String, String)>> = vec![Vec::new()];
            for axis in &self.axes {
                let with = |before: &Vec<(String, String)>, value: &String| {
                    let mut settings = before.clone();
                    settings.push((axis.path.clone(), value.clone()));
                    settings
                };
                settings = settings.iter().flat_map(|s| axis.values.iter().map(move |v| with(s, v))).collect();
            }
            points.extend(settings.into_iter().map(|settings| Point {
                variant: variant.name.clone(),
                assignments: variant.assignments.clone(),
                settings,
            }));
        }
        points
    }

    /// What is wrong with it, if anything is: a value that another would take the place of without a word, or more runs than
    /// anybody waits for.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let counts = [(self.axes.len(), AXES_MAX, "axes"), (self.variants.len(), VARIANTS_MAX, "variants")];
        if let Some((count, limit, what)) = counts.into_iter().find(|(count, limit, _)| count > limit) {
            return Some(format!("the sweep has {count} {what}, the limit is {limit}"));
        }
        if let Some(bytes) = self.values().map(String::len).find(|&bytes| bytes > VALUE_BYTES_MAX) {
            return Some(format!("a value has {bytes} bytes, the limit is {VALUE_BYTES_MAX}"));
        }
        let bytes = |variant: &Variant| variant.assignments.iter().map(String::len).sum::<usize>();
        if let Some(variant) = self.variants.iter().find(|&variant| bytes(variant) > VARIANT_BYTES_MAX) {
            let (name, bytes) = (&variant.name, bytes(variant));
            return Some(format!("variant \"{name}\" sets {bytes} bytes, the limit is {VARIANT_BYTES_MAX}"));
        }
        match self.run_count() {
            Some(runs) if runs <= RUNS_MAX => self.unlike_its_label(),
            Some(runs) => Some(format!("the sweep has {runs} runs, the limit is {RUNS_MAX}")),
            None => Some(format!("the sweep has more runs than can be counted, the limit is {RUNS_MAX}")),
        }
    }

    /// Why a row of the table would not be of what it says, or of the same runs as another one, if one would.
    fn unlike_its_label(&self) -> Option<String> {
        let repeated = |axis: &Axis| Some(format!("`{}` is varied over {} twice", axis.path, axis.repeated()?));
        let paths: Vec<Path<'_>> = self.axes.iter().map(|axis| Path::new(&axis.path)).collect();
        let of_axes =
            self.axes.iter().find_map(repeated).or_else(|| self.settled()).or_else(|| self.axes_taken(&paths));
        of_axes.or_else(|| self.variants.iter().find_map(|variant| variant.taken(&paths)))
    }

    /// What cannot be varied because it is settled in another way: seeds that are counted, and what is varied.
    fn settled(&self) -> Option<String> {
        let why = |path: &str| match path.split('.').next().unwrap_or(path).trim() {
            "seed" if !self.seeds.is_empty() => Some("`seeds` gives each point its seeds"),
            "sweep" => Some("no run has a [sweep] of its own"),
            _ => None,
        };
        let varied = |axis: &Axis| Some(format!("`{}` is varied, and {}", axis.path, why(&axis.path)?));
        let set = |variant: &Variant| {
            let (path, why) = variant.settings().find_map(|(path, _)| Some((path, why(path)?)))?;
            Some(format!("variant \"{}\" sets `{path}`, and {why}", variant.name))
        };
        self.axes.iter().find_map(varied).or_else(|| self.variants.iter().find_map(set))
    }

    /// Which axis a later one would take the place of.
    fn axes_taken(&self, paths: &[Path<'_>]) -> Option<String> {
        let taken_by = |(later, path): (usize, &Path<'_>)| {
            let values = |earlier: usize| move || self.axes[earlier].values.iter().map(String::as_str);
            let earlier = (0..later).find(|&earlier| path.takes_place_of(&paths[earlier].keys(), values(earlier)))?;
            Some((earlier, later))
        };
        let (earlier, later) = paths.iter().enumerate().find_map(taken_by)?;
        let may_mean_the_same = paths[later].may_mean_the_same(&paths[earlier].keys());
        Some(match (paths[earlier].text, paths[later].text) {
            (earlier, later) if earlier == later => format!("`{later}` is varied twice"),
            (earlier, later) if may_mean_the_same => format!("`{earlier}` is varied, and so is `{later}`{SAME}"),
            (earlier, later) => format!("`{earlier}` is varied, and so is `{later}`, which would take its place"),
        })
    }

    fn values(&self) -> impl Iterator<Item = &String> {
        self.axes.iter().flat_map(|axis| &axis.values)
    }

    /// How many runs there are, found out without making any; `None` if they cannot be counted.
    #[must_use]
    pub fn run_count(&self) -> Option<usize> {
        let others = [self.variants.len().max(1), self.runs_per_point()];
        let mut counts = self.axes.iter().map(|axis| axis.values.len()).chain(others);
        counts.try_fold(1usize, usize::checked_mul)
    }

    /// The place of a run's point among all points, and that of its seed among those of the point.
    #[must_use]
    pub fn place(&self, run: usize) -> (usize, usize) {
        (run / self.runs_per_point(), run % self.runs_per_point())
    }

    /// How many runs there are for each point.
    #[must_use]
    pub fn runs_per_point(&self) -> usize {
        self.seeds.len().max(1)
    }

    /// All runs, point by point, as overrides laid over `base`. Each is made when it is asked for.
    pub fn runs<'s>(&'s self, base: &'s Document) -> impl Iterator<Item = SweepRun> + 's {
        self.points().into_iter().enumerate().flat_map(move |(point, what)| self.runs_of(point, what, base))
    }

    /// The runs of a point, one for each seed.
    fn runs_of<'s>(&'s self, index: usize, point: Point, base: &Document) -> impl Iterator<Item = SweepRun> + 's {
        let variant = format!("variant \"{}\":", point.variant);
        let set = point.assignments.into_iter().map(|assignment| (variant.as_str(), assignment));
        let origins = self.axes.iter().map(|axis| axis.origin);
        let settings = point.settings.iter().map(|(path, value)| format!("{path}={value}"));
        let varied: Vec<(&str, String)> = set.chain(origins.zip(settings)).collect();
        let lay_over = |document: Document, (origin, set): &(&str, String)| document.with_from(origin, set);
        let document = varied.iter().fold(base.clone(), lay_over);
        let varied: Vec<String> = varied.into_iter().map(|(_, set)| set).collect();
        (0..self.runs_per_point()).map(move |seed| {
            let seeded = self.seeds.get(seed).map(|number| format!("seed={number}"));
            let document = seeded.iter().fold(document.clone(), |document, set| document.with(set));
            SweepRun { point: index, seed, overrides: varied.iter().cloned().chain(seeded).collect(), document }
        })
    }

    /// The axis of offered load, if there is one: along it a curve may end when it is saturated.
    #[must_use]
    pub fn load_axis(&self) -> Option<usize> {
        self.axes.iter().position(|axis| axis.path.rsplit('.').next() == Some("load"))
    }
}

impl Variant {
    /// The paths that it sets, with their values.
    fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.assignments.iter().filter_map(|assignment| assignment.split_once('='))
    }

    /// Which of its settings one of the axes would take the place of.
    fn taken(&self, axes: &[Path<'_>]) -> Option<String> {
        self.settings().find_map(|(set, value)| {
            let keys: Vec<&str> = overlap::keys(set).collect();
            let axis = axes.iter().find(|axis| axis.takes_place_of(&keys, || [value].into_iter()))?;
            let same = if axis.may_mean_the_same(&keys) { SAME } else { "" };
            Some(format!("`{}` is varied, and variant \"{}\" sets `{set}`{same}", axis.text, self.name))
        })
    }
}

impl Point {
    /// What tells its curve from the others when `axis` runs to the right: the variant and the values of all other axes.
    #[must_use]
    pub fn curve(&self, axis: Option<usize>) -> String {
        let others = self.settings.iter().enumerate().filter(|(index, _)| Some(*index) != axis);
        let values = others.map(|(_, (_, value))| value.trim_matches('"'));
        let variant = Some(self.variant.as_str()).filter(|variant| !variant.is_empty());
        variant.into_iter().chain(values).collect::<Vec<_>>().join(", ")
    }
}

impl Axis {
    /// A value that it has twice, also if it is written in two ways.
    fn repeated(&self) -> Option<&str> {
        let number = |text: &str| text.parse::<f64>().ok().map(|number| number.to_string());
        let plain = |value: &str| number(value).unwrap_or_else(|| value.trim_matches('"').to_owned());
        let mut known = BTreeSet::new();
        self.values.iter().map(String::as_str).find(|value| !known.insert(plain(value)))
    }

    /// Reads an axis such as `traffic.load=0.1..0.9/0.1` or `routing=minimal,valiant`.
    ///
    /// # Errors
    /// A sentence about what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((path, values)) = text.split_once('=') else {
            return Err(format!("`{text}` is not of the form path=a..b/step or path=x,y,z"));
        };
        let values = match range(values) {
            Some(range) => range?,
            None => values.split(',').map(|value| value.trim().to_owned()).collect(),
        };
        if values.iter().any(String::is_empty) {
            return Err(format!("`{text}` has an empty value"));
        }
        Ok(Self { path: path.trim().to_owned(), values, origin: OPTION })
    }
}

/// The numbers of `a..b/step`, both ends included; the step of whole numbers is 1 if nothing is said. `None` if the text is no range.
fn range(text: &str) -> Option<Result<Vec<String>, String>> {
    let (from, rest) = text.split_once("..")?;
    let (until, step) = rest.split_once('/').unwrap_or((rest, "1"));
    let [Some(from), Some(until), Some(step)] = [from, until, step].map(|number| Decimal::parse(number.trim())) else {
        return Some(Err(format!("`{text}` is not a range of numbers a..b/step")));
    };
    let places = from.places.max(until.places).max(step.places);
    if places > 0 && !text.contains('/') {
        let step = Decimal { units: 1, places };
        return Some(Err(format!("`{text}` has no step: write {}/{step}", text.trim())));
    }
    let [first, last, step] = [from, until, step].map(|number| number.units_at(places));
    if step == 0 || last < first {
        return Some(Err(format!("`{text}` does not lead upwards")));
    }
    if (last - first) / step >= RUNS_MAX as i128 {
        return Some(Err(format!("`{text}` has more than {RUNS_MAX} values")));
    }
    let numbers = (0..=(last - first) / step).map(|index| Decimal { units: first + index * step, places }.to_string());
    Some(Ok(numbers.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_exact_and_include_both_ends() {
        let values = |text: &str| Axis::parse(text).unwrap().values;
        assert_eq!(values("traffic.load=0.1..0.4/0.1"), ["0.1", "0.2", "0.3", "0.4"]);
        assert_eq!(values("seed=1..3"), ["1", "2", "3"]);
        assert_eq!(values("a=0..1/0.4"), ["0.0", "0.4", "0.8"]);
        assert_eq!(values("routing=minimal, valiant"), ["minimal", "valiant"]);
        for bad in ["load", "load=", "load=1,,2", "load=2..1", "load=0..1/0", "load=a..b", "load=0..1/0.0000001"] {
            assert!(Axis::parse(bad).is_err(), "{bad}");
        }
        for (bad, step) in [("0.1..0.5", "0.1"), ("0..0.25", "0.01"), ("1.0..2.0", "0.1")] {
            let told = Axis::parse(&format!("load={bad}")).unwrap_err();
            assert_eq!(told, format!("`{bad}` has no step: write {bad}/{step}"));
        }
    }

    #[test]
    fn points_are_all_combinations() {
        let text = r#"
            [sweep]
            seeds = 3
            [sweep.over]
            "traffic.load" = "0.1..0.2/0.1"
            router.iterations = [1, 2]
            [[sweep.variant]]
            name = "MIN"
            set = { routing = "minimal" }
            [[sweep.variant]]
            name = "VAL"
            set = { routing.valiant.target = "group", "nic.packet_flits" = 4 }
        "#;
        let sweep = Document::read("x", text).sweep().unwrap();
        assert_eq!((sweep.seeds.as_slice(), sweep.load_axis()), (&[1, 2, 3][..], Some(0)));
        let points = sweep.points();
        assert_eq!(points.len(), 8);
        assert_eq!(points[1].settings, [("traffic.load", "0.1"), ("router.iterations", "2")].map(owned));
        assert_eq!(points[4].assignments, ["routing.valiant.target=\"group\"", "nic.packet_flits=4"]);
    }

    /// Why nobody makes a sweep of the small text.
    fn problem(text: &str) -> String {
        Document::read("x", text).sweep().expect_err(text).to_string()
    }

    #[test]
    fn rows_that_would_not_be_what_they_say_are_refused() {
        let variant = |set: &str| format!("[[sweep.variant]]\nname = \"A\"\nset = {{ {set} }}\n");
        for (over, variants, why) in [
            ("routing.par.threshold = [0, 8]", variant("routing = \"minimal\""), "variant \"A\" sets `routing`"),
            ("traffic.load = [0.1]", variant("traffic.hot.load = 0.2"), "variant \"A\" sets `traffic.hot.load`"),
            ("\"routing\" = [\"par\"]\n\"routing.valiant.target\" = [1]", String::new(), "which would take its place"),
            ("\"traffic.hot.load\" = [1]\n\"traffic.load\" = [1]", String::new(), "which would take its place"),
            (
                "traffic.1.load = [0.1]",
                variant("traffic.hot.load = 0.2"),
                "sets `traffic.hot.load`, which may be the same",
            ),
            (
                "\"traffic.1.load\" = [1]\n\"traffic.hot.load\" = [1]",
                String::new(),
                "which may be the same: write both by",
            ),
            ("\"traffic.1.load\" = [1]\n\"traffic.01.load\" = [1]", String::new(), "which would take its place"),
            ("traffic.load = [0.1, 0.2, 0.10]", String::new(), "`traffic.load` is varied over 0.1 twice"),
            ("seed = [4, 5]\n[sweep]\nseeds = 2", String::new(), "`seeds` gives each point its seeds"),
            ("x = [1]\n[sweep]\nseeds = 2", variant("seed = 7"), "variant \"A\" sets `seed`"),
            ("sweep.seeds = [1]", String::new(), "no run has a [sweep] of its own"),
            ("x = [1]\n[sweep]\nseeds = [3, 4, 3]", String::new(), "seed 3 is there twice"),
        ] {
            let told = problem(&format!("[sweep.over]\n{over}\n{variants}"));
            assert!(told.contains(why), "{told:?} and not {why:?}");
        }
        // A model that all points have chosen may have a parameter varied, and a flow that a variant sets its load.
        for (over, set) in [
            ("routing.par.threshold = [0, 8]", "routing = \"par\""),
            ("traffic.cold.load = [0.1]", "traffic = [{ name = \"cold\", load = 0.5 }]"),
        ] {
            let text = format!("[sweep.over]\n{over}\n{}", variant(set));
            assert!(Document::read("x", &text).sweep().is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_varied_is_a_table() {
        for (over, found) in [("[\"traffic.load=0.1..0.3/0.1\"]", "a list"), ("\"traffic.load=0.1,0.2\"", "the text")] {
            let told = problem(&format!("[sweep]\nover = {over}\n"));
            assert!(told.contains(&format!("x:2:8: `over` is a table of paths and values, not {found}")), "{told}");
            assert!(told.ends_with("help: write `over = { \"traffic.load\" = \"0.1..0.9/0.1\" }`"), "{told}");
        }
    }

    fn owned((path, value): (&str, &str)) -> (String, String) {
        (path.to_owned(), value.to_owned())
    }
}
