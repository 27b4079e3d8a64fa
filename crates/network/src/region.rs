//! A region: some routers with their nodes, and the events they wait for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_engine::{Envelope, NEVER, Outbox, Region, Tick, Wheel};
use tailback_random::Stream;
use tailback_routing::Agent;
use tailback_topology::{NodeId, RouterId};

use crate::Observer;
use crate::event::{Event, EventKind, credit};
use crate::fabric::{Fabric, Rules, Shape};
use crate::link::Far;
use crate::nic::NodeState;
use crate::packet::{Packet, Pool};
use crate::router::{RouterState, Scratch};

/// What regions send each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Message {
    /// A packet's first flit arrives at a port.
    Packet {
        /// The router, as the receiving region numbers it.
        router: u32,
        /// Its port.
        port: u8,
        /// The packet.
        packet: Packet,
    },
    /// A port gets credits.
    Credit {
        /// The router, as the receiving region numbers it.
        router: u32,
        /// Its port.
        port: u8,
        /// The virtual channel.
        vc: u8,
        /// How many flits.
        flits: u16,
    },
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
    pub(crate) events: Vec<Event>,
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
    fn step(&mut self, now: Tick, outbox: &mut Outbox<Message>) {
        let mut events = std::mem::take(&mut self.events);
        self.wheel.take(now, &mut events);
        let (early, late) = events.split_at(events.partition_point(|event| event.is_early()));
        for &event in early {
            self.handle_early(event, now);
        }
        if self.allocation_due && self.rules.allocation_tick(now) == now {
            self.allocate_all(now, outbox);
        }
        let mut starts = std::mem::take(&mut self.scratch.starts_now);
        for event in starts.drain(..) {
            self.handle_late(event, now, outbox);
        }
        self.scratch.starts_now = starts;
        for &event in late {
            self.handle_late(event, now, outbox);
        }
        self.inject_all(now);
        self.events = events;
        self.present = now + 1;
    }

    #[inline]
    fn handle_early(&mut self, event: Event, now: Tick) {
        let (router, port, payload) = (event.router(), event.port(), event.payload());
        match event.kind() {
            EventKind::Arrival => self.arrive(router, port, payload, now),
            EventKind::Credit => self.receive_credit(router, port, payload, now),
            EventKind::InputFree => self.input_free(router, port, payload as u8, now),
            EventKind::OutputFree => self.output_free(router, port, payload as u8, now),
            EventKind::RoomFree => self.room_free(router, port, now),
            EventKind::HeadReady => self.head_ready(router, port, payload, now),
            kind => unreachable!("{kind:?} comes after allocation"),
        }
    }

    #[inline]
    fn handle_late(&mut self, event: Event, now: Tick, outbox: &mut Outbox<Message>) {
        match event.kind() {
            EventKind::LinkStart => self.start_link(event.router(), event.port(), event.payload(), now, outbox),
            EventKind::NodeCredit => self.receive_node_credit(event.node(), event.payload()),
            EventKind::Delivery => self.deliver(event.node(), event.payload(), now),
            EventKind::NodeLink => self.node_link_free(event.node()),
            EventKind::Message => self.offer_messages(event.node(), now),
            kind => unreachable!("{kind:?} comes before allocation"),
        }
    }

    /// Sends `packet`'s first flit to a port of a router, to arrive at `tick`.
    #[inline]
    pub(crate) fn send_packet(&mut self, far: Far, tick: Tick, packet: u32, outbox: &mut Outbox<Message>) {
        match far {
            Far::Router { region, router, port } if region == self.index => {
                self.wheel.schedule(tick, Event::at_port(EventKind::Arrival, router, port, packet));
            }
            Far::Router { region, router, port } => {
                let packet = self.pool.remove(packet);
                outbox.send(region, tick, Message::Packet { router, port, packet });
            }
            far => unreachable!("a packet is sent to {far:?}"),
        }
    }

    /// Returns credits for `flits` flits of virtual channel `vc` of a port to whatever feeds it.
    #[inline]
    pub(crate) fn return_credit(&mut self, index: u32, vc: u8, flits: u16, now: Tick, outbox: &mut Outbox<Message>) {
        let link = self.routers.port(index).link;
        let tick = now + Tick::from(link.credit_latency);
        match link.far {
            Far::Router { region, router, port } if region == self.index => {
                let event = Event::at_port(EventKind::Credit, router, port, credit(vc, flits));
                self.wheel.schedule(tick, event);
            }
            Far::Router { region, router, port } => {
                outbox.send(region, tick, Message::Credit { router, port, vc, flits });
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
    type Message = Message;

    fn next_tick(&self) -> Tick {
        self.wheel.next_tick().min(self.next_allocation())
    }

    fn receive(&mut self, messages: &[Envelope<Message>]) {
        for Envelope { tick, message } in messages {
            let event = match message {
                Message::Packet { router, port, packet } => {
                    let packet = self.pool.insert(packet.clone());
                    Event::at_port(EventKind::Arrival, *router, *port, packet)
                }
                Message::Credit { router, port, vc, flits } => {
                    Event::at_port(EventKind::Credit, *router, *port, credit(*vc, *flits))
                }
            };
            self.wheel.schedule(*tick, event);
        }
    }

    fn advance(&mut self, until: Tick, outbox: &mut Outbox<Message>) {
        loop {
            let now = self.next_tick();
            if now >= until {
                break;
            }
            self.step(now, outbox);
        }
    }
}
