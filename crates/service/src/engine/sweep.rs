//! Sweeps: which of their runs need not be simulated, and the table at their end.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use tailback_report::{Digest, Report, sweep_table};
use tailback_scenario::{Axis, Document, Sweep};
use tailback_sim::{Curves, SweepManifest, vary};

use super::attempt::AttemptFolder;
use super::queue::Task;
use super::sweep_details::{self, Details};
use super::{Found, Outcome, Shared, cancel};
use crate::api_error::ApiError;
use crate::domain::{FailureReason, RunFailure, State, SweepRequest};
use crate::store::artifacts::{self, File, NotWritten};
use crate::store::named::NamedFiles;
use crate::store::runs::{self, Stored};
use crate::store::{StoreError, Writing, checked, files};

/// The curves of sweeps that are being carried out, by number.
#[derive(Default)]
pub(super) struct Sweeps {
    known: Mutex<HashMap<i64, Known>>,
}

struct Known {
    /// By run: its point and its seed.
    places: Vec<(usize, usize)>,
    curves: Curves,
}

/// Why a run of a sweep was cancelled that its curve does not need.
const BEYOND_END: &str = "not run: its curve is saturated at a lower load already";

/// The most paths that a request can ask to vary, and the most bytes of paths and values.
const OVER_MAX: usize = 64;
const OVER_BYTES_MAX: usize = 64 << 10;

/// Refuses a request that asks to vary more than anybody does, before anything is done with it.
pub(crate) fn check_size(asked: &SweepRequest) -> Result<(), ApiError> {
    let bytes: usize = asked.over.iter().map(String::len).sum();
    for (count, limit, what) in [(asked.over.len(), OVER_MAX, "paths are varied"), (bytes, OVER_BYTES_MAX, "bytes")] {
        if count > limit {
            return Err(ApiError::invalid("sweep.over", format!("{count} {what}, the limit is {limit}")));
        }
    }
    Ok(())
}

/// What a request wants to be varied, over and above what the document says.
pub(crate) fn wanted(document: &Document, asked: &SweepRequest) -> Result<Sweep, ApiError> {
    let mut sweep = document.sweep().map_err(ApiError::InvalidScenario)?;
    let axis = |text: &String| Axis::parse(text).map_err(|problem| ApiError::invalid("sweep.over", problem));
    let axes = asked.over.iter().map(axis).collect::<Result<_, _>>()?;
    let seeds = (asked.seeds > 0).then_some(asked.seeds.into());
    let bad = |problem| ApiError::invalid("sweep", problem);
    if !vary(&mut sweep, axes, seeds, asked.run_saturated).map_err(bad)? {
        let problem = "there is nothing to vary: say what in `sweep.over`, as in `traffic.load=0.1..0.9/0.1`, or add \
                       [sweep] to the scenario";
        return Err(ApiError::invalid("sweep", problem));
    }
    Ok(sweep)
}

impl Sweeps {
    /// A run of a sweep has succeeded: those that lie beyond the end of its curve now are cancelled. They are told to
    /// their threads, too, if they have not begun yet.
    pub(super) fn put(&self, shared: &Shared, task: &Task) -> Result<(), StoreError> {
        let found = shared.store.read_blocking(|connection| {
            let Some(child) = runs::find_number(connection, task.number)? else { return Ok(None) };
            let sweep = runs::find(connection, &child.run.parent_id)?;
            Ok(sweep.map(|sweep| (child, sweep.number)))
        });
        // Others have ended meanwhile, and all of it was deleted.
        let Some((child, number)) = found? else { return Ok(()) };
        let report = report_of(shared, &child)?;
        let goes_on = |number| shared.store.read_blocking(|connection| goes_on(connection, number));
        let mut known = self.known();
        // It is asked with the lock held: the table of a sweep that goes on now is made later, and forgets its curves. Those of a
        // sweep whose row was damaged, which has no table and may be deleted, are forgotten here.
        known.retain(|&number, _| goes_on(number).unwrap_or(false));
        if !goes_on(number)? {
            return Ok(());
        }
        let sweep = match known.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(read(shared, number)?.1),
        };
        put(sweep, &child, report);
        let beyond: Vec<u32> = (0..sweep.places.len())
            .filter(|&index| sweep.curves.is_beyond_end(sweep.places[index].0))
            .map(|index| index as u32 + 1)
            .collect();
        drop(known);
        if beyond.is_empty() { Ok(()) } else { skip(shared, number, beyond) }
    }

    fn forget(&self, number: i64) {
        self.known().remove(&number);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<i64, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a sweep has runs that have not ended. Its table is not made before they have.
fn goes_on(connection: &Connection, number: i64) -> Result<bool, StoreError> {
    let goes_on =
        |Stored { run, .. }: Stored| !run.state.has_ended() && run.progress.children_ended < run.progress.children;
    Ok(runs::find_number(connection, number)?.is_some_and(goes_on))
}

fn put(sweep: &mut Known, child: &Stored, report: Report) {
    let index = (child.run.child_number as usize).wrapping_sub(1);
    if let Some(&(point, seed)) = sweep.places.get(index) {
        sweep.curves.put(point, seed, report);
    }
}

/// Cancels those of a sweep's runs that have not begun and lie beyond the end of their curves.
fn skip(shared: &Shared, number: i64, beyond: Vec<u32>) -> Result<(), StoreError> {
    let kept = shared.limits.events_kept_max;
    let asked = shared.store.write_blocking(move |writing: &mut Writing<'_>| {
        let mut asked = Vec::new();
        let Some(sweep) = runs::find_number(writing.connection, number)? else { return Ok(asked) };
        for mut child in runs::children(writing.connection, &sweep.run.id)? {
            if child.run.state == State::Pending && beyond.binary_search(&child.run.child_number).is_ok() {
                (child.run.beyond_end, child.run.note) = (true, BEYOND_END.to_owned());
                cancel::ask(writing, &mut child, kept)?;
                asked.push(child.number);
            }
        }
        Ok(asked)
    })?;
    cancel::end_waiting(shared, &asked).map(drop)
}

/// A sweep as it was asked for: its document, and the files that this names.
struct Asked {
    document: Document,
    named: Arc<NamedFiles>,
}

/// A sweep with the reports of those of its runs that have succeeded, and what else there is to say.
fn read(shared: &Shared, number: i64) -> Result<(Asked, Known, Vec<Stored>), StoreError> {
    let (sweep, scenario, children) = shared.store.read_blocking(|connection| {
        let sweep = runs::get_number(connection, number)?;
        let scenario = runs::scenario(connection, &sweep)?;
        let children = runs::children(connection, &sweep.run.id)?;
        Ok((sweep, scenario, children))
    })?;
    let folder = shared.store.folder();
    let named = Arc::new(NamedFiles::of(&scenario, folder, &folder.join(files::UPLOADS)));
    let document = scenario.read(named.clone());
    let varied = wanted(&document, &sweep.run.sweep.unwrap_or_default())?;
    let places = (0..varied.run_count().unwrap_or_default()).map(|run| varied.place(run)).collect();
    let mut known = Known { places, curves: Curves::new(&varied) };
    for child in children.iter().filter(|child| child.run.state == State::Succeeded) {
        put(&mut known, child, report_of(shared, child)?);
    }
    Ok((Asked { document, named }, known, children))
}

/// The report of a run that has succeeded.
fn report_of(shared: &Shared, child: &Stored) -> Result<Report, StoreError> {
    let name = "report.json";
    let found = shared.store.read_blocking(|connection| artifacts::find(connection, child, name))?;
    let artifact = checked::must_have(child, found, name)?;
    checked::read(shared.store.folder(), child, &artifact, |file| {
        Report::read_json(file).map_err(|error| StoreError::Broken(format!("report.json: {error}")))
    })
}

/// All runs of a sweep have ended: makes its table.
pub(super) fn finish(shared: &Shared, task: &Task) -> Result<Outcome, StoreError> {
    shared.sweeps.forget(task.number);
    let (Asked { document, named }, known, children) = read(shared, task.number)?;
    let base = match document.resolve() {
        Ok(base) => base,
        Err(mistakes) => return Ok(Outcome::Failed(named.failure(&mistakes))),
    };
    let sweep = shared.store.read_blocking(|connection| runs::get_number(connection, task.number))?;
    let varied = wanted(&document, &sweep.run.sweep.clone().unwrap_or_default())?;
    let points = known.curves.points();
    let manifest = SweepManifest::new(&base, &varied);
    let text = serde_json::to_string_pretty(&manifest).expect("plain data");
    let files = vec![File::new("sweep.json", text), File::new("scenario.toml", base.text)];
    let reports = points.iter().flat_map(|point| &point.reports);
    let digest = reports.fold(Digest::new(), |digest, report| digest.text(&report.result_digest));
    let attempt = AttemptFolder::make(shared, task.number)?;
    let allowed = shared.limits.artifact_bytes(sweep.run.execution.artifact_bytes_max);
    let table = File::table(&manifest.with_origin(sweep_table(&points)), ["sweep.csv", "sweep.parquet"], 0, allowed);
    let written = table.and_then(|table| {
        let mut files = [files, table.into()].concat();
        let bytes = files.iter().map(|file| file.bytes.len() as u64).sum();
        let Details { files: more, notes } =
            sweep_details::details(shared, &manifest, &points, &children, bytes, allowed)?;
        files.extend(more);
        Ok((artifacts::write(attempt.path(), &files, allowed)?, notes.join("; ")))
    });
    let (written, note) = match written {
        Ok(written) => written,
        Err(NotWritten::Store(error)) => return Err(error),
        Err(error) => return Ok(Outcome::Failed((&error).into())),
    };
    let found = Found { left: Some((attempt, written)), result_digest: digest.hex(), note, ..Found::default() };
    let failures: Vec<&Stored> = children.iter().filter(|child| child.run.state == State::Failed).collect();
    if sweep.run.state == State::Cancelling {
        return Ok(Outcome::Ended(State::Cancelled, None, Box::new(found)));
    }
    if failures.is_empty() {
        return Ok(Outcome::Succeeded(found));
    }
    let failure = RunFailure {
        reason: FailureReason::Children,
        message: format!("{} of {} runs failed", failures.len(), children.len()),
        details: failures.iter().take(20).map(|child| describe(child)).collect(),
    };
    Ok(Outcome::Ended(State::Failed, Some(failure), Box::new(found)))
}

fn describe(child: &Stored) -> String {
    let why = child.run.failure.as_ref().map_or("", |failure| failure.message.as_str());
    format!("{}: {why}", child.run.id)
}

#[cfg(test)]
mod tests;
