//! Outputs: packets cross, wait in an output queue, and leave on the link.
//!
//! Where a port has one output queue whose packets have claimed all they need, they depart in order, and the time of
//! departure is known as soon as a packet crosses: it is sent off at once. Everything else is in `lanes.rs`.

use tailback_engine::{Outbox, Tick};

use super::allocate::Request;
use super::state::{At, Departure};
use crate::Observer;
use crate::event::{Event, EventKind, credited};
use crate::link::Far;
use crate::packet::NONE;
use crate::region::{NetworkMail, NetworkRegion};

impl<O: Observer, const V: usize, const PLAIN: bool> NetworkRegion<O, V, PLAIN> {
    /// A packet starts to cross.
    #[inline]
    pub(super) fn cross(&mut self, request: &Request, now: Tick, outbox: &mut Outbox<NetworkMail>) {
        let &Request { at, packet, port, index, vc, header } = request;
        let record = &mut self.pool[packet];
        let flits = record.flits;
        // The crossbar takes a flit per tick, but none before it has arrived.
        let end = (now + Tick::from(flits)).max(record.tail_at() + 1);
        let behind = std::mem::replace(&mut record.next, NONE);
        record.vc = vc;
        record.head_at = now + self.rules.crossbar_delay;
        record.tail_lag = (end - 1 - now) as u32;
        if let Some(header) = header {
            record.header = header;
        }

        let input = self.routers.input_mut(at);
        (input.busy_until, input.last_row, input.last_vc) = (end, at.row, at.vc);
        let number = self.routers.input_number(at);
        let output = self.routers.output_mut(index, vc);
        (output.busy_until, output.last, output.vc) = (end, number, vc);
        self.routers.note_served(at, index, vc, now);
        if self.rules.vc_allocation {
            self.schedule_output_free(at.router, port, vc);
        }
        self.routers.packet_hops += 1;
        self.routers.last_hop = now;

        self.leave_queue(at, behind, flits, end, now, outbox);
        if PLAIN || self.rules.departs_in_order {
            self.depart(index, packet, outbox);
        } else {
            self.enqueue(at.router, port, index, packet, now);
        }
    }

    /// The head of a queue starts to cross until `end`: it leaves its buffer, the packet behind it becomes head, and
    /// whoever is awake at the same crossbar connection waits for the crossing to end.
    #[inline]
    fn leave_queue(&mut self, at: At, behind: u32, flits: u16, end: Tick, now: Tick, outbox: &mut Outbox<NetworkMail>) {
        self.routers.port_mut(at.index).occupied[usize::from(at.vc)] -= flits;
        self.return_credit(at.index, at.vc, flits, now, outbox);
        self.routers.queue_mut(at).head = behind;
        self.routers.clear_awake(at);
        if behind == NONE {
            self.routers.row_mut(at).nonempty &= !(1 << at.vc);
        } else {
            self.new_head(at, end, now);
        }
        if PLAIN || self.shape.inputs == 1 {
            self.routers.deactivate(at.router, at.port);
            if self.routers.awake_row(at.index, 0).is_some() {
                self.rouse(at, now);
            }
        }
    }

    /// A packet enters the output queue of a port from which packets depart in order.
    #[inline]
    fn depart(&mut self, index: u32, packet: u32, outbox: &mut Outbox<NetworkMail>) {
        let record = &self.pool[packet];
        let (vc, flits, ready) = (record.vc, record.flits, record.head_at);
        let port = self.routers.port(index);
        let start = self.rules.link_tick(ready.max(port.link_free_at));
        if !port.link.is_terminal() {
            *self.routers.free_mut(index, vc) -= flits;
        }
        self.send(index, packet, start, outbox);
        if self.rules.bounded {
            let late = self.rules.releases_late;
            let tick = if late { self.routers.port(index).link_free_at } else { start };
            self.routers.push_departure(index, Departure { tick, flits });
        }
    }

    /// Sends a packet on the link of a port, from `start` on.
    #[inline]
    pub(super) fn send(&mut self, index: u32, packet: u32, start: Tick, outbox: &mut Outbox<NetworkMail>) {
        let record = &mut self.pool[packet];
        let port = self.routers.port_mut(index);
        let link = port.link;
        // A flit leaves per flit time, but none before it is here.
        let flits = record.flits;
        let last_sent = (start + Tick::from(flits - 1) * Tick::from(link.flit_ticks)).max(record.tail_at());
        record.head_at = start + Tick::from(link.latency);
        record.tail_lag = (last_sent - start) as u32;
        port.link_free_at = self.rules.link_tick(last_sent + Tick::from(link.flit_ticks));
        port.flits_sent = port.flits_sent.wrapping_add(flits.into());
        if let Far::Node(node) = link.far {
            self.wheel.schedule(record.tail_at(), Event::at_node(EventKind::Delivery, node, packet));
        } else {
            record.hops += 1;
            let arrival = record.head_at;
            self.send_packet(link.far, arrival, packet, outbox);
        }
    }

    /// A departing packet has made room in an output queue.
    pub(crate) fn room_free(&mut self, router: u32, port: u8, now: Tick) {
        let index = self.routers.port_index(router, port);
        self.routers.port_mut(index).output_queue.room_scheduled = false;
        self.notify(router, port, now);
    }

    /// A port gets credits.
    #[inline]
    pub(crate) fn receive_credit(&mut self, router: u32, port: u8, payload: u32, now: Tick) {
        let index = self.routers.port_index(router, port);
        let (vc, flits) = credited(payload);
        let free = self.routers.free_mut(index, vc);
        *free += flits;
        debug_assert!(*free <= self.routers.port(index).capacity[usize::from(vc)], "more credits than the buffer has");
        if PLAIN || self.rules.claims_first {
            self.notify(router, port, now);
        } else {
            self.start_sooner(router, port, index, now);
        }
    }
}
