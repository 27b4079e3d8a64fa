//! Inputs: packets arrive, queue up, and become heads that ask for the crossbar.

use tailback_engine::Tick;
use tailback_routing::{Lane, Step, View};

use crate::Observer;
use crate::event::{Event, EventKind};
use crate::packet::NONE;
use crate::region::NetworkRegion;

/// A queue of a router of a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueAt {
    pub router: u32,
    pub port: u8,
    pub row: u8,
    pub vc: u8,
}

impl<O: Observer> NetworkRegion<O> {
    #[inline]
    pub(super) fn row_index(&self, at: QueueAt) -> usize {
        self.port_index(at.router, at.port) * self.fabric.shape.rows + usize::from(at.row)
    }

    #[inline]
    pub(super) fn queue_index(&self, at: QueueAt) -> usize {
        self.row_index(at) * self.fabric.shape.vcs + usize::from(at.vc)
    }

    /// The crossbar connection of a queue.
    #[inline]
    pub(super) fn input_index(&self, at: QueueAt) -> usize {
        let inputs = self.fabric.shape.inputs;
        self.port_index(at.router, at.port) * inputs + if inputs > 1 { usize::from(at.vc) } else { 0 }
    }

    /// The first flit of a packet arrives.
    pub(crate) fn arrive(&mut self, router: u32, port: u8, packet: u32, now: Tick) {
        debug_assert_eq!(self.pool[packet].head_at, now, "a packet arrives when it says");
        let vc = self.pool[packet].vc;
        self.occupy(router, port, packet);
        let mut at = QueueAt { router, port, row: 0, vc };
        if self.fabric.shape.rows > 1 {
            at.row = self.promise(at, packet);
        }
        self.pool[packet].next = NONE;
        let queue = self.queue_index(at);
        let queue = &mut self.routers.queues[queue];
        let last = std::mem::replace(&mut queue.tail, packet);
        if queue.head != NONE {
            self.pool[last].next = packet;
            return;
        }
        queue.head = packet;
        let row = self.row_index(at);
        self.routers.rows[row].nonempty |= 1 << vc;
        let alone_from = now.max(self.crossing_until(at));
        self.new_head(at, alone_from, now);
    }

    /// Counts the flits of a packet into the buffer of the virtual channel that it came by.
    fn occupy(&mut self, router: u32, port: u8, packet: u32) {
        let packet = &self.pool[packet];
        let (vcs, port) = (self.fabric.shape.vcs, self.port_index(router, port));
        let capacity = self.fabric.capacity[usize::from(self.port_classes[port]) * vcs + usize::from(packet.vc)];
        let occupied = &mut self.routers.occupied[port * vcs + usize::from(packet.vc)];
        *occupied += packet.flits;
        assert!(*occupied <= capacity, "a buffer of {capacity} flits holds {occupied}: flow control failed");
    }

    /// Routes a packet on arrival, for virtual output queues: it is promised a port and some channels there.
    fn promise(&mut self, at: QueueAt, packet: u32) -> u8 {
        let step = self.route(at, packet);
        let (vc, vcs) = self.channels(at.router, self.pool[packet].class, &step);
        let packet = &mut self.pool[packet];
        (packet.header, packet.vc, packet.vcs) = (step.header, vc, vcs);
        step.port
    }

    /// Until when the packet that left this queue last is still crossing.
    fn crossing_until(&self, at: QueueAt) -> Tick {
        let input = &self.routers.inputs[self.input_index(at)];
        let own = self.fabric.shape.inputs > 1 || (input.last_row, input.last_vc) == (at.row, at.vc);
        if own { input.busy_until } else { 0 }
    }

    /// A queue has a new head, which is alone at the head from `from` on.
    pub(super) fn new_head(&mut self, at: QueueAt, from: Tick, now: Tick) {
        let (index, row) = (self.queue_index(at), self.row_index(at));
        let promised = self.fabric.shape.rows > 1;
        let queue = &mut self.routers.queues[index];
        let packet = &self.pool[queue.head];
        queue.flits = packet.flits;
        queue.owns_vc = false;
        queue.routed = promised;
        if promised {
            (queue.port, queue.vc, queue.vcs) = (at.row, packet.vc, packet.vcs);
        }
        let delay = self.fabric.spec.router.head_delay;
        let row = &mut self.routers.rows[row];
        if delay > 0 {
            row.delayed |= 1 << at.vc;
            row.awake &= !(1 << at.vc);
            let payload = u32::from(at.row) << 8 | u32::from(at.vc);
            self.wheel.schedule(from + delay, Event::at_port(EventKind::HeadReady, at.router, at.port, payload));
        } else {
            row.awake |= 1 << at.vc;
            self.rouse(at, now);
        }
    }

    /// The head of a queue may ask for the crossbar from now on.
    pub(crate) fn head_ready(&mut self, router: u32, port: u8, payload: u32, now: Tick) {
        let at = QueueAt { router, port, row: (payload >> 8) as u8, vc: payload as u8 };
        let row = self.row_index(at);
        let row = &mut self.routers.rows[row];
        row.delayed &= !(1 << at.vc);
        row.awake |= 1 << at.vc;
        self.rouse(at, now);
    }

    /// Brings an awake queue to the notice of the allocator: at once, or when its crossbar connection is free.
    #[inline]
    pub(super) fn rouse(&mut self, at: QueueAt, now: Tick) {
        let input = self.input_index(at);
        let input = &mut self.routers.inputs[input];
        if input.busy_until <= now {
            self.activate(at);
        } else if !input.free_scheduled {
            input.free_scheduled = true;
            let tick = input.busy_until;
            self.wheel.schedule(tick, Event::at_port(EventKind::InputFree, at.router, at.port, u32::from(at.vc)));
        }
    }

    #[inline]
    fn activate(&mut self, at: QueueAt) {
        let words = self.fabric.shape.words;
        if self.fabric.shape.rows > 1 {
            let port = self.port_index(at.router, at.port);
            self.routers.active_rows[port * words + usize::from(at.row) / 64] |= 1 << (at.row % 64);
        }
        self.routers.active[at.router as usize * words + usize::from(at.port) / 64] |= 1 << (at.port % 64);
        self.routers.busy[at.router as usize / 64] |= 1 << (at.router % 64);
        self.allocation_due = true;
    }

    /// The crossbar is done with a packet of a port.
    pub(crate) fn input_free(&mut self, router: u32, port: u8, vc: u8, now: Tick) {
        let shape = self.fabric.shape;
        let at = QueueAt { router, port, row: 0, vc };
        let input = self.input_index(at);
        self.routers.inputs[input].free_scheduled = false;
        let rows = self.row_index(at);
        for row in 0..shape.rows {
            let awake = self.routers.rows[rows + row].awake;
            if awake != 0 {
                // Any awake queue stands for all of its row.
                self.rouse(QueueAt { row: row as u8, vc: awake.trailing_zeros() as u8, ..at }, now);
            }
        }
    }

    /// Asks the routing agent where a packet shall go.
    #[inline]
    pub(super) fn route(&mut self, at: QueueAt, packet: u32) -> Step {
        let fabric = &*self.fabric;
        let shape = fabric.shape;
        let packet = &self.pool[packet];
        let class = usize::from(packet.class);
        let spec = &fabric.spec.classes[class];
        let ports = at.router as usize * shape.ports..(at.router as usize + 1) * shape.ports;
        let view = View {
            free: &self.routers.free[ports.start * shape.vcs..ports.end * shape.vcs],
            capacity: &fabric.capacity,
            link_class: &self.port_classes[ports.clone()],
            first_vc: &spec.first_vc,
            vcs: &spec.vcs,
            stride: shape.vcs,
        };
        let link_class = usize::from(view.link_class[usize::from(at.port)]);
        let entry = Lane { port: at.port, vc: at.vc - spec.first_vc[link_class] };
        let agent = &mut self.agents[class * self.router_ids.len() + at.router as usize];
        agent.route(entry, &packet.header, &view, &mut self.streams[at.router as usize])
    }

    /// The channels of a step, counted through all classes.
    #[inline]
    pub(super) fn channels(&self, router: u32, class: u8, step: &Step) -> (u8, u8) {
        let link_class = usize::from(self.port_classes[self.port_index(router, step.port)]);
        let spec = &self.fabric.spec.classes[usize::from(class)];
        debug_assert!(step.vc + step.vcs <= spec.vcs[link_class], "routing uses channels that it did not ask for");
        (spec.first_vc[link_class] + step.vc, step.vcs)
    }
}
