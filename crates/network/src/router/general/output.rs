//! Crossing: packets leave their input queue and enter an output queue.

use tailback_engine::NEVER;
use tailback_protocol::PacketKind;

use super::General;
use super::allocate::Request;
use super::state::At;
use crate::packet::NONE;
use crate::router::{Place, Surroundings};
use crate::time::Time;

impl General {
    /// A packet starts to cross.
    pub(super) fn cross(&mut self, request: &Request, now: Time, around: &mut Surroundings<'_>) {
        let &Request { at, packet, port, index, vc, header } = request;
        if self.state.rules.marks {
            self.mark(at, packet, index, vc, around);
        }
        let record = &mut around.pool[packet];
        let flits = record.flits;
        if self.state.rules.impatient && record.kind == PacketKind::SpeculativeData {
            record.word += now - record.head_at;
        }
        // The crossbar takes a flit per tick, but none before it has arrived.
        let end = (now + Time::from(flits)).max(record.tail_at() + 1);
        let behind = std::mem::replace(&mut record.next, NONE);
        record.vc = vc;
        record.head_at = now + self.state.rules.crossbar_delay;
        record.tail_lag = end - 1 - now;
        if let Some(header) = header {
            record.header = header;
        }

        let input = self.state.input_mut(at);
        (input.busy_until, input.last_row, input.last_vc, input.last_port) = (end, at.row, at.vc, port);
        let number = self.state.input_number(at);
        let output = self.state.output_mut(index, vc);
        (output.busy_until, output.last, output.vc) = (end, number, vc);
        self.state.note_served(at, index, vc, now);
        let place = Place { router: at.router, port };
        if self.state.rules.vc_allocation {
            self.schedule_output_free(place, vc, around);
        }
        self.packet_hops += 1;
        self.last_hop = now;

        if self.state.rules.tells_changes {
            around.gossip.note_change(at.router);
        }
        if self.state.rules.tells_heads {
            self.schedule_input_free(at, around);
        }
        self.leave_queue(at, behind, flits, end, now, around);
        self.enqueue(place, index, packet, now, around);
    }

    /// The head of a queue starts to cross until `end`: it leaves its buffer, the packet behind it becomes head, and
    /// whoever is awake at the same crossbar connection waits for the crossing to end.
    fn leave_queue(&mut self, at: At, behind: u32, flits: u16, end: Time, now: Time, around: &mut Surroundings<'_>) {
        *self.state.occupied_mut(at.index, at.vc) -= flits;
        around.return_credit(self.state.link(at.index), at.vc, flits, now);
        self.state.queue_mut(at).head = behind;
        self.state.clear_awake(at);
        if behind != NONE {
            self.new_head(at, end, now, around);
        }
        if self.state.shape.inputs == 1 {
            self.state.deactivate(at.router, at.port);
            if self.state.awake_row(at.index, 0).is_some() {
                self.rouse(at, now, around);
            }
        }
    }

    /// A packet enters its output queue.
    fn enqueue(&mut self, place: Place, index: u32, packet: u32, now: Time, around: &mut Surroundings<'_>) {
        let record = &around.pool[packet];
        let (vc, flits, ready) = (record.vc, record.flits, record.head_at);
        let link = *self.state.link(index);
        if !self.state.rules.claims_first {
            *self.state.lined_up_mut(index, vc) += u32::from(flits);
        } else if !link.is_terminal() {
            *self.state.free_mut(index, vc) -= flits;
        }
        if self.state.rules.measures_queues {
            let claims = self.state.rules.claims_first && !link.is_terminal();
            let backlog = self.state.backlog_mut(index);
            backlog.lined_up += u32::from(flits);
            backlog.claimed += if claims { u32::from(flits) } else { 0 };
        }
        let lane = around.fabric.lane(link.class, vc);
        if self.state.rules.bounded {
            self.state.lane_mut(index, lane).space -= u32::from(flits);
        }
        if let Some(last) = self.state.append(index, lane, packet) {
            around.pool[last].next = packet;
        }
        if self.state.sender(index).start_at == NEVER {
            self.schedule_start(place, index, ready, now, around);
        }
    }
}
