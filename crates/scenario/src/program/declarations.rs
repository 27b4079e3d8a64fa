//! What a program says, as data: files are read by it, and listings and schemas printed.

use tailback_parameters::{Choice, Kind, Parameter};

use crate::models::Key;

/// The parameters of a program, with that of where its ranks are.
pub(crate) const PROGRAM: &[Parameter] = &[START, EAGER, REPEAT, NODES, OVERHEAD, MAP];

/// Those that are read together.
pub(super) const PROGRAM_PARAMETERS: &[Parameter] = &[START, EAGER];

pub(super) const START: Parameter =
    Parameter { name: "start", kind: Kind::Time, default: Some("0"), help: "when it begins" };

pub(super) const EAGER: Parameter = Parameter {
    name: "eager",
    kind: Kind::FlitsOr { min: 0, max: 1 << 40, word: "all" },
    default: Some("\"all\""),
    help: "the largest message that is sent at once; a larger one is announced by a message of a flit, and sent when another has said \
           that it is wanted",
};

pub(super) const REPEAT: Parameter = Parameter {
    name: "repeat",
    kind: Kind::Integer { min: 1, max: 1 << 20 },
    default: Some("1"),
    help: "of a collective: how many times the ranks do it, each at its own pace",
};

pub(super) const NODES: Parameter = Parameter {
    name: "nodes",
    kind: Kind::Nodes,
    default: Some("\"all\""),
    help: "of a schedule or a list: the nodes that its ranks run on; a collective names its own",
};

pub(super) const OVERHEAD: Parameter = Parameter {
    name: "overhead",
    kind: Kind::Time,
    default: Some("0"),
    help: "of a schedule: how long a processor is busy with each message, at its sender and at its receiver",
};

pub(super) const MAP: Parameter = Parameter {
    name: "map",
    kind: Kind::Choice(&[
        Choice { word: "linear", help: "rank by rank on the nodes in ascending order" },
        Choice { word: "random", help: "in an order that is drawn with the seed of the scenario" },
    ]),
    default: Some("\"linear\""),
    help: "on which of its nodes each rank runs, the first ones if there are more; or a list of nodes, one for each rank, or a table with the `file` \
           or the `text` that has one in each line",
};

/// The same, where the node of each rank is given.
pub(super) const MAP_LIST: Parameter =
    Parameter { kind: Kind::Integers { min: 0, max: u32::MAX as u64 }, default: None, ..MAP };

pub(super) const COLLECTIVE: &str = "collective";
pub(super) const GOAL: &str = "goal";
pub(super) const MESSAGES: &str = "messages";

/// What a program has besides its parameters.
pub(crate) const PROGRAM_KEYS: &[Key] = &[
    Key {
        name: "name",
        values: "text",
        default: Some("\"program\", with a number if there are several"),
        help: "what tells its results from those of others",
    },
    Key {
        name: COLLECTIVE,
        values: "a collective, see `tailback models collective`",
        default: Some("none"),
        help: "what its ranks do, and the nodes that they run on",
    },
    Key {
        name: GOAL,
        values: "the name of a file, or a table with `file` or `text`",
        default: Some("none"),
        help: "in place of `collective`: a schedule in the format GOAL, as text or in binary form",
    },
    Key {
        name: MESSAGES,
        values: "the name of a file, or a table with `file` or `text`",
        default: Some("none"),
        help: "in place of these: a list of messages that wait for nothing, as comma-separated values or in Parquet, with the columns time, source, \
               destination (both are ranks), and bytes or flits",
    },
];
