//! What routers act on, beside themselves.

use tailback_engine::{Outbox, Tick, Wheel};
use tailback_random::Stream;
use tailback_routing::{Agent, FirstLook, Header, Notice, PortVc, Rivals, Step};
use tailback_topology::{Port, RouterId};

use super::view::{Outputs, RouterView};
use super::{Microarchitecture, Routers};
use crate::event::{BROADCAST, Event, EventKind, credit, sort};
use crate::fabric::Fabric;
use crate::link::{FarEnd, FarKind};
use crate::message_trace::MessageTrace;
use crate::packet::{Packet, Pool};
use crate::payload::Payloads;
use crate::protocol_state::ProtocolState;
use crate::region::{ByPort, NetworkMail};
use crate::state_broadcast::StateBroadcast;
use crate::time::Time;

use super::state::{InputPort, OutputPort};

/// What routers act on, beside themselves.
pub(crate) struct Surroundings<'a> {
    pub fabric: &'a Fabric,
    /// The routers of the region, by their numbers in the network.
    pub router_ids: &'a [RouterId],
    pub wheel: &'a mut Wheel<Event>,
    pub pool: &'a mut Pool,
    pub payloads: &'a mut Payloads,
    pub broadcasts: &'a mut StateBroadcast,
    /// By traffic class, then by router.
    pub agents: &'a mut [Box<dyn Agent>],
    /// The random streams of the routers.
    pub streams: &'a mut [Stream],
    /// The protocol's part of the region.
    pub protocol: &'a mut ProtocolState,
    pub trace: &'a mut MessageTrace,
    /// The events of a kind that are handled in order of target, and of port.
    pub in_order: &'a mut Vec<Event>,
    pub by_port: &'a mut ByPort,
    pub outbox: &'a mut Outbox<NetworkMail>,
}

impl Surroundings<'_> {
    /// Takes all events of a kind, of this tick. The effects of events of one kind commute, as they are at different ports,
    /// but for arrivals where packets are routed as they arrive and draw from their router's random stream, or as a router's
    /// machine is asked about them.
    #[inline]
    pub fn each(&mut self, kind: EventKind, mut act: impl FnMut(&mut Self, Event)) {
        if cfg!(debug_assertions) {
            return self.each_in_order(kind, act); // which finds ties
        }
        while let Some(batch) = self.wheel.take_batch(kind as usize) {
            batch.events().iter().for_each(|&event| act(self, event));
            if batch.is_last() {
                break;
            }
        }
    }

    /// The same, in order of target.
    #[inline]
    pub fn each_in_order(&mut self, kind: EventKind, mut act: impl FnMut(&mut Self, Event)) {
        let mut events = std::mem::take(self.in_order);
        while let Some(batch) = self.wheel.take_batch(kind as usize) {
            events.extend_from_slice(batch.events());
            if batch.is_last() {
                break;
            }
        }
        sort(&mut events);
        events.drain(..).for_each(|event| act(self, event));
        *self.in_order = events;
    }

    /// The same for a kind of which there is at most one event at a port in a tick.
    #[inline]
    pub fn each_by_port(&mut self, kind: EventKind, mut act: impl FnMut(&mut Self, Event)) {
        let mut by_port = std::mem::take(self.by_port);
        while let Some(batch) = self.wheel.take_batch(kind as usize) {
            batch.events().iter().for_each(|&event| by_port.put(event));
            if batch.is_last() {
                break;
            }
        }
        by_port.take(|event| act(self, event));
        *self.by_port = by_port;
    }

    #[inline]
    pub fn schedule(&mut self, time: Time, event: Event) {
        self.wheel.schedule(Tick::from(time), event);
    }

    /// Asks the routing agent of a router where a packet shall go that came in by `entry`.
    #[inline]
    pub fn route(&mut self, router: u32, packet: u32, entry: PortVc, outputs: impl Outputs, first_time: bool) -> Step {
        // The header is read where it is: a copy would be written and read by words of other sizes.
        let Packet { class, header, .. } = &self.pool[packet];
        let view = RouterView { outputs, broadcasts: self.broadcasts, class: *class, router, first_time };
        let agent = agent_number(*class, router, self.streams.len());
        self.agents[agent].route(entry, header, &view, &mut self.streams[router as usize])
    }

    /// What the decision depends on that the agent of a router and a traffic class has made last.
    #[inline]
    pub fn rivals(&self, router: u32, class: u8) -> Rivals {
        self.agents[agent_number(class, router, self.streams.len())].rivals()
    }

    /// The same as [`Self::route`] where its algorithm is oblivious.
    #[inline]
    pub fn route_unseeing(&mut self, router: u32, packet: u32, entry: PortVc) -> Step {
        let Packet { class, header, .. } = &self.pool[packet];
        let agent = agent_number(*class, router, self.streams.len());
        self.agents[agent].route_unseeing(entry, header, &mut self.streams[router as usize])
    }

    /// Checks that routing has named a step.
    pub fn assert_named(&self, router: u32, class: u8, entry: PortVc, step: &Step) {
        self.fabric.assert_named(self.router_ids[router as usize], class, entry, step);
    }

    /// Checks that a packet leaves by the only port by which it can, where its routing agent knows of one.
    pub fn assert_only_port(&self, router: u32, packet: u32, entry: PortVc, step: &Step) {
        let Packet { class, header, .. } = &self.pool[packet];
        let only = self.only_port(router, *class, entry, header);
        assert!(
            step.vcs == 0 || only.is_none_or(|port| port == step.port),
            "{only:?} was to be the only port: {step:?}"
        );
    }

    /// Whether a packet that came in by `entry` leaves by its node's port, as far as its routing agent can tell already.
    #[inline]
    pub fn ejects(&self, router: u32, class: u8, entry: PortVc, header: &Header) -> bool {
        self.agents[agent_number(class, router, self.streams.len())].ejects(entry, header)
    }

    /// The port by which a packet leaves that came in by `entry`, if there is only one by which it can.
    pub fn only_port(&self, router: u32, class: u8, entry: PortVc, header: &Header) -> Option<Port> {
        self.agents[agent_number(class, router, self.streams.len())].only_port(entry, header)
    }

    /// Tells the routing agent of a router that a packet has become head of its queue.
    #[inline(always)]
    pub fn tell_head(&mut self, router: u32, packet: u32, entry: PortVc) -> FirstLook {
        let Packet { class, header, .. } = &self.pool[packet];
        let agent = agent_number(*class, router, self.streams.len());
        self.agents[agent].head_arrived(entry, header, self.broadcasts.board(*class, router))
    }

    /// Tells the routing agent of a router and a traffic class that the head of a queue starts to cross.
    pub fn tell_crosses(&mut self, router: u32, class: u8, entry: PortVc) {
        self.agents[agent_number(class, router, self.streams.len())].head_crosses(entry);
    }

    /// Tells the routing agent of a router and a traffic class that the head of a queue has left it.
    #[inline]
    pub fn tell_left(&mut self, router: u32, class: u8, entry: PortVc) {
        self.agents[agent_number(class, router, self.streams.len())].tail_left(entry);
    }

    /// Lets agents look around and broadcast, before routers allocate.
    #[inline]
    pub fn listen<M: Microarchitecture>(&mut self, routers: &mut Routers<M>, now: Time) {
        if self.broadcasts.state.look_due {
            self.look_around(routers, now);
        }
        if std::mem::take(&mut self.broadcasts.state.broadcast_due) {
            self.broadcast(routers, now);
        }
    }

    /// Lets the agents of all routers look around at whose outputs something has changed.
    fn look_around<M: Microarchitecture>(&mut self, routers: &Routers<M>, now: Time) {
        while let Some(router) = self.broadcasts.next_changed() {
            for class in 0..self.fabric.spec.classes.len() as u8 {
                let outputs = routers.outputs(routers.first_port(router), class, 0, now, self.fabric);
                let view = RouterView { outputs, broadcasts: self.broadcasts, class, router, first_time: true };
                let agent = agent_number(class, router, self.streams.len());
                if let Some(notice) = self.agents[agent].look(&view) {
                    self.tell(class, router, notice, now);
                }
            }
        }
    }

    /// Lets all agents broadcast, which may take a while of the links they do it by.
    fn broadcast<M: Microarchitecture>(&mut self, routers: &mut Routers<M>, now: Time) {
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
        self.schedule(now + period, Event::at(EventKind::Notice, BROADCAST, 0));
    }

    fn tell(&mut self, class: u8, router: u32, notice: Notice, now: Time) {
        let (tick, event) = self.broadcasts.tell(class, router, notice, now.into(), self.outbox);
        self.wheel.schedule(tick, event);
    }

    /// Sends a packet by the link of a port, to arrive at `arrival`: at a router its first flit, at a node its last.
    #[inline]
    pub(super) fn send_packet(&mut self, output: &OutputPort, packet: u32, arrival: Time) {
        let arrival = Tick::from(arrival);
        if output.receiver == FarEnd::INSIDE {
            self.wheel.schedule(arrival, output.arrival.with_payload(packet));
        } else {
            self.mail_packet(output, packet, arrival);
        }
    }

    fn mail_packet(&mut self, output: &OutputPort, packet: u32, arrival: Tick) {
        let mail = self.outbox.mail(output.receiver, arrival);
        if self.payloads.exist() {
            self.payloads.mail(packet, &mut mail.payloads);
        }
        mail.packets.push((output.arrival, self.pool.remove(packet)));
    }

    /// Returns credits for `flits` flits of a virtual channel, and of a node where each has a queue, to whatever feeds a port by its link.
    #[inline]
    pub(super) fn return_credit(&mut self, input: &InputPort, vc: u8, flits: u16, of_node: u32, now: Time) {
        let tick = Tick::from(now + input.credit_latency);
        let event = input.credit.with_payload(of_node | credit(vc, flits));
        if input.fed_by == FarKind::Open {
            return; // the router itself has sent it
        }
        if input.credit_receiver == FarEnd::INSIDE {
            self.wheel.schedule(tick, event);
        } else {
            self.mail_credit(input.credit_receiver, tick, event);
        }
    }

    fn mail_credit(&mut self, receiver: u32, tick: Tick, event: Event) {
        self.outbox.mail(receiver, tick).credits.push((tick, event));
    }
}

/// Where the agent of a router for a traffic class is, among those of a region with so many routers.
#[inline]
fn agent_number(class: u8, router: u32, routers: usize) -> usize {
    // Agents come by class, and nearly all packets are of the first.
    let first = if class == 0 { 0 } else { usize::from(class) * routers };
    first + router as usize
}
