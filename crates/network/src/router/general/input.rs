//! Inputs: packets arrive, queue up, and become heads that ask for the crossbar.

use tailback_routing::{Lane, Step, View};

use super::General;
use super::state::{At, State};
use crate::event::{Event, EventKind};
use crate::packet::NONE;
use crate::router::{Place, Surroundings};
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
        let occupied = self.state.occupied_mut(at.index, vc);
        *occupied += flits;
        let (occupied, capacity) = (*occupied, around.fabric.capacity(self.state.link(at.index).class, vc.into()));
        assert!(occupied <= capacity, "a buffer of {capacity} flits holds {occupied}: flow control failed");
        if self.state.rules.routes_on_arrival {
            at.row = self.promise(at, packet, around);
        }
        let queue = self.state.queue_mut(at);
        let last = std::mem::replace(&mut queue.tail, packet);
        if queue.head != NONE {
            around.pool[last].next = packet;
            return;
        }
        queue.head = packet;
        let alone_from = now.max(self.crossing_until(at));
        self.new_head(at, alone_from, now, around);
    }

    /// Routes a packet on arrival, for virtual output queues: it is promised a port and some channels there.
    fn promise(&mut self, at: At, packet: u32, around: &mut Surroundings<'_>) -> u8 {
        let (step, vc) = self.route(at, packet, around);
        let packet = &mut around.pool[packet];
        (packet.header, packet.vc, packet.vcs) = (step.header, vc, step.vcs);
        step.port
    }

    /// Until when the packet that left this queue last is still crossing.
    fn crossing_until(&self, at: At) -> Time {
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
        } else if !input.free_scheduled {
            input.free_scheduled = true;
            let event = Event::at_port(EventKind::InputFree, at.router, at.port, at.vc.into());
            around.schedule(input.busy_until, event);
        }
    }

    /// Asks the routing agent where a packet shall go, and counts the channel through all classes.
    pub(super) fn route(&mut self, at: At, packet: u32, around: &mut Surroundings<'_>) -> (Step, u8) {
        let class = &around.fabric.spec.classes[usize::from(around.pool[packet].class)];
        let link_class = usize::from(self.state.link(at.index).class);
        let entry = Lane { port: at.port, vc: at.vc - class.first_vc[link_class] };
        let view = GeneralView {
            state: &self.state,
            first: self.state.port_index(at.router, 0),
            class,
            buffers: &around.fabric.spec.input_buffers,
        };
        let mut step = around.route(at.router, packet, entry, &view);
        let link = self.state.link(self.state.port_index(at.router, step.port));
        if link.is_terminal() {
            step.vcs = step.vcs.max(self.state.rules.ejection_vcs);
        }
        let link_class = usize::from(link.class);
        debug_assert!(step.vc + step.vcs <= class.vcs[link_class], "routing uses channels that it did not ask for");
        (step, class.first_vc[link_class] + step.vc)
    }
}

/// What the routing agent of a general router sees.
struct GeneralView<'a> {
    state: &'a State,
    /// The number of the router's first port in the region.
    first: u32,
    class: &'a ClassSpec,
    buffers: &'a [u16],
}

impl View for GeneralView<'_> {
    fn channels(&self, port: u8) -> u8 {
        self.class.vcs[usize::from(self.state.link(self.first + u32::from(port)).class)]
    }

    fn occupancy(&self, port: u8, vc: u8) -> u32 {
        let index = self.first + u32::from(port);
        let link = self.state.link(index);
        if link.is_terminal() {
            return 0;
        }
        let class = usize::from(link.class);
        u32::from(self.buffers[class] - self.state.free(index, self.class.first_vc[class] + vc))
    }
}
