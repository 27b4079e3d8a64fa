//! The scenarios of this package together name everything that exists, so that a model that is added must be added to
//! one of them.

use std::collections::BTreeSet;

use tailback_scenario::{Kind, models};
use toml::de::{DeTable, DeValue};

use crate::scenarios::{names, resolve};

/// A key and a value or a key below it, as they stand beside each other in a resolved scenario: `routing`, `valiant`.
type Pair = (String, String);

fn pairs(table: &DeTable<'_>, pairs: &mut BTreeSet<Pair>) {
    for (key, value) in table {
        visit(key.get_ref(), value.get_ref(), pairs);
    }
}

fn visit(key: &str, value: &DeValue<'_>, found: &mut BTreeSet<Pair>) {
    let mut note = |word: &str| _ = found.insert((key.to_owned(), word.to_owned()));
    match value {
        DeValue::Table(table) => {
            table.keys().for_each(|below| note(below.get_ref()));
            pairs(table, found);
        }
        DeValue::Array(list) => list.iter().for_each(|element| visit(key, element.get_ref(), found)),
        DeValue::String(word) => note(word),
        DeValue::Boolean(flag) => note(&flag.to_string()),
        _ => {}
    }
}

/// All that the resolved scenarios say.
fn said() -> BTreeSet<Pair> {
    let mut said = BTreeSet::new();
    for name in names() {
        let text = resolve(&name, &[]).text;
        let table = DeTable::parse(&text).expect("a resolved scenario is TOML");
        pairs(table.get_ref(), &mut said);
    }
    said
}

fn assert_said(wanted: impl Iterator<Item = Pair>) {
    let said = said();
    let missing: Vec<Pair> = wanted.filter(|pair| !said.contains(pair)).collect();
    assert!(missing.is_empty(), "no file in tests/scenarios has any of these: {missing:#?}");
}

#[test]
fn each_model_is_in_a_scenario() {
    let named = models().filter(|model| model.kind != "section");
    assert_said(named.map(|model| (model.kind.to_owned(), model.name.to_owned())));
}

/// Threads and partitions are what the matrix varies; all other words can change results. A default is in all scenarios that say
/// nothing else.
#[test]
fn each_word_of_each_choice_is_in_a_scenario() {
    let parameters = models().filter(|model| model.name != "execution").flat_map(|model| model.parameters);
    let words = parameters.flat_map(|parameter| {
        let words: Vec<&str> = match parameter.kind {
            Kind::Choice(choices) => choices.iter().map(|choice| choice.word).collect(),
            Kind::Flag => vec!["true"],
            Kind::IntegerOr { word, .. } | Kind::FlitsOr { word, .. } => vec![word],
            _ => Vec::new(),
        };
        let is_default = |word: &&str| parameter.default == Some(format!("\"{word}\"").as_str());
        words.into_iter().filter(move |word| !is_default(word)).map(|word| (parameter.name.to_owned(), word.to_owned()))
    });
    assert_said(words);
}
