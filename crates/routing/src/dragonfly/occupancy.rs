//! What stands for the length of a queue, where routing goes by how full buffers are.

use tailback_parameters::{Choice, Kind, Parameter, Values};
use tailback_topology::Port;

use crate::{Interests, Step, View};

/// Whose buffers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occupancy {
    /// Those of one virtual channel.
    Channel,
    /// Those of all virtual channels of the traffic class on a port.
    Port,
}

/// The name of the parameter.
pub(super) const NAME: &str = "occupancy";

/// The parameter of algorithms that compare queues.
pub(super) const fn parameter(default: &'static str) -> Parameter {
    Parameter {
        name: NAME,
        kind: Kind::Choice(&[
            Choice { word: "channel", help: "flits on the virtual channel that the packet would use" },
            Choice { word: "port", help: "flits on all virtual channels of the port" },
        ]),
        default: Some(default),
        help: "what stands for the length of a queue",
    }
}

/// The parameter of algorithms with a threshold for queues that are weighted with the links of their path.
pub(super) const fn threshold(default: &'static str) -> Parameter {
    Parameter {
        name: "threshold",
        kind: Kind::Integer { min: 0, max: 1 << 20 },
        default: Some(default),
        help: "flits by which the weighted minimal queue must exceed the other before a packet takes the non-minimal path",
    }
}

/// The name of the parameter.
const QUEUE_COUNTS: &str = "queue_counts";

/// The parameter of algorithms that go by what waits for links.
pub(super) const QUEUE: Parameter = Parameter {
    name: QUEUE_COUNTS,
    kind: Kind::Choice(&[
        Choice {
            word: "output",
            help: "flits in the output queue, and in the next buffer those that are more than the link holds",
        },
        Choice { word: "router", help: "also those at inputs of the router in the VOQs of that output" },
    ]),
    default: Some("\"output\""),
    help: "what counts as the queue for a link",
};

/// What algorithms with that parameter want to know.
pub(super) fn interests_in_queues(values: &Values) -> Interests {
    Interests { queues: true, queues_at_inputs: values.text(QUEUE_COUNTS) == "router", ..Interests::default() }
}

/// How the queue of these interests is called.
pub(super) fn describe_queue(interests: Interests) -> &'static str {
    if interests.queues_at_inputs { ", VOQs included" } else { "" }
}

impl Occupancy {
    /// As the parameter says.
    pub(super) fn build(values: &Values) -> Self {
        if values.text(NAME) == "port" { Self::Port } else { Self::Channel }
    }

    /// The flits that count at a port, for a packet that would leave by `vc`.
    #[inline]
    pub(super) fn sum(self, view: &dyn View, port: Port, vc: u8) -> u32 {
        match self {
            Self::Channel => view.occupancy(port, vc),
            Self::Port => view.port_occupancy(port),
        }
    }

    /// The same for the step of a packet.
    #[inline]
    pub(super) fn of(self, view: &dyn View, step: &Step) -> u32 {
        self.sum(view, step.port, step.vc)
    }

    /// The flits that count per virtual channel, at as many ports from `first` on as there are places in `means`.
    pub(super) fn means(self, view: &dyn View, first: Port, vc: u8, means: &mut [u32]) {
        if self == Self::Channel {
            return view.occupancies(first, vc, means);
        }
        for (port, mean) in (first..).zip(means) {
            *mean = view.port_occupancy(port) / u32::from(view.channels(port)).max(1);
        }
    }

    /// How it is called.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Channel => "channel",
            Self::Port => "port",
        }
    }
}
