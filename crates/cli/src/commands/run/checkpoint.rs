//! Checkpoints of a run: its state between two windows, from which it goes on after whatever has ended the program.
//!
//! A checkpoint is one file in the directory of the results, which is replaced as a whole. The scenario is in it, so that
//! the two never disagree. It is removed when the run is done, and by nobody else: one that cannot be used stays.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tailback_scenario::{Document, Scenario};
use tailback_service::{StateFile, Unfit, refuse_other_programs, write_state_by_pieces};
use tailback_sim::{Failure, Run, STATE_FORMAT, SnapshotError, Timing};

use crate::arguments::RunArguments;
use crate::complaint::Complaint;
use crate::files::Beside;
use crate::input;
use crate::output::{self, tell_line};
use crate::ranks;
use crate::results::CHECKPOINT;
use crate::store::VERSION;

/// A checkpoint that took long to write is followed by this many times as long without one.
const REST: u32 = 20;

/// How the names of checkpoints end that are being written: before it stands the number of the process.
const UNFINISHED: &str = "unfinished";

/// What stands before the state.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Heading {
    format: u32,
    version: String,
    scenario_digest: String,
    /// The file of the scenario, and what was laid over it.
    file: PathBuf,
    text: String,
    set: Vec<String>,
    seed: Option<u64>,
    threads: Option<u32>,
    /// What the run has come to and taken.
    cycle: u64,
    wall_ms: u64,
    processor_ms: u64,
    /// How often it is written down.
    every_ms: u64,
}

/// The last state of a run that was ended before it was done.
pub struct Checkpoint {
    path: PathBuf,
    heading: Heading,
    state: StateFile<File>,
}

impl Checkpoint {
    /// That in a directory.
    pub fn read(directory: &Path) -> Result<Self, Complaint> {
        let path = directory.join(CHECKPOINT);
        let file = File::open(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Complaint::BadInput(
                format!("there is no checkpoint in {}", directory.display()),
                Some("`run FILE --checkpoint-every TIME --out DIR` writes some until the run is done".to_owned()),
            ),
            _ => Complaint::bad_input(format!("cannot read {}: {error}", path.display())),
        })?;
        let (heading, state) = StateFile::of::<Heading>(file).map_err(|unfit| unusable(&path, &unfit))?;
        refuse_other_programs((heading.format, &heading.version), (STATE_FORMAT, VERSION))
            .map_err(|unfit| unusable(&path, &unfit))?;
        Ok(Self { path, state, heading })
    }

    /// The scenario of the run, on other threads if so wished.
    pub fn scenario(&self, threads: Option<u32>) -> Result<Scenario, Complaint> {
        let Heading { file, text, set, seed, threads: before, scenario_digest, .. } = &self.heading;
        let name = file.display().to_string();
        let document = Document::read(&name, text).with_files(Arc::new(Beside::of(file)));
        let document = set.iter().fold(document, |document, set| document.with(set));
        let scenario = input::resolve(&input::with_options(document, *seed, threads.or(*before)))?;
        if scenario.digest == *scenario_digest {
            return Ok(scenario);
        }
        let reason = format!("a file that {name} names has changed");
        Err(unusable(&self.path, &Unfit::Other(reason)))
    }

    /// Has a run of that scenario go on from here, in all of its processes, each of which reads what is about its own regions.
    pub fn load(&mut self, run: &mut Run<'_>, are_several: bool) -> Result<(), Complaint> {
        let unfit = match run.load_from(&mut self.state) {
            Err(Failure::Snapshot(SnapshotError::Damaged(reason))) => Unfit::Damaged(reason),
            Err(Failure::Snapshot(error)) => Unfit::Other(error.to_string()),
            loaded => return ranks::together(loaded, are_several),
        };
        // The first that finds it tells, whichever it is.
        output::be_silent(false);
        Err(unusable(&self.path, &unfit))
    }

    /// How often the run is to be written down.
    pub fn every(&self) -> Duration {
        Duration::from_millis(self.heading.every_ms)
    }
}

/// What is said of a checkpoint that is not used.
fn unusable(path: &Path, why: &Unfit) -> Complaint {
    let what = match why {
        Unfit::Damaged(reason) => format!("{} is damaged: {reason}", path.display()),
        Unfit::Other(reason) => format!("{} cannot be used: {reason}", path.display()),
    };
    Complaint::BadInput(what, Some("it stays as it is; to start again remove it, and run the scenario".to_owned()))
}

/// Writes checkpoints of a run now and again.
pub struct Checkpoints {
    path: PathBuf,
    heading: Heading,
    every: Duration,
    /// None if another process says when.
    due: Option<Instant>,
    /// What the run had taken when it went on.
    before: (Duration, Duration),
    /// The cycle of the last one that was written.
    last: Option<u64>,
}

impl Checkpoints {
    /// Those that the arguments ask for, of a run that goes on from a checkpoint or starts.
    pub fn of(
        arguments: &RunArguments,
        scenario: &Scenario,
        directory: Option<&Path>,
        resumed: Option<&Checkpoint>,
    ) -> Result<Option<Self>, Complaint> {
        let Some(every) = arguments.checkpoint_every.or(resumed.map(Checkpoint::every)) else { return Ok(None) };
        let Some(directory) = directory else {
            let help = "say where checkpoints go: `--out DIR`".to_owned();
            return Err(Complaint::BadInput("--checkpoint-every needs a directory".to_owned(), Some(help)));
        };
        let heading = match resumed {
            Some(checkpoint) => checkpoint.heading.clone(),
            None => Heading {
                format: STATE_FORMAT,
                version: VERSION.to_owned(),
                scenario_digest: scenario.digest.clone(),
                file: absolute(arguments.file.as_deref().unwrap_or(Path::new(""))),
                text: input::read(arguments.file.as_deref().unwrap_or(Path::new("")))?,
                set: arguments.set.clone(),
                seed: arguments.seed,
                threads: arguments.threads,
                cycle: 0,
                wall_ms: 0,
                processor_ms: 0,
                every_ms: 0,
            },
        };
        let before = (heading.wall_ms, heading.processor_ms);
        Ok(Some(Self {
            path: directory.join(CHECKPOINT),
            heading: Heading { every_ms: (every.as_millis() as u64).max(1), ..heading },
            every,
            due: Some(Instant::now() + every),
            before: (Duration::from_millis(before.0), Duration::from_millis(before.1)),
            last: None,
        }))
    }

    /// Whether it is time for one.
    pub fn is_due(&self) -> bool {
        self.due.is_some_and(|due| Instant::now() >= due)
    }

    /// Removes what processes have left that were killed while they wrote a checkpoint: nobody has locked it any more.
    pub fn remove_leftovers(&self) {
        let left = |name: &str| name.starts_with(CHECKPOINT) && name.ends_with(UNFINISHED);
        let entries = self.path.parent().into_iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
        for entry in entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(left)) {
            if File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Has the first of several processes say when it is time.
    pub fn follow(&mut self) {
        self.due = None;
    }

    /// What the run has taken in all, of which this much since it went on.
    pub fn whole(&self, timing: Timing) -> Timing {
        let (wall, processor) = self.before;
        Timing { wall_s: wall.as_secs_f64() + timing.wall_s, cpu_s: processor.as_secs_f64() + timing.cpu_s, ..timing }
    }

    /// Writes one in place of the last. That it cannot be written ends no run, which may still come to its end.
    /// In a run of several processes all call it, and the first one writes.
    ///
    /// # Errors
    /// When the processes of the run cannot go on together.
    pub fn write(&mut self, run: &mut Run<'_>, timing: Timing) -> Result<(), Failure> {
        let began = Instant::now();
        let timing = self.whole(timing);
        self.heading.cycle = run.progress().cycle;
        self.heading.wall_ms = (timing.wall_s * 1e3) as u64;
        self.heading.processor_ms = (timing.cpu_s * 1e3) as u64;
        if !run.is_first() {
            return run.show_state(&mut |_| {});
        }
        let unfinished = self.path.with_extension(format!("{}.{UNFINISHED}", std::process::id()));
        let written = write_state_by_pieces(&unfinished, &self.path, &self.heading, |take| run.show_state(take))?;
        match written {
            Ok(()) => self.last = Some(self.heading.cycle),
            Err(error) => tell_line!("warning: the state in cycle {} is not kept: {error}", self.heading.cycle),
        }
        let now = Instant::now();
        self.due = Some(now + self.every.max((now - began) * REST));
        Ok(())
    }

    /// Where a run that was ended can go on, in words.
    pub fn hint(&self) -> Option<String> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        self.last.map(|cycle| format!("`tailback run --resume {}` goes on from cycle {cycle}", directory.display()))
    }
}

/// A file that is found wherever the program is started next.
fn absolute(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned())
}
