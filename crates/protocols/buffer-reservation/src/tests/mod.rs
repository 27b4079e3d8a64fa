//! What the schedulers promise, by hand and by properties.

mod central;
mod conformance;
mod distributed;
mod end_to_end;
mod fairness;
mod in_band;
mod order;
mod refused;
mod weights;
mod world;

use tailback_parameters::{BuildError, Kind, Value, Values};
use tailback_protocol::{InjectionTime, ProtocolModel, Routes, Station};

use crate::central::Central;
use crate::distributed::Distributed;
use crate::in_band::InBand;
use crate::{CENTRAL_SCHEDULER, DISTRIBUTED_SCHEDULER, IN_BAND_RESERVATION};

/// Ticks of a packet: a flit in each.
const PACKET: u64 = 8;

/// A network of so many routes: the square of that many nodes.
fn station(routes: u32) -> Station {
    Station {
        flit_ticks: 1,
        injection: InjectionTime::of_link(1),
        packet_flits_max: PACKET as u16,
        ports: 2 * routes,
        routers: 2 * routes,
        nodes_per_router: routes,
        nodes: routes * routes,
        routes: Routes::drawn(routes),
    }
}

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
    let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("{text} is no number"));
    match kind {
        Kind::Integer { .. } => Value::Integer(number(text)),
        Kind::Number { .. } => Value::Number(text.parse().unwrap()),
        Kind::Choice(choices) => {
            let text = text.trim_matches('"');
            assert!(choices.iter().any(|choice| choice.word == text), "{text} is no choice");
            Value::Text(text.to_owned())
        }
        Kind::Time => Value::Ticks(number(text)),
        Kind::Integers { .. } => {
            let numbers = text.trim_matches(['[', ']']).split(',').map(str::trim).filter(|number| !number.is_empty());
            Value::Integers(numbers.map(number).collect())
        }
        other => panic!("{other:?} is of no parameter here"),
    }
}

fn try_central(given: &[(&str, &str)]) -> Result<Central, BuildError> {
    Central::of(&values(&CENTRAL_SCHEDULER, given))
}

fn try_distributed(given: &[(&str, &str)]) -> Result<Distributed, BuildError> {
    Distributed::of(&values(&DISTRIBUTED_SCHEDULER, given))
}

fn try_in_band(given: &[(&str, &str)]) -> Result<InBand, BuildError> {
    InBand::of(&values(&IN_BAND_RESERVATION, given))
}
