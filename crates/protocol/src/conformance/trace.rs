//! What happened in a run.

use crate::{Control, PacketKind};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet with data left its source.
    Sent {
        /// When.
        at: u64,
        /// The number of its message in the order in which they were offered.
        message: usize,
        /// Its place in the message.
        index: u32,
        /// What it was sent as.
        kind: PacketKind,
    },
    /// It was dropped.
    Dropped {
        /// When.
        at: u64,
        /// Its message.
        message: usize,
        /// Its place.
        index: u32,
    },
    /// It arrived.
    Arrived {
        /// When.
        at: u64,
        /// Its message.
        message: usize,
        /// Its place.
        index: u32,
    },
    /// A control packet arrived at its node.
    Heard {
        /// When.
        at: u64,
        /// The message that it is about, unless that is done.
        message: Option<usize>,
        /// What it says.
        control: Control,
        /// How long it was in flight.
        latency: u64,
    },
}

/// All that happened in a run, in order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The events.
    pub events: Vec<Event>,
    /// By message: its source, its destination, its flits.
    pub messages: Vec<(u32, u32, u32)>,
}
