//! What sweeps leave beside their table: time series and histograms of each point, over its seeds, of what their runs have left.

use std::collections::HashMap;

use tailback_report::{Report, SweepPoint, Table, sweep_histogram_table, sweep_series_table};

use tailback_sim::SweepManifest;

use super::Shared;
use crate::domain::Artifact;
use crate::store::artifacts::{self, File, NotWritten, OF_HISTOGRAMS, OF_SERIES};
use crate::store::runs::Stored;
use crate::store::{StoreError, checked};

/// Makes a table of a sweep, given the tables of its runs.
type Tabulate = fn(&[SweepPoint], &mut dyn FnMut(&Report) -> Option<Table>) -> Option<Table>;

/// Files, and what is said of those that are left out.
#[derive(Default)]
pub(super) struct Details {
    pub files: Vec<File>,
    pub notes: Vec<String>,
}

/// The tables of all points that its runs have left the parts of, which together with so many bytes of other files have so many at most.
/// What is too large, or has damaged parts, is left out: the sweep has its table all the same.
pub(super) fn details(
    shared: &Shared,
    manifest: &SweepManifest,
    points: &[SweepPoint],
    children: &[Stored],
    mut others: u64,
    allowed: u64,
) -> Result<Details, StoreError> {
    let by_digest = children.iter().map(|child| (child.run.scenario_digest.as_str(), child)).collect();
    let kinds: [([&'static str; 2], &str, Tabulate); 2] = [
        (OF_HISTOGRAMS, "histograms", |points, histograms| sweep_histogram_table(points, histograms)),
        (OF_SERIES, "time series", |points, series| sweep_series_table(points, series)),
    ];
    let mut details = Details::default();
    for (names, what, tabulate) in kinds {
        let parts = Parts { shared, by_digest: &by_digest, name: names[0] };
        let files = |table| File::table(&manifest.with_origin(table), names, others, allowed);
        match parts.table(points, tabulate).and_then(|table| Ok(table.map(files).transpose()?)) {
            Ok(files) => {
                others += files.iter().flatten().map(|file| file.bytes.len() as u64).sum::<u64>();
                details.files.extend(files.into_iter().flatten());
            }
            Err(Missing::Store(error)) => return Err(error),
            Err(Missing::LeftOut(why)) => {
                details.notes.push(format!("it has no {what} as a whole, but its runs have: {why}"));
            }
        }
    }
    Ok(details)
}

/// Why there is no table.
enum Missing {
    LeftOut(String),
    Store(StoreError),
}

impl From<StoreError> for Missing {
    fn from(error: StoreError) -> Self {
        match error {
            // Of a run's file that is not as it was.
            StoreError::Refused(_) => Self::LeftOut(error.to_string()),
            error => Self::Store(error),
        }
    }
}

impl From<NotWritten> for Missing {
    fn from(error: NotWritten) -> Self {
        match error {
            NotWritten::TooLarge { .. } => Self::LeftOut(error.to_string()),
            NotWritten::Store(error) => error.into(),
        }
    }
}

/// Files of one name of the runs of a sweep.
struct Parts<'a> {
    shared: &'a Shared,
    by_digest: &'a HashMap<&'a str, &'a Stored>,
    name: &'static str,
}

impl Parts<'_> {
    fn table(&self, points: &[SweepPoint], tabulate: Tabulate) -> Result<Option<Table>, Missing> {
        // Rows of one seed are those of the others, but for a few.
        let mut bytes = 0;
        for point in points {
            let sizes =
                point.reports.iter().map(|report| Ok(self.find(report)?.map_or(0, |(_, artifact)| artifact.size)));
            bytes += sizes.collect::<Result<Vec<u64>, StoreError>>()?.into_iter().max().unwrap_or(0);
        }
        let limit = self.shared.limits.sweep_table_bytes_max;
        if bytes > limit {
            let why = format!("{} would have some {bytes} bytes, the limit is {limit}", self.name);
            return Err(Missing::LeftOut(why));
        }
        let mut problem = None;
        let mut read = |report: &Report| {
            if problem.is_some() {
                return None;
            }
            self.read(report).unwrap_or_else(|error| {
                problem = Some(error);
                None
            })
        };
        let table = tabulate(points, &mut read);
        problem.map_or(Ok(table), |error| Err(error.into()))
    }

    /// The run that a report is of, and its file; those of earlier builds may have none.
    fn find(&self, report: &Report) -> Result<Option<(&Stored, Artifact)>, StoreError> {
        let Some(&run) = self.by_digest.get(report.scenario_digest.as_str()) else { return Ok(None) };
        let found = self.shared.store.read_blocking(|connection| artifacts::find(connection, run, self.name))?;
        Ok(found.map(|artifact| (run, artifact)))
    }

    fn read(&self, report: &Report) -> Result<Option<Table>, StoreError> {
        let Some((run, artifact)) = self.find(report)? else { return Ok(None) };
        let table = checked::read(self.shared.store.folder(), run, &artifact, |file| {
            Table::read_csv(file).map_err(|error| StoreError::Broken(format!("{}: {error}", self.name)))
        });
        table.map(Some)
    }
}
