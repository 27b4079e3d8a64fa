//! A region: some routers with their nodes, and the events they wait for.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tailback_engine::{Mail, NEVER, Outbox, Region, Snapshot, SnapshotError, Tick, Wheel, read_value, write_value};
use tailback_random::Stream;
use tailback_routing::Agent;
use tailback_topology::{LinkClass, NodeId, Port, RouterId};

use crate::Observer;
use crate::event::{Event, EventKind, TickEvents, credited};
use crate::fabric::Fabric;
use crate::gossip::{Gossip, Posting};
use crate::nic::NodeState;
use crate::packet::{Packet, Pool};
use crate::router::{Held, Microarchitecture, Place, Surroundings};
use crate::time::{Time, time};

/// What a region sends another. Each comes with the event that it causes there, in the numbers of the receiver.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NetworkMail {
    /// Packets whose first flit arrives at a port; when, they say themselves.
    pub(crate) packets: Vec<(Event, Packet)>,
    /// Credits.
    pub(crate) credits: Vec<(Tick, Event)>,
    /// What routing agents tell each other.
    pub(crate) postings: Vec<(Tick, Posting)>,
}

impl Mail for NetworkMail {
    fn clear(&mut self) {
        self.packets.clear();
        self.credits.clear();
        self.postings.clear();
    }
}

/// A packet that contends for an output of a router.
#[derive(Clone, Copy, Debug)]
pub enum Contender<'a> {
    /// It is the head of its queue.
    Head(&'a Packet),
    /// It is on its way through the crossbar, and its last flit has not left its queue.
    Crossing,
}

/// Some routers, of microarchitecture `M`, with their nodes.
pub struct NetworkRegion<O, M> {
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) index: u32,
    /// The routers of this region, by their numbers in the network.
    pub(crate) router_ids: Vec<RouterId>,
    /// The nodes of this region, by their numbers in the network.
    pub(crate) node_ids: Vec<NodeId>,
    /// By node: the port it hangs on.
    pub(crate) attachments: Vec<Place>,
    pub(crate) wheel: Wheel<Event>,
    pub(crate) pool: Pool,
    pub(crate) routers: M,
    pub(crate) nodes: NodeState,
    pub(crate) gossip: Gossip,
    /// By traffic class, then by router.
    pub(crate) agents: Vec<Box<dyn Agent>>,
    /// The random streams of the routers.
    pub(crate) streams: Vec<Stream>,
    pub(crate) observer: O,
    /// The first tick that has not been simulated.
    pub(crate) present: Time,
    /// The events of the tick that is being simulated; absent while they are handled. Boxed, as it is large and moves twice
    /// a tick.
    pub(crate) events: Option<Box<TickEvents>>,
}

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
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
        self.routers.packet_hops()
    }

    /// Packets that are in the network or, as control packets, wait to enter it.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.pool.len()
    }

    /// Shows each link of the region: its router and port, its class, and the flits it has been given so far, modulo 2³².
    pub fn visit_links(&self, mut visit: impl FnMut(RouterId, Port, LinkClass, u32)) {
        for (number, &router) in self.router_ids.iter().enumerate() {
            for port in 0..self.fabric.topology.ports(router) {
                let place = Place { router: number as u32, port: port as Port };
                let class = self.fabric.topology.link_class(router, place.port);
                visit(router, place.port, class, self.routers.flits_sent(place));
            }
        }
    }

    /// Shows who contends for the outputs of routers: by router, port and virtual channel, counted through all classes, the
    /// packet that has come in there and is crossing; if there is none, the one that waits at the head of the queue.
    pub fn visit_contenders(&self, mut visit: impl FnMut(RouterId, Port, u8, Contender<'_>)) {
        let crosses = |place, vc| self.routers.is_crossing(place, vc, self.present.saturating_sub(1));
        for (number, &router) in self.router_ids.iter().enumerate() {
            for port in 0..self.fabric.topology.ports(router) {
                let place = Place { router: number as u32, port: port as Port };
                let crossing = (0..self.fabric.shape.vcs as u8).filter(|&vc| crosses(place, vc));
                crossing.for_each(|vc| visit(router, place.port, vc, Contender::Crossing));
            }
        }
        // Packets are shown queue by queue: heads are those that do not follow the one before.
        let mut behind = None;
        self.routers.visit_packets(&self.pool, &mut |held| {
            let Held::Input { place, vc, packet, .. } = held else { return };
            let is_head = behind.replace(self.pool[packet].next) != Some(packet);
            if is_head && !crosses(place, vc) {
                visit(self.router_ids[place.router as usize], place.port, vc, Contender::Head(&self.pool[packet]));
            }
        });
    }

    #[inline]
    fn next_allocation(&self) -> Tick {
        if self.routers.allocation_due() || self.gossip.state.look_due {
            self.fabric.rules.allocation_time(self.present).into()
        } else {
            NEVER
        }
    }

    /// The routers, and what they act on.
    #[inline]
    fn routers<'a>(&'a mut self, outbox: &'a mut Outbox<NetworkMail>) -> (&'a mut M, Surroundings<'a>) {
        let around = Surroundings {
            fabric: &self.fabric,
            region: self.index,
            router_ids: &self.router_ids,
            wheel: &mut self.wheel,
            pool: &mut self.pool,
            gossip: &mut self.gossip,
            agents: &mut self.agents,
            streams: &mut self.streams,
            outbox,
        };
        (&mut self.routers, around)
    }

    /// Brings into the cache of this core what is going to be needed before `until`. Where much is going on that is almost
    /// everything, and read in order it takes a fraction of the time it takes piece by piece. Otherwise it is what the
    /// events that are scheduled are about, which does not depend on each other and so comes at the same time.
    #[inline]
    fn fetch(&self, until: Tick) {
        let mut read = 0;
        if self.pool.len() > 4 * self.router_ids.len() {
            read = self.routers.read_through() ^ self.pool.read_through();
        } else {
            self.wheel.glance(until, |event| read ^= self.glance(event));
        }
        std::hint::black_box(read);
    }

    /// Reads a little of what an event is about.
    #[inline]
    fn glance(&self, event: Event) -> u32 {
        match event.kind() {
            EventKind::Message | EventKind::NodeLink | EventKind::NodeCredit => self.nodes.glance(event.node()),
            EventKind::Notice | EventKind::Broadcast => 0,
            EventKind::Delivery => self.pool[event.payload()].next,
            EventKind::Arrival => self.routers.glance(place(event)) ^ self.pool[event.payload()].next,
            _ => self.routers.glance(place(event)),
        }
    }

    /// Schedules the first broadcast of the routing agents, if they broadcast.
    pub(crate) fn schedule_broadcast(&mut self) {
        let cycles = self.fabric.interests().broadcast_cycles;
        if let Some(cycles) = cycles.filter(|_| !self.router_ids.is_empty()) {
            let period = Tick::from(cycles * self.fabric.spec.ticks_per_cycle);
            self.wheel.schedule(period, Event::at_node(EventKind::Broadcast, 0, 0));
        }
    }

    /// Simulates one tick.
    fn step(&mut self, tick: Tick, outbox: &mut Outbox<NetworkMail>) {
        let now = time(tick);
        let mut events = self.events.take().unwrap_or_default();
        self.wheel.take(tick, |event| events.push(event));
        // The effects of events of one kind commute, as they are on different ports or nodes, but where packets are
        // routed as they arrive and draw from their router's random stream.
        if self.fabric.rules.routes_on_arrival || cfg!(debug_assertions) {
            events.sort();
        }
        let (routers, mut around) = self.routers(outbox);
        if events.any_early() {
            take_early(routers, &mut around, &events, now);
        }
        if around.fabric.rules.allocation_time(now) == now {
            around.listen(routers, &events, now);
            if routers.allocation_due() {
                routers.allocate(now, &mut around);
            }
        }
        for event in events.of(EventKind::LinkStart) {
            routers.start_link(place(event), event.payload(), now, &mut around);
        }
        routers.start_links_now(now, &mut around);
        if events.any_of_nodes() {
            self.take_late(&events, now);
        }
        events.clear();
        self.events = Some(events);
        self.present = now + 1;
    }

    /// Handles what nodes do.
    #[inline]
    fn take_late(&mut self, events: &TickEvents, now: Time) {
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
}

/// Handles what changes the state that routers allocate by.
#[inline]
fn take_early<M: Microarchitecture>(routers: &mut M, around: &mut Surroundings<'_>, events: &TickEvents, now: Time) {
    for event in events.of(EventKind::Arrival) {
        routers.arrive(place(event), event.payload(), now, around);
    }
    for event in events.of(EventKind::Credit) {
        let (vc, flits) = credited(event.payload());
        routers.receive_credit(place(event), vc, flits, now, around);
    }
    for event in events.of(EventKind::InputFree) {
        routers.input_free(place(event), event.payload() as u8, now, around);
    }
    for event in events.of(EventKind::OutputFree) {
        routers.output_free(place(event), event.payload() as u8, now, around);
    }
    for event in events.of(EventKind::RoomFree) {
        routers.room_free(place(event), now, around);
    }
    for event in events.of(EventKind::Notice) {
        around.gossip.post(event.payload());
    }
    for event in events.of(EventKind::HeadReady) {
        routers.head_ready(place(event), (event.payload() >> 8) as u8, event.payload() as u8, now, around);
    }
}

#[inline]
fn place(event: Event) -> Place {
    Place { router: event.router(), port: event.port() }
}

impl<O: Observer, M: Microarchitecture> Region for NetworkRegion<O, M> {
    type Mail = NetworkMail;

    fn next_tick(&self) -> Tick {
        self.wheel.next_tick().min(self.next_allocation())
    }

    fn receive(&mut self, mail: &NetworkMail) {
        for (event, packet) in &mail.packets {
            let place = self.pool.insert(packet.clone());
            self.wheel.schedule(packet.head_at.into(), event.with_payload(place));
        }
        for &(tick, event) in &mail.credits {
            self.wheel.schedule(tick, event);
        }
        for (tick, posting) in &mail.postings {
            let event = self.gossip.expect(posting.clone());
            self.wheel.schedule(*tick, event);
        }
    }

    fn advance(&mut self, until: Tick, outbox: &mut Outbox<NetworkMail>) {
        self.fetch(until);
        loop {
            let now = self.next_tick();
            if now >= until {
                break;
            }
            self.step(now, outbox);
        }
    }
}

impl<O: Observer + Serialize + DeserializeOwned, M: Microarchitecture> Snapshot for NetworkRegion<O, M> {
    fn save(&self, bytes: &mut Vec<u8>) -> Result<(), SnapshotError> {
        write_value(&(&self.wheel, &self.pool, &self.routers, &self.nodes), bytes)?;
        write_value(&(&self.streams, &self.observer, self.present, &self.gossip.state), bytes)?;
        self.agents.iter().for_each(|agent| agent.save(bytes));
        Ok(())
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), SnapshotError> {
        let (routers, nodes) = (self.streams.len(), self.nodes.nodes.len());
        (self.wheel, self.pool, self.routers, self.nodes) = read_value(bytes)?;
        (self.streams, self.observer, self.present, self.gossip.state) = read_value(bytes)?;
        let expect = |what, found: usize, expected: usize| {
            let (found, expected) = (found as u64, expected as u64);
            if found == expected { Ok(()) } else { Err(SnapshotError::Mismatch { what, found, expected }) }
        };
        expect("routers in a region", self.streams.len(), routers)?;
        expect("nodes in a region", self.nodes.nodes.len(), nodes)?;
        for agent in &mut self.agents {
            agent.load(bytes).ok_or_else(|| SnapshotError::Damaged("an agent's memory is not there".to_owned()))?;
        }
        Ok(())
    }
}
