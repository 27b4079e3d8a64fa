//! A region: some routers with their nodes, and the events they wait for.

mod by_port;
mod tick;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tailback_engine::{Mail, NEVER, Outbox, Region, Snapshot, SnapshotError, Tick, Wheel, read_value, write_value};
use tailback_random::Stream;
use tailback_routing::Agent;
use tailback_topology::{LinkClass, NodeId, Port, RouterId};

pub(crate) use self::by_port::ByPort;
use crate::Observer;
use crate::control_network::{ControlMessage, ControlNetwork};
use crate::event::{BROADCAST, Event, EventKind};
use crate::fabric::Fabric;
use crate::letter;
use crate::link::FarEnd;
use crate::message_trace::{MessageTrace, TraceEvent};
use crate::nic::{NodeState, Seats};
use crate::packet::{Packet, Pool};
use crate::payload::Payloads;
use crate::protocol_state::ProtocolState;
use crate::router::{Held, Microarchitecture, PortId, Routers, Surroundings};
use crate::state_broadcast::{Posting, StateBroadcast};
use crate::time::{Time, time};

/// What a region sends another. Each comes with the event that it causes there, in the numbers of the receiver.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NetworkMail {
    /// Packets that arrive at a port or a node; when, they say themselves.
    pub(crate) packets: Vec<(Event, Packet)>,
    /// Their payload, where packets have any.
    pub(crate) payloads: Vec<u64>,
    /// Credits.
    pub(crate) credits: Vec<(Tick, Event)>,
    /// What is told beside the data network, and when it arrives.
    pub(crate) out_of_band: Vec<(Tick, OutOfBand)>,
}

/// What is told beside the data network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum OutOfBand {
    /// By a routing agent to the others of its domain.
    Notice(Posting),
    /// By a part of a protocol to another.
    Message(ControlMessage),
}

impl Mail for NetworkMail {
    fn clear(&mut self) {
        self.packets.clear();
        self.payloads.clear();
        self.credits.clear();
        self.out_of_band.clear();
    }

    fn write(&self, letter: &mut Vec<u8>) -> Result<(), SnapshotError> {
        letter::write(self, letter)
    }

    fn read(&mut self, letter: &mut &[u8]) -> Result<(), SnapshotError> {
        letter::read(self, letter)
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
    /// The routers of this region, by their numbers in the network.
    pub(crate) router_ids: Vec<RouterId>,
    /// The nodes of this region, by their numbers in the network.
    pub(crate) node_ids: Vec<NodeId>,
    /// By node: the port that it injects into. Where it ejects from may be in another region.
    pub(crate) injections: Vec<u32>,
    /// By node, where nodes pause the links that lead to them: the port that such a link comes from.
    pub(crate) ejections: Vec<FarEnd>,
    pub(crate) wheel: Wheel<Event>,
    pub(crate) pool: Pool,
    pub(crate) payloads: Payloads,
    pub(crate) routers: Routers<M>,
    pub(crate) nodes: NodeState,
    pub(crate) seats: Seats,
    pub(crate) broadcasts: StateBroadcast,
    pub(crate) control_network: ControlNetwork,
    /// By traffic class, then by router.
    pub(crate) agents: Vec<Box<dyn Agent>>,
    /// The random streams of the routers.
    pub(crate) streams: Vec<Stream>,
    /// The protocol's part of the region.
    pub(crate) protocol: ProtocolState,
    /// What has happened to the message that is traced, if one is. No part of snapshots.
    pub(crate) trace: MessageTrace,
    pub(crate) observer: O,
    /// Whether there are other regions, which have their turn between two windows of this one.
    pub(crate) has_others: bool,
    /// The first tick that has not been simulated.
    pub(crate) present: Time,
    /// The events of a kind that are handled in order of target, and of port.
    pub(crate) in_order: Vec<Event>,
    pub(crate) by_port: ByPort,
}

/// The least length of a window that is worth fetching what it is going to need.
const FETCHED_TICKS: Tick = 32;

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
    /// Who takes notes here.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// Who takes notes here.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// What has happened here to the message that is traced, if one is, in no particular order inside a tick.
    #[must_use]
    pub fn trace(&self) -> &[TraceEvent] {
        self.trace.events()
    }

    /// Packets that left a node here and would have been traced if more were.
    #[must_use]
    pub fn left_out_of_trace(&self) -> u64 {
        self.trace.left_out()
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

    /// The last tick in which a packet crossed one of its routers.
    pub fn last_hop(&self) -> Tick {
        self.routers.last_hop().into()
    }

    /// Shows each link of the region: its router and port, its class, and the flits it has sent while it was measured and before
    /// tick `now`, until which everything is simulated. Packets that have been granted and have not left count up to there, as a run
    /// may end before the measured time does.
    pub fn visit_links(&self, now: Tick, mut visit: impl FnMut(RouterId, Port, LinkClass, u32)) {
        let now = time(now);
        for (number, &router) in self.router_ids.iter().enumerate() {
            for port in 0..self.fabric.topology.ports(router) {
                let id = PortId { router: number as u32, port: port as Port };
                let class = self.fabric.topology.link_class(router, id.port);
                visit(router, id.port, class, self.routers.flits_sent_before(id, now));
            }
        }
    }

    /// Shows who contends for the outputs of routers: by router, port and virtual channel, counted through all classes, the
    /// packet that has come in there and is crossing; if there is none, the one that waits at the head of the queue.
    pub fn visit_contenders(&self, mut visit: impl FnMut(RouterId, Port, u8, Contender<'_>)) {
        let crosses = |id, vc| self.routers.is_crossing(id, vc, self.present.saturating_sub(1));
        for (number, &router) in self.router_ids.iter().enumerate() {
            for port in 0..self.fabric.topology.ports(router) {
                let id = PortId { router: number as u32, port: port as Port };
                let crossing = (0..self.fabric.shape.vcs as u8).filter(|&vc| crosses(id, vc));
                crossing.for_each(|vc| visit(router, id.port, vc, Contender::Crossing));
            }
        }
        // Packets are shown queue by queue: heads are those that do not follow the one before.
        let mut behind = None;
        self.routers.visit_packets(&self.pool, &mut |held| {
            let Held::Input { port: id, vc, packet, .. } = held else { return };
            let is_head = behind.replace(self.pool[packet].next) != Some(packet);
            if is_head && !crosses(id, vc) {
                visit(self.router_ids[id.router as usize], id.port, vc, Contender::Head(&self.pool[packet]));
            }
        });
    }

    #[inline]
    fn next_allocation(&self) -> Tick {
        if self.routers.allocation_due() || self.broadcasts.state.look_due {
            self.fabric.rules.allocation_time(self.present).into()
        } else {
            NEVER
        }
    }

    /// The routers, and what they act on.
    #[inline]
    fn routers<'a>(&'a mut self, outbox: &'a mut Outbox<NetworkMail>) -> (&'a mut Routers<M>, Surroundings<'a>) {
        let around = Surroundings {
            fabric: &self.fabric,
            router_ids: &self.router_ids,
            wheel: &mut self.wheel,
            pool: &mut self.pool,
            payloads: &mut self.payloads,
            broadcasts: &mut self.broadcasts,
            agents: &mut self.agents,
            streams: &mut self.streams,
            protocol: &mut self.protocol,
            trace: &mut self.trace,
            in_order: &mut self.in_order,
            by_port: &mut self.by_port,
            outbox,
        };
        (&mut self.routers, around)
    }

    /// Brings into the cache of this core what is going to be needed before `until`. Where much is going on that is almost
    /// everything, and read in order it takes a fraction of the time it takes piece by piece. Otherwise it is what the
    /// events that are scheduled are about, which does not depend on each other and so comes at the same time. A short window
    /// has hardly begun when the next one comes: what it needs is there. So it is where no other region has had its turn meanwhile.
    #[inline]
    fn fetch(&self, until: Tick) {
        if !self.has_others || until < Tick::from(self.present) + FETCHED_TICKS {
            return;
        }
        let mut read = 0;
        if self.pool.len() > 4 * self.router_ids.len() {
            read = self.routers.read_through() ^ self.nodes.read_through();
            read ^= self.pool.read_through() ^ self.wheel.read_through();
        } else {
            self.wheel.glance(until, |event| read ^= self.glance(event));
        }
        std::hint::black_box(read);
    }

    /// Reads a little of what an event is about.
    #[inline]
    fn glance(&self, event: Event) -> u32 {
        match event.kind() {
            EventKind::Message | EventKind::NodeLink | EventKind::NodeCredit | EventKind::Due => {
                self.nodes.glance(event.target())
            }
            EventKind::Notice | EventKind::ControlMessage => 0,
            EventKind::Delivery => self.pool[event.payload()].next,
            EventKind::Arrival => self.routers.prefetch(event.target()) ^ self.pool[event.payload()].next,
            _ => self.routers.prefetch(event.target()),
        }
    }

    /// Schedules the first broadcast of the routing agents, if they broadcast.
    pub(crate) fn schedule_broadcast(&mut self) {
        let cycles = self.fabric.interests().broadcast_cycles;
        if let Some(cycles) = cycles.filter(|_| !self.router_ids.is_empty()) {
            let period = Tick::from(cycles * self.fabric.spec.ticks_per_cycle);
            self.wheel.schedule(period, Event::at(EventKind::Notice, BROADCAST, 0));
        }
    }
}

impl<O: Observer, M: Microarchitecture> Region for NetworkRegion<O, M> {
    type Mail = NetworkMail;

    fn next_tick(&self) -> Tick {
        self.wheel.next_tick().min(self.next_allocation())
    }

    fn receive(&mut self, mail: &NetworkMail) {
        for (number, (event, packet)) in mail.packets.iter().enumerate() {
            let slot = self.pool.insert(packet.clone());
            if self.payloads.exist() {
                let payload = self.payloads.in_mail(&mail.payloads).nth(number).expect("each packet has its own");
                self.payloads.set(slot, payload);
            }
            // A router is told of the first flit, a node of the last.
            let time = if event.kind() == EventKind::Delivery { packet.tail_at() } else { packet.head_at };
            self.wheel.schedule(time.into(), event.with_payload(slot));
        }
        for &(tick, event) in &mail.credits {
            self.wheel.schedule(tick, event);
        }
        for (tick, told) in &mail.out_of_band {
            match told {
                OutOfBand::Notice(posting) => self.wheel.schedule(*tick, self.broadcasts.expect(posting.clone())),
                OutOfBand::Message(message) => self.control_network.expect(*tick, message.clone(), &mut self.wheel),
            }
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

    fn events(&self) -> u64 {
        self.wheel.taken()
    }
}

impl<O: Observer + Serialize + DeserializeOwned, M: Microarchitecture> Snapshot for NetworkRegion<O, M> {
    fn save(&self, bytes: &mut Vec<u8>) -> Result<(), SnapshotError> {
        write_value(&(&self.wheel, &self.pool, &self.routers, &self.nodes), bytes)?;
        write_value(&(&self.streams, &self.observer, self.present, &self.broadcasts.state, &self.payloads), bytes)?;
        self.agents.iter().for_each(|agent| agent.save(bytes));
        self.protocol.save(bytes);
        self.control_network.save(bytes);
        self.seats.save(bytes);
        Ok(())
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), SnapshotError> {
        let (routers, nodes) = (self.streams.len(), self.nodes.nodes.len());
        (self.wheel, self.pool, self.routers, self.nodes) = read_value(bytes)?;
        (self.streams, self.observer, self.present, self.broadcasts.state, self.payloads) = read_value(bytes)?;
        let expect = |what, found: usize, expected: usize| {
            let (found, expected) = (found as u64, expected as u64);
            if found == expected { Ok(()) } else { Err(SnapshotError::Mismatch { what, found, expected }) }
        };
        expect("routers in a region", self.streams.len(), routers)?;
        expect("nodes in a region", self.nodes.nodes.len(), nodes)?;
        for agent in &mut self.agents {
            agent.load(bytes).ok_or_else(|| SnapshotError::Damaged("an agent's memory is not there".to_owned()))?;
        }
        let missing = || SnapshotError::Damaged("the protocol's memory is not there".to_owned());
        self.protocol.load(bytes).ok_or_else(missing)?;
        self.control_network.load(bytes).ok_or_else(missing)?;
        let missing = || SnapshotError::Damaged("the memory of a program's rank is not there".to_owned());
        self.seats.load(bytes).ok_or_else(missing)
    }
}
