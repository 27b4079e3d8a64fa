//! What can be said to the commands that serve, and to those that talk to a server.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tailback_service::LastDay;

use super::{Format, ScenarioArguments, whole};
use crate::telemetry;

#[derive(Args, Debug)]
pub struct ServeArguments {
    /// Where clients connect to; port 0 for any that is free
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7878")]
    pub listen: SocketAddr,
    /// Where runs, events, artifacts and checkpoints are kept
    #[arg(long, value_name = "DIR", default_value = "tailback-data")]
    pub data: PathBuf,
    /// If the database is damaged or lost, set it aside and rebuild runs from their files; the log names each. If it is
    /// whole and lacks changes that were acknowledged, go on without them. Without this, the server does not start then
    #[arg(long)]
    pub recover: bool,
    /// Metrics (/metrics), liveness (/livez) and readiness (/readyz: room on the disk, a database that works) over HTTP; off this machine with the certificate of
    /// the server, and metrics for bearers of tokens only
    #[arg(long, value_name = "ADDR:PORT")]
    pub admin: Option<SocketAddr>,
    /// A page for browsers: runs, live series, curves of sweeps, a scenario editor; with the same tokens and certificates as clients
    #[arg(long, value_name = "ADDR:PORT")]
    pub page: Option<SocketAddr>,
    /// Let in only bearers of the tokens in this file; `tailback token` adds some, SIGHUP has it read again
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
    /// The server's certificate (PEM), with those between it and the root; SIGHUP has all certificates read again
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Its private key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Let in only clients with a certificate that was signed with this one (PEM); `tailback token --cert` says whose it is
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub client_ca: Option<PathBuf>,
    /// Listen to a network also without encryption or tokens
    #[arg(long)]
    pub insecure: bool,
    /// Limits that differ from the defaults (TOML), such as `queue_max = 100`. Runs are held to their memory by control groups where
    /// the server may make some (systemd: `Delegate=memory`)
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
    /// Where runs are simulated
    #[arg(long, value_enum, default_value_t = WorkersArgument::Local)]
    pub workers: WorkersArgument,
    /// What else `sbatch` is told, as in `--slurm=--partition=batch`; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub slurm: Vec<String>,
    /// How to write the log, which goes to standard error; TAILBACK_LOG says how much, as in `debug`
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub log: Format,
    /// Send traces of calls and runs to this collector of OpenTelemetry, by OTLP over gRPC, as in `http://127.0.0.1:4317`
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT", hide_env_values = true, value_parser = telemetry::collector)]
    pub otlp: Option<String>,
}

/// Where a server has runs simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WorkersArgument {
    /// By processes of this machine
    Local,
    /// By jobs of Slurm, those of a sweep as arrays, on nodes that have this program and the data directory under the same names. The limits say how many at once: those that no file says are taken from what `sinfo` tells
    Slurm,
}

#[derive(Args, Debug)]
pub struct WorkerArguments {
    /// Talk to the server by the files of this folder, as jobs of a scheduler do
    #[arg(long, value_name = "DIR")]
    pub job: Option<PathBuf>,
    /// How to write the log: as the server does
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub log: Format,
}

#[derive(Args, Debug)]
pub struct TokenArguments {
    /// Who will bear it
    #[arg(required_unless_present = "revoke")]
    pub name: Option<String>,
    /// What the bearer may do
    #[arg(long, value_enum, default_value_t = RoleArgument::Submit)]
    pub role: RoleArgument,
    /// The last day, in UTC, on which it counts
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub expires: Option<LastDay>,
    /// A project that the bearer is in; may be repeated
    #[arg(long = "project", value_name = "NAME")]
    pub projects: Vec<String>,
    /// Let in the bearer of this certificate (PEM) instead of making a token
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// Remove all that was added for this name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["name", "role", "expires", "projects", "cert"])]
    pub revoke: Option<String>,
    /// The file that it is added to, as a hash
    #[arg(long, value_name = "FILE")]
    pub tokens: PathBuf,
}

/// What the bearer of a token may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RoleArgument {
    /// See everything but the private runs of others, and those of projects that one is not in
    Read,
    /// Create runs, cancel and delete one's own, and those of one's projects
    Submit,
    /// See, cancel and delete those of others too, and put runs before those of others
    Admin,
}

/// The server that a command talks to.
#[derive(Args, Debug)]
pub struct ServerArguments {
    /// The server
    #[arg(
        long,
        value_name = "URL",
        env = "TAILBACK_SERVER",
        hide_env_values = true,
        default_value = "http://127.0.0.1:7878"
    )]
    pub server: String,
    /// How long to go on trying when the connection is lost: what was asked is asked again and done once. 0 gives up at
    /// once
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub retry_time: u32,
    /// The file with the token to show it; TAILBACK_TOKEN holds the token itself
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Who must have signed the certificate of the server (PEM); else whom this machine trusts
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// The certificate to show it (PEM)
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub client_cert: Option<PathBuf>,
    /// Its private key (PEM)
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub client_key: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct SubmitArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    /// The seed of all random streams
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Threads to simulate on; 0 for the sequential executor, which is the default of servers
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    pub threads: Option<u32>,
    /// Run the sweep that the file says
    #[arg(long)]
    pub sweep: bool,
    /// Vary a value, as `tailback sweep` does; may be repeated
    #[arg(long = "over", value_name = "PATH=VALUES")]
    pub over: Vec<String>,
    /// How many seeds each point is run with
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub seeds: Option<u32>,
    /// Go on with a curve when it is saturated
    #[arg(long)]
    pub no_stop: bool,
    /// The name of the run; the server chooses one by default
    #[arg(long, value_name = "NAME")]
    pub id: Option<String>,
    /// Help to find it again, as in `--label paper=lhrp`; may be repeated
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub labels: Vec<String>,
    /// Seconds of wall time that it may take
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub wall_time: Option<u32>,
    /// Of what waits on the server, the highest goes first; more than 0 needs the role admin
    #[arg(long, value_name = "-10..10", default_value_t = 0, allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(-10..=10))]
    pub priority: i32,
    /// Take the results of a run with the same scenario digest, made by the same version, if there is one; in sweeps, one by
    /// one
    #[arg(long)]
    pub reuse: bool,
    /// Let only yourself and admins see it
    #[arg(long)]
    pub private: bool,
    /// Let only those in this project, and admins, see it; those in it may cancel, retry and delete it
    #[arg(long, value_name = "NAME", conflicts_with = "private")]
    pub project: Option<String>,
    /// Wait until it is over, and print what it found; exit code 3 tells that it failed, 4 that it was cancelled
    #[arg(long)]
    pub wait: bool,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Say nothing on the way
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub server: ServerArguments,
}

#[derive(Args, Debug)]
pub struct WatchArguments {
    /// The run. If it fails, the exit code is 3; if it is cancelled, 4
    pub run: String,
    /// Only what comes after the event of this number
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub after: i64,
    /// Only changes of state
    #[arg(long)]
    pub states: bool,
    /// How to print events: a line each, or a JSON object each
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub server: ServerArguments,
}

#[derive(Args, Debug)]
pub struct ListArguments {
    /// Only runs in this state; may be repeated
    #[arg(long = "state", value_enum)]
    pub states: Vec<StateArgument>,
    /// Only runs with this label; may be repeated
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub labels: Vec<String>,
    /// Only runs of the scenario with this digest, or one that begins so
    #[arg(long, value_name = "DIGEST", default_value = "", hide_default_value = true)]
    pub digest: String,
    /// Only runs of this project
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub project: String,
    /// The runs of this sweep
    #[arg(long, value_name = "RUN", default_value = "", hide_default_value = true)]
    pub sweep: String,
    /// How many to list at most, the newest first
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// How to print them
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub server: ServerArguments,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StateArgument {
    /// It waits for its turn
    Pending,
    /// It is being simulated
    Running,
    /// It was asked to stop
    Cancelling,
    /// Its results are there
    Succeeded,
    /// It has no results
    Failed,
    /// It was stopped, or was not needed
    Cancelled,
}

#[derive(Args, Debug)]
pub struct CancelArguments {
    /// The runs
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Wait until they have stopped, and delete them with all that they have found
    #[arg(long)]
    pub delete: bool,
    #[command(flatten)]
    pub server: ServerArguments,
}

#[derive(Args, Debug)]
pub struct FilesArguments {
    /// Delete the file with this SHA-256; may be repeated
    #[arg(long, value_name = "SHA256")]
    pub delete: Vec<String>,
    /// How to print them
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub server: ServerArguments,
}

#[derive(Args, Debug)]
pub struct RetryArguments {
    /// The runs. Of a sweep, those that failed or were cancelled are simulated again; what has succeeded stays
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub server: ServerArguments,
}

#[derive(Args, Debug)]
pub struct FetchArguments {
    /// The run
    pub run: String,
    /// Where its files go; `results/<run>` by default
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Say nothing on the way
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub server: ServerArguments,
}

#[derive(Args, Debug)]
pub struct FsckArguments {
    /// The data directory, or a backup. Nothing in it is changed; exit code 1 tells that something is wrong
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct BackupArguments {
    /// The data directory; what is in its quarantine is not copied
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The backup, a folder that is empty or not there yet. It is a data directory itself; what is damaged is copied as it
    /// is, listed, and told by exit code 1
    #[arg(value_name = "TO")]
    pub to: PathBuf,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct RestoreArguments {
    /// The backup. If something is wrong with it, that is listed, and nothing is copied
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// The data directory to be made, a folder that is empty or not there yet
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
