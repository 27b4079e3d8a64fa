//! What a program says, as data: files are read by it, and listings and schemas printed.

use tailback_parameters::{Choice, Kind, Parameter};
use tailback_workload::RANKS_PER_NODE_MAX;

use crate::models::Key;

/// The parameters of a program, with that of where its ranks are.
pub(crate) const PROGRAM: &[Parameter] =
    &[START, EAGER, REPEAT, NODES, OVERHEAD, RANKS_PER_NODE, LOCAL_LATENCY, LOCAL_RATE, MAP];

/// Those that are read together.
pub(super) const PROGRAM_PARAMETERS: &[Parameter] = &[START, EAGER, RANKS_PER_NODE, LOCAL_LATENCY, LOCAL_RATE];

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

pub(super) const RANKS_PER_NODE: Parameter = Parameter {
    name: "ranks_per_node",
    kind: Kind::Integer { min: 1, max: RANKS_PER_NODE_MAX as u64 },
    default: Some("1"),
    help: "how many ranks a node runs at most; a collective has so many on each of its nodes. Messages between ranks of a node do not cross the network: \
           see `local_latency`",
};

pub(super) const LOCAL_LATENCY: Parameter = Parameter {
    name: "local_latency",
    kind: Kind::Time,
    default: Some("0"),
    help: "what a message between two ranks of a node takes, beside its copying",
};

pub(super) const LOCAL_RATE: Parameter = Parameter {
    name: "local_rate",
    kind: Kind::Number { min: 0.0, max: 1e9 },
    default: Some("0"),
    help: "the flits per cycle at which a message between two ranks of a node is copied, each as if it were alone; 0: at once",
};

pub(super) const MAP: Parameter = Parameter {
    name: "map",
    kind: Kind::Choice(&[
        Choice {
            word: "linear",
            help: "rank by rank on the nodes in ascending order, the ranks of a node one after the other",
        },
        Choice { word: "round-robin", help: "one rank on each node in ascending order, then the next on each" },
        Choice {
            word: "random",
            help: "as linear, with the nodes in an order that is drawn with the seed of the scenario",
        },
    ]),
    default: Some("\"linear\""),
    help: "on which of its nodes each rank runs, the first ones if there are more; or a list with the node of each rank, or a table with the `file` \
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
