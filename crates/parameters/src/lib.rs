//! How models declare their parameters.
//!
//! A topology, a routing algorithm, a protocol or a traffic pattern declares its parameters once, as data,
//! next to its code: [`Parameter`]s with a kind, a default and a sentence of help. Scenario files are read by
//! these declarations, and the JSON Schema, `tailback models` and the resolved scenario are printed from them.
//!
//! **What this crate must never know:** which models exist, and how files look.
//!
//! **The invariant it keeps:** a model gets all its declared parameters, each of its declared kind and inside
//! its declared range; so building a model checks only what several parameters mean together.

mod nodes;

use std::collections::BTreeMap;

pub use nodes::{NodeSet, NodeSetError};

/// A parameter of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in files, in lower case with underscores.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// The default, written as in a file; without one the parameter must be given.
    pub default: Option<&'static str>,
    /// One sentence for people.
    pub help: &'static str,
}

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number.
    Integer {
        /// The smallest allowed.
        min: u64,
        /// The largest allowed.
        max: u64,
    },
    /// A number.
    Number {
        /// The smallest allowed.
        min: f64,
        /// The largest allowed.
        max: f64,
    },
    /// True or false.
    Flag,
    /// One of some words.
    Choice(&'static [Choice]),
    /// Free text.
    Text,
    /// A span of time, in cycles or with a unit.
    Time,
    /// A list of times, each in cycles or with a unit.
    Times,
    /// A list of whole numbers.
    Integers {
        /// The smallest allowed.
        min: u64,
        /// The largest allowed.
        max: u64,
    },
    /// A list of numbers.
    Numbers {
        /// The smallest allowed.
        min: f64,
        /// The largest allowed.
        max: f64,
    },
    /// A whole number, or a word that stands for none.
    IntegerOr {
        /// The smallest allowed.
        min: u64,
        /// The largest allowed.
        max: u64,
        /// The word.
        word: &'static str,
    },
    /// An amount of data in flits, or in bytes with a unit.
    Flits {
        /// The fewest flits allowed.
        min: u64,
        /// The most flits allowed.
        max: u64,
    },
    /// The same, or a word that stands for none.
    FlitsOr {
        /// The fewest flits allowed.
        min: u64,
        /// The most flits allowed.
        max: u64,
        /// The word.
        word: &'static str,
    },
    /// A set of nodes.
    Nodes,
}

/// One of the words that a [`Kind::Choice`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word.
    pub word: &'static str,
    /// What it means.
    pub help: &'static str,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of [`Kind::Integer`] or [`Kind::Flits`].
    Integer(u64),
    /// Of [`Kind::Number`].
    Number(f64),
    /// Of [`Kind::Flag`].
    Flag(bool),
    /// Of [`Kind::Choice`] or [`Kind::Text`].
    Text(String),
    /// Of [`Kind::Time`], in ticks.
    Ticks(u64),
    /// Of [`Kind::Times`], in ticks.
    Times(Vec<u64>),
    /// Of [`Kind::Integers`].
    Integers(Vec<u64>),
    /// Of [`Kind::Numbers`].
    Numbers(Vec<f64>),
    /// Of [`Kind::IntegerOr`] or [`Kind::FlitsOr`]; `None` for the word.
    IntegerOr(Option<u64>),
    /// Of [`Kind::Nodes`].
    Nodes(NodeSet),
}

/// The values of all parameters of a model.
///
/// The getters panic when the model asks for what it has not declared: that is a mistake in the model, which its
/// first test finds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(BTreeMap<&'static str, Value>);

impl Values {
    /// Sets the value of a parameter.
    pub fn set(&mut self, name: &'static str, value: Value) {
        self.0.insert(name, value);
    }

    /// All values by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// The value of a whole-number parameter that fits 32 bits by its declared range.
    #[must_use]
    pub fn integer(&self, name: &str) -> u32 {
        match self.get(name) {
            Value::Integer(value) => u32::try_from(*value).expect("the declared range fits 32 bits"),
            other => panic!("parameter {name} is {other:?}, not an integer"),
        }
    }

    /// The value of a whole-number parameter or of an amount of data that may take 64 bits.
    #[must_use]
    pub fn amount(&self, name: &str) -> u64 {
        match self.get(name) {
            Value::Integer(value) => *value,
            other => panic!("parameter {name} is {other:?}, not an integer"),
        }
    }

    /// The value of a number parameter.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Number(value) => *value,
            other => panic!("parameter {name} is {other:?}, not a number"),
        }
    }

    /// The value of a flag.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Flag(value) => *value,
            other => panic!("parameter {name} is {other:?}, not a flag"),
        }
    }

    /// The word or text of a parameter.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Text(value) => value,
            other => panic!("parameter {name} is {other:?}, not a text"),
        }
    }

    /// The value of a time parameter, in ticks.
    #[must_use]
    pub fn ticks(&self, name: &str) -> u64 {
        match self.get(name) {
            Value::Ticks(value) => *value,
            other => panic!("parameter {name} is {other:?}, not a time"),
        }
    }

    /// The value of a list of whole numbers that fit 32 bits by their declared range.
    #[must_use]
    pub fn integers(&self, name: &str) -> Vec<u32> {
        match self.get(name) {
            Value::Integers(values) => {
                values.iter().map(|&v| u32::try_from(v).expect("the declared range fits 32 bits")).collect()
            }
            other => panic!("parameter {name} is {other:?}, not a list of integers"),
        }
    }

    /// The value of a list of times, in ticks.
    #[must_use]
    pub fn times(&self, name: &str) -> &[u64] {
        match self.get(name) {
            Value::Times(values) => values,
            other => panic!("parameter {name} is {other:?}, not a list of times"),
        }
    }

    /// The value of a list of numbers.
    #[must_use]
    pub fn numbers(&self, name: &str) -> &[f64] {
        match self.get(name) {
            Value::Numbers(values) => values,
            other => panic!("parameter {name} is {other:?}, not a list of numbers"),
        }
    }

    /// The value of a parameter that is a whole number or a word; `None` for the word.
    #[must_use]
    pub fn integer_or(&self, name: &str) -> Option<u64> {
        match self.get(name) {
            Value::IntegerOr(value) => *value,
            other => panic!("parameter {name} is {other:?}, not an integer or a word"),
        }
    }

    /// The value of a set of nodes.
    #[must_use]
    pub fn nodes(&self, name: &str) -> &NodeSet {
        match self.get(name) {
            Value::Nodes(nodes) => nodes,
            other => panic!("parameter {name} is {other:?}, not a set of nodes"),
        }
    }

    fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or_else(|| panic!("parameter {name} is not declared"))
    }
}

/// Why a model cannot be built from values that each are in order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    /// The parameter to look at first, if one stands out.
    pub parameter: Option<&'static str>,
    /// What is wrong, in lower case.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl BuildError {
    /// An error about the model as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        Self { parameter: None, message: message.into(), help: None }
    }

    /// An error that points at one parameter.
    pub fn at(parameter: &'static str, message: impl Into<String>) -> Self {
        Self { parameter: Some(parameter), message: message.into(), help: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
