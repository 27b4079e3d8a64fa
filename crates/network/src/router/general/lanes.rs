//! Output queues and links: packets leave one after the other, each started by an event.

use tailback_engine::{NEVER, Tick};

use super::General;
use crate::event::{Event, EventKind};
use crate::router::{Place, Surroundings};
use crate::time::Time;
use tailback_hardware::LinkArbiter;

impl General {
    /// Schedules the next start of a link for `time`, or as soon after it as the link can.
    pub(super) fn schedule_start(
        &mut self,
        place: Place,
        index: u32,
        time: Time,
        now: Time,
        around: &mut Surroundings<'_>,
    ) {
        let time = time.max(self.state.sender(index).link_free_at).max(now + 1);
        let time = self.state.rules.link_time(time);
        let serial = self.plan_start(index, time);
        around.schedule(time, Event::at_port(EventKind::LinkStart, place.router, place.port, serial));
    }

    /// Plans the next start of a link instead of any other; returns its number.
    fn plan_start(&mut self, index: u32, time: Time) -> u32 {
        let sender = self.state.sender_mut(index);
        sender.starts = sender.starts.wrapping_add(1);
        sender.start_at = Tick::from(time);
        sender.starts
    }

    /// A link may start the next packet.
    pub(super) fn start(&mut self, place: Place, serial: u32, now: Time, around: &mut Surroundings<'_>) {
        let index = self.state.port_index(place.router, place.port);
        let sender = self.state.sender_mut(index);
        if serial != sender.starts {
            return; // it was brought forward
        }
        sender.start_at = NEVER;
        let (room, lane) = (std::mem::take(&mut sender.releasing), usize::from(sender.releasing_lane));
        self.state.lane_mut(index, lane).space += u32::from(room);
        // It may have been taken for other things since the start was planned.
        let is_free = self.state.sender(index).link_free_at <= now;
        if let Some(lane) = self.choose_lane(index, now, around).filter(|_| is_free) {
            self.start_from(index, lane, now, around);
        }
        if let Some(time) = self.next_start(index, around) {
            self.schedule_start(place, index, time, now, around);
        }
        self.notify(place, now, around);
    }

    /// The lane whose head shall leave now: of those that can, the first by priority, then by age or turn.
    fn choose_lane(&self, index: u32, now: Time, around: &Surroundings<'_>) -> Option<usize> {
        let ready = |lane: &usize| self.can_start(index, *lane, around).is_some_and(|time| time <= now);
        let (lanes, last) = (self.state.shape.lanes, usize::from(self.state.sender(index).last_lane));
        let key = |lane: &usize| {
            let packet = &around.pool[self.state.lane(index, *lane).head];
            let priority = u8::MAX - around.fabric.spec.classes[usize::from(packet.class)].priority;
            let turn = if *lane > last { lane - last } else { lane + lanes - last };
            match around.fabric.spec.router.output_queues.link_arbiter {
                LinkArbiter::Oldest => (priority, packet.head_at, turn),
                LinkArbiter::RoundRobin => (priority, 0, turn),
            }
        };
        self.state.filled_lanes(index).filter(ready).min_by_key(key)
    }

    /// From when on the head of a lane with packets can leave; `None` without credits.
    fn can_start(&self, index: u32, lane: usize, around: &Surroundings<'_>) -> Option<Time> {
        let packet = &around.pool[self.state.lane(index, lane).head];
        let claims_now = !self.state.rules.claims_first && !self.state.link(index).is_terminal();
        (!claims_now || self.state.free(index, packet.vc) >= packet.flits).then_some(packet.head_at)
    }

    /// Sends the head of a lane.
    fn start_from(&mut self, index: u32, lane: usize, now: Time, around: &mut Surroundings<'_>) {
        let link = *self.state.link(index);
        let rules = self.state.rules;
        let packet = self.state.lane(index, lane).head;
        let record = &mut around.pool[packet];
        let (next, flits, vc) = (record.next, record.flits, record.vc);
        // A flit leaves per flit time, but none before it is here.
        let last_sent = (now + Time::from(flits - 1) * Time::from(link.flit_ticks)).max(record.tail_at());
        record.head_at = now + link.latency;
        record.tail_lag = last_sent - now;

        self.state.advance(index, lane, next);
        if rules.bounded && !rules.releases_late {
            self.state.lane_mut(index, lane).space += u32::from(flits);
        }
        let sender = self.state.sender_mut(index);
        sender.link_free_at = rules.link_time(last_sent + Time::from(link.flit_ticks));
        sender.flits_sent = sender.flits_sent.wrapping_add(flits.into());
        sender.last_lane = lane as u8;
        if rules.bounded && rules.releases_late {
            (sender.releasing_lane, sender.releasing) = (lane as u8, flits);
        }
        if !rules.claims_first {
            *self.state.lined_up_mut(index, vc) -= u32::from(flits);
        }
        if rules.measures_queues {
            let backlog = self.state.backlog_mut(index);
            backlog.lined_up -= u32::from(flits);
            backlog.claimed += if rules.claims_first || link.is_terminal() { 0 } else { u32::from(flits) };
        }
        if self.state.rules.watches && link.is_terminal() && around.pool[packet].kind.carries_data() {
            *self.state.queued_mut(index) -= u32::from(flits);
        }
        if link.is_terminal() {
            around.send_to_node(&link, packet);
            return;
        }
        if !rules.claims_first {
            *self.state.free_mut(index, vc) -= flits;
        }
        around.pool[packet].hops += 1;
        around.send_packet(&link, packet);
    }

    /// When the next start of a link should be, if one is in sight.
    fn next_start(&self, index: u32, around: &Surroundings<'_>) -> Option<Time> {
        let ready = self.state.filled_lanes(index).filter_map(|lane| self.can_start(index, lane, around));
        let sender = self.state.sender(index);
        let release = (sender.releasing > 0).then_some(sender.link_free_at);
        ready.chain(release).min()
    }

    /// Credits arrive at a port.
    pub(super) fn add_credit(&mut self, place: Place, vc: u8, flits: u16, now: Time, around: &mut Surroundings<'_>) {
        let index = self.state.port_index(place.router, place.port);
        let free = self.state.free_mut(index, vc);
        *free += flits;
        debug_assert!(
            self.state.free(index, vc) <= around.fabric.capacity(self.state.link(index).class, vc.into()),
            "more credits than the buffer has"
        );
        if self.state.rules.measures_queues {
            self.state.backlog_mut(index).claimed -= u32::from(flits);
        }
        if self.state.rules.tells_changes {
            around.gossip.note_change(place.router);
        }
        if self.state.rules.claims_first {
            self.notify(place, now, around);
        } else {
            self.start_sooner(place, index, now, around);
        }
    }

    /// Brings the next start of a link forward if a packet can leave sooner than was planned.
    fn start_sooner(&mut self, place: Place, index: u32, now: Time, around: &mut Surroundings<'_>) {
        let Some(time) = self.next_start(index, around) else { return };
        let sender = self.state.sender(index);
        let time = self.state.rules.link_time(time.max(sender.link_free_at).max(now));
        if Tick::from(time) < sender.start_at {
            let serial = self.plan_start(index, time);
            if time == now {
                self.scratch.starts_now.push((place, serial));
            } else {
                around.schedule(time, Event::at_port(EventKind::LinkStart, place.router, place.port, serial));
            }
        }
    }
}
