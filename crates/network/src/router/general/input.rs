//! Inputs: packets arrive, queue up, and become heads that ask for the crossbar.

use tailback_routing::{Lane, Step};

use super::General;
use super::state::At;
use crate::event::{Event, EventKind};
use crate::fabric::Fabric;
use crate::packet::NONE;
use crate::router::sealed::Routers as _;
use crate::router::{Outputs, Place, Surroundings};
use crate::time::Time;
use tailback_hardware::ClassSpec;

impl General {
    /// The first flit of a packet arrives at a port.
    pub(super) fn take_in(&mut self, place: Place, packet: u32, now: Time, around: &mut Surroundings<'_>) {
        let record = &mut around.pool[packet];
        debug_assert_eq!(record.head_at, now, "a packet arrives when it says");
        record.next = NONE;
        let (vc, flits) = (record.vc, record.flits);
        let mut at = self.state.at(place, 0, vc);
        *self.state.occupied_mut(at.index, vc) += flits;
        let is_own = self.state.link(at.index).is_open();
        let (occupied, capacity) =
            (self.state.occupied(at.index, vc), around.fabric.capacity(self.state.link(at.index).class, vc.into()));
        assert!(occupied <= capacity || is_own, "a buffer of {capacity} flits holds {occupied}: flow control failed");
        if self.state.rules.routes_on_arrival {
            at.row = self.promise(at, packet, now, around);
        }
        if self.state.rules.watches && self.ends_here(at, packet, now, around) {
            return;
        }
        let queue = self.state.queue_mut(at);
        let last = std::mem::replace(&mut queue.tail, packet);
        if queue.head != NONE {
            around.pool[last].next = packet;
            return;
        }
        queue.head = packet;
        let alone_from = now.max(self.crossing_until(at));
        if self.state.rules.tells_heads && !is_own && !self.is_crossing(at) {
            around.tell_head(place.router, packet, self.entry(at, around.fabric).1);
        }
        self.new_head(at, alone_from, now, around);
    }

    /// The traffic class of a queue, and the lane it is to a routing agent.
    fn entry(&self, at: At, fabric: &Fabric) -> (u8, Lane) {
        let link_class = self.state.link(at.index).class;
        let class = fabric.class_of(link_class, at.vc);
        let first = fabric.spec.classes[usize::from(class)].first_vc[usize::from(link_class)];
        (class, Lane { port: at.port, vc: at.vc - first })
    }

    /// Tells the routing agent that the packet that crossed from a port has left it, and who is head now.
    pub(super) fn tell_of_crossing(&self, at: At, around: &mut Surroundings<'_>) {
        let input = self.state.input(at);
        self.tell_of_new_head(At { row: input.last_row, vc: input.last_vc, ..at }, around);
    }

    /// Tells the routing agent that the head of a queue has left it, and who is head now.
    pub(super) fn tell_of_new_head(&self, at: At, around: &mut Surroundings<'_>) {
        if self.state.link(at.index).is_open() {
            return; // agents do not know of what a router says itself
        }
        let (class, entry) = self.entry(at, around.fabric);
        around.tell_left(at.router, class, entry);
        let head = self.state.queue(at).head;
        if head != NONE {
            around.tell_head(at.router, head, entry);
        }
    }

    /// Routes a packet on arrival, for virtual output queues: it is promised a port and some channels there.
    fn promise(&mut self, at: At, packet: u32, now: Time, around: &mut Surroundings<'_>) -> u8 {
        let (step, vc) = self.route(at, packet, now, around);
        let packet = &mut around.pool[packet];
        (packet.header, packet.vc, packet.vcs) = (step.header, vc, step.vcs);
        step.port
    }

    /// Whether a packet crosses that was the head of this queue, and its end has not been told: where all are told.
    pub(super) fn is_crossing(&self, at: At) -> bool {
        let input = self.state.input(at);
        input.free_scheduled && (input.last_row, input.last_vc) == (at.row, at.vc)
    }

    /// Until when the packet that left this queue last is still crossing.
    pub(super) fn crossing_until(&self, at: At) -> Time {
        let input = self.state.input(at);
        let own = self.state.shape.inputs > 1 || (input.last_row, input.last_vc) == (at.row, at.vc);
        if own { input.busy_until } else { 0 }
    }

    /// A queue has a new head, which is alone at the head from `from` on.
    pub(super) fn new_head(&mut self, at: At, from: Time, now: Time, around: &mut Surroundings<'_>) {
        let promised = self.state.rules.routes_on_arrival;
        let queue = self.state.queue_mut(at);
        let packet = &around.pool[queue.head];
        queue.flits = packet.flits;
        queue.owns_vc = false;
        queue.routed = promised;
        if promised {
            (queue.port, queue.vc, queue.vcs) = (at.row, packet.vc, packet.vcs);
        }
        let delay = self.state.rules.head_delay;
        if delay == 0 {
            self.state.set_awake(at);
            self.rouse(at, now, around);
        } else {
            self.state.clear_awake(at);
            let payload = u32::from(at.row) << 8 | u32::from(at.vc);
            around.schedule(from + delay, Event::at_port(EventKind::HeadReady, at.router, at.port, payload));
        }
    }

    /// Brings an awake queue to the notice of the allocator: at once, or when its crossbar connection is free.
    pub(super) fn rouse(&mut self, at: At, now: Time, around: &mut Surroundings<'_>) {
        let input = self.state.input_mut(at);
        if input.busy_until <= now {
            self.state.activate(at.router, at.port);
        } else {
            self.schedule_input_free(at, around);
        }
    }

    /// Makes sure that an event tells when the crossbar connection of a queue is free again.
    pub(super) fn schedule_input_free(&mut self, at: At, around: &mut Surroundings<'_>) {
        let input = self.state.input_mut(at);
        if !input.free_scheduled {
            input.free_scheduled = true;
            let event = Event::at_port(EventKind::InputFree, at.router, at.port, at.vc.into());
            around.schedule(input.busy_until, event);
        }
    }

    /// Asks the routing agent where a packet shall go, and counts the channel through all classes.
    pub(super) fn route(&mut self, at: At, packet: u32, now: Time, around: &mut Surroundings<'_>) -> (Step, u8) {
        let class = &around.fabric.spec.classes[usize::from(around.pool[packet].class)];
        let link_class = usize::from(self.state.link(at.index).class);
        let link = self.state.link(at.index);
        // What a router says itself starts as if it came from a node.
        let port = if link.is_open() { 0 } else { at.port };
        let entry = Lane { port, vc: at.vc - class.first_vc[link_class] };
        let (number, flits) = (around.pool[packet].class, around.pool[packet].flits);
        let outputs = self.outputs(at.router, number, flits, now, around.fabric);
        let mut step = around.route(at.router, packet, entry, outputs);
        let link = self.state.link(self.state.port_index(at.router, step.port));
        if link.is_terminal() && step.vcs > 0 {
            step.vcs = step.vcs.max(self.state.rules.ejection_vcs);
        }
        let link_class = usize::from(link.class);
        debug_assert!(step.vc + step.vcs <= class.vcs[link_class], "routing uses channels that it did not ask for");
        (step, class.first_vc[link_class] + step.vc)
    }
}

/// What the routing agent of a general router sees of its outputs.
pub(super) struct GeneralOutputs<'a> {
    pub routers: &'a General,
    /// The number of the router's first port in the region.
    pub first: u32,
    pub class: &'a ClassSpec,
    pub fabric: &'a Fabric,
    pub flits: u16,
    pub now: Time,
}

impl GeneralOutputs<'_> {
    /// The number of a port, and its link class.
    fn port(&self, port: u8) -> (u32, usize) {
        let index = self.first + u32::from(port);
        (index, usize::from(self.routers.state.link(index).class))
    }
}

impl Outputs for GeneralOutputs<'_> {
    fn channels(&self, port: u8) -> u8 {
        self.class.vcs[self.port(port).1]
    }

    fn occupancy(&self, port: u8, vc: u8) -> u32 {
        let (index, class) = self.port(port);
        if self.routers.state.link(index).is_terminal() {
            return 0;
        }
        self.routers.state.on_their_way(index, self.class.first_vc[class] + vc, self.fabric.spec.input_buffers[class])
    }

    fn capacity(&self, port: u8, _vc: u8) -> u32 {
        self.fabric.spec.input_buffers[self.port(port).1].into()
    }

    fn waiting(&self, port: u8) -> u32 {
        let (index, class) = self.port(port);
        let state = &self.routers.state;
        debug_assert_eq!(
            state.backlog(index).claimed,
            (0..state.shape.vcs)
                .map(|vc| u32::from(self.fabric.capacity(class as u8, vc) - state.free(index, vc as u8)))
                .sum(),
            "what is claimed is what is not free"
        );
        state.waiting(index)
    }

    fn admits(&self, port: u8, vc: u8) -> bool {
        let (index, class) = self.port(port);
        self.routers.room(index, self.class.first_vc[class] + vc, self.flits, self.now, self.fabric).is_some()
    }
}
