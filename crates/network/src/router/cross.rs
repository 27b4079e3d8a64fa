//! Crossing: packets leave their input queue and enter an output queue, or are sent off at once.

use tailback_engine::NEVER;
use tailback_protocol::WaitsUntil;

use super::departures::Sent;
use super::request::{KEPT, Request, SETTLED};
use super::state::{OutputPort, QueueId};
use super::{Microarchitecture, Routers, Surroundings};
use crate::message_trace::Blocked;
use crate::packet::{NONE, Packet};
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// A packet starts to cross.
    #[inline]
    pub(super) fn cross(&mut self, request: &Request, now: Time, around: &mut Surroundings<'_>) {
        let &Request { id, packet, output: index, vc, .. } = request;
        if Self::unless_plain(self.rules.watches_crossings) {
            self.ask_crossing(id, packet, index, vc, now, around);
        }
        if Self::unless_plain(self.rules.counts_for_nodes == Some(WaitsUntil::Crossing)) {
            self.waits_no_more(index, &around.pool[packet], around.fabric);
        }
        if request.header != SETTLED {
            self.renew_header(request, around);
        }
        let record = &mut around.pool[packet];
        let (flits, behind) = (record.flits, std::mem::replace(&mut record.next, NONE));
        if Self::unless_plain(self.rules.times_out) && around.fabric.queueing_timeout(record.class).is_some() {
            record.word += now - record.head_at;
        }
        // The crossbar takes a flit per tick, but none before it has arrived.
        let end = (now + Time::from(flits)).max(record.tail_at() + 1);
        record.vc = vc;
        if Self::unless_basic(self.rules.turns_by_priority) && !self.keeps_turns() {
            self.note_turns_of_level(request, record.class);
        }
        let sent = self.take_output(request, record, end, now);
        self.note_entry(index, vc);
        if self.wakes_next() && self.outputs[index as usize].waiters != 0 {
            self.outputs[index as usize].connection.announce_free(index, 0, around);
        }
        Self::trace_crossing(packet, request.port, vc, now, around);
        self.packet_hops += 1;
        self.last_hop = now;
        if let Some(Sent { start, arrival, .. }) = sent {
            Self::trace_start(packet, start, around);
            around.send_packet(&self.outputs[index as usize], packet, arrival);
        }
        self.take_input(request, end, now, around);
        self.leave_queue(request, behind, flits, now, around);
        if Self::unless_basic(self.rules.head_delay > 0) || !self.inputs_share() {
            self.begin_behind(id, behind, end, now, around);
        }
        self.take_room_for_node(id, index, vc, flits);
        if sent.is_none() {
            self.enqueue(index, packet, end, now, around);
        }
    }

    /// A packet gets the header that goes with its decision. A function of its own, as most decisions are settled before.
    #[inline(never)]
    fn renew_header(&mut self, request: &Request, around: &mut Surroundings<'_>) {
        around.pool[request.packet].header = match request.header {
            KEPT => *self.extras.kept_decisions.header(request.queue as usize),
            number => self.scratch.headers[usize::from(number)],
        };
    }

    /// The crossbar is connected with an output until `end`, and credits of the buffer that the packet goes to are taken, where that
    /// is done before it crosses. Sends the packet off if it is known when it departs.
    #[inline]
    fn take_output(&mut self, request: &Request, packet: &mut Packet, end: Time, now: Time) -> Option<Sent> {
        let &Request { id, output: index, vc, .. } = request;
        let (number, keeps_turns, departs) = (self.input_number(id), self.keeps_turns(), self.departs_at_once());
        let (own, channel) = (self.own_output(index, vc), self.channel(index, vc));
        let output = &mut self.outputs[index as usize];
        let connection = own.map_or(&mut output.connection, |own| &mut self.extras.outputs[own]);
        let early = M::FREES_OUTPUTS_EARLY && self.rules.frees_outputs_early;
        connection.busy_until = if early { now + Time::from(packet.flits) } else { end };
        connection.vc = vc;
        if !keeps_turns {
            connection.last = number;
        }
        if Self::unless_plain(!self.rules.claims_first) {
            self.extras.uncredited[channel] += u32::from(packet.flits);
        } else if !output.is_terminal() {
            *output.credit_mut::<M>(&mut self.credits, channel, vc) -= packet.flits;
        }
        departs.then(|| {
            let sent = output.send(packet, end, now, &self.rules);
            if self.rules.bounded {
                self.departures.push(index, output, sent.departure, now);
            }
            sent
        })
    }

    /// The crossbar is connected with the input of a packet until `end`.
    #[inline]
    fn take_input(&mut self, request: &Request, end: Time, now: Time, around: &mut Surroundings<'_>) {
        let &Request { id, output: index, vc, .. } = request;
        let input = self.input_mut(id);
        (input.busy_until, input.last_voq, input.last_vc, input.last_port) = (end, id.voq, id.vc, request.port);
        if Self::unless_basic(self.rules.first_round_turns) && !self.keeps_turns() {
            self.note_turn(id, request.port);
        }
        if !M::BASIC {
            self.note_served(id, index, vc, now);
            if self.rules.vc_allocation {
                self.schedule_output_free(index, vc, around);
            }
        }
        if self.rules.looks_at_any() && self.rules.looks_at(self.outputs[index as usize].link_class) {
            around.broadcasts.note_change(self.inputs[id.index as usize].router);
        }
        if self.tells_heads(id.index) {
            if self.rules.tells_crossings {
                let (class, entry) = self.entry(id, around.fabric);
                around.tell_crosses(self.inputs[id.index as usize].router, class, entry);
            }
            self.schedule_input_free(id, around);
        }
    }

    /// The head of a queue starts to cross: it leaves its buffer, the packet behind it becomes head, and whoever is awake at the
    /// same crossbar connection waits for the crossing to end.
    #[inline]
    fn leave_queue(&mut self, request: &Request, behind: u32, flits: u16, now: Time, around: &mut Surroundings<'_>) {
        let &Request { id, queue, .. } = request;
        self.routed_no_more(id, flits);
        if Self::unless_plain(self.rules.counts_inputs) {
            let channel = self.channel(id.index, id.vc);
            self.extras.occupied[channel] -= flits;
        }
        let (node_of_credit, routed) = (self.node_of_credit(id), self.routes_on_arrival());
        let (shares, sorts_by_node) = (self.inputs_share(), self.sorts_by_node());
        let credit_at = self.credit_time(id.index, now);
        let record = &mut self.queues[queue as usize];
        if behind == NONE {
            record.head = NONE;
        } else {
            Self::trace_wait(behind, Blocked::Input, now, around);
            record.set_head(behind, around.pool[behind].flits, routed.then_some(id.voq), around);
        }
        let input = &mut self.inputs[id.index as usize];
        around.return_credit(input, id.vc, flits, node_of_credit, credit_at);
        if behind == NONE || Self::unless_basic(self.rules.head_delay > 0) {
            Self::clear_awake_at(input, &mut self.extras, &self.shape, id);
        }
        if shares {
            self.active.remove(input.place());
            // Others may wait for the connection of the same channel where each node has a queue.
            if sorts_by_node || self.extras.has_awake::<M>(input, &self.shape, id.index) {
                input.connection.announce_free::<M>(id, around);
            }
        }
    }

    /// When the credits are returned of what leaves an input now: behind those before them.
    #[inline]
    pub(super) fn credit_time(&mut self, index: u32, now: Time) -> Time {
        if !Self::unless_basic(self.rules.credit_interval > 0) {
            return now;
        }
        let next = &mut self.extras.next_credit[index as usize];
        let time = now.max(*next);
        *next = time + self.rules.credit_interval;
        time
    }

    /// The packet behind one that crosses until `end` has become head, if there is one, and has to say so: where heads have
    /// to wait before they ask, or have connections of their own.
    fn begin_behind(&mut self, id: QueueId, behind: u32, end: Time, now: Time, around: &mut Surroundings<'_>) {
        if behind != NONE {
            self.begin_asking(id, end, now, around);
        }
        if self.sorts_by_node() {
            self.schedule_input_free(id, around);
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
