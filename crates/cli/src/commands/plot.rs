//! `tailback plot`: figures from the results of runs and sweeps.

mod completions;

use std::fs::File;
use std::path::{Path, PathBuf};

use tailback_report::{Curve, Figure, Style, Table};

use crate::arguments::{Picture, PlotArguments};
use crate::commands::sweep::read_manifest;
use crate::complaint::Complaint;
use crate::output::say_line;
use crate::results::Directory;

/// What has been found in the directories.
#[derive(Default)]
struct Found {
    title: Option<String>,
    swept: Vec<(Panel, Vec<Curve>)>,
    series: Vec<(String, Vec<Curve>)>,
    /// Of sweeps in which flows end.
    completions: Vec<(String, Figure)>,
}

/// What is drawn of sweeps, of the whole network or, if there are several flows, of each of them: the metric, and the name
/// of the file.
const METRICS: [(&str, &str); 3] =
    [("latency_message_mean", "latency"), ("latency_network_mean", "network-latency"), ("accepted_load", "accepted")];

/// A figure of a sweep.
#[derive(Clone, PartialEq)]
struct Panel {
    metric: &'static str,
    name: String,
    /// Whose metric it is; none for that of the whole network.
    flow: Option<String>,
    /// The flow whose load is varied, and alone runs to the right; none for the load of all nodes that send.
    varied: Option<String>,
}

impl Panel {
    fn new((metric, name): (&'static str, &str), flow: Option<&str>, varied: Option<&str>) -> Self {
        let name = flow.map_or_else(|| name.to_owned(), |flow| format!("{name}-{flow}"));
        Self { metric, name, flow: flow.map(str::to_owned), varied: varied.map(str::to_owned) }
    }

    fn figure(&self, title: &str, curves: Vec<Curve>, latency_max: Option<f64>) -> Figure {
        let title = self.flow.as_ref().map_or_else(|| title.to_owned(), |flow| format!("{title}: {flow}"));
        let mut figure = match self.metric {
            // Where the load of another flow runs to the right, there is nothing to be equal to.
            "accepted_load" if self.flow == self.varied => Figure::throughput(title, curves),
            "accepted_load" => Figure { style: Style::Markers, ..Figure::throughput(title, curves) },
            metric => {
                let what = if metric == "latency_network_mean" { "network" } else { "message" };
                let mut figure = Figure::latency(title, "cycles", curves);
                figure.y_label = format!("mean {what} latency (cycles)");
                figure.y_max = latency_max.or(figure.y_max);
                figure
            }
        };
        if let Some(varied) = &self.varied {
            figure.x_label = format!("offered load of {varied} (flits/source/cycle)");
        }
        if self.flow.is_some() && self.metric == "accepted_load" {
            "accepted load (flits/source/cycle)".clone_into(&mut figure.y_label);
        }
        figure
    }
}

/// What is drawn of time series: the column, the name of the file, and what the axis says.
const SERIES: [(&str, &str, &str); 3] = [
    ("accepted_load", "accepted-over-time", "accepted load (flits/source/cycle)"),
    ("latency_message_mean", "latency-over-time", "mean message latency (cycles)"),
    ("offered_load", "offered-over-time", "offered load (flits/source/cycle)"),
];

/// Runs the command.
pub fn run(arguments: &PlotArguments) -> Result<(), Complaint> {
    let mut found = Found::default();
    let several = arguments.directories.len() > 1;
    for directory in &arguments.directories {
        let prefix = several.then(|| name_of(directory));
        let any = read_sweep(directory, prefix.as_deref(), &mut found)?
            | read_series(directory, prefix.as_deref(), &mut found)?;
        if !any {
            return Err(Complaint::BadInput(
                format!("{} holds neither a sweep nor a time series", directory.display()),
                Some("make one with `tailback sweep`, or with `tailback run --set measure.series=100 --out …`".into()),
            ));
        }
    }
    let out = Directory::at(arguments.out.as_deref().unwrap_or(&arguments.directories[0]))?;
    for (name, figure) in figures(found, arguments) {
        let path = draw(&out, &name, &figure, arguments.picture)?;
        say_line!("{}", path.display());
    }
    Ok(())
}

fn name_of(directory: &Path) -> String {
    directory.file_name().map_or_else(|| directory.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn read_table(path: &Path) -> Result<Option<Table>, Complaint> {
    if !path.exists() {
        return Ok(None);
    }
    let damaged = |error: &dyn std::fmt::Display| Complaint::bad_input(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(|error| damaged(&error))?;
    Table::read_csv(file).map(Some).map_err(|error| damaged(&error))
}

/// The curves of a sweep over offered load. Tells whether there is one.
fn read_sweep(directory: &Path, prefix: Option<&str>, found: &mut Found) -> Result<bool, Complaint> {
    let (Some(manifest), Some(table)) = (read_manifest(directory)?, read_table(&directory.join("sweep.csv"))?) else {
        return Ok(false);
    };
    let damaged = |error| Complaint::bad_input(format!("{}: {error}", directory.join("sweep.csv").display()));
    let completions = completions::figures(&table, &manifest).map_err(damaged)?;
    if !completions.is_empty() {
        for (name, figure) in completions {
            let curves = named(figure.curves, &manifest.title, prefix);
            match found.completions.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.curves.extend(curves),
                None => found.completions.push((name, Figure { curves, ..figure })),
            }
        }
        found.title.get_or_insert(manifest.title);
        return Ok(true);
    }
    let mut by: Vec<&str> =
        table.columns.iter().map(|column| column.name.as_str()).filter(|&n| n == "variant").collect();
    let others = manifest.axes.iter().filter(|axis| Some(*axis) != manifest.load_axis.as_ref());
    by.extend(others.map(String::as_str));
    for panel in panels(&table, manifest.load_axis.as_deref()) {
        let column = |flow: &Option<String>, metric: &str| match flow {
            Some(flow) => format!("{flow}.{metric}"),
            None => metric.to_owned(),
        };
        let (x, y) = (column(&panel.varied, "offered_load"), column(&panel.flow, panel.metric));
        let curves = named(Curve::from_table(&table, &x, &y, &by).map_err(damaged)?, &manifest.title, prefix);
        match found.swept.iter_mut().find(|(known, _)| *known == panel) {
            Some((_, known)) => known.extend(curves),
            None => found.swept.push((panel, curves)),
        }
    }
    found.title.get_or_insert(manifest.title.clone());
    Ok(true)
}

/// The figures of a sweep. A load axis such as `traffic.hot.load` names the flow that it is about.
fn panels(table: &Table, load_axis: Option<&str>) -> Vec<Panel> {
    let flows: Vec<&str> =
        table.columns.iter().filter_map(|column| column.name.strip_suffix(".offered_load")).collect();
    let named = load_axis.and_then(|path| path.strip_prefix("traffic.")?.strip_suffix(".load"));
    let varied = named.filter(|name| flows.contains(name));
    let whose: Vec<Option<&str>> =
        if flows.is_empty() { vec![None] } else { flows.iter().copied().map(Some).collect() };
    let of = |flow: Option<&str>| METRICS.map(|metric| Panel::new(metric, flow, varied));
    whose.into_iter().flat_map(of).collect()
}

/// Curves with names that tell them from those of other directories; a single one needs none.
fn named(mut curves: Vec<Curve>, title: &str, prefix: Option<&str>) -> Vec<Curve> {
    let single = curves.len() == 1;
    for curve in &mut curves {
        curve.name = match prefix {
            Some(prefix) if single => prefix.to_owned(),
            Some(prefix) => format!("{prefix}: {}", curve.name),
            None if single && (curve.name.is_empty() || !curve.name.contains('=')) => title.to_owned(),
            None => std::mem::take(&mut curve.name),
        };
    }
    curves
}

/// The time series of a run. Tells whether there is one.
fn read_series(directory: &Path, prefix: Option<&str>, found: &mut Found) -> Result<bool, Complaint> {
    let path = directory.join("series.csv");
    let Some(table) = read_table(&path)? else { return Ok(false) };
    for (column, _, _) in SERIES {
        let curves = Curve::from_table(&table, "cycle", column, &["flow"])
            .map_err(|error| Complaint::bad_input(format!("{}: {error}", path.display())))?;
        let curves = curves.into_iter().map(|curve| match prefix {
            Some(prefix) => Curve { name: format!("{prefix}: {}", curve.name), ..curve },
            None => curve,
        });
        match found.series.iter_mut().find(|(known, _)| known == column) {
            Some((_, known)) => known.extend(curves),
            None => found.series.push((column.to_owned(), curves.collect())),
        }
    }
    Ok(true)
}

fn figures(found: Found, arguments: &PlotArguments) -> Vec<(String, Figure)> {
    let title = found.title.unwrap_or_default();
    let mut figures = found.completions;
    for (panel, curves) in found.swept {
        let figure = panel.figure(&title, curves, arguments.latency_max);
        figures.push((panel.name, figure));
    }
    for (column, curves) in found.series {
        let (_, name, label) = SERIES.into_iter().find(|(known, _, _)| *known == column).expect("it is one of these");
        figures.push((name.to_owned(), Figure::time_series("", label, curves)));
    }
    figures
}

fn draw(out: &Directory, name: &str, figure: &Figure, picture: Picture) -> Result<PathBuf, Complaint> {
    let (name, bytes) = match picture {
        Picture::Svg => (format!("{name}.svg"), figure.to_svg().into_bytes()),
        Picture::Png => (format!("{name}.png"), figure.to_png(2.0)),
    };
    out.write(&name, &bytes)?;
    Ok(out.path(&name))
}
