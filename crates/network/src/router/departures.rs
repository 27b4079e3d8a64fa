//! Departures that are known in advance: where ports have one output queue, whose packets have taken their credits, and
//! nothing else uses the link, the time at which a packet departs is known when it crosses. It is sent off at once, and
//! the room it leaves in its output queue is followed only when somebody needs it.

use serde::{Deserialize, Serialize};
use tailback_engine::Tick;
use tailback_hardware::{NetworkSpec, TICKS_MAX};

use super::state::OutputPort;
use super::{Microarchitecture, Routers};
use crate::event::{Event, EventKind};
use crate::fabric::Shape;
use crate::packet::Packet;
use crate::router::Surroundings;
use crate::rules::Rules;
use crate::time::Time;

/// When a packet makes room in its output queue, and how much.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Departure {
    pub time: Time,
    pub flits: u16,
}

/// The most packets of an output queue whose departures are followed: rings of more would take more memory than the rest of a port.
const RING_PLACES_MAX: u32 = 1 << 13;

/// The longest that a bounded output queue can hold a link, in ticks, for its departures to be known in advance. Times end later than runs by more.
const AHEAD_TICKS_MAX: u64 = 1 << 23;

/// The places of a port's ring, 0 where output queues have no bound. None if they hold too many packets to follow.
pub(super) fn ring_places(spec: &NetworkSpec) -> Option<usize> {
    match spec.output_queue_packets() {
        None => Some(0),
        Some(packets) => (packets <= RING_PLACES_MAX).then(|| packets.next_power_of_two() as usize),
    }
}

/// The bytes that a port takes at most for departures that are known in advance.
pub(crate) fn departure_bytes(spec: &NetworkSpec) -> u64 {
    (ring_places(spec).unwrap_or(0) * size_of::<Departure>()) as u64
}

/// Whether departures can be known in advance until the end of a run: what has crossed to a slow link can be long before its turn, longer than times
/// can tell.
pub(crate) fn can_be_known(spec: &NetworkSpec, shape: &Shape, end: Tick) -> bool {
    let slowest = spec.links.iter().map(|link| u64::from(link.flit_ticks)).max().unwrap_or(1);
    let (flits, most) = match spec.router.output_queues.flits {
        Some(flits) => (u64::from(flits), AHEAD_TICKS_MAX),
        // Each connection of the crossbar brings a flit per tick at most.
        None => (end.saturating_mul(shape.outputs as u64), TICKS_MAX),
    };
    ring_places(spec).is_some() && flits.saturating_mul(slowest) <= most
}

impl Departure {
    pub const NONE: Self = Self { time: 0, flits: 0 };
}

/// The departures of all ports that have not been followed yet: a ring for each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Departures {
    /// Places of a ring, a power of two, or 0 where output queues have no bound.
    size: usize,
    rings: Vec<Departure>,
}

impl Departures {
    pub fn new(ports: usize, size: usize) -> Self {
        Self { size, rings: vec![Departure::default(); ports * size] }
    }

    /// Reads a little of every cache line, in order.
    pub fn read_through(&self) -> u32 {
        self.rings.iter().step_by(8).fold(0, |sum, departure| sum ^ departure.time)
    }

    /// Notes at `now` when a packet makes room in the output queue that it enters.
    #[inline]
    pub fn push(&mut self, index: u32, port: &mut OutputPort, departure: Departure, now: Time) {
        if port.space < u32::from(departure.flits) || usize::from(port.departures) == self.size {
            self.catch_up(index, port, now); // there is room for the packet, so others have departed
        }
        port.space -= u32::from(departure.flits);
        let slot = usize::from(port.first_departure + port.departures) & (self.size - 1);
        port.departures += 1;
        self.rings[index as usize * self.size + slot] = departure;
    }

    /// The next departure that has not been followed.
    #[inline]
    pub fn first(&self, index: u32, port: &OutputPort) -> Option<Departure> {
        (port.departures > 0).then(|| self.rings[index as usize * self.size + usize::from(port.first_departure)])
    }

    /// Whether an output queue has room for some flits, as far as allocations at `now` may know.
    #[inline]
    pub fn space(&self, index: u32, port: &OutputPort, flits: u32, now: Time) -> bool {
        port.space >= flits || self.space_followed(index, port, now) >= flits
    }

    /// The free flits of an output queue, as far as allocations at `now` may know.
    fn space_followed(&self, index: u32, port: &OutputPort, now: Time) -> u32 {
        if self.size == 0 {
            return port.space;
        }
        let ring = &self.rings[index as usize * self.size..][..self.size];
        let slot = |number: u16| usize::from(port.first_departure + number) & (self.size - 1);
        let departed = (0..port.departures).map(|number| ring[slot(number)]).take_while(|d| d.time < now);
        port.space + departed.map(|departure| u32::from(departure.flits)).sum::<u32>()
    }

    /// Makes the room that packets have left which departed before `now`.
    #[inline]
    pub fn catch_up(&self, index: u32, port: &mut OutputPort, now: Time) {
        while let Some(departure) = self.first(index, port).filter(|departure| departure.time < now) {
            port.space += u32::from(departure.flits);
            port.first_departure = (port.first_departure + 1) & (self.size as u16 - 1);
            port.departures -= 1;
        }
    }
}

/// When a packet that was sent off starts on its link, when it arrives, and when it makes room in its output queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub start: Time,
    pub arrival: Time,
    pub departure: Departure,
}

impl OutputPort {
    /// Sends a packet off as soon as the link can; its last flit has crossed before `end`.
    #[inline]
    pub fn send(&mut self, packet: &mut Packet, end: Time, now: Time, rules: &Rules) -> Sent {
        let flits = packet.flits;
        let start = rules.link_time((now + rules.crossbar_delay).max(self.link_free_at));
        let flit_ticks = Time::from(self.flit_ticks);
        // A flit leaves per flit time, but none before it is here.
        let last_sent = (start + Time::from(flits - 1) * flit_ticks).max(end - 1 + rules.crossbar_delay);
        self.link_free_at = rules.link_time(last_sent + flit_ticks);
        self.flits_sent += u32::from(rules.measured.flits(flits, start, last_sent));
        let arrival = packet.leave(start, last_sent, self);
        let time = if rules.releases_late { self.link_free_at } else { start };
        Sent { start, arrival, departure: Departure { time, flits } }
    }
}

impl<M: Microarchitecture> Routers<M> {
    /// Makes sure that an event tells when the next departing packet has made room, if the output queue may lack it. A function of
    /// its own, as most heads that sleep wait for the crossbar.
    #[inline(never)]
    pub(super) fn schedule_room(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        if !self.rules.bounded {
            return;
        }
        let port = &mut self.outputs[index as usize];
        self.departures.catch_up(index, port, now);
        let short = port.space < u32::from(self.rules.packet_flits_max);
        if short
            && !port.room_scheduled
            && let Some(departure) = self.departures.first(index, port)
        {
            port.room_scheduled = true;
            // Room is seen by allocations after the tick in which it is made.
            around.schedule(departure.time + 1, Event::at(EventKind::RoomFree, index, 0));
        }
    }
}
