//! What flows and programs are called.

use crate::diagnostic::Diagnostic;
use crate::reader::{Reading, TableReader};
use crate::tree::{Item, Node};

/// The longest name: files are named after it, and file systems have longest names, too.
const NAME_BYTES_MAX: usize = 63;

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
    let help = if name.is_empty() || !name.chars().all(plain) {
        Some("use letters, digits, `-` and `_`")
    } else if name.chars().all(|c| c.is_ascii_digit()) {
        Some("add a letter: in a path, a number is a place in the list")
    } else {
        None
    };
    if let Some(help) = help {
        reading.blame(Diagnostic::at(span, format!("\"{name}\" cannot name a flow")).help(help));
    } else if name.len() > NAME_BYTES_MAX {
        let message = format!("the name of a flow has {} bytes, the limit is {NAME_BYTES_MAX}", name.len());
        reading.blame(Diagnostic::at(span, message).help("files of figures are named after it"));
    }
    if names.contains(&name) {
        let message = format!("two flows are called \"{name}\"");
        reading.blame(Diagnostic::at(span, message).help("results are told apart by name"));
    }
    names.push(name.clone());
    table.resolved.put("name", Item::Text(name.clone()));
    name
}
