//! What flows and programs are called.

use crate::diagnostic::Diagnostic;
use crate::reader::{Reading, TableReader};
use crate::tree::{Item, Node};

/// What a flow, or a program, is called that has no name.
pub(crate) struct Called {
    /// The name of its section.
    pub otherwise: &'static str,
    /// Its place among those.
    pub index: usize,
    pub count: usize,
}

/// How a person, or an override, would name a flow.
pub(crate) fn path_of(node: &Node, called: &Called) -> String {
    let &Called { otherwise, index, count } = called;
    let Item::Table(table) = &node.item else { return otherwise.to_owned() };
    match table.get("name").map(|entry| &entry.node.item) {
        Some(Item::Text(name)) => format!("{otherwise}.{name}"),
        _ if count == 1 => otherwise.to_owned(),
        _ => format!("{otherwise}.{index}"),
    }
}

/// The name of a flow, which none of those in `names` may have: it is put there.
pub(crate) fn read_name(
    table: &mut TableReader<'_>,
    called: &Called,
    names: &mut Vec<String>,
    reading: &mut Reading,
) -> String {
    let &Called { otherwise, index, count } = called;
    let otherwise = if count == 1 { otherwise.to_owned() } else { format!("{otherwise}{index}") };
    let given = table.text("name", reading);
    let name = given.map_or(otherwise, |(name, _)| name.to_owned());
    let span = given.map_or(table.span, |(_, span)| span);
    let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(plain) {
        let message = format!("\"{name}\" cannot name a flow");
        reading.blame(Diagnostic::at(span, message).help("use letters, digits, `-` and `_`"));
    }
    if names.contains(&name) {
        let message = format!("two flows are called \"{name}\"");
        reading.blame(Diagnostic::at(span, message).help("results are told apart by name"));
    }
    names.push(name.clone());
    table.resolved.put("name", Item::Text(name.clone()));
    name
}
