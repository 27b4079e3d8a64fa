//! One run, from its last checkpoint or from the start, to its end.
//!
//! The simulator asks after each window whether it should stop. What there is to do then is done between two windows: a
//! sample, a checkpoint, or ending early. None of it changes what is found.

use std::cell::Cell;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tailback_report::{Report, Table};
use tailback_scenario::Scenario;
use tailback_sim::{Ending as Stage, Failure, Findings, Run, Timing};

use super::protocol::{Assignment, Channel, Ending, Message, Results};
use super::sampling::Sampler;
use super::{memory, processor};
use crate::domain::{Artifact, FailureReason, RunFailure, Summary};
use crate::store::StoreError;
use crate::store::artifacts::{self, File, NotWritten, OF_HISTOGRAMS, OF_LINKS, OF_MESSAGES, OF_SERIES, OF_TREES};
use crate::store::checkpoint::Checkpoint;
use crate::store::named::NamedFiles;

/// A sample or a checkpoint that took long is followed by this many times as long without one.
const SAMPLE_REST: u32 = 50;
const CHECKPOINT_REST: u32 = 20;
/// No row of a message, a link or a tree takes less in a file.
const ROW_BYTES: u64 = 20;
/// How long to wait for room on the disk, or for file descriptors, before it is tried again.
const SHORT_REST: Duration = Duration::from_millis(500);

/// Carries out a run, and says how it goes.
///
/// # Errors
/// When the server is not there any more.
pub(super) fn carry_out(assignment: &Assignment, channel: &mut Channel, suspended: &AtomicBool) -> io::Result<Ending> {
    let Assignment { data, number, version, .. } = assignment;
    let resolve = || resolve(assignment);
    let scenario = match patiently("the scenario cannot be read", suspended, SHORT_REST, resolve) {
        Some(Ok(scenario)) => scenario,
        Some(Err(failure)) => return Ok(Ending::Failed(failure)),
        None => return Ok(Ending::Suspended),
    };
    let read = || Checkpoint::read(data, *number, version, &scenario.digest);
    let Some(checkpoint) = patiently("the checkpoint cannot be read", suspended, SHORT_REST, read) else {
        return Ok(Ending::Suspended);
    };
    let mut run = match start(&scenario, assignment.threads as usize, checkpoint.as_ref()) {
        Ok(run) => run,
        Err(failure) => return Ok(Ending::Failed(failure.into())),
    };
    let spent =
        checkpoint.map_or((Duration::ZERO, Duration::ZERO), |checkpoint| (checkpoint.wall, checkpoint.processor));
    channel.send(&Message::Began { cycle: run.progress().cycle, wall: spent.0 })?;
    let pace = Pace::new(assignment, &run, spent);
    Simulation { assignment, suspended, scenario: &scenario, pace }.finish(&mut run, channel)
}

/// The scenario of a run with the files that it names; why the run fails if it cannot be had.
///
/// # Errors
/// While files cannot be opened, or what is made of them cannot be written, for want of what may be there a moment later.
fn resolve(assignment: &Assignment) -> Result<Result<Scenario, RunFailure>, StoreError> {
    let Assignment { scenario, data, attempt, .. } = assignment;
    let files = Arc::new(NamedFiles::of(scenario, data, attempt));
    match scenario.read(files.clone()).resolve() {
        Ok(scenario) => Ok(Ok(scenario)),
        Err(mistakes) => files.want().map_or_else(|| Ok(Err(files.failure(&mistakes))), Err),
    }
}

/// Does what fails only for want of file descriptors or of room on the disk, again and again: that passes, and is no reason for
/// a run to fail. Nothing if the run is suspended meanwhile.
fn patiently<T>(
    what: &str,
    suspended: &AtomicBool,
    rest: Duration,
    mut work: impl FnMut() -> Result<T, StoreError>,
) -> Option<T> {
    loop {
        match work() {
            Ok(done) => return Some(done),
            Err(_) if suspended.load(Ordering::Relaxed) => return None,
            Err(error) => tracing::warn!(%error, "{what}: it is tried again"),
        }
        std::thread::sleep(rest);
    }
}

impl From<Failure> for RunFailure {
    fn from(failure: Failure) -> Self {
        let message = failure.to_string();
        let (reason, details) = match failure {
            Failure::Deadlock { circle, .. } => (FailureReason::Deadlock, circle),
            Failure::Inconsistent { .. } | Failure::Snapshot(_) | Failure::Ranks(_) | Failure::Elsewhere => {
                (FailureReason::Inconsistent, Vec::new())
            }
            Failure::Threads { .. } => (FailureReason::Threads, Vec::new()),
        };
        // Of a large network the circle may be longer than what a worker may say.
        Self { reason, message, details }.bounded()
    }
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
    Suspended,
    Sample,
    Checkpoint,
}

/// When a simulation pauses next.
struct Pace {
    started: Instant,
    wall_before: Duration,
    /// To be added to what the threads of the run have spent since each of them began, and what is to be taken from it.
    processor_before: (Duration, Duration),
    sample_every: Duration,
    checkpoint_every: Duration,
    sample_at: Cell<Instant>,
    checkpoint_at: Cell<Instant>,
}

impl Pace {
    /// Of a run that goes on, and had taken this much wall and processor time before.
    fn new(assignment: &Assignment, run: &Run<'_>, (wall_before, processor): (Duration, Duration)) -> Self {
        let now = Instant::now();
        let sample_every = Duration::from_millis(assignment.sample_interval_ms);
        let checkpoint_every = Duration::from_millis(assignment.checkpoint_interval_ms);
        Self {
            started: now,
            wall_before,
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
    fn alarm<'r>(&self, suspended: &'r AtomicBool) -> impl Fn() -> Option<Pause> + Send + use<'r> {
        let (checkpoint_at, sample_at) = (self.checkpoint_at.get(), self.sample_at.get());
        move || {
            let now = Instant::now();
            if suspended.load(Ordering::Relaxed) {
                Some(Pause::Suspended)
            } else if now >= checkpoint_at {
                Some(Pause::Checkpoint)
            } else {
                (now >= sample_at).then_some(Pause::Sample)
            }
        }
    }

    /// Does something now and again: at most every so often, and not if it would take up much of the time.
    fn now_and_again<T>(next: &Cell<Instant>, every: Duration, rest: u32, action: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let done = action();
        let now = Instant::now();
        next.set(now + every.max((now - began) * rest));
        done
    }
}

struct Simulation<'r> {
    assignment: &'r Assignment,
    suspended: &'r AtomicBool,
    scenario: &'r Scenario,
    pace: Pace,
}

impl Simulation<'_> {
    fn finish(&self, run: &mut Run<'_>, channel: &mut Channel) -> io::Result<Ending> {
        let mut sampler = Sampler::new(self.scenario, run);
        loop {
            let (mut pause, alarm) = (None, self.pace.alarm(self.suspended));
            let stage = run.finish(|_| {
                pause = alarm();
                if pause.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            match stage {
                Ok(Stage::Reached) => break,
                Ok(Stage::Stopped) => {}
                Err(failure) => return Ok(Ending::Failed(failure.into())),
            }
            let Pace { checkpoint_at, checkpoint_every, sample_at, sample_every, .. } = &self.pace;
            match pause {
                Some(Pause::Suspended) => {
                    self.write_checkpoint(run, channel)?;
                    return Ok(Ending::Suspended);
                }
                Some(Pause::Checkpoint) => {
                    let write = || self.write_checkpoint(run, channel);
                    Pace::now_and_again(checkpoint_at, *checkpoint_every, CHECKPOINT_REST, write)?;
                }
                Some(Pause::Sample) => {
                    let put = || channel.send(&Message::Sample(sampler.sample(run)));
                    Pace::now_and_again(sample_at, *sample_every, SAMPLE_REST, put)?;
                }
                None => {}
            }
        }
        match run.findings() {
            Ok(findings) => self.leave(run, &findings, channel),
            Err(failure) => Ok(Ending::Failed(failure.into())),
        }
    }

    /// A run without a checkpoint starts again if it must: not being able to write one does not end it.
    fn write_checkpoint(&self, run: &Run<'_>, channel: &mut Channel) -> io::Result<()> {
        let began = Instant::now();
        let Assignment { data, number, attempt, version, .. } = self.assignment;
        let written = run.save().map_err(|error| error.to_string()).and_then(|state| {
            let (wall, processor) = (self.pace.wall(), self.pace.processor(run));
            let checkpoint = Checkpoint { cycle: run.progress().cycle, wall, processor, state };
            let written = checkpoint.write(data, *number, attempt, version, &self.scenario.digest);
            written.map(|()| checkpoint.state.len()).map_err(|error| error.to_string())
        });
        match written {
            Ok(bytes) => channel.send(&Message::Checkpoint { bytes, took: began.elapsed() }),
            Err(error) => {
                tracing::error!(run = %self.assignment.run, error, "cannot write a checkpoint");
                Ok(())
            }
        }
    }

    /// Writes what was found. As long as the disk has no room for it, or no file can be opened, it waits.
    fn leave(&self, run: &Run<'_>, findings: &Findings, channel: &mut Channel) -> io::Result<Ending> {
        let Self { assignment, scenario, pace, .. } = self;
        let timing = Timing {
            wall_s: pace.wall().as_secs_f64(),
            cpu_s: pace.processor(run).as_secs_f64(),
            peak_rss_bytes: memory::peak_bytes(),
        };
        let report = findings.report(scenario, &assignment.version, &timing);
        let files = match files(scenario, findings, &report, assignment.artifact_bytes_max) {
            Ok(files) => files,
            Err(error) => return Ok(Ending::Failed((&error).into())),
        };
        let artifacts = match write(&assignment.attempt, &files, assignment.artifact_bytes_max, self.suspended) {
            Some(Ok(artifacts)) => artifacts,
            Some(Err(error)) => return Ok(Ending::Failed((&error).into())),
            None => {
                self.write_checkpoint(run, channel)?;
                return Ok(Ending::Suspended);
            }
        };
        Ok(Ending::Succeeded(Results {
            artifacts,
            summary: Summary::of(&report),
            result_digest: report.result_digest.clone(),
            packet_hops: report.performance.packet_hops,
            peak_memory_bytes: timing.peak_rss_bytes,
        }))
    }
}

/// Writes files of a run, and waits for what is short meanwhile. Nothing if the run is suspended until then.
fn write(
    attempt: &Path,
    files: &[File],
    allowed: u64,
    suspended: &AtomicBool,
) -> Option<Result<Vec<Artifact>, NotWritten>> {
    patiently("what was found cannot be written", suspended, SHORT_REST, || {
        match artifacts::write(attempt, files, allowed) {
            Err(NotWritten::Store(error)) if error.passes() => Err(error),
            written => Ok(written),
        }
    })
}

/// What makes a table of findings, if the scenario asks for it.
type Tabulate = fn(&Findings, &Scenario) -> Option<Table>;

/// What a run leaves behind that has succeeded.
fn files(scenario: &Scenario, findings: &Findings, report: &Report, allowed: u64) -> Result<Vec<File>, NotWritten> {
    let mut files = vec![
        File::new("report.json", report.to_json()),
        File::new("report.txt", report.summary_text()),
        File::new("scenario.toml", scenario.text.clone()),
    ];
    // A table takes many times what is written of it.
    let bytes = findings.listed_rows().saturating_mul(ROW_BYTES);
    if bytes > allowed {
        return Err(NotWritten::TooLarge { bytes, allowed });
    }
    // So there is one at a time.
    let tables: [([&str; 2], Tabulate); 5] = [
        (OF_HISTOGRAMS, |findings, scenario| Some(findings.histograms(scenario))),
        (OF_LINKS, Findings::links),
        (OF_MESSAGES, Findings::messages),
        (OF_SERIES, Findings::series),
        (OF_TREES, Findings::trees),
    ];
    for (names, table) in tables {
        if let Some(table) = table(findings, scenario) {
            let others = files.iter().map(|file| file.bytes.len() as u64).sum();
            files.extend(File::table(&table, names, others, allowed)?);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
