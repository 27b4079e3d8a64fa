//! The trace of a message: what a region notes of its packets, and of the control packets about it; or of the packets from a node to another.
//!
//! Which message of a flow is traced is known from the start, as sources depend on nothing but themselves; those of a program are counted by
//! the region of their source. Its packets carry a flag, so that each region knows
//! them; what its source calls it a region learns from the first of them that comes by, in time for the control packets that are sent here.
//! Packets from a node to another get the flag where they leave, until so many have it as are wanted: that bounds all that is noted.
//!
//! **The invariant it keeps:** what is noted does not depend on the partition, once the events of all regions are in order; and
//! nothing that is noted has an influence on anything.

mod event;
mod legs;
mod packets;

use std::collections::BTreeMap;

use tailback_engine::Tick;
use tailback_protocol::{Control, PortVc};
use tailback_topology::{NodeId, RouterId};

pub use event::{Blocked, Crossing, Hop, Occurrence, Place, STORY_CHANGES_MAX, Story, Subject, TraceEvent, Waits};
pub use packets::TracedPackets;

pub(crate) use self::legs::Offered;

use self::legs::Legs;
use self::packets::PacketTrace;
use crate::fabric::Fabric;
use crate::packet::Packet;
use crate::time::Time;

/// A message, and of one that is announced all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedMessage {
    /// The node that sends it.
    pub source: NodeId,
    /// The node that it is for.
    pub destination: NodeId,
    /// Which of those that the one sends the other.
    pub which: Which,
}

/// Which of the messages that a node sends another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// That of a flow that is offered at a tick. A source offers one of a flow in a cycle at most, so this is no other one's description.
    Offered {
        /// The index of its flow in the workload.
        traffic: u16,
        /// When it is offered.
        created: Tick,
    },
    /// The one before which so many are offered, where a program is among those that offer them: nobody knows when that will be. What was
    /// announced counts once.
    Nth(u64),
}

/// What is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracing {
    /// A message, and what is about it.
    Message(TracedMessage),
    /// The packets from a node to another.
    Packets(TracedPackets),
}

impl From<TracedMessage> for Tracing {
    fn from(message: TracedMessage) -> Self {
        Self::Message(message)
    }
}

impl From<TracedPackets> for Tracing {
    fn from(packets: TracedPackets) -> Self {
        Self::Packets(packets)
    }
}

/// The most events that are told of a message: it may be sent again and again.
pub const TRACE_EVENTS_MAX: usize = 10_000;

/// What has happened to a message, or to packets, in a region.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageTrace {
    message: Option<TracedMessage>,
    /// The messages that are traced, as far as they are known here.
    legs: Legs,
    /// The packets that are traced, if no message is.
    packets: Option<PacketTrace>,
    events: Vec<TraceEvent>,
    /// By where it is in the pool, a packet in a router: its event.
    hops: BTreeMap<u32, usize>,
}

impl MessageTrace {
    pub fn of(tracing: Tracing) -> Self {
        match tracing {
            Tracing::Message(message) => Self { legs: Legs::of(&message), message: Some(message), ..Self::default() },
            Tracing::Packets(packets) => Self { packets: Some(PacketTrace::of(packets)), ..Self::default() },
        }
    }

    pub fn events(&self) -> &[TraceEvent] {
        &self.events
    }

    /// Packets that would have been traced if more were.
    pub fn left_out(&self) -> u64 {
        self.packets.as_ref().map_or(0, PacketTrace::left_out)
    }

    /// A node offers a message: whether it is one that is traced.
    pub fn is_offered(&mut self, offered: &Offered) -> bool {
        self.message.as_ref().is_some_and(|message| self.legs.is_offered(message, offered))
    }

    /// Whether a node has offered one of the messages with this.
    pub fn is_message(&self, offered: &Offered) -> bool {
        self.legs.has(offered)
    }

    /// An announcement that is traced has arrived, which is answered.
    pub fn is_announced(&mut self, announced: &Offered) {
        self.legs.is_announced(announced);
    }

    /// Whether a node calls one of the messages so.
    pub fn is_name(&self, source: NodeId, name: u32) -> bool {
        self.legs.is_name(source, name)
    }

    /// A node calls a message so from now on, which is one that is traced or another.
    pub fn named(&mut self, source: NodeId, name: u32, is_message: bool) {
        // Packets that are traced are of any message, and what happens to that is not told.
        if self.message.is_some() {
            self.legs.named(source, name, is_message);
        }
    }

    /// A packet comes by: what is of the message tells its name, and what is of another one of that name that it is over.
    pub fn passes(&mut self, packet: &Packet, fabric: &Fabric) {
        let direction = fabric.direction(packet.kind);
        if direction.carries_data() || direction.asks_sink() {
            self.named(packet.source, packet.message, packet.is_traced());
        }
    }

    /// Whether a control packet is about one of the messages.
    pub fn concerns(&self, control: &Control) -> bool {
        self.message.is_some_and(|TracedMessage { source, destination, .. }| {
            [(source, destination), (destination, source)].contains(&(control.from, control.to))
        }) && self.legs.has_name(control.about.message)
    }

    /// Something happens. Events of a tick are kept all or none, so that the first of all regions are the same however many regions there
    /// are; one more than is told shows that something is left out. Of packets all is kept, as there are so many at most.
    pub fn note(&mut self, now: Time, place: Place, subject: Subject, what: Occurrence) {
        let tick = now.into();
        if self.packets.is_some()
            || self.events.len() <= TRACE_EVENTS_MAX
            || self.events.last().is_some_and(|last| last.tick == tick)
        {
            self.events.push(TraceEvent { tick, place, subject, what });
        }
    }

    /// A packet comes into a router, and is in this slot of the pool.
    pub fn comes_in(&mut self, slot: u32, packet: &Packet, router: RouterId, input: PortVc, now: Time) {
        let mut hop = Hop { input, waits: Waits::default(), story: Story::default(), blocked: None, crossing: None };
        hop.waits_for(Blocked::Behind, now);
        let events = self.events.len();
        self.note(now, Place::Router(router), Subject::of(packet), Occurrence::Hop(hop));
        if self.events.len() > events {
            self.hops.insert(slot, events);
        }
    }

    /// A packet waits for something from a tick on.
    pub fn waits_for(&mut self, slot: u32, blocked: Blocked, from: Time) {
        if let Some(hop) = self.hop(slot) {
            hop.waits_for(blocked, from);
        }
    }

    /// A packet leaves its buffer for an output, or ends.
    pub fn leaves_buffer(&mut self, slot: u32, output: Option<PortVc>, now: Time) {
        if let Some(hop) = self.hop(slot) {
            hop.settle(now);
            hop.blocked = None;
            hop.crossing = output.map(|output| Crossing { at: now.into(), output, link_at: None });
        }
        if output.is_none() {
            self.hops.remove(&slot);
        }
    }

    /// The link of a packet that has crossed starts to send it.
    pub fn starts(&mut self, slot: u32, at: Time) {
        if let Some(crossing) = self.hop(slot).and_then(|hop| hop.crossing.as_mut()) {
            crossing.link_at = Some(at.into());
        }
        self.hops.remove(&slot);
    }

    fn hop(&mut self, slot: u32) -> Option<&mut Hop> {
        let event = *self.hops.get(&slot)?;
        let Occurrence::Hop(hop) = &mut self.events[event].what else { unreachable!("it was noted as a hop") };
        Some(hop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(ticks: impl Iterator<Item = Time>, node: NodeId) -> MessageTrace {
        let mut trace = MessageTrace::default();
        ticks.for_each(|tick| trace.note(tick, Place::Node(node), Subject::Message, Occurrence::Withheld));
        trace
    }

    /// The last tick that a region keeps is kept as a whole, so two regions together keep the first events of all, and which
    /// these are does not depend on which of them keeps an event.
    #[test]
    fn a_trace_that_is_cut_off_has_the_first_events() {
        let most = TRACE_EVENTS_MAX as Time;
        let full = noted((0..most - 1).chain([most, most, most, most + 1]), 1);
        assert_eq!(full.events().len(), TRACE_EVENTS_MAX + 2);
        let other = noted([5, most + 2].into_iter(), 0);
        let (events, cut) = TraceEvent::in_order([full.events(), other.events()].into_iter(), TRACE_EVENTS_MAX);
        assert!(cut && events.len() == TRACE_EVENTS_MAX);
        assert_eq!([events[5].place, events[6].place], [Place::Node(0), Place::Node(1)]);
        assert_eq!(events.last().map(|event| event.tick), Some(u64::from(most) - 2));
    }
}
