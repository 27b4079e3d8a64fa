//! Runs programs without time, and finds out whether they hang together.

use std::collections::{BTreeMap, BTreeSet};

use crate::{MESSAGE_FLITS_MAX, Receive, Send, Step, Steps};

/// What messages carry along.
pub(crate) trait Flow {
    type Payload;

    /// `rank` sends in `step`, which has just begun.
    fn leave(&mut self, rank: u32, step: u32, send: &Send) -> Self::Payload;

    /// `rank` gets what it waits for in `step`, which completes.
    fn arrive(&mut self, rank: u32, step: u32, receive: &Receive, payload: Self::Payload);
}

/// Nothing.
pub(crate) struct Empty;

impl Flow for Empty {
    type Payload = ();

    fn leave(&mut self, _rank: u32, _step: u32, _send: &Send) {}

    fn arrive(&mut self, _rank: u32, _step: u32, _receive: &Receive, (): ()) {}
}

/// Which rank goes on when several can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The first, as far as it can.
    Eager,
    /// All in turn, the last first, by one step each.
    InTurn,
}

/// What has been sent in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub messages: u64,
    pub flits: u64,
    /// Messages and flits by sender and receiver.
    pub pairs: BTreeMap<(u32, u32), (u64, u64)>,
    /// Cycles that each rank computes.
    pub compute_cycles: Vec<u64>,
}

/// A rank on its way.
#[derive(Default)]
struct Walker {
    begun: u32,
    complete: Vec<bool>,
    open: Vec<(u32, Step)>,
}

struct Interpreter<'a, F: Flow> {
    program: &'a dyn Steps,
    flow: &'a mut F,
    walkers: Vec<Walker>,
    under_way: BTreeMap<(u32, u32, u32), F::Payload>,
    ever: BTreeSet<(u32, u32, u32)>,
    totals: Totals,
}

/// Runs a program to its end, and checks what it must keep.
pub(crate) fn run<F: Flow>(program: &dyn Steps, flow: &mut F, order: Order) -> Totals {
    let ranks = program.ranks();
    let walkers = (0..ranks).map(|_| Walker::default()).collect();
    let totals = Totals { compute_cycles: vec![0; ranks as usize], ..Totals::default() };
    let mut interpreter =
        Interpreter { program, flow, walkers, under_way: BTreeMap::new(), ever: BTreeSet::new(), totals };
    interpreter.run(order);
    interpreter.check();
    interpreter.totals
}

impl<F: Flow> Interpreter<'_, F> {
    fn run(&mut self, order: Order) {
        let ranks = self.program.ranks();
        loop {
            let mut went_on = false;
            for turn in 0..ranks {
                match order {
                    Order::Eager => {
                        while self.go_on(turn) {
                            went_on = true;
                        }
                    }
                    Order::InTurn => went_on |= self.go_on(ranks - 1 - turn),
                }
            }
            if !went_on {
                return;
            }
        }
    }

    /// Begins or completes a step of a rank, if one can.
    fn go_on(&mut self, rank: u32) -> bool {
        let walker = &mut self.walkers[rank as usize];
        for place in 0..walker.open.len() {
            let (_, step) = &walker.open[place];
            if step.receives.iter().all(|receive| self.under_way.contains_key(&(receive.from, rank, receive.tag))) {
                let (number, step) = walker.open.remove(place);
                walker.complete[number as usize] = true;
                for receive in &step.receives {
                    let payload = self.under_way.remove(&(receive.from, rank, receive.tag));
                    let payload = payload.expect("no two receives wait for one message");
                    self.flow.arrive(rank, number, receive, payload);
                }
                return true;
            }
        }
        let begins = walker.begun < self.program.steps(rank)
            && walker.begun.checked_sub(self.program.window()).is_none_or(|before| walker.complete[before as usize]);
        if begins {
            self.begin(rank);
        }
        begins
    }

    fn begin(&mut self, rank: u32) {
        let walker = &mut self.walkers[rank as usize];
        let number = walker.begun;
        let mut step = Step::default();
        self.program.step(rank, number, &mut step);
        self.totals.compute_cycles[rank as usize] += step.compute_cycles;
        for send in &step.sends {
            assert!(send.to < self.program.ranks() && send.to != rank, "{rank} sends to {}", send.to);
            assert!((1..=MESSAGE_FLITS_MAX).contains(&send.flits.into()), "{send:?}");
            assert!(send.tag < self.program.tags(), "{send:?}");
            let key = (rank, send.to, send.tag);
            assert!(self.ever.insert(key), "a message from, to, of tag {key:?} is sent twice");
            self.under_way.insert(key, self.flow.leave(rank, number, send));
            self.totals.messages += 1;
            self.totals.flits += u64::from(send.flits);
            let pair = self.totals.pairs.entry((rank, send.to)).or_default();
            *pair = (pair.0 + 1, pair.1 + u64::from(send.flits));
        }
        walker.begun += 1;
        walker.complete.push(false);
        walker.open.push((number, step));
    }

    fn check(&self) {
        for (walker, rank) in self.walkers.iter().zip(0..) {
            assert!(walker.open.is_empty(), "{rank} waits for ever: {:?}", walker.open);
            assert_eq!(walker.begun, self.program.steps(rank), "{rank} has not come to its end");
        }
        assert!(self.under_way.is_empty(), "nobody receives {:?}", self.under_way.keys());
        assert_eq!(self.program.messages(), self.totals.messages, "messages of {:?}", self.program);
        let phases = self.program.phases().len() as u32;
        for rank in 0..self.program.ranks() {
            let of_steps: Vec<u32> = (0..self.program.steps(rank)).map(|step| self.program.phase(rank, step)).collect();
            assert!(of_steps.is_sorted() && of_steps.iter().all(|&phase| phase < phases), "phases {of_steps:?}");
        }
    }
}
