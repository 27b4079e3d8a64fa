//! Events as clients see them.

use tailback_api::v1;
use tailback_api::v1::watch_run_response::Event as What;

use super::timestamp;
use crate::domain::{AttemptFailed, ChildEnded, Event, Occurrence, Sample, Snapshot, now_ms};

/// An event of a run.
pub(crate) fn event(Event { sequence, time_ms, what }: Event) -> v1::WatchRunResponse {
    let what = match what {
        Occurrence::StateChanged(run) => {
            What::StateChanged(super::run(Snapshot { run: *run, last_sequence: sequence, scenario: None }))
        }
        Occurrence::ChildEnded(ChildEnded { run_id, child_number, state, progress }) => {
            let (state, progress) = (v1::RunState::from(state).into(), Some(progress.into()));
            What::ChildEnded(v1::ChildEnded { run_id, child_number, state, progress })
        }
        Occurrence::Sample(sample) => What::Sample(sample.into()),
        Occurrence::Recovered(cycle) => What::Recovered(v1::Recovered { cycle }),
        Occurrence::AttemptFailed(AttemptFailed { attempt, failure }) => {
            What::AttemptFailed(v1::AttemptFailed { attempt, error: Some(failure.into()) })
        }
    };
    v1::WatchRunResponse { sequence, time: Some(timestamp(time_ms)), event: Some(what) }
}

/// The stream is alive; `sequence` is the number of the event before.
pub(crate) fn heartbeat(sequence: i64) -> v1::WatchRunResponse {
    let event = Some(What::Heartbeat(v1::Heartbeat {}));
    v1::WatchRunResponse { sequence, time: Some(timestamp(now_ms())), event }
}

impl From<Sample> for v1::MetricSample {
    fn from(found: Sample) -> Self {
        Self {
            cycle: found.cycle,
            cycles: found.cycles,
            from_cycle: found.from_cycle,
            accepted_load: found.accepted_load,
            latency_mean: found.latency_mean,
            latency_p99: found.latency_p99,
            packets_in_flight: found.packets_in_flight,
            cycles_per_second: found.cycles_per_second,
            packet_hops: found.packet_hops,
        }
    }
}
