//! Crossing: packets leave their input queue and enter an output queue, or are sent off at once.

use tailback_engine::NEVER;
use tailback_protocol::WaitsUntil;

use super::request::Request;
use super::state::OutputPort;
use super::{Microarchitecture, Routers, Surroundings};
use crate::message_trace::Blocked;
use crate::packet::{NONE, Packet};
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// A packet starts to cross.
    #[inline]
    pub(super) fn cross(&mut self, request: &Request, now: Time, around: &mut Surroundings<'_>) {
        let &Request { id, packet, output: index, vc, .. } = request;
        if self.may(self.rules.watches_crossings) {
            self.ask_crossing(id, packet, index, vc, now, around);
        }
        if self.may(self.rules.counts_for_nodes == Some(WaitsUntil::Crossing)) {
            self.waits_no_more(index, &around.pool[packet], around.fabric);
        }
        let record = &mut around.pool[packet];
        let flits = record.flits;
        if self.may(self.rules.times_out) && around.fabric.queueing_timeout(record.class).is_some() {
            record.word += now - record.head_at;
        }
        // The crossbar takes a flit per tick, but none before it has arrived.
        let end = (now + Time::from(flits)).max(record.tail_at() + 1);
        let behind = std::mem::replace(&mut record.next, NONE);
        record.vc = vc;
        if let Some(header) = self.scratch.headers.get(usize::from(request.header)) {
            record.header = *header;
        }
        Self::trace_crossing(packet, request.port, vc, now, around);
        let number = self.input_number(id);
        let held_until = if self.might(self.rules.frees_outputs_early) { now + Time::from(flits) } else { end };
        let keeps_turns = self.keeps_turns();
        let output = self.output_mut(index, vc);
        (output.busy_until, output.vc) = (held_until, vc);
        if !keeps_turns {
            output.last = number;
        }
        let input = self.input_mut(id);
        (input.busy_until, input.last_voq, input.last_vc, input.last_port) = (end, id.voq, id.vc, request.port);
        if self.might(self.rules.first_round_turns) && !keeps_turns {
            self.note_turn(id, request.port);
        }
        if !M::BASIC {
            self.note_served(id, index, vc, now);
            if self.rules.vc_allocation {
                self.schedule_output_free(index, vc, around);
            }
        }
        self.packet_hops += 1;
        self.last_hop = now;

        if self.rules.looks_at(self.outputs[index as usize].link_class) {
            around.broadcasts.note_change(self.inputs[id.index as usize].router);
        }
        if self.rules.tells_heads {
            if self.rules.tells_crossings && !self.is_internal(id.index) {
                let (class, entry) = self.entry(id, around.fabric);
                around.tell_crosses(self.inputs[id.index as usize].router, class, entry);
            }
            self.schedule_input_free(id, around);
        }
        self.leave_queue(request, behind, flits, end, now, around);
        self.take_credits(index, vc, flits);
        self.take_room_for_node(id, index, vc, flits);
        if self.departs_at_once() {
            self.depart(index, packet, end, now, around);
        } else {
            self.enqueue(index, packet, end, now, around);
        }
    }

    /// The head of a queue starts to cross until `end`: it leaves its buffer, the packet behind it becomes head, and
    /// whoever is awake at the same crossbar connection waits for the crossing to end.
    #[inline]
    fn leave_queue(
        &mut self,
        request: &Request,
        behind: u32,
        flits: u16,
        end: Time,
        now: Time,
        around: &mut Surroundings<'_>,
    ) {
        let &Request { id, queue, .. } = request;
        if self.may(self.rules.counts_inputs) {
            let channel = self.channel(id.index, id.vc);
            self.extras.occupied[channel] -= flits;
        }
        around.return_credit(&self.inputs[id.index as usize], id.vc, flits, self.node_of_credit(id), now);
        self.queues[queue as usize].head = behind;
        if behind == NONE {
            self.clear_awake(id);
        } else {
            Self::trace_wait(behind, Blocked::Input, now, around);
            let flits = around.pool[behind].flits;
            self.set_head(id, queue as usize, behind, flits, around);
            if !self.inputs_share() || self.might(self.rules.head_delay > 0) {
                self.begin_asking(id, end, now, around);
            }
        }
        if self.sorts_by_node() {
            self.schedule_input_free(id, around); // others may wait for the connection of the same channel
        }
        if self.inputs_share() {
            self.deactivate(id.index);
            if self.has_awake(id) {
                self.schedule_input_free(id, around);
            }
        }
    }

    /// Takes the credits of the buffer that a packet goes to, where that is done before it crosses.
    #[inline]
    fn take_credits(&mut self, index: u32, vc: u8, flits: u16) {
        if self.may(!self.rules.claims_first) {
            let channel = self.channel(index, vc);
            self.extras.uncredited[channel] += u32::from(flits);
        } else if !self.outputs[index as usize].is_terminal() {
            *self.credit_mut(index, vc) -= flits;
        }
    }

    /// A packet enters its output queue, if it is not sent off at once; its last flit has crossed before `end`.
    fn enqueue(&mut self, index: u32, packet: u32, end: Time, now: Time, around: &mut Surroundings<'_>) {
        let record = &mut around.pool[packet];
        let (vc, flits) = (record.vc, record.flits);
        let output = &self.outputs[index as usize];
        let queue = around.fabric.output_queue(output.link_class, vc);
        if self.rules.measures_queues && self.rules.claims_first && !output.is_terminal() {
            self.extras.backlogs[index as usize].credited += u32::from(flits);
        }
        if self.rules.departs_if_alone && self.departs_alone(index, queue, packet, end, now, around) {
            return;
        }
        let ready = now + self.rules.crossbar_delay;
        let record = &mut around.pool[packet];
        (record.head_at, record.tail_lag) = (ready, end - 1 - now);
        if self.rules.measures_queues {
            self.extras.backlogs[index as usize].queued += u32::from(flits);
        }
        if self.rules.bounded {
            *self.space_mut(index, queue) -= u32::from(flits);
        }
        if let Some(last) = self.append(index, queue, packet) {
            around.pool[last].next = packet;
        }
        if self.extras.senders[index as usize].start_at == NEVER {
            self.schedule_start(index, ready, now, around);
        }
    }
}

impl Packet {
    /// Its first flit leaves by the link of a port at `start`, its last at `last_sent`. Returns when it arrives: at a router its
    /// first flit, at a node its last.
    #[inline]
    pub(super) fn leave(&mut self, start: Time, last_sent: Time, port: &OutputPort) -> Time {
        self.head_at = start + port.latency;
        self.tail_lag = last_sent - start;
        if port.is_terminal() {
            return self.tail_at();
        }
        self.hops += 1;
        self.head_at
    }
}
