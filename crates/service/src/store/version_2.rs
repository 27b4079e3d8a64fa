//! What versions 1 and 2 of the tables held: runs, events and samples as protobuf messages.
//!
//! These are the messages as they were then, not those of today's interface, which may change without any thought of old
//! files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use prost::{DecodeError, Message};

use crate::domain::{self, Event, FailureReason, Occurrence, State};

/// A run with the name and the overrides of its scenario, which the row held in itself.
pub(super) fn read_run(body: &[u8]) -> Result<(domain::Run, String, Vec<String>), String> {
    let mut run = decode::<Run>(body)?;
    let Scenario { name, overrides } = run.scenario.take().unwrap_or_default();
    Ok((run.into_domain()?, name, overrides))
}

/// An event or a sample.
pub(super) fn read_event(body: &[u8]) -> Result<Event, String> {
    let EventMessage { sequence, time, event } = decode(body)?;
    let what = match event.ok_or("it says nothing")? {
        What::StateChanged(run) => Occurrence::StateChanged(Box::new(run.into_domain()?)),
        What::ChildEnded(child) => Occurrence::ChildEnded(domain::ChildEnded {
            run_id: child.run_id,
            child_number: child.child_number,
            state: state(child.state)?,
            progress: child.progress.unwrap_or_default().into(),
        }),
        What::Sample(sample) => Occurrence::Sample(sample.into()),
        What::Recovered(recovered) => Occurrence::Recovered(recovered.cycle),
    };
    Ok(Event { sequence, time_ms: time.unwrap_or_default().milliseconds(), what })
}

fn decode<M: Message + Default>(body: &[u8]) -> Result<M, String> {
    M::decode(body).map_err(|error: DecodeError| error.to_string())
}

fn state(number: i32) -> Result<State, String> {
    Ok(match number {
        1 => State::Pending,
        2 => State::Running,
        3 => State::Cancelling,
        4 => State::Succeeded,
        5 => State::Failed,
        6 => State::Cancelled,
        _ => return Err(format!("{number} is not a state")),
    })
}

fn reason(number: i32) -> Result<FailureReason, String> {
    Ok(match number {
        1 => FailureReason::Deadlock,
        2 => FailureReason::Inconsistent,
        3 => FailureReason::Panicked,
        4 => FailureReason::WallTime,
        5 => FailureReason::ArtifactBytes,
        6 => FailureReason::StorageFull,
        7 => FailureReason::Storage,
        8 => FailureReason::Scenario,
        9 => FailureReason::Threads,
        10 => FailureReason::Children,
        _ => return Err(format!("{number} is not a reason to fail")),
    })
}

#[derive(Clone, PartialEq, Message)]
struct Run {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    owner: String,
    #[prost(btree_map = "string, string", tag = "3")]
    labels: BTreeMap<String, String>,
    #[prost(message, optional, tag = "4")]
    scenario: Option<Scenario>,
    #[prost(message, optional, tag = "5")]
    execution: Option<Execution>,
    #[prost(message, optional, tag = "6")]
    sweep: Option<Sweep>,
    #[prost(int32, tag = "7")]
    state: i32,
    #[prost(message, optional, tag = "8")]
    progress: Option<Progress>,
    #[prost(message, optional, tag = "9")]
    failure: Option<Failure>,
    #[prost(message, optional, tag = "10")]
    summary: Option<Summary>,
    #[prost(string, tag = "11")]
    scenario_digest: String,
    #[prost(string, tag = "12")]
    result_digest: String,
    #[prost(message, optional, tag = "13")]
    created: Option<Time>,
    #[prost(message, optional, tag = "14")]
    started: Option<Time>,
    #[prost(message, optional, tag = "15")]
    ended: Option<Time>,
    #[prost(string, tag = "16")]
    parent_id: String,
    #[prost(uint32, tag = "17")]
    child_number: u32,
    #[prost(uint32, tag = "18")]
    restarts: u32,
    #[prost(string, tag = "19")]
    note: String,
    #[prost(string, tag = "20")]
    title: String,
}

impl Run {
    fn into_domain(self) -> Result<domain::Run, String> {
        Ok(domain::Run {
            reuse: false,
            private: false,
            project: String::new(),
            beyond_end: false,
            traceparent: String::new(),
            files: Arc::default(),
            id: self.id,
            owner: self.owner,
            labels: Arc::new(self.labels),
            execution: self.execution.unwrap_or_default().into(),
            sweep: self.sweep.map(Into::into),
            state: state(self.state)?,
            progress: self.progress.unwrap_or_default().into(),
            failure: self.failure.map(Failure::into_domain).transpose()?,
            summary: self.summary.map(Into::into),
            scenario_digest: self.scenario_digest,
            result_digest: self.result_digest,
            created_ms: self.created.map(Time::milliseconds),
            started_ms: self.started.map(Time::milliseconds),
            ended_ms: self.ended.map(Time::milliseconds),
            parent_id: self.parent_id,
            child_number: self.child_number,
            restarts: self.restarts,
            failed_attempts: 0,
            note: self.note,
            title: self.title,
        })
    }
}

/// A time or a length of time.
#[derive(Clone, Copy, PartialEq, Message)]
struct Time {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

impl Time {
    fn milliseconds(self) -> i64 {
        self.seconds.saturating_mul(1000).saturating_add(i64::from(self.nanos) / 1_000_000)
    }

    fn length(self) -> Duration {
        let [seconds, nanos] = [self.seconds, self.nanos.into()].map(|part| u64::try_from(part).unwrap_or(0));
        Duration::from_secs(seconds).saturating_add(Duration::from_nanos(nanos))
    }
}

/// The document is in a table of its own.
#[derive(Clone, PartialEq, Message)]
struct Scenario {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, repeated, tag = "3")]
    overrides: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Execution {
    #[prost(uint32, optional, tag = "1")]
    threads: Option<u32>,
    #[prost(message, optional, tag = "2")]
    wall_time_max: Option<Time>,
    #[prost(uint64, tag = "3")]
    artifact_bytes_max: u64,
}

impl From<Execution> for domain::Execution {
    fn from(Execution { threads, wall_time_max, artifact_bytes_max }: Execution) -> Self {
        Self { threads, wall_time_max: wall_time_max.map(Time::length), artifact_bytes_max, priority: 0 }
    }
}

#[derive(Clone, PartialEq, Message)]
struct Sweep {
    #[prost(string, repeated, tag = "1")]
    over: Vec<String>,
    #[prost(uint32, tag = "2")]
    seeds: u32,
    #[prost(bool, tag = "3")]
    run_saturated: bool,
}

impl From<Sweep> for domain::SweepRequest {
    fn from(Sweep { over, seeds, run_saturated }: Sweep) -> Self {
        Self { over, seeds, run_saturated }
    }
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Progress {
    #[prost(uint64, tag = "1")]
    cycle: u64,
    #[prost(uint64, tag = "2")]
    cycles: u64,
    #[prost(uint64, tag = "3")]
    packet_hops: u64,
    #[prost(uint32, tag = "4")]
    children_ended: u32,
    #[prost(uint32, tag = "5")]
    children: u32,
    #[prost(uint32, tag = "6")]
    children_failed: u32,
}

impl From<Progress> for domain::Progress {
    fn from(found: Progress) -> Self {
        let Progress { cycle, cycles, packet_hops, children_ended, children, children_failed } = found;
        Self { cycle, cycles, packet_hops, children_ended, children, children_failed }
    }
}

#[derive(Clone, PartialEq, Message)]
struct Failure {
    #[prost(int32, tag = "1")]
    reason: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(string, repeated, tag = "3")]
    details: Vec<String>,
}

impl Failure {
    fn into_domain(self) -> Result<domain::RunFailure, String> {
        Ok(domain::RunFailure { reason: reason(self.reason)?, message: self.message, details: self.details })
    }
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Summary {
    #[prost(double, tag = "1")]
    offered_load: f64,
    #[prost(double, tag = "2")]
    accepted_load: f64,
    #[prost(double, optional, tag = "3")]
    latency_mean: Option<f64>,
    #[prost(double, optional, tag = "4")]
    latency_p99: Option<f64>,
    #[prost(double, optional, tag = "5")]
    hops_mean: Option<f64>,
    #[prost(bool, tag = "6")]
    saturated: bool,
    #[prost(double, tag = "7")]
    wall_s: f64,
}

impl From<Summary> for domain::Summary {
    fn from(found: Summary) -> Self {
        let Summary { offered_load, accepted_load, latency_mean, latency_p99, hops_mean, saturated, wall_s } = found;
        Self { offered_load, accepted_load, latency_mean, latency_p99, hops_mean, saturated, wall_s }
    }
}

#[derive(Clone, PartialEq, Message)]
struct EventMessage {
    #[prost(int64, tag = "1")]
    sequence: i64,
    #[prost(message, optional, tag = "2")]
    time: Option<Time>,
    #[prost(oneof = "What", tags = "3, 4, 5, 6")]
    event: Option<What>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum What {
    #[prost(message, boxed, tag = "3")]
    StateChanged(Box<Run>),
    #[prost(message, tag = "4")]
    ChildEnded(ChildEnded),
    #[prost(message, tag = "5")]
    Sample(Sample),
    #[prost(message, tag = "6")]
    Recovered(Recovered),
}

#[derive(Clone, PartialEq, Message)]
struct ChildEnded {
    #[prost(string, tag = "1")]
    run_id: String,
    #[prost(uint32, tag = "2")]
    child_number: u32,
    #[prost(int32, tag = "3")]
    state: i32,
    #[prost(message, optional, tag = "4")]
    progress: Option<Progress>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Recovered {
    #[prost(uint64, tag = "1")]
    cycle: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Sample {
    #[prost(uint64, tag = "1")]
    cycle: u64,
    #[prost(uint64, tag = "2")]
    cycles: u64,
    #[prost(uint64, tag = "3")]
    from_cycle: u64,
    #[prost(double, optional, tag = "4")]
    accepted_load: Option<f64>,
    #[prost(double, optional, tag = "5")]
    latency_mean: Option<f64>,
    #[prost(double, optional, tag = "6")]
    latency_p99: Option<f64>,
    #[prost(uint64, tag = "7")]
    packets_in_flight: u64,
    #[prost(double, tag = "8")]
    cycles_per_second: f64,
    #[prost(uint64, tag = "9")]
    packet_hops: u64,
}

impl From<Sample> for domain::Sample {
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
