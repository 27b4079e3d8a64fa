//! Whether the server can do its work: its disk has room, and its database can be read and written.
//!
//! **The invariant it keeps:** whoever asks is answered within [`WAIT_MAX`], however long the disk takes.

use std::sync::Arc;
use std::time::Duration;

use crate::context::Context;
use crate::probe::Probe;
use crate::sparingly::Sparingly;
use crate::store::{Store, StoreError};

/// How long an answer counts: orchestrators ask every few seconds, and each answer costs a commit.
const COUNTS_FOR: Duration = Duration::from_secs(1);
/// How long the disk and the database may take. Those who ask give up sooner or later, too.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// Why the server is not ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotReady {
    #[error("the server stops")]
    Stops,
    #[error("the disk has {free} bytes of room, less than disk_free_bytes_min = {wanted}")]
    NoRoom { free: u64, wanted: u64 },
    #[error("the room on the disk cannot be found out; the log says why")]
    UnknownRoom,
    #[error("the database cannot be read; the log says why")]
    Unreadable,
    #[error("the database cannot be written; the log says why")]
    Unwritable,
    #[error("the disk or the database has not answered within {} s", WAIT_MAX.as_secs())]
    Silent,
}

/// Finds out whether the server is ready.
pub(crate) struct Readiness {
    context: Arc<Context>,
    probe: Arc<Probe<Result<(), NotReady>>>,
    logged: Arc<Sparingly>,
}

impl Readiness {
    pub(crate) fn of(context: Arc<Context>) -> Self {
        Self { context, probe: Probe::new(COUNTS_FOR, WAIT_MAX), logged: Arc::default() }
    }

    pub(crate) async fn ask(&self) -> Result<(), NotReady> {
        if *self.context.stopping.borrow() {
            return Err(NotReady::Stops);
        }
        let (store, logged) = (self.context.store.clone(), self.logged.clone());
        let wanted = self.context.limits.disk_free_bytes_min;
        let asked = self.probe.ask(|| async move { find_out(&store, wanted, &logged).await });
        asked.await.unwrap_or(Err(NotReady::Silent))
    }
}

async fn find_out(store: &Arc<Store>, wanted: u64, logged: &Sparingly) -> Result<(), NotReady> {
    // The log is told why: whoever asks need not know where data is kept.
    let because = |why: NotReady| {
        move |error: StoreError| {
            if let Some(left_out) = logged.is_due() {
                tracing::warn!(%error, left_out, "not ready");
            }
            why
        }
    };
    // With the room first: a commit that finds none gives back what was kept for more important ones.
    let asking = store.clone();
    let free = tokio::task::spawn_blocking(move || asking.free_bytes()).await;
    let free = free.unwrap_or_else(|error| Err(StoreError::Broken(error.to_string())));
    must_have_room(free.map_err(because(NotReady::UnknownRoom))?, wanted)?;
    store.must_be_readable().await.map_err(because(NotReady::Unreadable))?;
    store.must_be_writable().await.map_err(because(NotReady::Unwritable))
}

fn must_have_room(free: u64, wanted: u64) -> Result<(), NotReady> {
    if free >= wanted { Ok(()) } else { Err(NotReady::NoRoom { free, wanted }) }
}
