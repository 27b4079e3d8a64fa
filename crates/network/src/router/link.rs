//! Output queues and links that are started by events: where a port has several output queues, or packets take credits
//! only when they leave, or something else uses links or looks at what waits for them.

use tailback_engine::{NEVER, Tick};
use tailback_hardware::LinkArbiter;
use tailback_protocol::WaitsUntil;

use super::departures::Sent;
use super::{Microarchitecture, Routers, Surroundings, members};
use crate::event::{Event, EventKind, credited};
use crate::fabric::Fabric;
use crate::packet::{NONE, Packet};
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// Free flits of an output queue of a port, as far as allocations at `now` may know.
    #[inline]
    pub(super) fn space(&self, index: u32, queue: usize, now: Time) -> u32 {
        let sender = &self.extras.senders[index as usize];
        let lone = if usize::from(sender.lone_queue) == queue { sender.lone_flits(now) } else { 0 };
        self.extras.queues[index as usize * self.shape.output_queues + queue].space - lone
    }

    #[inline]
    pub(super) fn space_mut(&mut self, index: u32, queue: usize) -> &mut u32 {
        &mut self.extras.queues[index as usize * self.shape.output_queues + queue].space
    }

    /// The first packet of an output queue.
    #[inline]
    fn first_of_queue(&self, index: u32, queue: usize) -> u32 {
        self.extras.queues[index as usize * self.shape.output_queues + queue].head
    }

    /// Puts a packet behind the last one of an output queue, and says which that was.
    #[inline]
    pub(super) fn append(&mut self, index: u32, queue: usize, packet: u32) -> Option<u32> {
        self.extras.senders[index as usize].filled |= 1 << queue;
        let queue = &mut self.extras.queues[index as usize * self.shape.output_queues + queue];
        let last = std::mem::replace(&mut queue.tail, packet);
        if queue.head == NONE {
            queue.head = packet;
            return None;
        }
        Some(last)
    }

    /// Takes the first packet of an output queue away; `next` is the one behind it.
    #[inline]
    fn advance(&mut self, index: u32, queue: usize, next: u32) {
        self.extras.queues[index as usize * self.shape.output_queues + queue].head = next;
        if next == NONE {
            self.extras.senders[index as usize].filled &= !(1 << queue);
        }
    }

    /// Sends a packet off that has started to cross, to an output queue of its port, if it is certain to be the next on the
    /// link. Returns whether it is.
    #[inline]
    pub(super) fn departs_alone(
        &mut self,
        index: u32,
        queue: usize,
        packet: u32,
        end: Time,
        now: Time,
        around: &mut Surroundings<'_>,
    ) -> bool {
        let delay = self.rules.crossbar_delay;
        let output = &self.outputs[index as usize];
        let start = self.rules.link_time((now + delay).max(output.link_free_at));
        let sender = &self.extras.senders[index as usize];
        // The next one starts to cross when the output is free. Only one that has not left its queue is kept in mind.
        let class = around.pool[packet].class;
        let goes_first = start < output.connection.busy_until + delay || self.rules.is_never_overtaken(class);
        if sender.filled != 0 || sender.lone.time >= now || !goes_first {
            return false;
        }
        let output = &mut self.outputs[index as usize];
        let Sent { start, arrival, departure } = output.send(&mut around.pool[packet], end, now, &self.rules);
        Self::trace_start(packet, start, around);
        around.send_packet(output, packet, arrival);
        if Self::unless_basic(self.rules.turns_by_priority) {
            self.extras.turns_by_priority.note_queue(index, class, queue);
        }
        let sender = &mut self.extras.senders[index as usize];
        (sender.lone, sender.lone_queue, sender.last_queue) = (departure, queue as u8, queue as u8);
        true
    }

    /// Makes sure that an event tells when a lone packet has left its output queue.
    pub(super) fn schedule_room_of_lone(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        let time = self.extras.senders[index as usize].lone.time;
        let port = &mut self.outputs[index as usize];
        if self.rules.bounded && time >= now && !port.room_scheduled {
            port.room_scheduled = true;
            // Room is seen by allocations after the tick in which it is made.
            around.schedule(time + 1, Event::at(EventKind::RoomFree, index, 0));
        }
    }

    /// Schedules the next start of a link for `time`, or as soon after it as the link can.
    #[inline]
    pub(super) fn schedule_start(&mut self, index: u32, time: Time, now: Time, around: &mut Surroundings<'_>) {
        let time = time.max(self.outputs[index as usize].link_free_at).max(now + 1);
        let time = self.rules.link_time(time);
        let serial = self.plan_start(index, time);
        around.schedule(time, Event::at(EventKind::LinkStart, index, serial));
    }

    /// Plans the next start of a link instead of any other; returns its number.
    fn plan_start(&mut self, index: u32, time: Time) -> u32 {
        let sender = &mut self.extras.senders[index as usize];
        sender.starts = sender.starts.wrapping_add(1);
        sender.start_at = Tick::from(time);
        sender.starts
    }

    /// Starts the links that credits of this tick let start at once.
    #[inline]
    pub fn start_links_now(&mut self, now: Time, around: &mut Surroundings<'_>) {
        while let Some((index, serial)) = self.scratch.starts_now.pop() {
            self.start_link(index, serial, now, around);
        }
    }

    /// A link may start the next packet; `serial` is the number of this announcement.
    pub fn start_link(&mut self, index: u32, serial: u32, now: Time, around: &mut Surroundings<'_>) {
        let sender = &mut self.extras.senders[index as usize];
        if serial != sender.starts {
            return; // it was brought forward
        }
        sender.start_at = NEVER;
        let (room, queue) = (std::mem::take(&mut sender.releasing), usize::from(sender.releasing_queue));
        if room > 0 {
            *self.space_mut(index, queue) += u32::from(room);
        }
        // It may have been taken for other things since the start was planned.
        let is_free = self.outputs[index as usize].link_free_at <= now;
        if is_free && let Some(queue) = self.choose_queue(index, now, around) {
            if Self::unless_plain(self.rules.control_limit.is_some()) {
                self.count_control(index, queue, now, around);
            }
            self.start_from(index, queue, now, around);
        }
        let sender = &self.extras.senders[index as usize];
        if (sender.filled != 0 || sender.releasing > 0)
            && let Some(time) = self.next_start(index, around)
        {
            self.schedule_start(index, time, now, around);
        }
        self.notify(index, now, around);
    }

    /// The output queue whose head shall leave now: of those that can, the first by priority, then by age or turn. Data goes before control
    /// packets when these have had as much as they may.
    #[inline]
    fn choose_queue(&self, index: u32, now: Time, around: &Surroundings<'_>) -> Option<usize> {
        let sender = &self.extras.senders[index as usize];
        let ready = |queue: &usize| self.is_ready(index, *queue, now, around);
        if sender.filled & sender.filled.wrapping_sub(1) == 0 {
            // There is one queue with packets, or none.
            return (sender.filled != 0).then(|| sender.filled.trailing_zeros() as usize).filter(ready);
        }
        self.choose_of_several(index, now, around)
    }

    #[inline(never)]
    fn choose_of_several(&self, index: u32, now: Time, around: &Surroundings<'_>) -> Option<usize> {
        let sender = &self.extras.senders[index as usize];
        let ready = |queue: &usize| self.is_ready(index, *queue, now, around);
        let queues = self.shape.output_queues;
        let is_turn_of_data = self.rules.control_limit.is_some_and(|limit| sender.control_in_row >= limit);
        let key = |queue: &usize| {
            let packet = &around.pool[self.first_of_queue(index, *queue)];
            let class = &around.fabric.spec.classes[usize::from(packet.class)];
            let priority = (is_turn_of_data && class.is_control, u8::MAX - class.priority);
            let last = if Self::unless_basic(self.rules.turns_by_priority) {
                self.extras.turns_by_priority.last_queue(index, packet.class)
            } else {
                usize::from(sender.last_queue)
            };
            let turn = if *queue > last { queue - last } else { queue + queues - last };
            match around.fabric.spec.router.output_queues.link_arbiter {
                LinkArbiter::Oldest => (priority, packet.head_at, turn),
                LinkArbiter::RoundRobin => (priority, 0, turn),
            }
        };
        self.filled_queues(index).filter(ready).min_by_key(key)
    }

    /// Counts the flits of control packets that are sent while data could leave, as the head of a queue is about to be.
    fn count_control(&mut self, index: u32, queue: usize, now: Time, around: &Surroundings<'_>) {
        let is_control = |queue: usize| {
            let class = around.pool[self.first_of_queue(index, queue)].class;
            around.fabric.spec.classes[usize::from(class)].is_control
        };
        let is_data_ready = |queue: usize| !is_control(queue) && self.is_ready(index, queue, now, around);
        let counts = is_control(queue) && self.filled_queues(index).any(is_data_ready);
        let flits = around.pool[self.first_of_queue(index, queue)].flits;
        let in_row = &mut self.extras.senders[index as usize].control_in_row;
        *in_row = if counts { *in_row + u32::from(flits) } else { 0 };
    }

    /// The output queues of a port that have packets, in ascending order.
    #[inline]
    fn filled_queues(&self, index: u32) -> impl Iterator<Item = usize> + use<M> {
        members(self.extras.senders[index as usize].filled).map(usize::from)
    }

    /// From when on the head of an output queue with packets can leave; `None` without credits.
    #[inline]
    fn can_start(&self, index: u32, queue: usize, around: &Surroundings<'_>) -> Option<Time> {
        let packet = &around.pool[self.first_of_queue(index, queue)];
        let takes_credits = !self.rules.claims_first && !self.outputs[index as usize].is_terminal();
        let may_leave = !takes_credits || self.credit(index, packet.vc) >= packet.flits;
        may_leave.then_some(packet.head_at)
    }

    /// Whether the head of an output queue with packets can leave now.
    #[inline]
    fn is_ready(&self, index: u32, queue: usize, now: Time, around: &Surroundings<'_>) -> bool {
        self.can_start(index, queue, around).is_some_and(|time| time <= now)
    }

    /// Sends the head of an output queue.
    #[inline]
    fn start_from(&mut self, index: u32, queue: usize, now: Time, around: &mut Surroundings<'_>) {
        let rules = &self.rules;
        let packet = self.first_of_queue(index, queue);
        let record = &mut around.pool[packet];
        let (next, flits, vc) = (record.next, record.flits, record.vc);
        if Self::unless_basic(rules.turns_by_priority) {
            self.extras.turns_by_priority.note_queue(index, record.class, queue);
        }
        if Self::unless_plain(rules.counts_in_output_queues) {
            count_in_output_queue(record, now - record.head_at, around.fabric);
        }
        let port = &mut self.outputs[index as usize];
        // A flit leaves per flit time, but none before it is here.
        let flit_ticks = Time::from(port.flit_ticks);
        let last_sent = (now + Time::from(flits - 1) * flit_ticks).max(record.tail_at());
        let arrival = record.leave(now, last_sent, port);
        port.link_free_at = rules.link_time(last_sent + flit_ticks);
        port.flits_sent += u32::from(rules.measured.flits(flits, now, last_sent));
        if rules.counts_sent {
            self.extras.sent[index as usize] += u64::from(flits);
        }

        let terminal = port.is_terminal();
        let (bounded, releases_late, claims_first) = (rules.bounded, rules.releases_late, rules.claims_first);
        self.advance(index, queue, next);
        let sender = &mut self.extras.senders[index as usize];
        sender.last_queue = queue as u8;
        if bounded && releases_late {
            (sender.releasing_queue, sender.releasing) = (queue as u8, flits);
        } else if bounded {
            *self.space_mut(index, queue) += u32::from(flits);
        }
        if !claims_first {
            let channel = self.channel(index, vc);
            self.extras.uncredited[channel] -= u32::from(flits);
            *self.credit_mut(index, vc) -= if terminal { 0 } else { flits };
        }
        if self.rules.measures_queues {
            let backlog = &mut self.extras.backlogs[index as usize];
            backlog.queued -= u32::from(flits);
            backlog.credited += if claims_first || terminal { 0 } else { u32::from(flits) };
        }
        if self.rules.counts_for_nodes == Some(WaitsUntil::Departure) {
            self.waits_no_more(index, &around.pool[packet], around.fabric);
        }
        Self::trace_start(packet, now, around);
        around.send_packet(&self.outputs[index as usize], packet, arrival);
    }

    /// When the next start of a link should be, if one is in sight: when it is free, or as soon after that as a packet can leave.
    fn next_start(&self, index: u32, around: &Surroundings<'_>) -> Option<Time> {
        let free_at = self.outputs[index as usize].link_free_at;
        if self.extras.senders[index as usize].releasing > 0 {
            return Some(free_at);
        }
        let mut next = None;
        for time in self.filled_queues(index).filter_map(|queue| self.can_start(index, queue, around)) {
            if time <= free_at {
                return Some(free_at); // the others need not be looked at
            }
            next = Some(next.map_or(time, |next: Time| next.min(time)));
        }
        next
    }

    /// Credits arrive at a port. There are two callers, of which one is rare: the other one would not have it inlined otherwise, at 12 instructions for each
    /// packet-hop.
    #[inline(always)]
    pub fn receive_credit(&mut self, index: u32, payload: u32, now: Time, around: &mut Surroundings<'_>) {
        let (vc, flits) = credited(payload);
        self.free_room_for_node(index, payload);
        let channel = self.channel(index, vc);
        let output = &mut self.outputs[index as usize];
        let (waits, link_class) = (output.waiters != 0, output.link_class);
        let credits = output.credit_mut::<M>(&mut self.credits, channel, vc);
        *credits += flits;
        debug_assert!(*credits <= around.fabric.capacity(link_class, vc.into()), "more credits than the buffer has");
        if self.rules.minds_credits(link_class) {
            self.mind_credits(index, vc, link_class, around);
        }
        if !M::PLAIN && self.rules.measures_queues {
            self.extras.backlogs[index as usize].credited -= u32::from(flits);
        }
        if M::PLAIN || self.rules.claims_first {
            if waits || self.has_far_waiters(index) {
                self.wake_waiters(index, now, around);
            }
        } else {
            self.start_sooner(index, now, around);
        }
    }

    /// Credits for a channel of a port may matter for where packets go.
    #[inline]
    fn mind_credits(&mut self, index: u32, vc: u8, link_class: u8, around: &mut Surroundings<'_>) {
        let router = self.inputs[index as usize].router;
        if self.rules.looks_at(link_class) {
            around.broadcasts.note_change(router);
        }
        // Others look at rivals each time.
        if M::PLAIN && self.rules.keeps_rivals {
            let channel = self.channel_of_kind(router, link_class, vc, around.fabric);
            self.extras.kept_decisions.note_credits(channel);
        }
    }

    /// The same where nodes pause the links that lead to them, and such a port hears of that instead.
    pub fn receive_credit_or_pause(&mut self, index: u32, payload: u32, now: Time, around: &mut Surroundings<'_>) {
        if self.outputs[index as usize].is_terminal() {
            self.pause(index, payload);
        } else {
            self.receive_credit(index, payload, now, around);
        }
    }

    /// Nothing more crosses to a port until its node takes packets again: its connections are as good as busy until then, and whoever waits for
    /// them hears when that is over.
    fn pause(&mut self, index: u32, until: Time) {
        self.extras.paused_until[index as usize] = until;
        for vc in 0..self.shape.outputs as u8 {
            let connection = self.output_mut(index, vc);
            connection.busy_until = connection.busy_until.max(until);
        }
    }

    /// Brings the next start of a link forward if a packet can leave sooner than was planned.
    fn start_sooner(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        let earliest = self.outputs[index as usize].link_free_at.max(now);
        if self.extras.senders[index as usize].start_at <= Tick::from(earliest) {
            return; // it is planned for when the link is free
        }
        let Some(time) = self.next_start(index, around) else { return };
        let time = self.rules.link_time(time.max(earliest));
        if Tick::from(time) < self.extras.senders[index as usize].start_at {
            let serial = self.plan_start(index, time);
            if time == now {
                self.scratch.starts_now.push((index, serial));
            } else {
                around.schedule(time, Event::at(EventKind::LinkStart, index, serial));
            }
        }
    }
}

/// Notes how long a packet has waited in an output queue, if that counts towards its timeout. Apart, so that others do not carry its code.
#[cold]
fn count_in_output_queue(packet: &mut Packet, waited: Time, fabric: &Fabric) {
    if fabric.queueing_timeout(packet.class).is_some_and(|timeout| timeout.in_output_queues) {
        packet.word += waited;
    }
}
