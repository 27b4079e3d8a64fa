//! The entry in the list of protocols.

use std::sync::Arc;

use tailback_parameters::{Choice, Kind, Parameter, Values};
use tailback_protocol::{ProtocolModel, control_routing, control_routing_parameter};
use tailback_reservation::{OVERHEAD, SEND_AT, lead};

use crate::destination::SlotChoice;
use crate::kind;
use crate::protocol::Crp;
use crate::source::{AskWhen, Asking};
use crate::table::CELLS_MAX;

/// The most flits that a cell, or a segment, can have.
const FLITS_MAX: u64 = u16::MAX as u64;

const fn count(name: &'static str, min: u64, max: u64, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Integer { min, max }, default: Some(default), help }
}

const fn time(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Time, default: Some(default), help }
}

/// CRP.
pub const CRP: ProtocolModel = ProtocolModel {
    name: "crp",
    summary: "CRP: one request for each segment of a message reserves time of its node and of channels on the way, and \
              speculative packets are sent until it is granted",
    parameters: &[
        Parameter {
            name: "links",
            kind: Kind::Choice(&[
                Choice { word: "inter-cluster", help: "channels between clusters" },
                Choice { word: "global", help: "global links of a dragonfly" },
                Choice { word: "none", help: "none: only the ways to nodes, as in SRP" },
            ]),
            default: Some("\"inter-cluster\""),
            help: "which links have reservation tables, beside the ways to nodes",
        },
        count("cells", 1, CELLS_MAX as u64, "32", "time slots of a table, and bits of a request"),
        count("cell", 1, FLITS_MAX, "269", "flits that can be reserved in a slot, which takes as long as they do"),
        count("smallest", 0, FLITS_MAX, "128", "flits of the smallest message, or rest of one, that reserves"),
        count("largest", 1, FLITS_MAX, "512", "flits of the largest segment: larger messages are cut into several"),
        OVERHEAD,
        time(
            "timeout",
            "200",
            "how long a speculative packet may wait in input buffers, all in all, before it is dropped",
        ),
        count("eager", 0, CELLS_MAX as u64, "1", "slots that each of these links reserves for a request as it passes"),
        Parameter {
            name: "more_eager_after",
            kind: Kind::IntegerOr { min: 0, max: 1 << 20, word: "never" },
            default: Some("\"never\""),
            help: "retries of a segment after which each further one has one more slot reserved",
        },
        time("retry_after", "30", "from a retry to the next request"),
        time("retry_spread", "0", "what is added to that by chance, at most"),
        Parameter {
            name: "request",
            kind: Kind::Choice(&[
                Choice { word: "at-once", help: "before its first packet" },
                Choice { word: "on-nack", help: "when its first packet has been dropped" },
            ]),
            default: Some("\"at-once\""),
            help: "when a segment asks",
        },
        Parameter {
            name: "slot",
            kind: Kind::Choice(&[
                Choice { word: "earliest", help: "the earliest" },
                Choice { word: "random", help: "any of them, drawn from the request's name and time" },
            ]),
            default: Some("\"earliest\""),
            help: "which of the slots that suit all tables a node grants, unless one was reserved eagerly",
        },
        SEND_AT,
        control_routing_parameter("\"minimal\""),
    ],
    control_kinds: kind::CONTROL,
    build: |values| {
        let crp = of(values);
        crp.check().map(|()| Arc::new(crp) as _)
    },
};

fn of(values: &Values) -> Crp {
    Crp {
        cells: values.integer("cells"),
        cell: values.integer("cell"),
        overhead: values.number("overhead"),
        timeout: values.ticks("timeout"),
        asking: Asking {
            smallest: values.integer("smallest"),
            largest: values.integer("largest"),
            when: if values.text("request") == "on-nack" { AskWhen::OnNack } else { AskWhen::AtOnce },
            eager: values.integer("eager") as u8,
            more_eager_after: values.integer_or("more_eager_after").map(|after| after as u32),
            retry_after: values.ticks("retry_after"),
            retry_spread: values.ticks("retry_spread"),
            lead: lead(values),
        },
        slot: if values.text("slot") == "random" { SlotChoice::Random } else { SlotChoice::Earliest },
        links: match values.text("links") {
            "global" => Some("global"),
            "inter-cluster" => Some("inter-cluster"),
            _ => None,
        },
        routing: control_routing(values),
    }
}
