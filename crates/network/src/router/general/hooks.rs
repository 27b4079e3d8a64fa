//! Where the machine of a router is asked: about packets that reach their last router, about heads that cannot leave,
//! about packets that leave their buffer. And what it says: control packets that come in by a port of their own, behind
//! which nothing is.
//!
//! **The invariant it keeps:** only packets of lossy classes are dropped, each with a word to its source; what a dropped
//! packet had claimed is given back.

use tailback_protocol::{Buffers, Control, PacketKind};

use super::General;
use super::state::At;
use crate::event::{Event, EventKind};
use crate::packet::{NONE, Packet};
use crate::router::{Place, Surroundings};
use crate::time::Time;

impl General {
    /// A packet that has just come in, for the port of its row, and is in no queue yet. Returns whether it goes no further.
    pub(super) fn ends_here(&mut self, at: At, packet: u32, now: Time, around: &mut Surroundings<'_>) -> bool {
        let output = self.state.port_index(at.router, at.row);
        if !self.state.link(output).is_terminal() {
            return false;
        }
        let (hooks, record) = (around.fabric.hooks, &around.pool[packet]);
        let switch = &mut around.machines.switches[at.router as usize];
        let (port, queued) = (at.row.into(), self.state.queued(output));
        let word = match record.kind {
            PacketKind::Reservation if hooks.reservations => switch.takes(&record.control(), port, now.into()),
            PacketKind::SpeculativeData if hooks.last_hop => switch.drops(&record.passing(), port, queued, now.into()),
            _ => None,
        };
        let (flits, is_data) = (record.flits, record.kind.carries_data());
        let Some(word) = word else {
            *self.state.queued_mut(output) += if is_data { u32::from(flits) } else { 0 };
            return false;
        };
        *self.state.occupied_mut(at.index, at.vc) -= flits;
        let gone = around.pool.remove(packet);
        around.return_credit(self.state.link(at.index), at.vc, flits, now);
        if is_data {
            around.machines.dropped.push(gone);
        }
        self.speak(at.router, &word, now, around);
        true
    }

    /// Drops the head of a queue if it has waited for too long, or too much waits for its node. Returns whether it did.
    pub(super) fn drops_head(&mut self, at: At, now: Time, around: &mut Surroundings<'_>) -> bool {
        let queue = *self.state.queue(at);
        let record = &around.pool[queue.head];
        if record.kind != PacketKind::SpeculativeData {
            return false;
        }
        let output = self.state.port_index(at.router, queue.port);
        let watched = self.state.rules.watches && queue.routed && self.state.link(output).is_terminal();
        let queued = if watched { self.state.queued(output) - u32::from(record.flits) } else { 0 };
        let overdue = self.patience_ends(queue.head, around).is_some_and(|end| end < now);
        let switch = &mut around.machines.switches[at.router as usize];
        let word = if overdue {
            Some(switch.give_up(&record.passing(), now.into()))
        } else if watched && around.fabric.hooks.last_hop {
            switch.drops(&record.passing(), queue.port.into(), queued, now.into())
        } else {
            None
        };
        let Some(word) = word else { return false };
        if watched {
            *self.state.queued_mut(output) = queued;
        }
        self.drop_head(at, now, around);
        self.speak(at.router, &word, now, around);
        true
    }

    /// Takes the head of a queue away, and gives back what it had claimed.
    fn drop_head(&mut self, at: At, now: Time, around: &mut Surroundings<'_>) {
        let queue = *self.state.queue(at);
        let gone = around.pool.remove(queue.head);
        *self.state.occupied_mut(at.index, at.vc) -= gone.flits;
        around.return_credit(self.state.link(at.index), at.vc, gone.flits, now);
        let behind = gone.next;
        around.machines.dropped.push(gone);
        self.state.queue_mut(at).head = behind;
        self.state.clear_awake(at);
        self.state.row_mut(at).asleep &= !(1 << at.vc);
        if self.state.rules.tells_heads && !self.is_crossing(at) {
            self.tell_of_new_head(at, around);
        }
        if behind != NONE {
            let from = now.max(self.crossing_until(at));
            self.new_head(at, from, now, around);
        }
    }

    /// The last tick to which the patience of a packet lasts that waits at an input.
    fn patience_ends(&self, packet: u32, around: &Surroundings<'_>) -> Option<Time> {
        let record = &around.pool[packet];
        let patience = around.fabric.patience(record.class)?;
        Some(record.head_at.saturating_add(patience.saturating_sub(record.word)))
    }

    /// Makes sure that an event wakes the head of a queue, which is going to sleep, when its patience is at its end.
    pub(super) fn watch_patience(&mut self, at: At, now: Time, around: &mut Surroundings<'_>) {
        let packet = self.state.queue(at).head;
        if around.pool[packet].kind != PacketKind::SpeculativeData {
            return;
        }
        let Some(end) = self.patience_ends(packet, around) else { return };
        let time = end.saturating_add(1).max(now + 1);
        let impatience = self.state.impatience_mut(at);
        if impatience.at == time {
            return;
        }
        impatience.at = time;
        impatience.serial = impatience.serial.wrapping_add(1);
        let payload = u32::from(at.row) << 24 | u32::from(at.vc) << 16 | u32::from(impatience.serial);
        around.schedule(time, Event::at_port(EventKind::Impatience, at.router, at.port, payload));
    }

    /// The head of a queue may have waited for too long: lets it be looked at.
    pub(super) fn wake_impatient(&mut self, place: Place, payload: u32, now: Time, around: &mut Surroundings<'_>) {
        let at = self.state.at(place, (payload >> 24) as u8, (payload >> 16) as u8);
        let impatience = self.state.impatience_mut(at);
        if impatience.serial != payload as u16 {
            return; // it was for another head
        }
        impatience.at = 0;
        let sleeps = self.state.row(at).asleep & 1 << at.vc != 0;
        if sleeps && self.patience_ends(self.state.queue(at).head, around).is_some_and(|end| end < now) {
            self.state.set_awake(at);
            self.rouse(at, now, around);
        }
    }

    /// A control packet of the router itself comes in by its own port.
    fn speak(&mut self, router: u32, word: &Control, now: Time, around: &mut Surroundings<'_>) {
        let mut packet = Packet::of_control(word, around.fabric, now);
        packet.vc = around.fabric.spec.classes[usize::from(packet.class)].first_vc[0];
        let packet = around.pool.insert(packet);
        let port = self.state.voice();
        self.take_in(Place { router, port }, packet, now, around);
    }

    /// Lets the router's machine mark a packet that leaves its buffer for channel `vc` of port `index`.
    pub(super) fn mark(&mut self, at: At, packet: u32, index: u32, vc: u8, around: &mut Surroundings<'_>) {
        if !around.pool[packet].kind.carries_data() {
            return;
        }
        let capacity = |index: u32, vc: u8| u32::from(around.fabric.capacity(self.state.link(index).class, vc.into()));
        let link = self.state.link(index);
        let (next, next_max) = if link.is_terminal() {
            (0, 0)
        } else {
            let taken = capacity(index, vc) - u32::from(self.state.free(index, vc));
            (taken.saturating_sub(link.round_trip()), capacity(index, vc))
        };
        let (here, here_max) = (u32::from(self.state.occupied(at.index, at.vc)), capacity(at.index, at.vc));
        let switch = &mut around.machines.switches[at.router as usize];
        around.pool[packet].marks |= switch.marks(&Buffers { here, here_max, next, next_max });
    }
}
