//! What a document says about sweeps.

use std::collections::BTreeSet;

use super::{AXES_MAX, Axis, RUNS_MAX, SECTION, SEEDS_MAX, Sweep, Variant, range};
use crate::diagnostic::{Diagnostic, Span};
use crate::document::Document;
use crate::print::inline;
use crate::reader::{Reading, TableReader};
use crate::tree::{Entry, Item, Node, Table};

/// Reads `[sweep]`.
pub(crate) fn read_sweep(document: &Document, reading: &mut Reading) -> Sweep {
    match document.root.get("sweep") {
        Some(entry) => sweep(&entry.node, reading),
        None => Sweep { seeds: Vec::new(), stop_when_saturated: true, ..Sweep::default() },
    }
}

/// Reads what is varied: `over`, `variant`, `seeds` and `stop_when_saturated`.
pub fn sweep(node: &Node, reading: &mut Reading) -> Sweep {
    let sweep = read(node, reading);
    if let Some(problem) = sweep.problem() {
        reading.blame(Diagnostic::at(node.span, problem));
    }
    sweep
}

fn read(node: &Node, reading: &mut Reading) -> Sweep {
    let mut table = TableReader::of(node, "sweep".to_owned(), reading);
    let seeds = table.take("seeds").map_or_else(Vec::new, |entry| seeds(&entry.node, reading));
    let axes = table.take("over").map_or_else(Vec::new, |entry| axes(&entry.node, reading));
    let variants = table.take("variant").map_or_else(Vec::new, |entry| variants(&entry.node, reading));
    let stop_when_saturated = match table.take("stop_when_saturated").map(|entry| &entry.node) {
        None => true,
        Some(Node { item: Item::Flag(flag), .. }) => *flag,
        Some(node) => {
            reading.mismatch(node, "sweep.stop_when_saturated", "true or false");
            true
        }
    };
    table.finish(reading);
    Sweep { seeds, axes, variants, stop_when_saturated }
}

/// Reads a number of seeds, or the seeds.
pub fn seeds(node: &Node, reading: &mut Reading) -> Vec<u64> {
    let seed = |node: &Node| match node.item {
        Item::Integer(seed) if (0..=i128::from(i64::MAX)).contains(&seed) => Some(seed as u64),
        _ => None,
    };
    let seeds: Option<Vec<u64>> = match &node.item {
        Item::Integer(count) if (1..=i128::from(SEEDS_MAX)).contains(count) => Some((1..=*count as u64).collect()),
        Item::List(list) if !list.is_empty() => list.iter().map(seed).collect(),
        _ => None,
    };
    let Some(seeds) = seeds else {
        reading.mismatch(node, "seeds", "a number of seeds from 1 on, or a list of seeds");
        return Vec::new();
    };
    let mut known = BTreeSet::new();
    if let Some(seed) = seeds.iter().find(|seed| !known.insert(**seed)) {
        let message = format!("seed {seed} is there twice: two equal runs tell nothing of how much runs differ");
        reading.blame(Diagnostic::at(node.span, message));
    }
    seeds
}

/// Reads paths and the values that they take. Keys may be whole paths in quotes, or tables in tables.
pub fn axes(node: &Node, reading: &mut Reading) -> Vec<Axis> {
    let mut axes = Vec::new();
    match &node.item {
        Item::Table(_) => read_axes(node, "", &mut axes, reading),
        // A list of what the option `--over` takes, say.
        item => reading.blame(
            Diagnostic::at(node.span, format!("`over` is a table of paths and values, not {}", item.describe()))
                .help("write `over = { \"traffic.load\" = \"0.1..0.9/0.1\" }`"),
        ),
    }
    axes
}

fn read_axes(node: &Node, path: &str, axes: &mut Vec<Axis>, reading: &mut Reading) {
    let Item::Table(table) = &node.item else {
        let values = match &node.item {
            Item::List(list) if !list.is_empty() => Ok(list.iter().map(|node| inline(&node.item)).collect()),
            Item::Text(text) => match range(text) {
                Some(range) => range,
                None => Err(format!("`{text}` is neither a list nor a range a..b/step")),
            },
            _ => Err(format!("`over.{path}` is a list of values or a range \"a..b/step\"")),
        };
        match values {
            Ok(values) => axes.push(Axis { path: path.to_owned(), values, origin: SECTION }),
            Err(message) => reading.blame(Diagnostic::at(node.span, message)),
        }
        return;
    };
    for entry in &table.0 {
        // More of them are refused as a whole, without their values.
        if axes.len() > AXES_MAX || axes.iter().map(|axis| axis.values.len()).sum::<usize>() > RUNS_MAX {
            return;
        }
        let inner = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
        read_axes(&entry.node, &inner, axes, reading);
    }
}

/// Reads overrides with names.
pub fn variants(node: &Node, reading: &mut Reading) -> Vec<Variant> {
    let Item::List(list) = &node.item else {
        reading.mismatch(node, "variant", "a list of tables with a `name` and what it would `set`");
        return Vec::new();
    };
    let mut variants: Vec<Variant> = Vec::new();
    for node in list {
        let mut table = TableReader::of(node, "sweep.variant".to_owned(), reading);
        let name = table.text("name", reading);
        let assignments = table.take("set").map_or_else(Vec::new, |entry| assignments(&entry.node, reading));
        let span = table.span;
        table.finish(reading);
        match name {
            Some((name, span)) if variants.iter().any(|variant| variant.name == name) => {
                reading.blame(Diagnostic::at(span, format!("two variants are called \"{name}\"")));
            }
            Some((name, _)) => variants.push(Variant { name: name.to_owned(), assignments }),
            None => reading.blame(missing_name(span)),
        }
    }
    variants
}

fn missing_name(span: Span) -> Diagnostic {
    Diagnostic::at(span, "a variant has no name").help("add `name = \"…\"`: curves are told apart by it")
}

/// Reads overrides from a table: keys may be whole paths in quotes, or tables in tables.
pub fn assignments(node: &Node, reading: &mut Reading) -> Vec<String> {
    let mut assignments = Vec::new();
    read_assignments(node, "", &mut assignments, reading);
    assignments
}

fn read_assignments(node: &Node, path: &str, assignments: &mut Vec<String>, reading: &mut Reading) {
    let Item::Table(Table(entries)) = &node.item else {
        reading.mismatch(node, "set", "a table of paths and values");
        return;
    };
    for Entry { key, node, .. } in entries {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match &node.item {
            Item::Table(table) if !table.0.is_empty() => read_assignments(node, &path, assignments, reading),
            item => assignments.push(format!("{path}={}", inline(item))),
        }
    }
}
