//! The events of a run, for one who watches it.
//!
//! **The invariant it keeps:** numbers ascend, and each event that is kept is sent exactly once. Whatever has a number
//! below that of a sample was in the store when the sample was taken, and is read after it: so merging them by number
//! leaves nothing out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tailback_api::v1::watch_run_response::Event;
use tailback_api::v1::{Heartbeat, WatchRunRequest, WatchRunResponse};
use tokio::time::timeout;

use super::stream::{Closed, Sink};
use crate::context::Context;
use crate::refusal::Refusal;
use crate::store::events;
use crate::store::{now_ms, timestamp};

/// One who watches a run.
struct Watcher {
    context: Arc<Context>,
    request: WatchRunRequest,
    sample_interval_min: Duration,
    sink: Sink<WatchRunResponse>,
    /// The number of the last event that was sent.
    cursor: i64,
    next_sample: Instant,
}

/// Sends the events of a run until it has ended.
pub(super) async fn watch(
    context: Arc<Context>,
    request: WatchRunRequest,
    sink: Sink<WatchRunResponse>,
) -> Result<(), Closed> {
    let interval = request.sample_interval_min.and_then(|interval| Duration::try_from(interval).ok());
    let (cursor, next_sample) = (request.after_sequence, Instant::now());
    let sample_interval_min = interval.unwrap_or_default();
    let mut watcher = Watcher { context, request, sample_interval_min, sink, cursor, next_sample };
    let closed = watcher.send_all().await;
    closed.map_err(|closed| watcher.telling_where_to_go_on(closed))
}

impl Watcher {
    async fn send_all(&mut self) -> Result<(), Closed> {
        let channel = self.context.hub.channel(&self.request.run_id);
        let mut news = channel.subscribe();
        loop {
            news.mark_unchanged();
            // Before the events: see the invariant.
            let sample = channel.sample().filter(|sample| self.wants(sample));
            let (run, cursor) = (self.request.run_id.clone(), self.cursor);
            let reading = self.context.store.read(move |connection| events::after(connection, &run, cursor));
            let (mut found, has_ended) = self.sink.unless_over(reading).await?.map_err(Refusal::from)?;
            let is_all = found.len() < events::PAGE;
            if is_all && let Some(sample) = sample {
                let place = found.partition_point(|event| event.sequence < sample.sequence);
                found.insert(place, sample);
                self.next_sample = Instant::now() + self.sample_interval_min;
            }
            for event in found {
                let sequence = event.sequence;
                self.sink.send(event).await?;
                self.cursor = sequence;
            }
            if has_ended {
                return Ok(());
            }
            if is_all {
                self.wait_for(&mut news).await?;
            }
        }
    }

    fn wants(&self, sample: &WatchRunResponse) -> bool {
        !self.request.states_only && sample.sequence > self.cursor && Instant::now() >= self.next_sample
    }

    /// Waits until there is something new; says now and again that the stream is alive.
    async fn wait_for(&self, news: &mut tokio::sync::watch::Receiver<u64>) -> Result<(), Closed> {
        let heartbeat = self.context.limits.heartbeat();
        while self.sink.unless_over(timeout(heartbeat, news.changed())).await?.is_err() {
            let event = Some(Event::Heartbeat(Heartbeat {}));
            let time = Some(timestamp(now_ms()));
            self.sink.send(WatchRunResponse { sequence: self.cursor, time, event }).await?;
        }
        Ok(())
    }

    fn telling_where_to_go_on(&self, closed: Closed) -> Closed {
        match closed {
            Closed::Because(Refusal::WatchTooSlow { stalled, .. }) => {
                Refusal::WatchTooSlow { resume_after: self.cursor, stalled }.into()
            }
            Closed::Because(refusal) => refusal.resuming_after(self.cursor).into(),
            Closed::Gone => Closed::Gone,
        }
    }
}
