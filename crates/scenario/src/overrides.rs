//! `path=value`, laid over a tree.
//!
//! A path leads from key to key by dots. In a list it names an element by number or by `name`; a path that does neither
//! goes on in all elements. Where one model of several is chosen, the path may leave out the name of the one that is
//! chosen already, and choosing another one drops what was set for the first.

use crate::bounds::{Bounded, Excess};
use crate::choice::tags_of;
use crate::diagnostic::{Diagnostic, Span};
use crate::nearest::nearest;
use crate::tree::{Entry, Item, Node, Table};

/// The most keys of a path.
const KEYS_MAX: usize = 32;

/// How much overrides set in a document, and how much they may.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    pub set: u64,
    pub max: u64,
}

/// Why an override is not laid over a tree.
#[derive(Debug)]
pub(crate) enum NotSet {
    Mistake(Diagnostic),
    TooMuch(Span, Excess),
}

impl From<Diagnostic> for NotSet {
    fn from(mistake: Diagnostic) -> Self {
        Self::Mistake(mistake)
    }
}

/// Lays `assignment` over `root`; `source` is the index of its text. Adds to `extent` what it sets.
pub(crate) fn apply(root: &mut Table, assignment: &str, source: usize, extent: &mut Extent) -> Result<(), NotSet> {
    let whole = Span { source, start: 0, end: assignment.len() };
    let Some((path, value)) = assignment.split_once('=') else {
        return Err(Diagnostic::at(whole, "an override is a path and a value").help("write `path=value`").into());
    };
    let count = path.split('.').count();
    if count > KEYS_MAX {
        let message = format!("the path has {count} keys, the limit is {KEYS_MAX}");
        return Err(Diagnostic::at(Span { end: path.len(), ..whole }, message).into());
    }
    let mut keys = Vec::new();
    let mut start = 0;
    for key in path.split('.') {
        let span = Span { source, start, end: start + key.len() };
        start = span.end + 1;
        keys.push((key.trim(), span));
    }
    if let Some(&(_, span)) = keys.iter().find(|(key, _)| key.is_empty()) {
        return Err(Diagnostic::at(span, "a key is missing in the path")
            .help("write `path=value`, as in `seed=2`")
            .into());
    }
    let offset = path.len() + 1;
    let span = Span { source, start: offset, end: assignment.len() };
    let text = || Node { item: Item::Text(value.trim().to_owned()), span };
    let node = Node::parse(value.trim(), source, offset + value.len() - value.trim_start().len()).unwrap_or_else(text);
    let mut setting = Setting { weight: node.weight() as u64, node, extent };
    set_in_table(root, &keys, &mut setting)
}

/// A value that is being set, once or wherever a path leads.
struct Setting<'s> {
    node: Node,
    weight: u64,
    extent: &'s mut Extent,
}

impl Setting<'_> {
    fn value(&mut self) -> Result<Node, NotSet> {
        let Extent { set, max } = &mut *self.extent;
        *set += self.weight;
        if *set > *max {
            return Err(NotSet::TooMuch(
                self.node.span,
                Excess { what: Bounded::SetValues, asked: *set, allowed: *max },
            ));
        }
        Ok(self.node.clone())
    }
}

type Keys<'a> = [(&'a str, Span)];

fn set_in_table(table: &mut Table, keys: &Keys<'_>, setting: &mut Setting<'_>) -> Result<(), NotSet> {
    let ((key, span), rest) = (keys[0], &keys[1..]);
    if rest.is_empty() {
        table.put_entry(Entry { key: key.to_owned(), key_span: span, node: setting.value()? });
        return Ok(());
    }
    if table.get(key).is_none() {
        let node = Node { item: Item::Table(Table::default()), span };
        table.put_entry(Entry { key: key.to_owned(), key_span: span, node });
    }
    let entry = table.get_mut(key).expect("it was put there");
    match tags_of(key) {
        Some(tags) => set_in_choice(entry, (key, &tags), rest, setting),
        None => set_in(&mut entry.node, rest, setting),
    }
}

/// Sets a value in what may be any of several models.
fn set_in_choice(
    entry: &mut Entry,
    (what, tags): (&str, &[&str]),
    keys: &Keys<'_>,
    setting: &mut Setting<'_>,
) -> Result<(), NotSet> {
    let (first, span) = keys[0];
    // A path that goes on behind it is meant to lead into a model, not to a parameter of the one that is chosen.
    if keys.len() > 1
        && !tags.contains(&first)
        && let Some(near) = nearest(first, tags.iter().copied())
    {
        let message = format!("unknown {what} \"{first}\"");
        return Err(Diagnostic::at(span, message).help(format!("did you mean \"{near}\"?")).into());
    }
    if let Item::Text(tag) = &entry.node.item {
        let tag =
            Entry { key: tag.clone(), key_span: entry.node.span, node: Node::free(Item::Table(Table::default())) };
        entry.node.item = Item::Table(Table(vec![tag]));
    }
    let Item::Table(choice) = &mut entry.node.item else {
        entry.node = Node { item: Item::Table(Table::default()), span };
        return set_in(&mut entry.node, keys, setting);
    };
    if tags.contains(&first) {
        choice.0.retain(|entry| entry.key == first);
    } else if let [chosen] = choice.0.as_mut_slice() {
        return set_in(&mut chosen.node, keys, setting);
    }
    set_in(&mut entry.node, keys, setting)
}

fn set_in(into: &mut Node, keys: &Keys<'_>, setting: &mut Setting<'_>) -> Result<(), NotSet> {
    match &mut into.item {
        Item::Table(table) => set_in_table(table, keys, setting),
        Item::List(list) => set_in_list(list, keys, setting),
        found => {
            let (key, span) = keys[0];
            let message = format!("there is nothing called `{key}` in {}", found.describe());
            Err(Diagnostic::at(span, message).help("shorten the path").into())
        }
    }
}

fn set_in_list(list: &mut [Node], keys: &Keys<'_>, setting: &mut Setting<'_>) -> Result<(), NotSet> {
    let ((key, span), rest) = (keys[0], &keys[1..]);
    let count = list.len();
    if let Ok(index) = key.parse::<usize>() {
        let Some(element) = list.get_mut(index) else {
            let help = format!("the list has {count}, counted from 0");
            return Err(Diagnostic::at(span, format!("there is no element {index}")).help(help).into());
        };
        return set_element(element, rest, setting);
    }
    let is_named = |element: &Node| match &element.item {
        Item::Table(table) => {
            matches!(table.get("name").map(|entry| &entry.node.item), Some(Item::Text(name)) if name == key)
        }
        _ => false,
    };
    if let Some(element) = list.iter_mut().find(|element| is_named(element)) {
        return set_element(element, rest, setting);
    }
    list.iter_mut().try_for_each(|element| set_in(element, keys, setting))
}

fn set_element(element: &mut Node, keys: &Keys<'_>, setting: &mut Setting<'_>) -> Result<(), NotSet> {
    if keys.is_empty() {
        *element = setting.value()?;
        return Ok(());
    }
    set_in(element, keys, setting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::print;

    const EXTENT: Extent = Extent { set: 0, max: 100 };

    fn after(text: &str, assignments: &[&str]) -> String {
        let (mut root, mistakes, _) = Table::parse(text, 0);
        assert!(mistakes.is_empty());
        for assignment in assignments {
            apply(&mut root, assignment, 1, &mut EXTENT.clone()).unwrap();
        }
        print(&root)
    }

    #[test]
    fn values_are_set_where_paths_lead() {
        let text =
            "routing = \"minimal\"\n[[traffic]]\nname = \"a\"\nload = 0.1\n[[traffic]]\nname = \"b\"\nload = 0.2\n";
        let a = after(text, &["traffic.load=0.5", "traffic.b.load=0.7", "traffic.0.size=24"]);
        assert!(a.contains("name = \"a\"\nload = 0.5\nsize = 24") && a.contains("name = \"b\"\nload = 0.7"), "{a}");
        let b = after(text, &["routing.valiant.target=group"]);
        assert!(b.contains("[routing.valiant]\ntarget = \"group\""), "{b}");
        let c = after(text, &["routing.vcs=l0 g0 l1"]);
        assert!(c.contains("[routing.minimal]\nvcs = \"l0 g0 l1\""), "{c}");
        let d = after("", &["links.local.latency=50 ns", "seed=3"]);
        assert!(d.contains("[links.local]\nlatency = \"50 ns\"") && d.contains("seed = 3"), "{d}");
    }

    #[test]
    fn paths_that_lead_nowhere_are_refused() {
        let (mut root, _, _) = Table::parse("seed = 1\n[[traffic]]\nload = 0.1\n", 0);
        for (assignment, reason) in [
            ("seed", "an override is a path and a value"),
            ("measure..cycles=1", "a key is missing in the path"),
            ("seed.low=1", "there is nothing called `low` in the number 1"),
            ("traffic.4.load=1", "there is no element 4"),
            ("routing.valliant.target=group", "unknown routing \"valliant\""),
        ] {
            let refused = apply(&mut root, assignment, 1, &mut EXTENT.clone());
            assert!(matches!(refused, Err(NotSet::Mistake(mistake)) if mistake.message == reason), "{assignment}");
        }
    }
}
