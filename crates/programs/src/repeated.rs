//! A program several times over.

use tailback_parameters::BuildError;

use crate::{Send, Step, Steps};

/// A program whose ranks go through all its steps several times.
///
/// A rank goes on without waiting for the others: only what the program itself makes it wait for holds it up. Where
/// the program has a window, as many steps are under way across the seam between two repetitions as elsewhere.
#[derive(Debug)]
pub struct Repeated {
    program: Box<dyn Steps>,
    times: u32,
    /// The tags of one repetition.
    tags: u32,
    /// The phases of one repetition.
    phases: u32,
    /// Whether each repetition has phases of its own.
    told_apart: bool,
}

/// With more phases than this repetitions are not told apart.
const PHASES_MAX: u64 = 1024;

impl Repeated {
    /// Repeats a program.
    ///
    /// # Errors
    /// When steps or tags would not fit 32 bits.
    pub fn new(program: Box<dyn Steps>, times: u32) -> Result<Self, BuildError> {
        let tags = program.tags();
        let steps = (0..program.ranks()).map(|rank| program.steps(rank)).max().unwrap_or(0);
        let most = u32::MAX / tags.max(steps).max(1);
        if times > most {
            let message = format!("a program of {steps} steps and {tags} tags cannot be repeated {times} times");
            return Err(BuildError::new(message).help(format!("repeat it {most} times at most")));
        }
        let phases = program.phases().len() as u32;
        let told_apart = phases > 1 && u64::from(phases) * u64::from(times) <= PHASES_MAX;
        Ok(Self { program, times, tags, phases, told_apart })
    }
}

impl Steps for Repeated {
    fn ranks(&self) -> u32 {
        self.program.ranks()
    }

    fn steps(&self, rank: u32) -> u32 {
        self.program.steps(rank) * self.times
    }

    fn step(&self, rank: u32, step: u32, out: &mut Step) {
        let steps = self.program.steps(rank);
        self.program.step(rank, step % steps, out);
        let serial = step / steps * self.tags;
        for send in &mut out.sends {
            send.tag += serial;
        }
        for receive in &mut out.receives {
            receive.tag += serial;
        }
    }

    fn window(&self) -> u32 {
        self.program.window()
    }

    fn tags(&self) -> u32 {
        self.tags * self.times
    }

    /// A program of one phase keeps it for all repetitions. One of several has them anew in each repetition, numbered
    /// from 1, as phases never go back; if that makes more than 1024, all are one phase.
    fn phases(&self) -> Vec<String> {
        let names = self.program.phases();
        if !self.told_apart {
            return if names.len() > 1 { vec!["all".to_owned()] } else { names };
        }
        (1..=self.times).flat_map(|time| names.iter().map(move |name| format!("{name} {time}"))).collect()
    }

    fn phase(&self, rank: u32, step: u32) -> u32 {
        if !self.told_apart {
            return 0;
        }
        let steps = self.program.steps(rank);
        step / steps * self.phases + self.program.phase(rank, step % steps)
    }

    fn sum_over_messages(&self, of: &dyn Fn(u32, &Send) -> u64) -> u64 {
        self.program.sum_over_messages(of) * u64::from(self.times)
    }

    fn steps_of_all(&self) -> u64 {
        self.program.steps_of_all()
    }

    fn messages(&self) -> u64 {
        self.program.messages() * u64::from(self.times)
    }
}
