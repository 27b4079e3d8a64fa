//! Programs: when their ranks came to the end of each phase.
//!
//! Like flows that end these are looked at from their start to their end, warm-up included.

use serde::{Deserialize, Serialize};

use crate::figures::Clock;
use crate::{CompletionRecord, Distribution, Histogram};

/// What is to be written down about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramPlan {
    /// How many ranks it has.
    pub ranks: u32,
    /// How many phases.
    pub phases: u16,
}

/// What is written down about a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRecord {
    /// How many ranks it has.
    pub ranks: u32,
    /// By phase: ticks from the start of the program to the end of the phase, of the ranks that have come there.
    pub phases: Vec<Histogram>,
}

impl ProgramRecord {
    pub(crate) fn new(plan: &ProgramPlan) -> Self {
        Self { ranks: plan.ranks, phases: vec![Histogram::new(); plan.phases.into()] }
    }

    /// A rank has come to the end of a phase.
    pub(crate) fn reached(&mut self, phase: u16, ticks: u64) {
        self.phases[usize::from(phase)].record(ticks);
    }

    /// Ranks that are not done.
    #[must_use]
    pub fn unfinished(&self) -> u64 {
        u64::from(self.ranks) - self.phases.last().map_or(0, Histogram::count)
    }

    /// Adds everything that has happened by `other`, which is about the same program.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.phases.iter_mut().zip(&other.phases) {
            mine.merge(theirs);
        }
    }
}

/// How a program has ended, or how far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramFigures {
    /// Its name.
    pub name: String,
    /// How many ranks it has.
    pub ranks: u64,
    /// Whether all of them are done.
    pub completed: bool,
    /// Cycles from its start until the last rank was done, once all are.
    pub completion_cycles: Option<f64>,
    /// The same in nanoseconds, if it is known how long a cycle is.
    pub completion_ns: Option<f64>,
    /// How many ranks are not done.
    pub unfinished: u64,
    /// Flits of messages that were sent and have not arrived: the backlog. Reports of earlier builds lack it.
    #[serde(default)]
    pub unfinished_flits: Option<u64>,
    /// What its ranks took until they were done, in cycles.
    pub rank_cycles: Distribution,
    /// Its phases, if it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseFigures>,
}

/// How a phase of a program has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseFigures {
    /// Its name.
    pub name: String,
    /// Cycles from the start of the program until the last rank came to the end of the phase, once all have.
    pub completion_cycles: Option<f64>,
    /// The same in nanoseconds, if it is known how long a cycle is.
    pub completion_ns: Option<f64>,
    /// What the ranks took from the start of the program, in cycles.
    pub rank_cycles: Distribution,
}

impl ProgramFigures {
    /// The figures of a record of the program of this name, with phases of these names.
    pub(crate) fn new(name: &str, phases: &[String], record: &ProgramRecord, clock: Clock) -> Self {
        let phase = |(name, reached): (&String, &Histogram)| {
            let cycle = clock.ticks_per_cycle as f64;
            let last = reached.max().filter(|_| reached.count() == u64::from(record.ranks));
            let completion_cycles = last.map(|ticks| ticks as f64 / cycle);
            PhaseFigures {
                name: name.clone(),
                completion_cycles,
                completion_ns: completion_cycles.zip(clock.cycle_ns).map(|(cycles, ns)| cycles * ns),
                rank_cycles: Distribution::new(reached, None, |ticks| ticks / cycle),
            }
        };
        let phases: Vec<PhaseFigures> = phases.iter().zip(&record.phases).map(phase).collect();
        let last = phases.last().expect("a program has a phase").clone();
        Self {
            name: name.to_owned(),
            ranks: record.ranks.into(),
            completed: record.unfinished() == 0,
            completion_cycles: last.completion_cycles,
            completion_ns: last.completion_ns,
            unfinished: record.unfinished(),
            unfinished_flits: None,
            rank_cycles: last.rank_cycles,
            phases: if phases.len() > 1 { phases } else { Vec::new() },
        }
    }

    /// The same with the backlog of its messages.
    pub(crate) fn with_backlog(self, messages: Option<&CompletionRecord>) -> Self {
        Self { unfinished_flits: messages.map(CompletionRecord::unfinished_flits), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_complete_when_its_last_rank_is_done() {
        let mut record = ProgramRecord::new(&ProgramPlan { ranks: 2, phases: 2 });
        let names = ["forward".to_owned(), "backward".to_owned()];
        let clock = Clock { ticks_per_cycle: 2, cycle_ns: Some(3.0) };
        [(0, 10), (0, 20), (1, 30)].into_iter().for_each(|(phase, ticks)| record.reached(phase, ticks));
        let figures = ProgramFigures::new("training", &names, &record, clock);
        assert_eq!((figures.completed, figures.completion_cycles, figures.unfinished), (false, None, 1));
        assert_eq!(figures.phases[0].completion_cycles, Some(10.0));
        assert_eq!(figures.rank_cycles.max, Some(15.0));
        let mut other = ProgramRecord::new(&ProgramPlan { ranks: 2, phases: 2 });
        other.reached(1, 50);
        record.merge(&other);
        let figures = ProgramFigures::new("training", &names, &record, clock);
        assert_eq!((figures.completed, figures.completion_cycles), (true, Some(25.0)));
        assert_eq!(figures.completion_ns, Some(75.0));
        let single = ProgramFigures::new("one", &names[..1], &other, clock);
        assert_eq!(single.phases, []);
    }
}
