//! What a network tells about itself.

use serde::{Deserialize, Serialize};
use tailback_engine::Tick;

use crate::Packet;

/// Someone who takes notes of what happens in one region. All methods do nothing unless they are written.
///
/// What is noted must not depend on the order in which nodes report inside a tick: counters and histograms
/// are fine, running averages are not.
pub trait Observer: Send {
    /// A source had a message to send; it waits at its node, or was lost because too many were waiting.
    fn message_offered(&mut self, _offer: &Offer) {}

    /// The last flit of a packet has arrived at its destination.
    fn packet_delivered(&mut self, _packet: &Packet, _tick: Tick) {}

    /// A packet that arrived at a tick, perhaps before others of its flow, has left its destination's interface in order. Told only where
    /// interfaces deliver in order.
    fn packet_in_order(&mut self, _packet: &Packet, _arrived: Tick, _tick: Tick) {}

    /// Sources, destinations and controllers have sent so many messages beside the data network.
    fn control_messages_sent(&mut self, _messages: u64, _tick: Tick) {}

    /// A packet has left its source for the first time that its protocol did not let go when it was first asked, at tick `since`.
    fn packet_held(&mut self, _packet: &Packet, _since: Tick, _tick: Tick) {}

    /// A router has dropped a packet, whose source is told.
    fn packet_dropped(&mut self, _packet: &Packet, _tick: Tick) {}

    /// A packet that was dropped has left its source again.
    fn packet_sent_again(&mut self, _packet: &Packet, _tick: Tick) {}

    /// All packets of a data message have arrived.
    fn message_delivered(&mut self, _delivery: &MessageDelivery) {}

    /// A rank of a program has come to the end of a phase.
    fn phase_reached(&mut self, _reached: &PhaseReached) {}
}

/// A message that a source had to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// When.
    pub tick: Tick,
    /// The source.
    pub node: u32,
    /// The index of its flow in the workload.
    pub traffic: u16,
    /// Its size.
    pub flits: u32,
    /// Whether it was lost because too many messages were waiting.
    pub lost: bool,
}

/// A message that has arrived as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageDelivery {
    /// When its last flit arrived.
    pub tick: Tick,
    /// When it was created.
    pub created: Tick,
    /// The source.
    pub source: u32,
    /// The destination.
    pub destination: u32,
    /// The index of its flow in the workload.
    pub traffic: u16,
    /// Its size.
    pub flits: u32,
}

/// A rank of a program has come to the end of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseReached {
    /// When.
    pub tick: Tick,
    /// The place of the program's messages among the flows.
    pub traffic: u16,
    /// The place of the phase among those of the program.
    pub phase: u16,
    /// Ticks since the program started.
    pub after: u64,
}

/// Takes no notes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Unobserved;

impl Observer for Unobserved {}
