//! Sets of nodes.
//!
//! `"all"`, `"0..64"`, `[1, 5, 7]`, the name of a set in `[nodes]`, or a table: `{ random = 4 }` with `seed` and `outside`,
//! `{ outside = … }`, `{ groups = [0, 2] }`, `{ any = [ …, … ] }`.

use std::collections::BTreeMap;

use tailback_random::Stream;
use tailback_workload::{Groups, NodeSet, NodeSetError, draw_distinct};

use crate::diagnostic::{Diagnostic, Span};
use crate::reader::{Reading, TableReader};
use crate::tree::{Item, Node};

/// The nodes of a network, and the sets of them that have names.
#[derive(Clone, Debug)]
pub(crate) struct NodeBook {
    /// How many there are; 0 if the topology has mistakes: then sets are read as far as they go.
    pub count: u32,
    pub groups: Option<Groups>,
    pub seed: u64,
    pub named: BTreeMap<String, NodeSet>,
}

/// The purpose of the random streams that draw sets of nodes.
const PLACEMENT: u64 = 1 << 35;

/// Reads a set of nodes.
pub(crate) fn read_nodes(node: &Node, path: &str, book: &NodeBook, reading: &mut Reading) -> Option<NodeSet> {
    if book.count == 0 {
        return None;
    }
    match &node.item {
        Item::Text(text) => by_text(text, node.span, book, reading),
        Item::List(_) => by_list(node, path, book, reading),
        Item::Table(_) => by_table(node, path, book, reading),
        _ => {
            reading.mismatch(node, path, "a set of nodes: \"all\", \"0..8\", a list, or a table");
            None
        }
    }
}

fn by_text(text: &str, span: Span, book: &NodeBook, reading: &mut Reading) -> Option<NodeSet> {
    if text == "all" {
        return Some(NodeSet::all(book.count));
    }
    if let Some(set) = book.named.get(text) {
        // Whoever names it lists it: in the resolved text, at least.
        let listed = if set.as_range().is_some() { 0 } else { set.len() };
        reading.lists(span, listed.into())?;
        return Some(set.clone());
    }
    if let Some((from, until)) = text.split_once("..") {
        let (until, inclusive) = until.strip_prefix('=').map_or((until, false), |until| (until, true));
        if let (Ok(from), Ok(until)) = (from.trim().parse::<u64>(), until.trim().parse::<u64>()) {
            if from >= until && !(inclusive && from == until) {
                reading.blame(empty_range(text, (from, until), span));
                return None;
            }
            let until = until.saturating_add(u64::from(inclusive));
            return checked(NodeSet::range(from, until, book.count), span, reading);
        }
    }
    let mut known: Vec<&str> = book.named.keys().map(String::as_str).collect();
    known.push("all");
    reading.unknown_word(span, "set of nodes", text, &known);
    None
}

/// What is said of a range that ends before it has begun.
fn empty_range(text: &str, (from, until): (u64, u64), span: Span) -> Diagnostic {
    let (first, end) = (from.min(until), from.max(until).saturating_add(1));
    let message = format!("\"{text}\" is empty");
    if text.contains("..=") {
        return Diagnostic::at(span, message).help(format!("write \"{first}..={}\"", from.max(until)));
    }
    Diagnostic::at(span, message).help(format!("the end is not included: write \"{first}..{end}\""))
}

fn checked(set: Result<NodeSet, NodeSetError>, span: Span, reading: &mut Reading) -> Option<NodeSet> {
    set.map_err(|error| reading.blame(Diagnostic::at(span, error.to_string()))).ok()
}

fn by_list(node: &Node, path: &str, book: &NodeBook, reading: &mut Reading) -> Option<NodeSet> {
    let numbers = read_numbers(node, path, reading)?;
    if numbers.is_empty() {
        let help = "name some, as in [0, 1], or leave the key out";
        reading.blame(Diagnostic::at(node.span, format!("`{path}` has no node")).help(help));
        return None;
    }
    checked(NodeSet::of(&numbers, book.count), node.span, reading)
}

fn read_numbers(node: &Node, path: &str, reading: &mut Reading) -> Option<Vec<u64>> {
    let Item::List(list) = &node.item else {
        reading.mismatch(node, path, "a list of whole numbers");
        return None;
    };
    let number = |element: &Node| match element.item {
        Item::Integer(number) => u64::try_from(number).ok(),
        _ => None,
    };
    let numbers: Option<Vec<u64>> = list.iter().map(number).collect();
    if numbers.is_none() {
        let odd = list.iter().find(|element| number(element).is_none()).expect("one is no number");
        reading.mismatch(odd, path, "a list of whole numbers");
    }
    numbers
}

fn by_table(node: &Node, path: &str, book: &NodeBook, reading: &mut Reading) -> Option<NodeSet> {
    let mut table = TableReader::of(node, path.to_owned(), reading);
    let outside = table.take("outside");
    let random = table.take("random");
    let seed = table.take("seed");
    let groups = table.take("groups");
    let any = table.take("any");
    table.finish(reading);
    let outside = match outside {
        Some(entry) => Some(read_nodes(&entry.node, path, book, reading)?),
        None => None,
    };
    let mut available = match (groups, any) {
        (None, None) => NodeSet::all(book.count),
        (Some(entry), None) => of_groups(&entry.node, path, book, reading)?,
        (None, Some(entry)) => union(&entry.node, path, book, reading)?,
        (Some(_), Some(entry)) => {
            reading.blame(Diagnostic::at(entry.key_span, "a set is made of groups or of sets, not of both"));
            return None;
        }
    };
    if let Some(outside) = outside {
        reading.lists(node.span, available.len().into())?;
        available = available.without(&outside);
    }
    let Some(random) = random else {
        if let Some(seed) = seed {
            reading.blame(Diagnostic::at(seed.key_span, "`seed` means something only beside `random`"));
        }
        let set = if available.is_empty() { Err(NodeSetError::Empty) } else { Ok(available) };
        return checked(set, node.span, reading);
    };
    let count = positive(&random.node, &format!("{path}.random"), reading)?;
    let seed = match seed {
        Some(seed) => positive(&seed.node, &format!("{path}.seed"), reading)?,
        None => book.seed,
    };
    // Each node that is there to be drawn is looked at.
    reading.lists(node.span, available.len().into())?;
    // By path, so that a set does not change when another is added before it.
    let mut stream = Stream::new(seed, fingerprint(path), PLACEMENT);
    let drawn = draw_distinct(count, available.len(), &mut stream);
    let chosen = drawn.map(|chosen| chosen.iter().map(|position| available.get(position)).collect());
    checked(chosen.map(NodeSet::ascending), random.node.span, reading)
}

fn positive(node: &Node, path: &str, reading: &mut Reading) -> Option<u64> {
    match node.item {
        Item::Integer(number) if (0..=i128::from(i64::MAX)).contains(&number) => Some(number as u64),
        _ => {
            reading.mismatch(node, path, "a whole number that is not negative");
            None
        }
    }
}

fn of_groups(node: &Node, path: &str, book: &NodeBook, reading: &mut Reading) -> Option<NodeSet> {
    let numbers = read_numbers(node, path, reading)?;
    let Some(groups) = book.groups else {
        reading.blame(Diagnostic::at(node.span, "this topology has no groups of nodes"));
        return None;
    };
    if let Some(group) = numbers.iter().find(|&&group| group >= groups.count.into()) {
        let message = format!("group {group} does not exist: there are groups 0..={}", groups.count - 1);
        reading.blame(Diagnostic::at(node.span, message));
        return None;
    }
    let set = |&group: &u64| {
        let each = u64::from(groups.nodes_each);
        NodeSet::range(group * each, (group + 1) * each, book.count).expect("the groups are in the network")
    };
    join(&numbers.iter().map(set).collect::<Vec<_>>(), node.span, reading)
}

fn union(node: &Node, path: &str, book: &NodeBook, reading: &mut Reading) -> Option<NodeSet> {
    let Item::List(list) = &node.item else {
        reading.mismatch(node, path, "a list of sets of nodes");
        return None;
    };
    let read = |(index, node)| read_nodes(node, &format!("{path}.any.{index}"), book, reading);
    let sets = list.iter().enumerate().map(read).collect::<Option<Vec<_>>>()?;
    join(&sets, node.span, reading)
}

fn join(sets: &[NodeSet], span: Span, reading: &mut Reading) -> Option<NodeSet> {
    reading.lists(span, sets.iter().map(|set| u64::from(set.len())).sum())?;
    Some(NodeSet::union(sets))
}

/// FNV-1a.
fn fingerprint(path: &str) -> u64 {
    path.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// A set of nodes as it stands in the resolved text.
pub(crate) fn compact(set: &NodeSet, count: u32) -> Item {
    match set.as_range() {
        Some(range) if range == (0..count) => Item::Text("all".to_owned()),
        Some(range) if range.len() > 1 => Item::Text(format!("{}..{}", range.start, range.end)),
        _ => Item::Nodes(set.clone()),
    }
}
