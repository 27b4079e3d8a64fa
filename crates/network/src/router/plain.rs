//! The allocator of plain routers, written out.
//!
//! This is `allocate.rs`, `output.rs` and `sleep.rs` once more, for routers with one crossbar connection per port and
//! direction, one output queue per port, packets that ask for the crossbar as soon as they are heads, one round
//! per allocation, and arbiters that serve by turns. Most simulations spend most of their time here, so each record is
//! looked up once and nothing is kept for later that is not needed. The general allocator is its oracle: tests run both
//! on the same scenarios and compare digests.

use tailback_engine::{Outbox, Tick};

use super::state::{At, Departure};
use crate::Observer;
use crate::event::{Event, EventKind};
use crate::link::Far;
use crate::packet::NONE;
use crate::region::{NetworkMail, NetworkRegion};

/// The best packet so far that asks for an output: the queue it is in, the channel it would leave by.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bid {
    port: u8,
    vc: u8,
    out_vc: u8,
}

/// Words of a set of ports, at most.
const WORDS_MAX: usize = 4;

impl<O: Observer, const V: usize, const PLAIN: bool> NetworkRegion<O, V, PLAIN> {
    /// One allocation of a plain router.
    pub(super) fn allocate_plain(&mut self, router: u32, now: Tick, outbox: &mut Outbox<NetworkMail>) {
        let mut asked = [0u64; WORDS_MAX];
        let words = self.shape.words;
        for word in 0..words {
            let mut ports = self.routers.active_ports(router, word);
            while ports != 0 {
                let port = (word as u32 * 64 + ports.trailing_zeros()) as u8;
                ports &= ports - 1;
                let at = self.routers.at(router, port, 0, 0);
                if self.routers.input(at).busy_until > now {
                    self.routers.deactivate(router, port);
                    continue;
                }
                if let Some((out, bid)) = self.pick(at, now) {
                    self.bid(router, out, bid, &mut asked);
                }
            }
        }
        for (word, &outputs) in asked[..words].iter().enumerate() {
            let mut outputs = outputs;
            while outputs != 0 {
                let out = (word as u32 * 64 + outputs.trailing_zeros()) as u8;
                outputs &= outputs - 1;
                let bid = self.scratch.bids[usize::from(out)];
                self.cross_plain(router, out, bid, now, outbox);
            }
        }
        if (0..words).any(|word| self.routers.active_ports(router, word) != 0) {
            self.routers.busy[router as usize / 64] |= 1 << (router % 64);
            self.allocation_due = true;
        }
    }

    /// The first packet of a port, by turns, that could cross at once, and the output it wants. Those before it are put
    /// to sleep.
    #[inline]
    fn pick(&mut self, port: At, now: Tick) -> Option<(u8, Bid)> {
        let state = self.routers.port(port.index);
        let awake = state.row().awake;
        let after_last = (u32::from(u16::MAX) << (state.input().last_vc + 1)) as u16;
        for mut channels in [awake & after_last, awake & !after_last] {
            while channels != 0 {
                let at = At { vc: channels.trailing_zeros() as u8, ..port };
                channels &= channels - 1;
                let (out, vc, vcs, flits) = self.wish(at);
                let index = self.routers.port_index(at.router, out);
                if let Some(out_vc) = self.channel_with_room(index, vc, vcs, flits, now) {
                    return Some((out, Bid { port: at.port, vc: at.vc, out_vc }));
                }
                // A decision that is made anew at each attempt may be another one next time.
                if self.routers.queue(at).routed {
                    self.sleep(at, out, now);
                }
            }
        }
        None
    }

    /// Where the head of a queue wants to go: the port, the channels that will do; and its flits.
    #[inline]
    fn wish(&mut self, at: At) -> (u8, u8, u8, u16) {
        let queue = *self.routers.queue(at);
        if queue.routed {
            return (queue.port, queue.vc, queue.vcs, queue.flits);
        }
        let class = self.pool[queue.head].class;
        let step = self.route(at, queue.head);
        let (vc, vcs) = self.channels(at.router, class, &step);
        if self.rules.revises && self.fabric.routings[usize::from(class)].revises() {
            self.scratch.headers[usize::from(at.port)] = step.header;
        } else {
            self.pool[queue.head].header = step.header;
            let queue = self.routers.queue_mut(at);
            (queue.port, queue.vc, queue.vcs, queue.routed) = (step.port, vc, vcs, true);
        }
        (step.port, vc, vcs, queue.flits)
    }

    /// Puts a bid to its output, which keeps the better of two; the other's queue sleeps there.
    #[inline]
    fn bid(&mut self, router: u32, out: u8, bid: Bid, asked: &mut [u64; WORDS_MAX]) {
        let (word, bit) = (usize::from(out) / 64, 1 << (out % 64));
        let best = self.scratch.bids[usize::from(out)];
        if asked[word] & bit == 0 {
            asked[word] |= bit;
            self.scratch.bids[usize::from(out)] = bid;
            return;
        }
        let loser = if self.turn_plain(router, out, bid) < self.turn_plain(router, out, best) {
            self.scratch.bids[usize::from(out)] = bid;
            best
        } else {
            bid
        };
        let at = self.routers.at(router, loser.port, 0, loser.vc);
        if self.routers.queue(at).routed {
            self.sleep_until_change(at, out);
        }
    }

    /// How an output orders bids: those in transit first if that is the rule, then by turns.
    fn turn_plain(&self, router: u32, out: u8, bid: Bid) -> (bool, u16) {
        let last = self.routers.output(self.routers.port_index(router, out), 0).last;
        let own = u16::from(bid.port);
        let enters = self.routers.port(self.routers.port_index(router, bid.port)).link.is_terminal();
        let turn = if own > last { own - last } else { own + self.shape.ports as u16 - last };
        (self.fabric.spec.router.transit_first && enters, turn)
    }

    /// A packet starts to cross, and is sent off.
    #[inline]
    fn cross_plain(&mut self, router: u32, out: u8, bid: Bid, now: Tick, outbox: &mut Outbox<NetworkMail>) {
        let at = self.routers.at(router, bid.port, 0, bid.vc);
        let packet = self.routers.queue(at).head;
        let record = &mut self.pool[packet];
        let (flits, behind) = (record.flits, record.next);
        // The crossbar takes a flit per tick, but none before it has arrived.
        let end = (now + Tick::from(flits)).max(record.tail_at() + 1);
        let tail_ready = end - 1 + self.rules.crossbar_delay;
        let behind_flits = if behind == NONE { 0 } else { self.pool[behind].flits };
        self.leave_plain(at, behind, behind_flits, flits, end);
        self.return_credit(at.index, at.vc, flits, now, outbox);

        // It leaves the output queue in order of crossing, and claims its room at the other end now.
        let index = self.routers.port_index(router, out);
        let port = self.routers.port_mut(index);
        port.set_busy(end, bid.port.into());
        let link = port.link;
        let start = self.rules.link_tick((now + self.rules.crossbar_delay).max(port.link_free_at));
        let last_sent = (start + Tick::from(flits - 1) * Tick::from(link.flit_ticks)).max(tail_ready);
        port.link_free_at = self.rules.link_tick(last_sent + Tick::from(link.flit_ticks));
        port.flits_sent = port.flits_sent.wrapping_add(flits.into());
        let (link_free_at, has_waiters) = (port.link_free_at, port.has_first_waiters() || self.shape.words > 1);
        if self.rules.bounded {
            let tick = if self.rules.releases_late { link_free_at } else { start };
            self.routers.push_departure(index, Departure { tick, flits });
        }
        if has_waiters && self.routers.has_waiters(index) {
            self.schedule_output_free(router, out, 0);
        }

        let record = &mut self.pool[packet];
        record.vc = bid.out_vc;
        record.head_at = start + Tick::from(link.latency);
        record.tail_lag = (last_sent - start) as u32;
        if self.rules.revises && self.fabric.routings[usize::from(record.class)].revises() {
            record.header = self.scratch.headers[usize::from(bid.port)];
        }
        if let Far::Node(node) = link.far {
            self.wheel.schedule(record.tail_at(), Event::at_node(EventKind::Delivery, node, packet));
        } else {
            record.hops += 1;
            let arrival = record.head_at;
            *self.routers.free_mut(index, bid.out_vc) -= flits;
            self.send_packet(link.far, arrival, packet, outbox);
        }
        self.routers.packet_hops += 1;
        self.routers.last_hop = now;
    }

    /// The head of a queue has started to cross until `end`: the packet behind it becomes head, and whoever is awake at
    /// the same port waits for the crossing to end.
    #[inline]
    fn leave_plain(&mut self, at: At, behind: u32, behind_flits: u16, flits: u16, end: Tick) {
        let port = self.routers.port_mut(at.index);
        port.occupied[usize::from(at.vc)] -= flits;
        if port.replace_head(at.vc, behind, behind_flits, end) {
            self.wheel.schedule(end, Event::at_port(EventKind::InputFree, at.router, at.port, 0));
        }
        self.routers.deactivate(at.router, at.port);
    }
}
