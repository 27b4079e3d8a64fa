//! Output queues whose packets do not depart in order: because there are several per port, or because packets claim
//! credits only when they leave. An event then starts each packet.

use tailback_engine::{NEVER, Outbox, Tick};

use crate::Observer;
use crate::event::{Event, EventKind};
use crate::packet::NONE;
use crate::region::{NetworkMail, NetworkRegion};
use crate::spec::LinkArbiter;

impl<O: Observer, const V: usize, const PLAIN: bool> NetworkRegion<O, V, PLAIN> {
    /// A packet enters its output queue.
    pub(super) fn enqueue(&mut self, router: u32, port: u8, index: u32, packet: u32, now: Tick) {
        let record = &self.pool[packet];
        let (vc, flits, ready) = (record.vc, record.flits, record.head_at);
        let link = self.routers.port(index).link;
        if self.rules.claims_first && !link.is_terminal() {
            *self.routers.free_mut(index, vc) -= flits;
        }
        let lane = self.routers.lane_mut(index, self.fabric.lane(link.class, vc));
        if self.rules.bounded {
            lane.space -= u32::from(flits);
        }
        let last = std::mem::replace(&mut lane.tail, packet);
        if lane.head == NONE {
            lane.head = packet;
        } else {
            self.pool[last].next = packet;
        }
        if self.routers.sender(index).start_at == NEVER {
            self.schedule_start(router, port, index, ready, now);
        }
    }

    /// Schedules the next start of a link for `tick`, or as soon after it as the link can.
    fn schedule_start(&mut self, router: u32, port: u8, index: u32, tick: Tick, now: Tick) {
        let tick = self.rules.link_tick(tick.max(self.routers.port(index).link_free_at).max(now + 1));
        let event = self.plan_start(router, port, index, tick);
        self.wheel.schedule(tick, event);
    }

    /// The event of the next start of a link, which takes the place of any other.
    fn plan_start(&mut self, router: u32, port: u8, index: u32, tick: Tick) -> Event {
        let sender = self.routers.sender_mut(index);
        sender.starts = sender.starts.wrapping_add(1);
        sender.start_at = tick;
        Event::at_port(EventKind::LinkStart, router, port, sender.starts)
    }

    /// A link may start the next packet.
    pub(crate) fn start_link(
        &mut self,
        router: u32,
        port: u8,
        serial: u32,
        now: Tick,
        outbox: &mut Outbox<NetworkMail>,
    ) {
        let index = self.routers.port_index(router, port);
        let sender = self.routers.sender_mut(index);
        if serial != sender.starts {
            return; // it was brought forward
        }
        sender.start_at = NEVER;
        let (room, lane) = (std::mem::take(&mut sender.releasing), usize::from(sender.releasing_lane));
        if room > 0 {
            self.routers.lane_mut(index, lane).space += u32::from(room);
        }
        if let Some(lane) = self.choose_lane(index, now) {
            self.start_from(index, lane, now, outbox);
        }
        if let Some(tick) = self.next_start(index) {
            self.schedule_start(router, port, index, tick, now);
        }
        self.notify(router, port, now);
    }

    /// The lane whose head shall leave now: of those that can, the first by priority, then by age or turn.
    fn choose_lane(&self, index: u32, now: Tick) -> Option<usize> {
        let ready = |lane: &usize| self.can_start(index, *lane).is_some_and(|tick| tick <= now);
        let (lanes, last) = (self.shape.lanes, usize::from(self.routers.sender(index).last_lane));
        let key = |lane: &usize| {
            let packet = &self.pool[self.routers.lane(index, *lane).head];
            let priority = u8::MAX - self.fabric.spec.classes[usize::from(packet.class)].priority;
            let turn = if *lane > last { lane - last } else { lane + lanes - last };
            match self.fabric.spec.router.output_queues.link_arbiter {
                LinkArbiter::Oldest => (priority, packet.head_at, turn),
                LinkArbiter::RoundRobin => (priority, 0, turn),
            }
        };
        (0..lanes).filter(ready).min_by_key(key)
    }

    /// From when on the head of a lane can leave; `None` without a head or without credits.
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
    fn start_from(&mut self, index: u32, lane: usize, now: Tick, outbox: &mut Outbox<NetworkMail>) {
        let packet = self.routers.lane(index, lane).head;
        let record = &self.pool[packet];
        let (next, flits, vc) = (record.next, record.flits, record.vc);
        let late = self.rules.releases_late;
        let lane_state = self.routers.lane_mut(index, lane);
        lane_state.head = next;
        if self.rules.bounded && !late {
            lane_state.space += u32::from(flits);
        }
        let sender = self.routers.sender_mut(index);
        sender.last_lane = lane as u8;
        if self.rules.bounded && late {
            (sender.releasing_lane, sender.releasing) = (lane as u8, flits);
        }
        if !self.rules.claims_first && !self.routers.port(index).link.is_terminal() {
            *self.routers.free_mut(index, vc) -= flits;
        }
        self.send(index, packet, now, outbox);
    }

    /// When the next start of a link should be, if one is in sight.
    fn next_start(&self, index: u32) -> Option<Tick> {
        let ready = (0..self.shape.lanes).filter_map(|lane| self.can_start(index, lane)).min();
        let release = (self.routers.sender(index).releasing > 0).then(|| self.routers.port(index).link_free_at);
        match (ready, release) {
            (Some(ready), Some(release)) => Some(ready.min(release)),
            (ready, release) => ready.or(release),
        }
    }

    /// Brings the next start of a link forward if a packet can leave sooner than was planned.
    pub(super) fn start_sooner(&mut self, router: u32, port: u8, index: u32, now: Tick) {
        let Some(tick) = self.next_start(index) else { return };
        let tick = self.rules.link_tick(tick.max(self.routers.port(index).link_free_at).max(now));
        if tick < self.routers.sender(index).start_at {
            let event = self.plan_start(router, port, index, tick);
            if tick == now {
                self.scratch.starts_now.push(event);
            } else {
                self.wheel.schedule(tick, event);
            }
        }
    }
}
