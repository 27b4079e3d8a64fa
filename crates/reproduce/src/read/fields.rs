//! The values of keys.

use tailback_scenario::Diagnostic;
use tailback_scenario::reading::{Item, Node, Reading, TableReader};

/// A text that must be there.
pub fn needed_text(
    table: &mut TableReader<'_>,
    key: &'static str,
    what: &str,
    reading: &mut Reading,
) -> Option<String> {
    let is_there = table.table.get(key).is_some();
    let text = table.text(key, reading).map(|(text, _)| text.to_owned());
    if !is_there {
        missing(table, key, what, reading);
    }
    text
}

/// A text that may be there.
pub fn text(table: &mut TableReader<'_>, key: &'static str, reading: &mut Reading) -> Option<String> {
    table.text(key, reading).map(|(text, _)| text.to_owned())
}

/// The `name` that must be there and that a file is to be called by.
pub fn file_name(table: &mut TableReader<'_>, reading: &mut Reading) -> Option<String> {
    let name = needed_text(table, "name", "what its file is called", reading)?;
    let is_plain = |c: char| c.is_alphanumeric() || c == '-';
    if !(name.starts_with(char::is_alphanumeric) && name.chars().all(is_plain)) {
        let message = format!("\"{name}\" cannot name a file");
        reading.blame(Diagnostic::at(table.span, message).help("use letters, digits and `-`"));
    }
    Some(name)
}

/// A number that must be there.
pub fn needed_number(table: &mut TableReader<'_>, key: &'static str, what: &str, reading: &mut Reading) -> Option<f64> {
    if table.table.get(key).is_none() {
        let _ = table.take(key);
        missing(table, key, what, reading);
        return None;
    }
    number(table, key, reading)
}

/// A number that may be there.
pub fn number(table: &mut TableReader<'_>, key: &'static str, reading: &mut Reading) -> Option<f64> {
    let node = &table.take(key)?.node;
    let number = node.item.number().filter(|number| number.is_finite());
    if number.is_none() {
        reading.mismatch(node, &table.path_of(key), "a number");
    }
    number
}

/// A number that may be there, and must be above zero then.
pub fn positive(table: &mut TableReader<'_>, key: &'static str, reading: &mut Reading) -> Option<f64> {
    let number = number(table, key, reading)?;
    if number <= 0.0 {
        let node = &table.table.get(key)?.node;
        reading.mismatch(node, &table.path_of(key), "a number above zero");
        return None;
    }
    Some(number)
}

/// A whole number that may be there.
pub fn whole(table: &mut TableReader<'_>, key: &'static str, reading: &mut Reading) -> Option<u64> {
    let node = &table.take(key)?.node;
    match node.item {
        Item::Integer(number) if (0..=1 << 40).contains(&number) => Some(number as u64),
        _ => {
            reading.mismatch(node, &table.path_of(key), "a whole number that is not negative");
            None
        }
    }
}

/// True or false.
pub fn flag(table: &mut TableReader<'_>, key: &'static str, otherwise: bool, reading: &mut Reading) -> bool {
    match table.take(key).map(|entry| &entry.node) {
        None => otherwise,
        Some(Node { item: Item::Flag(flag), .. }) => *flag,
        Some(node) => {
            reading.mismatch(node, &table.path_of(key), "true or false");
            otherwise
        }
    }
}

/// Two numbers, the second above the first.
pub fn range(table: &mut TableReader<'_>, key: &'static str, reading: &mut Reading) -> Option<(f64, f64)> {
    let node = &table.take(key)?.node;
    let numbers: Option<Vec<f64>> = match &node.item {
        Item::List(list) => list.iter().map(|node| node.item.number()).collect(),
        _ => None,
    };
    match numbers.as_deref() {
        Some(&[low, high]) if low < high => Some((low, high)),
        _ => {
            reading.mismatch(node, &table.path_of(key), "two numbers, the second above the first");
            None
        }
    }
}

/// The same, where it must be there.
pub fn needed_range(
    table: &mut TableReader<'_>,
    key: &'static str,
    what: &str,
    reading: &mut Reading,
) -> Option<(f64, f64)> {
    if table.table.get(key).is_none() {
        let _ = table.take(key);
        missing(table, key, what, reading);
        return None;
    }
    range(table, key, reading)
}

/// Texts that a node should be a list of.
pub fn texts(node: &Node, path: &str, reading: &mut Reading) -> Option<Vec<String>> {
    let texts = match &node.item {
        Item::List(list) if !list.is_empty() => list
            .iter()
            .map(|node| match &node.item {
                Item::Text(text) => Some(text.clone()),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    if texts.is_none() {
        reading.mismatch(node, path, "a list of texts");
    }
    texts
}

/// Complains about a key that is not there.
pub fn missing(table: &TableReader<'_>, key: &str, what: &str, reading: &mut Reading) {
    let message = format!("`{}` is missing", table.path_of(key));
    reading.blame(Diagnostic::at(table.span, message).help(format!("add `{key} = …`: {what}")));
}
