//! What all services work with.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tonic::Request;

use crate::access::Caller;
use crate::api_error::ApiError;
use crate::engine::Engine;
use crate::limits::Limits;
use crate::meters::Meters;
use crate::store::Store;
use crate::watch::Hub;

/// What all services work with.
pub(crate) struct Context {
    pub store: Arc<Store>,
    pub hub: Arc<Hub>,
    pub engine: Engine,
    pub limits: Arc<Limits>,
    pub meters: Arc<Meters>,
    pub version: String,
    pub features: Vec<String>,
    /// Whether the server stops.
    pub stopping: watch::Receiver<bool>,
    /// One permit for each stream that may be open.
    pub streams: Arc<Semaphore>,
    /// One permit for each scenario that may be checked at once.
    pub checks: Arc<Semaphore>,
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
        let permit = self
            .streams
            .clone()
            .try_acquire_owned()
            .map_err(|_| ApiError::TooManyStreams { what: "streams", allowed: self.limits.streams_max.into() })?;
        self.meters.stream_opened();
        Ok(StreamPlace { meters: self.meters.clone(), _permit: permit })
    }

    /// Does something that takes a while on a thread that may wait. Only so many do so at once.
    pub(crate) async fn check<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = self.checks.clone().acquire_owned().await;
        let working = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(permit);
            result
        });
        working.await.unwrap_or_else(|error| Err(ApiError::Internal(format!("checking failed: {error}"))))
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
