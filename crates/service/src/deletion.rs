//! Deleting runs that have ended: because somebody asks for it, or because they are not to be kept any longer.
//!
//! **The invariant it keeps:** a run is deleted with all that belongs to it, and its number is kept until its files are
//! gone: what a process that was killed has left of them, the next start removes.

use std::sync::Arc;

use crate::api_error::ApiError;
use crate::store::runs::{self, Stored};
use crate::store::{Store, files};

/// Deletes a run, or a sweep with all its runs, if `may` does not refuse it; gives the numbers of what is deleted, whose
/// files are still there.
pub(crate) async fn delete(
    store: &Store,
    run_id: String,
    may: impl FnOnce(&Stored, &[Stored]) -> Result<(), ApiError> + Send + 'static,
) -> Result<Vec<i64>, ApiError> {
    let deleting = store.write(move |writing| {
        let stored = runs::get(writing.connection, &run_id)?;
        // Those of a sweep end before it does, unless its row is damaged.
        let children = runs::children(writing.connection, &run_id)?;
        may(&stored, &children)?;
        if !stored.run.parent_id.is_empty() {
            return Err(ApiError::PartOfSweep { run: run_id, parent: stored.run.parent_id }.into());
        }
        if let Some(Stored { run, .. }) =
            [&stored].into_iter().chain(&children).find(|stored| !stored.run.state.has_ended())
        {
            return Err(ApiError::RunNotEnded { run: run.id.clone(), state: run.state }.into());
        }
        writing.touch(&run_id);
        runs::delete(writing, &run_id)
    });
    Ok(deleting.await?)
}

/// Removes the files of what was deleted.
pub(crate) async fn remove_files(store: Arc<Store>, numbers: Vec<i64>) -> Result<(), ApiError> {
    let removing = tokio::task::spawn_blocking(move || {
        let removed: Vec<i64> =
            numbers.into_iter().filter(|&number| files::remove_run(store.folder(), number)).collect();
        files::make_reserve(store.folder());
        store.write_blocking(move |writing| runs::forget_removals(writing, &removed))
    });
    removing.await.map_err(|error| ApiError::Internal(format!("removing files failed: {error}")))??;
    Ok(())
}
