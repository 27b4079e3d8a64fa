//! The parameters of routers, links and network interfaces, and the specs that are made from their values.

use tailback_parameters::{Choice, Kind, Parameter, Values};

use crate::{
    AllocationOrder, Arbiter, CreditCheck, CrossbarPorts, Delivery, Ejection, InjectionVc, InputServed, InputTurns,
    LinkArbiter, LinkSpec, NicSpec, OutputHeld, OutputQueueSpec, QueuePer, Release, RouterSpec, SourceQueues,
    TurnsKept, TurnsMove,
};

const fn choice(
    name: &'static str,
    choices: &'static [Choice],
    default: &'static str,
    help: &'static str,
) -> Parameter {
    Parameter { name, kind: Kind::Choice(choices), default: Some(default), help }
}

const fn flag(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Flag, default: Some(default), help }
}

const fn time(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Time, default: Some(default), help }
}

const fn count(name: &'static str, max: u64, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Integer { min: 1, max }, default: Some(default), help }
}

const fn flits(name: &'static str, max: u64, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Flits { min: 1, max }, default: Some(default), help }
}

const fn word(word: &'static str, help: &'static str) -> Choice {
    Choice { word, help }
}

const ARBITERS: &[Choice] = &[
    word("round-robin", "the first after the last that was served, in order"),
    word("least-recently-served", "the one that was served longest ago"),
    word("oldest", "the one whose message is the oldest"),
];

const CONNECTIONS: &[Choice] = &[
    word("per-port", "each port has one: its virtual channels take turns"),
    word("per-channel", "each virtual channel of each port has one"),
];

/// How many steps a crossbar makes in a link cycle. It comes first, as all times are counted in these steps.
pub const SPEEDUP: Parameter =
    count("speedup", 16, "2", "steps of the crossbar per link cycle, a power of two; a flit crosses in one step");

/// The parameters of routers.
pub const ROUTER: &[Parameter] = &[
    SPEEDUP,
    time("head_delay", "0", "how long a packet is at the head of its queue before it may ask for the crossbar"),
    time("crossbar_delay", "5", "from the grant to the arrival of the first flit in the output queue"),
    choice(
        "allocation",
        &[word("step", "once per step of the crossbar"), word("cycle", "once per link cycle")],
        "\"step\"",
        "how often the crossbar is allocated",
    ),
    count("iterations", 16, "1", "rounds of requests and grants in an allocation"),
    choice(
        "order",
        &[
            word("input-first", "each input chooses one of its packets, then each output one of the inputs"),
            word("output-first", "each output chooses one of all packets that want it, then each input a grant"),
        ],
        "\"input-first\"",
        "which side of the separable allocator chooses first",
    ),
    choice(
        "turns_move",
        &[
            word("every-round", "in all rounds"),
            word("first-round", "in the first: with order = \"output-first\" and VOQs that is iSLIP"),
        ],
        "\"every-round\"",
        "in which rounds of an allocation round-robin arbiters move on",
    ),
    choice(
        "turns_kept",
        &[
            word(
                "together",
                "one for all packets: who is served after a packet that goes first follows from where that came from",
            ),
            word(
                "by-priority",
                "one for those of each priority, and with transit_first for those that enter the network",
            ),
        ],
        "\"together\"",
        "for what round-robin arbiters of inputs, outputs and links keep a turn of its own",
    ),
    choice("input_arbiter", ARBITERS, "\"round-robin\"", "how an input chooses among its queues"),
    choice(
        "input_turns",
        &[
            word("queues", "its queues"),
            word("outputs", "the outputs that its packets want; queues for the same output take turns in turn"),
        ],
        "\"queues\"",
        "what a round-robin arbiter of an input goes round",
    ),
    choice(
        "input_served",
        &[
            word("granted", "when its packet is granted"),
            word(
                "asked",
                "when it is chosen to ask for its output, granted or not: sources can get into step and starve",
            ),
        ],
        "\"granted\"",
        "when an input counts a queue as served",
    ),
    choice("output_arbiter", ARBITERS, "\"round-robin\"", "how an output chooses among inputs"),
    flag("transit_first", "false", "whether packets in transit go before packets that enter the network"),
    flag(
        "vc_allocation",
        "false",
        "whether a packet acquires a virtual channel for itself before it asks for the crossbar, and holds it until \
         its last flit has crossed",
    ),
    choice("crossbar_inputs", CONNECTIONS, "\"per-port\"", "what has a connection to the crossbar at the inputs"),
    choice(
        "crossbar_outputs",
        CONNECTIONS,
        "\"per-port\"",
        "what has a connection to the crossbar at the outputs; channels that share an output queue enter it by turns",
    ),
    choice(
        "output_held",
        &[
            word("crossing", "until its last flit has crossed"),
            word("full-rate", "as long as one takes that has arrived, even if it crosses more slowly, as it arrives"),
        ],
        "\"crossing\"",
        "how long a packet keeps its connection from the crossbar to an output",
    ),
    flag("virtual_output_queues", "false", "whether input buffers are split into a queue per output"),
    Parameter {
        name: "destination_queue",
        kind: Kind::FlitsOr { min: 1, max: 1 << 15, word: "none" },
        default: Some("\"none\""),
        help: "flits that an input buffer holds for each node of the network, in a queue and with credits of their own (network-level \
               VOQs): what waits for one node holds up nothing for others",
    },
    Parameter {
        name: "output_queue",
        kind: Kind::FlitsOr { min: 1, max: 1 << 20, word: "unlimited" },
        default: Some("32"),
        help: "flits of an output queue",
    },
    choice(
        "output_queue_per",
        &[
            word("port", "each port has one"),
            word("class", "each traffic class of each port has one"),
            word("channel", "each virtual channel of each port has one"),
        ],
        "\"port\"",
        "what has an output queue of its own",
    ),
    choice(
        "output_queue_release",
        &[word("first-flit", "when its first flit leaves"), word("last-flit", "when its last flit has left")],
        "\"first-flit\"",
        "when a departing packet makes room in its output queue",
    ),
    choice(
        "link_arbiter",
        &[
            word("oldest", "the packet that has been ready for longest"),
            word("round-robin", "the first queue after the last that was served, in order"),
        ],
        "\"oldest\"",
        "how a link chooses among the output queues of its port",
    ),
    Parameter {
        name: "control_limit",
        kind: Kind::FlitsOr { min: 1, max: 1 << 20, word: "unlimited" },
        default: Some("\"unlimited\""),
        help: "flits of control packets that a link sends while data packets could leave, before one of these goes first",
    },
    choice(
        "credits",
        &[
            word("crossbar", "before it crosses the crossbar, so that output queues never block"),
            word("link", "before it leaves on the link"),
        ],
        "\"crossbar\"",
        "where a packet claims room in the buffer at the other end of the link",
    ),
    time(
        "credit_interval",
        "0",
        "least time between two credits that an input sends back by its link; 0 for no such limit",
    ),
    choice(
        "ejection",
        &[
            word("room", "when there is room for it, as at any other port"),
            word(
                "idle",
                "when there is room and the node is receiving nothing, which inputs do not know when they choose",
            ),
        ],
        "\"room\"",
        "when a packet may cross to the output queue of its node",
    ),
    count(
        "ejection_vcs",
        crate::VCS_MAX as u64,
        "1",
        "virtual channels per traffic class of the way to a node; a packet takes any, at most as many as for injection",
    ),
];

/// What routers do, from the values of [`ROUTER`].
#[must_use]
pub fn router(values: &Values) -> RouterSpec {
    let arbiter = |name| match values.text(name) {
        "least-recently-served" => Arbiter::LeastRecentlyServed,
        "oldest" => Arbiter::Oldest,
        _ => Arbiter::RoundRobin,
    };
    let connections = |name| match values.text(name) {
        "per-channel" => CrossbarPorts::PerChannel,
        _ => CrossbarPorts::PerPort,
    };
    let is = |name, word| values.text(name) == word;
    // What is too long for the type is too long for `check`.
    let ticks = |name| u32::try_from(values.ticks(name)).unwrap_or(u32::MAX);
    RouterSpec {
        head_delay: ticks("head_delay"),
        crossbar_delay: ticks("crossbar_delay"),
        allocation_period: if is("allocation", "cycle") { values.integer("speedup") } else { 1 },
        iterations: values.integer("iterations"),
        order: if is("order", "output-first") { AllocationOrder::OutputFirst } else { AllocationOrder::InputFirst },
        turns_move: if is("turns_move", "first-round") { TurnsMove::FirstRound } else { TurnsMove::EveryRound },
        turns_kept: if is("turns_kept", "by-priority") { TurnsKept::ByPriority } else { TurnsKept::Together },
        input_arbiter: arbiter("input_arbiter"),
        input_turns: if is("input_turns", "outputs") { InputTurns::Outputs } else { InputTurns::Queues },
        input_served: if is("input_served", "asked") { InputServed::Asked } else { InputServed::Granted },
        output_arbiter: arbiter("output_arbiter"),
        transit_first: values.flag("transit_first"),
        vc_allocation: values.flag("vc_allocation"),
        crossbar_inputs: connections("crossbar_inputs"),
        crossbar_outputs: connections("crossbar_outputs"),
        output_held: if is("output_held", "full-rate") { OutputHeld::FullRate } else { OutputHeld::Crossing },
        virtual_output_queues: values.flag("virtual_output_queues"),
        destination_queue: values.integer_or("destination_queue").map(|flits| flits as u16),
        output_queues: OutputQueueSpec {
            flits: values.integer_or("output_queue").map(|flits| flits as u32),
            per: match values.text("output_queue_per") {
                "class" => QueuePer::Class,
                "channel" => QueuePer::Channel,
                _ => QueuePer::Port,
            },
            release: if is("output_queue_release", "last-flit") { Release::End } else { Release::Start },
            link_arbiter: if is("link_arbiter", "oldest") { LinkArbiter::Oldest } else { LinkArbiter::RoundRobin },
            control_limit: values.integer_or("control_limit").map(|flits| flits as u32),
        },
        credits: if is("credits", "link") { CreditCheck::Link } else { CreditCheck::Crossbar },
        credit_interval: ticks("credit_interval"),
        ejection: if is("ejection", "idle") { Ejection::Idle } else { Ejection::Room },
        ejection_vcs: values.integer("ejection_vcs") as u8,
    }
}

/// The parameters of network interfaces.
pub const NIC: &[Parameter] = &[
    flits("packet_flits", 1 << 14, "8", "flits of the largest packet; larger messages are cut into several"),
    choice(
        "queues",
        &[
            word(
                "per-destination",
                "a queue for each destination, served in turn packet by packet; where flows have channels, these take turns first",
            ),
            word(
                "in-turn",
                "a queue for each destination, served in turn by number; where flows have channels, of those whose channel has room",
            ),
            word("fifo", "one queue: first come, first served"),
        ],
        "\"per-destination\"",
        "in which order waiting messages are sent",
    ),
    choice(
        "vc_choice",
        &[
            word("round-robin", "in turn, skipping those without room"),
            word("random", "one at random; a packet waits for its own"),
            word("by-destination", "by equal consecutive shares of all nodes; a packet waits for its own"),
            word("rotation", "in turn within each flow; a packet waits for its own and holds up no other flow"),
            word(
                "rotation-in-step",
                "as rotation, where all flows begin at the first one and not each at one drawn for it",
            ),
        ],
        "\"round-robin\"",
        "how packets are dealt out to the virtual channels of injection",
    ),
    Parameter {
        name: "queue_limit",
        kind: Kind::IntegerOr { min: 1, max: 1 << 31, word: "unlimited" },
        default: Some("\"unlimited\""),
        help: "messages that may wait at a node; further ones are lost",
    },
    choice(
        "delivery",
        &[
            word("arrival", "as it arrives"),
            word("in-order", "in the order it was sent, of each source, by a line of its own"),
        ],
        "\"arrival\"",
        "how data is handed to the host: latency of messages ends there",
    ),
    Parameter {
        name: "line",
        kind: Kind::IntegerOr { min: 1, max: 1024, word: "link" },
        default: Some("\"link\""),
        help: "cycles from one flit to the next on that line, with delivery = \"in-order\": as on the link from the router by \
               default, or slower, so that the network is faster than what its hosts can take",
    },
    Parameter {
        name: "pause_at",
        kind: Kind::IntegerOr { min: 1, max: 1 << 24, word: "never" },
        default: Some("\"never\""),
        help: "flits that are in order and wait for that line: with more of them a node pauses the link from its router, until they are so few",
    },
];

/// What network interfaces do, from the values of [`NIC`]. How packets are injected is said by [`INJECTION`].
#[must_use]
pub fn nic(values: &Values, ticks_per_cycle: u32) -> NicSpec {
    NicSpec {
        queues: match values.text("queues") {
            "fifo" => SourceQueues::Fifo,
            "in-turn" => SourceQueues::InTurn,
            _ => SourceQueues::PerDestination,
        },
        vc_choice: match values.text("vc_choice") {
            "random" => InjectionVc::Random,
            "by-destination" => InjectionVc::ByDestination,
            "rotation" => InjectionVc::Rotation { in_step: false },
            "rotation-in-step" => InjectionVc::Rotation { in_step: true },
            _ => InjectionVc::RoundRobin,
        },
        queue_limit: values.integer_or("queue_limit").map(|limit| limit as u32),
        delivery: match values.text("delivery") {
            "in-order" => Delivery::InOrder,
            _ => Delivery::Arrival,
        },
        line_flit_ticks: values.integer_or("line").map(|cycles| cycles as u32 * ticks_per_cycle),
        pause_flits: values.integer_or("pause_at").map(|flits| flits as u32),
        side_by_side: false,
    }
}

const fn buffer(default: &'static str) -> Parameter {
    flits("buffer", u16::MAX as u64, default, "flits of the input buffer of a virtual channel at its end")
}

const fn latency(default: &'static str) -> Parameter {
    time("latency", default, "from the moment a flit is sent to the moment it has arrived, in whole cycles")
}

const RATE: Parameter = count("cycles_per_flit", 1024, "1", "cycles from one flit to the next");

/// The parameters of links from nodes to their routers.
pub const INJECTION: &[Parameter] = &[
    latency("1"),
    buffer("256"),
    RATE,
    Parameter {
        name: "vcs",
        kind: Kind::IntegerOr { min: 1, max: crate::VCS_MAX as u64, word: "routing" },
        default: Some("\"routing\""),
        help: "virtual channels per traffic class; as many as routing needs at least by default",
    },
    flag("whole_packets", "false", "whether a packet is sent in one cycle, whatever its size"),
    flag(
        "side_by_side",
        "false",
        "with whole_packets: whether the flits of a packet arrive one per cycle all the same, beside those of others",
    ),
];

/// The parameters of links from routers to their nodes.
pub const EJECTION: &[Parameter] = &[latency("1"), RATE];

/// The parameters of links between the routers of a group.
pub const LOCAL: &[Parameter] = &[latency("10"), buffer("32"), RATE];

/// The parameters of links between groups.
pub const GLOBAL: &[Parameter] = &[latency("100"), buffer("256"), RATE];

/// The parameters of other links between routers.
pub const OTHER: &[Parameter] = &[latency("10"), buffer("64"), RATE];

/// The parameters of links between routers of a class, with defaults that suit its name.
#[must_use]
pub fn of_links(link_class: &str) -> &'static [Parameter] {
    match link_class {
        "local" => LOCAL,
        "global" => GLOBAL,
        _ => OTHER,
    }
}

/// A link, from the values of the parameters of its class.
#[must_use]
pub fn link(values: &Values, ticks_per_cycle: u32) -> LinkSpec {
    let flit_ticks = values.integer("cycles_per_flit") * ticks_per_cycle;
    LinkSpec { latency: values.ticks("latency") as u32, flit_ticks: flit_ticks as u16 }
}
