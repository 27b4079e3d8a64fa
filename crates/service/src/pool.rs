//! Work for calls that takes a while: on threads that may wait, so much at once, and so much waiting for its turn.
//!
//! **The invariant it keeps:** work that nobody waits for any more does not begin, and is told to stop if it has begun.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use crate::api_error::{ApiError, Limit};

/// For each that works so many may wait.
const WAITING_FOR_EACH: u32 = 16;
/// A place is given away in so many shares: what takes much memory takes several places.
const SHARES: u32 = 16;

/// One kind of work for calls.
pub(crate) struct Pool {
    /// What it is called, and the limit of it.
    what: &'static str,
    limit: &'static str,
    at_once: u32,
    /// A permit for each share of a place to work at.
    working: Arc<Semaphore>,
    /// A permit for each that works or waits.
    admitted: Arc<Semaphore>,
}

/// Whether work is to be stopped: nobody waits for it any more, or it has taken too long.
#[derive(Debug)]
pub(crate) struct Stop {
    abandoned: Arc<AtomicBool>,
    began: Instant,
    longest: Duration,
}

/// Whoever waits for work. When it is gone, so is the need for the work.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Stop {
    /// An error if work is to be stopped. Whoever works long looks here from time to time.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        if self.abandoned.load(Ordering::Relaxed) {
            return Err(ApiError::DeadlinePassed { resume_after: None });
        }
        match self.began.elapsed() {
            taken if taken <= self.longest => Ok(()),
            taken => Err(ApiError::LimitExceeded {
                limit: Limit::CheckTime,
                allowed: self.longest.as_secs(),
                asked: taken.as_secs() + 1,
            }),
        }
    }
}

impl Pool {
    /// For `at_once` at a time; `limit` is the name of that limit.
    pub(crate) fn new(what: &'static str, limit: &'static str, at_once: u32) -> Self {
        let at_once = at_once.max(1);
        let semaphore = |permits: u32| Arc::new(Semaphore::new(permits as usize));
        let (working, admitted) = (semaphore(at_once * SHARES), semaphore(at_once * (1 + WAITING_FOR_EACH)));
        Self { what, limit, at_once, working, admitted }
    }

    /// Does something that takes one place, for `longest` at most.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        longest: Duration,
        work: impl FnOnce(&Stop) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.run_large(1.0, longest, work).await
    }

    /// The same of something that takes so many places, or all that there are.
    pub(crate) async fn run_large<T: Send + 'static>(
        &self,
        places: f64,
        longest: Duration,
        work: impl FnOnce(&Stop) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let full = |_| ApiError::TooManyStreams { what: self.what, limit: self.limit, allowed: self.at_once.into() };
        let admitted = self.admitted.clone().try_acquire_owned().map_err(full)?;
        let shares = ((places * f64::from(SHARES)) as u32).clamp(1, self.at_once * SHARES);
        let permit = self.working.clone().acquire_many_owned(shares).await;
        let waiting = Waiting(Arc::default());
        let stop = Stop { abandoned: waiting.0.clone(), began: Instant::now(), longest };
        let working = tokio::task::spawn_blocking(move || {
            let result = work(&stop);
            drop((permit, admitted));
            result
        });
        let result = working.await;
        drop(waiting);
        result.unwrap_or_else(|error| Err(ApiError::Internal(format!("{} failed: {error}", self.what))))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn so_much_at_once_and_so_much_waiting() {
        let pool = Arc::new(Pool::new("checks", "checks_max", 1));
        let (go_on, wait) = mpsc::channel::<()>();
        let blocked = move |_: &Stop| wait.recv().map_err(|_| ApiError::NotAuthenticated);
        let mut tasks = vec![tokio::spawn({
            let pool = pool.clone();
            async move { pool.run(LONG, blocked).await }
        })];
        for _ in 0..WAITING_FOR_EACH {
            let pool = pool.clone();
            tasks.push(tokio::spawn(async move { pool.run(LONG, |_| Ok(())).await }));
        }
        while pool.admitted.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = pool.run(LONG, |_| Ok(())).await;
        assert_eq!(refused, Err(ApiError::TooManyStreams { what: "checks", limit: "checks_max", allowed: 1 }));
        go_on.send(()).expect("it waits for this");
        for task in tasks {
            assert_eq!(task.await.expect("it does not panic"), Ok(()));
        }
        assert_eq!(pool.run(LONG, |_| Ok(7)).await, Ok(7));
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_stops() {
        let pool = Arc::new(Pool::new("checks", "checks_max", 1));
        let (began, has_begun) = tokio::sync::oneshot::channel();
        let (stopped, has_stopped) = tokio::sync::oneshot::channel();
        let task = tokio::spawn({
            let pool = pool.clone();
            async move {
                let work = move |stop: &Stop| {
                    began.send(()).expect("somebody waits for this");
                    while stop.check().is_ok() {
                        std::thread::yield_now();
                    }
                    stopped.send(()).expect("somebody waits for this");
                    Ok(())
                };
                pool.run(LONG, work).await
            }
        });
        has_begun.await.expect("it begins");
        task.abort();
        has_stopped.await.expect("it stops");
    }

    #[tokio::test]
    async fn work_that_takes_too_long_stops() {
        let pool = Pool::new("checks", "checks_max", 1);
        let work = |stop: &Stop| loop {
            stop.check()?;
        };
        let ended: Result<(), _> = pool.run(Duration::ZERO, work).await;
        assert!(matches!(ended, Err(ApiError::LimitExceeded { limit: Limit::CheckTime, .. })));
    }

    #[tokio::test]
    async fn large_work_takes_all_places() {
        let pool = Pool::new("checks", "checks_max", 2);
        let free = pool.working.clone();
        let left = pool.run_large(100.0, LONG, move |_| Ok(free.available_permits())).await;
        assert_eq!(left, Ok(0));
        assert_eq!(pool.working.available_permits(), 2 * SHARES as usize);
    }
}
