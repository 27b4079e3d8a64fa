//! Where the protocol's machine of a router is asked: about packets that reach their last router, about heads that cannot
//! leave, about packets that leave their buffer. And what it sends: control packets that come in by an internal port,
//! behind which nothing is.
//!
//! **The invariant it keeps:** only packets of lossy classes are dropped, each with a control packet to its source; the
//! credits of a dropped packet are given back.

use tailback_protocol::{Buffers, Control, PacketKind};

use super::state::QueueId;
use super::{Microarchitecture, PortId, Routers, Surroundings};
use crate::event::{Event, EventKind};
use crate::packet::{NONE, Packet};
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// A packet that has just come in, for the port of its VOQ, and is in no queue yet. Returns whether it is dropped or
    /// absorbed here.
    pub(super) fn ends_here(&mut self, id: QueueId, packet: u32, now: Time, around: &mut Surroundings<'_>) -> bool {
        let (router, output) = (self.router_of(id), self.output_of(id, id.voq));
        if !self.outputs[output].is_terminal() {
            return false;
        }
        let (hooks, record) = (around.fabric.hooks, &around.pool[packet]);
        let switch = &mut around.machines.switches[router as usize];
        let (port, waiting) = (id.voq.into(), self.extras.waiting_for_node[output]);
        let answer = match record.kind {
            PacketKind::Reservation if hooks.reservations => switch.takes(&record.control(), port, now.into()),
            PacketKind::SpeculativeData if hooks.last_hop => switch.drops(&record.passing(), port, waiting, now.into()),
            _ => None,
        };
        let (flits, is_data) = (record.flits, record.kind.carries_data());
        let Some(answer) = answer else {
            self.extras.waiting_for_node[output] += if is_data { u32::from(flits) } else { 0 };
            return false;
        };
        let gone = around.pool.remove(packet);
        self.free_buffer(id, flits, now, around);
        if is_data {
            around.machines.dropped.push(gone);
        }
        self.inject_control(router, &answer, now, around);
        true
    }

    /// The router that a queue is in, as the region numbers it.
    fn router_of(&self, id: QueueId) -> u32 {
        self.inputs[id.index as usize].router
    }

    /// The number of a port of the same router.
    fn output_of(&self, id: QueueId, port: u8) -> usize {
        self.inputs[id.index as usize].first_port as usize + usize::from(port)
    }

    /// A packet is gone from its buffer: gives its credits back.
    fn free_buffer(&mut self, id: QueueId, flits: u16, now: Time, around: &mut Surroundings<'_>) {
        if self.rules.marks {
            let channel = self.channel(id.index, id.vc);
            self.extras.occupied[channel] -= flits;
        }
        around.return_credit(&self.inputs[id.index as usize], id.vc, flits, now);
    }

    /// Drops the head of a queue if it has waited for too long, or too much waits for its node. Returns whether it did.
    pub(super) fn drops_head(&mut self, id: QueueId, now: Time, around: &mut Surroundings<'_>) -> bool {
        let queue = *self.queue(id);
        let record = &around.pool[queue.head];
        if record.kind != PacketKind::SpeculativeData {
            return false;
        }
        let (router, output) = (self.router_of(id), self.output_of(id, queue.port));
        let watched = self.rules.watches && queue.routed && self.outputs[output].is_terminal();
        let waiting = if watched { self.extras.waiting_for_node[output] - u32::from(record.flits) } else { 0 };
        let overdue = times_out_after(queue.head, around).is_some_and(|end| end < now);
        let switch = &mut around.machines.switches[router as usize];
        let nack = if overdue {
            Some(switch.give_up(&record.passing(), now.into()))
        } else if watched && around.fabric.hooks.last_hop {
            switch.drops(&record.passing(), queue.port.into(), waiting, now.into())
        } else {
            None
        };
        let Some(nack) = nack else { return false };
        if watched {
            self.extras.waiting_for_node[output] = waiting;
        }
        self.drop_head(id, now, around);
        self.inject_control(router, &nack, now, around);
        true
    }

    /// Takes the head of a queue away, and gives its credits back.
    fn drop_head(&mut self, id: QueueId, now: Time, around: &mut Surroundings<'_>) {
        let gone = around.pool.remove(self.queue(id).head);
        self.free_buffer(id, gone.flits, now, around);
        let behind = gone.next;
        around.machines.dropped.push(gone);
        let queue = self.queue_index(id);
        self.queues[queue].head = behind;
        self.clear_awake(id);
        self.heads_mut(id).asleep &= !(1 << id.vc);
        if self.rules.tells_heads && !self.is_crossing_still(id) {
            self.tell_of_new_head(id, now, around);
        }
        if behind != NONE {
            let from = now.max(self.crossing_until(id));
            let flits = around.pool[behind].flits;
            self.set_head(id, queue, behind, flits, around);
            self.begin_asking(id, from, now, around);
        }
    }

    /// Makes sure that an event wakes the head of a queue, which is going to sleep, when it has waited for too long.
    pub(super) fn schedule_timeout(&mut self, id: QueueId, now: Time, around: &mut Surroundings<'_>) {
        let packet = self.queue(id).head;
        if around.pool[packet].kind != PacketKind::SpeculativeData {
            return;
        }
        let Some(end) = times_out_after(packet, around) else { return };
        let time = end.saturating_add(1).max(now + 1);
        let queue = self.queue_index(id);
        let timeout = &mut self.extras.timeouts[queue];
        if timeout.at == time {
            return;
        }
        timeout.at = time;
        timeout.serial = timeout.serial.wrapping_add(1);
        let payload = u32::from(id.voq) << 24 | u32::from(id.vc) << 16 | u32::from(timeout.serial);
        around.schedule(time, Event::at(EventKind::HeadTimeout, id.index, payload));
    }

    /// The head of a queue may have waited for too long: lets it be looked at.
    pub fn head_timeout(&mut self, port: u32, payload: u32, now: Time, around: &mut Surroundings<'_>) {
        let id = self.queue_id(port, (payload >> 24) as u8, (payload >> 16) as u8);
        let queue = self.queue_index(id);
        let timeout = &mut self.extras.timeouts[queue];
        if timeout.serial != payload as u16 {
            return; // it was for another head
        }
        timeout.at = 0;
        let sleeps = self.heads(id).asleep & 1 << id.vc != 0;
        if sleeps && times_out_after(self.queue(id).head, around).is_some_and(|end| end < now) {
            self.set_awake(id);
            self.rouse(id, now, around);
        }
    }

    /// A control packet of the router itself comes in by its internal port.
    fn inject_control(&mut self, router: u32, control: &Control, now: Time, around: &mut Surroundings<'_>) {
        let mut packet = Packet::of_control(control, around.fabric, now);
        packet.vc = around.fabric.spec.classes[usize::from(packet.class)].first_vc[0];
        let packet = around.pool.insert(packet);
        let port = self.internal_port();
        self.arrive(self.port_index(PortId { router, port }), packet, now, around);
    }

    /// Lets the router's machine mark a packet that leaves its buffer for channel `vc` of port `index`.
    pub(super) fn mark(&mut self, id: QueueId, packet: u32, index: u32, vc: u8, around: &mut Surroundings<'_>) {
        if !around.pool[packet].kind.carries_data() {
            return;
        }
        let (input, output) = (&self.inputs[id.index as usize], &self.outputs[index as usize]);
        let (next, next_max) = if output.is_terminal() {
            (0, 0)
        } else {
            let capacity = around.fabric.capacity(output.link_class, vc.into());
            let taken = u32::from(capacity - self.credit(index, vc));
            (taken.saturating_sub(output.round_trip()), capacity.into())
        };
        let here = self.extras.occupied[self.channel(id.index, id.vc)].into();
        let here_max = around.fabric.capacity(input.link_class, id.vc.into()).into();
        let switch = &mut around.machines.switches[self.router_of(id) as usize];
        around.pool[packet].marks |= switch.marks(&Buffers { here, here_max, next, next_max });
    }
}

/// The last tick until which a packet may wait at an input.
fn times_out_after(packet: u32, around: &Surroundings<'_>) -> Option<Time> {
    let record = &around.pool[packet];
    let timeout = around.fabric.queueing_timeout(record.class)?;
    Some(record.head_at.saturating_add(timeout.saturating_sub(record.word)))
}
