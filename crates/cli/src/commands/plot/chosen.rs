//! A figure of a sweep whose axes and curves somebody has chosen.

use tailback_report::{Cell, Curve, Figure, Kind, Table};

use super::source::{Source, column, only, tell_apart, unit, unknown};
use super::words::{file_name, is_time, measured};
use super::{in_ns, named};
use crate::arguments::PlotArguments;
use crate::complaint::Complaint;

/// What tells flows apart, of which each has columns of its own.
const FLOW: &str = "flow";

/// The name of the file, and the figure.
pub fn figure(sources: &[Source], arguments: &PlotArguments) -> Result<(String, Figure), Complaint> {
    let unit = unit(sources);
    let mut all = Vec::new();
    let (mut names, mut categories) = (None, Vec::new());
    for source in sources {
        let Some(table) = &source.sweep else {
            let message = format!("{} holds no sweep, which --x, --y and --by are about", source.path.display());
            return Err(Complaint::BadInput(message, Some("draw a run with --kind series, cdf or histogram".into())));
        };
        let mut table = table.clone();
        if unit == "ns" {
            in_ns(&mut table);
        }
        only(&mut table, &arguments.only)?;
        let choice = Choice::new(source, &table, arguments)?;
        let x = column("--x", &table, &choice.x)?;
        if table.columns[x].kind == Kind::Text {
            categorise(&mut table, x, &mut categories);
        }
        all.extend(named(choice.curves(table)?, source.title(), source.prefix.as_deref()));
        names.get_or_insert((choice.x, choice.y));
    }
    let (x, y) = names.unwrap_or_default();
    if all.iter().all(|curve| curve.points.is_empty()) {
        return Err(Complaint::bad_input(format!(
            "there are no points: `{y}` has no number anywhere, or `{x}` has none"
        )));
    }
    let is_load = x.ends_with("offered_load");
    let x_label = match x.strip_suffix(".offered_load") {
        Some(flow) => format!("offered load of {flow} (flits/source/cycle)"),
        None if is_load || is_time(&x) => measured(&x, unit),
        None => x.clone(),
    };
    let figure = Figure {
        title: sources.first().map_or("", Source::title).to_owned(),
        x_label,
        y_label: measured(&y, unit),
        curves: all,
        categories,
        ..Figure::default()
    };
    // Where latencies leave for saturation, what is before that would be a line at the bottom.
    let figure = if is_load && y.contains("latency_") && arguments.log.is_none() {
        Figure { y_max: Figure::latency("", unit, figure.curves.clone()).y_max, ..figure }
    } else {
        figure
    };
    Ok((file_name(&format!("{y}-over-{x}")), figure))
}

/// What is drawn of a table.
struct Choice {
    x: String,
    y: String,
    by: Vec<String>,
    /// Of each flow by itself, or of one that is not named.
    flows: Vec<Option<String>>,
}

impl Choice {
    fn new(source: &Source, table: &Table, arguments: &PlotArguments) -> Result<Self, Complaint> {
        let varying = source.varying(table);
        let load_axis = source.manifest.as_ref().and_then(|manifest| manifest.load_axis.clone());
        let known = |name: &str| table.column(name).is_ok();
        let x = match &arguments.x {
            Some(x) => {
                column("--x", table, x)?;
                x.clone()
            }
            None => match &load_axis {
                Some(axis) => {
                    let flow = axis.strip_prefix("traffic.").and_then(|axis| axis.strip_suffix(".load"));
                    let of_flow = flow.map(|flow| format!("{flow}.offered_load")).filter(|name| known(name));
                    of_flow.unwrap_or_else(|| "offered_load".to_owned())
                }
                None => {
                    let first = source.manifest.iter().flat_map(|manifest| &manifest.axes).find(|axis| known(axis));
                    first.map_or("variant", String::as_str).to_owned()
                }
            },
        };
        // What is measured goes along with what is varied.
        let is_varied = varying.contains(&x) || source.manifest.iter().any(|manifest| manifest.axes.contains(&x));
        let axis = if is_varied {
            x.clone()
        } else {
            load_axis.or_else(|| varying.iter().find(|name| *name != "variant").cloned()).unwrap_or_default()
        };
        let others: Vec<String> = varying.into_iter().filter(|name| *name != axis).collect();
        let flows = flows(table);
        let by = if arguments.by.is_empty() { others.clone() } else { arguments.by.clone() };
        let possible: Vec<&str> =
            others.iter().map(String::as_str).chain((!flows.is_empty()).then_some(FLOW)).collect();
        for name in &by {
            if *name == x {
                return Err(Complaint::bad_input(format!(
                    "--by: `{name}` runs to the right, so curves cannot be told apart by it"
                )));
            }
            if !possible.contains(&name.as_str()) && !known(name) {
                return Err(unknown("--by", "varied value", name, &possible));
            }
        }
        if let Some(missing) = others.iter().find(|name| !by.contains(name)) {
            let message =
                format!("--by: `{missing}` is varied, too, so several points of a curve would lie above each other");
            let help = format!(
                "write --by {}, or choose one of its values with --only {missing}=…",
                [by.clone(), vec![missing.clone()]].concat().join(",")
            );
            return Err(Complaint::BadInput(message, Some(help)));
        }
        let by_flow = by.iter().any(|name| name == FLOW);
        let flows = if by_flow { flows.into_iter().map(Some).collect() } else { vec![None] };
        let defaults = ["latency_message_mean", "completion_p99", "program_cycles"];
        let is_there =
            |name: &str| table.column(name).is_ok_and(|at| table.rows.iter().any(|row| row[at].number().is_some()));
        let usual = defaults.into_iter().find(|name| is_there(name)).unwrap_or("accepted_load");
        let y = arguments.y.clone().unwrap_or_else(|| usual.to_owned());
        let by = by.into_iter().filter(|name| name != FLOW).collect();
        Ok(Self { x, y, by, flows })
    }

    fn curves(&self, mut table: Table) -> Result<Vec<Curve>, Complaint> {
        tell_apart(&mut table, &self.by)?;
        let by: Vec<&str> = self.by.iter().map(String::as_str).collect();
        let mut curves = Vec::new();
        for flow in &self.flows {
            let y = flow.as_ref().map_or_else(|| self.y.clone(), |flow| format!("{flow}.{}", self.y));
            if flow.is_some() && table.column(&y).is_err() {
                // Named as it was written.
                column("--y", &table, &self.y)?;
            }
            let place = column("--y", &table, &y)?;
            if table.columns[place].kind == Kind::Text && table.rows.iter().any(|row| row[place] != Cell::Empty) {
                return Err(Complaint::bad_input(format!("--y: `{y}` does not hold numbers")));
            }
            let found = Curve::from_table(&table, &self.x, &y, &by);
            let found = found.map_err(|error| Complaint::bad_input(error.to_string()))?;
            curves.extend(found.into_iter().map(|curve| match flow {
                Some(flow) if by.is_empty() => Curve { name: flow.clone(), ..curve },
                Some(flow) => Curve { name: format!("{flow}, {}", curve.name), ..curve },
                None => curve,
            }));
        }
        Ok(curves)
    }
}

/// The flows of a sweep, if there are several.
fn flows(table: &Table) -> Vec<String> {
    table.columns.iter().filter_map(|column| column.name.strip_suffix(".offered_load")).map(str::to_owned).collect()
}

/// Makes names numbers: their places among those that are known.
fn categorise(table: &mut Table, column: usize, known: &mut Vec<String>) {
    for row in &mut table.rows {
        let name = row[column].to_string();
        let place = known.iter().position(|other| *other == name).unwrap_or_else(|| {
            known.push(name);
            known.len() - 1
        });
        row[column] = Cell::Number(place as f64);
    }
    table.columns[column].kind = Kind::Number;
}
