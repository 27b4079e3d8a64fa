//! Reading figure files: strictly, with all mistakes at once.

mod claims;
mod fields;
mod measures;
mod panels;
mod sheets;

use tailback_scenario::Sweep;
use tailback_scenario::reading::{Item, Node, Reading, TableReader, assignments, axes, seeds, sweep, variants};
use tailback_scenario::{Diagnostic, Span};

use crate::experiment::{Experiment, Scale, Scaling};
use crate::figure::{Basis, Figure};
pub use measures::MEASURES;

use fields::{flag, needed_text, text, whole};

/// Reads a figure. What is given is complete if there are no mistakes.
pub fn read_figure(root: &mut TableReader<'_>, reading: &mut Reading) -> Option<Figure> {
    let title = needed_text(root, "title", "what the figure shows", reading);
    let source = needed_text(root, "source", "where in the paper it is", reading);
    let (basis, formula) = basis(root, reading);
    let ci = flag(root, "ci", true, reading);
    let event = whole(root, "event", reading).unwrap_or(0);
    let set = root.take("set").map_or_else(Vec::new, |entry| assignments(&entry.node, reading));
    let assignments = [formula, set].concat();
    let sweep = match root.take("sweep") {
        Some(entry) => sweep(&entry.node, reading),
        None => Sweep::default(),
    };
    let experiment = Experiment { assignments, sweep, event };
    let scalings = [Scale::Quick, Scale::Full].map(|scale| {
        let entry = root.take(scale.name());
        entry.map_or_else(Scaling::default, |entry| scaling(&entry.node, scale, &experiment, reading))
    });
    let experiments = Scale::ALL.map(|scale| {
        let mut rescaled = experiment.clone();
        rescaled.rescale(&scalings[scale as usize]);
        rescaled
    });
    let nodes = list(root, "panel", reading);
    let panels: Vec<_> = nodes.iter().map(|node| (node.span, panels::panel(node, &experiments[1], reading))).collect();
    let nodes = list(root, "table", reading);
    let sheets: Vec<_> = nodes.iter().map(|node| (node.span, sheets::sheet(node, &experiments, reading))).collect();
    let panel_names = panels.iter().filter_map(|(span, panel)| Some((*span, panel.as_ref()?.name.as_str())));
    let sheet_names = sheets.iter().filter_map(|(span, sheet)| Some((*span, sheet.as_ref()?.name.as_str())));
    blame_twins("tables or panels", panel_names.chain(sheet_names), reading);
    let nodes = list(root, "claim", reading);
    let claims: Vec<_> = nodes.iter().map(|node| (node.span, claims::claim(node, &experiments, reading))).collect();
    let claim_names = claims.iter().filter_map(|(span, claim)| Some((*span, claim.as_ref()?.name.as_str())));
    blame_twins("claims", claim_names, reading);
    Some(Figure {
        title: title?,
        source: source?,
        basis: basis?,
        ci,
        panels: panels.into_iter().map(|(_, panel)| panel).collect::<Option<_>>()?,
        sheets: sheets.into_iter().map(|(_, sheet)| sheet).collect::<Option<_>>()?,
        claims: claims.into_iter().map(|(_, claim)| claim).collect::<Option<_>>()?,
        experiment,
        scalings,
    })
}

/// What a figure is made of, `scenario = "FILE"` or `[formula.NAME]`, and what that sets.
fn basis(root: &mut TableReader<'_>, reading: &mut Reading) -> (Option<Basis>, Vec<String>) {
    let Some(formula) = root.take("formula").map(|entry| &entry.node) else {
        let beside = "the file of the scenario, beside this one; or `[formula.NAME]` for what is computed";
        return (needed_text(root, "scenario", beside, reading).map(Basis::Scenario), Vec::new());
    };
    if text(root, "scenario", reading).is_some() {
        let both = Diagnostic::at(formula.span, "a figure is made of a scenario or of a formula, not of both");
        reading.blame(both.help("leave out one of them"));
    }
    let set = match &formula.item {
        Item::Text(name) => vec![format!("formula={name}")],
        Item::Table(_) => assignments(formula, reading).into_iter().map(|set| format!("formula.{set}")).collect(),
        _ => {
            reading.mismatch(formula, "formula", "the name of a formula, or a table with its parameters");
            Vec::new()
        }
    };
    (Some(Basis::Formula), set)
}

/// The tables of a list such as `[[panel]]`.
fn list<'a>(root: &mut TableReader<'a>, key: &'static str, reading: &mut Reading) -> &'a [Node] {
    match root.take(key).map(|entry| &entry.node) {
        None => &[],
        Some(Node { item: Item::List(list), .. }) => list,
        Some(node) => {
            reading.mismatch(node, key, &format!("a list of tables, `[[{key}]]`"));
            &[]
        }
    }
}

fn scaling(node: &Node, scale: Scale, experiment: &Experiment, reading: &mut Reading) -> Scaling {
    let mut table = TableReader::of(node, scale.name().to_owned(), reading);
    let mut scaling = Scaling {
        assignments: table.take("set").map_or_else(Vec::new, |entry| assignments(&entry.node, reading)),
        axes: table.take("over").map_or_else(Vec::new, |entry| axes(&entry.node, reading)),
        seeds: table.take("seeds").map(|entry| seeds(&entry.node, reading)),
        event: whole(&mut table, "event", reading),
        variants: Vec::new(),
    };
    if let Some(entry) = table.take("variant") {
        let known: Vec<&str> = experiment.sweep.variants.iter().map(|variant| variant.name.as_str()).collect();
        for variant in variants(&entry.node, reading) {
            if !known.contains(&variant.name.as_str()) {
                reading.unknown_word(entry.node.span, "variant", &variant.name, &known);
            }
            scaling.variants.push((variant.name, variant.assignments));
        }
    }
    table.close(reading);
    scaling
}

/// Results are told apart by the names of claims, files by those of panels and tables.
fn blame_twins<'a>(what: &str, names: impl Iterator<Item = (Span, &'a str)>, reading: &mut Reading) {
    let mut known: Vec<&str> = Vec::new();
    for (span, name) in names {
        if known.contains(&name) {
            reading.blame(Diagnostic::at(span, format!("two {what} are called \"{name}\"")));
        }
        known.push(name);
    }
}
