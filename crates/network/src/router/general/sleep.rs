//! Sleeping: heads that cannot leave are not looked at until something changes at the output they want.
//!
//! What can change is that the crossbar connection becomes free, that the output queue gets room, that credits
//! arrive, or that a virtual channel is given back. Each of these wakes all that sleep at the port.

use super::General;
use super::state::At;
use crate::event::{Event, EventKind};
use crate::router::{Place, Surroundings};
use crate::time::Time;

impl General {
    /// Puts the head of a queue to sleep until something changes at `port`.
    pub(super) fn sleep(&mut self, at: At, port: u8, now: Time, around: &mut Surroundings<'_>) {
        self.sleep_until_change(at, port);
        if self.state.rules.impatient {
            self.watch_patience(at, now, around);
        }
        let index = self.state.port_index(at.router, port);
        for vc in 0..self.state.shape.outputs as u8 {
            if self.state.output(index, vc).busy_until > now {
                self.schedule_output_free(Place { router: at.router, port }, vc, around);
            }
        }
    }

    /// The same, where the change that is waited for has its event already.
    pub(super) fn sleep_until_change(&mut self, at: At, port: u8) {
        self.state.clear_awake(at);
        self.state.row_mut(at).asleep |= 1 << at.vc;
        if self.state.awake_row(at.index, 0).is_none() {
            self.state.deactivate(at.router, at.port);
        }
        let index = self.state.port_index(at.router, port);
        self.state.add_waiter(index, at.port);
    }

    /// Makes sure that an event tells when a crossbar output is free again.
    pub(super) fn schedule_output_free(&mut self, place: Place, vc: u8, around: &mut Surroundings<'_>) {
        let index = self.state.port_index(place.router, place.port);
        let output = self.state.output_mut(index, vc);
        if !output.free_scheduled {
            output.free_scheduled = true;
            let event = Event::at_port(EventKind::OutputFree, place.router, place.port, vc.into());
            around.schedule(output.busy_until, event);
        }
    }

    /// Something changed at a port: wakes those that sleep until then, unless the crossbar is still busy there; then
    /// they are woken when it is done.
    pub(super) fn notify(&mut self, place: Place, now: Time, around: &mut Surroundings<'_>) {
        let index = self.state.port_index(place.router, place.port);
        if !self.state.has_waiters(index) {
            return;
        }
        let busy = self.state.shape.outputs == 1 && self.state.output(index, 0).busy_until > now;
        if busy && !self.ejects_when_idle(index) {
            self.schedule_output_free(place, 0, around);
            return;
        }
        for word in 0..self.state.shape.words {
            let mut sleepers = self.state.take_waiters(index, word);
            while sleepers != 0 {
                let sleeper = (word as u32 * 64 + sleepers.trailing_zeros()) as u8;
                sleepers &= sleepers - 1;
                self.wake(place.router, sleeper, place.port, now, around);
            }
        }
    }

    /// Wakes the queues of port `sleeper` whose heads want to leave by `port`.
    fn wake(&mut self, router: u32, sleeper: u8, port: u8, now: Time, around: &mut Surroundings<'_>) {
        let row = if self.state.shape.rows > 1 { port } else { 0 };
        let first = self.state.at(Place { router, port: sleeper }, row, 0);
        let mut asleep = self.state.row(first).asleep;
        while asleep != 0 {
            let at = At { vc: asleep.trailing_zeros() as u8, ..first };
            asleep &= asleep - 1;
            if self.state.queue(at).port == port {
                self.state.set_awake(at);
                self.rouse(at, now, around);
            }
        }
    }
}
