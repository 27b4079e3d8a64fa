//! Outputs: packets cross, wait in an output queue, and leave on the link.

use tailback_engine::{Outbox, Tick};

use super::allocate::Request;
use super::input::QueueAt;
use crate::Observer;
use crate::event::{Event, EventKind, credited};
use crate::link::Far;
use crate::packet::NONE;
use crate::region::{Message, NetworkRegion};
use crate::spec::{CreditCheck, LinkArbiter, Release};

impl<O: Observer> NetworkRegion<O> {
    /// The crossbar connection of a channel of a port.
    #[inline]
    pub(super) fn output_index(&self, port: usize, vc: u8) -> usize {
        let outputs = self.fabric.shape.outputs;
        port * outputs + if outputs > 1 { usize::from(vc) } else { 0 }
    }

    /// The output queue of a channel of a port.
    #[inline]
    pub(super) fn lane_index(&self, port: usize, link_class: usize, vc: u8) -> usize {
        port * self.fabric.shape.lanes + self.fabric.lane(link_class, usize::from(vc))
    }

    #[inline]
    pub(super) fn is_terminal(&self, port: usize) -> bool {
        matches!(self.links[port].far, Far::Node(_))
    }

    /// A packet starts to cross.
    pub(super) fn cross(&mut self, request: Request, now: Tick, outbox: &mut Outbox<Message>) {
        let Request { at, port, vc, flits, header, .. } = request;
        let (from, to) = (self.port_index(at.router, at.port), self.port_index(at.router, port));
        let packet = self.take_head(at);
        self.return_credit(from, at.vc, flits, now, outbox);

        let record = &mut self.pool[packet];
        // The crossbar takes a flit per tick, but none before it has arrived.
        let end = (now + Tick::from(flits)).max(record.tail_at() + 1);
        record.header = header;
        record.vc = vc;
        record.head_at = now + self.fabric.spec.router.crossbar_delay;
        record.tail_lag = (end - 1 - now) as u32;

        let inputs = self.fabric.shape.ports * self.fabric.shape.inputs;
        let (input, output) = (self.input_index(at), self.output_index(to, vc));
        let connection = &mut self.routers.inputs[input];
        (connection.busy_until, connection.last_row, connection.last_vc) = (end, at.row, at.vc);
        let connection = &mut self.routers.outputs[output];
        (connection.busy_until, connection.vc) = (end, vc);
        connection.last = (input - at.router as usize * inputs) as u16;
        if !self.routers.queue_served.is_empty() {
            let index = self.queue_index(at);
            self.routers.queue_served[index] = now;
        }
        if !self.routers.input_served.is_empty() {
            self.routers.input_served[output * inputs + input % inputs] = now;
        }
        if self.fabric.spec.router.vc_allocation {
            self.schedule_output_free(at.router, port, output, vc);
        }
        self.routers.packet_hops += 1;
        self.routers.last_hop = now;

        self.enqueue(at.router, port, packet, now);
        self.follow_up(at, end, now);
    }

    /// Takes the head packet out of its queue and its buffer.
    fn take_head(&mut self, at: QueueAt) -> u32 {
        let (index, row) = (self.queue_index(at), self.row_index(at));
        let queue = &mut self.routers.queues[index];
        let packet = queue.head;
        queue.head = self.pool[packet].next;
        let row = &mut self.routers.rows[row];
        row.awake &= !(1 << at.vc);
        if queue.head == NONE {
            row.nonempty &= !(1 << at.vc);
        }
        let port = self.port_index(at.router, at.port);
        self.routers.occupied[port * self.fabric.shape.vcs + usize::from(at.vc)] -= self.pool[packet].flits;
        packet
    }

    /// What a crossbar input does while a packet crosses from its queue `at` until `end`: the packet behind becomes
    /// head, and whoever is awake waits for the crossing to end.
    fn follow_up(&mut self, at: QueueAt, end: Tick, now: Tick) {
        let shape = self.fabric.shape;
        let row = self.row_index(at);
        if self.routers.rows[row].nonempty & 1 << at.vc != 0 {
            self.new_head(at, end, now);
        }
        let port = self.port_index(at.router, at.port);
        if shape.rows > 1 && self.routers.rows[row].awake == 0 {
            self.routers.active_rows[port * shape.words + usize::from(at.row) / 64] &= !(1 << (at.row % 64));
        }
        if shape.inputs == 1 {
            self.deactivate(at.router, at.port);
            let rows = port * shape.rows..(port + 1) * shape.rows;
            let awake = |row: &super::state::Row| row.awake != 0;
            if let Some(row) = self.routers.rows[rows].iter().position(awake) {
                self.rouse(QueueAt { row: row as u8, ..at }, now);
            }
        }
    }

    /// A packet enters its output queue.
    fn enqueue(&mut self, router: u32, port: u8, packet: u32, now: Tick) {
        let index = self.port_index(router, port);
        let link_class = usize::from(self.port_classes[index]);
        let record = &mut self.pool[packet];
        record.next = NONE;
        let (vc, flits, ready) = (record.vc, record.flits, record.head_at);
        if self.fabric.spec.router.credits == CreditCheck::Crossbar && link_class != 0 {
            self.routers.free[index * self.fabric.shape.vcs + usize::from(vc)] -= flits;
        }
        let lane = self.lane_index(index, link_class, vc);
        let lane = &mut self.routers.lanes[lane];
        if lane.space != u32::MAX {
            lane.space -= u32::from(flits);
        }
        let last = std::mem::replace(&mut lane.tail, packet);
        if lane.head == NONE {
            lane.head = packet;
        } else {
            self.pool[last].next = packet;
        }
        if self.routers.senders[index].start_at == tailback_engine::NEVER {
            self.schedule_start(router, port, ready, now);
        }
    }

    /// Schedules the next start of a link for `tick`, or as soon after it as the link can.
    fn schedule_start(&mut self, router: u32, port: u8, tick: Tick, now: Tick) {
        let index = self.port_index(router, port);
        let sender = &mut self.routers.senders[index];
        let tick = self.fabric.link_tick(tick.max(sender.link_free_at).max(now + 1));
        sender.starts = sender.starts.wrapping_add(1);
        sender.start_at = tick;
        let event = Event::at_port(EventKind::LinkStart, router, port, sender.starts);
        self.wheel.schedule(tick, event);
    }

    /// A link is free to start the next packet.
    pub(crate) fn start_link(&mut self, router: u32, port: u8, serial: u32, now: Tick, outbox: &mut Outbox<Message>) {
        let index = self.port_index(router, port);
        let sender = &mut self.routers.senders[index];
        if serial != sender.starts {
            return; // it was moved to an earlier time
        }
        sender.start_at = tailback_engine::NEVER;
        self.release(index);
        if let Some(lane) = self.choose_lane(index, now) {
            self.send_from(index, lane, now, outbox);
        }
        self.schedule_next_start(router, port, now);
        self.notify(router, port, now);
    }

    /// Makes the room that a packet leaves which has left by now.
    fn release(&mut self, port: usize) {
        let sender = &mut self.routers.senders[port];
        let flits = std::mem::take(&mut sender.releasing);
        if flits > 0 {
            let lane = port * self.fabric.shape.lanes + usize::from(sender.releasing_lane);
            self.routers.lanes[lane].space += u32::from(flits);
        }
    }

    /// The lane whose head shall leave now: of those that can, the first by priority, then by turn or age.
    fn choose_lane(&self, port: usize, now: Tick) -> Option<usize> {
        let lanes = self.fabric.shape.lanes;
        let last = usize::from(self.routers.senders[port].last);
        let key = |lane: usize| {
            let packet = &self.pool[self.routers.lanes[port * lanes + lane].head];
            let priority = u8::MAX - self.fabric.spec.classes[usize::from(packet.class)].priority;
            let turn = if lane > last { lane - last } else { lane + lanes - last };
            match self.fabric.spec.router.output_queues.link_arbiter {
                LinkArbiter::Oldest => (priority, packet.head_at, turn),
                LinkArbiter::RoundRobin => (priority, 0, turn),
            }
        };
        (0..lanes)
            .filter(|&lane| self.can_start(port, lane).is_some_and(|ready| ready <= now))
            .min_by_key(|&lane| key(lane))
    }

    /// From when on the head of a lane can leave; `None` without a head or without credits.
    fn can_start(&self, port: usize, lane: usize) -> Option<Tick> {
        let head = self.routers.lanes[port * self.fabric.shape.lanes + lane].head;
        if head == NONE {
            return None;
        }
        let packet = &self.pool[head];
        let claims_now = self.fabric.spec.router.credits == CreditCheck::Link && !self.is_terminal(port);
        let room =
            !claims_now || self.routers.free[port * self.fabric.shape.vcs + usize::from(packet.vc)] >= packet.flits;
        room.then_some(packet.head_at)
    }

    /// Sends the head of a lane.
    fn send_from(&mut self, port: usize, lane: usize, now: Tick, outbox: &mut Outbox<Message>) {
        let link = self.links[port];
        let index = port * self.fabric.shape.lanes + lane;
        let packet = self.routers.lanes[index].head;
        let record = &mut self.pool[packet];
        self.routers.lanes[index].head = record.next;
        let flits = record.flits;
        // A flit leaves per flit time, but none before it is here.
        let last_sent = (now + Tick::from(flits - 1) * Tick::from(link.flit_ticks)).max(record.tail_at());
        record.head_at = now + link.latency;
        record.tail_lag = (last_sent - now) as u32;
        let (vc, arrival) = (record.vc, record.head_at);
        let delivered = record.tail_at();
        let sender = &mut self.routers.senders[port];
        sender.link_free_at = self.fabric.link_tick(last_sent + Tick::from(link.flit_ticks));
        sender.flits_sent += u64::from(flits);
        sender.last = lane as u8;
        let space = &mut self.routers.lanes[index].space;
        if *space != u32::MAX {
            match self.fabric.spec.router.output_queues.release {
                Release::Start => *space += u32::from(flits),
                Release::End => (sender.releasing_lane, sender.releasing) = (lane as u8, flits),
            }
        }
        if let Far::Node(node) = link.far {
            self.wheel.schedule(delivered, Event::at_node(EventKind::Delivery, node, packet));
            return;
        }
        if self.fabric.spec.router.credits == CreditCheck::Link {
            self.routers.free[port * self.fabric.shape.vcs + usize::from(vc)] -= flits;
        }
        self.pool[packet].hops += 1;
        self.send_packet(port, arrival, packet, outbox);
    }

    /// Schedules the next start of a link, if one is in sight.
    fn schedule_next_start(&mut self, router: u32, port: u8, now: Tick) {
        let index = self.port_index(router, port);
        let sender = &self.routers.senders[index];
        let ready = (0..self.fabric.shape.lanes).filter_map(|lane| self.can_start(index, lane)).min();
        let release = (sender.releasing > 0).then_some(sender.link_free_at);
        if let Some(tick) = ready.into_iter().chain(release).min() {
            self.schedule_start(router, port, tick, now);
        }
    }

    /// A port gets credits.
    pub(crate) fn receive_credit(&mut self, router: u32, port: u8, payload: u32, now: Tick) {
        let index = self.port_index(router, port);
        let (vc, flits) = credited(payload);
        let free = &mut self.routers.free[index * self.fabric.shape.vcs + usize::from(vc)];
        *free += flits;
        debug_assert!(
            *free
                <= self.fabric.capacity
                    [usize::from(self.port_classes[index]) * self.fabric.shape.vcs + usize::from(vc)],
            "credits for more flits than the buffer has"
        );
        if self.fabric.spec.router.credits == CreditCheck::Crossbar {
            self.notify(router, port, now);
        } else {
            self.start_sooner(router, port, now);
        }
    }

    /// Brings the next start of a link forward if a packet can leave sooner than was planned.
    fn start_sooner(&mut self, router: u32, port: u8, now: Tick) {
        let index = self.port_index(router, port);
        let ready = (0..self.fabric.shape.lanes).filter_map(|lane| self.can_start(index, lane)).min();
        let Some(ready) = ready else { return };
        let sender = &self.routers.senders[index];
        let soonest = self.fabric.link_tick(ready.max(sender.link_free_at).max(now));
        if soonest < sender.start_at {
            let sender = &mut self.routers.senders[index];
            sender.starts = sender.starts.wrapping_add(1);
            sender.start_at = soonest;
            let event = Event::at_port(EventKind::LinkStart, router, port, sender.starts);
            if soonest == now {
                self.scratch.starts_now.push(event);
            } else {
                self.wheel.schedule(soonest, event);
            }
        }
    }
}
