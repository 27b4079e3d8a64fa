//! The allocator of plain routers: each port offers the first of its packets, by turns, that could cross at once; each
//! output takes one of the packets offered to it; these cross, the others sleep there.

use tailback_routing::{ANYWHERE, Header};

use super::ports::{Departure, Wish};
use super::{Place, Plain, Surroundings, WORDS_MAX};
use crate::event::{Event, EventKind};
use crate::packet::NONE;
use crate::time::Time;

/// A packet that is offered to an output: the queue it is in, and the channel it would leave by.
#[derive(Clone, Copy, Debug, Default)]
struct Bid {
    port: u8,
    vc: u8,
    out_vc: u8,
}

/// What an allocation needs for the moment.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// By output: the best bid.
    bids: [Bid; 256],
    /// By input: what the header of the packet it offers becomes, where that is not settled yet.
    headers: Box<[Header; 256]>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self { bids: [Bid::default(); 256], headers: Box::new([ANYWHERE; 256]) }
    }
}

impl Scratch {
    pub fn set_header(&mut self, port: u8, header: Header) {
        self.headers[usize::from(port)] = header;
    }
}

impl Plain {
    pub(super) fn allocate_at(&mut self, router: u32, now: Time, around: &mut Surroundings<'_>) {
        let mut asked = [0u64; WORDS_MAX];
        let words = self.words as usize;
        for word in 0..words {
            let mut ports = self.active[router as usize * words + word];
            while ports != 0 {
                let place = Place { router, port: (word as u32 * 64 + ports.trailing_zeros()) as u8 };
                ports &= ports - 1;
                let index = self.index(place);
                if self.incoming[index].busy_until > now {
                    self.deactivate(place);
                } else if let Some((to, bid)) = self.pick(place, now, around) {
                    self.bid(router, to, bid, &mut asked);
                }
            }
        }
        for (word, &outputs) in asked[..words].iter().enumerate() {
            let mut outputs = outputs;
            while outputs != 0 {
                let to = (word as u32 * 64 + outputs.trailing_zeros()) as u8;
                outputs &= outputs - 1;
                self.cross(router, to, self.scratch.bids[usize::from(to)], now, around);
            }
        }
        if self.active[router as usize * words..][..words].iter().any(|&word| word != 0) {
            self.busy[router as usize / 64] |= 1 << (router % 64);
            self.allocation_due = true;
        }
    }

    /// The first packet of a port, by turns, that could cross at once, and the output it wants. Those before it are put
    /// to sleep.
    #[inline]
    fn pick(&mut self, place: Place, now: Time, around: &mut Surroundings<'_>) -> Option<(u8, Bid)> {
        let index = self.index(place);
        let port = &self.incoming[index];
        // The queues after the one that was served last come first: they are put before the others.
        let mut queues = u32::from(port.awake) | u32::from(port.awake) << 8;
        queues &= u32::MAX << (port.last_vc + 1);
        queues &= (1 << (port.last_vc + 9)) - 1;
        while queues != 0 {
            let vc = (queues.trailing_zeros() % 8) as u8;
            queues &= queues - 1;
            let wish = self.wish(place, vc, now, around);
            if wish.vcs == 0 {
                continue; // it has no wish for now, and is asked again
            }
            let flits = self.incoming[index].head_flits(vc);
            let output = self.index(Place { port: wish.port, ..place });
            if let Some(out_vc) = self.channel_with_room(output, wish, flits, now) {
                return Some((wish.port, Bid { port: place.port, vc, out_vc }));
            }
            // A decision that is made anew at each attempt may be another one next time.
            if self.incoming[index].wish(vc).is_settled() {
                self.sleep(place, vc, wish.port);
                self.schedule_waking(Place { port: wish.port, ..place }, now, around);
            }
        }
        None
    }

    /// A channel among those that will do by which a packet could leave at once: the first of those with most room.
    #[inline]
    fn channel_with_room(&mut self, output: usize, wish: Wish, flits: u16, now: Time) -> Option<u8> {
        let port = &mut self.outgoing[output];
        if port.busy_until > now {
            return None;
        }
        if port.space < u32::from(flits) {
            self.departures.catch_up(output, port, now);
            if port.space < u32::from(flits) {
                return None;
            }
        }
        if port.link.is_terminal() {
            return Some(wish.vc);
        }
        let mut best = wish.vc;
        for vc in wish.vc + 1..wish.vc + wish.vcs {
            if port.free[usize::from(vc)] > port.free[usize::from(best)] {
                best = vc;
            }
        }
        (port.free[usize::from(best)] >= flits).then_some(best)
    }

    /// Puts a bid to its output, which keeps the better of two; the other's queue sleeps there.
    #[inline]
    fn bid(&mut self, router: u32, to: u8, bid: Bid, asked: &mut [u64; WORDS_MAX]) {
        let (word, bit) = (usize::from(to) / 64, 1 << (to % 64));
        let best = self.scratch.bids[usize::from(to)];
        let first = asked[word] & bit == 0;
        asked[word] |= bit;
        if first {
            self.scratch.bids[usize::from(to)] = bid;
            return;
        }
        let better = self.turn(router, to, bid) < self.turn(router, to, best);
        let loser = if better { std::mem::replace(&mut self.scratch.bids[usize::from(to)], bid) } else { bid };
        let place = Place { router, port: loser.port };
        if self.incoming[self.index(place)].wish(loser.vc).is_settled() {
            self.sleep(place, loser.vc, to);
        }
    }

    /// How an output orders bids: those in transit first if that is the rule, then by turns.
    fn turn(&self, router: u32, to: u8, bid: Bid) -> (bool, u32) {
        let last = u32::from(self.outgoing[self.index(Place { router, port: to })].last);
        let own = u32::from(bid.port);
        let enters = self.outgoing[self.index(Place { router, port: bid.port })].link.is_terminal();
        let turn = if own > last { own - last } else { own + self.ports - last };
        (self.rules.transit_first && enters, turn)
    }

    /// A packet starts to cross, and is sent off.
    #[inline]
    fn cross(&mut self, router: u32, to: u8, bid: Bid, now: Time, around: &mut Surroundings<'_>) {
        let from = Place { router, port: bid.port };
        let (input, output) = (self.index(from), self.index(Place { router, port: to }));
        let packet = self.incoming[input].head(bid.vc);
        let record = &around.pool[packet];
        let (flits, behind, class) = (record.flits, record.next, record.class);
        // The crossbar takes a flit per tick, but none before it has arrived.
        let end = (now + Time::from(flits)).max(record.tail_at() + 1);
        let behind_flits = if behind == NONE { 0 } else { around.pool[behind].flits };

        if self.rules.tells_changes {
            around.gossip.note_change(router);
        }
        if self.incoming[input].replace_head(bid.vc, behind, behind_flits, end, self.rules.tells_heads) {
            around.schedule(end, Event::at_port(EventKind::InputFree, router, bid.port, 0));
        }
        self.deactivate(from);
        around.return_credit(&self.outgoing[input].link, bid.vc, flits, now);

        let port = &mut self.outgoing[output];
        let link = port.link;
        (port.busy_until, port.last) = (end, bid.port);
        let tail_ready = end - 1 + self.rules.crossbar_delay;
        let start = self.rules.link_time((now + self.rules.crossbar_delay).max(port.link_free_at));
        let last_sent = (start + Time::from(flits - 1) * Time::from(link.flit_ticks)).max(tail_ready);
        port.link_free_at = self.rules.link_time(last_sent + Time::from(link.flit_ticks));
        port.flits_sent = port.flits_sent.wrapping_add(flits.into());
        if self.rules.bounded {
            let time = if self.rules.releases_late { port.link_free_at } else { start };
            self.departures.push(output, port, Departure { time, flits });
        }
        if !link.is_terminal() {
            port.free[usize::from(bid.out_vc)] -= flits;
        }

        let record = &mut around.pool[packet];
        record.vc = bid.out_vc;
        record.head_at = start + link.latency;
        record.tail_lag = last_sent - start;
        if around.fabric.revises(class) {
            record.header = self.scratch.headers[usize::from(bid.port)];
        }
        if link.is_terminal() {
            around.send_to_node(&link, packet);
        } else {
            record.hops += 1;
            around.send_packet(&link, packet);
        }
        if self.has_waiters(output) {
            self.schedule_output_free(output, Place { router, port: to }, now, around);
        }
        self.packet_hops += 1;
        self.last_hop = now;
    }
}
