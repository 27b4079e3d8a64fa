//! Results that are there already, for runs that were asked to take them.
//!
//! A simulation depends on its scenario's digest and on the program alone. So a run takes the results of one that has
//! succeeded with the same digest and the same version. Its files are copied, not linked: damage to one must not be damage
//! to the other.
//!
//! **The invariant it keeps:** nothing is taken that is not as it was written, or that whoever sees the new run may not see.

use std::fs::File;
use std::io::Read;

use tailback_report::Report;

use super::attempt::AttemptFolder;
use super::queue::{Control, Task, Work};
use super::{Found, Outcome, Shared, transitions};
use crate::domain::{Run, State, Summary};
use crate::store::artifacts;
use crate::store::runs::{self, Stored};
use crate::store::{StoreError, checked, files};

/// Runs that are looked at: those of one scenario may be many, and which of them are good is known only afterwards.
const SOURCES_MAX: u32 = 64;
const REPORT: &str = "report.json";

/// Takes results that are there; has the run wait to be simulated if there are none.
pub(super) fn carry_out(shared: &Shared, task: &Task, control: &Control) -> Result<Outcome, StoreError> {
    let stored = shared.store.read_blocking(|connection| runs::get_number(connection, task.number))?;
    if stored.run.state != State::Pending {
        return Ok(Outcome::Cancelled);
    }
    let Some(found) = find(shared, &stored)? else {
        let waits = shared.queue.put_on(Task { work: Work::Simulate, ..task.clone() }, control);
        return Ok(if waits { Outcome::Waiting } else { Outcome::Cancelled });
    };
    Ok(if transitions::begin(shared, task, 0)? { Outcome::Succeeded(found) } else { Outcome::Cancelled })
}

/// The results of the newest run that can be used.
fn find(shared: &Shared, wanting: &Stored) -> Result<Option<Found>, StoreError> {
    let digest = &wanting.run.scenario_digest;
    let sources = shared.store.read_blocking(|connection| runs::succeeded(connection, digest, SOURCES_MAX))?;
    for source in sources.iter().filter(|source| may_use(&source.run, &wanting.run)) {
        match read(shared, source, wanting) {
            Ok(None) => {}
            // What is not given because of these may be good.
            Err(error) if error.passes() || error == StoreError::Closed => return Err(error),
            Err(error) => tracing::warn!(run = wanting.run.id, source = source.run.id, %error, "is not reused"),
            found => return found,
        }
    }
    Ok(None)
}

/// Whether a run may have the results of another: what is private stays with its owner, and in private; what is of a project
/// stays in it. A run that was rebuilt from its files has no time at which it began: whether somebody has changed them is not known.
fn may_use(source: &Run, wanting: &Run) -> bool {
    let may_be_seen = if source.private {
        wanting.private && wanting.owner == source.owner
    } else {
        source.project.is_empty() || source.project == wanting.project
    };
    may_be_seen && source.sweep.is_none() && source.started_ms.is_some() && source.id != wanting.id
}

/// A copy of all that a run has found, if this version of the program has found it, and it is not too large.
fn read(shared: &Shared, source: &Stored, wanting: &Stored) -> Result<Option<Found>, StoreError> {
    let listed = shared.store.read_blocking(|connection| artifacts::list(connection, source))?;
    // Before any of it is read.
    let allowed = shared.limits.artifact_bytes(wanting.run.execution.artifact_bytes_max);
    if listed.iter().map(|artifact| artifact.size).sum::<u64>() > allowed {
        return Ok(None);
    }
    let attempt = AttemptFolder::make(shared, wanting.number)?;
    for artifact in &listed {
        // Only names that the server gives are names of files.
        let Some(name) = artifacts::of_simulation().find(|name| *name == artifact.name) else { return Ok(None) };
        let copy = |file: &mut dyn Read| files::copy(file, &attempt.path().join(name));
        checked::read(shared.store.folder(), source, artifact, copy)?;
    }
    let Ok(report) = File::open(attempt.path().join(REPORT)) else { return Ok(None) };
    let report = Report::read_json(report).map_err(|error| StoreError::Broken(format!("{REPORT}: {error}")))?;
    let is_of_source =
        (&report.scenario_digest, &report.result_digest) == (&source.run.scenario_digest, &source.run.result_digest);
    if report.version != shared.version || !is_of_source {
        return Ok(None);
    }
    Ok(Some(Found {
        left: Some((attempt, listed)),
        summary: Some(Summary::of(&report)),
        packet_hops: report.performance.packet_hops,
        result_digest: report.result_digest,
        note: format!("the results are those of run `{}`, which has the same scenario digest", source.run.id),
    }))
}
