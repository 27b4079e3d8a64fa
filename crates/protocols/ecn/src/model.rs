//! The entry in the list of protocols.

use std::sync::Arc;

use tailback_parameters::{Choice, Kind, Parameter};
use tailback_protocol::{ProtocolModel, control_routing, control_routing_parameter, period};

use crate::pause::Pacing;
use crate::protocol::{ACKNOWLEDGEMENTS, Carrier, Ecn, NOTIFICATIONS};

const fn time(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Time, default: Some(default), help }
}

const fn share(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Number { min: 0.0, max: 1.0 }, default: Some(default), help }
}

/// ECN.
pub const ECN: ProtocolModel = ProtocolModel {
    name: "ecn",
    summary: "ECN: routers mark packets that leave full buffers, and sources pause between packets to where they went",
    parameters: &[
        share("threshold", "0.5", "the share of an input buffer from which on packets that leave it are marked"),
        share(
            "root_below",
            "0.125",
            "the share of the next buffer, beyond what the link alone would hold, up to which packets are marked",
        ),
        time("increment", "24", "by how much a marked packet lengthens the pause between packets to its destination"),
        time("longest", "4096", "the longest pause"),
        time("timer", "96", "how often a pause becomes shorter"),
        time("decrement", "1", "by how much"),
        Parameter {
            name: "carrier",
            kind: Kind::Choice(&[
                Choice { word: "acknowledgement", help: "each data packet is acknowledged, and marks go with that" },
                Choice { word: "notification", help: "only marked packets are answered" },
            ]),
            default: Some("\"acknowledgement\""),
            help: "what tells sources of marks",
        },
        control_routing_parameter("\"minimal\""),
    ],
    control_kinds: &[ACKNOWLEDGEMENTS, NOTIFICATIONS],
    build: |values| {
        let [increment, longest, decrement] = ["increment", "longest", "decrement"].map(|name| values.ticks(name));
        let carrier = match values.text("carrier") {
            "notification" => Carrier::Notification,
            _ => Carrier::Acknowledgement,
        };
        Ok(Arc::new(Ecn {
            pacing: Pacing { increment, longest, timer: period(values, "timer")?, decrement },
            threshold: values.number("threshold"),
            root_below: values.number("root_below"),
            carrier,
            routing: control_routing(values),
        }))
    },
};
