//! Topologies and routing algorithms from their registries, with default parameters.

use std::sync::Arc;

use tailback_parameters::{Kind, Parameter, Value, Values};
use tailback_routing::{ROUTINGS, Routing, RoutingModel};
use tailback_topology::{AnyTopology, TOPOLOGIES};

/// A topology that routing algorithms are measured on.
struct Graph {
    /// What [`RoutingModel::topology`] says of those algorithms.
    kind: &'static str,
    model: &'static str,
    /// The parameters that have no default.
    numbers: &'static [(&'static str, u64)],
}

/// One of each kind: 1,056 nodes, 512 nodes, 512 nodes, 288 nodes, 64 nodes.
const GRAPHS: &[Graph] = &[
    Graph { kind: "dragonfly", model: "dragonfly", numbers: &[("p", 4), ("a", 8), ("h", 4), ("g", 33)] },
    Graph { kind: "fat-tree", model: "k-ary-n-tree", numbers: &[("k", 8), ("n", 3)] },
    Graph { kind: "k-ary-n-fly", model: "k-ary-n-fly", numbers: &[("k", 8), ("n", 3)] },
    Graph { kind: "multi-cluster", model: "multi-cluster", numbers: &[] },
    Graph { kind: "single-switch", model: "single-switch", numbers: &[("nodes", 64)] },
];

/// For algorithms that not all topologies of their kind suit: by their names. 256 nodes.
const GRAPHS_OF: &[(&str, Graph)] = &[(
    "clos",
    Graph {
        kind: "fat-tree",
        model: "two-level-tree",
        numbers: &[("nodes_per_leaf", 16), ("leaves", 16), ("spines", 16)],
    },
)];

/// A topology by the name of its model, with numbers for what has no default.
///
/// # Panics
/// When there is no such model or the numbers do not suit it.
#[must_use]
pub fn topology(model: &str, numbers: &[(&str, u64)]) -> AnyTopology {
    let model = TOPOLOGIES.iter().find(|m| m.name == model).unwrap_or_else(|| panic!("there is no topology {model}"));
    (model.build)(&values(model.parameters, numbers)).expect("the topology exists")
}

/// The topology that an algorithm is measured on.
///
/// # Panics
/// When there is none of its kind.
#[must_use]
pub fn topology_for(routing: &RoutingModel) -> AnyTopology {
    let own = GRAPHS_OF.iter().find(|(name, _)| *name == routing.name).map(|(_, graph)| graph);
    let graph = own.or_else(|| GRAPHS.iter().find(|graph| graph.kind == routing.topology));
    let graph =
        graph.unwrap_or_else(|| panic!("`{}` routes in a {}: add one to GRAPHS", routing.name, routing.topology));
    topology(graph.model, graph.numbers)
}

/// A routing algorithm by name, with default parameters.
///
/// # Panics
/// When there is no such algorithm, or it does not suit the topology.
#[must_use]
pub fn routing(name: &str, topology: &AnyTopology) -> Arc<dyn Routing> {
    let model = ROUTINGS.iter().find(|m| m.name == name).unwrap_or_else(|| panic!("there is no routing {name}"));
    (model.build)(topology, &values(model.parameters, &[])).expect("the algorithm suits the topology")
}

/// The values of all parameters: `numbers`, and defaults for what they do not name.
fn values(parameters: &[Parameter], numbers: &[(&str, u64)]) -> Values {
    let mut values = Values::default();
    for parameter in parameters {
        let number = numbers.iter().find(|(name, _)| *name == parameter.name);
        values.set(parameter.name, number.map_or_else(|| default(parameter), |&(_, number)| Value::Integer(number)));
    }
    values
}

fn default(parameter: &Parameter) -> Value {
    let name = parameter.name;
    let text = parameter.default.unwrap_or_else(|| panic!("parameter {name} has no default: give it in GRAPHS"));
    match parameter.kind {
        Kind::Integer { .. } => Value::Integer(text.parse().expect("a whole number")),
        Kind::Number { .. } => Value::Number(text.parse().expect("a number")),
        Kind::Flag => Value::Flag(text == "true"),
        Kind::Choice(_) | Kind::Text => Value::Text(text.trim_matches('"').to_owned()),
        other => panic!("parameter {name}: teach the benches to read {other:?}"),
    }
}
