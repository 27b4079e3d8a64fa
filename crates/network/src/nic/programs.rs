//! Programs: ranks are told what happens at their nodes, and what they want is done.

use tailback_workload::{Action, Job, Machine, Want};

use super::due::What;
use crate::Observer;
use crate::fabric::Fabric;
use crate::observer::PhaseReached;
use crate::packet::Packet;
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
}

impl Seats {
    pub fn new(fabric: &Fabric, node_ids: &[u32]) -> Self {
        if !fabric.has_programs {
            return Self::default();
        }
        let (mut seats, mut first) = (Vec::new(), Vec::with_capacity(node_ids.len() + 1));
        for &node in node_ids {
            first.push(seats.len() as u32);
            let here = fabric.workload.jobs().filter_map(|(traffic, job)| {
                let rank = job.rank_of(node)?;
                Some(Seat { traffic, rank, machine: job.program.machine(rank) })
            });
            seats.extend(here);
        }
        first.push(seats.len() as u32);
        Self { seats, first, actions: Vec::new() }
    }

    /// The seats of a node.
    fn at(&self, node: u32) -> std::ops::Range<usize> {
        match self.first.get(node as usize..=node as usize + 1) {
            Some(&[from, until]) => from as usize..until as usize,
            _ => 0..0,
        }
    }

    /// Where the rank of a program sits that runs on a node.
    fn of(&self, node: u32, traffic: u16) -> usize {
        let here = self.at(node).find(|&seat| self.seats[seat].traffic == traffic);
        here.expect("a message of a program comes from one of its ranks, and goes to one")
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
    pub(super) fn tell_arrival(&mut self, node: u32, packet: &Packet, word: u64, now: Time) {
        let flow = &self.fabric.workload.flows[usize::from(packet.traffic)];
        if let Some(job) = &flow.job {
            let from = job.rank_of(packet.source).expect("ranks send the messages of programs");
            let seat = self.seats.of(node, packet.traffic);
            self.tell(node, seat, now, |machine, actions| machine.received(from, word, actions));
        }
    }

    /// The last packet of a message that may be of a program leaves for the first time.
    #[inline]
    pub(super) fn tell_sent(&mut self, node: u32, traffic: u16, destination: u32, word: u64, now: Time) {
        let flow = &self.fabric.workload.flows[usize::from(traffic)];
        if let Some(job) = flow.job.as_ref().filter(|job| job.program.hears_of_departures()) {
            let to = job.rank_of(destination).expect("programs send to their ranks");
            let seat = self.seats.of(node, traffic);
            self.tell(node, seat, now, |machine, actions| machine.sent(to, word, actions));
        }
    }

    /// Tells a rank something and does what it wants.
    fn tell(&mut self, node: u32, seat: usize, now: Time, tell: impl FnOnce(&mut dyn Machine, &mut Vec<Action>)) {
        let mut actions = std::mem::take(&mut self.seats.actions);
        let Seat { traffic, machine, .. } = &mut self.seats.seats[seat];
        tell(machine.as_mut(), &mut actions);
        let traffic = *traffic;
        for action in actions.drain(..) {
            match action {
                Action::Send { to, flits, word } => {
                    let destination = self.job(traffic).node_of(to);
                    self.offer_message(node, traffic, destination, flits, word, now);
                    self.make_ready(node, now);
                }
                Action::Wait { ticks, token } => {
                    debug_assert!(ticks > 0, "what is over at once is not waited for");
                    self.wait_until(node, u64::from(now) + ticks.max(1), What::Elapsed { seat: seat as u32, token });
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
