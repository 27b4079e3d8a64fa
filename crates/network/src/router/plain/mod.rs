//! Plain routers: what most networks ask for, written for speed.
//!
//! A plain router has at most four virtual channels per port and 256 ports, one crossbar connection per port and
//! direction, and one output queue per port. Packets ask for the crossbar as soon as they are heads, claim room at the
//! other end before they cross, and depart in order; arbiters serve by turns. So the time at which a packet departs is
//! known when it crosses, and it is sent off at once.
//!
//! What comes in by a port is one cache line, what goes out is another; a packet that crosses touches two of each.

mod allocate;
mod ports;

use serde::{Deserialize, Serialize};
use tailback_routing::{Lane, PortSet};

use self::ports::{Departures, InPort, OutPort, Wish};
use super::sealed::Routers;
use super::{Held, Outputs, Place, Surroundings};
use crate::event::{Event, EventKind};
use crate::fabric::{Fabric, Rules, Shape};
use crate::link::Link;
use crate::packet::{NONE, Pool};
use crate::time::Time;
use tailback_hardware::ClassSpec;

/// Virtual channels per port.
const VCS: usize = 4;

/// Words of a set of ports, at most.
const WORDS_MAX: usize = 4;

/// All routers of a region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plain {
    rules: Rules,
    /// Ports per router, and words of a set of them.
    ports: u32,
    words: u32,
    incoming: Vec<InPort>,
    outgoing: Vec<OutPort>,
    departures: Departures,
    /// Set of routers with something to allocate.
    busy: Vec<u64>,
    allocation_due: bool,
    /// By router: set of ports with an awake queue, whose crossbar connection is free.
    active: Vec<u64>,
    /// By port: set of ports beyond the first 64 at which a queue sleeps until this port's output changes.
    more_waiters: Vec<u64>,
    packet_hops: u64,
    last_hop: Time,
    #[serde(skip)]
    scratch: allocate::Scratch,
}

impl Plain {
    #[inline]
    fn index(&self, place: Place) -> usize {
        place.router as usize * self.ports as usize + usize::from(place.port)
    }

    fn place(&self, index: usize) -> Place {
        Place { router: index as u32 / self.ports, port: (index as u32 % self.ports) as u8 }
    }

    /// The allocator shall look at a port.
    #[inline]
    fn activate(&mut self, place: Place) {
        self.active[(place.router * self.words) as usize + usize::from(place.port) / 64] |= 1 << (place.port % 64);
        self.busy[place.router as usize / 64] |= 1 << (place.router % 64);
        self.allocation_due = true;
    }

    /// The allocator need not look at a port until it is activated.
    #[inline]
    fn deactivate(&mut self, place: Place) {
        self.active[(place.router * self.words) as usize + usize::from(place.port) / 64] &= !(1 << (place.port % 64));
    }

    /// Brings a port with an awake queue to the notice of the allocator: at once, or when its crossbar connection is
    /// free.
    #[inline]
    fn rouse(&mut self, place: Place, now: Time, around: &mut Surroundings<'_>) {
        let index = self.index(place);
        let port = &mut self.incoming[index];
        if port.busy_until <= now {
            self.activate(place);
        } else if !port.free_scheduled {
            port.free_scheduled = true;
            around.schedule(port.busy_until, Event::at_port(EventKind::InputFree, place.router, place.port, 0));
        }
    }

    /// Where the head of a queue wants to go.
    #[inline]
    fn wish(&mut self, place: Place, vc: u8, now: Time, around: &mut Surroundings<'_>) -> Wish {
        let index = self.index(place);
        let port = &self.incoming[index];
        let wish = port.wish(vc);
        if wish.is_settled() {
            return wish;
        }
        let packet = port.head(vc);
        let class = around.pool[packet].class;
        let spec = &around.fabric.spec.classes[usize::from(class)];
        let outgoing = self.outgoing_of(place.router);
        let link_class = usize::from(port.link_class);
        let entry = Lane { port: place.port, vc: vc - spec.first_vc[link_class] };
        let flits = port.head_flits(vc);
        let step =
            around.route(place.router, packet, entry, self.outputs(place.router, class, flits, now, around.fabric));
        let link_class = usize::from(outgoing[usize::from(step.port)].link.class);
        debug_assert!(step.vc + step.vcs <= spec.vcs[link_class], "routing uses channels that it did not ask for");
        let wish = Wish { port: step.port, vc: spec.first_vc[link_class] + step.vc, vcs: step.vcs };
        if around.fabric.revises(class) {
            self.scratch.set_header(place.port, step.header);
        } else {
            around.pool[packet].header = step.header;
            self.incoming[index].settle(vc, wish);
        }
        wish
    }

    /// The traffic class of a virtual channel of an input, and the lane it is to a routing agent.
    fn entry(&self, place: Place, vc: u8, fabric: &Fabric) -> (u8, Lane) {
        let link_class = self.incoming[self.index(place)].link_class;
        let class = fabric.class_of(link_class, vc);
        let first = fabric.spec.classes[usize::from(class)].first_vc[usize::from(link_class)];
        (class, Lane { port: place.port, vc: vc - first })
    }

    /// Tells the routing agent that the packet that crossed from a port has left it, and who is head now.
    fn tell_of_crossing(&self, place: Place, around: &mut Surroundings<'_>) {
        let port = &self.incoming[self.index(place)];
        let (class, entry) = self.entry(place, port.last_vc, around.fabric);
        around.tell_left(place.router, class, entry);
        let head = port.head(port.last_vc);
        if head != NONE {
            around.tell_head(place.router, head, entry);
        }
    }

    fn outgoing_of(&self, router: u32) -> &[OutPort] {
        let ports = self.ports as usize;
        &self.outgoing[router as usize * ports..(router as usize + 1) * ports]
    }

    /// Puts the head of a queue to sleep until something changes at output `to`.
    fn sleep(&mut self, place: Place, vc: u8, to: u8) {
        let index = self.index(place);
        let port = &mut self.incoming[index];
        port.awake &= !(1 << vc);
        port.asleep |= 1 << vc;
        if port.awake == 0 {
            self.deactivate(place);
        }
        let output = self.index(Place { port: to, ..place });
        match usize::from(place.port) / 64 {
            0 => self.outgoing[output].waiters |= 1 << place.port,
            word => self.more_waiters[output * (WORDS_MAX - 1) + word - 1] |= 1 << (place.port % 64),
        }
    }

    /// Makes sure that those who sleep at an output are woken when the crossbar is done there, and when a departing packet
    /// has made room.
    fn schedule_waking(&mut self, to: Place, now: Time, around: &mut Surroundings<'_>) {
        let index = self.index(to);
        self.schedule_output_free(index, to, now, around);
        if self.rules.bounded {
            self.departures.catch_up(index, &mut self.outgoing[index], now);
            let port = &mut self.outgoing[index];
            let short = port.space < u32::from(self.rules.packet_flits_max);
            if short
                && !port.room_scheduled
                && let Some(departure) = self.departures.first(index, port)
            {
                port.room_scheduled = true;
                // Room is seen by allocations after the tick in which it is made.
                around.schedule(departure.time + 1, Event::at_port(EventKind::RoomFree, to.router, to.port, 0));
            }
        }
    }

    #[inline]
    fn schedule_output_free(&mut self, index: usize, to: Place, now: Time, around: &mut Surroundings<'_>) {
        let port = &mut self.outgoing[index];
        if port.busy_until > now && !port.free_scheduled {
            port.free_scheduled = true;
            around.schedule(port.busy_until, Event::at_port(EventKind::OutputFree, to.router, to.port, 0));
        }
    }

    #[inline]
    fn has_waiters(&self, index: usize) -> bool {
        self.outgoing[index].waiters != 0
            || (self.words > 1 && self.more_waiters[index * (WORDS_MAX - 1)..][..WORDS_MAX - 1].iter().any(|&w| w != 0))
    }

    /// Something changed at an output: wakes those that sleep there, unless the crossbar is still busy with it; then they
    /// are woken when it is done.
    #[inline]
    fn notify(&mut self, to: Place, now: Time, around: &mut Surroundings<'_>) {
        let index = self.index(to);
        if !self.has_waiters(index) {
            return;
        }
        if self.outgoing[index].busy_until > now {
            self.schedule_output_free(index, to, now, around);
            return;
        }
        for word in 0..self.words as usize {
            let waiters = match word {
                0 => &mut self.outgoing[index].waiters,
                word => &mut self.more_waiters[index * (WORDS_MAX - 1) + word - 1],
            };
            let mut sleepers = std::mem::take(waiters);
            while sleepers != 0 {
                let port = (word as u32 * 64 + sleepers.trailing_zeros()) as u8;
                sleepers &= sleepers - 1;
                self.wake(Place { port, ..to }, to.port, now, around);
            }
        }
    }

    /// Wakes the queues of a port whose heads want to leave by `to`.
    #[inline]
    fn wake(&mut self, place: Place, to: u8, now: Time, around: &mut Surroundings<'_>) {
        let index = self.index(place);
        let port = &mut self.incoming[index];
        let mut woken = 0;
        for vc in 0..VCS as u8 {
            if port.asleep & 1 << vc != 0 && port.wish(vc).port == to {
                woken |= 1 << vc;
            }
        }
        if woken != 0 {
            port.asleep &= !woken;
            port.awake |= woken;
            self.rouse(place, now, around);
        }
    }
}

impl Routers for Plain {
    fn suits(shape: &Shape, rules: &Rules) -> bool {
        shape.vcs <= VCS
            && (shape.rows, shape.inputs, shape.outputs, shape.lanes) == (1, 1, 1, 1)
            && rules.departs_in_order
            && rules.head_delay == 0
            && rules.iterations == 1
            && rules.serves_by_turns()
            && !rules.ejects_when_idle
            && rules.ejection_vcs == 1
            && rules.one_priority
            && !rules.outputs_first
            && !rules.vc_allocation
            && !rules.routes_on_arrival
            && !rules.occupies_links
            && !rules.measures_queues
            && !rules.speaks
            && !rules.marks
    }

    fn new(fabric: &Fabric, links: &[Link]) -> Self {
        let shape = fabric.shape;
        let routers = links.len() / shape.ports;
        let more = if shape.words > 1 { links.len() * (WORDS_MAX - 1) } else { 0 };
        Self {
            rules: fabric.rules,
            ports: shape.ports as u32,
            words: shape.words as u32,
            incoming: links.iter().map(InPort::new).collect(),
            outgoing: links.iter().map(|link| OutPort::new(fabric, *link)).collect(),
            departures: Departures::new(links.len(), shape.departures),
            busy: vec![0; routers.div_ceil(64)],
            allocation_due: false,
            active: vec![0; routers * shape.words],
            more_waiters: vec![0; more],
            packet_hops: 0,
            last_hop: 0,
            scratch: allocate::Scratch::default(),
        }
    }

    #[inline]
    fn arrive(&mut self, place: Place, packet: u32, now: Time, around: &mut Surroundings<'_>) {
        let record = &mut around.pool[packet];
        debug_assert_eq!(record.head_at, now, "a packet arrives when it says");
        record.next = NONE;
        let (vc, flits) = (record.vc, record.flits);
        let index = self.index(place);
        match self.incoming[index].push(vc, packet, flits) {
            Some(last) => around.pool[last].next = packet,
            None => {
                if self.rules.tells_heads && !self.incoming[index].is_crossing(vc) {
                    around.tell_head(place.router, packet, self.entry(place, vc, around.fabric).1);
                }
                self.rouse(place, now, around);
            }
        }
    }

    #[inline]
    fn receive_credit(&mut self, place: Place, vc: u8, flits: u16, now: Time, around: &mut Surroundings<'_>) {
        let index = self.index(place);
        let port = &mut self.outgoing[index];
        port.free[usize::from(vc)] += flits;
        debug_assert!(
            port.free[usize::from(vc)] <= around.fabric.capacity(port.link.class, vc.into()),
            "more credits than the buffer has"
        );
        if self.rules.tells_changes {
            around.gossip.note_change(place.router);
        }
        self.notify(place, now, around);
    }

    fn input_free(&mut self, place: Place, _vc: u8, now: Time, around: &mut Surroundings<'_>) {
        let index = self.index(place);
        let port = &mut self.incoming[index];
        port.free_scheduled = false;
        if self.rules.tells_heads {
            self.tell_of_crossing(place, around);
        }
        if self.incoming[index].awake != 0 {
            self.rouse(place, now, around);
        }
    }

    fn output_free(&mut self, place: Place, _vc: u8, now: Time, around: &mut Surroundings<'_>) {
        let index = self.index(place);
        self.outgoing[index].free_scheduled = false;
        self.notify(place, now, around);
    }

    fn room_free(&mut self, place: Place, now: Time, around: &mut Surroundings<'_>) {
        let index = self.index(place);
        self.outgoing[index].room_scheduled = false;
        self.notify(place, now, around);
    }

    fn head_ready(&mut self, _: Place, _: u8, _: u8, _: Time, _: &mut Surroundings<'_>) {
        unreachable!("in plain routers heads are ready at once");
    }

    fn lose_patience(&mut self, _: Place, _: u32, _: Time, _: &mut Surroundings<'_>) {
        unreachable!("plain routers drop nothing")
    }

    fn start_link(&mut self, _: Place, _: u32, _: Time, _: &mut Surroundings<'_>) {
        unreachable!("in plain routers packets are sent off when they cross");
    }

    fn start_links_now(&mut self, _: Time, _: &mut Surroundings<'_>) {}

    #[inline]
    fn allocation_due(&self) -> bool {
        self.allocation_due
    }

    fn allocate(&mut self, now: Time, around: &mut Surroundings<'_>) {
        self.allocation_due = false;
        for word in 0..self.busy.len() {
            let mut routers = std::mem::take(&mut self.busy[word]);
            while routers != 0 {
                let router = word as u32 * 64 + routers.trailing_zeros();
                routers &= routers - 1;
                self.allocate_at(router, now, around);
            }
        }
    }

    #[inline]
    fn outputs<'a>(&'a self, router: u32, class: u8, flits: u16, now: Time, fabric: &'a Fabric) -> impl Outputs {
        let first = router as usize * self.ports as usize;
        let spec = &fabric.spec;
        PlainOutputs {
            routers: self,
            first,
            class: &spec.classes[usize::from(class)],
            buffers: &spec.input_buffers,
            flits,
            now,
        }
    }

    fn occupy_links(&mut self, _router: u32, _link_class: u8, _flits: u16, _now: Time) {
        unreachable!("packets that have crossed are sent off already: plain routers do not suit");
    }

    #[inline]
    fn glance(&self, place: Place) -> u32 {
        let index = self.index(place);
        self.incoming[index].busy_until ^ self.outgoing[index].busy_until
    }

    fn read_through(&self) -> u32 {
        let incoming = self.incoming.iter().fold(0, |sum, port| sum ^ port.busy_until);
        self.outgoing.iter().fold(incoming, |sum, port| sum ^ port.busy_until)
    }

    fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    fn last_hop(&self) -> Time {
        self.last_hop
    }

    fn is_crossing(&self, place: Place, vc: u8, now: Time) -> bool {
        let port = &self.incoming[self.index(place)];
        port.busy_until > now && port.last_vc == vc
    }

    fn visit_packets(&self, pool: &Pool, visit: &mut dyn FnMut(Held)) {
        for (index, port) in self.incoming.iter().enumerate() {
            let place = self.place(index);
            for vc in 0..VCS as u8 {
                let wish = port.wish(vc);
                let wish = wish.is_settled().then_some((wish.port, wish.vc, wish.vcs));
                let wishes = std::iter::once(wish).chain(std::iter::repeat(None));
                for (packet, wish) in pool.list(port.head(vc)).zip(wishes) {
                    visit(Held::Input { place, vc, packet, wish });
                }
            }
        }
    }

    fn free(&self, place: Place, vc: u8) -> u16 {
        self.outgoing[self.index(place)].free[usize::from(vc)]
    }

    fn flits_sent(&self, place: Place) -> u32 {
        self.outgoing[self.index(place)].flits_sent
    }
}

/// What the routing agent of a plain router sees of its outputs.
struct PlainOutputs<'a> {
    routers: &'a Plain,
    /// The number of the router's first port.
    first: usize,
    class: &'a ClassSpec,
    buffers: &'a [u16],
    flits: u16,
    now: Time,
}

impl PlainOutputs<'_> {
    #[inline]
    fn port(&self, port: u8) -> &OutPort {
        &self.routers.outgoing[self.first + usize::from(port)]
    }

    /// Whether the output queue of a port has room for the packet.
    #[inline]
    fn has_space(&self, index: usize, port: &OutPort) -> bool {
        let flits = u32::from(self.flits);
        port.space >= flits || self.routers.departures.space(index, port, self.now) >= flits
    }
}

impl Outputs for PlainOutputs<'_> {
    #[inline]
    fn channels(&self, port: u8) -> u8 {
        self.class.vcs[usize::from(self.port(port).link.class)]
    }

    #[inline]
    fn occupancy(&self, port: u8, vc: u8) -> u32 {
        let port = self.port(port);
        if port.link.is_terminal() {
            return 0;
        }
        let class = usize::from(port.link.class);
        u32::from(self.buffers[class] - port.free[usize::from(self.class.first_vc[class] + vc)])
    }

    #[inline]
    fn capacity(&self, port: u8, _vc: u8) -> u32 {
        self.buffers[usize::from(self.port(port).link.class)].into()
    }

    #[inline]
    fn waiting(&self, _port: u8) -> u32 {
        unreachable!("general routers serve routing that measures queues")
    }

    #[inline]
    fn admits(&self, port: u8, vc: u8) -> bool {
        let index = self.first + usize::from(port);
        let port = self.port(port);
        let vc = usize::from(self.class.first_vc[usize::from(port.link.class)] + vc);
        port.busy_until <= self.now
            && (port.link.is_terminal() || port.free[vc] >= self.flits)
            && self.has_space(index, port)
    }

    #[inline]
    fn open(&self, ports: PortSet, vc: u8, occupancy_max: u32) -> PortSet {
        let Some(first) = ports.first() else { return ports };
        let class = usize::from(self.port(first).link.class);
        let vc = usize::from(self.class.first_vc[class] + vc);
        // Terminals, which have no buffer behind them, are not asked about in sets.
        let free_min = u32::from(self.buffers[class]).saturating_sub(occupancy_max).max(self.flits.into());
        ports.filter(|number| {
            let port = self.port(number);
            debug_assert_eq!(usize::from(port.link.class), class, "all links are of a class");
            port.busy_until <= self.now
                && u32::from(port.free[vc]) >= free_min
                && self.has_space(self.first + usize::from(number), port)
        })
    }

    #[inline]
    fn occupancy_of_all(&self, ports: PortSet, vc: u8) -> u32 {
        let Some(first) = ports.first() else { return 0 };
        let class = usize::from(self.port(first).link.class);
        let vc = usize::from(self.class.first_vc[class] + vc);
        ports.iter().map(|port| u32::from(self.buffers[class] - self.port(port).free[vc])).sum()
    }
}
