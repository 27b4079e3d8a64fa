//! The state of routers: two records per port, one record per queue, and masks at every level.
//!
//! What an allocation needs of a port lies in one cache line for the side where packets come in, and in one for the
//! side where they go out. What only some routers have is in arrays beside them ([`super::extras`]).
//!
//! **The invariant it keeps:** what an array holds for a port is found by the number of the port in the region, so no
//! record points at another.

use serde::{Deserialize, Serialize};
use tailback_engine::NEVER;

use super::decision::Decision;
use super::departures::Departure;
use crate::event::{Event, EventKind};
use crate::fabric::{Fabric, Shape};
use crate::link::{FarKind, InputLink, OutputLink, PortLinks};
use crate::packet::NONE;
use crate::time::Time;

/// A queue of packets at an input: of a virtual channel, or of a virtual channel and an output (a VOQ).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Queue {
    pub head: u32,
    pub tail: u32,
    /// The flits of the head packet.
    pub flits: u16,
    /// Where the head packet goes, once it is routed: the port, the first of the channels that will do, how many will.
    pub port: u8,
    pub vc: u8,
    pub vcs: u8,
    pub decision: Decision,
    /// Whether the head packet owns channel `vc` of `port`.
    pub owns_vc: bool,
}

impl Queue {
    const EMPTY: Self =
        Self { head: NONE, tail: NONE, flits: 0, port: 0, vc: 0, vcs: 0, decision: Decision::Open, owns_vc: false };

    /// Whether it is known for good where the head packet goes.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.decision == Decision::Settled
    }
}

/// Sets of virtual channels.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Heads {
    /// Queues whose head may try to leave at the next allocation.
    pub awake: u32,
    /// Queues whose head waits until something changes at the output that it wants.
    pub asleep: u32,
}

impl Heads {
    /// The heads of some queues may try to leave.
    #[inline]
    pub fn wake(&mut self, vcs: u32) {
        self.awake |= vcs;
        self.asleep &= !vcs;
    }

    /// The head of a queue waits until something changes.
    #[inline]
    pub fn put_to_sleep(&mut self, vc: u8) {
        self.awake &= !(1 << vc);
        self.asleep |= 1 << vc;
    }
}

/// A connection of an input to the crossbar.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct InputConnection {
    /// Until when a packet crosses by it.
    pub busy_until: Time,
    /// The queue that was served last, and the port that its packet left by.
    pub last_voq: u8,
    pub last_vc: u8,
    pub last_port: u8,
    /// Whether an event tells when it is free again.
    pub free_scheduled: bool,
}

/// Whose turn it was at an input: a queue, and the port that its packet left by.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Turn {
    pub voq: u8,
    pub vc: u8,
    pub port: u8,
}

/// A connection of the crossbar to an output.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct OutputConnection {
    /// Until when a packet crosses by it.
    pub busy_until: Time,
    /// The input connection that was served last.
    pub last: u16,
    /// The virtual channel of the packet that crosses.
    pub vc: u8,
    /// Whether an event tells when it is free again.
    pub free_scheduled: bool,
}

/// The side of a port where packets come in.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(super) struct InputPort {
    /// Of the virtual channels, where there are no VOQs.
    pub heads: Heads,
    /// Set of the first 64 VOQs with an awake head.
    pub awake_voqs: u64,
    /// The port's connection, or that of its first virtual channel.
    pub connection: InputConnection,
    /// The credit that goes back to whatever feeds the port, without channel and flits; to which receiver, how long it takes.
    pub credit: Event,
    pub credit_receiver: u32,
    pub credit_latency: Time,
    /// The router, as the region numbers it, the number of its first port in the region, and the number of this port in it.
    pub router: u32,
    pub first_port: u32,
    /// The word of [`super::Routers::active`] that it is in.
    pub word: u32,
    pub port: u8,
    /// The class of the link that packets come in by, and what feeds it.
    pub link_class: u8,
    pub fed_by: FarKind,
}

/// The side of a port where packets go out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(super) struct OutputPort {
    /// Set of the first 64 ports at which a head waits until something changes here.
    pub waiters: u64,
    /// The port's connection, or that of its first virtual channel.
    pub connection: OutputConnection,
    /// When the link has sent the last flit of the packet before.
    pub link_free_at: Time,
    /// Free flits of the first output queue; where packets depart in order, as far as departures have been followed.
    pub space: u32,
    /// Flits that the link has sent while it was measured.
    pub flits_sent: u32,
    /// The arrival of a packet at the other end, without the packet; to which receiver, how long the link is.
    pub arrival: Event,
    pub receiver: u32,
    pub latency: Time,
    /// From one flit to the next.
    pub flit_ticks: u16,
    /// The departures that have not been followed: a ring in [`super::departures::Departures`].
    pub first_departure: u16,
    pub departures: u16,
    /// Whether an event tells when the next departing packet has made room.
    pub room_scheduled: bool,
    /// The class of the link, and what is at its other end.
    pub link_class: u8,
    pub leads_to: FarKind,
    /// In plain routers: free flits in the buffer of each virtual channel at the other end.
    pub credits: [u16; PLAIN_VCS],
}

/// The most virtual channels of a port of a plain router.
pub(super) const PLAIN_VCS: usize = 4;

const _: () = assert!(size_of::<InputPort>() == 64 && size_of::<OutputPort>() == 64 && size_of::<Queue>() == 16);

impl InputPort {
    fn new(link: &InputLink, index: u32, shape: &Shape) -> Self {
        let kind = if link.from.kind == FarKind::Node { EventKind::NodeCredit } else { EventKind::Credit };
        let (ports, words) = (shape.ports as u32, shape.words as u32);
        let (router, port) = (index / ports, index % ports);
        Self {
            heads: Heads::default(),
            awake_voqs: 0,
            connection: InputConnection::default(),
            credit: Event::at(kind, link.from.target, 0),
            credit_receiver: link.from.receiver,
            credit_latency: link.credit_latency,
            router,
            first_port: router * ports,
            word: router * words + port / 64,
            port: port as u8,
            link_class: link.class,
            fed_by: link.from.kind,
        }
    }
}

impl OutputPort {
    fn new(link: &OutputLink, space: u32, fabric: &Fabric) -> Self {
        let mut credits = [0; PLAIN_VCS];
        for (vc, credits) in credits.iter_mut().enumerate().take(fabric.shape.vcs) {
            *credits = fabric.capacity(link.class, vc);
        }
        let kind = if link.to.kind == FarKind::Node { EventKind::Delivery } else { EventKind::Arrival };
        Self {
            waiters: 0,
            connection: OutputConnection::default(),
            link_free_at: 0,
            space,
            flits_sent: 0,
            arrival: Event::at(kind, link.to.target, 0),
            receiver: link.to.receiver,
            latency: link.latency,
            flit_ticks: link.flit_ticks,
            first_departure: 0,
            departures: 0,
            room_scheduled: false,
            link_class: link.class,
            leads_to: link.to.kind,
            credits,
        }
    }

    /// Whether a node is at the other end.
    #[inline]
    pub fn is_terminal(&self) -> bool {
        self.leads_to == FarKind::Node
    }

    /// The flits that are on the way, or stand for credits on the way back, when the link is never idle.
    #[inline]
    pub fn round_trip(&self) -> u32 {
        2 * self.latency / Time::from(self.flit_ticks.max(1))
    }
}

/// A queue between crossbar and link, where there are several or packets do not depart in order.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OutputQueue {
    pub head: u32,
    pub tail: u32,
    /// Free flits; of the first queue of a port they are in [`OutputPort`].
    pub space: u32,
}

/// The link of a port that is started by events.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Sender {
    /// When the event that starts the next packet comes; `NEVER` if there is none.
    pub start_at: u64,
    /// How often a start was scheduled: only the latest counts.
    pub starts: u32,
    /// Set of output queues with packets.
    pub filled: u32,
    /// What a departing packet makes room for when its last flit has left, and in which output queue.
    pub releasing: u16,
    pub releasing_queue: u8,
    /// The output queue that was served last.
    pub last_queue: u8,
    /// Flits of control packets that it has sent while data packets could have left, since one of these did.
    pub control_in_row: u32,
    /// The last packet that was sent off because it was alone: when it leaves its output queue, of which it is not counted in
    /// the records, how large it is, and the queue.
    pub lone: Departure,
    pub lone_queue: u8,
}

impl Sender {
    /// It has not sent anything.
    pub const NEW: Self = Self {
        start_at: NEVER,
        starts: 0,
        filled: 0,
        releasing: 0,
        releasing_queue: 0,
        last_queue: 0,
        control_in_row: 0,
        lone: Departure::NONE,
        lone_queue: 0,
    };

    /// Flits of a lone packet that have not left their output queue, as far as allocations at `now` may know.
    #[inline]
    pub fn lone_flits(&self, now: Time) -> u32 {
        if self.lone.time < now { 0 } else { self.lone.flits.into() }
    }
}

/// What waits for a link, of all virtual channels.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Backlog {
    /// Flits in the output queue.
    pub queued: u32,
    /// Flits that have taken credits of the buffer at the other end.
    pub credited: u32,
}

/// When the head of a queue is looked at for having waited for too long.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct HeadTimeout {
    /// When its event comes; 0 if there is none.
    pub at: Time,
    /// How often one was scheduled: only the latest counts.
    pub serial: u16,
}

/// A queue of a router: its port by number in the region and in the router, its VOQ, its virtual channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueId {
    pub index: u32,
    pub port: u8,
    pub voq: u8,
    pub vc: u8,
}

/// The records of all ports, router by router, and the credits behind them by port and virtual channel.
pub(super) fn ports(fabric: &Fabric, ports: &[PortLinks]) -> (Vec<InputPort>, Vec<OutputPort>, Vec<u16>) {
    let space = fabric.spec.router.output_queues.flits.unwrap_or(u32::MAX);
    let links = ports.iter();
    let credits = links.clone().map(|port| port.output.class);
    let credits = credits.flat_map(|class| (0..fabric.shape.vcs).map(move |vc| fabric.capacity(class, vc)));
    let inputs = links.clone().zip(0..).map(|(port, index)| InputPort::new(&port.input, index, &fabric.shape));
    let outputs = links.map(|port| OutputPort::new(&port.output, space, fabric));
    (inputs.collect(), outputs.collect(), credits.collect())
}

/// The queues of all ports.
pub(super) fn queues(shape: &Shape, ports: usize) -> Vec<Queue> {
    vec![Queue::EMPTY; ports * shape.voqs * shape.vcs]
}

/// The members of a small set, in ascending order.
#[inline]
pub(super) fn members(mut set: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let member = (set != 0).then(|| set.trailing_zeros() as u8);
        set &= set.wrapping_sub(1);
        member
    })
}
