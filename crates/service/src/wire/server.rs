//! The server as clients see it.

use std::time::Duration;

use tailback_api::v1;

use super::length;
use crate::limits::Limits;

/// Limits as they are published.
pub(crate) fn limits(found: &Limits) -> v1::ServerLimits {
    let seconds = |seconds| Some(length(Duration::from_secs(seconds)));
    let milliseconds = |ms| Some(length(Duration::from_millis(ms)));
    v1::ServerLimits {
        queue_max: found.queue_max,
        concurrent_runs_max: found.concurrent_runs_max,
        threads_max: found.threads_max,
        nodes_max: found.nodes_max,
        memory_bytes_max: found.memory_bytes_max,
        wall_time_max: seconds(found.wall_time_s_max),
        artifact_bytes_max: found.artifact_bytes_max,
        sweep_runs_max: found.sweep_runs_max,
        sweep_table_bytes_max: found.sweep_table_bytes_max,
        scenario_bytes_max: found.scenario_bytes_max,
        message_bytes_max: found.message_bytes_max,
        streams_max: found.streams_max,
        stream_lifetime_max: seconds(found.stream_lifetime_s_max),
        stream_stall_max: seconds(found.stream_stall_s_max),
        wait_max: seconds(found.wait_s_max),
        heartbeat_interval: seconds(found.heartbeat_s),
        events_kept_max: found.events_kept_max,
        header_bytes_max: found.header_bytes_max,
        connection_calls_max: found.connection_calls_max,
        checks_max: found.checks_max,
        samples_kept_max: found.samples_kept_max,
        sample_interval: milliseconds(found.sample_interval_ms),
        checkpoint_interval: milliseconds(found.checkpoint_interval_ms),
        listed_nodes_max: found.listed_nodes_max,
        group_pairs_max: found.group_pairs_max,
        answer_bytes_max: found.answer_bytes_max,
        check_time_max: seconds(found.check_s_max),
        reads_max: found.reads_max,
        queue_per_owner_max: found.queue_per_owner(),
        concurrent_runs_per_owner_max: found.concurrent_runs_per_owner(),
        threads_per_owner_max: found.threads_per_owner(),
        memory_bytes_per_owner_max: found.memory_bytes_per_owner(),
        threads_per_run_max: found.threads_per_run(),
        memory_bytes_per_run_max: found.memory_bytes_per_run(),
        attempts_max: found.attempts_max,
        connections_max: found.connections_max,
        connections_per_peer_max: found.connections_per_peer_max,
        ended_age_max: seconds(found.ended_age_s_max).filter(|_| found.ended_age_s_max > 0),
        ended_artifact_bytes_max: found.ended_artifact_bytes_max,
        body_time_max: milliseconds(found.body_ms_max),
        body_bytes_max: found.body_bytes_max,
        file_bytes_max: found.file_bytes_max,
        files_per_owner_max: found.files_per_owner_max,
        file_bytes_per_owner_max: found.file_bytes_per_owner_max,
        uploads_max: found.uploads_max,
        file_text_bytes_max: found.file_text_bytes_max,
        file_age_max: seconds(found.file_age_s_max).filter(|_| found.file_age_s_max > 0),
    }
}
