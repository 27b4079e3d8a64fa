//! One run, from its last checkpoint or from the start, to its end.
//!
//! The simulator asks after each window whether it should stop. What there is to do then is done between two windows: a
//! sample, a checkpoint, or ending early. None of it changes what is found.

use std::cell::Cell;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use tailback_scenario::Scenario;
use tailback_sim::{Ending, Failure, Findings, Run, Timing};

use super::course::Course;
use super::processor;
use super::queue::{Control, Task};
use super::sampling::Sampler;
use super::{Found, Outcome, Shared, failed, transitions};
use crate::domain::{FailureReason, Sample, Summary, TakenSample, now_ms};
use crate::store::artifacts::File;
use crate::store::checkpoint::Checkpoint;
use crate::store::runs::{self, Stored};
use crate::store::{StoreError, events, samples};
use crate::watch::Channel;

/// Sequence numbers that are reserved at once for samples.
const RESERVED: i64 = 256;
/// A sample or a checkpoint that took long is followed by this many times as long without one.
const SAMPLE_REST: u32 = 50;
const CHECKPOINT_REST: u32 = 20;

/// Carries out a run.
pub(super) fn carry_out(shared: &Shared, task: &Task, control: &Control) -> Result<Outcome, StoreError> {
    let (stored, source) = shared.store.read_blocking(|connection| {
        let stored = runs::get(connection, &task.run)?;
        let source = runs::scenario(connection, &stored)?;
        Ok((stored, source))
    })?;
    let scenario = match source.read().resolve() {
        Ok(scenario) => scenario,
        Err(mistakes) => return Ok(failed(FailureReason::Scenario, mistakes.to_string())),
    };
    let checkpoint = Checkpoint::read(shared.store.folder(), task.number, &shared.version, &scenario.digest)?;
    let reached = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.cycle);
    if !transitions::begin(shared, task, reached)? {
        return Ok(Outcome::Cancelled);
    }
    let threads = stored.run.execution.threads.unwrap_or(0) as usize;
    let mut run = match start(&scenario, threads, checkpoint.as_ref()) {
        Ok(run) => run,
        Err(failure) => return Ok(Outcome::from(failure)),
    };
    let spent =
        checkpoint.map_or((Duration::ZERO, Duration::ZERO), |checkpoint| (checkpoint.wall, checkpoint.processor));
    let pace = Pace::new(shared, &stored, &run, spent);
    let kept = shared.store.read_blocking(|connection| samples::list(connection, task.number))?;
    let mut course = Course::new(kept, run.progress().cycle, shared.limits.samples_kept_max);
    let simulation = Simulation { shared, task, control, scenario: &scenario, pace };
    let outcome = simulation.finish(&mut run, &mut course);
    simulation.write_course(&mut course);
    outcome
}

/// The run as it was when the checkpoint was written; a new one if the checkpoint cannot be read.
fn start<'s>(scenario: &'s Scenario, threads: usize, checkpoint: Option<&Checkpoint>) -> Result<Run<'s>, Failure> {
    let mut run = Run::new(scenario, threads)?;
    let Some(checkpoint) = checkpoint else { return Ok(run) };
    match run.load(&checkpoint.state) {
        Ok(()) => Ok(run),
        Err(error) => {
            tracing::warn!(%error, "a checkpoint cannot be read; the run starts again");
            Run::new(scenario, threads)
        }
    }
}

/// Why a simulation pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    Cancelled,
    Stopping,
    TooLong,
    Sample,
    Checkpoint,
}

/// When a simulation pauses next.
struct Pace {
    started: Instant,
    wall_before: Duration,
    wall_max: Duration,
    /// To be added to what the threads of the run have spent since each of them began, and what is to be taken from it.
    processor_before: (Duration, Duration),
    sample_every: Duration,
    checkpoint_every: Duration,
    sample_at: Cell<Instant>,
    checkpoint_at: Cell<Instant>,
}

impl Pace {
    /// Of a run that goes on, and had taken this much wall and processor time before.
    fn new(shared: &Shared, stored: &Stored, run: &Run<'_>, (wall_before, processor): (Duration, Duration)) -> Self {
        let limits = &shared.limits;
        let wall_max = Duration::from_secs(limits.wall_time_s_max);
        let now = Instant::now();
        let sample_every = Duration::from_millis(limits.sample_interval_ms);
        let checkpoint_every = Duration::from_millis(limits.checkpoint_interval_ms);
        Self {
            started: now,
            wall_before,
            wall_max: stored.run.execution.wall_time_max.map_or(wall_max, |wanted| wanted.min(wall_max)),
            processor_before: (processor, processor::spent(run)),
            sample_every,
            checkpoint_every,
            sample_at: Cell::new(now + sample_every),
            checkpoint_at: Cell::new(now + checkpoint_every),
        }
    }

    fn wall(&self) -> Duration {
        self.wall_before + self.started.elapsed()
    }

    /// Of all threads of the run.
    fn processor(&self, run: &Run<'_>) -> Duration {
        let (before, elsewhere) = self.processor_before;
        before + processor::spent(run).saturating_sub(elsewhere)
    }

    /// What says whether it is time to pause, for any thread to ask.
    fn alarm<'r>(&self, shared: &'r Shared, control: &'r Control) -> impl Fn() -> Option<Pause> + Send + use<'r> {
        let too_long_at = self.started.checked_add(self.wall_max.saturating_sub(self.wall_before));
        let (checkpoint_at, sample_at) = (self.checkpoint_at.get(), self.sample_at.get());
        move || {
            let now = Instant::now();
            if control.is_cancelled() {
                Some(Pause::Cancelled)
            } else if shared.queue.is_stopping() {
                Some(Pause::Stopping)
            } else if too_long_at.is_some_and(|at| now > at) {
                Some(Pause::TooLong)
            } else if now >= checkpoint_at {
                Some(Pause::Checkpoint)
            } else {
                (now >= sample_at).then_some(Pause::Sample)
            }
        }
    }

    /// Does something now and again: at most every so often, and not if it would take up much of the time.
    fn now_and_again(next: &Cell<Instant>, every: Duration, rest: u32, action: impl FnOnce()) {
        let began = Instant::now();
        action();
        let now = Instant::now();
        next.set(now + every.max((now - began) * rest));
    }
}

/// Numbers for samples.
struct Numbers {
    free: Range<i64>,
    /// What had been written down about the run when they were reserved.
    written: u64,
}

struct Simulation<'r> {
    shared: &'r Shared,
    task: &'r Task,
    control: &'r Control,
    scenario: &'r Scenario,
    pace: Pace,
}

impl Simulation<'_> {
    fn finish(&self, run: &mut Run<'_>, course: &mut Course) -> Result<Outcome, StoreError> {
        let channel = self.shared.hub.channel(&self.task.run);
        let mut sampler = Sampler::new(self.scenario, run);
        let mut numbers = Numbers { free: 0..0, written: 0 };
        loop {
            let (mut pause, alarm) = (None, self.pace.alarm(self.shared, self.control));
            let ending = run.finish(|_| {
                pause = alarm();
                if pause.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            match ending {
                Ok(Ending::Reached) => break,
                Ok(Ending::Stopped) => {}
                Err(failure) => return Ok(failure.into()),
            }
            match pause {
                Some(Pause::Cancelled) => return Ok(Outcome::Cancelled),
                Some(Pause::Stopping) => {
                    self.write_checkpoint(run);
                    return Ok(Outcome::Suspended);
                }
                Some(Pause::TooLong) => return Ok(self.took_too_long()),
                Some(Pause::Checkpoint) => {
                    let Pace { checkpoint_at, checkpoint_every, .. } = &self.pace;
                    let write = || {
                        self.write_checkpoint(run);
                        self.write_course(course);
                    };
                    Pace::now_and_again(checkpoint_at, *checkpoint_every, CHECKPOINT_REST, write);
                }
                Some(Pause::Sample) => {
                    let Pace { sample_at, sample_every, .. } = &self.pace;
                    let put = || self.put_sample(&channel, sampler.sample(run), &mut numbers, course);
                    Pace::now_and_again(sample_at, *sample_every, SAMPLE_REST, put);
                }
                None => {}
            }
        }
        let timing = Timing {
            wall_s: self.pace.wall().as_secs_f64(),
            cpu_s: self.pace.processor(run).as_secs_f64(),
            peak_rss_bytes: None,
        };
        match run.findings() {
            Ok(findings) => found(self.scenario, &findings, &timing, &self.shared.version).map(Outcome::Succeeded),
            Err(failure) => Ok(failure.into()),
        }
    }

    /// A run without a checkpoint starts again if it must: not being able to write one does not end it.
    fn write_checkpoint(&self, run: &Run<'_>) {
        let began = Instant::now();
        let written = run.save().map_err(|error| error.to_string()).and_then(|state| {
            let (wall, processor) = (self.pace.wall(), self.pace.processor(run));
            let checkpoint = Checkpoint { cycle: run.progress().cycle, wall, processor, state };
            let (folder, number) = (self.shared.store.folder(), self.task.number);
            let written = checkpoint.write(folder, number, &self.shared.version, &self.scenario.digest);
            written.map(|()| checkpoint.state.len()).map_err(|error| error.to_string())
        });
        match written {
            Ok(bytes) => self.shared.meters.checkpoint(bytes, began.elapsed()),
            Err(error) => tracing::error!(run = %self.task.run, error, "cannot write a checkpoint"),
        }
    }

    /// Its course is for people, and no reason to end a run.
    fn write_course(&self, course: &mut Course) {
        if let Err(error) = course.write(&self.shared.store, self.task.number) {
            tracing::warn!(run = %self.task.run, %error, "samples are not kept");
        }
    }

    /// A sample that gets no number is left out: the next one tells more.
    fn put_sample(&self, channel: &Channel, sample: Sample, numbers: &mut Numbers, course: &mut Course) {
        // Whatever has been written down since the numbers were reserved has larger ones: they are of no use any more.
        let written = channel.written();
        if numbers.written != written || numbers.free.is_empty() {
            let number = self.task.number;
            let reserved = self.shared.store.write_blocking(move |w| events::reserve(w, number, RESERVED));
            match reserved {
                Ok(free) => *numbers = Numbers { free, written },
                Err(error) => tracing::warn!(run = %self.task.run, %error, "a sample is left out"),
            }
        }
        self.shared.meters.sample();
        if let Some(sequence) = numbers.free.next() {
            let taken = TakenSample { sequence, time_ms: now_ms(), sample };
            course.put(taken);
            channel.put_sample(taken);
        }
    }

    fn took_too_long(&self) -> Outcome {
        let seconds = self.pace.wall_max.as_secs_f64();
        failed(FailureReason::WallTime, format!("the run took longer than {seconds} s, which is all that it may"))
    }
}

/// What is left behind by a run that has succeeded.
fn found(scenario: &Scenario, findings: &Findings, timing: &Timing, version: &str) -> Result<Found, StoreError> {
    let report = findings.report(scenario, version, timing);
    let mut artifacts = vec![
        File::new("report.json", report.to_json()),
        File::new("report.txt", report.summary_text()),
        File::new("scenario.toml", scenario.text.clone()),
    ];
    if let Some(series) = findings.series(scenario) {
        artifacts.extend(table(&series, "series.csv", "series.parquet")?);
    }
    let result_digest = report.result_digest.clone();
    Ok(Found { files: artifacts, summary: Some(Summary::of(&report)), result_digest, report: Some(Box::new(report)) })
}

/// A table as CSV and Parquet.
pub(super) fn table(
    table: &tailback_report::Table,
    csv_name: &'static str,
    parquet_name: &'static str,
) -> Result<[File; 2], StoreError> {
    let (mut csv, mut parquet) = (Vec::new(), Vec::new());
    let written = table.write_csv(&mut csv).and_then(|()| table.write_parquet(&mut parquet));
    written.map_err(|error| StoreError::Broken(error.to_string()))?;
    Ok([File::new(csv_name, csv), File::new(parquet_name, parquet)])
}
