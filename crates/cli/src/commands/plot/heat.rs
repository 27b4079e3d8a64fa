//! Heat maps of links: from where to where, or over time.

use std::collections::BTreeMap;

use tailback_report::{Cell, Cells, Figure, HeatMap, Table};
use tailback_scenario::Scenario;

use super::source::{Source, only, unknown};
use super::words::file_name;
use crate::arguments::PlotArguments;
use crate::complaint::Complaint;

/// Of links over time so many are drawn to a point of the height of a figure: what is written beside more of them could not be read.
const LINKS_PER_POINT: f64 = 0.067;
/// So many instants have columns of their own.
const COLUMNS_MAX: usize = 200;
/// So many routers can be told apart.
const ROUTERS_MAX: usize = 400;
/// What stands for room that is taken in all channels of a link.
const OCCUPIED: &str = "occupied";

/// Where a column of links.csv is.
struct Links {
    table: Table,
    /// How long each of its rows was measured.
    period: f64,
    cycle: usize,
    kind: usize,
    router: usize,
    port: usize,
    node: usize,
    to_router: usize,
    /// What is drawn: the sum of these.
    values: Vec<usize>,
}

/// The heat map of a directory, and the name of its file.
pub fn figure(sources: &[Source], arguments: &PlotArguments) -> Result<(String, Figure), Complaint> {
    let [source] = sources else {
        return Err(Complaint::bad_input("--kind heat-map: a heat map is of one directory"));
    };
    if arguments.log.is_some() || arguments.range.is_some() {
        return Err(Complaint::bad_input("--kind heat-map: a heat map has neither --log nor --range"));
    }
    let column = arguments.y.as_deref().unwrap_or("utilisation");
    let links = Links::read(source, column, arguments)?;
    match arguments.x.as_deref() {
        None => matrix(source, &links, column, arguments),
        Some("time") => over_time(source, &links, column, arguments),
        Some(other) => Err(unknown("--x", "axis of a heat map", other, &["time"])),
    }
}

impl Links {
    fn read(source: &Source, wanted: &str, arguments: &PlotArguments) -> Result<Self, Complaint> {
        let Some(mut table) = source.table("links")? else {
            let help = "make them with `tailback run --set 'measure.links={ every = 100 }' --out …`".to_owned();
            return Err(Complaint::BadInput(format!("{} holds no links over time", source.path.display()), Some(help)));
        };
        let place = |name: &str| table.column(name).map_err(|error| source.damaged("links", &error));
        let cycle = place("cycle")?;
        // Rows stand at the ends of periods, of which the first begins with the run.
        let ends = table.rows.iter().filter_map(|row| row[cycle].number());
        let period = ends.fold(f64::INFINITY, f64::min);
        only(&mut table, &arguments.only)?;
        let place = |name: &str| table.column(name).map_err(|error| source.damaged("links", &error));
        let places = ["kind", "router", "port", "node", "to_router"].map(place);
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let channels = || (0..names.len()).filter(|&place| names[place].starts_with("occupied_"));
        let mut known: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| !["cycle", "kind", "router", "port", "node", "to_router", "links"].contains(name))
            .collect();
        known.push(OCCUPIED);
        if !known.contains(&wanted) {
            return Err(unknown("--y", "figure of links", wanted, &known));
        }
        let values = if wanted == OCCUPIED {
            channels().collect()
        } else {
            table.column(wanted).into_iter().collect::<Vec<_>>()
        };
        let [kind, router, port, node, to_router] = places;
        let (kind, router, port, node, to_router) = (kind?, router?, port?, node?, to_router?);
        Ok(Self { period, cycle, kind, router, port, node, to_router, values, table })
    }

    fn number(&self, row: usize, column: usize) -> Option<f64> {
        self.table.rows[row][column].number()
    }

    fn whole(&self, row: usize, column: usize) -> Option<u32> {
        self.number(row, column).map(|number| number as u32)
    }

    /// What is drawn of a row, if it has it.
    fn value(&self, row: usize) -> Option<f64> {
        let values: Vec<f64> = self.values.iter().filter_map(|&column| self.number(row, column)).collect();
        (!values.is_empty()).then(|| values.iter().sum())
    }

    /// Whether a row is of all links of a kind of a router.
    fn are_together(&self) -> bool {
        self.table.rows.iter().all(|row| row[self.port] == Cell::Empty)
    }

    /// What a row is about, in a few words.
    fn name(&self, row: usize) -> Option<String> {
        let router = self.whole(row, self.router)?;
        let Some(port) = self.whole(row, self.port) else {
            return Some(format!("{router}: {}", self.table.rows[row][self.kind]));
        };
        let end = match (self.whole(row, self.to_router), self.whole(row, self.node)) {
            (Some(to), _) => format!("{to}"),
            (None, Some(node)) => format!("node {node}"),
            (None, None) => "nothing".to_owned(),
        };
        Some(format!("{router}:{port} → {end}"))
    }

    fn rows(&self) -> std::ops::Range<usize> {
        0..self.table.rows.len()
    }
}

/// Links from groups, levels or routers to others.
fn matrix(
    source: &Source,
    links: &Links,
    column: &str,
    arguments: &PlotArguments,
) -> Result<(String, Figure), Complaint> {
    let scenario = scenario(source)?;
    let by = match arguments.by.as_slice() {
        [] if scenario.topology.built.graph().domains() > 1 => "group",
        [] => "router",
        [by] => by.as_str(),
        _ => return Err(Complaint::bad_input("--by: the rows and columns of a heat map are of one kind")),
    };
    let (cells, part_of) = parts(&scenario, by)?;
    let count = cells.count();
    let (mut sums, mut counts) = (vec![0.0; count * count], vec![0_u32; count * count]);
    let mut cycles = Vec::new();
    for row in links.rows() {
        let ends = links.whole(row, links.router).zip(links.whole(row, links.to_router));
        let (Some((from, to)), Some(value)) = (ends, links.value(row)) else { continue };
        let place = part_of[from as usize] * count + part_of[to as usize];
        sums[place] += value;
        counts[place] += 1;
        cycles.extend(links.number(row, links.cycle));
    }
    if cycles.is_empty() && links.are_together() {
        let help =
            "draw them with --x time; a run has a row for each link with `measure.links.by = \"link\"`".to_owned();
        let message =
            format!("{} has a row for all links of a router, which say not where they lead", source.path.display());
        return Err(Complaint::BadInput(message, Some(help)));
    }
    if cycles.is_empty() {
        let help = "ejection links, and instants of the warm-up, are not on it: try --x time".to_owned();
        return Err(Complaint::BadInput(format!("no link between routers has {column}"), Some(help)));
    }
    let mean = |(sum, &count): (&f64, &u32)| (count > 0).then(|| sum / f64::from(count));
    let values: Vec<Option<f64>> = sums.iter().zip(&counts).map(mean).collect();
    let missing = if values.contains(&None) { "; grey: no link" } else { "" };
    let heat = HeatMap { columns: cells.clone(), rows: cells, values, label: label(column, true), most: None };
    let (first, last) = cycles.iter().fold((f64::MAX, 0.0_f64), |(first, last), &at| (first.min(at), last.max(at)));
    let when = match (source.cycle_ns(), first < last) {
        (None, true) => format!("mean over cycles {first} to {last}"),
        (None, false) => format!("in cycle {first}"),
        (Some(ns), true) => format!("mean from {} to {} ns", ns * first, ns * last),
        (Some(ns), false) => format!("at {} ns", ns * first),
    };
    let figure = Figure {
        title: source.title().to_owned(),
        x_label: format!("to {by}"),
        y_label: format!("from {by}"),
        heat: Some(heat),
        caption: when + missing,
        ..Figure::default()
    };
    Ok((file_name(&format!("{column}-{by}-heat-map")), figure))
}

/// The scenario that a run has left.
fn scenario(source: &Source) -> Result<Scenario, Complaint> {
    let file = source.path.join("scenario.toml");
    let arguments = crate::arguments::ScenarioArguments { file, set: Vec::new() };
    Ok(crate::input::document(&arguments)?.resolve()?)
}

/// The parts of a network, and by router of which one it is.
fn parts(scenario: &Scenario, by: &str) -> Result<(Cells, Vec<usize>), Complaint> {
    let graph = scenario.topology.built.graph();
    let routers = 0..graph.routers();
    match by {
        "router" if graph.routers() as usize > ROUTERS_MAX => {
            let message = format!("--by router: {} routers are more than a picture can show", graph.routers());
            Err(Complaint::BadInput(message, Some("draw groups with --by group, or links with --x time".to_owned())))
        }
        "router" => Ok((Cells::Numbered(graph.routers() as usize), routers.map(|router| router as usize).collect())),
        "group" => {
            let groups = routers.map(|router| graph.domain(router) as usize).collect();
            Ok((Cells::Numbered(graph.domains() as usize), groups))
        }
        "level" => {
            let names: Vec<String> = routers.map(|router| level(&graph.router_name(router))).collect();
            let mut levels = names.clone();
            levels.sort();
            levels.dedup();
            if levels.len() == 1 {
                let by = if graph.domains() > 1 { "group" } else { "router" };
                let message = "--by level: the network has one level only".to_owned();
                return Err(Complaint::BadInput(message, Some(format!("try --by {by}"))));
            }
            let place = |name| levels.binary_search(name).expect("all are among them");
            Ok((Cells::Named(levels.clone()), names.iter().map(place).collect()))
        }
        other => Err(unknown("--by", "part of networks", other, &["group", "router", "level"])),
    }
}

/// The level of a router, from how people would point at it: `level 1` of `router 5 (level 1, subtree 0)`, `leaf` of `router 5 (leaf 2 of cluster 0)`.
fn level(name: &str) -> String {
    let inside = name.split_once('(').map_or(name, |(_, inside)| inside.trim_end_matches(')'));
    let first = inside.split(',').next().unwrap_or(inside);
    let (word, _) = first.split_once(' ').unwrap_or((first, ""));
    if ["level", "stage"].contains(&word) { first.to_owned() } else { word.to_owned() }
}

/// The links with the most of something, over time.
fn over_time(
    source: &Source,
    links: &Links,
    column: &str,
    arguments: &PlotArguments,
) -> Result<(String, Figure), Complaint> {
    if !arguments.by.is_empty() {
        return Err(Complaint::bad_input("--by: over time a row is a link"));
    }
    let mut found = BTreeMap::<String, (f64, BTreeMap<u64, f64>)>::new();
    for row in links.rows() {
        let (Some(name), Some(value)) = (links.name(row), links.value(row)) else { continue };
        let link = found.entry(name).or_default();
        link.0 += value;
        link.1.extend(links.number(row, links.cycle).map(|at| (at as u64, value)));
    }
    let all = found.len();
    let mut hottest: Vec<_> = found.into_iter().map(|(name, (sum, values))| (name, sum, values)).collect();
    if hottest.is_empty() {
        return Err(Complaint::bad_input(format!("no link has {column}: it may be that nothing was measured")));
    }
    hottest.sort_by(|one, other| other.1.total_cmp(&one.1));
    hottest.truncate((LINKS_PER_POINT * arguments.size.unwrap_or_default().height) as usize);
    // The first is on top.
    hottest.reverse();
    // Of utilisation there is nothing before it is measured.
    let mut instants: Vec<u64> = hottest.iter().flat_map(|(_, _, values)| values.keys().copied()).collect();
    instants.sort_unstable();
    instants.dedup();
    let together = instants.len().div_ceil(COLUMNS_MAX);
    let columns: Vec<&[u64]> = instants.chunks(together).collect();
    let mean = |at: &[u64], values: &BTreeMap<u64, f64>| {
        let there: Vec<f64> = at.iter().filter_map(|at| values.get(at).copied()).collect();
        (!there.is_empty()).then(|| there.iter().sum::<f64>() / there.len() as f64)
    };
    let values = hottest.iter().flat_map(|(_, _, values)| columns.iter().map(move |at| mean(at, values))).collect();
    let (unit, factor) = source.cycle_ns().map_or(("cycles", 1.0), |ns| ("ns", ns));
    let from = (instants[0] as f64 - links.period).max(0.0);
    let to = from + links.period * (columns.len() * together) as f64;
    let (drawn, together) = (hottest.len(), links.are_together());
    let heat = HeatMap {
        columns: Cells::Between(columns.len(), factor * from, factor * to),
        rows: Cells::Named(hottest.into_iter().map(|(name, ..)| name).collect()),
        values,
        label: label(column, false),
        // A link cannot be busy for more than all of the time.
        most: column.starts_with("utilisation").then_some(1.0),
    };
    let what = if together { "kinds of links of routers" } else { "links" };
    let caption = if drawn < all { format!("the {drawn} of {all} {what} with the most") } else { String::new() };
    let figure = Figure {
        title: source.title().to_owned(),
        x_label: format!("time ({unit})"),
        y_label: if together { "links of a router" } else { "link (router:port → router)" }.to_owned(),
        heat: Some(heat),
        caption,
        ..Figure::default()
    };
    Ok((file_name(&format!("{column}-over-time-heat-map")), figure))
}

/// What colours tell.
fn label(column: &str, mean: bool) -> String {
    let what = match column {
        "utilisation" => "utilisation".to_owned(),
        "utilisation_max" => "utilisation of the busiest link".to_owned(),
        OCCUPIED => "room that is taken (flits)".to_owned(),
        "blocked_heads" | "stalled_heads" => format!("{} of queues", column.replace('_', " ")),
        _ => column
            .strip_prefix("occupied_vc")
            .map_or_else(|| column.replace('_', " "), |vc| format!("room that is taken on VC {vc} (flits)")),
    };
    if mean { format!("mean {what}") } else { what }
}

/// Whether a directory has links over time.
pub fn has_any(source: &Source) -> bool {
    source.has("links")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_what_people_call_them() {
        let levels = ["router 5 (level 1, subtree 0, twin 2)", "router 9 (leaf 2 of cluster 0)", "router 3"].map(level);
        assert_eq!(levels, ["level 1", "leaf", "router"]);
    }
}
