//! Inputs: packets arrive, queue up, and become heads that ask for the crossbar.

use tailback_engine::Tick;
use tailback_routing::{Lane, Step, View};

use super::state::At;
use crate::Observer;
use crate::event::{Event, EventKind};
use crate::packet::NONE;
use crate::region::NetworkRegion;

impl<O: Observer, const V: usize, const PLAIN: bool> NetworkRegion<O, V, PLAIN> {
    /// The first flit of a packet arrives.
    #[inline]
    pub(crate) fn arrive(&mut self, router: u32, port: u8, packet: u32, now: Tick) {
        let record = &mut self.pool[packet];
        debug_assert_eq!(record.head_at, now, "a packet arrives when it says");
        record.next = NONE;
        let (vc, flits) = (record.vc, record.flits);
        let mut at = self.routers.at(router, port, 0, vc);
        let state = self.routers.port_mut(at.index);
        let (occupied, capacity) = (&mut state.occupied[usize::from(vc)], state.capacity[usize::from(vc)]);
        *occupied += flits;
        assert!(*occupied <= capacity, "a buffer of {capacity} flits holds {occupied}: flow control failed");
        if !PLAIN && self.shape.rows > 1 {
            at.row = self.promise(at, packet);
        }
        let queue = self.routers.queue_mut(at);
        let last = std::mem::replace(&mut queue.tail, packet);
        if queue.head != NONE {
            self.pool[last].next = packet;
            return;
        }
        queue.head = packet;
        self.routers.row_mut(at).nonempty |= 1 << vc;
        let alone_from = if self.rules.head_delay > 0 { now.max(self.crossing_until(at)) } else { now };
        self.new_head(at, alone_from, now);
    }

    /// Routes a packet on arrival, for virtual output queues: it is promised a port and some channels there.
    fn promise(&mut self, at: At, packet: u32) -> u8 {
        let step = self.route(at, packet);
        let (vc, vcs) = self.channels(at.router, self.pool[packet].class, &step);
        let packet = &mut self.pool[packet];
        (packet.header, packet.vc, packet.vcs) = (step.header, vc, vcs);
        step.port
    }

    /// Until when the packet that left this queue last is still crossing.
    fn crossing_until(&self, at: At) -> Tick {
        let input = self.routers.input(at);
        let own = (!PLAIN && self.shape.inputs > 1) || (input.last_row, input.last_vc) == (at.row, at.vc);
        if own { input.busy_until } else { 0 }
    }

    /// A queue has a new head, which is alone at the head from `from` on.
    #[inline]
    pub(super) fn new_head(&mut self, at: At, from: Tick, now: Tick) {
        let promised = (!PLAIN && self.shape.rows > 1);
        let queue = self.routers.queue_mut(at);
        let packet = &self.pool[queue.head];
        queue.flits = packet.flits;
        queue.owns_vc = false;
        queue.routed = promised;
        if promised {
            (queue.port, queue.vc, queue.vcs) = (at.row, packet.vc, packet.vcs);
        }
        if self.rules.head_delay == 0 {
            self.routers.set_awake(at);
            self.rouse(at, now);
            return;
        }
        self.routers.clear_awake(at);
        self.routers.row_mut(at).delayed |= 1 << at.vc;
        let payload = u32::from(at.row) << 8 | u32::from(at.vc);
        let event = Event::at_port(EventKind::HeadReady, at.router, at.port, payload);
        self.wheel.schedule(from + self.rules.head_delay, event);
    }

    /// The head of a queue may ask for the crossbar from now on.
    pub(crate) fn head_ready(&mut self, router: u32, port: u8, payload: u32, now: Tick) {
        let at = self.routers.at(router, port, (payload >> 8) as u8, payload as u8);
        self.routers.row_mut(at).delayed &= !(1 << at.vc);
        self.routers.set_awake(at);
        self.rouse(at, now);
    }

    /// Brings an awake queue to the notice of the allocator: at once, or when its crossbar connection is free.
    #[inline]
    pub(super) fn rouse(&mut self, at: At, now: Tick) {
        let input = self.routers.input_mut(at);
        if input.busy_until <= now {
            self.routers.activate(at.router, at.port);
            self.allocation_due = true;
        } else if !input.free_scheduled {
            input.free_scheduled = true;
            let tick = input.busy_until;
            self.wheel.schedule(tick, Event::at_port(EventKind::InputFree, at.router, at.port, u32::from(at.vc)));
        }
    }

    /// The crossbar is done with a packet of a port.
    pub(crate) fn input_free(&mut self, router: u32, port: u8, vc: u8, now: Tick) {
        let at = self.routers.at(router, port, 0, vc);
        self.routers.input_mut(at).free_scheduled = false;
        if self.routers.awake_row(at.index, 0).is_some() {
            self.rouse(at, now);
        }
    }

    /// Asks the routing agent where a packet shall go.
    #[inline]
    pub(super) fn route(&mut self, at: At, packet: u32) -> Step {
        let ports = self.shape.ports;
        let first = at.router as usize * ports;
        let packet = &self.pool[packet];
        let class = usize::from(packet.class);
        let view = View {
            free: &self.routers.free[first * V..(first + ports) * V],
            stride: V,
            link_class: &self.port_classes[first..first + ports],
            channels: &self.fabric.channels[class],
        };
        let link_class = usize::from(view.link_class[usize::from(at.port)]);
        let entry = Lane { port: at.port, vc: at.vc - view.channels.first[link_class] };
        let agent = &mut self.agents[class * self.router_ids.len() + at.router as usize];
        agent.route(entry, &packet.header, &view, &mut self.streams[at.router as usize])
    }

    /// The channels of a step, counted through all classes.
    #[inline]
    pub(super) fn channels(&self, router: u32, class: u8, step: &Step) -> (u8, u8) {
        let link_class = usize::from(self.routers.port(self.routers.port_index(router, step.port)).link.class);
        let channels = &self.fabric.channels[usize::from(class)];
        debug_assert!(step.vc + step.vcs <= channels.count[link_class], "routing uses channels it did not ask for");
        (channels.first[link_class] + step.vc, step.vcs)
    }
}
