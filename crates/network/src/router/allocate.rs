//! The separable allocator: which packets cross the crossbar next.
//!
//! An allocation is one or more rounds. In a round each crossbar input that is free offers packets that could cross at
//! once: one if inputs choose first, all if outputs do. Then the other side chooses, and the winners start to
//! cross. A packet that cannot cross sleeps at the output it wants until something changes there.

use tailback_engine::{Outbox, Tick};
use tailback_routing::{ANYWHERE, Header};

use super::plain::Bid;
use super::state::At;
use crate::Observer;
use crate::event::Event;
use crate::packet::NONE;
use crate::region::{NetworkMail, NetworkRegion};
use crate::spec::{AllocationOrder, Arbiter};

/// A packet that could cross at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub at: At,
    pub packet: u32,
    /// The port that it would leave by, and its number in the region.
    pub port: u8,
    pub index: u32,
    /// The virtual channel that it would leave by.
    pub vc: u8,
    /// What its header becomes, if that is not settled yet.
    pub header: Option<Header>,
}

/// What becomes of the head of an awake queue.
enum Examined {
    /// It cannot cross now, and sleeps.
    Sleeps,
    /// It cannot cross now, and decides anew at the next allocation.
    Ponders,
    /// It needs a virtual channel of its own first.
    NeedsChannel,
    /// It could cross at once.
    Ready(Request),
}

/// What an allocation needs for the moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    requests: Vec<Request>,
    /// By crossbar output of a router: the best request so far, or `NONE`.
    best: Vec<u32>,
    /// The crossbar outputs that were asked for, by first request.
    asked: Vec<u32>,
    /// Queues whose heads need a virtual channel.
    pub(super) channel_seekers: Vec<At>,
    /// Links that credits of this tick let start at once.
    pub(crate) starts_now: Vec<Event>,
    /// For plain routers: by output, the best bid; by input, what the header of the packet that bids becomes, where that
    /// is not settled yet.
    pub(super) bids: Vec<Bid>,
    pub(super) headers: Vec<Header>,
}

impl Scratch {
    pub fn new(ports: usize, outputs: usize) -> Self {
        Self {
            best: vec![NONE; outputs],
            bids: vec![Bid::default(); ports],
            headers: vec![ANYWHERE; ports],
            ..Self::default()
        }
    }
}

impl<O: Observer, const V: usize, const PLAIN: bool> NetworkRegion<O, V, PLAIN> {
    /// One allocation at each router that has something to allocate.
    pub(crate) fn allocate_all(&mut self, now: Tick, outbox: &mut Outbox<NetworkMail>) {
        self.allocation_due = false;
        for word in 0..self.routers.busy.len() {
            let mut routers = std::mem::take(&mut self.routers.busy[word]);
            while routers != 0 {
                let router = word as u32 * 64 + routers.trailing_zeros();
                routers &= routers - 1;
                if PLAIN {
                    self.allocate_plain(router, now, outbox);
                } else {
                    self.allocate(router, now, outbox);
                }
            }
        }
    }

    fn allocate(&mut self, router: u32, now: Tick, outbox: &mut Outbox<NetworkMail>) {
        for _ in 0..self.fabric.spec.router.iterations {
            self.collect(router, now);
            if self.scratch.requests.is_empty() {
                break;
            }
            if self.fabric.spec.router.order == AllocationOrder::OutputFirst {
                self.let_inputs_choose();
            }
            self.grant_winners(now, outbox);
        }
        for word in 0..self.shape.words {
            if self.routers.active_ports(router, word) != 0 {
                self.routers.busy[router as usize / 64] |= 1 << (router % 64);
                self.allocation_due = true;
            }
        }
    }

    /// Collects the requests of a round, and for each output the best of them.
    fn collect(&mut self, router: u32, now: Tick) {
        for word in 0..self.shape.words {
            let mut ports = self.routers.active_ports(router, word);
            while ports != 0 {
                let port = (word as u32 * 64 + ports.trailing_zeros()) as u8;
                ports &= ports - 1;
                let at = self.routers.at(router, port, 0, 0);
                let still_awake = if (PLAIN || self.shape.inputs == 1) && self.routers.input(at).busy_until > now {
                    false
                } else if self.rules.takes_turns && (PLAIN || self.shape.rows == 1) {
                    self.collect_in_turn(at, now)
                } else {
                    self.collect_best(at, now)
                };
                if !still_awake {
                    self.routers.deactivate(router, port);
                }
            }
        }
        if !self.scratch.channel_seekers.is_empty() {
            self.allocate_channels();
        }
    }

    /// Offers the first packet of a port, by turns, that could cross. Returns whether any queue is still awake.
    #[inline]
    fn collect_in_turn(&mut self, at: At, now: Tick) -> bool {
        let awake = self.routers.row(at).awake;
        let after_last = (u32::from(u16::MAX) << (self.routers.input(at).last_vc + 1)) as u16;
        let mut still_awake = false;
        for mut channels in [awake & after_last, awake & !after_last] {
            while channels != 0 {
                let at = At { vc: channels.trailing_zeros() as u8, ..at };
                channels &= channels - 1;
                match self.examine(at, now) {
                    Examined::Sleeps => {}
                    Examined::Ponders => still_awake = true,
                    Examined::NeedsChannel => {
                        still_awake = true;
                        self.scratch.channel_seekers.push(at);
                    }
                    Examined::Ready(request) => {
                        self.offer(request);
                        return true;
                    }
                }
            }
        }
        still_awake
    }

    /// Offers the best packet of a port that could cross, or all of them. Returns whether any queue is still awake.
    fn collect_best(&mut self, port: At, now: Tick) -> bool {
        let mut best: Option<(u64, Request)> = None;
        let mut still_awake = false;
        let mut row = self.routers.awake_row(port.index, 0);
        while let Some(number) = row {
            let mut channels = self.routers.row(At { row: number as u8, ..port }).awake;
            while channels != 0 {
                let at = At { row: number as u8, vc: channels.trailing_zeros() as u8, ..port };
                channels &= channels - 1;
                match self.examine(at, now) {
                    Examined::Sleeps => continue,
                    Examined::Ponders => {}
                    Examined::NeedsChannel => self.scratch.channel_seekers.push(at),
                    Examined::Ready(request) if self.rules.offers_all => self.offer(request),
                    Examined::Ready(request) => {
                        let key = self.input_key(&request);
                        if best.as_ref().is_none_or(|(least, _)| key < *least) {
                            best = Some((key, request));
                        }
                    }
                }
                still_awake = true;
            }
            row = self.routers.awake_row(port.index, number + 1);
        }
        if let Some((_, request)) = best {
            self.offer(request);
        }
        still_awake
    }

    /// Sees whether the head of an awake queue could cross at once, and puts it to sleep if not.
    #[inline]
    fn examine(&mut self, at: At, now: Tick) -> Examined {
        let queue = *self.routers.queue(at);
        let (mut port, mut vc, mut vcs, mut header) = (queue.port, queue.vc, queue.vcs, None);
        let mut settled = true;
        if !queue.routed {
            let class = self.pool[queue.head].class;
            let step = self.route(at, queue.head);
            port = step.port;
            (vc, vcs) = self.channels(at.router, class, &step);
            settled = !(self.rules.revises && self.fabric.routings[usize::from(class)].revises());
            let queue = self.routers.queue_mut(at);
            (queue.port, queue.vc, queue.vcs, queue.routed) = (port, vc, vcs, settled);
            if settled {
                self.pool[queue.head].header = step.header;
            } else {
                header = Some(step.header);
            }
        }
        if self.rules.vc_allocation && !queue.owns_vc {
            return Examined::NeedsChannel;
        }
        let index = self.routers.port_index(at.router, port);
        match self.channel_with_room(index, vc, vcs, queue.flits, now) {
            Some(vc) => Examined::Ready(Request { at, packet: queue.head, port, index, vc, header }),
            None if settled => {
                self.sleep(at, port, now);
                Examined::Sleeps
            }
            None => Examined::Ponders,
        }
    }

    /// A channel of a port, among the `vcs` from `vc` on, by which a packet could leave at once: the one with most
    /// room.
    #[inline]
    pub(super) fn channel_with_room(&mut self, index: u32, vc: u8, vcs: u8, flits: u16, now: Tick) -> Option<u8> {
        let mut best: Option<(u16, u8)> = None;
        for vc in vc..vc + vcs {
            if let Some(free) = self.room(index, vc, flits, now)
                && best.is_none_or(|(most, _)| free > most)
            {
                best = Some((free, vc));
            }
        }
        best.map(|(_, vc)| vc)
    }

    /// The free flits behind a channel, if a packet could leave by it at once.
    #[inline]
    fn room(&mut self, index: u32, vc: u8, flits: u16, now: Tick) -> Option<u16> {
        if self.routers.output(index, vc).busy_until > now || !self.has_room_in_queue(index, vc, flits, now) {
            return None;
        }
        if !(PLAIN || self.rules.claims_first) || self.routers.port(index).link.is_terminal() {
            return Some(u16::MAX);
        }
        let free = self.routers.free[index as usize * V + usize::from(vc)];
        (free >= flits).then_some(free)
    }

    /// Whether the output queue of a channel has room.
    #[inline]
    fn has_room_in_queue(&mut self, index: u32, vc: u8, flits: u16, now: Tick) -> bool {
        if PLAIN || self.rules.departs_in_order {
            let flits = u32::from(flits);
            if self.routers.port(index).output_queue.space < flits {
                self.routers.look_at_departures(index, now);
            }
            return self.routers.port(index).output_queue.space >= flits;
        }
        let lane = self.fabric.lane(self.routers.port(index).link.class, vc);
        self.routers.lane(index, lane).space >= u32::from(flits)
    }

    /// Puts a request to its output, which keeps the best.
    #[inline]
    fn offer(&mut self, request: Request) {
        let output = self.routers.output_number(request.port, request.vc);
        let number = self.scratch.requests.len() as u32;
        let best = self.scratch.best[output];
        if best == NONE {
            self.scratch.asked.push(output as u32);
            self.scratch.best[output] = number;
        } else {
            let rival = self.scratch.requests[best as usize];
            if self.output_key(&request) < self.output_key(&rival) {
                self.scratch.best[output] = number;
            }
        }
        self.scratch.requests.push(request);
    }

    /// Where outputs choose first: each input keeps the best of its grants, the others lapse.
    fn let_inputs_choose(&mut self) {
        for place in 0..self.scratch.asked.len() {
            let output = self.scratch.asked[place] as usize;
            let Some(winner) = self.winner(output) else { continue };
            let (input, key) = (self.routers.input_number(winner.at), self.input_key(&winner));
            let beats = |rival: &Request| self.routers.input_number(rival.at) == input && self.input_key(rival) < key;
            let rivals = self.scratch.asked.iter().filter(|&&other| other as usize != output);
            if rivals.filter_map(|&other| self.winner(other as usize)).any(|rival| beats(&rival)) {
                self.scratch.best[output] = NONE;
            }
        }
    }

    fn winner(&self, output: usize) -> Option<Request> {
        self.scratch.requests.get(self.scratch.best[output] as usize).copied()
    }

    /// Lets the winners of a round cross; whoever lost to them sleeps at its output.
    fn grant_winners(&mut self, now: Tick, outbox: &mut Outbox<NetworkMail>) {
        let contested = self.scratch.asked.len() < self.scratch.requests.len();
        for place in 0..self.scratch.asked.len() {
            let output = self.scratch.asked[place] as usize;
            if let Some(winner) = self.winner(output) {
                self.cross(&winner, now, outbox);
            }
            self.scratch.best[output] = NONE;
        }
        self.scratch.asked.clear();
        if contested {
            self.put_losers_to_sleep(now);
        }
        self.scratch.requests.clear();
    }

    fn put_losers_to_sleep(&mut self, now: Tick) {
        for place in 0..self.scratch.requests.len() {
            let request = self.scratch.requests[place];
            let taken = self.routers.output(request.index, request.vc).busy_until > now;
            let lost = self.routers.input(request.at).busy_until <= now;
            if taken && lost && self.routers.queue(request.at).routed {
                self.sleep(request.at, request.port, now);
            }
        }
    }

    /// How an input orders its packets: the smallest first.
    fn input_key(&self, request: &Request) -> u64 {
        let at = request.at;
        let turn = match self.fabric.spec.router.input_arbiter {
            Arbiter::RoundRobin => {
                let place = |row: u8, vc: u8| usize::from(row) * V + usize::from(vc);
                let input = self.routers.input(at);
                let (own, last) = (place(at.row, at.vc), place(input.last_row, input.last_vc));
                (if own > last { own - last } else { own + self.shape.rows * V - last }) as u64
            }
            Arbiter::LeastRecentlyServed => self.routers.queue_served(at),
            Arbiter::Oldest => self.pool[request.packet].created,
        };
        u64::from(u8::MAX - self.priority(request)) << 56 | turn
    }

    /// How an output orders the packets that want it: the smallest first.
    fn output_key(&self, request: &Request) -> u64 {
        let input = self.routers.input_number(request.at);
        let turn = match self.fabric.spec.router.output_arbiter {
            Arbiter::RoundRobin => {
                let last = self.routers.output(request.index, request.vc).last;
                let inputs = (self.shape.ports * if PLAIN || self.shape.inputs == 1 { 1 } else { V }) as u16;
                u64::from(if input > last { input - last } else { input + inputs - last })
            }
            Arbiter::LeastRecentlyServed => self.routers.input_served(request.index, request.vc, input),
            Arbiter::Oldest => self.pool[request.packet].created << 12 | u64::from(input),
        };
        let enters = self.routers.port(request.at.index).link.is_terminal();
        let enters = self.fabric.spec.router.transit_first && enters;
        u64::from(u8::MAX - self.priority(request)) << 56 | u64::from(enters) << 55 | turn
    }

    #[inline]
    fn priority(&self, request: &Request) -> u8 {
        self.fabric.spec.classes[usize::from(self.pool[request.packet].class)].priority
    }
}
