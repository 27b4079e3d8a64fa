//! What the server allows, all in one place: nothing that clients can ask for is without a limit.

use std::time::Duration;

use serde::Deserialize;

use crate::api_error::{ApiError, Limit};

/// What the server allows. Absent values of a file are those of [`Limits::default`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Runs that wait at once.
    pub queue_max: u32,
    /// Those of one owner; none for as many as of all together, as in all limits of an owner.
    pub queue_per_owner_max: Option<u32>,
    /// Runs that are simulated at once.
    pub concurrent_runs_max: u32,
    /// Those of one owner.
    pub concurrent_runs_per_owner_max: Option<u32>,
    /// Threads of all of them together.
    pub threads_max: u32,
    /// Those of one owner.
    pub threads_per_owner_max: Option<u32>,
    /// Those of one run; none for as many as of all together. No machine of a cluster has more.
    pub threads_per_run_max: Option<u32>,
    /// Nodes of a network, and routers.
    pub nodes_max: u32,
    /// Nodes that the sets and patterns of a scenario list one by one.
    pub listed_nodes_max: u64,
    /// Pairs of groups of a dragonfly: routing keeps the links between each two.
    pub group_pairs_max: u64,
    /// Bytes of memory of all runs together. A run may have half more than its plan says, and what its sources have waiting
    /// up to an equal share of these bytes; or what its scenario asks for. One that takes more is ended.
    pub memory_bytes_max: u64,
    /// Those of one run; none for as many as of all together.
    pub memory_bytes_per_run_max: Option<u64>,
    /// Attempts that a run may have, if the process that simulates it is lost or takes too much memory.
    pub attempts_max: u32,
    /// Those of one owner.
    pub memory_bytes_per_owner_max: Option<u64>,
    /// Seconds of wall time of a run.
    pub wall_time_s_max: u64,
    /// Bytes of the artifacts of a run.
    pub artifact_bytes_max: u64,
    /// Runs of a sweep.
    pub sweep_runs_max: u32,
    /// Bytes, as CSV and about, that the histograms, or the time series, of all points of a sweep may have as one table: in memory they
    /// have some ten times as many. Those of its runs are there in any case.
    pub sweep_table_bytes_max: u64,
    /// Bytes of a scenario with its overrides; those of all runs of a sweep may have 16 times as many.
    pub scenario_bytes_max: u32,
    /// Bytes of a message to the server.
    pub message_bytes_max: u32,
    /// Bytes of an answer; files are read piece by piece.
    pub answer_bytes_max: u32,
    /// Connections that are open at once; of the file descriptors that there may be, half at most.
    pub connections_max: u32,
    /// Those of one peer.
    pub connections_per_peer_max: u32,
    /// Milliseconds from accepting a connection until it is encrypted and open.
    pub connection_opening_ms_max: u64,
    /// Milliseconds from the first byte of a call's headers to the last.
    pub header_ms_max: u64,
    /// Milliseconds from the headers of a call to the end of what the client sends with it.
    pub body_ms_max: u64,
    /// Bytes that clients have sent with calls that are not answered yet.
    pub body_bytes_max: u32,
    /// Milliseconds that a connection is not listened to after a call that is not let in, and a new one from the same address.
    pub refusal_pause_ms_max: u64,
    /// Bytes of the headers of a call.
    pub header_bytes_max: u32,
    /// Calls that may be open at once on a connection.
    pub connection_calls_max: u32,
    /// Streams and waiting calls that are open at once.
    pub streams_max: u32,
    /// Scenarios that are checked at once.
    pub checks_max: u32,
    /// Seconds that checking a scenario, or all runs of a sweep, may take.
    pub check_s_max: u64,
    /// Reports and other files of runs that are read at once. Besides, half as many series, and files that are larger than an
    /// answer may be.
    pub reads_max: u32,
    /// How long a stream may live.
    pub stream_lifetime_s_max: u64,
    /// How long a stream may go without its client taking anything.
    pub stream_stall_s_max: u64,
    /// How long WaitRun waits at most.
    pub wait_s_max: u64,
    /// How long a watch is silent at most.
    pub heartbeat_s: u64,
    /// Events that are kept of a run.
    pub events_kept_max: u32,
    /// Milliseconds of wall time from one metric sample to the next.
    pub sample_interval_ms: u64,
    /// Metric samples that are kept of a run.
    pub samples_kept_max: u32,
    /// Milliseconds of wall time from one checkpoint to the next.
    pub checkpoint_interval_ms: u64,
    /// Seconds after which a run that has ended is deleted; 0 for never.
    pub ended_age_s_max: u64,
    /// Bytes that artifacts of runs that have ended take together: beyond that the oldest runs are deleted. 0 for no limit.
    pub ended_artifact_bytes_max: u64,
    /// Bytes of a file that is uploaded.
    pub file_bytes_max: u64,
    /// Bytes of one that is read as a whole: a list of messages, or a schedule that is not in binary form. Checking it takes
    /// some ten times as much memory.
    pub file_text_bytes_max: u64,
    /// Files of one owner.
    pub files_per_owner_max: u32,
    /// Bytes of all of them together.
    pub file_bytes_per_owner_max: u64,
    /// Files that are uploaded at once.
    pub uploads_max: u32,
    /// Seconds after which a file is deleted that no run names which has not ended; 0 for never.
    pub file_age_s_max: u64,
    /// Seconds from one look for runs that are to be deleted to the next.
    pub retention_interval_s: u64,
    /// Bytes of room on the disk below which the server is not ready (`/readyz`).
    pub disk_free_bytes_min: u64,
    /// How long a shutdown may take before connections are cut.
    pub shutdown_s_max: u64,
    /// How far threads that simulate give way to those that serve calls: 0 not at all, 19 as far as they can.
    pub engine_nice: u32,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        Self {
            queue_max: 10_000,
            queue_per_owner_max: None,
            concurrent_runs_max: cores,
            concurrent_runs_per_owner_max: None,
            threads_max: cores,
            threads_per_owner_max: None,
            threads_per_run_max: None,
            nodes_max: 2_000_000,
            listed_nodes_max: 4_000_000,
            group_pairs_max: 1_500_000,
            memory_bytes_max: 8 << 30,
            memory_bytes_per_run_max: None,
            attempts_max: 3,
            memory_bytes_per_owner_max: None,
            wall_time_s_max: 24 * 3600,
            artifact_bytes_max: 1 << 30,
            sweep_runs_max: 2_000,
            sweep_table_bytes_max: 32 << 20,
            scenario_bytes_max: 1 << 20,
            message_bytes_max: 4 << 20,
            answer_bytes_max: 4 << 20,
            connections_max: 4_096,
            connections_per_peer_max: 512,
            connection_opening_ms_max: 10_000,
            header_ms_max: 10_000,
            body_ms_max: 60_000,
            body_bytes_max: 32 << 20,
            refusal_pause_ms_max: 2_000,
            header_bytes_max: 16 << 10,
            connection_calls_max: 256,
            streams_max: 1_000,
            checks_max: 4,
            check_s_max: 60,
            reads_max: 8,
            stream_lifetime_s_max: 3600,
            stream_stall_s_max: 30,
            wait_s_max: 600,
            heartbeat_s: 15,
            events_kept_max: 10_000,
            sample_interval_ms: 1_000,
            samples_kept_max: 1_000,
            checkpoint_interval_ms: 5_000,
            ended_age_s_max: 0,
            ended_artifact_bytes_max: 0,
            file_bytes_max: 1 << 30,
            file_text_bytes_max: 64 << 20,
            files_per_owner_max: 1_000,
            file_bytes_per_owner_max: 8 << 30,
            uploads_max: 8,
            file_age_s_max: 0,
            retention_interval_s: 60,
            disk_free_bytes_min: 256 << 20,
            shutdown_s_max: 20,
            engine_nice: 10,
        }
    }
}

impl Limits {
    /// Refuses what asks for more than is allowed.
    pub(crate) fn check(limit: Limit, asked: u64, allowed: u64) -> Result<(), ApiError> {
        if asked <= allowed { Ok(()) } else { Err(ApiError::LimitExceeded { limit, allowed, asked }) }
    }

    /// Refuses answers that are too large.
    pub(crate) fn check_answer(&self, bytes: u64) -> Result<(), ApiError> {
        Self::check(Limit::AnswerBytes, bytes, self.answer_bytes_max.into())
    }

    /// Runs of an owner that wait at once.
    pub(crate) fn queue_per_owner(&self) -> u32 {
        at_most(self.queue_per_owner_max, self.queue_max)
    }

    /// Runs of an owner that are simulated at once.
    pub(crate) fn concurrent_runs_per_owner(&self) -> u32 {
        at_most(self.concurrent_runs_per_owner_max, self.concurrent_runs_max)
    }

    /// Threads of all of these together.
    pub(crate) fn threads_per_owner(&self) -> u32 {
        at_most(self.threads_per_owner_max, self.threads_max)
    }

    /// Bytes of memory of all of these together.
    pub(crate) fn memory_bytes_per_owner(&self) -> u64 {
        at_most(self.memory_bytes_per_owner_max, self.memory_bytes_max)
    }

    /// Threads of one run.
    pub(crate) fn threads_per_run(&self) -> u32 {
        at_most(self.threads_per_run_max, self.threads_max)
    }

    /// Bytes of memory of one run.
    pub(crate) fn memory_bytes_per_run(&self) -> u64 {
        at_most(self.memory_bytes_per_run_max, self.memory_bytes_max)
    }

    /// The bytes that the artifacts of a run may take that asks for so many, or for none.
    pub(crate) fn artifact_bytes(&self, asked: u64) -> u64 {
        if asked == 0 { self.artifact_bytes_max } else { asked.min(self.artifact_bytes_max) }
    }

    pub(crate) fn check_time(&self) -> Duration {
        Duration::from_secs(self.check_s_max)
    }

    pub(crate) fn connection_opening(&self) -> Duration {
        Duration::from_millis(self.connection_opening_ms_max)
    }

    pub(crate) fn headers(&self) -> Duration {
        Duration::from_millis(self.header_ms_max)
    }

    pub(crate) fn bodies(&self) -> Duration {
        Duration::from_millis(self.body_ms_max)
    }

    pub(crate) fn refusal_pause(&self) -> Duration {
        Duration::from_millis(self.refusal_pause_ms_max)
    }

    pub(crate) fn heartbeat(&self) -> Duration {
        Duration::from_secs(self.heartbeat_s.max(1))
    }

    pub(crate) fn stream_lifetime(&self) -> Duration {
        Duration::from_secs(self.stream_lifetime_s_max)
    }

    pub(crate) fn stream_stall(&self) -> Duration {
        Duration::from_secs(self.stream_stall_s_max)
    }
}

/// What an owner, or a run, may have of what all may have together.
fn at_most<T: Ord + Copy>(of_one: Option<T>, together: T) -> T {
    of_one.map_or(together, |of_one| of_one.min(together))
}
