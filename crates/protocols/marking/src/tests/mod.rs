//! What the three protocols promise, by hand and by properties.

mod conformance;
mod flows;
mod marks;
mod mvcm;
mod node;
mod pfister;
mod properties;
mod renato;

use std::sync::Arc;

use tailback_parameters::{BuildError, Kind, Value, Values};
use tailback_protocol::{Protocol, ProtocolModel};

use crate::marks::{MARKED, VALIDATED};

/// The marks of an acknowledgement, as the sheet's examples abbreviate them: unmarked, marked, validated.
const U: u8 = 0;
const X: u8 = MARKED;
const H: u8 = MARKED | VALIDATED;

/// The values of a model's parameters: its defaults, and those that are given as in a file. A tick is a cycle.
fn values(model: &ProtocolModel, given: &[(&str, &str)]) -> Values {
    let mut values = Values::default();
    for (name, _) in given {
        assert!(model.parameters.iter().any(|parameter| parameter.name == *name), "{} has no {name}", model.name);
    }
    for parameter in model.parameters {
        let found = given.iter().find(|(name, _)| *name == parameter.name);
        let text = found.map_or_else(|| parameter.default.expect("all have defaults"), |(_, text)| text);
        values.set(parameter.name, value(parameter.kind, text));
    }
    values
}

fn value(kind: Kind, text: &str) -> Value {
    let number = || text.parse::<u64>().unwrap_or_else(|_| panic!("{text} is no number"));
    match kind {
        Kind::Integer { .. } | Kind::Flits { .. } => Value::Integer(number()),
        Kind::Number { .. } => Value::Number(text.parse().unwrap()),
        Kind::Choice(choices) => {
            let text = text.trim_matches('"');
            assert!(choices.iter().any(|choice| choice.word == text), "{text} is no choice");
            Value::Text(text.to_owned())
        }
        Kind::Time => Value::Ticks(number()),
        Kind::Times => {
            let times = text.trim_matches(['[', ']']).split(',').map(str::trim).filter(|time| !time.is_empty());
            Value::Times(times.map(|time| time.parse().unwrap()).collect())
        }
        Kind::IntegerOr { word, .. } => Value::IntegerOr((text.trim_matches('"') != word).then(number)),
        other => panic!("{other:?} is of no parameter here"),
    }
}

fn try_build(model: &ProtocolModel, given: &[(&str, &str)]) -> Result<Arc<dyn Protocol>, BuildError> {
    (model.build)(&values(model, given))
}

fn build(model: &ProtocolModel, given: &[(&str, &str)]) -> Arc<dyn Protocol> {
    try_build(model, given).unwrap()
}
