//! Programs: ranks are told what happens at their nodes, and what they want is done.
//!
//! Messages between ranks of one node do not enter its interface: they arrive when it has taken as long as their program says.

use std::collections::VecDeque;

use tailback_workload::{Action, Job, Machine, Want};

use super::due::{What, WithinNode};
use crate::Observer;
use crate::fabric::Fabric;
use crate::observer::PhaseReached;
use crate::packet::Packet;
use crate::payload::Told;
use crate::region::NetworkRegion;
use crate::router::Microarchitecture;
use crate::time::Time;

/// A rank of a program at its node.
#[derive(Debug)]
struct Seat {
    /// The place of its program's messages among the flows.
    traffic: u16,
    rank: u32,
    machine: Box<dyn Machine>,
}

/// The ranks of a region. Without programs it holds nothing.
#[derive(Debug, Default)]
pub(crate) struct Seats {
    seats: Vec<Seat>,
    /// By node: the first of its seats, and at the end how many there are.
    first: Vec<u32>,
    /// What is wanted done, for the moment.
    actions: Vec<Action>,
    /// Messages between ranks of a node that take no time: none between events.
    at_once: VecDeque<WithinNode>,
}

impl Seats {
    pub fn new(fabric: &Fabric, node_ids: &[u32]) -> Self {
        if !fabric.has_programs {
            return Self::default();
        }
        let (mut seats, mut first) = (Vec::new(), Vec::with_capacity(node_ids.len() + 1));
        for &node in node_ids {
            first.push(seats.len() as u32);
            for (traffic, job) in fabric.workload.jobs() {
                let seat = |&rank: &u32| Seat { traffic, rank, machine: job.program.machine(rank) };
                seats.extend(job.ranks_at(node).iter().map(seat));
            }
        }
        first.push(seats.len() as u32);
        Self { seats, first, ..Self::default() }
    }

    /// The seats of a node.
    fn at(&self, node: u32) -> std::ops::Range<usize> {
        match self.first.get(node as usize..=node as usize + 1) {
            Some(&[from, until]) => from as usize..until as usize,
            _ => 0..0,
        }
    }

    /// Where the rank of a program sits that has this place among those of the node.
    fn of(&self, node: u32, traffic: u16, place: u8) -> usize {
        let first = self.at(node).find(|&seat| self.seats[seat].traffic == traffic);
        first.expect("a message of a program comes from one of its ranks, and goes to one") + usize::from(place)
    }

    /// Shows what each rank waits for: the place of its program's messages among the flows, its number, and that.
    pub fn visit_wants(&self, visit: &mut dyn FnMut(u16, u32, Vec<Want>)) {
        self.seats.iter().for_each(|seat| visit(seat.traffic, seat.rank, seat.machine.wants()));
    }

    pub fn save(&self, bytes: &mut Vec<u8>) {
        self.seats.iter().for_each(|seat| seat.machine.save(bytes));
    }

    pub fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.seats.iter_mut().try_for_each(|seat| seat.machine.load(bytes))
    }
}

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
    /// What each rank waits for that runs here: the place of its program's messages among the flows, its number, and that.
    pub fn visit_wants(&self, mut visit: impl FnMut(u16, u32, Vec<Want>)) {
        self.seats.visit_wants(&mut visit);
    }

    /// Schedules the starts of the ranks of a node.
    pub(crate) fn schedule_starts(&mut self, node: u32) {
        for seat in self.seats.at(node) {
            let cycle = self.job(self.seats.seats[seat].traffic).start_cycle;
            let tick = cycle.saturating_mul(self.fabric.spec.ticks_per_cycle.into());
            self.wait_until(node, tick, What::Start { seat: seat as u32 });
        }
    }

    fn job(&self, traffic: u16) -> &Job {
        self.fabric.workload.flows[usize::from(traffic)].job.as_ref().expect("its messages are of a program")
    }

    /// The time has come that a rank waited for; without a token it is that of its start.
    pub(super) fn tell_rank(&mut self, node: u32, seat: u32, token: Option<u32>, now: Time) {
        self.tell(node, seat as usize, now, |machine, actions| match token {
            Some(token) => machine.elapsed(token, actions),
            None => machine.start(actions),
        });
    }

    /// A message has arrived that may be of a program.
    #[inline]
    pub(super) fn tell_arrival(&mut self, node: u32, packet: &Packet, told: Told, now: Time) {
        let flow = &self.fabric.workload.flows[usize::from(packet.traffic)];
        if let Some(job) = &flow.job {
            let from = job.ranks_at(packet.source)[usize::from(told.from)];
            let seat = self.seats.of(node, packet.traffic, told.to);
            self.tell(node, seat, now, |machine, actions| machine.received(from, told.word(), actions));
        }
    }

    /// The last packet of a message that may be of a program leaves for the first time.
    #[inline]
    pub(super) fn tell_sent(&mut self, node: u32, traffic: u16, destination: u32, told: Told, now: Time) {
        let flow = &self.fabric.workload.flows[usize::from(traffic)];
        if let Some(job) = flow.job.as_ref().filter(|job| job.program.hears_of_departures()) {
            let to = job.ranks_at(destination)[usize::from(told.to)];
            let seat = self.seats.of(node, traffic, told.from);
            self.tell(node, seat, now, |machine, actions| machine.sent(to, told.word(), actions));
        }
    }

    /// A message has come to a rank from another of its node.
    pub(super) fn arrive_within_node(&mut self, node: u32, message: WithinNode, now: Time) {
        self.hand_over(node, message, now);
        self.hand_over_at_once(node, now);
    }

    /// Hands over what takes no time, one after the other, so that ranks that answer each other for long need no deep stack.
    fn hand_over_at_once(&mut self, node: u32, now: Time) {
        while let Some(message) = self.seats.at_once.pop_front() {
            self.hand_over(node, message, now);
        }
    }

    /// The sender of a message within its node knows that it has left, the receiver that it is there.
    fn hand_over(&mut self, node: u32, message: WithinNode, now: Time) {
        let WithinNode { from, to, word } = message;
        let [sender, receiver] = [from, to].map(|seat| self.seats.seats[seat as usize].rank);
        let traffic = self.seats.seats[from as usize].traffic;
        if self.job(traffic).program.hears_of_departures() {
            self.tell_alone(node, from as usize, now, |machine, actions| machine.sent(receiver, word, actions));
        }
        self.tell_alone(node, to as usize, now, |machine, actions| machine.received(sender, word, actions));
    }

    /// Sends a message of a rank, into the network or to another rank of its node.
    fn send_of_rank(&mut self, node: u32, seat: usize, (to, flits, word): (u32, u32, u64), now: Time) {
        let Seat { traffic, rank, .. } = self.seats.seats[seat];
        let job = self.job(traffic);
        let (destination, told) = (job.node_of(to), Told::new(word, job.place_of(rank), job.place_of(to)));
        if destination != self.node_ids[node as usize] {
            self.offer_message(node, traffic, destination, flits, told, now);
            self.make_ready(node, now);
            return;
        }
        let ticks = job.within_node.ticks(flits);
        let receiver = self.seats.of(node, traffic, told.to);
        let message = WithinNode { from: seat as u32, to: receiver as u32, word };
        if ticks == 0 {
            self.seats.at_once.push_back(message);
        } else {
            self.wait_until(node, u64::from(now).saturating_add(ticks), What::WithinNode(message));
        }
    }

    /// Tells a rank something and does what it wants, and what others of its node want whom it sends something that takes no time.
    fn tell(&mut self, node: u32, seat: usize, now: Time, tell: impl FnOnce(&mut dyn Machine, &mut Vec<Action>)) {
        self.tell_alone(node, seat, now, tell);
        self.hand_over_at_once(node, now);
    }

    /// Tells a rank something and does what it wants.
    fn tell_alone(&mut self, node: u32, seat: usize, now: Time, tell: impl FnOnce(&mut dyn Machine, &mut Vec<Action>)) {
        let mut actions = std::mem::take(&mut self.seats.actions);
        let Seat { traffic, machine, .. } = &mut self.seats.seats[seat];
        tell(machine.as_mut(), &mut actions);
        let traffic = *traffic;
        for action in actions.drain(..) {
            match action {
                Action::Send { to, flits, word } => self.send_of_rank(node, seat, (to, flits, word), now),
                Action::Wait { ticks, token } => {
                    debug_assert!(ticks > 0, "what is over at once is not waited for");
                    let tick = u64::from(now).saturating_add(ticks.max(1));
                    self.wait_until(node, tick, What::Elapsed { seat: seat as u32, token });
                }
                Action::Reached { phase } => {
                    let started = self.job(traffic).start_cycle * u64::from(self.fabric.spec.ticks_per_cycle);
                    let after = u64::from(now) - started;
                    self.observer.phase_reached(&PhaseReached { tick: now.into(), traffic, phase, after });
                }
            }
        }
        self.seats.actions = actions;
    }
}
