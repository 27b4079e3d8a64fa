//! Routers: what happens at their inputs, in their crossbars and at their outputs.
//!
//! There is one description of a router, [`crate::RouterSpec`], and several microarchitectures that simulate it, each as
//! one state for all routers of a region. [`General`] does everything the description can say. [`Plain`]
//! does what most networks ask for, and is written for speed; where both can do a job they do the same.

mod general;
mod plain;

pub use general::General;
pub use plain::Plain;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tailback_engine::{Outbox, Tick, Wheel};
use tailback_random::Stream;
use tailback_routing::{Agent, Board, Lane, Notice, PortSet, Step, View};
use tailback_topology::RouterId;

use crate::event::{Event, EventKind, TickEvents, credit};
use crate::fabric::{Fabric, Rules, Shape};
use crate::gossip::Gossip;
use crate::link::{FarKind, Link};
use crate::machines::Machines;
use crate::packet::Pool;
use crate::region::NetworkMail;
use crate::time::Time;

/// All routers of a region, of one microarchitecture.
///
/// Everything that happens to a router comes in by one of these methods, and everything that it causes goes out by the
/// `Surroundings`.
pub trait Microarchitecture: sealed::Routers {}

impl<M: sealed::Routers> Microarchitecture for M {}

pub(crate) mod sealed {
    use super::{
        DeserializeOwned, Fabric, Held, Link, Outputs, Place, Pool, Rules, Serialize, Shape, Surroundings, Time,
    };

    /// What a microarchitecture does. Only this crate can add one.
    pub trait Routers: Send + Sized + Serialize + DeserializeOwned {
        /// Whether it can do what the description says.
        fn suits(shape: &Shape, rules: &Rules) -> bool;

        /// Empty routers whose ports have the given links, router by router.
        fn new(fabric: &Fabric, links: &[Link]) -> Self;

        /// The first flit of a packet arrives at a port.
        fn arrive(&mut self, place: Place, packet: u32, now: Time, around: &mut Surroundings<'_>);

        /// Credits arrive at a port.
        fn receive_credit(&mut self, place: Place, vc: u8, flits: u16, now: Time, around: &mut Surroundings<'_>);

        /// The crossbar is done with a packet that came in by a port.
        fn input_free(&mut self, place: Place, vc: u8, now: Time, around: &mut Surroundings<'_>);

        /// The crossbar is done with a packet that leaves by a port.
        fn output_free(&mut self, place: Place, vc: u8, now: Time, around: &mut Surroundings<'_>);

        /// A departing packet has made room in the output queue of a port.
        fn room_free(&mut self, place: Place, now: Time, around: &mut Surroundings<'_>);

        /// The head of a queue of a port may ask for the crossbar.
        fn head_ready(&mut self, place: Place, row: u8, vc: u8, now: Time, around: &mut Surroundings<'_>);

        /// The head of a queue of a port may have waited for too long; `payload` says which. Only routers that drop packets
        /// are told.
        fn lose_patience(&mut self, place: Place, payload: u32, now: Time, around: &mut Surroundings<'_>);

        /// A link may start a packet; `serial` is the number of this announcement.
        fn start_link(&mut self, place: Place, serial: u32, now: Time, around: &mut Surroundings<'_>);

        /// Starts the links that credits of this tick let start at once.
        fn start_links_now(&mut self, now: Time, around: &mut Surroundings<'_>);

        /// Whether some router has something to allocate.
        fn allocation_due(&self) -> bool;

        /// One allocation at each router that has something to allocate.
        fn allocate(&mut self, now: Time, around: &mut Surroundings<'_>);

        /// What the routing agent of a router sees of its outputs, for a packet of a traffic class and size.
        fn outputs<'a>(&'a self, router: u32, class: u8, flits: u16, now: Time, fabric: &'a Fabric) -> impl Outputs;

        /// Keeps the links of a class of a router busy with other things than packets.
        fn occupy_links(&mut self, router: u32, link_class: u8, flits: u16, now: Time);

        /// Reads a little of what belongs to a port.
        fn glance(&self, place: Place) -> u32;

        /// Reads a little of every part of the state, in order.
        fn read_through(&self) -> u32;

        /// Packets that have crossed a router so far, each counted once per router.
        fn packet_hops(&self) -> u64;

        /// When a packet last crossed a router.
        fn last_hop(&self) -> Time;

        /// Whether a packet is crossing after tick `now` that was the head of a queue of virtual channel `vc` of a port.
        fn is_crossing(&self, place: Place, vc: u8, now: Time) -> bool;

        /// Shows all packets that routers hold.
        fn visit_packets(&self, pool: &Pool, visit: &mut dyn FnMut(Held));

        /// Free flits in the buffer of a virtual channel at the other end of a port's link.
        fn free(&self, place: Place, vc: u8) -> u16;

        /// Flits that a port's link has been given so far, modulo 2³².
        fn flits_sent(&self, place: Place) -> u32;
    }
}

/// What a routing agent sees of the outputs of its router, for a packet of one traffic class: see [`View`].
pub trait Outputs {
    /// As [`View::channels`].
    fn channels(&self, port: u8) -> u8;
    /// As [`View::occupancy`].
    fn occupancy(&self, port: u8, vc: u8) -> u32;
    /// As [`View::capacity`].
    fn capacity(&self, port: u8, vc: u8) -> u32;
    /// As [`View::waiting`].
    fn waiting(&self, port: u8) -> u32;
    /// As [`View::admits`].
    fn admits(&self, port: u8, vc: u8) -> bool;
    /// As [`View::open`].
    #[inline]
    fn open(&self, ports: PortSet, vc: u8, occupancy_max: u32) -> PortSet {
        ports.filter(|port| self.occupancy(port, vc) <= occupancy_max && self.admits(port, vc))
    }
    /// As [`View::occupancy_of_all`].
    #[inline]
    fn occupancy_of_all(&self, ports: PortSet, vc: u8) -> u32 {
        ports.iter().map(|port| self.occupancy(port, vc)).sum()
    }
}

/// What a routing agent sees.
struct RouterView<'a, T> {
    outputs: T,
    board: &'a Board,
}

impl<T: Outputs> View for RouterView<'_, T> {
    #[inline]
    fn channels(&self, port: u8) -> u8 {
        self.outputs.channels(port)
    }

    #[inline]
    fn occupancy(&self, port: u8, vc: u8) -> u32 {
        self.outputs.occupancy(port, vc)
    }

    #[inline]
    fn capacity(&self, port: u8, vc: u8) -> u32 {
        self.outputs.capacity(port, vc)
    }

    #[inline]
    fn waiting(&self, port: u8) -> u32 {
        self.outputs.waiting(port)
    }

    #[inline]
    fn admits(&self, port: u8, vc: u8) -> bool {
        self.outputs.admits(port, vc)
    }

    #[inline]
    fn open(&self, ports: PortSet, vc: u8, occupancy_max: u32) -> PortSet {
        self.outputs.open(ports, vc, occupancy_max)
    }

    #[inline]
    fn occupancy_of_all(&self, ports: PortSet, vc: u8) -> u32 {
        self.outputs.occupancy_of_all(ports, vc)
    }

    #[inline]
    fn board(&self) -> &Board {
        self.board
    }
}

/// A port of a router of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The router, as the region numbers it.
    pub(crate) router: u32,
    /// The port.
    pub(crate) port: u8,
}

/// A packet that a router holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It is in the input buffer of virtual channel `vc` of `place`.
    Input {
        /// The port.
        place: Place,
        /// The virtual channel.
        vc: u8,
        /// The packet.
        packet: u32,
        /// Where it wants to go, if it is a head and settled: the port, the first channel that will do, how many.
        wish: Option<(u8, u8, u8)>,
    },
    /// It is in the output queue of `place`, has claimed what it needs, and will leave by channel `vc`.
    Output {
        /// The port.
        place: Place,
        /// The virtual channel.
        vc: u8,
        /// The packet.
        packet: u32,
        /// Whether it has claimed its room at the other end.
        claimed: bool,
    },
}

/// What routers act on, beside themselves.
pub struct Surroundings<'a> {
    pub(crate) fabric: &'a Fabric,
    /// The number of the region.
    pub(crate) region: u32,
    /// Its routers, by their numbers in the network.
    pub(crate) router_ids: &'a [RouterId],
    pub(crate) wheel: &'a mut Wheel<Event>,
    pub(crate) pool: &'a mut Pool,
    pub(crate) gossip: &'a mut Gossip,
    /// By traffic class, then by router.
    pub(crate) agents: &'a mut [Box<dyn Agent>],
    /// The random streams of the routers.
    pub(crate) streams: &'a mut [Stream],
    /// The machines of the protocol.
    pub(crate) machines: &'a mut Machines,
    pub(crate) outbox: &'a mut Outbox<NetworkMail>,
}

impl Surroundings<'_> {
    #[inline]
    pub fn schedule(&mut self, time: Time, event: Event) {
        self.wheel.schedule(Tick::from(time), event);
    }

    /// Asks the routing agent of a router where the packet shall go that came in by `entry`.
    #[inline]
    pub fn route(&mut self, router: u32, packet: u32, entry: Lane, outputs: impl Outputs) -> Step {
        let packet = &self.pool[packet];
        let agent = usize::from(packet.class) * self.streams.len() + router as usize;
        let view = RouterView { outputs, board: self.gossip.board(packet.class, router) };
        let step = self.agents[agent].route(entry, &packet.header, &view, &mut self.streams[router as usize]);
        if cfg!(debug_assertions) {
            self.fabric.assert_named(self.router_ids[router as usize], packet.class, entry, &step);
        }
        step
    }

    /// Tells the routing agent of a router that a packet has become head of its queue.
    pub fn tell_head(&mut self, router: u32, packet: u32, entry: Lane) {
        let packet = &self.pool[packet];
        let agent = usize::from(packet.class) * self.streams.len() + router as usize;
        self.agents[agent].head_arrived(entry, &packet.header);
    }

    /// Tells the routing agent of a router and a traffic class that the head of a queue has left it.
    pub fn tell_left(&mut self, router: u32, class: u8, entry: Lane) {
        self.agents[usize::from(class) * self.streams.len() + router as usize].tail_left(entry);
    }

    /// Lets agents look around and broadcast, before routers allocate.
    #[inline]
    pub(crate) fn listen(&mut self, routers: &mut impl Microarchitecture, events: &TickEvents, now: Time) {
        if self.gossip.state.look_due {
            self.look_around(routers, now);
        }
        if events.of(EventKind::Broadcast).next().is_some() {
            self.broadcast(routers, now);
        }
    }

    /// Lets the agents of all routers look around at whose outputs something has changed.
    fn look_around(&mut self, routers: &impl Microarchitecture, now: Time) {
        while let Some(router) = self.gossip.next_changed() {
            for class in 0..self.fabric.spec.classes.len() as u8 {
                let outputs = routers.outputs(router, class, 0, now, self.fabric);
                let view = RouterView { outputs, board: self.gossip.board(class, router) };
                let agent = usize::from(class) * self.streams.len() + router as usize;
                if let Some(notice) = self.agents[agent].look(&view) {
                    self.tell(class, router, notice, now);
                }
            }
        }
    }

    /// Lets all agents broadcast, which may take a while of the links they do it by.
    fn broadcast(&mut self, routers: &mut impl Microarchitecture, now: Time) {
        let interests = self.fabric.interests();
        for agent in 0..self.agents.len() {
            let (class, router) = (agent / self.streams.len(), (agent % self.streams.len()) as u32);
            if let Some(notice) = self.agents[agent].broadcast() {
                self.tell(class as u8, router, notice, now);
                if let Some(link) = interests.notices.filter(|_| interests.broadcast_flits > 0) {
                    routers.occupy_links(router, link.0, interests.broadcast_flits, now);
                }
            }
        }
        let period = interests.broadcast_cycles.map_or(0, |cycles| cycles * self.fabric.spec.ticks_per_cycle);
        self.schedule(now + period, Event::at_node(EventKind::Broadcast, 0, 0));
    }

    fn tell(&mut self, class: u8, router: u32, notice: Notice, now: Time) {
        let (tick, event) = self.gossip.tell(class, router, notice, now.into(), self.outbox);
        self.wheel.schedule(tick, event);
    }

    /// Sends a packet's first flit by a link to a router, to arrive when the packet says.
    #[inline]
    pub fn send_packet(&mut self, link: &Link, packet: u32) {
        let arrival = Tick::from(self.pool[packet].head_at);
        if link.far_region == self.region {
            let event = Event::at_port(EventKind::Arrival, link.far, link.far_port, packet);
            self.wheel.schedule(arrival, event);
        } else {
            let event = Event::at_port(EventKind::Arrival, link.far, link.far_port, 0);
            let packet = self.pool.remove(packet);
            self.outbox.mail(link.far_region, arrival).packets.push((event, packet));
        }
    }

    /// Sends a packet's first flit by a link to a node, whose last flit arrives when the packet says.
    #[inline]
    pub fn send_to_node(&mut self, link: &Link, packet: u32) {
        let arrival = self.pool[packet].tail_at();
        self.schedule(arrival, Event::at_node(EventKind::Delivery, link.far, packet));
    }

    /// Returns credits for `flits` flits of a virtual channel to whatever feeds a port by its link.
    #[inline]
    pub fn return_credit(&mut self, link: &Link, vc: u8, flits: u16, now: Time) {
        let tick = Tick::from(now + link.credit_latency);
        match link.kind {
            FarKind::Router => {
                let event = Event::at_port(EventKind::Credit, link.far, link.far_port, credit(vc, flits));
                if link.far_region == self.region {
                    self.wheel.schedule(tick, event);
                } else {
                    self.outbox.mail(link.far_region, tick).credits.push((tick, event));
                }
            }
            FarKind::Node => {
                self.wheel.schedule(tick, Event::at_node(EventKind::NodeCredit, link.far, credit(vc, flits)));
            }
            // What the router has said itself.
            FarKind::Open => {}
        }
    }
}
