//! A share of many runs: the same command goes several times, on machines that have nothing in common but a directory.
//!
//! Whoever makes which run follows from the runs alone, so nobody has to ask: shared file systems have no locks that one could trust.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt;

use crate::arguments::Format;
use crate::output::{count, say_line, tell_line};
use crate::work::Task;

/// The word that stands for what the array of Slurm says.
const ARRAY: &str = "slurm";

/// One of several shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1 on.
    number: usize,
    of: usize,
}

/// The most shares there can be: those that have nothing to do cost something as well.
const MOST: usize = 100_000;

impl Shard {
    /// The share that the command line names: `2/8`, or `slurm` for that of a task of a job array.
    ///
    /// # Errors
    /// In words, when there is no such share.
    pub fn parse(text: &str) -> Result<Self, String> {
        let usage = || format!("a share is written as 2/8, the second of eight, or `{ARRAY}` in a job array");
        if text == ARRAY {
            return Self::of_array(|name| env::var(name).ok());
        }
        let (number, of) = text.split_once('/').ok_or_else(usage)?;
        let whole = |text: &str| text.trim().parse::<usize>().map_err(|_| usage());
        Self::new(whole(number)?, whole(of)?)
    }

    fn new(number: usize, of: usize) -> Result<Self, String> {
        if of > MOST {
            return Err(format!("there are {MOST} shares at most"));
        }
        if number == 0 || number > of {
            return Err(format!(
                "of {} there is no number {number}: they are counted from 1",
                count(of as u32, "share")
            ));
        }
        Ok(Self { number, of })
    }

    /// The share of a task of a job array, by the variables that Slurm sets.
    fn of_array(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let whole = |name: &str| -> Result<usize, String> {
            let text = variable(name).ok_or_else(|| format!("{name} is not set: this is no task of a job array"))?;
            text.parse().map_err(|_| format!("{name} is `{text}`, not a whole number"))
        };
        let (id, least) = (whole("SLURM_ARRAY_TASK_ID")?, whole("SLURM_ARRAY_TASK_MIN")?);
        let (most, of) = (whole("SLURM_ARRAY_TASK_MAX")?, whole("SLURM_ARRAY_TASK_COUNT")?);
        let step = if of > 1 { (most - least.min(most)) / (of - 1) } else { 1 };
        let regular =
            step > 0 && most == least + step * (of.max(1) - 1) && id >= least && (id - least).is_multiple_of(step);
        if !regular {
            return Err(format!(
                "the array has {of} tasks from {least} to {most}, and this is {id}: give it numbers at equal distances, as in 0-7"
            ));
        }
        Self::new((id - least) / step + 1, of)
    }

    /// The digests of the runs that this share makes. The dearest go first, each to the share that has least.
    pub fn pick<'t>(self, tasks: impl Iterator<Item = &'t Task>) -> BTreeSet<String> {
        let weights: BTreeMap<&str, f64> = tasks.map(|task| (task.digest.as_str(), task.weight)).collect();
        self.deal(weights.into_iter().collect()).into_iter().map(str::to_owned).collect()
    }

    fn deal(self, mut runs: Vec<(&str, f64)>) -> Vec<&str> {
        runs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        let mut shares = vec![0.0_f64; self.of];
        let mut mine = Vec::new();
        for (digest, weight) in runs {
            let least = shares.iter().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
            let share = least.map_or(0, |(share, _)| share);
            // What costs nothing is dealt out as well.
            shares[share] += weight.max(f64::MIN_POSITIVE);
            if share + 1 == self.number {
                mine.push(digest);
            }
        }
        mine
    }

    /// Says what there is of this share, and what makes a whole of all.
    pub fn tell(self, made: Made, format: Format, quiet: bool) {
        let Made { runs, done, beyond } = made;
        match format {
            Format::Json => say_line!(
                r#"{{"shard": {}, "of": {}, "runs": {runs}, "done": {done}, "beyond_saturation": {beyond}}}"#,
                self.number,
                self.of
            ),
            Format::Text => {
                let rest = if beyond > 0 { format!(", {beyond} beyond saturation") } else { String::new() };
                say_line!("{self}: {done} of {}{rest}", count(runs as u32, "run"));
            }
        }
        if !quiet {
            tell_line!("when all shares are there, the same command without `--shard` makes the whole of them");
        }
    }
}

/// What there is of a share.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub runs: usize,
    pub done: usize,
    /// Those that nobody needs, as their curves end before.
    pub beyond: usize,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "share {} of {}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_counted_from_one() {
        assert_eq!(Shard::parse("2/8"), Ok(Shard { number: 2, of: 8 }));
        for bad in ["0/8", "9/8", "1/0", "8", "a/b", "1/100001", "-1/2", "", "1/2/3"] {
            assert!(Shard::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_job_array_says_which_share_a_task_has() {
        let array = |id, least, most, of| {
            Shard::of_array(|name| {
                let value: usize = match name {
                    "SLURM_ARRAY_TASK_ID" => id,
                    "SLURM_ARRAY_TASK_MIN" => least,
                    "SLURM_ARRAY_TASK_MAX" => most,
                    _ => of,
                };
                Some(value.to_string())
            })
        };
        assert_eq!(array(0, 0, 2, 3), Ok(Shard { number: 1, of: 3 }));
        assert_eq!(array(5, 1, 9, 3), Ok(Shard { number: 2, of: 3 }));
        assert_eq!(array(7, 7, 7, 1), Ok(Shard { number: 1, of: 1 }));
        assert!(array(4, 1, 9, 3).is_err(), "it is not in the array");
        assert!(array(1, 1, 9, 4).is_err(), "the array has gaps of its own");
        assert!(Shard::of_array(|_| None).is_err());
    }

    #[test]
    fn each_run_is_dealt_out_once_and_shares_cost_alike() {
        let weights = [9.0, 1.0, 4.0, 4.0, 3.0, 0.0, 7.0, 2.0];
        let names: Vec<String> = (0..weights.len()).map(|run| format!("run {run}")).collect();
        let runs: Vec<(&str, f64)> = names.iter().map(String::as_str).zip(weights).collect();
        let shares: Vec<_> = (1..=3).map(|number| Shard { number, of: 3 }.deal(runs.clone())).collect();
        let mut all = shares.concat();
        all.sort_unstable();
        assert_eq!(all, names);
        let cost = |share: &Vec<&str>| runs.iter().filter(|run| share.contains(&run.0)).map(|run| run.1).sum::<f64>();
        assert_eq!(shares.iter().map(cost).collect::<Vec<_>>(), [10.0, 10.0, 10.0]);
        // In whatever order they are named.
        let reversed = runs.iter().rev().copied().collect();
        assert_eq!(Shard { number: 2, of: 3 }.deal(reversed), shares[1]);
    }
}
