//! Sending: messages are offered, cut into packets, and put on the link to the router.

use super::due::DueQueue;
use super::part::Part;
use super::source::{Answer, LOSSLESS, SendAs};
use super::source_queues::Waiting;
use crate::event::{Event, EventKind, credited, credited_node};
use crate::observer::Offer;
use crate::packet::{NONE, Packet};
use crate::payload::Told;
use crate::region::NetworkRegion;
use crate::router::Microarchitecture;
use tailback_hardware::TICKS_MAX;

use crate::Observer;
use crate::time::Time;
use tailback_hardware::InjectionVc;

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
    /// Takes the messages that are due at a node in a link cycle, which is now.
    pub(crate) fn offer_messages(&mut self, node: u32, cycle: u64, now: Time) {
        let (first, last) = self.nodes.nodes[node as usize].processes;
        let mut next = None;
        for process in first..last {
            let process = &mut self.nodes.processes[process as usize];
            let (traffic, is_due) = (process.traffic, process.next_cycle() == Some(cycle));
            if is_due {
                let plan = &self.fabric.workload.flows[usize::from(traffic)];
                let request = process.fire(plan, self.node_ids[node as usize]);
                next = earlier(next, process.next_cycle());
                self.offer_message(node, traffic, request.destination, request.flits, Told::default(), now);
            } else {
                next = earlier(next, process.next_cycle());
            }
        }
        self.schedule_message(node, next);
        self.make_ready(node, now);
    }

    /// A message waits at its node from now on; `told` is what a program tells with it.
    #[inline(always)]
    pub(super) fn offer_message(
        &mut self,
        node: u32,
        traffic: u16,
        destination: u32,
        flits: u32,
        told: Told,
        now: Time,
    ) {
        let record = &mut self.nodes.nodes[node as usize];
        let is_full = self.fabric.spec.nic.queue_limit.is_some_and(|limit| record.waiting + record.withheld >= limit);
        // A program would wait for ever for what is lost.
        let lost = is_full && self.fabric.workload.flows[usize::from(traffic)].job.is_none();
        let offer = Offer { tick: now.into(), node: self.node_ids[node as usize], traffic, flits, lost };
        self.observer.message_offered(&offer);
        if lost {
            self.trace_offer(node, (destination, told), &offer, NONE, now);
            return;
        }
        record.waiting += 1;
        self.nodes.flits_offered += u64::from(flits);
        // Where copies are kept a message gets its name when it has its turn.
        let serial = if self.fabric.hooks.copies { NONE } else { record.next_message };
        record.next_message = record.next_message.wrapping_add(1);
        self.trace_offer(node, (destination, told), &offer, serial, now);
        let source = self.node_ids[node as usize];
        self.nodes.sources.push(node, source, Waiting::new(now, destination, flits, serial, traffic, told));
        if self.fabric.hooks.offers {
            self.tell_offer(node, destination, flits, now);
        }
    }

    /// Schedules the first message of a node.
    pub(crate) fn schedule_first_message(&mut self, node: u32) {
        let (first, last) = self.nodes.nodes[node as usize].processes;
        let processes = &self.nodes.processes[first as usize..last as usize];
        let cycle = processes.iter().fold(None, |next, process| earlier(next, process.next_cycle()));
        self.schedule_message(node, cycle);
    }

    /// Schedules the next message of a node for a cycle, if there is one.
    #[inline]
    fn schedule_message(&mut self, node: u32, cycle: Option<u64>) {
        if let Some(cycle) = cycle {
            let tick = cycle.saturating_mul(self.fabric.spec.ticks_per_cycle.into());
            if tick <= TICKS_MAX {
                self.wheel.schedule(tick, Event::at(EventKind::Message, node, 0));
            }
        }
    }

    /// The link to the router is free.
    pub(crate) fn node_link_free(&mut self, node: u32, now: Time) {
        self.nodes.nodes[node as usize].link_scheduled = false;
        self.make_ready(node, now);
    }

    /// The router has room again.
    pub(crate) fn receive_node_credit(&mut self, node: u32, payload: u32, now: Time) {
        let (vc, flits) = credited(payload);
        self.nodes.free[node as usize * self.fabric.shape.vcs + usize::from(vc)] += flits;
        if !M::BASIC && self.nodes.rooms.exist() {
            let destination = credited_node(payload).into();
            if self.nodes.rooms.free(node, vc, destination, flits) {
                self.nodes.sources.unpark(node, self.node_ids[node as usize], destination);
            }
        }
        if self.has_to_send(node) {
            self.make_ready(node, now);
        }
    }

    /// A node may be able to send, unless its link is busy and an event tells when it is free.
    #[inline]
    pub(super) fn make_ready(&mut self, node: u32, now: Time) {
        let record = &mut self.nodes.nodes[node as usize];
        let waits = record.link_scheduled && record.link_free_at > now;
        if !(record.ready || waits) {
            record.ready = true;
            self.nodes.ready.push(node);
        }
    }

    /// Lets each node send that may be able to.
    pub(crate) fn inject_all(&mut self, now: Time) {
        let mut ready = std::mem::take(&mut self.nodes.ready);
        let links_start = self.fabric.rules.link_time(now) == now;
        for node in ready.drain(..) {
            self.inject(node, links_start, now);
            // Only now: what it has come to have meanwhile it has just tried to send.
            self.nodes.nodes[node as usize].ready = false;
        }
        self.nodes.ready = ready;
    }

    #[inline]
    fn inject(&mut self, node: u32, links_start: bool, now: Time) {
        let is_busy = !links_start || self.nodes.nodes[node as usize].link_free_at > now;
        if is_busy || self.send_first(node, now) {
            self.wait_for_link(node, now);
        }
    }

    /// Sends the first of what waits at a node, of that for which there is room.
    #[inline(always)]
    fn send_first(&mut self, node: u32, now: Time) -> bool {
        (self.nodes.nodes[node as usize].control_waiting > 0 && self.inject_control(node, now))
            || (!self.nodes.due.is_empty() && self.inject_due(node, now))
            || self.inject_data(node, now)
    }

    /// Whether anything waits that may leave now or when there is room.
    #[inline]
    fn has_to_send(&self, node: u32) -> bool {
        let record = &self.nodes.nodes[node as usize];
        let is_due = || self.nodes.due.get(node as usize).is_some_and(DueQueue::is_ready);
        record.waiting > 0 || record.control_waiting > 0 || is_due()
    }

    /// Schedules the next attempt for when the link is free, if anything waits. What cannot be sent for lack of credits
    /// is tried again when they come.
    #[inline(always)]
    fn wait_for_link(&mut self, node: u32, now: Time) {
        if !self.nodes.nodes[node as usize].link_scheduled && self.has_to_send(node) {
            let record = &mut self.nodes.nodes[node as usize];
            record.link_scheduled = true;
            let tick = self.fabric.rules.link_time(record.link_free_at.max(now + 1));
            self.wheel.schedule(tick.into(), Event::at(EventKind::NodeLink, node, 0));
        }
    }

    /// Sends a control packet, if one waits and there is room for it.
    #[inline(never)]
    fn inject_control(&mut self, node: u32, now: Time) -> bool {
        if self.nodes.nodes[node as usize].control_waiting == 0 {
            return false;
        }
        for rank in 0..self.fabric.by_priority.len() {
            let class = self.fabric.by_priority[rank];
            let packet = self.nodes.control_list(node, class).first;
            if packet == NONE {
                continue;
            }
            let Some(vc) = self.next_channel_with_room(node, class, self.pool[packet].flits) else { continue };
            self.nodes.control_list(node, class).first = self.pool[packet].next;
            self.nodes.nodes[node as usize].control_waiting -= 1;
            self.launch(node, packet, vc, now);
            return true;
        }
        false
    }

    /// Sends a packet of a waiting message, if there is room for one.
    fn inject_data(&mut self, node: u32, now: Time) -> bool {
        let mut attempts = self.attempts(node);
        while let Some(injection_queue) = attempts.next(node, &mut self.nodes.sources) {
            let Some((flits, send_as)) = self.next_of_injection_queue(node, injection_queue, now) else { continue };
            // What the source has come to say leaves before the packet.
            if !self.protocol.sources.is_empty() && self.inject_control(node, now) {
                return true;
            }
            let Some(vc) = self.channel_for(node, injection_queue, send_as.class, flits) else {
                self.trace_no_room(node, injection_queue, now);
                attempts.had_no_room(injection_queue);
                continue;
            };
            self.nodes.nodes[node as usize].last_injection_queue = injection_queue as u8;
            let refused_since =
                if self.protocol.sources.is_empty() { None } else { self.nodes.sources.let_go(node, injection_queue) };
            let (packet, told) = self.cut_packet(node, injection_queue, flits, send_as, now);
            if self.fabric.completes_packets {
                self.complete_packet(node, packet, told, now);
            }
            self.launch(node, packet, vc, now);
            if !self.protocol.sources.is_empty() {
                self.has_departed(node, packet, refused_since, now);
            }
            self.forget_if_gone(node, packet, now);
            if self.fabric.has_programs && self.pool[packet].is_last() {
                let Packet { traffic, destination, .. } = self.pool[packet];
                self.tell_sent(node, traffic, destination, told, now);
            }
            return true;
        }
        // A source that sends none of its packets may have come to send control packets.
        !self.protocol.sources.is_empty() && self.inject_control(node, now)
    }

    /// The size of the next packet of an injection queue that may leave, and what it leaves as. Where destinations take turns by number, none if the
    /// first may not, as the next of the node may be in another injection queue.
    #[inline]
    fn next_of_injection_queue(&mut self, node: u32, injection_queue: usize, now: Time) -> Option<(u16, SendAs)> {
        loop {
            let flits = self.next_packet_flits(node, injection_queue)?;
            if !M::BASIC && self.nodes.rooms.exist() && self.waits_for_room(node, injection_queue, flits) {
                if self.nodes.sources.take_turns() {
                    return None;
                }
                continue;
            }
            if self.protocol.sources.is_empty() {
                return Some((flits, LOSSLESS));
            }
            match self.ask(node, injection_queue, flits, now) {
                Answer::Go(send_as) => return Some((flits, send_as)),
                Answer::Parked if self.nodes.sources.take_turns() => return None,
                Answer::Parked => {}
            }
        }
    }

    /// Takes the next packet of an injection queue out of the way, and all for its destination, if the router has no room for it.
    #[cold]
    fn waits_for_room(&mut self, node: u32, injection_queue: usize, flits: u16) -> bool {
        let destination = self.nodes.sources.front(node, injection_queue).expect("a message waits").destination;
        let class = &self.fabric.spec.classes[0];
        let own = class.first_vc[0] + injection_queue as u8;
        // Flows that take their channels in turn have an injection queue for each; others need room in all that they may get.
        let vcs = if self.nodes.sources.injection_queues_per_node() > 1 {
            own..own + 1
        } else {
            class.first_vc[0]..class.first_vc[0] + class.vcs[0]
        };
        let waits = vcs.into_iter().any(|vc| !self.nodes.rooms.has_room(node, vc, destination, flits));
        if waits {
            self.nodes.sources.park(node, injection_queue);
            self.nodes.rooms.wait(node, destination);
        }
        waits
    }

    fn next_packet_flits(&mut self, node: u32, injection_queue: usize) -> Option<u16> {
        let most = u32::from(self.fabric.spec.packet_flits_max);
        self.nodes.sources.front(node, injection_queue).map(|message| message.flits_left.min(most) as u16)
    }

    /// The virtual channel for the next packet of an injection queue, if it has room.
    #[inline]
    fn channel_for(&mut self, node: u32, injection_queue: usize, class: u8, flits: u16) -> Option<u8> {
        let number = class;
        let class = &self.fabric.spec.classes[usize::from(number)];
        let (first, count) = (class.first_vc[0], class.vcs[0]);
        let vc = match self.fabric.spec.nic.vc_choice {
            InjectionVc::RoundRobin => return self.next_channel_with_room(node, number, flits),
            InjectionVc::ByDestination | InjectionVc::Rotation { .. } => first + injection_queue as u8,
            InjectionVc::Random => {
                let message = self.nodes.sources.front(node, injection_queue)?;
                let stream = &mut self.nodes.streams[node as usize];
                first + *message.drawn_vc.get_or_insert_with(|| stream.below(count.into()) as u8)
            }
        };
        self.has_room(node, vc, flits).then_some(vc)
    }

    /// The first virtual channel of a class with room, after the one of this class that was served last.
    #[inline(always)]
    pub(super) fn next_channel_with_room(&mut self, node: u32, class: u8, flits: u16) -> Option<u8> {
        let classes = &self.fabric.spec.classes;
        let last = &mut self.nodes.last_channels[node as usize * classes.len() + usize::from(class)];
        let class = &classes[usize::from(class)];
        let (first, count) = (class.first_vc[0], usize::from(class.vcs[0]));
        // The channels after the last one come before the others.
        let next = usize::from(*last) + 1;
        let next = if next < count { next } else { 0 };
        let free = &self.nodes.free[node as usize * self.fabric.shape.vcs + usize::from(first)..][..count];
        let has_room = |free: &u16| *free >= flits;
        let later = free[next..].iter().position(has_room).map(|ahead| next + ahead);
        let channel = later.or_else(|| free[..next].iter().position(has_room))? as u8;
        *last = channel;
        Some(first + channel)
    }

    #[inline]
    fn has_room(&self, node: u32, vc: u8, flits: u16) -> bool {
        self.nodes.free[node as usize * self.fabric.shape.vcs + usize::from(vc)] >= flits
    }

    /// Makes the next packet of an injection queue; returns what a program tells with its message, too.
    #[inline]
    fn cut_packet(&mut self, node: u32, injection_queue: usize, flits: u16, send_as: SendAs, now: Time) -> (u32, Told) {
        let message = self.nodes.sources.advance(node, injection_queue, flits);
        let part = Part {
            created: message.created,
            destination: message.destination,
            message: message.serial,
            traffic: message.traffic,
            index: message.index,
            last: message.flits_left == u32::from(flits),
        };
        let packet = part.packet(self.node_ids[node as usize], flits, send_as, &self.fabric, now);
        if packet.is_last() {
            self.nodes.nodes[node as usize].waiting -= 1;
        }
        (self.pool.insert(packet), message.told)
    }

    /// Puts a packet on the link to the router.
    #[inline(always)]
    pub(super) fn launch(&mut self, node: u32, packet: u32, vc: u8, now: Time) {
        let spec = &self.fabric.spec;
        let record = &mut self.pool[packet];
        let flits = record.flits;
        let tail_lag = u32::from(flits - 1) * spec.injection_flit_ticks();
        (record.vc, record.injected) = (vc, now);
        (record.head_at, record.tail_lag) = (now + spec.injection.latency, tail_lag);
        let arrival = record.head_at;
        let busy = Time::from(flits) * Time::from(spec.injection.flit_ticks);
        self.nodes.nodes[node as usize].link_free_at = now + busy.max(spec.ticks_per_cycle);
        self.nodes.free[node as usize * self.fabric.shape.vcs + usize::from(vc)] -= flits;
        if !M::BASIC && self.nodes.rooms.exist() {
            let destination = self.pool[packet].destination;
            self.nodes.rooms.take(node, vc, destination, flits);
        }
        let port = self.injections[node as usize];
        self.wheel.schedule(arrival.into(), Event::at(EventKind::Arrival, port, packet));
        self.trace_launch(node, packet, now);
    }
}

/// The earlier one of two cycles that may never come.
#[inline]
fn earlier(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}
