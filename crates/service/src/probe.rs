//! What many may ask at once and one finds out: the state of a disk or a database, which may take its time to answer, or
//! never answer at all.
//!
//! **The invariant it keeps:** however many ask, one is finding out; and nobody waits longer than the time for that.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::timeout;

/// Something that is found out now and again.
#[derive(Debug)]
pub(crate) struct Probe<T> {
    /// What was found last, and when.
    latest: watch::Sender<Option<(Instant, T)>>,
    is_busy: AtomicBool,
    /// How long an answer counts.
    counts_for: Duration,
    /// How long anybody waits for a new one.
    wait_max: Duration,
}

impl<T: Clone + Send + Sync + 'static> Probe<T> {
    pub(crate) fn new(counts_for: Duration, wait_max: Duration) -> Arc<Self> {
        Arc::new(Self { latest: watch::Sender::new(None), is_busy: AtomicBool::new(false), counts_for, wait_max })
    }

    /// What was found a moment ago, or is found now; none if that takes too long. It is found out to its end also when
    /// nobody waits any more, so that there is never a second one at it.
    pub(crate) async fn ask<F>(self: &Arc<Self>, find_out: impl FnOnce() -> F) -> Option<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let mut latest = self.latest.subscribe();
        let asked = Instant::now();
        let counts = |found: &Option<(Instant, T)>| {
            found.as_ref().is_some_and(|(at, _)| asked.saturating_duration_since(*at) <= self.counts_for)
        };
        if !counts(&latest.borrow()) && !self.is_busy.swap(true, Ordering::Relaxed) {
            let (busy, found) = (Busy(self.clone()), find_out());
            tokio::spawn(async move {
                let found = found.await;
                busy.0.latest.send_replace(Some((Instant::now(), found)));
            });
        }
        let found = timeout(self.wait_max, latest.wait_for(counts)).await.ok()?.ok()?;
        found.as_ref().map(|(_, found)| found.clone())
    }
}

/// One who is finding out, until it is dropped.
struct Busy<T>(Arc<Probe<T>>);

impl<T> Drop for Busy<T> {
    fn drop(&mut self) {
        self.0.is_busy.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use tokio::sync::oneshot;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn one_finds_out_for_all() {
        let (probe, made) = (Probe::new(LONG, LONG), AtomicU32::new(0));
        let ask = || probe.ask(|| std::future::ready(made.fetch_add(1, Ordering::Relaxed)));
        assert_eq!((ask().await, ask().await, ask().await), (Some(0), Some(0), Some(0)));
    }

    #[tokio::test]
    async fn nobody_waits_for_an_answer_that_does_not_come_and_nobody_asks_twice() {
        let probe = Probe::new(LONG, Duration::from_millis(1));
        let (tell, told) = oneshot::channel();
        assert_eq!(probe.ask(|| async { told.await.expect("it is told") }).await, None);
        let again = probe.ask(|| -> std::future::Ready<u32> { unreachable!("somebody is at it") });
        assert_eq!(again.await, None);
        tell.send(7).expect("it is still being found out");
        while probe.is_busy.load(Ordering::Relaxed) {
            tokio::task::yield_now().await;
        }
        let later = probe.ask(|| -> std::future::Ready<u32> { unreachable!("it was found out") });
        assert_eq!(later.await, Some(7));
    }

    #[tokio::test]
    async fn what_fails_to_find_out_is_not_the_last_to_try() {
        let probe = Probe::new(LONG, Duration::from_millis(1));
        assert_eq!(probe.ask(|| async { panic!("it fails") }).await, None);
        while probe.is_busy.load(Ordering::Relaxed) {
            tokio::task::yield_now().await;
        }
        let probe = Arc::new(Probe { wait_max: LONG, ..Arc::into_inner(probe).expect("nobody else has it") });
        assert_eq!(probe.ask(|| std::future::ready(1)).await, Some(1));
    }
}
