//! What the service is about: runs, what happens to them, and what is asked for.
//!
//! These types are the service's own. The store writes them down, so that how they serialise is the format on disk: what
//! makes that which was written before unreadable, or mean something else, needs a new version of the tables, see
//! `store/schema.rs`. How clients see them is decided in `wire` alone.
//!
//! **What this module must never know:** the messages of the interface, and how they are transported.

mod event;
mod file;
mod overrides;
mod request;
mod run;
mod shared;

pub(crate) use event::{AttemptFailed, ChildEnded, Event, Occurrence, Sample, TakenSample};
pub(crate) use file::KeptFile;
pub(crate) use overrides::Overrides;
pub(crate) use request::{Page, RetryRequest, RunFilter, RunRequest};
pub(crate) use run::{
    Artifact, Execution, FailureReason, Progress, Run, RunFailure, SAID_BYTES_MAX, ScenarioSource, Snapshot, State,
    Summary, SweepRequest,
};

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
