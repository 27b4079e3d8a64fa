//! The two records of a port: what comes in, what goes out.

use serde::{Deserialize, Serialize};

use super::VCS;
use crate::fabric::Fabric;
use crate::link::Link;
use crate::packet::NONE;
use crate::time::Time;

/// Where a head packet wants to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub port: u8,
    /// The first of the channels that will do.
    pub vc: u8,
    /// How many channels will do; 0 before the packet is routed.
    pub vcs: u8,
}

impl Wish {
    pub fn is_settled(self) -> bool {
        self.vcs > 0
    }
}

/// What comes in by a port: one queue per virtual channel, and one crossbar connection for all.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(super) struct InPort {
    heads: [u32; VCS],
    tails: [u32; VCS],
    /// The flits of the heads.
    flits: [u16; VCS],
    /// Where the heads want to go.
    wish_ports: [u8; VCS],
    wish_vcs: [u8; VCS],
    wish_counts: [u8; VCS],
    /// Until when a packet crosses.
    pub busy_until: Time,
    /// Sets of queues: those whose head may try to leave at the next allocation; those whose head waits for an output.
    pub awake: u8,
    pub asleep: u8,
    /// The queue that was served last.
    pub last_vc: u8,
    /// Whether an event tells when the crossing is over.
    pub free_scheduled: bool,
    /// The class of the link that packets come in by.
    pub link_class: u8,
}

const _: () = assert!(size_of::<InPort>() == 64);

impl InPort {
    pub fn new(link: &Link) -> Self {
        Self {
            heads: [NONE; VCS],
            tails: [NONE; VCS],
            flits: [0; VCS],
            wish_ports: [0; VCS],
            wish_vcs: [0; VCS],
            wish_counts: [0; VCS],
            busy_until: 0,
            awake: 0,
            asleep: 0,
            last_vc: 0,
            free_scheduled: false,
            link_class: link.class,
        }
    }

    #[inline]
    pub fn head(&self, vc: u8) -> u32 {
        self.heads[usize::from(vc)]
    }

    #[inline]
    pub fn head_flits(&self, vc: u8) -> u16 {
        self.flits[usize::from(vc)]
    }

    #[inline]
    pub fn wish(&self, vc: u8) -> Wish {
        let vc = usize::from(vc);
        Wish { port: self.wish_ports[vc], vc: self.wish_vcs[vc], vcs: self.wish_counts[vc] }
    }

    #[inline]
    pub fn settle(&mut self, vc: u8, wish: Wish) {
        let vc = usize::from(vc);
        (self.wish_ports[vc], self.wish_vcs[vc], self.wish_counts[vc]) = (wish.port, wish.vc, wish.vcs);
    }

    /// Whether a packet crosses that was the head of this queue, and its end has not been told: where all are told.
    #[inline]
    pub fn is_crossing(&self, vc: u8) -> bool {
        self.free_scheduled && self.last_vc == vc
    }

    /// Adds a packet to a queue. Returns the packet before it, or `None` if it is the head, which is awake then.
    #[inline]
    pub fn push(&mut self, vc: u8, packet: u32, flits: u16) -> Option<u32> {
        let place = usize::from(vc);
        let last = std::mem::replace(&mut self.tails[place], packet);
        if self.heads[place] != NONE {
            return Some(last);
        }
        self.heads[place] = packet;
        self.flits[place] = flits;
        self.wish_counts[place] = 0;
        self.awake |= 1 << vc;
        None
    }

    /// The head of a queue starts to cross until `end`, and the packet behind it, if any, becomes head. Returns whether
    /// an event must be scheduled for the end, because some queue is awake or because there is `always` to be one.
    #[inline]
    pub fn replace_head(&mut self, vc: u8, behind: u32, behind_flits: u16, end: Time, always: bool) -> bool {
        let place = usize::from(vc);
        self.heads[place] = behind;
        self.flits[place] = behind_flits;
        self.wish_counts[place] = 0;
        if behind == NONE {
            self.awake &= !(1 << vc);
        }
        (self.busy_until, self.last_vc) = (end, vc);
        let needed = (always || self.awake != 0) && !self.free_scheduled;
        self.free_scheduled |= needed;
        needed
    }
}

/// What goes out by a port: the crossbar connection, the output queue, the link and the room at its other end.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(super) struct OutPort {
    /// Set of the first 64 ports at which a queue sleeps until something changes here.
    pub waiters: u64,
    /// Until when a packet crosses to this port.
    pub busy_until: Time,
    /// When the link has sent the last flit of the packet before.
    pub link_free_at: Time,
    /// Free flits of the output queue, as far as departures have been followed.
    pub space: u32,
    /// Flits that the link has been given since the beginning.
    pub flits_sent: u32,
    /// Free flits in the buffer of each virtual channel at the other end.
    pub free: [u16; VCS],
    /// The departures that have not been followed: a ring in [`Departures`].
    first_departure: u16,
    departures: u16,
    /// The port that was served last.
    pub last: u8,
    /// Whether events tell when the crossing is over, and when the next departing packet has made room.
    pub free_scheduled: bool,
    pub room_scheduled: bool,
    pub link: Link,
}

const _: () = assert!(size_of::<OutPort>() == 64);

impl OutPort {
    pub fn new(fabric: &Fabric, link: Link) -> Self {
        let mut free = [0; VCS];
        for (vc, free) in free[..fabric.shape.vcs].iter_mut().enumerate() {
            *free = fabric.capacity(link.class, vc);
        }
        Self {
            waiters: 0,
            busy_until: 0,
            link_free_at: 0,
            space: fabric.spec.router.output_queues.flits.unwrap_or(u32::MAX),
            flits_sent: 0,
            free,
            first_departure: 0,
            departures: 0,
            last: 0,
            free_scheduled: false,
            room_scheduled: false,
            link,
        }
    }
}

/// When a packet makes room in its output queue, and how much.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Departure {
    pub time: Time,
    pub flits: u16,
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

    /// Notes when a packet makes room in the output queue that it enters.
    #[inline]
    pub fn push(&mut self, index: usize, port: &mut OutPort, departure: Departure) {
        port.space -= u32::from(departure.flits);
        let place = usize::from(port.first_departure + port.departures) & (self.size - 1);
        port.departures += 1;
        self.rings[index * self.size + place] = departure;
    }

    /// The next departure that has not been followed.
    #[inline]
    pub fn first(&self, index: usize, port: &OutPort) -> Option<Departure> {
        (port.departures > 0).then(|| self.rings[index * self.size + usize::from(port.first_departure)])
    }

    /// The free flits of an output queue, as far as allocations at `now` may know.
    #[inline]
    pub fn space(&self, index: usize, port: &OutPort, now: Time) -> u32 {
        if self.size == 0 || port.departures == 0 {
            return port.space;
        }
        let ring = &self.rings[index * self.size..][..self.size];
        let place = |number: u16| usize::from(port.first_departure + number) & (self.size - 1);
        let departed = (0..port.departures).map(|number| ring[place(number)]).take_while(|d| d.time < now);
        port.space + departed.map(|departure| u32::from(departure.flits)).sum::<u32>()
    }

    /// Makes the room that packets have left which departed before `now`.
    #[inline]
    pub fn catch_up(&self, index: usize, port: &mut OutPort, now: Time) {
        while let Some(departure) = self.first(index, port).filter(|departure| departure.time < now) {
            port.space += u32::from(departure.flits);
            port.first_departure = (port.first_departure + 1) & (self.size as u16 - 1);
            port.departures -= 1;
        }
    }
}
