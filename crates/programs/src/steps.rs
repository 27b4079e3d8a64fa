//! What ranks do, step by step.

use std::fmt::Debug;

/// What a rank does in one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Cycles that it computes before it sends.
    pub compute_cycles: u64,
    /// What it sends then, in this order.
    pub sends: Vec<Send>,
    /// What it waits for.
    pub receives: Vec<Receive>,
}

impl Step {
    /// Makes it a step in which nothing happens, and keeps the room of its lists.
    pub fn clear(&mut self) {
        self.compute_cycles = 0;
        self.sends.clear();
        self.receives.clear();
    }
}

/// A message that a rank sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send {
    /// The rank that it goes to, never the sender.
    pub to: u32,
    /// What tells it from others of the same pair of ranks.
    pub tag: u32,
    /// Its size, at least 1: a share of no data is a message of 1 flit, for whoever waits for it.
    pub flits: u32,
}

/// A message that a rank waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receive {
    /// The rank that it comes from.
    pub from: u32,
    /// What tells it from others of the same pair of ranks.
    pub tag: u32,
}

/// A program whose ranks go through steps.
///
/// A step begins (its receives are posted, the rank computes, then sends) when the step [`Steps::window`] before it
/// is complete. It is complete when all its sends are handed over and all its receives have arrived. Steps begin in
/// their order. A message may arrive before its receive is posted. No two messages of a run have the same sender,
/// receiver and tag.
pub trait Steps: Debug + core::marker::Send + Sync {
    /// How many ranks there are.
    fn ranks(&self) -> u32;

    /// How many steps a rank goes through; 0 for a rank that has nothing to do.
    fn steps(&self, rank: u32) -> u32;

    /// Writes what `rank` does in `step` into `out`, in which nothing happens yet. A pure function.
    fn step(&self, rank: u32, step: u32, out: &mut Step);

    /// How many steps of a rank may be under way at once.
    fn window(&self) -> u32 {
        1
    }

    /// All tags are below this. By default the most steps of a rank, for programs whose tags are numbers of steps.
    fn tags(&self) -> u32 {
        (0..self.ranks()).map(|rank| self.steps(rank)).max().unwrap_or(0)
    }

    /// The names of its phases.
    fn phases(&self) -> Vec<String>;

    /// The phase that a step of a rank belongs to, which never descends with the step.
    fn phase(&self, rank: u32, step: u32) -> u32;

    /// The sum over all messages of what `of` makes of them and the ranks that send them, for which all steps are gone through.
    fn sum_over_messages(&self, of: &dyn Fn(u32, &Send) -> u64) -> u64 {
        let mut step = Step::default();
        let mut sum = 0;
        for rank in 0..self.ranks() {
            for number in 0..self.steps(rank) {
                step.clear();
                self.step(rank, number, &mut step);
                sum += step.sends.iter().map(|send| of(rank, send)).sum::<u64>();
            }
        }
        sum
    }

    /// How many steps that are: those of one repetition, if there are several.
    fn steps_of_all(&self) -> u64 {
        (0..self.ranks()).map(|rank| u64::from(self.steps(rank))).sum()
    }

    /// How many messages all ranks send together. Counts them unless a program knows better.
    fn messages(&self) -> u64 {
        self.sum_over_messages(&|_, _| 1)
    }
}
