//! The seam between the queue and whatever carries out runs.
//!
//! A run is given to a worker by an [`Assignment`]; from then on the server holds a [`Lease`] of it. The worker says how it
//! goes, writes checkpoints, and says how it has ended; or it is lost, which its lease tells, and the run is tried again
//! from its last checkpoint by another worker. Dropping a lease revokes it: the worker ends at once, unless its run has
//! succeeded and it may take another. Whatever a worker finds whose lease is revoked counts for nothing.
//!
//! Workers share the server's folder, and need nothing else of it. So they may be [processes](super::process) of this
//! machine, or [jobs of Slurm](super::slurm) on another, which also go on without the server.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::domain::RunFailure;
use crate::store::StoreError;
use crate::worker::protocol::{Assignment, Message};

/// What carries out runs.
pub(crate) trait Workers: Send + Sync {
    /// Gives a run to a worker. If one has it already since the time of an earlier server, that one goes on with it.
    ///
    /// # Errors
    /// When there is none to be had now. That is not the fault of the run: it waits, and is tried again.
    fn start(&self, assignment: &Assignment) -> Result<Box<dyn Lease>, StoreError>;

    /// The runs, by their numbers, that have not ended. What workers of an earlier server do for others is of no use.
    fn keep_only(&self, _runs: &BTreeSet<i64>) {}
}

/// A worker that has a run, until this is dropped.
pub(crate) trait Lease {
    /// What the worker says next; none if it says nothing for so long.
    ///
    /// # Errors
    /// When the worker is lost, or takes more than it may.
    fn next(&mut self, wait_max: Duration) -> Result<Option<Message>, RunFailure>;

    /// The server stops. A worker that can go on without it does so, for the next server to find; then this is true, and dropping the lease revokes
    /// nothing. Any other writes a checkpoint and ends. It may have ended already, or be lost: then `next` says so.
    fn release(&mut self) -> bool;

    /// The bytes of memory that the worker has in use, where that is known.
    fn memory_bytes(&self) -> Option<u64>;
}
