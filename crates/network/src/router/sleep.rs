//! Sleeping: heads that cannot leave are not looked at until something changes at the output they want.
//!
//! What can change is that the crossbar connection becomes free, that the output queue gets room, that credits
//! arrive, or that a virtual channel is given back. Each of these wakes all that sleep at the port.

use tailback_engine::Tick;

use super::state::At;
use crate::Observer;
use crate::event::{Event, EventKind};
use crate::region::NetworkRegion;

impl<O: Observer, const V: usize, const PLAIN: bool> NetworkRegion<O, V, PLAIN> {
    /// Puts the head of a queue to sleep until something changes at `port`.
    pub(super) fn sleep(&mut self, at: At, port: u8, now: Tick) {
        self.sleep_until_change(at, port);
        let index = self.routers.port_index(at.router, port);
        for vc in 0..if PLAIN { 1 } else { self.shape.outputs as u8 } {
            if self.routers.output(index, vc).busy_until > now {
                self.schedule_output_free(at.router, port, vc);
            }
        }
        if (PLAIN || self.rules.departs_in_order) && self.rules.bounded {
            self.schedule_room_free(at.router, port, index, now);
        }
    }

    /// Makes sure that an event tells when the next departing packet has made room.
    fn schedule_room_free(&mut self, router: u32, port: u8, index: u32, now: Tick) {
        self.routers.look_at_departures(index, now);
        let Some(departure) = self.routers.next_departure(index) else { return };
        let queue = &mut self.routers.port_mut(index).output_queue;
        let short = queue.space < u32::from(self.fabric.spec.packet_flits_max);
        if short && !queue.room_scheduled {
            queue.room_scheduled = true;
            // Room is seen by allocations after the tick in which it is made.
            self.wheel.schedule(departure.tick + 1, Event::at_port(EventKind::RoomFree, router, port, 0));
        }
    }

    /// The same, where the change that is waited for has its event already.
    pub(super) fn sleep_until_change(&mut self, at: At, port: u8) {
        self.routers.clear_awake(at);
        let row = self.routers.row_mut(at);
        row.asleep |= 1 << at.vc;
        if (PLAIN || self.shape.rows == 1) && row.awake == 0 {
            self.routers.deactivate(at.router, at.port);
        }
        let index = self.routers.port_index(at.router, port);
        self.routers.add_waiter(index, at.port);
    }

    /// Makes sure that an event tells when a crossbar output is free again.
    pub(super) fn schedule_output_free(&mut self, router: u32, port: u8, vc: u8) {
        let index = self.routers.port_index(router, port);
        let output = self.routers.output_mut(index, vc);
        if !output.free_scheduled {
            output.free_scheduled = true;
            let tick = output.busy_until;
            self.wheel.schedule(tick, Event::at_port(EventKind::OutputFree, router, port, u32::from(vc)));
        }
    }

    /// The crossbar is done with a packet for a port.
    pub(crate) fn output_free(&mut self, router: u32, port: u8, vc: u8, now: Tick) {
        let index = self.routers.port_index(router, port);
        let output = self.routers.output_mut(index, vc);
        output.free_scheduled = false;
        if self.rules.vc_allocation {
            let vc = output.vc;
            *self.routers.owned_mut(index, vc) = false;
        }
        self.notify(router, port, now);
    }

    /// Something changed at a port: wakes those that sleep until then, unless the crossbar is still busy there; then
    /// they are woken when it is done.
    #[inline]
    pub(super) fn notify(&mut self, router: u32, port: u8, now: Tick) {
        let index = self.routers.port_index(router, port);
        if self.routers.has_waiters(index) {
            self.wake_waiters(router, port, index, now);
        }
    }

    fn wake_waiters(&mut self, router: u32, port: u8, index: u32, now: Tick) {
        if (PLAIN || self.shape.outputs == 1) && self.routers.output(index, 0).busy_until > now {
            self.schedule_output_free(router, port, 0);
            return;
        }
        for word in 0..self.shape.words {
            let mut sleepers = self.routers.take_waiters(index, word);
            while sleepers != 0 {
                let sleeper = (word as u32 * 64 + sleepers.trailing_zeros()) as u8;
                sleepers &= sleepers - 1;
                self.wake(router, sleeper, port, now);
            }
        }
    }

    /// Wakes the queues of port `sleeper` whose heads want to leave by `port`.
    fn wake(&mut self, router: u32, sleeper: u8, port: u8, now: Tick) {
        let row = if !PLAIN && self.shape.rows > 1 { port } else { 0 };
        let first = self.routers.at(router, sleeper, row, 0);
        let mut asleep = self.routers.row(first).asleep;
        while asleep != 0 {
            let at = At { vc: asleep.trailing_zeros() as u8, ..first };
            asleep &= asleep - 1;
            if self.routers.queue(at).port == port {
                self.routers.set_awake(at);
                self.rouse(at, now);
            }
        }
    }
}
