//! `path=value`, laid over a tree.
//!
//! A path leads from key to key by dots. In a list it names an element by number or by `name`; a path that does neither
//! goes on in all elements. Where one model of several is chosen, the path may leave out the name of the one that is
//! chosen already, and choosing another one drops what was set for the first.

use crate::bounds::{Bounded, Excess};
use crate::choice::tags_of;
use crate::diagnostic::{Diagnostic, Span};
use crate::nearest::nearest;
use crate::program::{PROGRAM, PROGRAM_KEYS};
use crate::traffic::{TRAFFIC, TRAFFIC_KEYS};
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
        None => {
            if let Item::List(list) = &entry.node.item {
                check_named(key, list, rest)?;
            }
            set_in(&mut entry.node, rest, setting)
        }
    }
}

/// Refuses a path that leads into a flow, or a program, which is not there: it would go on in all of them, and each would say
/// that it does not know the name as a key.
fn check_named(key: &str, list: &[Node], keys: &Keys<'_>) -> Result<(), NotSet> {
    let (what, keys_known, parameters) = match key {
        "traffic" => ("flow", TRAFFIC_KEYS, TRAFFIC),
        "program" => ("program", PROGRAM_KEYS, PROGRAM),
        _ => return Ok(()),
    };
    let (name, span) = keys[0];
    let mut known = keys_known.iter().map(|key| key.name).chain(parameters.iter().map(|parameter| parameter.name));
    let is_key = tags_of(name).is_some() || known.any(|known| known == name);
    let is_part = |element: &Node| matches!(&element.item, Item::Table(table) if table.get(name).is_some());
    let is_led_through = is_key || name.parse::<usize>().is_ok() || list.iter().any(is_part);
    let names: Vec<&str> = list.iter().filter_map(name_of).collect();
    // Of what is not there at all, nothing is set.
    if keys.len() == 1 || list.is_empty() || is_led_through || names.contains(&name) {
        return Ok(());
    }
    let meant =
        nearest(name, names.iter().copied()).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    let named = if names.is_empty() { "none has a name".to_owned() } else { format!("there are {}", names.join(", ")) };
    let help = format!("{meant}{named}; a number counts from 0");
    Err(Diagnostic::at(span, format!("there is no {what} `{name}`")).help(help).into())
}

/// The name of an element of a list, if it has one.
fn name_of(element: &Node) -> Option<&str> {
    let Item::Table(table) = &element.item else { return None };
    match &table.get("name")?.node.item {
        Item::Text(name) => Some(name),
        _ => None,
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
    if let Some(element) = list.iter_mut().find(|element| name_of(element) == Some(key)) {
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
    fn a_flow_that_is_not_there_is_said_once() {
        let text =
            "[[traffic]]\nname = \"bystanders\"\nload = 0.1\n[[traffic]]\nname = \"hot\"\nload = 0.1\n[[program]]\n";
        let (mut root, _, _) = Table::parse(text, 0);
        for (assignment, reason, help) in [
            (
                "traffic.hott.load=0.5",
                "there is no flow `hott`",
                "did you mean `hot`? there are bystanders, hot; a number counts from 0",
            ),
            ("program.ring.start=5", "there is no program `ring`", "none has a name; a number counts from 0"),
        ] {
            let Err(NotSet::Mistake(mistake)) = apply(&mut root, assignment, 1, &mut EXTENT.clone()) else {
                panic!("{assignment}")
            };
            assert_eq!((mistake.message.as_str(), mistake.help.as_deref()), (reason, Some(help)));
        }
        for good in ["traffic.load=0.5", "traffic.hot.load=0.5", "traffic.1.load=0", "traffic.pattern.mix.share=1"] {
            apply(&mut root, good, 1, &mut EXTENT.clone()).unwrap_or_else(|_| panic!("{good}"));
        }
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
