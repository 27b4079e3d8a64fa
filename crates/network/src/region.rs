//! A region: some routers with their nodes, and the events they wait for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_engine::{Mail, NEVER, Outbox, Region, Tick, Wheel};
use tailback_random::Stream;
use tailback_routing::Agent;
use tailback_topology::{NodeId, RouterId};

use crate::Observer;
use crate::event::{Event, EventKind, TickEvents, credit};
use crate::fabric::{Fabric, Rules, Shape};
use crate::link::Far;
use crate::nic::NodeState;
use crate::packet::{Packet, Pool};
use crate::router::{RouterState, Scratch};

/// What a region sends another. Each comes with the event that it causes there, in the numbers of the receiver.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NetworkMail {
    /// Packets whose first flit arrives at a port; when, they say themselves.
    packets: Vec<(Event, Packet)>,
    /// Credits.
    credits: Vec<(Tick, Event)>,
}

impl Mail for NetworkMail {
    fn clear(&mut self) {
        self.packets.clear();
        self.credits.clear();
    }
}

/// Some routers with their nodes.
///
/// `V` is for how many virtual channels per port there is room. `PLAIN` says that routers have one crossbar connection
/// per port and direction, one output queue per port, and no virtual output queues: then the many questions
/// whether there is more than one cost nothing.
pub struct NetworkRegion<O, const V: usize, const PLAIN: bool> {
    pub(crate) fabric: Arc<Fabric>,
    /// Parts of the fabric that are looked up all the time.
    pub(crate) shape: Shape,
    pub(crate) rules: Rules,
    pub(crate) index: u32,
    /// The routers of this region, by their numbers in the network.
    pub(crate) router_ids: Vec<RouterId>,
    /// The nodes of this region, by their numbers in the network.
    pub(crate) node_ids: Vec<NodeId>,
    /// By node: the router and port it hangs on.
    pub(crate) attachments: Vec<(u32, u8)>,
    /// By port: the link class.
    pub(crate) port_classes: Vec<u8>,
    pub(crate) wheel: Wheel<Event>,
    pub(crate) pool: Pool,
    pub(crate) routers: RouterState<V, PLAIN>,
    pub(crate) nodes: NodeState,
    /// By traffic class, then by router.
    pub(crate) agents: Vec<Box<dyn Agent>>,
    /// The random streams of the routers.
    pub(crate) streams: Vec<Stream>,
    pub(crate) observer: O,
    /// The first tick that has not been simulated.
    pub(crate) present: Tick,
    /// Whether some router has something to allocate.
    pub(crate) allocation_due: bool,
    pub(crate) scratch: Scratch,
    pub(crate) events: TickEvents,
}

impl<O: Observer, const V: usize, const PLAIN: bool> NetworkRegion<O, V, PLAIN> {
    /// Who takes notes here.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// Who takes notes here.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Packets that have crossed a router, each counted once per router.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        self.routers.packet_hops
    }

    /// Packets that are in the network or, as control packets, wait to enter it.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.pool.len()
    }

    #[inline]
    fn next_allocation(&self) -> Tick {
        if self.allocation_due { self.rules.allocation_tick(self.present) } else { NEVER }
    }

    /// Simulates one tick.
    fn step(&mut self, now: Tick, outbox: &mut Outbox<NetworkMail>) {
        let mut events = std::mem::take(&mut self.events);
        self.wheel.take(now, |event| events.push(event));
        // The effects of events of one kind commute, as they are on different ports or nodes, but where packets are
        // routed as they arrive and draw from their router's random stream.
        if self.rules.routes_on_arrival || cfg!(debug_assertions) {
            events.sort();
        }
        if events.any_early() {
            self.handle_early(&events, now);
        }
        if self.allocation_due && self.rules.allocation_tick(now) == now {
            self.allocate_all(now, outbox);
        }
        if events.any_late() {
            self.handle_late(&events, now, outbox);
        }
        if !PLAIN && !self.scratch.starts_now.is_empty() {
            self.start_links_now(now, outbox);
        }
        events.clear();
        self.events = events;
        self.present = now + 1;
    }

    /// Handles what changes the state that routers allocate by.
    #[inline]
    fn handle_early(&mut self, events: &TickEvents, now: Tick) {
        for event in events.of(EventKind::Arrival) {
            self.arrive(event.router(), event.port(), event.payload(), now);
        }
        for event in events.of(EventKind::Credit) {
            self.receive_credit(event.router(), event.port(), event.payload(), now);
        }
        for event in events.of(EventKind::InputFree) {
            self.input_free(event.router(), event.port(), event.payload() as u8, now);
        }
        for event in events.of(EventKind::OutputFree) {
            self.output_free(event.router(), event.port(), event.payload() as u8, now);
        }
        for event in events.of(EventKind::RoomFree) {
            self.room_free(event.router(), event.port(), now);
        }
        for event in events.of(EventKind::HeadReady) {
            self.head_ready(event.router(), event.port(), event.payload(), now);
        }
    }

    /// Handles what links and nodes do.
    #[inline]
    fn handle_late(&mut self, events: &TickEvents, now: Tick, outbox: &mut Outbox<NetworkMail>) {
        for event in events.of(EventKind::LinkStart) {
            self.start_link(event.router(), event.port(), event.payload(), now, outbox);
        }
        for event in events.of(EventKind::NodeCredit) {
            self.receive_node_credit(event.node(), event.payload());
        }
        for event in events.of(EventKind::Delivery) {
            self.deliver(event.node(), event.payload(), now);
        }
        for event in events.of(EventKind::NodeLink) {
            self.node_link_free(event.node());
        }
        for event in events.of(EventKind::Message) {
            self.offer_messages(event.node(), now);
        }
        self.inject_all(now);
    }

    /// Starts the links that credits of this tick let start at once.
    fn start_links_now(&mut self, now: Tick, outbox: &mut Outbox<NetworkMail>) {
        let mut starts = std::mem::take(&mut self.scratch.starts_now);
        for event in starts.drain(..) {
            self.start_link(event.router(), event.port(), event.payload(), now, outbox);
        }
        self.scratch.starts_now = starts;
    }

    /// Sends `packet`'s first flit to a port of a router, to arrive at `tick`.
    #[inline]
    pub(crate) fn send_packet(&mut self, far: Far, tick: Tick, packet: u32, outbox: &mut Outbox<NetworkMail>) {
        match far {
            Far::Router { region, router, port } if region == self.index => {
                self.wheel.schedule(tick, Event::at_port(EventKind::Arrival, router, port, packet));
            }
            Far::Router { region, router, port } => {
                let packet = self.pool.remove(packet);
                let event = Event::at_port(EventKind::Arrival, router, port, 0);
                outbox.mail(region, tick).packets.push((event, packet));
            }
            far => unreachable!("a packet is sent to {far:?}"),
        }
    }

    /// Returns credits for `flits` flits of virtual channel `vc` of a port to whatever feeds it.
    #[inline]
    pub(crate) fn return_credit(
        &mut self,
        index: u32,
        vc: u8,
        flits: u16,
        now: Tick,
        outbox: &mut Outbox<NetworkMail>,
    ) {
        let link = self.routers.port(index).link;
        let tick = now + Tick::from(link.credit_latency);
        match link.far {
            Far::Router { region, router, port } => {
                let event = Event::at_port(EventKind::Credit, router, port, credit(vc, flits));
                if region == self.index {
                    self.wheel.schedule(tick, event);
                } else {
                    outbox.mail(region, tick).credits.push((tick, event));
                }
            }
            Far::Node(node) => {
                let event = Event::at_node(EventKind::NodeCredit, node, credit(vc, flits));
                self.wheel.schedule(tick, event);
            }
            Far::Open => unreachable!("nothing comes in by an open port"),
        }
    }
}

impl<O: Observer, const V: usize, const PLAIN: bool> Region for NetworkRegion<O, V, PLAIN> {
    type Mail = NetworkMail;

    fn next_tick(&self) -> Tick {
        self.wheel.next_tick().min(self.next_allocation())
    }

    fn receive(&mut self, mail: &NetworkMail) {
        for (event, packet) in &mail.packets {
            let place = self.pool.insert(packet.clone());
            self.wheel.schedule(packet.head_at, event.with_payload(place));
        }
        for &(tick, event) in &mail.credits {
            self.wheel.schedule(tick, event);
        }
    }

    fn advance(&mut self, until: Tick, outbox: &mut Outbox<NetworkMail>) {
        loop {
            let now = self.next_tick();
            if now >= until {
                break;
            }
            self.step(now, outbox);
        }
    }
}
