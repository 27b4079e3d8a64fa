//! The parameters that the protocols share, and what they are read as.

use tailback_parameters::{Choice, Kind, Parameter, Values};
use tailback_protocol::control_routing_parameter;

use crate::marks::{Rule, Thresholds};
use crate::response::WaitFrom;
use crate::sender::Scope;

/// The names of the control packets in reports.
pub(crate) const ACKNOWLEDGEMENTS: &str = "acknowledgements";
pub(crate) const CONTROL_KINDS: &[&str] = &[ACKNOWLEDGEMENTS];

/// The most slots where there is no limit: longer than any run.
const SLOTS_MOST: u64 = 1 << 32;

pub(crate) const fn time(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Time, default: Some(default), help }
}

/// A share.
pub(crate) const fn number(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Number { min: 0.0, max: 1.0 }, default: Some(default), help }
}

/// Which packets are marked.
pub(crate) const fn marking(default: &'static str) -> Parameter {
    Parameter {
        name: "marking",
        kind: Kind::Choice(&[
            Choice {
                word: "full-buffer",
                help: "when an input buffer has no room for a packet any more, all in the router that wait for the outputs \
                       that its packets wait for (3.2.1)",
            },
            Choice { word: "input", help: "those that come to an input buffer above its threshold (3.1: IPM)" },
            Choice { word: "output", help: "those that enter an output queue above its threshold (3.1: OPM)" },
            Choice {
                word: "validated",
                help: "marked by the rule of inputs, and where they enter an output queue above its threshold, then or \
                       later, validated: sources take only these for the cause of congestion, and `marked_packets` of \
                       a report are all that are marked (4.1: MVPM)",
            },
        ]),
        default: Some(default),
        help: "which packets routers mark",
    }
}

pub(crate) const fn window(default: &'static str, help: &'static str) -> Parameter {
    let kind = Kind::IntegerOr { min: 1, max: 1 << 16, word: "unlimited" };
    Parameter { name: "window", kind, default: Some(default), help }
}

pub(crate) const fn slots_most(default: &'static str, help: &'static str) -> Parameter {
    let kind = Kind::IntegerOr { min: 0, max: 1 << 31, word: "unlimited" };
    Parameter { name: "slots_most", kind, default: Some(default), help }
}

pub(crate) const SLOT: Parameter =
    time("slot", "354", "a waiting slot (4.2.1: the least round-trip time, 354 cycles in the 4-ary 5-fly)");

pub(crate) const WAIT_FROM: Parameter = Parameter {
    name: "wait_from",
    kind: Kind::Choice(&[
        Choice { word: "acknowledgement", help: "from the last acknowledgement" },
        Choice { word: "departure", help: "from the end of the packet that left last" },
    ]),
    default: Some("\"acknowledgement\""),
    help: "from when on a flow waits for its slots (3.1)",
};

pub(crate) const SCOPE: Parameter = Parameter {
    name: "scope",
    kind: Kind::Choice(&[
        Choice { word: "destination", help: "what a node sends to one destination, as InfiniBand's queue pairs" },
        Choice { word: "source", help: "all that a node sends" },
    ]),
    default: Some("\"destination\""),
    help: "what is one flow, with a window, waits and a rate of its own (5.1: a queue for each destination)",
};

pub(crate) const INPUT_THRESHOLD: Parameter = number(
    "input_threshold",
    "0.66",
    "the share of an input buffer above which packets that come are marked, themselves counted (4.3: 66 %)",
);

pub(crate) const OUTPUT_THRESHOLD: Parameter = number(
    "output_threshold",
    "0.33",
    "the share of an output queue above which packets that enter are marked or validated, themselves counted (4.3: 33 %)",
);

pub(crate) const ACKNOWLEDGEMENT: Parameter = Parameter {
    name: "acknowledgement",
    kind: Kind::Flits { min: 1, max: 1 << 14 },
    default: Some("1"),
    help: "flits of an acknowledgement (5.1: 22 bytes)",
};

pub(crate) const CONTROL_ROUTING: Parameter = control_routing_parameter("\"minimal\"");

/// What the parameters common to all say of marks: the rule.
pub(crate) fn rule(values: &Values) -> Rule {
    match values.text("marking") {
        "full-buffer" => Rule::FullBuffer,
        "input" => Rule::Input,
        "output" => Rule::Output,
        _ => Rule::Validated,
    }
}

pub(crate) fn scope(values: &Values) -> Scope {
    if values.text("scope") == "source" { Scope::Source } else { Scope::Destination }
}

pub(crate) fn thresholds(values: &Values) -> Thresholds {
    Thresholds { input: values.number("input_threshold"), output: Some(values.number("output_threshold")) }
}

pub(crate) fn window_of(values: &Values) -> Option<u32> {
    values.integer_or("window").map(|window| window as u32)
}

pub(crate) fn slots_most_of(values: &Values) -> u64 {
    values.integer_or("slots_most").unwrap_or(SLOTS_MOST)
}

pub(crate) fn wait_from(values: &Values) -> WaitFrom {
    if values.text("wait_from") == "departure" { WaitFrom::Departure } else { WaitFrom::Acknowledgement }
}

pub(crate) fn describe_window(window: Option<u32>) -> String {
    window.map_or_else(|| "no window".to_owned(), |packets| format!("windows of {packets}"))
}
