//! The events of a run, for one who watches it.
//!
//! Who begins to watch is first told what is kept of the run, its samples too; from then on samples are those that are
//! taken meanwhile, of which a slow client gets the latest only. The store is read when something was written to it, not
//! for each sample.
//!
//! **The invariant it keeps:** numbers ascend, and each event that is kept is sent exactly once. Whatever has a number
//! below that of a sample was in the store when the sample was taken, and is read after it: so merging them by number
//! leaves nothing out.

use std::sync::Arc;
use std::time::Duration;

use tailback_api::v1::{WatchRunRequest, WatchRunResponse};
use tokio::time::timeout;

use super::stream::{Closed, Sink};
use crate::access::Caller;
use crate::api_error::ApiError;
use crate::context::Context;
use crate::domain::{Event, Occurrence, TakenSample};
use crate::store::{events, runs, samples};
use crate::wire;

/// One who watches a run.
struct Watcher {
    context: Arc<Context>,
    caller: Caller,
    request: WatchRunRequest,
    sink: Sink<WatchRunResponse>,
    /// The number of the last event that was sent.
    cursor: i64,
    /// The number of the last sample that is told because it was kept, not because it is new.
    samples_until: i64,
    sample_interval_min_ms: i64,
    /// Samples that were taken before this time are left out.
    next_sample_ms: i64,
}

/// Sends the events of a run until it has ended.
pub(super) async fn watch(
    context: Arc<Context>,
    caller: Caller,
    request: WatchRunRequest,
    sink: Sink<WatchRunResponse>,
) -> Result<(), Closed> {
    let interval = request.sample_interval_min.and_then(|interval| Duration::try_from(interval).ok());
    let sample_interval_min_ms = interval.map_or(0, |interval| i64::try_from(interval.as_millis()).unwrap_or(i64::MAX));
    let (cursor, samples_until, next_sample_ms) = (request.after_sequence, 0, i64::MIN);
    let mut watcher =
        Watcher { context, caller, request, sink, cursor, samples_until, sample_interval_min_ms, next_sample_ms };
    let closed = watcher.send_all().await;
    closed.map_err(|closed| watcher.telling_where_to_go_on(closed))
}

impl Watcher {
    async fn send_all(&mut self) -> Result<(), Closed> {
        let channel = self.context.hub.channel(&self.request.run_id);
        let mut news = channel.subscribe();
        self.samples_until = if self.request.states_only { 0 } else { self.last_kept_sample().await? };
        let mut read = None;
        loop {
            news.mark_unchanged();
            // Before the events: see the invariant.
            let sample = channel.sample();
            let written = channel.written();
            let (found, has_ended) = if read == Some(written) { (Vec::new(), false) } else { self.read().await? };
            let is_all = found.len() < events::PAGE;
            // Of a run that has ended what was kept is told, whether or not somebody still holds the latest sample.
            let goes_on = is_all && !has_ended;
            self.send(found, sample.filter(|_| goes_on && !self.request.states_only)).await?;
            if has_ended {
                return Ok(());
            }
            if is_all {
                read = Some(written);
                self.wait_for(&mut news).await?;
            }
        }
    }

    async fn last_kept_sample(&self) -> Result<i64, Closed> {
        let run = self.request.run_id.clone();
        let reading = self.context.store.read(move |connection| {
            let number = runs::get(connection, &run)?.number;
            samples::last(connection, number)
        });
        Ok(self.sink.unless_over(reading).await?.map_err(ApiError::from)?)
    }

    /// The next events that are kept, and whether the run has ended with them.
    async fn read(&self) -> Result<(Vec<Event>, bool), Closed> {
        let (run, cursor, samples_until) = (self.request.run_id.clone(), self.cursor, self.samples_until);
        // Each time, as another run may have its name by now.
        let caller = self.caller.clone();
        let reading = self.context.store.read(move |connection| {
            let stored = runs::get_for(connection, &caller, &run)?;
            events::after(connection, &stored, cursor, samples_until)
        });
        Ok(self.sink.unless_over(reading).await?.map_err(ApiError::from)?)
    }

    /// Sends events, and a sample in its place among them, or none if it was sent before.
    async fn send(&mut self, mut found: Vec<Event>, sample: Option<TakenSample>) -> Result<(), Closed> {
        if let Some(sample) = sample.filter(|sample| sample.sequence > self.cursor) {
            let place = found.partition_point(|event| event.sequence < sample.sequence);
            if found.get(place).is_none_or(|event| event.sequence != sample.sequence) {
                found.insert(place, sample.into());
            }
        }
        for event in found {
            let sequence = event.sequence;
            if self.wants(&event) {
                self.sink.send(wire::event(event)).await?;
            }
            self.cursor = sequence;
        }
        Ok(())
    }

    /// Whether an event is no sample, or one that does not come too soon after the one before.
    fn wants(&mut self, event: &Event) -> bool {
        let Occurrence::Sample(_) = event.what else { return true };
        if event.time_ms < self.next_sample_ms {
            return false;
        }
        self.next_sample_ms = event.time_ms.saturating_add(self.sample_interval_min_ms);
        true
    }

    /// Waits until there is something new; says now and again that the stream is alive.
    async fn wait_for(&self, news: &mut tokio::sync::watch::Receiver<u64>) -> Result<(), Closed> {
        let heartbeat = self.context.limits.heartbeat();
        while self.sink.unless_over(timeout(heartbeat, news.changed())).await?.is_err() {
            self.sink.send(wire::heartbeat(self.cursor)).await?;
        }
        Ok(())
    }

    fn telling_where_to_go_on(&self, closed: Closed) -> Closed {
        match closed {
            Closed::Because(ApiError::ReadTooSlow { stalled, .. }) => {
                ApiError::WatchTooSlow { resume_after: self.cursor, stalled }.into()
            }
            Closed::Because(error) => error.resuming_after(self.cursor).into(),
            Closed::Gone => Closed::Gone,
        }
    }
}
