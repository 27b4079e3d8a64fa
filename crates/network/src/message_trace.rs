//! The trace of a message: what a region notes of its packets, and of the control packets about it.
//!
//! Which message is traced is known from the start, as sources depend on nothing but themselves. Its packets carry a flag, so that each region knows
//! them; what its source calls it a region learns from the first of them that comes by, in time for the control packets that are sent here.
//!
//! **The invariant it keeps:** what is noted does not depend on the partition, once the events of all regions are in order; and
//! nothing that is noted has an influence on anything.

use std::collections::BTreeMap;

use tailback_engine::Tick;
use tailback_protocol::{Control, Moment, PacketKind, PacketRef, PortVc};
use tailback_topology::{NodeId, RouterId};

use crate::fabric::Fabric;
use crate::packet::Packet;
use crate::time::Time;

/// A message. A source offers one of a flow in a cycle at most, so this is no other one's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedMessage {
    /// The node that sends it.
    pub source: NodeId,
    /// The node that it is for.
    pub destination: NodeId,
    /// The index of its flow in the workload.
    pub traffic: u16,
    /// When it is offered.
    pub created: Tick,
}

impl TracedMessage {
    /// Whether it is the message that a node offers for another, of a flow, at a tick.
    pub(crate) fn is(&self, source: NodeId, destination: NodeId, traffic: u16, created: Time) -> bool {
        *self == Self { source, destination, traffic, created: created.into() }
    }

    fn is_between(&self, one: NodeId, other: NodeId) -> bool {
        [(one, other), (other, one)].contains(&(self.source, self.destination))
    }
}

/// Something that has happened to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// When.
    pub tick: Tick,
    /// Where.
    pub place: Place,
    /// To what.
    pub subject: Subject,
    /// What.
    pub what: Occurrence,
}

/// Where something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In a router.
    Router(RouterId),
    /// In the interface of a node.
    Node(NodeId),
}

/// What it happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The message as a whole.
    Message,
    /// A packet of it, or a control packet about it.
    Packet {
        /// Its kind.
        kind: PacketKind,
        /// Its index in the message, or that of the packet that it is about.
        index: u32,
        /// When it left: tells packets apart that are sent again.
        injected: Tick,
    },
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// The message is offered; so many others wait at its node.
    Offered {
        /// Its size.
        flits: u32,
        /// Other messages that wait.
        waiting: u32,
        /// Whether it is lost, as too many wait.
        lost: bool,
    },
    /// Its next packet, by index, has its turn and may not leave: until a tick, or until the source says so.
    Held {
        /// The packet.
        index: u32,
        /// Until when.
        until: Option<Tick>,
    },
    /// What has not been sent leaves the send queue.
    Withheld,
    /// What was withheld is sent from a tick on.
    Resumed(Tick),
    /// A packet is sent again from a tick on.
    Resent {
        /// The packet.
        packet: PacketRef,
        /// As what.
        kind: PacketKind,
        /// From when on.
        at: Tick,
    },
    /// The source sets a timer as it is told of the message.
    Timer(Tick),
    /// All packets have left and are acknowledged, or need not be: the source's interface forgets the message.
    Forgotten,
    /// A packet leaves a node on a virtual channel.
    Sent {
        /// The channel, counted through all classes.
        vc: u8,
        /// Its size.
        flits: u16,
        /// When it came to be; of data, when its message did.
        created: Tick,
        /// Whether it is control, and what it says.
        says: Option<String>,
    },
    /// A router passes a packet on, or has it.
    Hop(Hop),
    /// A router sends a control packet.
    Injected {
        /// What it says.
        says: String,
    },
    /// The protocol says what it decides.
    Decided(String),
    /// A packet's marks change.
    Marked {
        /// From what.
        before: u8,
        /// To what.
        after: u8,
    },
    /// A router drops a packet.
    Dropped(Moment),
    /// A router cuts a packet's data off.
    Trimmed(Moment),
    /// A control packet ends in a router.
    Absorbed(Moment),
    /// The last flit of a packet arrives at a node.
    Received {
        /// When its first flit left.
        injected: Tick,
        /// The links between routers that it has taken.
        hops: u8,
        /// What it says, if it is control.
        says: Option<String>,
    },
    /// All packets of the message have arrived.
    Complete,
}

/// A packet in a router, from the arrival of its first flit on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Where it has come in.
    pub input: PortVc,
    /// For what it has waited.
    pub waits: Waits,
    /// What it waits for, and since when, unless it has left its buffer.
    pub blocked: Option<(Blocked, Tick)>,
    /// Where it goes, once it has crossed.
    pub crossing: Option<Crossing>,
}

/// A packet that leaves its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// When it starts to cross.
    pub at: Tick,
    /// Where it leaves.
    pub output: PortVc,
    /// When the link starts to send it, if that is known.
    pub link_at: Option<Tick>,
}

/// What a packet waits for in an input buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// The packets before it in its queue.
    Behind,
    /// The stages of the router before the crossbar.
    Pipeline,
    /// Its input's connection to the crossbar.
    Input,
    /// Routing, which has decided to wait.
    Routing,
    /// A virtual channel of its own.
    VirtualChannel,
    /// The crossbar's connection to its output.
    Output,
    /// Room in the output queue.
    OutputQueue,
    /// Room in the next buffer.
    Credits,
    /// The allocator, which has chosen another packet.
    Allocation,
}

impl Blocked {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Behind,
        Self::Pipeline,
        Self::Input,
        Self::Routing,
        Self::VirtualChannel,
        Self::Output,
        Self::OutputQueue,
        Self::Credits,
        Self::Allocation,
    ];
}

/// Ticks that a packet has waited, by what it waited for. What it waits for is noted whenever it tries to leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits([u64; Blocked::ALL.len()]);

impl Waits {
    /// Those that are not 0.
    pub fn each(&self) -> impl Iterator<Item = (Blocked, u64)> {
        Blocked::ALL.into_iter().zip(self.0).filter(|&(_, ticks)| ticks > 0)
    }
}

/// The most events that are kept: a message may be sent again and again.
pub const TRACE_EVENTS_MAX: usize = 10_000;

/// What has happened to a message in a region.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageTrace {
    message: Option<TracedMessage>,
    /// What its source calls it, once that is known here, unless another message is called so by now.
    name: Option<u32>,
    events: Vec<TraceEvent>,
    /// By where it is in the pool, a packet in a router: its event.
    hops: BTreeMap<u32, usize>,
}

impl MessageTrace {
    pub fn of(message: TracedMessage) -> Self {
        Self { message: Some(message), ..Self::default() }
    }

    pub fn events(&self) -> &[TraceEvent] {
        &self.events
    }

    /// Whether a node offers the message with this.
    pub fn is_message(&self, source: NodeId, destination: NodeId, traffic: u16, created: Time) -> bool {
        self.message.is_some_and(|message| message.is(source, destination, traffic, created))
    }

    /// Whether a node calls the message so.
    pub fn is_name(&self, source: NodeId, name: u32) -> bool {
        self.name == Some(name) && self.message.is_some_and(|message| message.source == source)
    }

    /// A node calls a message so from now on, which is the one that is traced or another.
    pub fn named(&mut self, source: NodeId, name: u32, is_message: bool) {
        if is_message {
            self.name = Some(name);
        } else if self.is_name(source, name) {
            self.name = None;
        }
    }

    /// A packet comes by: what is of the message tells its name, and what is of another one of that name that it is over.
    pub fn passes(&mut self, packet: &Packet, fabric: &Fabric) {
        let direction = fabric.direction(packet.kind);
        if direction.carries_data() || direction.asks_sink() {
            self.named(packet.source, packet.message, packet.is_traced());
        }
    }

    /// Whether a control packet is about the message.
    pub fn concerns(&self, control: &Control) -> bool {
        self.name == Some(control.about.message)
            && self.message.is_some_and(|message| message.is_between(control.from, control.to))
    }

    /// Something happens. Events of a tick are kept all or none, so that what all regions keep is the same however many there are.
    pub fn note(&mut self, now: Time, place: Place, subject: Subject, what: Occurrence) {
        let tick = now.into();
        if self.events.len() < TRACE_EVENTS_MAX || self.events.last().is_some_and(|last| last.tick == tick) {
            self.events.push(TraceEvent { tick, place, subject, what });
        }
    }

    /// A packet comes into a router, and is in this slot of the pool.
    pub fn comes_in(&mut self, slot: u32, packet: &Packet, router: RouterId, input: PortVc, now: Time) {
        let (waits, blocked) = (Waits::default(), Some((Blocked::Behind, now.into())));
        let hop = Hop { input, waits, blocked, crossing: None };
        let events = self.events.len();
        self.note(now, Place::Router(router), Subject::of(packet), Occurrence::Hop(hop));
        if self.events.len() > events {
            self.hops.insert(slot, events);
        }
    }

    /// A packet waits for something from a tick on.
    pub fn waits_for(&mut self, slot: u32, blocked: Blocked, from: Time) {
        if let Some(hop) = self.hop(slot) {
            hop.settle(from);
            hop.blocked = Some((blocked, from.into()));
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

impl Hop {
    /// What it has waited for until now is over.
    fn settle(&mut self, now: Time) {
        if let Some((blocked, since)) = self.blocked {
            self.waits.0[blocked as usize] += u64::from(now).saturating_sub(since);
        }
    }
}

impl Subject {
    /// A packet.
    pub(crate) fn of(packet: &Packet) -> Self {
        Self::Packet { kind: packet.kind, index: packet.index(), injected: packet.injected() }
    }
}

impl TraceEvent {
    /// The events of all regions in order, and whether there were more than [`TRACE_EVENTS_MAX`]: by time and place. In a node they are in
    /// the order in which they happened; in a router, where packets are handled in no particular order, packet by packet.
    pub fn in_order<'a>(regions: impl Iterator<Item = &'a [Self]>) -> (Vec<Self>, bool) {
        let mut events: Vec<Self> = regions.flatten().cloned().collect();
        events.sort_by_key(|event| {
            let packet = matches!(event.place, Place::Router(_)).then_some(event.subject);
            (event.tick, event.place, packet)
        });
        let cut = events.len() > TRACE_EVENTS_MAX;
        events.truncate(TRACE_EVENTS_MAX);
        (events, cut)
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
        let (events, cut) = TraceEvent::in_order([full.events(), other.events()].into_iter());
        assert!(cut && events.len() == TRACE_EVENTS_MAX);
        assert_eq!([events[5].place, events[6].place], [Place::Node(0), Place::Node(1)]);
        assert_eq!(events.last().map(|event| event.tick), Some(u64::from(most) - 2));
    }
}
