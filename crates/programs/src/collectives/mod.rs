//! The collectives that scenario files can name.

mod exchange;
mod folded;
mod halo;
mod layout;
mod ring;
mod rounds;
mod training;
mod training_model;
mod tree;

use tailback_parameters::{BuildError, Kind, Parameter, Values};

use rounds::Combining;
pub use rounds::MESSAGE_FLITS_MAX;

use crate::Steps;

/// What a collective is built into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// How many ranks take part, from 1 to 2^31.
    pub ranks: u32,
    /// The bytes of a flit, if they are known.
    pub flit_bytes: Option<f64>,
    /// The ticks of a link cycle.
    pub ticks_per_cycle: u32,
}

/// A collective with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct CollectiveModel {
    /// Its name in scenario files.
    pub name: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// How a program in a scenario file says it.
    pub example: &'static str,
    /// Builds it.
    pub build: fn(&Values, &Setting) -> Built,
}

/// A program, or why there is none.
pub type Built = Result<Box<dyn Steps>, BuildError>;

/// All collectives.
pub const COLLECTIVES: &[CollectiveModel] = &[
    tree::BARRIER,
    tree::BROADCAST,
    tree::REDUCE_TO_ROOT,
    ring::ALL_REDUCE,
    folded::ALL_REDUCE_DOUBLING,
    folded::ALL_REDUCE_RABENSEIFNER,
    tree::ALL_REDUCE,
    ring::ALL_GATHER,
    folded::ALL_GATHER_DOUBLING,
    exchange::ALL_GATHER_BRUCK,
    ring::REDUCE_SCATTER,
    folded::REDUCE_SCATTER_HALVING,
    exchange::ALL_TO_ALL_PAIRWISE,
    exchange::ALL_TO_ALL_BRUCK,
    halo::HALO_2D,
    halo::HALO_3D,
    training_model::TRAINING_STEP,
];

/// The most data of a collective, in flits.
const FLITS_MAX: u64 = 1 << 40;

const NODES: Parameter = Parameter {
    name: "nodes",
    kind: Kind::Nodes,
    default: Some("\"all\""),
    help: "the nodes that take part, of which each is a rank, in ascending order",
};

const ROOT: Parameter = Parameter {
    name: "root",
    kind: Kind::Integer { min: 0, max: u32::MAX as u64 },
    default: Some("0"),
    help: "the rank of the root, counted among the nodes that take part",
};

const REDUCE: Parameter = Parameter {
    name: "reduce",
    kind: Kind::Number { min: 0.0, max: 1e9 },
    default: Some("0"),
    help: "the flits per cycle at which a rank combines what has arrived with what it has; 0: at once",
};

const fn bytes(default: Option<&'static str>, help: &'static str) -> Parameter {
    Parameter { name: "bytes", kind: Kind::Flits { min: 1, max: FLITS_MAX }, default, help }
}

/// The size of what a collective works on.
const fn vector(help: &'static str) -> Parameter {
    bytes(None, help)
}

fn combining(values: &Values) -> Combining {
    Combining { flits_per_cycle: values.number("reduce") }
}

/// The value of a time, in cycles; a cycle that has begun counts.
fn cycles(values: &Values, name: &str, setting: &Setting) -> u64 {
    values.ticks(name).div_ceil(u64::from(setting.ticks_per_cycle))
}

#[cfg(test)]
mod tests;
