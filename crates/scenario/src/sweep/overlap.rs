//! Whether a value that is laid over a document takes the place of one that was laid over it before.
//!
//! Paths are compared as [overrides](crate::overrides) follow them: they may leave out which element of a list is meant, for
//! all of them, and which model is chosen, for the one that is chosen already.

use crate::choice::tags_of;
use crate::tree::{Item, Node, Table};

/// The lists of a scenario whose elements paths lead into.
const LISTS: [&str; 4] = ["traffic", "program", "phases", "mix"];

/// A path whose keys know what they lead into.
pub(super) struct Path<'p> {
    /// As it was written.
    pub text: &'p str,
    keys: Vec<(&'p str, Inside)>,
}

/// What a key leads into.
enum Inside {
    Table,
    /// One model of several, by their names.
    Choice(Vec<&'static str>),
    List,
}

/// The keys of a path.
pub(super) fn keys(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').map(str::trim)
}

impl<'p> Path<'p> {
    pub(super) fn new(text: &'p str) -> Self {
        Self { text, keys: keys(text).map(|key| (key, inside(key))).collect() }
    }

    pub(super) fn keys(&self) -> Vec<&'p str> {
        self.keys.iter().map(|(key, _)| *key).collect()
    }

    /// Whether a value at this path takes the place of what was set at another one to one of `values`. What it is laid into,
    /// as a parameter into the model that was chosen, goes on to count.
    pub(super) fn takes_place_of<'v, V: Iterator<Item = &'v str>>(
        &self,
        earlier: &[&str],
        values: impl Fn() -> V,
    ) -> bool {
        let excludes = |tag: &str, tags: &[&str]| {
            values().filter_map(chosen).any(|other| other != tag && tags.contains(&other.as_str()))
        };
        takes_place(&self.keys, earlier, &Inside::Table, &excludes)
    }

    /// Whether an element of a list is counted in one of two paths and named in the other, so that only the document tells
    /// whether it is the same one.
    pub(super) fn may_mean_the_same(&self, earlier: &[&str]) -> bool {
        let differs = self.keys.iter().zip(earlier).position(|((key, _), other)| key != other);
        differs.is_some_and(|place| {
            let is_in_list = place.checked_sub(1).is_some_and(|list| matches!(self.keys[list].1, Inside::List));
            let is_counted = |key: &str| key.parse::<usize>().is_ok();
            is_in_list && is_counted(self.keys[place].0) != is_counted(earlier[place])
        })
    }
}

fn inside(key: &str) -> Inside {
    match tags_of(key) {
        Some(tags) => Inside::Choice(tags),
        None if LISTS.contains(&key) => Inside::List,
        None => Inside::Table,
    }
}

/// Whether two keys that are written in different ways may be the same element of a list: two numbers of the same value, or
/// a number and a name, of which only the document tells.
fn may_be_same_element(key: &str, other: &str) -> bool {
    // What can be a part of all elements is no name of one.
    let is_name = |key: &str| matches!(inside(key), Inside::Table);
    match (key.parse::<usize>(), other.parse::<usize>()) {
        (Ok(index), Ok(other)) => index == other,
        (Ok(_), Err(_)) => is_name(other),
        (Err(_), Ok(_)) => is_name(key),
        (Err(_), Err(_)) => false,
    }
}

/// The same for what is left of two paths inside of something that both lead into. `excludes` says whether what was set
/// chooses another one of several models than the one of a name.
fn takes_place(
    later: &[(&str, Inside)],
    earlier: &[&str],
    inside: &Inside,
    excludes: &dyn Fn(&str, &[&str]) -> bool,
) -> bool {
    let Some(((key, leads_into), rest)) = later.split_first() else { return true };
    let Some((other, other_rest)) = earlier.split_first() else {
        return matches!(inside, Inside::Choice(tags) if tags.contains(key) && excludes(key, tags));
    };
    if key == other {
        return takes_place(rest, other_rest, leads_into, excludes);
    }
    // One of the two leaves out what the other says.
    let without_other = || takes_place(later, other_rest, &Inside::Table, excludes);
    let without_key = || takes_place(rest, earlier, &Inside::Table, excludes);
    match inside {
        Inside::Table => false,
        Inside::Choice(tags) => match (tags.contains(key), tags.contains(other)) {
            (true, true) => true,
            (true, false) => without_key(),
            (false, true) => without_other(),
            (false, false) => false,
        },
        // A name that is the last key is that of a value in all elements; a number is a whole element.
        Inside::List => {
            let is_element = |key: &str, rest_is_empty: bool| !rest_is_empty || key.parse::<usize>().is_ok();
            let (is_key, is_other) = (is_element(key, rest.is_empty()), is_element(other, other_rest.is_empty()));
            let same = || is_key && is_other && may_be_same_element(key, other);
            same() && takes_place(rest, other_rest, &Inside::Table, excludes)
                || without_other()
                || is_key && without_key()
        }
    }
}

/// The name of the model that a value chooses, if it is one that does.
fn chosen(value: &str) -> Option<String> {
    let value = value.trim();
    if !value.starts_with('{') {
        return Some(value.trim_matches(['"', '\'']).to_owned());
    }
    match Node::parse(value, 0, 0)?.item {
        Item::Table(Table(entries)) if entries.len() == 1 => entries.into_iter().next().map(|entry| entry.key),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes_place(later: &str, earlier: &str) -> bool {
        let (earlier, value) = earlier.split_once('=').unwrap();
        Path::new(later).takes_place_of(&keys(earlier).collect::<Vec<_>>(), || [value].into_iter())
    }

    #[test]
    fn a_value_takes_the_place_of_what_is_not_there_any_more() {
        for (later, earlier) in [
            ("traffic.load", "traffic.load=0.1"),
            ("routing", "routing.par.threshold=8"),
            ("routing.par.threshold", "routing=\"minimal\""),
            ("routing.par.threshold", "routing=minimal"),
            ("routing.par.threshold", "routing={ valiant = {} }"),
            ("routing.par.threshold", "routing.valiant.target=\"group\""),
            ("routing.threshold", "routing.par.threshold=8"),
            ("routing.par.threshold", "routing.threshold=8"),
            ("protocol.lhrp.drops", "protocol.baseline={}"),
            ("traffic.load", "traffic.hot.load=0.1"),
            ("traffic.hot.load", "traffic.load=0.1"),
            ("traffic.0.load", "traffic.load=0.1"),
            ("traffic.0", "traffic.load=0.1"),
            ("traffic.hot.load", "traffic.1.load=0.1"),
            ("traffic.1.load", "traffic.hot.load=0.1"),
            ("traffic.01.load", "traffic.1.load=0.1"),
            ("traffic.1", "traffic.hot.load=0.1"),
            ("traffic.hot.pattern.mix.0.share", "traffic.1.pattern.mix.0.share=1"),
            ("traffic.pattern", "traffic.hot.pattern.mix.0.share=1"),
            ("traffic.hot.pattern.adversarial.offset", "traffic.pattern=\"uniform\""),
        ] {
            assert!(takes_place(later, earlier), "{later} after {earlier}");
        }
    }

    #[test]
    fn what_a_value_is_laid_into_goes_on_to_count() {
        for (later, earlier) in [
            ("traffic.load", "traffic.size=8"),
            ("traffic.size", "traffic.hot.load=0.1"),
            ("traffic.hot.load", "traffic.calm.load=0.1"),
            ("traffic.hot.load", "traffic.size=8"),
            ("traffic.1.load", "traffic.0.load=0.1"),
            ("traffic.1.load", "traffic.hot.size=8"),
            ("traffic.1.load", "traffic.phases.load=0.1"),
            ("traffic.1.load.more", "traffic.load=0.1"),
            ("traffic.cold.load", "traffic=[{ name = \"cold\", load = 0.5 }]"),
            ("traffic.pattern.mix.0.share", "traffic.size=1"),
            ("routing.par.threshold", "routing=\"par\""),
            ("routing.par.threshold", "routing={ par = { vcs = 1 } }"),
            ("routing.par.threshold", "routing.par.vcs=1"),
            ("routing.vcs", "routing=\"minimal\""),
            ("routing.vcs", "routing.par.threshold=8"),
            ("protocol.lhrp.drops", "protocol.lhrp={}"),
            ("links.local.latency", "links.global.latency=5"),
            ("measure.cycles", "measure.cycles_more=5"),
        ] {
            assert!(!takes_place(later, earlier), "{later} after {earlier}");
        }
    }
}
