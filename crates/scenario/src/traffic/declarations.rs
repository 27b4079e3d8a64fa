//! What a flow says, as data: files are read by it, and listings and schemas printed.

use tailback_parameters::{Kind, Parameter};

use crate::models::Key;

/// The parameters of a flow, beside its pattern, size and arrival process.
pub(crate) const TRAFFIC: &[Parameter] = &[FROM, TIMES, LOAD, START, MESSAGES, SATURATING];

/// Those that say how much a flow sends that does not say when, beside its load.
pub(super) const RATE: &[Parameter] = &[START, MESSAGES];

pub(super) const FROM: Parameter =
    Parameter { name: "from", kind: Kind::Nodes, default: Some("\"all\""), help: "the nodes that send" };

pub(super) const TIMES: Parameter = Parameter {
    name: AT,
    kind: Kind::Times,
    default: Some("[]"),
    help: "the cycles in which each source sends a message; then no load, start, count, arrival and phases are given",
};

pub(super) const AT: &str = "at";

pub(super) const LOAD: Parameter = Parameter {
    name: "load",
    kind: Kind::Number { min: 0.0, max: 1.0 },
    default: None,
    help: "flits per source and link cycle",
};

/// In place of [`LOAD`].
pub(super) const DESTINATION_LOAD: Parameter = Parameter {
    name: "destination_load",
    kind: Kind::Number { min: 0.0, max: 65536.0 },
    default: None,
    help: "flits per destination and link cycle that all sources send together, as the mean over destinations: above 1 these \
           are overloaded",
};

/// The keys that say at which rate a flow sends, of which there is one.
pub(super) const RATE_KEYS: [&str; 2] = [LOAD.name, DESTINATION_LOAD.name];

const START: Parameter = Parameter { name: "start", kind: Kind::Time, default: Some("0"), help: "when it begins" };

const MESSAGES: Parameter = Parameter {
    name: COUNT,
    kind: Kind::IntegerOr { min: 1, max: COUNT_MAX, word: "endless" },
    default: Some("\"endless\""),
    help: "how many messages each source sends before it falls silent",
};

pub(super) const COUNT: &str = "count";

/// The most messages of a source that falls silent.
const COUNT_MAX: u64 = 1 << 32;

pub(super) const SATURATING: Parameter = Parameter {
    name: SATURATES,
    kind: Kind::Flag,
    default: Some("false"),
    help: "whether it is meant to exceed what its destinations can take, as a hot spot is: then it is not reported as \
           saturated, and ends no curve of a sweep",
};

pub(super) const SATURATES: &str = "saturates";

/// What a flow has besides its parameters.
pub(crate) const TRAFFIC_KEYS: &[Key] = &[
    Key {
        name: "name",
        values: "text",
        default: Some("\"traffic\", with a number if there are several"),
        help: "what tells its results from those of others",
    },
    Key {
        name: DESTINATION_LOAD.name,
        values: "number, 0 to 65536",
        default: Some("as `load` says, in place of which it is given"),
        help: DESTINATION_LOAD.help,
    },
    Key {
        name: "pattern",
        values: "a pattern, see `tailback models pattern`",
        default: Some("\"uniform\""),
        help: "where messages go",
    },
    Key {
        name: "size",
        values: "flits, or bytes with a unit, or a distribution, see `tailback models size`",
        default: Some("nic.packet_flits"),
        help: "how large messages are",
    },
    Key {
        name: "arrival",
        values: "an arrival process, see `tailback models arrival`",
        default: Some("\"bernoulli\""),
        help: "when messages are created",
    },
    Key {
        name: "phases",
        values: "list of tables, see `tailback models phases`",
        default: Some("[]"),
        help: "later changes of load and pattern, in order of time",
    },
];

/// The one thing that a phase has to say.
pub(crate) const PHASE_FROM: &[Parameter] =
    &[Parameter { name: "from", kind: Kind::Time, default: None, help: "when the phase begins" }];

/// The parameters of a phase, once what it leaves open has been taken from the one before.
pub(super) const PHASE: &[Parameter] = &[PHASE_FROM[0], LOAD];

/// What a phase need not say.
pub(crate) const PHASE_KEYS: &[Key] = &[
    Key { name: LOAD.name, values: "number, 0 to 1", default: Some("as before"), help: LOAD.help },
    Key {
        name: "pattern",
        values: "a pattern, see `tailback models pattern`",
        default: Some("as before"),
        help: "where messages go",
    },
];

/// The parameters of a part of a mixture, beside its pattern.
pub(crate) const SHARE: &[Parameter] = &[Parameter {
    name: "share",
    kind: Kind::Number { min: 0.0, max: 1e9 },
    default: None,
    help: "how much of all messages goes by this pattern, in any unit; \"rest\" for what the others leave of 100",
}];
