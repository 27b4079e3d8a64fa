//! How long runs are kept that have ended: those that are too old, and the oldest of those that take too much room, are
//! deleted; a sweep at once with all its runs. So are files that were uploaded too long ago, and that no run needs.
//!
//! **The invariant it keeps:** what has not ended, or is damaged, is not deleted, whatever the limits say. Neither is what
//! has taken the name of a run that was to be.

mod surplus;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::api_error::ApiError;
use crate::context::{Context, stopped};
use crate::deletion;
use crate::domain::now_ms;
use crate::limits::Limits;
use crate::store::Store;
use crate::store::ended::{self, Ended};
use crate::store::runs::Stored;
use crate::store::uploads as kept_files;
use crate::uploads;
use surplus::{Kept, Why};

impl Kept {
    /// What a server keeps; none if that is everything.
    fn by(limits: &Limits) -> Option<Self> {
        let limit = |limit: u64| (limit > 0).then_some(limit);
        let age_ms_max = limit(limits.ended_age_s_max).map(|seconds| seconds.saturating_mul(1000));
        let bytes_max = limit(limits.ended_artifact_bytes_max);
        (age_ms_max.is_some() || bytes_max.is_some()).then_some(Self { age_ms_max, bytes_max })
    }
}

/// Deletes what is not to be kept, now and again until the server stops.
pub(crate) async fn keep_to_limits(context: Arc<Context>) {
    let (kept, file_age_s_max) = (Kept::by(&context.limits), context.limits.file_age_s_max);
    if kept.is_none() && file_age_s_max == 0 {
        return;
    }
    let pause = Duration::from_secs(context.limits.retention_interval_s.max(1));
    let stopping = || *context.stopping.borrow();
    while !stopping() {
        // What is begun is ended, and the log says so, also when the server stops.
        if let Some(kept) = kept
            && let Err(error) = delete_surplus(&context.store, kept, now_ms(), stopping).await
        {
            tracing::error!(%error, "runs that are not to be kept any longer cannot be found");
        }
        if file_age_s_max > 0
            && let Err(error) = delete_files(&context.store, file_age_s_max, now_ms(), stopping).await
        {
            tracing::error!(%error, "files that are not to be kept any longer cannot be found");
        }
        // Whichever comes first.
        let _ = timeout(pause, stopped(context.stopping.clone())).await;
    }
}

/// Deletes what is not to be kept at a time, until the server stops.
async fn delete_surplus(
    store: &Arc<Store>,
    kept: Kept,
    now_ms: i64,
    stopping: impl Fn() -> bool,
) -> Result<(), ApiError> {
    let found = store.read(ended::all).await?;
    for (run, why) in surplus::of(found, kept, now_ms) {
        if stopping() {
            break;
        }
        let id = run.id.clone();
        match delete(store, run).await {
            Ok(()) => {
                tracing::info!(target: "audit", action = "delete", run = id, name = "retention", why = why.word());
            }
            // Somebody else has deleted it, or it has turned out to be damaged.
            Err(error) => tracing::warn!(%error, run = id, "a run that is not to be kept any longer is not deleted"),
        }
    }
    Ok(())
}

/// Deletes files that were uploaded too long ago, unless a run needs them.
async fn delete_files(
    store: &Arc<Store>,
    age_s_max: u64,
    now_ms: i64,
    stopping: impl Fn() -> bool,
) -> Result<(), ApiError> {
    let age_ms = i64::try_from(age_s_max.saturating_mul(1000)).unwrap_or(i64::MAX);
    let before = now_ms.saturating_sub(age_ms);
    for (owner, file) in store.read(move |connection| kept_files::older_than(connection, before)).await? {
        if stopping() {
            break;
        }
        match uploads::delete(store, owner.clone(), file.clone()).await {
            Ok(()) => {
                let why = "file_age_s_max";
                tracing::info!(target: "audit", action = "delete-file", file, owner, name = "retention", why);
            }
            // A run has been created meanwhile that needs it, or somebody else has deleted it.
            Err(error) => tracing::warn!(%error, file, "a file that is not to be kept any longer is not deleted"),
        }
    }
    Ok(())
}

async fn delete(store: &Arc<Store>, run: Ended) -> Result<(), ApiError> {
    let id = run.id.clone();
    let may = move |stored: &Stored, children: &[Stored]| {
        if stored.number != run.number {
            return Err(ApiError::RunNotFound(run.id));
        }
        let damaged = [stored].into_iter().chain(children).find_map(|stored| {
            let problem = stored.damage.clone()?;
            Some(ApiError::DataLoss { run: stored.run.id.clone(), part: "the row".to_owned(), problem })
        });
        damaged.map_or(Ok(()), Err)
    };
    let numbers = deletion::delete(store, id, may).await?;
    deletion::remove_files(store.clone(), numbers).await
}

impl Why {
    fn word(self) -> &'static str {
        match self {
            Self::TooOld => "ended_age_s_max",
            Self::TooLarge => "ended_artifact_bytes_max",
        }
    }
}

#[cfg(test)]
mod tests;
