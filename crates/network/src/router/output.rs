//! Outputs: packets cross, wait in an output queue, and leave on the link.

use tailback_engine::{NEVER, Outbox, Tick};

use super::allocate::Request;
use super::state::At;
use crate::Observer;
use crate::event::{Event, EventKind, credited};
use crate::link::Far;
use crate::packet::NONE;
use crate::region::{Message, NetworkRegion};
use crate::spec::{LinkArbiter, Release};

impl<O: Observer, const V: usize, const PLAIN: bool> NetworkRegion<O, V, PLAIN> {
    /// A packet starts to cross.
    #[inline]
    pub(super) fn cross(&mut self, request: &Request, now: Tick, outbox: &mut Outbox<Message>) {
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
        self.enqueue(at.router, port, index, packet, now);
    }

    /// The head of a queue starts to cross until `end`: it leaves its buffer, the packet behind it becomes head, and
    /// whoever is awake at the same crossbar connection waits for the crossing to end.
    #[inline]
    fn leave_queue(&mut self, at: At, behind: u32, flits: u16, end: Tick, now: Tick, outbox: &mut Outbox<Message>) {
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

    /// A packet enters its output queue.
    #[inline]
    fn enqueue(&mut self, router: u32, port: u8, index: u32, packet: u32, now: Tick) {
        let record = &self.pool[packet];
        let (vc, flits, ready) = (record.vc, record.flits, record.head_at);
        let link = &self.routers.port(index).link;
        let lane = if PLAIN || self.shape.lanes == 1 { 0 } else { self.fabric.lane(link.class, vc) };
        if self.rules.claims_first && !link.is_terminal() {
            *self.routers.free_mut(index, vc) -= flits;
        }
        let lane = self.routers.lane_mut(index, lane);
        if lane.space != u32::MAX {
            lane.space -= u32::from(flits);
        }
        let last = std::mem::replace(&mut lane.tail, packet);
        if lane.head == NONE {
            lane.head = packet;
        } else {
            self.pool[last].next = packet;
        }
        if self.routers.port(index).sender.start_at == NEVER {
            self.schedule_start(router, port, index, ready, now);
        }
    }

    /// Schedules the next start of a link for `tick`, or as soon after it as the link can.
    #[inline]
    fn schedule_start(&mut self, router: u32, port: u8, index: u32, tick: Tick, now: Tick) {
        let state = self.routers.port_mut(index);
        let tick = self.rules.link_tick(tick.max(state.sender.link_free_at).max(now + 1));
        state.starts = state.starts.wrapping_add(1);
        state.sender.start_at = tick;
        let event = Event::at_port(EventKind::LinkStart, router, port, state.starts);
        self.wheel.schedule(tick, event);
    }

    /// A link may start the next packet.
    pub(crate) fn start_link(&mut self, router: u32, port: u8, serial: u32, now: Tick, outbox: &mut Outbox<Message>) {
        let index = self.routers.port_index(router, port);
        let state = self.routers.port_mut(index);
        if serial != state.starts {
            return; // it was brought forward
        }
        state.sender.start_at = NEVER;
        if state.sender.releasing > 0 {
            self.release(index);
        }
        if let Some(lane) = self.choose_lane(index, now) {
            self.send_from(index, lane, now, outbox);
        }
        if let Some(tick) = self.next_start(index) {
            self.schedule_start(router, port, index, tick, now);
        }
        self.notify(router, port, now);
    }

    /// Makes the room that a packet leaves which has left by now.
    fn release(&mut self, index: u32) {
        let sender = &mut self.routers.port_mut(index).sender;
        let flits = std::mem::take(&mut sender.releasing);
        let lane = usize::from(sender.releasing_lane);
        self.routers.lane_mut(index, lane).space += u32::from(flits);
    }

    /// The lane whose head shall leave now: of those that can, the first by priority, then by age or turn.
    #[inline]
    fn choose_lane(&self, index: u32, now: Tick) -> Option<usize> {
        let ready = |lane: &usize| self.can_start(index, *lane).is_some_and(|tick| tick <= now);
        if PLAIN || self.shape.lanes == 1 {
            return ready(&0).then_some(0);
        }
        let last = usize::from(self.routers.port(index).sender.last_lane);
        let key = |lane: &usize| {
            let packet = &self.pool[self.routers.lane(index, *lane).head];
            let priority = u8::MAX - self.fabric.spec.classes[usize::from(packet.class)].priority;
            let turn = if *lane > last { lane - last } else { lane + self.shape.lanes - last };
            match self.fabric.spec.router.output_queues.link_arbiter {
                LinkArbiter::Oldest => (priority, packet.head_at, turn),
                LinkArbiter::RoundRobin => (priority, 0, turn),
            }
        };
        (0..self.shape.lanes).filter(ready).min_by_key(key)
    }

    /// From when on the head of a lane can leave; `None` without a head or without credits.
    #[inline]
    fn can_start(&self, index: u32, lane: usize) -> Option<Tick> {
        let head = self.routers.lane(index, lane).head;
        if head == NONE {
            return None;
        }
        let packet = &self.pool[head];
        let claims_now = !self.rules.claims_first && !self.routers.port(index).link.is_terminal();
        let free = || self.routers.free[index as usize * V + usize::from(packet.vc)];
        (!claims_now || free() >= packet.flits).then_some(packet.head_at)
    }

    /// Sends the head of a lane.
    #[inline]
    fn send_from(&mut self, index: u32, lane: usize, now: Tick, outbox: &mut Outbox<Message>) {
        let link = self.routers.port(index).link;
        let packet = self.routers.lane(index, lane).head;
        let record = &mut self.pool[packet];
        let (next, flits, vc) = (record.next, record.flits, record.vc);
        // A flit leaves per flit time, but none before it is here.
        let last_sent = (now + Tick::from(flits - 1) * Tick::from(link.flit_ticks)).max(record.tail_at());
        record.head_at = now + Tick::from(link.latency);
        record.tail_lag = (last_sent - now) as u32;
        let (head_at, tail_at) = (record.head_at, record.tail_at());
        let release = self.fabric.spec.router.output_queues.release;

        let lane_state = self.routers.lane_mut(index, lane);
        lane_state.head = next;
        let bounded = lane_state.space != u32::MAX;
        if bounded && release == Release::Start {
            lane_state.space += u32::from(flits);
        }
        let sender = &mut self.routers.port_mut(index).sender;
        sender.link_free_at = self.rules.link_tick(last_sent + Tick::from(link.flit_ticks));
        sender.flits_sent = sender.flits_sent.wrapping_add(flits.into());
        sender.last_lane = lane as u8;
        if bounded && release == Release::End {
            (sender.releasing_lane, sender.releasing) = (lane as u8, flits);
        }
        if let Far::Node(node) = link.far {
            self.wheel.schedule(tail_at, Event::at_node(EventKind::Delivery, node, packet));
            return;
        }
        if !self.rules.claims_first {
            *self.routers.free_mut(index, vc) -= flits;
        }
        self.pool[packet].hops += 1;
        self.send_packet(link.far, head_at, packet, outbox);
    }

    /// When the next start of a link should be, if one is in sight.
    #[inline]
    fn next_start(&self, index: u32) -> Option<Tick> {
        let sender = &self.routers.port(index).sender;
        let lanes = if PLAIN { 1 } else { self.shape.lanes };
        let ready = (0..lanes).filter_map(|lane| self.can_start(index, lane)).min();
        let release = (sender.releasing > 0).then_some(sender.link_free_at);
        match (ready, release) {
            (Some(ready), Some(release)) => Some(ready.min(release)),
            (ready, release) => ready.or(release),
        }
    }

    /// A port gets credits.
    #[inline]
    pub(crate) fn receive_credit(&mut self, router: u32, port: u8, payload: u32, now: Tick) {
        let index = self.routers.port_index(router, port);
        let (vc, flits) = credited(payload);
        let free = self.routers.free_mut(index, vc);
        *free += flits;
        debug_assert!(*free <= self.routers.port(index).capacity[usize::from(vc)], "more credits than the buffer has");
        if self.rules.claims_first {
            self.notify(router, port, now);
        } else {
            self.start_sooner(router, port, index, now);
        }
    }

    /// Brings the next start of a link forward if a packet can leave sooner than was planned.
    fn start_sooner(&mut self, router: u32, port: u8, index: u32, now: Tick) {
        let Some(tick) = self.next_start(index) else { return };
        let state = self.routers.port_mut(index);
        let tick = self.rules.link_tick(tick.max(state.sender.link_free_at).max(now));
        if tick < state.sender.start_at {
            state.starts = state.starts.wrapping_add(1);
            state.sender.start_at = tick;
            let event = Event::at_port(EventKind::LinkStart, router, port, state.starts);
            if tick == now {
                self.scratch.starts_now.push(event);
            } else {
                self.wheel.schedule(tick, event);
            }
        }
    }
}
