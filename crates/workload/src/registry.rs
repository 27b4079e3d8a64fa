//! The patterns, sizes and arrival processes that scenario files can name.

use tailback_parameters::{BuildError, Choice, Kind, Parameter, Values};
use tailback_random::Stream;

use crate::{Arrival, Groups, MessageSize, Pattern, draw_distinct};

/// What a pattern is built into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// How many nodes there are.
    pub nodes: u32,
    /// How they fall into groups, if they do.
    pub groups: Option<Groups>,
    /// The seed of the scenario.
    pub seed: u64,
}

/// A pattern with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct PatternModel {
    /// Its name in scenario files.
    pub name: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// How a flow in a scenario file says it.
    pub example: &'static str,
    /// Whether it keeps a destination for each node.
    pub lists_nodes: bool,
    /// Builds it.
    pub build: fn(&Values, &Setting) -> Result<Pattern, BuildError>,
}

/// A distribution of message sizes with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct SizeModel {
    /// Its name in scenario files.
    pub name: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// How a flow in a scenario file says it.
    pub example: &'static str,
    /// Builds it.
    pub build: fn(&Values) -> Result<MessageSize, BuildError>,
}

/// An arrival process with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct ArrivalModel {
    /// Its name in scenario files.
    pub name: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// How a flow in a scenario file says it.
    pub example: &'static str,
    /// Builds it.
    pub build: fn(&Values) -> Arrival,
}

/// The largest message, in flits.
pub const MESSAGE_FLITS_MAX: u64 = 1 << 20;

const fn nodes(name: &'static str, default: Option<&'static str>, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Nodes, default, help }
}

/// The set that permutations stay in.
const AMONG_SOURCES: Parameter = nodes("among", Some("\"from\""), "the set; the sources of the flow by default");

const fn flits(name: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Flits { min: 1, max: MESSAGE_FLITS_MAX }, default: None, help }
}

/// The purpose of the random streams that draw permutations.
const PERMUTATION: u64 = 1 << 34;

/// The purpose of the random streams that draw the places of hot nodes.
const HOT_PLACES: u64 = 1 << 36;

/// All patterns but mixtures of them.
pub const PATTERNS: &[PatternModel] = &[
    PatternModel {
        name: "uniform",
        summary: "each message to a random node",
        example: "pattern = \"uniform\"",
        lists_nodes: false,
        parameters: &[
            nodes("among", Some("\"all\""), "the nodes to draw from"),
            Parameter {
                name: "with_self",
                kind: Kind::Flag,
                default: Some("false"),
                help: "whether a source may draw itself, as some simulators do",
            },
        ],
        build: |values, _| uniform(values, "among", values.flag("with_self")),
    },
    PatternModel {
        name: "hot-spot",
        summary: "each message to a random one of some nodes: n sources and m of these make a hot-spot n:m",
        example: "pattern.hot-spot.to = [0, 1]",
        lists_nodes: false,
        parameters: &[nodes("to", None, "the nodes that all sources send to")],
        build: |values, _| uniform(values, "to", false),
    },
    PatternModel {
        name: "adversarial",
        summary: "ADV+i: each message to a random node of the group i further on",
        example: "pattern.adversarial.offset = 1",
        lists_nodes: false,
        parameters: &[
            Parameter {
                name: "offset",
                kind: Kind::Integer { min: 1, max: 1 << 16 },
                default: Some("1"),
                help: "how many groups further on, counted round",
            },
            Parameter {
                name: "hot",
                kind: Kind::IntegerOr { min: 1, max: 1 << 16, word: "all" },
                default: Some("\"all\""),
                help: "to how many nodes of that group, which are drawn once, at the same places in all groups: WC-Hot",
            },
        ],
        build: |values, setting| {
            let groups = groups_of(setting, "use a dragonfly or clusters, or the pattern `shift`")?;
            let offset = values.integer("offset");
            let hot = |count| draw_distinct(count, groups.nodes_each, &mut Stream::new(setting.seed, 0, HOT_PLACES));
            let hot = values.integer_or("hot").map(hot).transpose();
            let hot = hot.map_err(|error| BuildError::at("hot", error.to_string()))?;
            Pattern::adversarial(groups, offset, hot).map_err(|error| BuildError::at("offset", error.to_string()))
        },
    },
    PatternModel {
        name: "own-group",
        summary: "each message to a random other node of the group, or cluster, that the source is in",
        example: "pattern = \"own-group\"",
        lists_nodes: false,
        parameters: &[],
        build: |_, setting| {
            let groups = groups_of(setting, "use a dragonfly or clusters, or the pattern `uniform` among some nodes")?;
            Pattern::own_group(groups).map_err(|error| BuildError::new(error.to_string()))
        },
    },
    PatternModel {
        name: "itself",
        summary: "each node to itself, through the network; mixed with uniform traffic it is the unbalanced traffic of switches",
        example: "pattern = \"itself\"",
        lists_nodes: false,
        parameters: &[],
        build: |_, _| Ok(Pattern::Itself),
    },
    PatternModel {
        name: "shift",
        summary: "each node sends to the one some places further on in a set of nodes",
        example: "pattern.shift.by = 4",
        lists_nodes: true,
        parameters: &[
            Parameter {
                name: "by",
                kind: Kind::Integer { min: 1, max: u32::MAX as u64 },
                default: None,
                help: "how many nodes further on, counted round",
            },
            AMONG_SOURCES,
        ],
        build: |values, setting| {
            Pattern::shift(values.nodes("among"), setting.nodes, values.integer("by"))
                .map_err(|error| BuildError::at("by", error.to_string()))
        },
    },
    PatternModel {
        name: "bit-complement",
        summary: "each node sends to the one whose place in a set of nodes has all bits turned over: of all nodes, the number",
        example: "pattern = \"bit-complement\"",
        lists_nodes: true,
        parameters: &[AMONG_SOURCES],
        build: |values, setting| {
            Pattern::bit_complement(values.nodes("among"), setting.nodes)
                .map_err(|error| BuildError::at("among", error.to_string()).help("take 2, 4, 8, ... nodes, or `shift`"))
        },
    },
    PatternModel {
        name: "permutation",
        summary: "each node of a set sends to one random other of it, each of which receives from one",
        example: "pattern = \"permutation\"",
        lists_nodes: true,
        parameters: &[
            Parameter {
                name: "seed",
                kind: Kind::IntegerOr { min: 0, max: i64::MAX as u64, word: "scenario" },
                default: Some("\"scenario\""),
                help: "the seed of the permutation; that of the scenario by default",
            },
            AMONG_SOURCES,
        ],
        build: |values, setting| {
            let seed = values.integer_or("seed").unwrap_or(setting.seed);
            Pattern::random_permutation(values.nodes("among"), setting.nodes, &mut Stream::new(seed, 0, PERMUTATION))
                .map_err(|error| BuildError::at("among", error.to_string()))
        },
    },
];

/// The groups of nodes, or why there are none.
fn groups_of(setting: &Setting, help: &str) -> Result<Groups, BuildError> {
    setting.groups.ok_or_else(|| BuildError::new("this topology has no groups of nodes of equal size").help(help))
}

fn uniform(values: &Values, parameter: &'static str, with_self: bool) -> Result<Pattern, BuildError> {
    let among = values.nodes(parameter).clone();
    if among.len() == 1 {
        // One destination is enough for everybody else: whether it is a source as well is for the traffic to see.
        return Ok(Pattern::Uniform { among, with_self });
    }
    Pattern::uniform(among, with_self).map_err(|error| BuildError::at(parameter, error.to_string()))
}

/// All distributions of message sizes.
pub const SIZES: &[SizeModel] = &[
    SizeModel {
        name: "fixed",
        summary: "all messages alike",
        example: "size = 24",
        parameters: &[flits("flits", "the size of a message")],
        build: |values| Ok(MessageSize::Fixed(values.integer("flits"))),
    },
    SizeModel {
        name: "uniform",
        summary: "every size between two, each alike",
        example: "size.uniform = { min = 4, max = 24 }",
        parameters: &[flits("min", "the smallest message, in flits"), flits("max", "the largest message, in flits")],
        build: |values| {
            let [min, max] = ["min", "max"].map(|name| values.integer(name));
            if min > max {
                return Err(BuildError::at("max", format!("the largest size, {max}, is below the smallest, {min}"))
                    .help("exchange them"));
            }
            Ok(MessageSize::Uniform { min, max })
        },
    },
    SizeModel {
        name: "weighted",
        summary: "one of some sizes",
        example: "size.weighted = { flits = [4, 24], shares = [0.9, 0.1] }",
        parameters: &[
            Parameter {
                name: "flits",
                kind: Kind::Integers { min: 1, max: MESSAGE_FLITS_MAX },
                default: None,
                help: "the sizes",
            },
            Parameter {
                name: "shares",
                kind: Kind::Numbers { min: 0.0, max: 1e9 },
                default: None,
                help: "how often each comes, in any unit",
            },
            Parameter {
                name: "shares_of",
                kind: Kind::Choice(&[
                    Choice { word: "messages", help: "a size of share 0.5 makes up half of all messages" },
                    Choice { word: "flits", help: "a size of share 0.5 makes up half of all flits" },
                ]),
                default: Some("\"messages\""),
                help: "what the shares are shares of",
            },
        ],
        build: weighted,
    },
];

fn weighted(values: &Values) -> Result<MessageSize, BuildError> {
    let (sizes, shares) = (values.integers("flits"), values.numbers("shares"));
    if sizes.len() != shares.len() {
        let message = format!("there are {} sizes and {} shares", sizes.len(), shares.len());
        return Err(BuildError::at("shares", message).help("give each size its share"));
    }
    if shares.iter().sum::<f64>() <= 0.0 {
        return Err(BuildError::at("shares", "no size has a share").help("give at least one size a positive share"));
    }
    let of_flits = values.text("shares_of") == "flits";
    // A share of flits is as many messages as it has room for, which a number may be too small to tell.
    let lost = sizes.iter().zip(shares).find(|&(&size, &share)| share > 0.0 && share / f64::from(size) == 0.0);
    if let Some((size, share)) = lost.filter(|_| of_flits) {
        let message = format!("a share of {share:e} of all flits is too little for messages of {size} flits");
        return Err(BuildError::at("shares", message).help("give all sizes larger shares, which may be in any unit"));
    }
    Ok(match values.text("shares_of") {
        "flits" => MessageSize::weighted_by_flits(&sizes, shares),
        _ => MessageSize::weighted(&sizes, shares),
    })
}

/// The least load that is not silence: with the largest messages and the longest bursts they still have a chance in each cycle.
pub const LOAD_MIN: f64 = 1e-12;

/// The least load of arrivals by slots that is not silence: each slot is drawn, so rare messages would take long to find.
pub const SLOTS_LOAD_MIN: f64 = 0.00001;

/// How fast messages of a source can follow each other.
const CYCLES_PER_FLIT: Parameter = Parameter {
    name: "cycles_per_flit",
    kind: Kind::Integer { min: 1, max: 64 },
    default: Some("1"),
    help: "cycles that a source's line takes for a flit, at the fastest",
};

/// All arrival processes.
pub const ARRIVALS: &[ArrivalModel] = &[
    ArrivalModel {
        name: "bernoulli",
        summary: "in each cycle a message with the same chance",
        example: "arrival = \"bernoulli\"",
        parameters: &[],
        build: |_| Arrival::Bernoulli,
    },
    ArrivalModel {
        name: "bursts",
        summary: "a source sends messages back to back for a while, then rests for a while; both times are geometric",
        example: "arrival.bursts.messages = 4",
        parameters: &[
            Parameter {
                name: "messages",
                kind: Kind::Number { min: 1.0, max: 1e6 },
                default: None,
                help: "the mean number of messages in a burst",
            },
            Parameter {
                name: "same_destination",
                kind: Kind::Flag,
                default: Some("true"),
                help: "whether all messages of a burst go to the same node",
            },
            CYCLES_PER_FLIT,
        ],
        build: |values| Arrival::Bursts {
            messages_mean: values.number("messages"),
            same_destination: values.flag("same_destination"),
            cycles_per_flit: values.integer(CYCLES_PER_FLIT.name),
        },
    },
    ArrivalModel {
        name: "slots",
        summary: "time in slots as long as a message, in each at most one message of all flows of a node with this arrival; loads are \
                  chances, and flows that come first have theirs first",
        example: "arrival = \"slots\"",
        parameters: &[CYCLES_PER_FLIT],
        build: |values| Arrival::Slots { cycles_per_flit: values.integer(CYCLES_PER_FLIT.name) },
    },
];
