//! Algorithms in rounds, and what makes steps of them.

use std::fmt::Debug;

use tailback_parameters::BuildError;

use super::layout::{Carried, Layout};
use crate::{Receive, Send, Step, Steps};

/// The largest message of a program, in flits.
pub const MESSAGE_FLITS_MAX: u64 = 1 << 28;

/// An algorithm in rounds, in each of which a rank sends one message at most and receives one at most. What it sends
/// is what it has before the round.
pub(super) trait Rounds: Debug + core::marker::Send + Sync {
    fn ranks(&self) -> u32;

    /// How many rounds there are; none if there is one rank.
    fn rounds(&self) -> u32;

    /// How many blocks the vector is cut into.
    fn blocks(&self) -> u32;

    /// The most blocks that a message carries.
    fn blocks_most(&self) -> u32;

    /// Whom a rank sends to in a round.
    fn to(&self, rank: u32, round: u32) -> Option<u32>;

    /// Whom a rank receives from in a round.
    fn from(&self, rank: u32, round: u32) -> Option<u32>;

    /// What a rank sends in a round in which it sends.
    fn carried(&self, rank: u32, round: u32) -> Carried;

    /// Whether what arrives in a round is combined with what is there. If not, it takes its place.
    fn combines(&self, _round: u32) -> bool {
        false
    }

    /// The largest message, in flits.
    fn largest(&self, layout: &Layout) -> u64 {
        layout.first(self.blocks_most())
    }

    fn messages(&self) -> u64;

    fn phases(&self) -> Vec<&'static str>;

    fn phase(&self, _round: u32) -> u32 {
        0
    }
}

/// How fast a rank combines what arrives with what it has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Combining {
    /// 0: at once.
    pub flits_per_cycle: f64,
}

impl Combining {
    fn cycles(self, flits: u64) -> u64 {
        if self.flits_per_cycle > 0.0 { (flits as f64 / self.flits_per_cycle).ceil() as u64 } else { 0 }
    }
}

/// An algorithm in rounds as steps: a round is a step, whose number is the tag of its messages. What arrives in a
/// round is combined at the beginning of the next; after the last round this takes a step of its own.
#[derive(Debug)]
pub(super) struct InRounds<A> {
    pub algorithm: A,
    pub layout: Layout,
    combining: Combining,
    window: u32,
}

impl<A: Rounds> InRounds<A> {
    /// Lets the algorithm work on a vector of `flits`, which `parameter` told.
    pub(super) fn new(algorithm: A, flits: u64, parameter: &'static str) -> Result<Self, BuildError> {
        let layout = Layout { flits, blocks: algorithm.blocks() };
        if algorithm.rounds() > 0 {
            let largest = algorithm.largest(&layout);
            let most = MESSAGE_FLITS_MAX / u64::from(algorithm.blocks_most()) * u64::from(layout.blocks);
            fits(largest, parameter).map_err(|error| error.help(format!("{most} flits in all are possible")))?;
        }
        Ok(Self { algorithm, layout, combining: Combining::default(), window: 1 })
    }

    /// Makes combining take time.
    pub(super) fn combining(self, combining: Combining) -> Self {
        Self { combining, ..self }
    }

    /// Lets several rounds be under way at once. No message may then depend on one of the rounds before.
    pub(super) fn window(self, window: u32) -> Self {
        Self { window, ..self }
    }

    /// How long a rank combines what it has received in a round.
    fn combining_cycles(&self, rank: u32, round: u32) -> u64 {
        match self.algorithm.from(rank, round) {
            Some(from) if self.algorithm.combines(round) => {
                self.combining.cycles(self.layout.flits(self.algorithm.carried(from, round)))
            }
            _ => 0,
        }
    }
}

/// Whether a message of so many flits, which follow from `parameter`, is allowed.
pub(super) fn fits(flits: u64, parameter: &'static str) -> Result<(), BuildError> {
    if flits <= MESSAGE_FLITS_MAX {
        return Ok(());
    }
    let message = format!("a message would have {flits} flits, the largest allowed has {MESSAGE_FLITS_MAX}");
    Err(BuildError::at(parameter, message).help("take less data"))
}

/// The size of a message that carries so many flits.
pub(super) fn message_flits(flits: u64) -> u32 {
    u32::try_from(flits.max(1)).expect("messages of a program that has been built are small enough")
}

/// The rank some places further on, counted round.
pub(super) fn ahead(rank: u32, by: u32, ranks: u32) -> u32 {
    ((u64::from(rank) + u64::from(by)) % u64::from(ranks)) as u32
}

/// The rank some places before, counted round.
pub(super) fn behind(rank: u32, by: u32, ranks: u32) -> u32 {
    ahead(rank, ranks - by % ranks, ranks)
}

/// How often 1 must be doubled to reach `ranks`.
pub(super) fn doublings(ranks: u32) -> u32 {
    u32::BITS - (ranks - 1).leading_zeros()
}

impl<A: Rounds> Steps for InRounds<A> {
    fn ranks(&self) -> u32 {
        self.algorithm.ranks()
    }

    fn steps(&self, rank: u32) -> u32 {
        let rounds = self.algorithm.rounds();
        let combines_last = rounds > 0 && self.combining_cycles(rank, rounds - 1) > 0;
        rounds + u32::from(combines_last)
    }

    fn step(&self, rank: u32, step: u32, out: &mut Step) {
        if step > 0 {
            out.compute_cycles = self.combining_cycles(rank, step - 1);
        }
        if step == self.algorithm.rounds() {
            return;
        }
        if let Some(to) = self.algorithm.to(rank, step) {
            let flits = self.layout.flits(self.algorithm.carried(rank, step));
            out.sends.push(Send { to, tag: step, flits: message_flits(flits) });
        }
        if let Some(from) = self.algorithm.from(rank, step) {
            out.receives.push(Receive { from, tag: step });
        }
    }

    fn window(&self) -> u32 {
        self.window
    }

    fn tags(&self) -> u32 {
        self.algorithm.rounds()
    }

    fn phases(&self) -> Vec<String> {
        self.algorithm.phases().into_iter().map(str::to_owned).collect()
    }

    fn phase(&self, _rank: u32, step: u32) -> u32 {
        self.algorithm.phase(step.min(self.algorithm.rounds() - 1))
    }

    fn messages(&self) -> u64 {
        self.algorithm.messages()
    }
}

/// One algorithm after the other, with the same ranks and blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Then<A, B>(pub A, pub B);

impl<A: Rounds, B: Rounds> Then<A, B> {
    /// The round of the second algorithm, if it is one.
    fn second(&self, round: u32) -> Option<u32> {
        round.checked_sub(self.0.rounds())
    }
}

impl<A: Rounds, B: Rounds> Rounds for Then<A, B> {
    fn ranks(&self) -> u32 {
        self.0.ranks()
    }

    fn rounds(&self) -> u32 {
        self.0.rounds() + self.1.rounds()
    }

    fn blocks(&self) -> u32 {
        self.0.blocks()
    }

    fn blocks_most(&self) -> u32 {
        self.0.blocks_most().max(self.1.blocks_most())
    }

    fn to(&self, rank: u32, round: u32) -> Option<u32> {
        self.second(round).map_or_else(|| self.0.to(rank, round), |second| self.1.to(rank, second))
    }

    fn from(&self, rank: u32, round: u32) -> Option<u32> {
        self.second(round).map_or_else(|| self.0.from(rank, round), |second| self.1.from(rank, second))
    }

    fn carried(&self, rank: u32, round: u32) -> Carried {
        self.second(round).map_or_else(|| self.0.carried(rank, round), |second| self.1.carried(rank, second))
    }

    fn combines(&self, round: u32) -> bool {
        self.second(round).map_or_else(|| self.0.combines(round), |second| self.1.combines(second))
    }

    fn messages(&self) -> u64 {
        self.0.messages() + self.1.messages()
    }

    fn phases(&self) -> Vec<&'static str> {
        let mut phases = self.0.phases();
        phases.extend(self.1.phases());
        phases
    }

    fn phase(&self, round: u32) -> u32 {
        match self.second(round) {
            Some(second) => self.0.phases().len() as u32 + self.1.phase(second),
            None => self.0.phase(round),
        }
    }
}
