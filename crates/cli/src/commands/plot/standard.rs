//! What is drawn of sweeps if nothing is asked for: latency and accepted load over the offered load, or completion times over what is varied.

use tailback_report::{Curve, Figure, Style, Table};

use super::source::{Source, only, unit};
use super::{completions, in_ns, named};
use crate::arguments::PlotArguments;
use crate::complaint::Complaint;

/// What has been found in the directories.
#[derive(Default)]
struct Found {
    title: Option<String>,
    swept: Vec<(Panel, Vec<Curve>)>,
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

    fn figure(&self, title: &str, unit: &str, curves: Vec<Curve>, latency_max: Option<f64>) -> Figure {
        let title = self.flow.as_ref().map_or_else(|| title.to_owned(), |flow| format!("{title}: {flow}"));
        let mut figure = match self.metric {
            // Where the load of another flow runs to the right, there is nothing to be equal to.
            "accepted_load" if self.flow == self.varied => Figure::throughput(title, curves),
            "accepted_load" => Figure { style: Style::Markers, ..Figure::throughput(title, curves) },
            metric => {
                let what = if metric == "latency_network_mean" { "network" } else { "message" };
                let mut figure = Figure::latency(title, unit, curves);
                figure.y_label = format!("mean {what} latency ({unit})");
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

/// The names of the files, and the figures, of all sweeps among the directories.
pub fn figures(
    sources: &[&Source],
    all: &[Source],
    arguments: &PlotArguments,
) -> Result<Vec<(String, Figure)>, Complaint> {
    let unit = unit(all);
    let mut found = Found::default();
    for source in sources {
        read_sweep(source, unit, arguments, &mut found)?;
    }
    let cycle = sources.iter().find_map(|source| source.cycle_ns()).filter(|_| unit == "ns").unwrap_or(1.0);
    let latency_max = arguments.latency_max.map(|cycles| cycle * cycles);
    let title = found.title.unwrap_or_default();
    let swept = found.swept.into_iter().map(|(panel, curves)| {
        let figure = panel.figure(&title, unit, curves, latency_max);
        (panel.name, figure)
    });
    Ok(found.completions.into_iter().chain(swept).collect())
}

/// The curves of a sweep.
fn read_sweep(source: &Source, unit: &str, arguments: &PlotArguments, found: &mut Found) -> Result<(), Complaint> {
    let (Some(manifest), Some(table)) = (&source.manifest, &source.sweep) else { return Ok(()) };
    let (mut table, prefix) = (table.clone(), source.prefix.as_deref());
    only(&mut table, &arguments.only)?;
    if unit == "ns" {
        in_ns(&mut table);
    }
    let damaged = |error| source.damaged("sweep", &error);
    let completions = completions::figures(&table, manifest, unit).map_err(damaged)?;
    if !completions.is_empty() {
        for (name, figure) in completions {
            let curves = named(figure.curves, &manifest.title, prefix);
            match found.completions.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.curves.extend(curves),
                None => found.completions.push((name, Figure { curves, ..figure })),
            }
        }
        found.title.get_or_insert(manifest.title.clone());
        return Ok(());
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
    Ok(())
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
