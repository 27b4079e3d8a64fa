//! What can be said on the command line.

mod plot;
mod service;
mod wall_time;

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tailback_sim::MessageChoice;

use crate::shard::Shard;

pub use plot::{LogAxes, Picture, PlotArguments, PlotKind};
pub use service::{
    BackupArguments, CancelArguments, FetchArguments, FilesArguments, FsckArguments, ListArguments, RestoreArguments,
    RetryArguments, RoleArgument, ServeArguments, ServerArguments, StateArgument, SubmitArguments, TokenArguments,
    WatchArguments, WorkerArguments, WorkersArgument,
};

/// Simulates congestion in lossless interconnection networks.
#[derive(Debug, Parser)]
#[command(
    name = "tailback",
    version,
    arg_required_else_help = true,
    after_help = "Results go to standard output, progress and diagnostics to standard error.\n\
                  Exit codes: 0 done, 1 failed, 2 bad input (nothing has been written), 130 interrupted; of `watch` and \
                  `submit --wait`, 3 the run failed, 4 the run was cancelled.",
    max_term_width = 110
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scenario and report what was measured
    Run(RunArguments),
    /// Simulate a scenario many times with different values, and tabulate the results
    Sweep(SweepArguments),
    /// Check a scenario without running it: the resolved file, its digest, and what it would take
    Check(CheckArguments),
    /// Explain a scenario: wiring, virtual channels, and each component of latency
    Explain(ExplainArguments),
    /// List what exists: topologies, routings, protocols, traffic, with all parameters
    Models(ModelsArguments),
    /// Reproduce figures of papers: make the runs, draw the figures, check what the papers say
    Reproduce(ReproduceArguments),
    /// Draw figures from the results of runs and sweeps
    Plot(PlotArguments),
    /// Serve experiments over gRPC: take them in, carry them out, keep what they find
    Serve(ServeArguments),
    /// Make a token that lets its bearer talk to a server
    Token(TokenArguments),
    /// Have a server simulate a scenario, or a sweep of it
    Submit(SubmitArguments),
    /// See what happens to a run on a server
    Watch(WatchArguments),
    /// List the runs of a server
    List(ListArguments),
    /// Stop runs on a server
    Cancel(CancelArguments),
    /// Have a server simulate runs again that failed or were cancelled; of sweeps, those of their runs
    Retry(RetryArguments),
    /// Fetch the files that a run on a server has left
    Fetch(FetchArguments),
    /// List the files that you have uploaded to a server, or delete some; `submit` uploads what a scenario names
    Files(FilesArguments),
    /// Check the data directory of a server that does not run: the database, artifacts, checkpoints
    Fsck(FsckArguments),
    /// Copy the data directory of a server, which may be running, and check the copy
    Backup(BackupArguments),
    /// Make a data directory of a backup, if all of it is as it was written
    Restore(RestoreArguments),
    /// Carry out one run in a process of its own; `serve` starts it, nobody else does
    Worker(WorkerArguments),
}

/// A scenario, and what is laid over it.
#[derive(Args, Debug)]
pub struct ScenarioArguments {
    /// The scenario file (TOML)
    pub file: PathBuf,
    /// Set a value of the scenario, as in `measure.cycles=4000` or `traffic.load=0.3`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("traces").args(["trace_message", "trace_packets"]))]
pub struct RunArguments {
    /// The scenario file (TOML)
    #[arg(required_unless_present = "resume")]
    pub file: Option<PathBuf>,
    /// Set a value of the scenario, as in `measure.cycles=4000` or `traffic.load=0.3`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// The seed of all random streams
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Threads to simulate on, as many as there are cores by default; 0 for the sequential executor. They change no
    /// result
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    pub threads: Option<u32>,
    /// Write report.json, the resolved scenario and time series into this directory; interrupted.json, if Ctrl-C ends the
    /// run while it measures
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print before the report what happens to one message, in 10,000 lines at most: the N-th, counted from 0, that node SRC
    /// offers for node DST; one of a program with its announcement and the answer. With `--format json` each line is an object; with `--out` it is in trace.txt, or trace.jsonl. It
    /// changes no result
    #[arg(long, value_name = "SRC,DST,N", value_parser = message_choice)]
    pub trace_message: Option<MessageChoice>,
    /// Print before the report what happens to the packets that node SRC sends node DST, data and control, packet by packet:
    /// each router, what they wait for there and how long; and where their time goes on average. With `--out` it is in
    /// trace.txt, or trace.jsonl. It changes no result
    #[arg(long, value_name = "SRC,DST", value_parser = node_pair, conflicts_with = "trace_message")]
    pub trace_packets: Option<(u32, u32)>,
    /// The most packets that `--trace-packets` follows: the first that leave
    // clap waives what an option requires where that conflicts with another one that is given.
    #[arg(long, value_name = "N", requires = "trace_packets", default_value_t = 1000,
          conflicts_with_all = ["trace_message", "checkpoint_every"],
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub trace_most: u32,
    /// The cycle from which on packets leave that `--trace-packets` follows
    #[arg(long, value_name = "CYCLE", requires = "trace_packets", default_value_t = 0,
          conflicts_with_all = ["trace_message", "checkpoint_every"])]
    pub trace_from: u64,
    /// Write the trace of `--trace-message` or `--trace-packets` into this file in Chrome's trace format, for Perfetto
    /// (ui.perfetto.dev) or chrome://tracing, and do not print it
    #[arg(long, value_name = "FILE", requires = "traces", conflicts_with = "checkpoint_every")]
    pub trace_out: Option<PathBuf>,
    /// Write the state of the run into the directory of `--out` each time that this much time has passed, as in "10 s",
    /// "5 min" or "1 h", and when Ctrl-C ends the run. It changes no result
    #[arg(long, value_name = "TIME", value_parser = wall_time::parse, conflicts_with = "traces")]
    pub checkpoint_every: Option<Duration>,
    /// Go on with a run that was ended before it was done, from its last state in this directory, on any number of threads.
    /// What it finds is the same
    #[arg(long, value_name = "DIR",
          conflicts_with_all = ["file", "set", "seed", "out", "traces", "trace_most", "trace_from", "trace_out"])]
    pub resume: Option<PathBuf>,
    /// How to print the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Say nothing on the way
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub telling: Telling,
}

/// The message that three numbers name.
fn message_choice(text: &str) -> Result<MessageChoice, String> {
    let usage = || "three numbers are needed: the source, the destination and which message, as in `3,17,0`".to_owned();
    let [source, destination, number] =
        text.split(',').map(str::trim).collect::<Vec<_>>().try_into().map_err(|_| usage())?;
    let node = |text: &str| text.parse().map_err(|_| usage());
    Ok(MessageChoice {
        source: node(source)?,
        destination: node(destination)?,
        number: number.parse().map_err(|_| usage())?,
    })
}

/// A whole number that is not negative.
fn whole<N: FromStr>(text: &str) -> Result<N, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let problem = if is_number { "the number is too large" } else { "a whole number from 0 on is needed" };
    text.parse().map_err(|_| problem.to_owned())
}

/// Two nodes.
fn node_pair(text: &str) -> Result<(u32, u32), String> {
    let usage = || "two numbers are needed: the source and the destination, as in `3,17`".to_owned();
    let (source, destination) = text.split_once(',').ok_or_else(usage)?;
    let node = |text: &str| text.trim().parse().map_err(|_| usage());
    Ok((node(source)?, node(destination)?))
}

#[derive(Args, Debug)]
pub struct SweepArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    /// Vary a value: `traffic.load=0.1..0.9/0.1`, `seed=1..4` (the step of whole numbers is 1) or `routing=minimal,valiant`; may
    /// be repeated, the last varies fastest
    #[arg(long = "over", value_name = "PATH=VALUES")]
    pub over: Vec<String>,
    /// How many seeds each point is run with; without it, what the scenario says, or one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: Option<u64>,
    /// How many runs to simulate at the same time; by default as many as there are cores and as fit into memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Where results go and are found again; `results/<name of the file>` by default
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Make only the I-th of N shares of the runs: the same command with all other shares, anywhere, into one directory, and at last
    /// without `--shard`, makes the whole. `slurm` stands for the place of a task in its job array
    #[arg(long, value_name = "I/N", value_parser = Shard::parse, conflicts_with_all = ["most", "least"])]
    pub shard: Option<Shard>,
    /// Go on with a curve when it is saturated
    #[arg(long)]
    pub no_stop: bool,
    /// Say which point has the most of a column of sweep.csv, as in `accepted_load`
    #[arg(long, value_name = "COLUMN")]
    pub most: Option<String>,
    /// Say which point has the least of a column of sweep.csv, as in `latency_message_mean`
    #[arg(long, value_name = "COLUMN")]
    pub least: Option<String>,
    /// How to print the table
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Say nothing on the way
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub telling: Telling,
}

#[derive(Args, Debug)]
pub struct CheckArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    /// Say what each of so many processes of `mpirun` would have to simulate
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub ranks: Option<u32>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub telling: Telling,
}

#[derive(Args, Debug)]
pub struct ExplainArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct ModelsArguments {
    /// Show only models with this name, or of this kind
    pub name: Option<String>,
    /// Print the JSON Schema of whole scenarios instead, for editors and programs that write them
    #[arg(long, conflicts_with_all = ["name", "format"])]
    pub schema: bool,
    /// How to print them
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct ReproduceArguments {
    /// A paper, or a figure of it as in `contention/fig05b`, or a study as in `studies/endpoint-16k`; without it, the
    /// scoreboard of all of them
    #[arg(value_name = "PAPER[/FIGURE]")]
    pub what: Option<String>,
    /// Scaled down, for minutes; this is the default
    #[arg(long)]
    pub quick: bool,
    /// As the paper has it, for hours
    #[arg(long, conflicts_with = "quick")]
    pub full: bool,
    /// How many runs to simulate at the same time; by default as many as there are cores and as fit into memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Where results go and are found again, in a folder `<paper>/<figure>-<scale>` for each figure
    #[arg(long, value_name = "DIR", default_value = "results/reproduce")]
    pub out: PathBuf,
    /// Where the files of papers and studies are, in the folders `papers/<paper>` and `studies`
    #[arg(long, value_name = "DIR", default_value = "configs")]
    pub configs: PathBuf,
    /// Make only the I-th of N shares of the runs: the same command with all other shares, anywhere, into one directory, and at last
    /// without `--shard`, makes the whole. `slurm` stands for the place of a task in its job array
    #[arg(long, value_name = "I/N", value_parser = Shard::parse, conflicts_with_all = ["no_run", "check", "record"])]
    pub shard: Option<Shard>,
    /// Make no runs: draw and judge what is there
    #[arg(long)]
    pub no_run: bool,
    /// Only figures that are quick enough to be checked after each change
    #[arg(long)]
    pub ci: bool,
    /// Compare verdicts with the recorded ones, and fail if one has changed
    #[arg(long)]
    pub check: bool,
    /// Record verdicts beside the figures
    #[arg(long, conflicts_with = "check")]
    pub record: bool,
    /// How to print claims
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Say nothing on the way
    #[arg(long)]
    pub quiet: bool,
}

/// How what is not a result is told.
#[derive(Args, Debug)]
pub struct Telling {
    /// How to tell progress, warnings and mistakes on standard error; for programs, each is a line
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub tell: Format,
}

impl Command {
    /// How this command tells what is not a result.
    pub fn tell(&self) -> Format {
        match self {
            Self::Run(RunArguments { telling, .. })
            | Self::Sweep(SweepArguments { telling, .. })
            | Self::Check(CheckArguments { telling, .. }) => telling.tell,
            _ => Format::Text,
        }
    }
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

impl Format {
    /// Its name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}
