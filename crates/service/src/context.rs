//! What all services work with.

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tonic::Request;

use crate::access::{Caller, Guard};
use crate::api_error::ApiError;
use crate::checks::Checks;
use crate::connection::places::{Place, Places};
use crate::domain::ScenarioSource;
use crate::engine::Engine;
use crate::limits::Limits;
use crate::meters::Meters;
use crate::pool::{Pool, Stop};
use crate::store::{Store, uploads};
use crate::uploads::Uploads;
use crate::watch::Hub;

/// What all services work with.
pub(crate) struct Context {
    pub store: Arc<Store>,
    pub hub: Arc<Hub>,
    pub engine: Engine,
    pub limits: Arc<Limits>,
    pub meters: Arc<Meters>,
    /// Who may call.
    pub guard: Guard,
    pub version: String,
    pub features: Vec<String>,
    /// Whether the server stops.
    pub stopping: watch::Receiver<bool>,
    /// One permit for each stream that may be open.
    pub streams: Arc<Semaphore>,
    /// Where scenarios are checked, where reports and other small files are read, and where series and large files are: none
    /// waits for another.
    pub checks: Checks,
    pub reads: Pool,
    pub long_reads: Pool,
    /// Where files are uploaded to.
    pub uploads: Uploads,
    /// One permit for each list of runs that may be read at once, until it is bytes: on its way it takes several times as much as these.
    pub lists: Arc<Semaphore>,
    /// One permit for each file that may be open at once because a client reads it.
    pub files: Arc<Semaphore>,
    /// The files that clients may have begun to take at once: a client that takes nothing keeps pieces of its file in memory.
    pub sent_files: Arc<Places>,
}

/// A place among the streams that may be open at once, given back when dropped.
pub(crate) struct StreamPlace {
    meters: Arc<Meters>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        self.meters.stream_closed();
    }
}

impl Context {
    /// A place for a stream or a waiting call.
    pub(crate) fn open_stream(&self) -> Result<StreamPlace, ApiError> {
        let limit = "streams_max";
        let full = |_| ApiError::TooManyStreams { what: "streams", limit, allowed: self.limits.streams_max.into() };
        let permit = self.streams.clone().try_acquire_owned().map_err(full)?;
        self.meters.stream_opened();
        Ok(StreamPlace { meters: self.meters.clone(), _permit: permit })
    }

    /// A place for a file that is sent to somebody there.
    pub(crate) fn send_file(&self, to: IpAddr) -> Result<Place, ApiError> {
        let of = ["files that are sent", "files that are sent to one address"];
        let full = |why| self.sent_files.refusal(why, of, "reads_max");
        self.sent_files.take(to).map_err(full)
    }

    /// Refuses a scenario that names files which a caller does not have.
    pub(crate) async fn must_have_files(&self, caller: &Caller, scenario: &ScenarioSource) -> Result<(), ApiError> {
        if scenario.files.is_empty() {
            return Ok(());
        }
        let (owner, scenario) = (caller.name.clone(), scenario.clone());
        Ok(self.store.read(move |connection| uploads::must_have(connection, &owner, &scenario)).await?)
    }

    /// Reads what may take long, or much memory.
    pub(crate) async fn read_long<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Stop) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.long_reads.run(self.limits.check_time(), work).await
    }

    /// Reads what is short.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Stop) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.reads.run(self.limits.check_time(), work).await
    }
}

/// Resolves when the server stops.
pub(crate) async fn stopped(mut stopping: watch::Receiver<bool>) {
    // It fails when the server is gone altogether.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// Who calls; the guard has put it there.
pub(crate) fn caller<T>(request: &Request<T>) -> Result<Caller, ApiError> {
    request.extensions().get::<Caller>().cloned().ok_or(ApiError::NotAuthenticated)
}

/// When the client gives up, if it says so: the server framework looks at it only until a stream begins.
pub(crate) fn deadline<T>(request: &Request<T>) -> Option<Instant> {
    let text = request.metadata().get("grpc-timeout")?.to_str().ok()?;
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u64 = number.parse().ok().filter(|_| number.len() <= 8)?;
    let timeout = match unit {
        "H" => Duration::from_secs(number.checked_mul(3600)?),
        "M" => Duration::from_secs(number.checked_mul(60)?),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    };
    Instant::now().checked_add(timeout)
}

/// Does something to its end, whether the client waits for it or not.
pub(crate) async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, ApiError>> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::spawn(work).await.unwrap_or_else(|error| Err(ApiError::Internal(format!("a call failed: {error}"))))
}
