//! Work for calls that takes a while: on threads of its own, so much at once, and so much waiting for its turn.
//!
//! The allocator of the system keeps for each thread what that has given back. On threads that also do other things, each of
//! them would come to keep as much as the largest work takes.
//!
//! **The invariant it keeps:** work that nobody waits for any more does not begin, and is told to stop if it has begun.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::api_error::{ApiError, Limit};
use crate::worker::panic_message;

/// For each that works so many may wait.
const WAITING_FOR_EACH: u32 = 16;

/// One kind of work for calls.
pub(crate) struct Pool {
    /// What it is called, and the limit of it.
    what: &'static str,
    limit: &'static str,
    at_once: u32,
    threads: mpsc::Sender<Job>,
    /// A permit for each thread.
    working: Arc<Semaphore>,
    /// A permit for each that works or waits.
    admitted: Arc<Semaphore>,
}

type Job = Box<dyn FnOnce() + Send>;

/// A place to work at, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    _working: OwnedSemaphorePermit,
    _admitted: OwnedSemaphorePermit,
}

/// Whether work is to be stopped: nobody waits for it any more, or it has taken too long.
#[derive(Clone, Debug)]
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

    /// Whether somebody waits for the work and it may go on: for those who know nothing of calls.
    pub(crate) fn is_wanted(&self) -> bool {
        self.check().is_ok()
    }
}

impl Pool {
    /// For `at_once` at a time; `limit` is the name of that limit.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub(crate) fn start(what: &'static str, limit: &'static str, at_once: u32) -> io::Result<Self> {
        let at_once = at_once.max(1);
        let (threads, jobs) = mpsc::channel::<Job>();
        let jobs = Arc::new(Mutex::new(jobs));
        for index in 0..at_once {
            let jobs = jobs.clone();
            let next = move || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
            let work = move || std::iter::from_fn(&next).for_each(|job| job());
            std::thread::Builder::new().name(format!("{what}-{index}")).spawn(work)?;
        }
        let semaphore = |permits: u32| Arc::new(Semaphore::new(permits as usize));
        let (working, admitted) = (semaphore(at_once), semaphore(at_once * (1 + WAITING_FOR_EACH)));
        Ok(Self { what, limit, at_once, threads, working, admitted })
    }

    /// Does something, for `longest` at most.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        longest: Duration,
        work: impl FnOnce(&Stop) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.run_and_hold(longest, work).await.map(|(result, _)| result)
    }

    /// The same; gives the place with the result, for who must not let others work before the result is put away.
    pub(crate) async fn run_and_hold<T: Send + 'static>(
        &self,
        longest: Duration,
        work: impl FnOnce(&Stop) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<(T, Place), ApiError> {
        let full = |_| ApiError::TooManyStreams { what: self.what, limit: self.limit, allowed: self.at_once.into() };
        let failed = |problem: String| ApiError::Internal(format!("{} failed: {problem}", self.what));
        let admitted = self.admitted.clone().try_acquire_owned().map_err(full)?;
        let working = self.working.clone().acquire_owned().await.map_err(|error| failed(error.to_string()))?;
        let place = Place { _working: working, _admitted: admitted };
        let waiting = Waiting(Arc::default());
        let stop = Stop { abandoned: waiting.0.clone(), began: Instant::now(), longest };
        let (done, result) = oneshot::channel();
        let job = move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(&stop)));
            let result = result.map_err(|panic| panic_message(&*panic));
            // Nobody may wait for it any more.
            let _ = done.send((result, place));
        };
        self.threads.send(Box::new(job)).map_err(|_| failed("its threads are gone".to_owned()))?;
        let (result, place) = result.await.map_err(|_| failed("its threads are gone".to_owned()))?;
        Ok((result.map_err(failed)??, place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    fn pool(at_once: u32) -> Pool {
        Pool::start("checks", "checks_max", at_once).expect("threads can be started")
    }

    #[tokio::test]
    async fn so_much_at_once_and_so_much_waiting() {
        let pool = Arc::new(pool(1));
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
        let pool = Arc::new(pool(1));
        let (began, has_begun) = oneshot::channel();
        let (stopped, has_stopped) = oneshot::channel();
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
        let pool = pool(1);
        let work = |stop: &Stop| loop {
            stop.check()?;
        };
        let ended: Result<(), _> = pool.run(Duration::ZERO, work).await;
        assert!(matches!(ended, Err(ApiError::LimitExceeded { limit: Limit::CheckTime, .. })));
    }

    #[tokio::test]
    async fn a_place_that_is_held_is_taken() {
        let pool = Arc::new(pool(1));
        let (held, place) = pool.run_and_hold(LONG, |_| Ok(7)).await.expect("there is a place");
        assert_eq!((held, pool.working.available_permits()), (7, 0));
        drop(place);
        assert_eq!(pool.run(LONG, |_| Ok(8)).await, Ok(8));
    }

    #[tokio::test]
    async fn work_that_panics_fails_and_nothing_else() {
        let pool = pool(1);
        for _ in 0..3 {
            let failed: Result<(), _> = pool.run(LONG, |_| panic!("by intention")).await;
            assert_eq!(failed, Err(ApiError::Internal("checks failed: by intention".to_owned())));
        }
        assert_eq!(pool.run(LONG, |_| Ok(7)).await, Ok(7));
    }
}
