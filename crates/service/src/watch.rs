//! Telling those who watch a run that there is something new.
//!
//! A watcher is only told *that* something has changed; it reads events from the store, and the latest sample from here,
//! when it is ready for them. So a slow watcher costs what a fast one does, and whoever tells never waits.
//!
//! **The invariant it keeps:** telling takes the same short time whoever listens; nothing is kept per watcher.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::watch;

use crate::domain::TakenSample;

/// All runs that somebody watches or simulates.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    channels: Mutex<HashMap<String, Weak<Channel>>>,
}

/// A run that somebody watches or simulates.
#[derive(Debug)]
pub(crate) struct Channel {
    /// Counts what is new.
    news: watch::Sender<u64>,
    /// The latest sample.
    sample: Mutex<Option<TakenSample>>,
    /// Counts what was written to the store about the run.
    written: AtomicU64,
}

impl Hub {
    /// The channel of a run, which is there for as long as somebody holds it.
    pub(crate) fn channel(&self, run: &str) -> Arc<Channel> {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = channels.get(run).and_then(Weak::upgrade) {
            return channel;
        }
        // Those that nobody holds any more are forgotten when a new one comes.
        channels.retain(|_, channel| channel.strong_count() > 0);
        let channel =
            Arc::new(Channel { news: watch::Sender::new(0), sample: Mutex::new(None), written: AtomicU64::new(0) });
        channels.insert(run.to_owned(), Arc::downgrade(&channel));
        channel
    }

    /// There is something new in the store about a run.
    pub(crate) fn tell(&self, run: &str) {
        let channel = self.channels.lock().unwrap_or_else(PoisonError::into_inner).get(run).and_then(Weak::upgrade);
        if let Some(channel) = channel {
            channel.written.fetch_add(1, Ordering::AcqRel);
            channel.tell();
        }
    }
}

impl Channel {
    /// Whoever holds the receiver is woken by what is new from now on.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// There is a new sample; the one before it is forgotten.
    pub(crate) fn put_sample(&self, sample: TakenSample) {
        *self.sample.lock().unwrap_or_else(PoisonError::into_inner) = Some(sample);
        self.tell();
    }

    /// The latest sample, if there was one.
    pub(crate) fn sample(&self) -> Option<TakenSample> {
        *self.sample.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another number than before if something was written to the store about the run meanwhile. What a sample has a
    /// larger number than is counted when the sample is there: so ask for the sample first.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    fn tell(&self) {
        self.news.send_modify(|count| *count += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_holds_is_forgotten() {
        let hub = Hub::default();
        let first = hub.channel("a");
        assert!(Arc::ptr_eq(&first, &hub.channel("a")));
        drop(first);
        let _second = hub.channel("b");
        assert_eq!(hub.channels.lock().expect("nobody has panicked").len(), 1);
    }

    #[test]
    fn only_those_who_watch_a_run_are_told() {
        let hub = Hub::default();
        let (a, b) = (hub.channel("a"), hub.channel("b"));
        let (told_a, told_b) = (a.subscribe(), b.subscribe());
        hub.tell("a");
        hub.tell("unknown");
        assert_eq!((a.written(), b.written()), (1, 0));
        assert!(told_a.has_changed().expect("it is there"));
        assert!(!told_b.has_changed().expect("it is there"));
    }
}
