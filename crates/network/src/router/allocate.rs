//! The separable allocator: which packets cross the crossbar next.
//!
//! An allocation is one or more rounds. In a round each crossbar input that is free offers packets that could cross at
//! once: one if inputs choose first, all if outputs do. Then the other side chooses, and the winners start to
//! cross. A packet that cannot cross sleeps at the output it wants until something changes there.

use std::hint::black_box;

use super::examine::Examined;
use super::request::{Grant, NO_GRANT, NO_KEY, Request, Scratch};
use super::state::QueueId;
use super::{Microarchitecture, Routers, Surroundings, members};
use crate::message_trace::Blocked;
use crate::packet::NONE;
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// One allocation at each router that has something to allocate. A function of its own, into which what happens at a
    /// router is inlined: what is around is then read once for all of them.
    #[inline(never)]
    pub fn allocate(&mut self, now: Time, around: &mut Surroundings<'_>) {
        if self.scratch.best.is_empty() {
            // It is not part of snapshots. What credits of this tick have left in it stays.
            let Scratch { best, best_keys, .. } = Scratch::new(&self.shape);
            (self.scratch.best, self.scratch.best_keys) = (best, best_keys);
        }
        for word in 0..self.active.begin() {
            let mut routers = self.active.take_routers(word);
            while routers != 0 {
                let router = word as u32 * 64 + routers.trailing_zeros();
                routers &= routers - 1;
                self.allocate_at(router, now, around);
            }
        }
    }

    /// Always inline, for the same reason: with VOQs it was a call for each router.
    #[inline(always)]
    fn allocate_at(&mut self, router: u32, now: Time, around: &mut Surroundings<'_>) {
        let words = router as usize * self.words()..(router as usize + 1) * self.words();
        let first = self.first_port(router);
        for round in 0..self.rules.iterations {
            if Self::unless_basic(self.rules.first_round_turns) {
                self.scratch.later_round = round > 0;
            }
            self.scratch.headers.clear();
            if Self::MAY_COLLECT_BY_OUTPUT && self.rules.outputs_take_turns {
                self.collect_by_output(first, self.active.word(words.start), now, around);
            } else {
                let mut first = first;
                for number in words.clone() {
                    self.collect(first, self.active.word(number), now, around);
                    first += 64;
                }
            }
            if Self::unless_basic(!self.scratch.channel_seekers.is_empty()) {
                self.allocate_channels();
            }
            if self.scratch.asked.is_empty() {
                break;
            }
            if Self::unless_basic(self.rules.outputs_first) {
                self.let_inputs_choose(around);
            }
            self.grant(now, around);
        }
        if words.into_iter().any(|word| self.active.word(word) != 0) {
            self.active.add_router(router);
        }
    }

    /// Collects the requests of a set of ports, counted from `first`, and for each output the best of them.
    #[inline]
    fn collect(&mut self, first: u32, mut ports: u64, now: Time, around: &mut Surroundings<'_>) {
        while ports != 0 {
            let index = first + ports.trailing_zeros();
            ports &= ports - 1;
            let still_awake = if !self.inputs_share() && !self.has_voqs() {
                self.collect_all(index, now, around)
            } else if self.inputs_share() && self.inputs[index as usize].connection.busy_until > now {
                false
            } else if M::PLAIN || self.rules.inputs_take_turns {
                self.collect_in_turn(index, now, around);
                true
            } else {
                self.collect_by_key(self.queue_id(index, 0, 0), now, around)
            };
            if !still_awake {
                self.deactivate(index);
            }
        }
    }

    /// Offers all packets of a port that could cross, where each has a connection to the crossbar of its own. In turn all the same, as
    /// routing may draw. Returns whether any queue is still awake whose connection is free.
    #[inline]
    fn collect_all(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) -> bool {
        let mut still_awake = false;
        let port = self.queue_id(index, 0, 0);
        for id in self.in_turn(port) {
            if self.input(id).busy_until > now {
                continue; // an event tells when its connection is free
            }
            match self.examine(id, now, around) {
                Examined::Waits => still_awake |= self.is_awake(id),
                Examined::NeedsChannel => {
                    self.scratch.channel_seekers.push(id);
                    still_awake = true;
                }
                Examined::Ready(request) => {
                    self.offer(request, around);
                    still_awake = true;
                }
            }
        }
        still_awake
    }

    /// Offers the first packet of a port, by priority and then by turns, that could cross. Those before it are put to sleep.
    #[inline]
    fn collect_in_turn(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        let id = self.queue_id(index, 0, 0);
        let found =
            if self.has_voqs() { self.first_voq_in_turn(id, now, around) } else { self.first_in_turn(id, now, around) };
        if let Some(request) = found {
            self.offer(request, around);
        }
    }

    /// Offers the best packet of a port that could cross, or all of them if outputs choose first. Returns whether any queue is still awake
    /// whose connection to the crossbar is free.
    fn collect_by_key(&mut self, port: QueueId, now: Time, around: &mut Surroundings<'_>) -> bool {
        let offers_all = self.rules.outputs_first || self.shape.inputs > 1;
        let mut best: Option<(u64, Request)> = None;
        let mut still_awake = false;
        let mut next = if self.has_voqs() { self.awake_voq(port.index, 0) } else { Some(0) };
        while let Some(voq) = next {
            for id in self.in_turn(QueueId { voq, ..port }) {
                if self.shape.inputs > 1 && self.input(id).busy_until > now {
                    continue; // an event tells when its connection is free
                }
                match self.examine(id, now, around) {
                    Examined::Waits => {}
                    Examined::NeedsChannel => self.scratch.channel_seekers.push(id),
                    Examined::Ready(request) if offers_all => self.offer(request, around),
                    Examined::Ready(request) => {
                        let key = self.input_key(&request, around);
                        if best.as_ref().is_none_or(|(least, _)| key < *least) {
                            best = Some((key, request));
                        }
                    }
                }
                still_awake |= self.is_awake(id);
            }
            next = if self.has_voqs() { self.awake_voq(port.index, usize::from(voq) + 1) } else { None };
        }
        if let Some((_, request)) = best {
            if self.rules.served_when_asked {
                self.note_asked(&request, now, around);
            }
            self.offer(request, around);
        }
        still_awake
    }

    /// The awake queues of a VOQ, beginning after the one that was served last.
    #[inline]
    pub(super) fn in_turn(&self, voq: QueueId) -> impl Iterator<Item = QueueId> + use<M> {
        let awake = self.heads(voq).awake;
        let after = self.input(voq).last_vc + 1;
        // The channels from `after` on come before the others.
        let later = awake & u32::MAX.checked_shl(after.into()).unwrap_or(0);
        members(later).chain(members(awake & !later)).map(move |vc| QueueId { vc, ..voq })
    }

    /// Puts a request to its output, which keeps the best.
    #[inline]
    pub(super) fn offer(&mut self, request: Request, around: &Surroundings<'_>) {
        let output = self.output_number(request.port, request.vc);
        let best = &mut self.scratch.best[output];
        if best.packet == NONE {
            *best = request;
            if !M::BASIC {
                self.scratch.best_keys[output] = NO_KEY;
            }
            self.scratch.asked.push(output as u16);
        } else {
            self.contend(request, output, around);
        }
    }

    /// Compares a request with the best one of its output.
    fn contend(&mut self, request: Request, output: usize, around: &Surroundings<'_>) {
        let best = self.scratch.best[output];
        let (key, best_key) = (self.output_key(&request, around), self.best_key(&best, output, around));
        let wins = key < best_key;
        if wins {
            self.scratch.best[output] = request;
        }
        if !M::BASIC {
            self.scratch.best_keys[output] = key.min(best_key);
        }
        self.scratch.losers.push(if wins { best } else { request });
    }

    /// The key of the best request of an output so far. Where outputs choose first, which many requests reach, it is kept.
    #[inline]
    fn best_key(&self, best: &Request, output: usize, around: &Surroundings<'_>) -> u64 {
        let kept = if M::BASIC { NO_KEY } else { self.scratch.best_keys[output] };
        if kept == NO_KEY { self.output_key(best, around) } else { kept }
    }

    /// Where outputs choose first: each input keeps the best of its grants, the others lapse.
    fn let_inputs_choose(&mut self, around: &Surroundings<'_>) {
        self.scratch.grants.resize(self.inputs_per_router(), NO_GRANT);
        for index in 0..self.scratch.asked.len() {
            let output = self.scratch.asked[index];
            let Some(winner) = self.winner(output) else { continue };
            let key = self.input_key(&winner, around);
            let input = usize::from(self.input_number(winner.id));
            let best = &mut self.scratch.grants[input];
            let lapses = if key < best.key { std::mem::replace(best, Grant { key, output }).output } else { output };
            if let Some(lapses) = self.scratch.best.get_mut(usize::from(lapses)) {
                *lapses = Request::NONE;
            }
        }
        self.scratch.grants.clear();
    }

    #[inline]
    pub(super) fn winner(&self, output: u16) -> Option<Request> {
        Some(self.scratch.best[usize::from(output)]).filter(|request| request.packet != NONE)
    }

    /// Lets the winners of a round cross; whoever lost to them sleeps at its output.
    #[inline]
    fn grant(&mut self, now: Time, around: &mut Surroundings<'_>) {
        if Self::unless_basic(self.rules.channels_take_turns) {
            self.let_channels_take_turns(around);
        }
        for index in 0..self.scratch.asked.len() {
            // Opaque: what a crossing reads of the router would all be read before the loop else, and put on the stack, for the
            // one or two packets that cross at most routers.
            black_box(&mut *self).grant_output(index, now, around);
        }
        self.scratch.asked.clear();
        if !self.scratch.losers.is_empty() {
            self.put_losers_to_sleep(now, around);
        }
    }

    /// Lets the winner of an output cross.
    #[inline(always)]
    fn grant_output(&mut self, index: usize, now: Time, around: &mut Surroundings<'_>) {
        let output = usize::from(self.scratch.asked[index]);
        let winner = self.scratch.best[output];
        self.scratch.best[output].packet = NONE;
        if M::BASIC || (winner.packet != NONE && self.still_fits(&winner, now, around)) {
            self.cross(&winner, now, around);
        }
    }

    fn put_losers_to_sleep(&mut self, now: Time, around: &mut Surroundings<'_>) {
        while let Some(request) = self.scratch.losers.pop() {
            Self::trace_wait(request.packet, Blocked::Allocation, now, around);
            let taken = self.output(request.output, request.vc).busy_until > now;
            let lost = self.input(request.id).busy_until <= now;
            if taken
                && lost
                && self.queues[request.queue as usize].decision.lasts()
                && !self.ejects_when_idle(request.output)
            {
                self.sleep(request.id, request.port, now, around);
            }
        }
    }

    /// Whether the output queue of a winner has room for it after those before it: the channels of a port can have
    /// connections to the crossbar of their own and yet share a queue.
    fn still_fits(&self, winner: &Request, now: Time, around: &Surroundings<'_>) -> bool {
        if self.has_crossed_meanwhile(winner, now) {
            return false;
        }
        let ejects_when_idle = self.ejects_when_idle(winner.output);
        if self.outputs_share() && !ejects_when_idle {
            return true; // there is only one winner
        }
        let receives = ejects_when_idle && self.outputs[winner.output as usize].link_free_at > now;
        let flits = around.pool[winner.packet].flits;
        !receives && self.room(winner.output, winner.vc, flits, now, around.fabric).is_some()
    }
}
