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
    pub named: BTreeMap<String, Vec<u32>>,
}

/// The purpose of the random streams that draw sets of nodes.
const PLACEMENT: u64 = 1 << 35;

/// The members of a set of nodes, in ascending order.
pub(crate) fn read_nodes(node: &Node, path: &str, book: &NodeBook, reading: &mut Reading) -> Option<Vec<u32>> {
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

fn by_text(text: &str, span: Span, book: &NodeBook, reading: &mut Reading) -> Option<Vec<u32>> {
    if text == "all" {
        return Some((0..book.count).collect());
    }
    if let Some(members) = book.named.get(text) {
        return Some(members.clone());
    }
    if let Some((from, until)) = text.split_once("..") {
        let (until, inclusive) = until.strip_prefix('=').map_or((until, false), |until| (until, true));
        if let (Ok(from), Ok(until)) = (from.trim().parse::<u64>(), until.trim().parse::<u64>()) {
            let until = until.saturating_add(u64::from(inclusive));
            // One node beyond the last is enough to see that a range leaves the network.
            let list: Vec<u64> = (from..until.min(u64::from(book.count) + 1).max(from.min(until))).collect();
            return checked(&list, span, book, reading);
        }
    }
    let mut known: Vec<&str> = book.named.keys().map(String::as_str).collect();
    known.push("all");
    reading.unknown_word(span, "set of nodes", text, &known);
    None
}

fn checked(list: &[u64], span: Span, book: &NodeBook, reading: &mut Reading) -> Option<Vec<u32>> {
    match NodeSet::of(list, book.count) {
        Ok(set) => Some(set.members().to_vec()),
        Err(error) => blame(&error, span, reading),
    }
}

fn blame<T>(error: &NodeSetError, span: Span, reading: &mut Reading) -> Option<T> {
    reading.blame(Diagnostic::at(span, error.to_string()));
    None
}

fn by_list(node: &Node, path: &str, book: &NodeBook, reading: &mut Reading) -> Option<Vec<u32>> {
    let numbers = read_numbers(node, path, reading)?;
    checked(&numbers, node.span, book, reading)
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

fn by_table(node: &Node, path: &str, book: &NodeBook, reading: &mut Reading) -> Option<Vec<u32>> {
    let mut table = TableReader::of(node, path.to_owned(), reading);
    let outside = table.take("outside");
    let random = table.take("random");
    let seed = table.take("seed");
    let groups = table.take("groups");
    let any = table.take("any");
    table.finish(reading);
    let outside = match outside {
        Some(entry) => read_nodes(&entry.node, path, book, reading)?,
        None => Vec::new(),
    };
    let available: Vec<u32> = match (groups, any) {
        (None, None) => (0..book.count).collect(),
        (Some(entry), None) => of_groups(&entry.node, path, book, reading)?,
        (None, Some(entry)) => union(&entry.node, path, book, reading)?,
        (Some(_), Some(entry)) => {
            reading.blame(Diagnostic::at(entry.key_span, "a set is made of groups or of sets, not of both"));
            return None;
        }
    };
    let available: Vec<u32> = available.into_iter().filter(|node| outside.binary_search(node).is_err()).collect();
    let Some(random) = random else {
        if let Some(seed) = seed {
            reading.blame(Diagnostic::at(seed.key_span, "`seed` means something only beside `random`"));
        }
        return if available.is_empty() { blame(&NodeSetError::Empty, node.span, reading) } else { Some(available) };
    };
    let count = positive(&random.node, &format!("{path}.random"), reading)?;
    let seed = match seed {
        Some(seed) => positive(&seed.node, &format!("{path}.seed"), reading)?,
        None => book.seed,
    };
    // By path, so that a set does not change when another is added before it.
    let mut stream = Stream::new(seed, fingerprint(path), PLACEMENT);
    match draw_distinct(count, available.len() as u32, &mut stream) {
        Ok(chosen) => Some(chosen.members().iter().map(|&index| available[index as usize]).collect()),
        Err(error) => blame(&error, random.node.span, reading),
    }
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

fn of_groups(node: &Node, path: &str, book: &NodeBook, reading: &mut Reading) -> Option<Vec<u32>> {
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
    let members = |&group: &u64| {
        let first = group as u32 * groups.nodes_each;
        first..first + groups.nodes_each
    };
    let mut members: Vec<u32> = numbers.iter().flat_map(members).collect();
    members.sort_unstable();
    members.dedup();
    Some(members)
}

fn union(node: &Node, path: &str, book: &NodeBook, reading: &mut Reading) -> Option<Vec<u32>> {
    let Item::List(list) = &node.item else {
        reading.mismatch(node, path, "a list of sets of nodes");
        return None;
    };
    let mut members = Vec::new();
    for (index, node) in list.iter().enumerate() {
        members.extend(read_nodes(node, &format!("{path}.any.{index}"), book, reading)?);
    }
    members.sort_unstable();
    members.dedup();
    Some(members)
}

/// FNV-1a.
fn fingerprint(path: &str) -> u64 {
    path.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// A set of nodes as it stands in the resolved text.
pub(crate) fn compact(members: &[u32], count: u32) -> Item {
    if members.len() == count as usize {
        return Item::Text("all".to_owned());
    }
    match members {
        [first, .., last] if (last - first) as usize + 1 == members.len() => {
            Item::Text(format!("{first}..{}", last + 1))
        }
        _ => Item::List(members.iter().map(|&node| Node::free(Item::Integer(node.into()))).collect()),
    }
}
