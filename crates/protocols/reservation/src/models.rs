//! The entries in the list of protocols.

use std::sync::Arc;

use tailback_parameters::{Choice, Kind, Parameter, Values};
use tailback_protocol::{ProtocolModel, QueueingTimeout, WaitsUntil, control_routing, control_routing_parameter};

use crate::kind;
use crate::protocols::{Comprehensive, FabricDrop, Lhrp, Smsrp, Srp, Terms, Threshold};
use crate::schedule::Lead;

const CONTROL_ROUTING: Parameter = control_routing_parameter("\"minimal\"");

/// When a source sends what was granted a time.
pub const SEND_AT: Parameter = Parameter {
    name: "send_at",
    kind: Kind::Choice(&[
        Choice {
            word: "early",
            help: "before that time by as long as the grant or NACK was in flight, to arrive at that time",
        },
        Choice { word: "on-time", help: "at that time, to arrive later" },
    ]),
    default: Some("\"early\""),
    help: "when a source sends what was granted a time",
};

/// What is charged beyond the flits themselves.
pub const OVERHEAD: Parameter = Parameter {
    name: "overhead",
    kind: Kind::Number { min: 0.0, max: 1.0 },
    default: Some("0.05"),
    help: "what schedules charge beyond the flits themselves, as a share of them; charges are whole flits",
};

const CONTROL_OVERHEAD: Parameter = Parameter {
    name: "control_overhead",
    kind: Kind::Integer { min: 0, max: 1 << 20 },
    default: Some("5"),
    help: "flits that a schedule charges for each reservation on top, for what control packets take of the link to the node",
};

const MINIMUM_GRANT_DELAY: Parameter = Parameter {
    name: "minimum_grant_delay",
    kind: Kind::Time,
    default: Some("0"),
    help: "the least time from a request to the time that it is granted: with a round trip the first grants of a schedule do not arrive all at once",
};

const TIMEOUT: Parameter = Parameter {
    name: "timeout",
    kind: Kind::Time,
    default: Some("1000"),
    help: "how long a speculative packet may wait, all in all, before it is dropped",
};

const TIMEOUT_COUNTS: Parameter = Parameter {
    name: "timeout_counts",
    kind: Kind::Choice(&[
        Choice { word: "inputs", help: "waiting in input buffers counts" },
        Choice {
            word: "queues",
            help: "waiting in output queues counts, too; what has waited for too long is dropped at the next input",
        },
    ]),
    default: Some("\"inputs\""),
    help: "which waiting counts towards the timeout",
};

fn timeout(values: &Values) -> QueueingTimeout {
    QueueingTimeout { ticks: values.ticks("timeout"), in_output_queues: values.text("timeout_counts") == "queues" }
}

const THRESHOLD: Parameter = Parameter {
    name: "threshold",
    kind: Kind::Integer { min: 1, max: u32::MAX as u64 },
    default: Some("1000"),
    help: "data flits for a node in its router from which on speculative packets for it are dropped",
};

const COUNTED_UNTIL: Parameter = Parameter {
    name: "counted_until",
    kind: Kind::Choice(&[
        Choice {
            word: "departure",
            help: "flits count until the link to the node sends them: in input buffers and output queues",
        },
        Choice { word: "crossing", help: "flits count until they start to cross: in input buffers only" },
    ]),
    default: Some("\"departure\""),
    help: "which flits count towards the threshold",
};

fn threshold(values: &Values) -> Threshold {
    let crossing = values.text("counted_until") == "crossing";
    let counted_until = if crossing { WaitsUntil::Crossing } else { WaitsUntil::Departure };
    Threshold { flits: values.integer("threshold"), counted_until }
}

/// The value of [`SEND_AT`].
#[must_use]
pub fn lead(values: &Values) -> Lead {
    if values.text("send_at") == "early" { Lead::Latency } else { Lead::None }
}

fn terms(values: &Values) -> Terms {
    Terms {
        routing: control_routing(values),
        lead: lead(values),
        overhead: values.number("overhead"),
        control_overhead: 0,
        minimum_grant_delay: values.ticks("minimum_grant_delay"),
    }
}

fn terms_with_control_overhead(values: &Values) -> Terms {
    Terms { control_overhead: values.integer("control_overhead"), ..terms(values) }
}

/// SRP.
pub const SRP: ProtocolModel = ProtocolModel {
    name: "srp",
    summary: "SRP: a reservation for each message, and speculative packets until it is granted",
    parameters: &[
        TIMEOUT,
        TIMEOUT_COUNTS,
        Parameter {
            name: "bypass_below",
            kind: Kind::Integer { min: 0, max: 1 << 20 },
            default: Some("0"),
            help: "messages of fewer flits are sent without a reservation, as data that is not dropped",
        },
        SEND_AT,
        OVERHEAD,
        CONTROL_OVERHEAD,
        MINIMUM_GRANT_DELAY,
        CONTROL_ROUTING,
    ],
    control_kinds: kind::CONTROL,
    build: |values| {
        let bypass_below = values.integer("bypass_below");
        Ok(Arc::new(Srp { terms: terms_with_control_overhead(values), timeout: timeout(values), bypass_below }))
    },
};

/// SMSRP.
pub const SMSRP: ProtocolModel = ProtocolModel {
    name: "smsrp",
    summary: "SMSRP: speculative packets first, and a reservation for each that is dropped",
    parameters: &[TIMEOUT, TIMEOUT_COUNTS, SEND_AT, OVERHEAD, CONTROL_OVERHEAD, MINIMUM_GRANT_DELAY, CONTROL_ROUTING],
    control_kinds: kind::CONTROL,
    build: |values| Ok(Arc::new(Smsrp { terms: terms_with_control_overhead(values), timeout: timeout(values) })),
};

/// LHRP.
pub const LHRP: ProtocolModel = ProtocolModel {
    name: "lhrp",
    summary: "LHRP: speculative packets first; the last router drops them, and its NACK grants a later time",
    parameters: &[
        THRESHOLD,
        COUNTED_UNTIL,
        Parameter {
            name: "fabric_drop",
            kind: Kind::Flag,
            default: Some("false"),
            help: "whether speculative packets are dropped before the last router too, after the timeout",
        },
        Parameter {
            help: "with fabric_drop: how long a speculative packet may wait, all in all, before it is dropped",
            ..TIMEOUT
        },
        Parameter { help: "with fabric_drop: which waiting counts towards the timeout", ..TIMEOUT_COUNTS },
        Parameter {
            name: "nacks",
            kind: Kind::Integer { min: 1, max: 1 << 16 },
            default: Some("3"),
            help: "with fabric_drop: NACKs without a time in a row after which a source reserves for all at once",
        },
        SEND_AT,
        OVERHEAD,
        MINIMUM_GRANT_DELAY,
        CONTROL_ROUTING,
    ],
    control_kinds: kind::CONTROL,
    build: |values| {
        let fabric_drop =
            values.flag("fabric_drop").then(|| FabricDrop { timeout: timeout(values), nacks: values.integer("nacks") });
        Ok(Arc::new(Lhrp { terms: terms(values), threshold: threshold(values), fabric_drop }))
    },
};

/// The combination.
pub const COMPREHENSIVE: ProtocolModel = ProtocolModel {
    name: "comprehensive",
    summary: "LHRP for small messages and SRP for large ones, with one schedule for both in the last router",
    parameters: &[
        THRESHOLD,
        COUNTED_UNTIL,
        Parameter {
            name: "large_from",
            kind: Kind::Integer { min: 1, max: 1 << 20 },
            default: Some("48"),
            help: "the flits of the smallest message that reserves for itself",
        },
        SEND_AT,
        OVERHEAD,
        MINIMUM_GRANT_DELAY,
        CONTROL_ROUTING,
    ],
    control_kinds: kind::CONTROL,
    build: |values| {
        let (threshold, large_from) = (threshold(values), values.integer("large_from"));
        Ok(Arc::new(Comprehensive { terms: terms(values), threshold, large_from }))
    },
};
