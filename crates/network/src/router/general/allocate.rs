//! The separable allocator: which packets cross the crossbar next.
//!
//! An allocation is one or more rounds. In a round each crossbar input that is free offers packets that could cross at
//! once: one if inputs choose first, all if outputs do. Then the other side chooses, and the winners start to
//! cross. A packet that cannot cross sleeps at the output it wants until something changes there.

use tailback_routing::Header;

use super::General;
use super::state::{At, members};
use crate::fabric::Fabric;
use crate::packet::NONE;
use crate::router::{Place, Surroundings};
use crate::time::Time;
use tailback_hardware::Arbiter;

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
pub(super) struct Scratch {
    requests: Vec<Request>,
    /// By crossbar output of a router: the best request so far, or `NONE`.
    best: Vec<u32>,
    /// The crossbar outputs that were asked for, by first request.
    asked: Vec<usize>,
    /// Queues whose heads need a virtual channel.
    pub channel_seekers: Vec<At>,
    /// Links that credits of this tick let start at once.
    pub starts_now: Vec<(Place, u32)>,
}

impl General {
    pub(super) fn allocate_at(&mut self, router: u32, now: Time, around: &mut Surroundings<'_>) {
        for _ in 0..self.state.rules.iterations {
            self.collect(router, now, around);
            if self.scratch.requests.is_empty() {
                break;
            }
            if self.state.rules.outputs_first {
                self.let_inputs_choose(around);
            }
            self.grant_winners(now, around);
        }
        if (0..self.state.shape.words).any(|word| self.state.active_ports(router, word) != 0) {
            self.state.busy[router as usize / 64] |= 1 << (router % 64);
            self.state.allocation_due = true;
        }
    }

    /// Collects the requests of a round, and for each output the best of them.
    fn collect(&mut self, router: u32, now: Time, around: &mut Surroundings<'_>) {
        for word in 0..self.state.shape.words {
            let mut ports = self.state.active_ports(router, word);
            while ports != 0 {
                let port = (word as u32 * 64 + ports.trailing_zeros()) as u8;
                ports &= ports - 1;
                let at = self.state.at(Place { router, port }, 0, 0);
                let crossing = self.state.shape.inputs == 1 && self.state.input(at).busy_until > now;
                if crossing || !self.collect_port(at, now, around) {
                    self.state.deactivate(router, port);
                }
            }
        }
        if !self.scratch.channel_seekers.is_empty() {
            self.allocate_channels();
        }
    }

    /// Offers the best packet of a port that could cross, or all of them. Returns whether any queue is still awake.
    fn collect_port(&mut self, port: At, now: Time, around: &mut Surroundings<'_>) -> bool {
        let offers_all = self.state.rules.outputs_first || self.state.shape.inputs > 1;
        let mut best: Option<(u64, Request)> = None;
        let mut still_awake = false;
        let mut next_row = self.state.awake_row(port.index, 0);
        while let Some(row) = next_row {
            for at in self.in_turn(At { row, ..port }) {
                if self.state.shape.inputs > 1 && self.state.input(at).busy_until > now {
                    continue; // an event tells when its connection is free
                }
                if !offers_all && best.is_some() && self.takes_turns() {
                    // Whoever comes later has a later turn.
                    still_awake = true;
                    break;
                }
                match self.examine(at, now, around) {
                    Examined::Sleeps => continue,
                    Examined::Ponders => {}
                    Examined::NeedsChannel => self.scratch.channel_seekers.push(at),
                    Examined::Ready(request) if offers_all => self.offer(request, around),
                    Examined::Ready(request) => {
                        let key = self.input_key(&request, around);
                        if best.as_ref().is_none_or(|(least, _)| key < *least) {
                            best = Some((key, request));
                        }
                    }
                }
                still_awake = true;
            }
            next_row = self.state.awake_row(port.index, usize::from(row) + 1);
        }
        if let Some((_, request)) = best {
            if self.state.rules.served_when_asked {
                self.state.note_asked(request.at, request.port, now);
            }
            self.offer(request, around);
        }
        still_awake
    }

    /// Whether the first packet of a port that can cross, by turns, is the best, and those after it need not be looked
    /// at: not where some of them may have to seek a channel in the meantime.
    fn takes_turns(&self) -> bool {
        let rules = &self.state.rules;
        let round_robin = rules.input_arbiter == Arbiter::RoundRobin && !rules.turns_by_output;
        rules.one_priority && round_robin && self.state.shape.rows == 1 && !rules.vc_allocation
    }

    /// The awake queues of a row, beginning after the one that was served last.
    fn in_turn(&self, row: At) -> impl Iterator<Item = At> + use<> {
        let awake = self.state.row(row).awake;
        let after = self.state.input(row).last_vc + 1;
        // The channels from `after` on come before the others.
        let later = awake & u32::MAX.checked_shl(after.into()).unwrap_or(0);
        members(later).chain(members(awake & !later)).map(move |vc| At { vc, ..row })
    }

    /// Sees whether the head of an awake queue could cross at once, and puts it to sleep if not.
    fn examine(&mut self, at: At, now: Time, around: &mut Surroundings<'_>) -> Examined {
        if self.state.rules.lossy && self.drops_head(at, now, around) {
            // Whoever is head now may be looked at in the next round.
            return if self.state.is_awake(at) { Examined::Ponders } else { Examined::Sleeps };
        }
        let mut header = None;
        if !self.state.queue(at).routed {
            let packet = self.state.queue(at).head;
            let (step, vc) = self.route(at, packet, now, around);
            let revises = around.fabric.revises(around.pool[packet].class);
            let queue = self.state.queue_mut(at);
            (queue.port, queue.vc, queue.vcs, queue.routed) = (step.port, vc, step.vcs, !revises);
            if step.vcs == 0 {
                return Examined::Ponders;
            }
            if revises {
                header = Some(step.header);
            } else {
                around.pool[packet].header = step.header;
            }
        }
        let queue = *self.state.queue(at);
        if self.state.rules.vc_allocation && !queue.owns_vc {
            return Examined::NeedsChannel;
        }
        let index = self.state.port_index(at.router, queue.port);
        match self.channel_with_room(index, queue.vc, queue.vcs, queue.flits, now, around) {
            Some(vc) => Examined::Ready(Request { at, packet: queue.head, port: queue.port, index, vc, header }),
            None if queue.routed => {
                self.sleep(at, queue.port, now, around);
                Examined::Sleeps
            }
            None => Examined::Ponders,
        }
    }

    /// A channel of a port, among the `vcs` from `vc` on, by which a packet could leave at once: the first of those
    /// with most room.
    fn channel_with_room(
        &self,
        index: u32,
        vc: u8,
        vcs: u8,
        flits: u16,
        now: Time,
        around: &Surroundings<'_>,
    ) -> Option<u8> {
        let room = |vc: u8| self.room(index, vc, flits, now, around.fabric).map(|free| (free, vc));
        (vc..vc + vcs).rev().filter_map(room).max_by_key(|&(free, _)| free).map(|(_, vc)| vc)
    }

    /// The free flits behind a channel, if a packet could leave by it at once.
    pub(super) fn room(&self, index: u32, vc: u8, flits: u16, now: Time, fabric: &Fabric) -> Option<u16> {
        let link = self.state.link(index);
        let lane = self.state.lane(index, fabric.lane(link.class, vc));
        let taken = self.state.output(index, vc).busy_until > now && !self.ejects_when_idle(index);
        if taken || lane.space < u32::from(flits) {
            return None;
        }
        let bounded = self.state.rules.claims_first && !link.is_terminal();
        let free = if bounded { self.state.free(index, vc) } else { u16::MAX };
        (free >= flits).then_some(free)
    }

    /// Puts a request to its output, which keeps the best.
    fn offer(&mut self, request: Request, around: &Surroundings<'_>) {
        let output = self.state.output_number(request.at.router, request.index, request.vc);
        let number = self.scratch.requests.len() as u32;
        if self.scratch.best.len() <= output {
            self.scratch.best.resize(output + 1, NONE);
        }
        match self.winner(output) {
            None => {
                self.scratch.asked.push(output);
                self.scratch.best[output] = number;
            }
            Some(rival) => {
                if self.output_key(&request, around) < self.output_key(&rival, around) {
                    self.scratch.best[output] = number;
                }
            }
        }
        self.scratch.requests.push(request);
    }

    /// Where outputs choose first: each input keeps the best of its grants, the others lapse.
    fn let_inputs_choose(&mut self, around: &Surroundings<'_>) {
        for place in 0..self.scratch.asked.len() {
            let output = self.scratch.asked[place];
            let Some(winner) = self.winner(output) else { continue };
            let (input, key) = (self.state.input_number(winner.at), self.input_key(&winner, around));
            let beats =
                |rival: &Request| self.state.input_number(rival.at) == input && self.input_key(rival, around) < key;
            let rivals = self.scratch.asked.iter().filter(|&&other| other != output);
            if rivals.filter_map(|&other| self.winner(other)).any(|rival| beats(&rival)) {
                self.scratch.best[output] = NONE;
            }
        }
    }

    fn winner(&self, output: usize) -> Option<Request> {
        self.scratch.requests.get(self.scratch.best[output] as usize).copied()
    }

    /// Lets the winners of a round cross; whoever lost to them sleeps at its output.
    fn grant_winners(&mut self, now: Time, around: &mut Surroundings<'_>) {
        for place in 0..self.scratch.asked.len() {
            let output = self.scratch.asked[place];
            if let Some(winner) = self.winner(output).filter(|winner| self.still_fits(winner, now, around)) {
                self.cross(&winner, now, around);
            }
            self.scratch.best[output] = NONE;
        }
        self.scratch.asked.clear();
        for place in 0..self.scratch.requests.len() {
            let request = self.scratch.requests[place];
            let taken = self.state.output(request.index, request.vc).busy_until > now;
            let lost = self.state.input(request.at).busy_until <= now;
            if taken && lost && self.state.queue(request.at).routed && !self.ejects_when_idle(request.index) {
                self.sleep(request.at, request.port, now, around);
            }
        }
        self.scratch.requests.clear();
    }

    /// Whether the output queue of a winner has room for it after those before it: the channels of a port can have
    /// connections to the crossbar of their own and yet share a queue.
    fn still_fits(&self, winner: &Request, now: Time, around: &Surroundings<'_>) -> bool {
        let receives = self.ejects_when_idle(winner.index) && self.state.sender(winner.index).link_free_at > now;
        !receives && self.room(winner.index, winner.vc, around.pool[winner.packet].flits, now, around.fabric).is_some()
    }

    /// Whether packets cross to this port while its link is idle, and then without waiting for those before them.
    pub(super) fn ejects_when_idle(&self, index: u32) -> bool {
        self.state.rules.ejects_when_idle && self.state.link(index).is_terminal()
    }

    /// How an input orders its packets: the smallest first. No two are equal.
    fn input_key(&self, request: &Request, around: &Surroundings<'_>) -> u64 {
        let (at, vcs) = (request.at, self.state.shape.vcs);
        let place = |row: u8, vc: u8| usize::from(row) * vcs + usize::from(vc);
        let own = place(at.row, at.vc);
        let turn = match self.state.rules.input_arbiter {
            Arbiter::RoundRobin => {
                let input = self.state.input(at);
                let going_round = |own: usize, last: usize, count: usize| (own + count - last - 1) % count;
                let by_queue = going_round(own, place(input.last_row, input.last_vc), self.state.shape.rows * vcs);
                let ports = self.state.shape.ports;
                let by_output = || going_round(request.port.into(), input.last_port.into(), ports);
                (if self.state.rules.turns_by_output { by_output() << 16 | by_queue } else { by_queue }) as u64
            }
            Arbiter::LeastRecentlyServed => self.state.queue_served(at).into(),
            Arbiter::Oldest => around.pool[request.packet].created(),
        };
        u64::from(u8::MAX - priority(request, around)) << 56 | turn << 16 | own as u64
    }

    /// How an output orders the packets that want it: the smallest first.
    fn output_key(&self, request: &Request, around: &Surroundings<'_>) -> u64 {
        let input = self.state.input_number(request.at);
        let turn = match self.state.rules.output_arbiter {
            Arbiter::RoundRobin => {
                let last = self.state.output(request.index, request.vc).last;
                let inputs = self.state.inputs_per_router() as u16;
                u64::from(if input > last { input - last } else { input + inputs - last })
            }
            Arbiter::LeastRecentlyServed => {
                u64::from(self.state.input_served(request.index, request.vc, input)) << 13 | u64::from(input)
            }
            Arbiter::Oldest => around.pool[request.packet].created() << 13 | u64::from(input),
        };
        let enters = self.state.rules.transit_first && self.state.link(request.at.index).is_terminal();
        u64::from(u8::MAX - priority(request, around)) << 56 | u64::from(enters) << 55 | turn
    }
}

fn priority(request: &Request, around: &Surroundings<'_>) -> u8 {
    around.fabric.spec.classes[usize::from(around.pool[request.packet].class)].priority
}
