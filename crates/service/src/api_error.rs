//! Why calls are refused or fail: a closed list. How clients are told is said in `wire`.

use std::time::Duration;

use tailback_scenario::{Bounded, Diagnostics, Excess};

use crate::access::Role;
use crate::domain::State;
use crate::names::quoted;

/// Why a call is refused or fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum ApiError {
    #[error("{}", scenario_message(.0))]
    InvalidScenario(Diagnostics),
    #[error("{field}: {problem}")]
    InvalidRequest { field: &'static str, problem: String },
    #[error("there is no run called {}", quoted(.0))]
    RunNotFound(String),
    #[error("run `{run}` has no artifact called {}", quoted(.artifact))]
    ArtifactNotFound { run: String, artifact: String },
    #[error("there is no {kind} called `{name}`")]
    ModelNotFound { kind: String, name: String },
    #[error("there is a run called `{0}` already")]
    RunExists(String),
    #[error("the request id was used before, with other content, for run `{0}`")]
    RequestIdReused(String),
    #[error("run `{run}` is {}; wait until it has ended", .state.word())]
    RunNotEnded { run: String, state: State },
    #[error("run `{run}` has no results: {}", .why)]
    NoResults { run: String, state: State, why: String },
    #[error("run `{0}` has no time series; set measure.series in its scenario")]
    NoSeries(String),
    #[error("run `{run}` is a part of sweep `{parent}`; ask for this of the sweep")]
    PartOfSweep { run: String, parent: String },
    #[error("run `{0}` has succeeded: there is nothing to retry")]
    NothingToRetry(String),
    #[error(
        "{asked} more run{} would make {} longer than {allowed}; try again later",
        if *asked == 1 { "" } else { "s" },
        .scope.queue()
    )]
    QueueFull { scope: Scope, allowed: u64, asked: u64 },
    #[error("{asked} {} are asked for, this server allows {allowed}", .limit.unit())]
    LimitExceeded { limit: Limit, allowed: u64, asked: u64 },
    #[error(
        "the rows that are asked for take more than the {allowed} bytes of answer that this server allows; ask for fewer \
         `columns`, or for fewer rows by `traffic`, `from_cycle` and `until_cycle`, or read the file `{file}` with ReadArtifact"
    )]
    TableTooLarge { file: String, allowed: u64, asked: u64 },
    #[error("{allowed} {what} are open already; try again later")]
    TooManyStreams { what: &'static str, limit: &'static str, allowed: u64 },
    #[error("the server's disk is full")]
    StorageFull,
    #[error("run `{run}` keeps events {oldest} to {latest}; get the run and watch from its last_sequence")]
    SequenceGone { run: String, oldest: i64, latest: i64 },
    #[error("the artifact has {size} bytes, the offset lies behind them")]
    OffsetOutOfRange { size: u64 },
    #[error("no event was taken for {} s; go on after sequence {resume_after}", .stalled.as_secs())]
    WatchTooSlow { resume_after: i64, stalled: Duration },
    #[error("nothing was taken for {} s; {then}", .stalled.as_secs())]
    ReadTooSlow { stalled: Duration, then: &'static str },
    #[error("the server is stopping; try again when it is back")]
    ShuttingDown { resume_after: Option<i64> },
    #[error("the stream has lived as long as it may; open another")]
    StreamExpired { resume_after: Option<i64> },
    #[error("a bearer token is needed, and there is none that is known")]
    NotAuthenticated,
    #[error("role {} does not allow this{}", .role.word(), .owner.as_ref().map_or_else(String::new, |owner| format!(" to what is of {owner}")))]
    NotAllowed { role: Role, owner: Option<String> },
    #[error("you are not in the project `{0}`")]
    NotInProject(String),
    #[error("the request was not sent whole within {} s", .allowed.as_secs_f64())]
    BodyTooSlow { allowed: Duration },
    #[error("the deadline of the call has passed")]
    DeadlinePassed { resume_after: Option<i64> },
    #[error("{part} of run `{run}` is damaged: {problem}; restore a backup, or run the scenario again")]
    DataLoss { run: String, part: String, problem: String },
    #[error("there is no file of yours with the SHA-256 {0}: upload it")]
    FileNotFound(String),
    #[error("run `{run}` names the file {sha256} and has not ended; wait for it, or cancel it")]
    FileInUse { sha256: String, run: String },
    #[error("the file {sha256} is lost or damaged: {problem}; upload it again")]
    FileLost { sha256: String, problem: String },
    #[error("something is wrong in the server: {0}")]
    Internal(String),
}

/// Whose runs a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Server,
    Owner,
}

impl Scope {
    fn queue(self) -> &'static str {
        match self {
            Self::Server => "the queue",
            Self::Owner => "the queue of your own runs",
        }
    }
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Threads,
    ThreadsPerOwner,
    ThreadsPerRun,
    Nodes,
    Memory,
    MemoryPerOwner,
    MemoryPerRun,
    WallTime,
    ArtifactBytes,
    SweepRuns,
    ScenarioBytes,
    ListedNodes,
    GroupPairs,
    AnswerBytes,
    CheckTime,
    FileBytes,
    FilesPerOwner,
    FileBytesPerOwner,
}

impl Limit {
    /// What it counts.
    fn unit(self) -> &'static str {
        match self {
            Self::Threads | Self::ThreadsPerOwner | Self::ThreadsPerRun => "threads",
            Self::Nodes => "nodes or routers",
            Self::Memory | Self::MemoryPerOwner | Self::MemoryPerRun => "bytes of memory",
            Self::WallTime => "seconds of wall time",
            Self::ArtifactBytes => "bytes of artifacts",
            Self::SweepRuns => "runs in a sweep",
            Self::ScenarioBytes => "bytes of scenario",
            Self::ListedNodes => "nodes listed one by one",
            Self::GroupPairs => "pairs of groups",
            Self::AnswerBytes => "bytes of answer",
            Self::CheckTime => "seconds of checking",
            Self::FileBytes => "bytes of a file",
            Self::FilesPerOwner => "files of one owner",
            Self::FileBytesPerOwner => "bytes of files of one owner",
        }
    }
}

impl ApiError {
    /// Refuses a scenario: because it asks for too much, if it does, or else for its mistakes.
    pub(crate) fn scenario(refused: Diagnostics) -> Self {
        let Some(Excess { what, asked, allowed }) = refused.excess else { return Self::InvalidScenario(refused) };
        let limit = match what {
            Bounded::Nodes | Bounded::Routers | Bounded::Ranks => Limit::Nodes,
            Bounded::ListedNodes => Limit::ListedNodes,
            Bounded::GroupPairs => Limit::GroupPairs,
            // No limit of the server: nobody has use for so many.
            Bounded::SetValues | Bounded::ProgramSteps | Bounded::PathStates => return Self::InvalidScenario(refused),
        };
        Self::LimitExceeded { limit, allowed, asked }
    }

    pub(crate) fn invalid(field: &'static str, problem: impl Into<String>) -> Self {
        Self::InvalidRequest { field, problem: problem.into() }
    }

    /// The same with the number after which a watch can go on.
    pub(crate) fn resuming_after(self, sequence: i64) -> Self {
        let resume_after = Some(sequence);
        match self {
            Self::ShuttingDown { .. } => Self::ShuttingDown { resume_after },
            Self::StreamExpired { .. } => Self::StreamExpired { resume_after },
            Self::DeadlinePassed { .. } => Self::DeadlinePassed { resume_after },
            other => other,
        }
    }
}

fn scenario_message(diagnostics: &Diagnostics) -> String {
    match diagnostics.list.as_slice() {
        [only] => format!("the scenario has a mistake: {}", only.message),
        [first, others @ ..] => {
            format!("the scenario has {} mistakes, the first: {}", others.len() + 1, first.message)
        }
        [] => "the scenario has mistakes".to_owned(),
    }
}
