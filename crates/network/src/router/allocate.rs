//! The separable allocator: which packets cross the crossbar next.
//!
//! An allocation is one or more rounds. In a round each crossbar input that is free offers packets that could cross at
//! once: one if inputs choose first, all if outputs do. Then the other side chooses, and the winners start to
//! cross. A packet that cannot cross sleeps at the output it wants until something changes there.

use tailback_engine::{Outbox, Tick};
use tailback_routing::Header;

use super::input::QueueAt;
use crate::Observer;
use crate::event::Event;
use crate::packet::NONE;
use crate::region::{Message, NetworkRegion};
use crate::spec::{AllocationOrder, Arbiter, CreditCheck};

/// A packet that could cross at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub at: QueueAt,
    /// Where it wants to go.
    pub port: u8,
    pub vc: u8,
    pub flits: u16,
    /// What its header becomes.
    pub header: Header,
    /// The smaller, the sooner: as its output sees it.
    key: u64,
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
    pub(super) channel_seekers: Vec<QueueAt>,
    /// Links that credits of this tick let start at once.
    pub(crate) starts_now: Vec<Event>,
}

impl Scratch {
    pub fn new(outputs_per_router: usize) -> Self {
        Self { best: vec![NONE; outputs_per_router], ..Self::default() }
    }
}

impl<O: Observer> NetworkRegion<O> {
    /// One allocation at each router that has something to allocate.
    pub(crate) fn allocate_all(&mut self, now: Tick, outbox: &mut Outbox<Message>) {
        self.allocation_due = false;
        for word in 0..self.routers.busy.len() {
            let mut routers = std::mem::take(&mut self.routers.busy[word]);
            while routers != 0 {
                let router = word as u32 * 64 + routers.trailing_zeros();
                routers &= routers - 1;
                self.allocate(router, now, outbox);
            }
        }
    }

    fn allocate(&mut self, router: u32, now: Tick, outbox: &mut Outbox<Message>) {
        for _ in 0..self.fabric.spec.router.iterations {
            self.collect(router, now);
            if self.scratch.requests.is_empty() {
                break;
            }
            if self.fabric.spec.router.order == AllocationOrder::OutputFirst {
                self.let_inputs_choose(router);
            }
            self.grant_winners(router, now, outbox);
        }
        let words = self.fabric.shape.words;
        let active = &self.routers.active[router as usize * words..(router as usize + 1) * words];
        if active.iter().any(|&word| word != 0) {
            self.routers.busy[router as usize / 64] |= 1 << (router % 64);
            self.allocation_due = true;
        }
    }

    /// Collects the requests of a round, and for each output the best of them.
    fn collect(&mut self, router: u32, now: Tick) {
        let words = self.fabric.shape.words;
        for word in 0..words {
            let mut ports = self.routers.active[router as usize * words + word];
            while ports != 0 {
                let port = (word as u32 * 64 + ports.trailing_zeros()) as u8;
                ports &= ports - 1;
                self.collect_port(router, port, now);
            }
        }
        if !self.scratch.channel_seekers.is_empty() {
            self.allocate_channels(router);
        }
    }

    fn collect_port(&mut self, router: u32, port: u8, now: Tick) {
        let shape = self.fabric.shape;
        let index = self.port_index(router, port);
        let mut still_awake = false;
        if shape.inputs > 1 || self.routers.inputs[index].busy_until <= now {
            let one_each = shape.inputs > 1 || self.fabric.spec.router.order == AllocationOrder::OutputFirst;
            let mut best: Option<(u64, Request)> = None;
            let mut row = self.first_awake_row(index, 0);
            while let Some(number) = row {
                let mut channels = self.routers.rows[index * shape.rows + number].awake;
                while channels != 0 {
                    let at = QueueAt { router, port, row: number as u8, vc: channels.trailing_zeros() as u8 };
                    channels &= channels - 1;
                    match self.examine(at, now) {
                        Examined::Sleeps => {}
                        Examined::Ponders => still_awake = true,
                        Examined::NeedsChannel => {
                            still_awake = true;
                            self.scratch.channel_seekers.push(at);
                        }
                        Examined::Ready(request) if one_each => {
                            still_awake = true;
                            self.offer(request);
                        }
                        Examined::Ready(request) => {
                            still_awake = true;
                            let key = self.input_key(&request);
                            if best.as_ref().is_none_or(|(least, _)| key < *least) {
                                best = Some((key, request));
                            }
                        }
                    }
                }
                row = self.first_awake_row(index, number + 1);
            }
            if let Some((_, request)) = best {
                self.offer(request);
            }
        }
        if !still_awake {
            self.deactivate(router, port);
        }
    }

    /// The first row of a port from `from` on with an awake queue.
    #[inline]
    fn first_awake_row(&self, port: usize, from: usize) -> Option<usize> {
        let shape = self.fabric.shape;
        if shape.rows == 1 {
            return (from == 0).then_some(0);
        }
        let mut word = from / 64;
        let mut mask = u64::MAX << (from % 64);
        while word < shape.words {
            let rows = self.routers.active_rows[port * shape.words + word] & mask;
            if rows != 0 {
                return Some(word * 64 + rows.trailing_zeros() as usize);
            }
            (word, mask) = (word + 1, u64::MAX);
        }
        None
    }

    /// Sees whether the head of an awake queue could cross at once, and puts it to sleep if not.
    #[inline]
    fn examine(&mut self, at: QueueAt, now: Tick) -> Examined {
        let index = self.queue_index(at);
        let head = self.routers.queues[index].head;
        let class = self.pool[head].class;
        let mut header = None;
        if !self.routers.queues[index].routed {
            let step = self.route(at, head);
            let (vc, vcs) = self.channels(at.router, class, &step);
            let revises = self.fabric.revises[usize::from(class)];
            let queue = &mut self.routers.queues[index];
            (queue.port, queue.vc, queue.vcs, queue.routed) = (step.port, vc, vcs, !revises);
            if revises {
                header = Some(step.header);
            } else {
                self.pool[head].header = step.header;
            }
        }
        let queue = self.routers.queues[index];
        if self.fabric.spec.router.vc_allocation && !queue.owns_vc {
            return Examined::NeedsChannel;
        }
        match self.channel_with_room(at.router, queue.port, queue.vc, queue.vcs, queue.flits, now) {
            Some(vc) => {
                let header = header.unwrap_or(self.pool[head].header);
                let key = self.output_key(at, queue.port, vc, head);
                Examined::Ready(Request { at, port: queue.port, vc, flits: queue.flits, header, key })
            }
            None if queue.routed => {
                self.sleep(at, queue.port, now);
                Examined::Sleeps
            }
            None => Examined::Ponders,
        }
    }

    /// A channel of `port`, among the `vcs` from `vc` on, by which a packet could leave at once: the one with most
    /// room.
    #[inline]
    fn channel_with_room(&self, router: u32, port: u8, vc: u8, vcs: u8, flits: u16, now: Tick) -> Option<u8> {
        let index = self.port_index(router, port);
        let link_class = usize::from(self.port_classes[index]);
        let mut best: Option<(u16, u8)> = None;
        for vc in vc..vc + vcs {
            if self.routers.outputs[self.output_index(index, vc)].busy_until > now {
                continue;
            }
            if self.routers.lanes[self.lane_index(index, link_class, vc)].space < u32::from(flits) {
                continue;
            }
            let free = self.credits(index, vc);
            if free >= flits && best.is_none_or(|(most, _)| free > most) {
                best = Some((free, vc));
            }
        }
        best.map(|(_, vc)| vc)
    }

    /// Free flits behind a channel, as far as they bound what may cross the crossbar.
    #[inline]
    fn credits(&self, port: usize, vc: u8) -> u16 {
        let bounded = self.fabric.spec.router.credits == CreditCheck::Crossbar && !self.is_terminal(port);
        if bounded { self.routers.free[port * self.fabric.shape.vcs + usize::from(vc)] } else { u16::MAX }
    }

    /// Puts a request to its output, which keeps the best.
    #[inline]
    fn offer(&mut self, request: Request) {
        let index = self.port_index(request.at.router, request.port);
        let first = request.at.router as usize * self.fabric.shape.ports * self.fabric.shape.outputs;
        let output = self.output_index(index, request.vc) - first;
        let scratch = &mut self.scratch;
        let number = scratch.requests.len() as u32;
        let best = &mut scratch.best[output];
        if *best == NONE {
            scratch.asked.push(output as u32);
            *best = number;
        } else if request.key < scratch.requests[*best as usize].key {
            *best = number;
        }
        scratch.requests.push(request);
    }

    /// Where outputs choose first: each input keeps the best of its grants, the others lapse.
    fn let_inputs_choose(&mut self, router: u32) {
        for place in 0..self.scratch.asked.len() {
            let output = self.scratch.asked[place] as usize;
            let Some(winner) = self.winner(output) else { continue };
            let (input, key) = (self.input_index(winner.at), self.input_key(&winner));
            for other in 0..self.scratch.asked.len() {
                let other = self.scratch.asked[other] as usize;
                let Some(rival) = self.winner(other) else { continue };
                if other != output && self.input_index(rival.at) == input && self.input_key(&rival) < key {
                    self.scratch.best[output] = NONE;
                    break;
                }
            }
        }
        debug_assert!(self.scratch.requests.iter().all(|request| request.at.router == router));
    }

    fn winner(&self, output: usize) -> Option<Request> {
        self.scratch.requests.get(self.scratch.best[output] as usize).copied()
    }

    /// Lets the winners of a round cross; whoever lost to them sleeps at its output.
    fn grant_winners(&mut self, router: u32, now: Tick, outbox: &mut Outbox<Message>) {
        for place in 0..self.scratch.asked.len() {
            let output = self.scratch.asked[place] as usize;
            if let Some(winner) = self.winner(output) {
                self.cross(winner, now, outbox);
            }
            self.scratch.best[output] = NONE;
        }
        self.scratch.asked.clear();
        let mut requests = std::mem::take(&mut self.scratch.requests);
        for request in requests.drain(..) {
            let port = self.port_index(router, request.port);
            let taken = self.routers.outputs[self.output_index(port, request.vc)].busy_until > now;
            let queue = &self.routers.queues[self.queue_index(request.at)];
            let lost = self.routers.inputs[self.input_index(request.at)].busy_until <= now;
            if taken && lost && queue.routed {
                self.sleep(request.at, request.port, now);
            }
        }
        self.scratch.requests = requests;
    }

    /// How an input orders its packets: the smallest first.
    #[inline]
    fn input_key(&self, request: &Request) -> u64 {
        let input = &self.routers.inputs[self.input_index(request.at)];
        let turn = match self.fabric.spec.router.input_arbiter {
            Arbiter::RoundRobin => {
                let queues = (self.fabric.shape.rows * self.fabric.shape.vcs) as u64;
                let place = |row: u8, vc: u8| u64::from(row) * self.fabric.shape.vcs as u64 + u64::from(vc);
                let (own, last) = (place(request.at.row, request.at.vc), place(input.last_row, input.last_vc));
                if own > last { own - last } else { own + queues - last }
            }
            Arbiter::LeastRecentlyServed => self.routers.queue_served[self.queue_index(request.at)],
            Arbiter::Oldest => self.pool[self.routers.queues[self.queue_index(request.at)].head].created,
        };
        u64::from(u8::MAX - self.priority(request.at)) << 56 | turn
    }

    /// How an output orders the packets that want it: the smallest first.
    #[inline]
    fn output_key(&self, at: QueueAt, port: u8, vc: u8, packet: u32) -> u64 {
        let shape = self.fabric.shape;
        let port = self.port_index(at.router, port);
        let output = self.output_index(port, vc);
        let inputs = shape.ports * shape.inputs;
        let input = self.input_index(at) - at.router as usize * inputs;
        let turn = match self.fabric.spec.router.output_arbiter {
            Arbiter::RoundRobin => {
                let last = usize::from(self.routers.outputs[output].last);
                (if input > last { input - last } else { input + inputs - last }) as u64
            }
            Arbiter::LeastRecentlyServed => self.routers.input_served[output * inputs + input],
            Arbiter::Oldest => self.pool[packet].created << 12 | input as u64,
        };
        let enters = self.fabric.spec.router.transit_first && self.is_terminal(self.port_index(at.router, at.port));
        u64::from(u8::MAX - self.priority(at)) << 56 | u64::from(enters) << 55 | turn
    }

    #[inline]
    fn priority(&self, at: QueueAt) -> u8 {
        let link_class = usize::from(self.port_classes[self.port_index(at.router, at.port)]);
        let class = self.fabric.class_of_vc[link_class * self.fabric.shape.vcs + usize::from(at.vc)];
        self.fabric.spec.classes[usize::from(class)].priority
    }
}
