//! Congestion trees over time: the largest, how many there are, and how much in them goes elsewhere.

use std::collections::BTreeMap;

use tailback_report::{Curve, Figure, Table};

use super::source::{Source, only, unit, unknown};
use crate::arguments::PlotArguments;
use crate::complaint::Complaint;

/// What may be drawn: the name, which the file has, too, and what runs upwards.
const FIGURES: [(&str, &str); 3] = [
    ("largest", "buffered flits of the largest tree"),
    ("count", "number of congestion trees"),
    ("victims", "share of flits in trees that go elsewhere"),
];

/// What was seen at an instant: trees, the flits of the largest, all flits, and those of victims.
#[derive(Clone, Copy, Default)]
struct Seen {
    count: f64,
    largest: f64,
    flits: f64,
    victims: f64,
}

/// The names of the files, and the figures.
pub fn figures(sources: &[Source], arguments: &PlotArguments) -> Result<Vec<(String, Figure)>, Complaint> {
    if arguments.x.is_some() || !arguments.by.is_empty() {
        return Err(Complaint::bad_input("--kind trees: time runs to the right, and a curve is of a directory"));
    }
    let known = FIGURES.map(|(name, _)| name);
    if let Some(y) = arguments.y.as_deref().filter(|y| !known.contains(y)) {
        return Err(unknown("--y", "figure of trees", y, &known));
    }
    let unit = unit(sources);
    let mut curves: [Vec<Curve>; 3] = Default::default();
    for source in sources {
        let factor = if unit == "ns" { source.cycle_ns().unwrap_or(1.0) } else { 1.0 };
        let seen = seen(source, arguments)?;
        let points =
            |value: fn(&Seen) -> f64| seen.iter().map(|(&cycle, seen)| (factor * cycle as f64, value(seen))).collect();
        let of = [
            points(|seen| seen.largest),
            points(|seen| seen.count),
            // Where there is no tree the curve is interrupted.
            points(|seen| if seen.flits > 0.0 { seen.victims / seen.flits } else { f64::NAN }),
        ];
        for (curves, points) in curves.iter_mut().zip(of) {
            curves.push(Curve { name: source.prefix.clone().unwrap_or_default(), points, ..Curve::default() });
        }
    }
    let mut warm_ups = sources.iter().map(|source| (source.warm_up(), source.cycle_ns()));
    let first = warm_ups.next().filter(|first| warm_ups.all(|other| other == *first));
    let warm_up = first.and_then(|(cycles, ns)| Some(cycles? as f64 * if unit == "ns" { ns? } else { 1.0 }));
    let title = if let [source] = sources { source.title() } else { "" };
    let figure = |((name, label), curves): ((&str, &str), Vec<Curve>)| {
        let figure = Figure {
            x_label: format!("time ({unit})"),
            warm_up: warm_up.filter(|until| *until > 0.0),
            y_max: (name == "victims").then_some(1.0),
            counts: name == "count",
            ..Figure::time_series(title, label, curves)
        };
        (format!("trees-{name}"), figure)
    };
    let wanted = |(name, _): &(&str, &str)| arguments.y.as_deref().is_none_or(|y| y == *name);
    Ok(FIGURES.into_iter().zip(curves).filter(|(figure, _)| wanted(figure)).map(figure).collect())
}

/// What was seen at each instant at which it was looked.
fn seen(source: &Source, arguments: &PlotArguments) -> Result<BTreeMap<u64, Seen>, Complaint> {
    let Some(mut table) = source.table("trees")? else {
        let help = "make them with `tailback run --set 'measure.trees={ every = 100 }' --out …`".to_owned();
        return Err(Complaint::BadInput(format!("{} holds no congestion trees", source.path.display()), Some(help)));
    };
    let instants = instants(source, &table);
    // A table without a tree tells nothing of its columns.
    if !table.rows.is_empty() {
        only(&mut table, &arguments.only)?;
    }
    // Where there is no tree of those that are wanted, there are none; but of some instants only, there are no others.
    let is_wanted = |cycle: &u64| {
        let cycles = arguments.only.iter().filter(|(name, _)| name == "cycle");
        cycles.filter_map(|(_, value)| value.parse().ok()).all(|wanted: f64| wanted == *cycle as f64)
    };
    let mut seen: BTreeMap<u64, Seen> = instants.filter(is_wanted).map(|cycle| (cycle, Seen::default())).collect();
    let place = |name: &str| table.column(name).map_err(|error| source.damaged("trees", &error));
    let (cycle, flits, victims) = (place("cycle")?, place("flits")?, place("victim_flits")?);
    for row in &table.rows {
        let number = |place: usize| row[place].number().unwrap_or(0.0);
        let seen = seen.entry(number(cycle) as u64).or_default();
        seen.count += 1.0;
        seen.largest = seen.largest.max(number(flits));
        seen.flits += number(flits);
        seen.victims += number(victims);
    }
    Ok(seen)
}

/// The cycles at which it was looked: also those without trees, which have no rows.
fn instants(source: &Source, table: &Table) -> impl Iterator<Item = u64> + use<> {
    let text = std::fs::read_to_string(source.path.join("scenario.toml")).unwrap_or_default();
    let scenario: Option<toml::Value> = toml::from_str(&text).ok();
    let every =
        scenario.as_ref().and_then(|scenario| scenario.get("measure")?.get("trees")?.get("every")?.as_integer());
    let every = every.and_then(|every| usize::try_from(every).ok()).filter(|every| *every > 0);
    let end = source.report.as_ref().map(|report| report.cycles.warmup + report.cycles.measured);
    let last = table.column("cycle").ok().and_then(|cycle| table.rows.last()?[cycle].number());
    let last = end.unwrap_or_else(|| last.unwrap_or(0.0) as u64);
    every.into_iter().flat_map(move |every| (every as u64..=last).step_by(every))
}

/// Whether a directory has congestion trees over time.
pub fn has_any(source: &Source) -> bool {
    source.has("trees")
}
