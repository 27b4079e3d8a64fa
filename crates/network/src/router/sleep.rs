//! Sleeping: heads that cannot leave are not looked at until something changes at the output they want.
//!
//! What can change is that the crossbar connection becomes free, that the output queue gets room, that credits
//! arrive, or that a virtual channel is given back. Each of these wakes all that sleep at the port.

use tailback_engine::Tick;

use super::input::QueueAt;
use crate::Observer;
use crate::event::{Event, EventKind};
use crate::region::NetworkRegion;

impl<O: Observer> NetworkRegion<O> {
    /// Puts the head of a queue to sleep until something changes at `port`.
    pub(super) fn sleep(&mut self, at: QueueAt, port: u8, now: Tick) {
        self.sleep_until_change(at, port);
        let index = self.port_index(at.router, port);
        for vc in 0..self.fabric.shape.outputs as u8 {
            let output = self.output_index(index, vc);
            if self.routers.outputs[output].busy_until > now {
                self.schedule_output_free(at.router, port, output, vc);
            }
        }
    }

    /// The same, where the change that is waited for has its event already.
    pub(super) fn sleep_until_change(&mut self, at: QueueAt, port: u8) {
        let shape = self.fabric.shape;
        let row = self.row_index(at);
        let row = &mut self.routers.rows[row];
        row.awake &= !(1 << at.vc);
        row.asleep |= 1 << at.vc;
        if row.awake == 0 {
            if shape.rows > 1 {
                let own = self.port_index(at.router, at.port);
                self.routers.active_rows[own * shape.words + usize::from(at.row) / 64] &= !(1 << (at.row % 64));
            } else {
                self.deactivate(at.router, at.port);
            }
        }
        let index = self.port_index(at.router, port);
        self.routers.waiters[index * shape.words + usize::from(at.port) / 64] |= 1 << (at.port % 64);
    }

    /// The allocator need not look at a port until it is roused.
    #[inline]
    pub(super) fn deactivate(&mut self, router: u32, port: u8) {
        let word = router as usize * self.fabric.shape.words + usize::from(port) / 64;
        self.routers.active[word] &= !(1 << (port % 64));
    }

    /// Makes sure that an event tells when a crossbar output is free again.
    pub(super) fn schedule_output_free(&mut self, router: u32, port: u8, output: usize, vc: u8) {
        let output = &mut self.routers.outputs[output];
        if !output.free_scheduled {
            output.free_scheduled = true;
            let tick = output.busy_until;
            self.wheel.schedule(tick, Event::at_port(EventKind::OutputFree, router, port, u32::from(vc)));
        }
    }

    /// The crossbar is done with a packet for a port.
    pub(crate) fn output_free(&mut self, router: u32, port: u8, vc: u8, now: Tick) {
        let index = self.port_index(router, port);
        let output = self.output_index(index, vc);
        let output = &mut self.routers.outputs[output];
        output.free_scheduled = false;
        if self.fabric.spec.router.vc_allocation {
            self.routers.owned[index * self.fabric.shape.vcs + usize::from(output.vc)] = false;
        }
        self.notify(router, port, now);
    }

    /// Something changed at a port: wakes those that sleep until then, unless the crossbar is still busy there; then
    /// they are woken when it is done.
    pub(super) fn notify(&mut self, router: u32, port: u8, now: Tick) {
        let shape = self.fabric.shape;
        let index = self.port_index(router, port);
        let waiters = index * shape.words..(index + 1) * shape.words;
        if self.routers.waiters[waiters].iter().all(|&word| word == 0) {
            return;
        }
        if shape.outputs == 1 && self.routers.outputs[index].busy_until > now {
            self.schedule_output_free(router, port, index, 0);
            return;
        }
        for word in 0..shape.words {
            let mut sleepers = std::mem::take(&mut self.routers.waiters[index * shape.words + word]);
            while sleepers != 0 {
                let sleeper = (word as u32 * 64 + sleepers.trailing_zeros()) as u8;
                sleepers &= sleepers - 1;
                self.wake(router, sleeper, port, now);
            }
        }
    }

    /// Wakes the queues of port `sleeper` whose heads want to leave by `port`.
    fn wake(&mut self, router: u32, sleeper: u8, port: u8, now: Tick) {
        let rows = self.fabric.shape.rows;
        let first = QueueAt { router, port: sleeper, row: if rows > 1 { port } else { 0 }, vc: 0 };
        let row = self.row_index(first);
        let mut asleep = self.routers.rows[row].asleep;
        while asleep != 0 {
            let at = QueueAt { vc: asleep.trailing_zeros() as u8, ..first };
            asleep &= asleep - 1;
            if self.routers.queues[self.queue_index(at)].port == port {
                let row = &mut self.routers.rows[row];
                row.asleep &= !(1 << at.vc);
                row.awake |= 1 << at.vc;
                self.rouse(at, now);
            }
        }
    }
}
