//! Arbiters: in which order inputs and outputs serve those that ask.

use tailback_hardware::Arbiter;

use super::request::Request;
use super::state::{QueueId, Turn};
use super::{Microarchitecture, Routers, Surroundings};
use crate::link::FarKind;
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// How an input orders its packets: the smallest first. No two are equal.
    pub(super) fn input_key(&self, request: &Request, around: &Surroundings<'_>) -> u64 {
        let (id, shape) = (request.id, &self.shape);
        let number = |voq: u8, vc: u8| usize::from(voq) * shape.vcs + usize::from(vc);
        let own = number(id.voq, id.vc);
        let turn = match self.rules.input_arbiter {
            Arbiter::RoundRobin => {
                let last = self.last_turn(request, around);
                let going_round = |own: usize, last: usize, count: usize| (own + count - last - 1) % count;
                let by_queue = going_round(own, number(last.voq, last.vc), shape.voqs * shape.vcs);
                let by_output = || going_round(request.port.into(), last.port.into(), shape.ports);
                (if self.rules.turns_by_output { by_output() << 16 | by_queue } else { by_queue }) as u64
            }
            Arbiter::LeastRecentlyServed => self.extras.queue_served[self.queue_index(id)].into(),
            Arbiter::Oldest => around.pool[request.packet].created(),
        };
        u64::from(u8::MAX - priority(request, around)) << 56 | turn << 16 | own as u64
    }

    /// How an output orders the packets that want it: the smallest first. No two are equal.
    #[inline]
    pub(super) fn output_key(&self, request: &Request, around: &Surroundings<'_>) -> u64 {
        let input = self.input_number(request.id);
        let arbiter = if M::BASIC { Arbiter::RoundRobin } else { self.rules.output_arbiter };
        let turn = match arbiter {
            Arbiter::RoundRobin => {
                let last = if Self::unless_basic(self.rules.turns_by_priority) {
                    self.last_of_level(request, around)
                } else {
                    self.output(request.output, request.vc).last
                };
                let inputs = self.inputs_per_router() as u16;
                u64::from(if input > last { input - last } else { input + inputs - last })
            }
            Arbiter::LeastRecentlyServed => {
                let pair = self.served_pair(request.output, request.vc, input);
                u64::from(self.extras.input_served[pair]) << 13 | u64::from(input)
            }
            Arbiter::Oldest => around.pool[request.packet].created() << 13 | u64::from(input),
        };
        let turn = if self.sorts_by_node() { turn << 8 | self.turn_of_node(request.id) } else { turn };
        self.precedence(request, around) << 55 | turn
    }

    /// What comes before all turns: how an output orders packets by their priority, and by whether they enter the network where those in
    /// transit go first.
    #[inline]
    pub(super) fn precedence(&self, request: &Request, around: &Surroundings<'_>) -> u64 {
        let priority = if M::PLAIN || self.rules.one_priority { 0 } else { u8::MAX - priority(request, around) };
        u64::from(priority) << 1 | u64::from(self.enters(request.id))
    }

    /// Whether a packet of a queue enters the network, where those in transit go first.
    #[inline]
    pub(super) fn enters(&self, id: QueueId) -> bool {
        self.rules.transit_first && self.inputs[id.index as usize].fed_by == FarKind::Node
    }

    /// Whose turn it was last at the connection of a queue to the crossbar.
    #[inline]
    fn last_turn(&self, request: &Request, around: &Surroundings<'_>) -> Turn {
        let id = request.id;
        if self.rules.turns_by_priority {
            return self.last_turn_of_level(request, around);
        }
        if self.rules.first_round_turns {
            return self.extras.turns[self.turn_index(id)];
        }
        let input = self.input(id);
        Turn { voq: input.last_voq, vc: input.last_vc, port: input.last_port }
    }

    pub(super) fn turn_index(&self, id: QueueId) -> usize {
        id.index as usize * self.shape.inputs + if self.inputs_share() { 0 } else { usize::from(id.vc) }
    }

    /// Notes whose turn it was, where that is not always who crosses.
    pub(super) fn note_turn(&mut self, id: QueueId, port: u8) {
        let index = self.turn_index(id);
        self.extras.turns[index] = Turn { voq: id.voq, vc: id.vc, port };
    }

    /// Whether arbiters keep their turns in this round of the allocation.
    #[inline]
    pub(super) fn keeps_turns(&self) -> bool {
        Self::unless_basic(self.rules.first_round_turns) && self.scratch.later_round
    }

    /// Crossbar connections of a router on the input side.
    #[inline]
    pub(super) fn inputs_per_router(&self) -> usize {
        if M::BASIC && !M::CROSSPOINTS { self.shape.ports } else { self.shape.ports * self.shape.inputs }
    }

    /// Notes that a queue is chosen to ask for the output of `port`.
    pub(super) fn note_asked(&mut self, request: &Request, now: Time, around: &Surroundings<'_>) {
        let &Request { id, port, .. } = request;
        if self.rules.turns_by_priority {
            if !self.keeps_turns() {
                self.note_input_turn_of_level(request, around.pool[request.packet].class);
            }
        } else if self.rules.first_round_turns {
            if !self.keeps_turns() {
                self.note_turn(id, port);
            }
        } else {
            let input = self.input_mut(id);
            (input.last_voq, input.last_vc, input.last_port) = (id.voq, id.vc, port);
        }
        self.note_queue_served(id, now);
    }

    /// Notes that an output serves a queue.
    pub(super) fn note_served(&mut self, id: QueueId, index: u32, vc: u8, now: Time) {
        self.note_queue_served(id, now);
        if !self.extras.input_served.is_empty() {
            let pair = self.served_pair(index, vc, self.input_number(id));
            self.extras.input_served[pair] = now;
        }
    }

    fn note_queue_served(&mut self, id: QueueId, now: Time) {
        if !self.extras.queue_served.is_empty() {
            let queue = self.queue_index(id);
            self.extras.queue_served[queue] = now;
        }
    }

    /// Where the time is at which the output of a channel of a port served an input of its router last.
    fn served_pair(&self, index: u32, vc: u8, input: u16) -> usize {
        let output = index as usize * self.shape.outputs + if self.outputs_share() { 0 } else { usize::from(vc) };
        output * self.inputs_per_router() + usize::from(input)
    }
}

fn priority(request: &Request, around: &Surroundings<'_>) -> u8 {
    around.fabric.spec.classes[usize::from(around.pool[request.packet].class)].priority
}
