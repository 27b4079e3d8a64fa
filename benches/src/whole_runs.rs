//! Whole runs of the scenarios under `configs/bench`, each in a process of its own, so that its memory is its own: a
//! bench calls itself.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use cpu_time::ProcessTime;
use tailback_scenario::Document;
use tailback_sim::Run;

/// What a run took.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Time on the clock.
    pub wall_s: f64,
    /// Time of all threads together.
    pub cpu_s: f64,
    /// Packet-hops.
    pub hops: f64,
    /// The most memory in use.
    pub peak_mib: f64,
}

impl Cost {
    /// Millions of packet-hops per CPU second.
    #[must_use]
    pub fn millions_per_cpu_s(self) -> f64 {
        self.hops / self.cpu_s / 1e6
    }

    /// CPU nanoseconds per packet-hop.
    #[must_use]
    pub fn ns_per_hop(self) -> f64 {
        self.cpu_s / self.hops * 1e9
    }
}

/// The names that a command line asks for, and whether it only wants to see that everything runs, as criterion's `--test`
/// does. Does not return in a process that [`measure`] has called.
#[must_use]
pub fn asked() -> (Vec<String>, bool) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, name, threads, settings @ ..] = arguments.as_slice()
        && word == "one"
    {
        run_one(name, threads.parse().expect("a number of threads"), settings);
        std::process::exit(0);
    }
    let short = arguments.iter().any(|argument| argument == "--test");
    (arguments.into_iter().filter(|argument| !argument.starts_with("--")).collect(), short)
}

/// Runs a scenario with some settings, by so many threads (0 is the sequential executor).
///
/// # Panics
/// When the run fails.
#[must_use]
pub fn measure(name: &str, threads: usize, settings: &[String], short: bool) -> Cost {
    let this = std::env::current_exe().expect("this program has a path");
    let shortened: &[&str] = if short { &["measure.warmup=0", "measure.cycles=50"] } else { &[] };
    let threads = threads.to_string();
    let mut command = Command::new(this);
    command.args(["one", name, &threads]).args(settings).args(shortened);
    let output = command.output().expect("this program can be called again");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("numbers");
    let numbers: Vec<f64> = text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    let [wall_s, cpu_s, hops, peak_mib] = numbers[..] else { panic!("four numbers, not {text}") };
    Cost { wall_s, cpu_s, hops, peak_mib }
}

/// Runs a scenario in this process and prints what it took.
fn run_one(name: &str, threads: usize, settings: &[String]) {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "..", "configs", "bench", &format!("{name}.toml")].iter().collect();
    let text = std::fs::read_to_string(&path).expect("the scenario is there");
    let document = settings.iter().fold(Document::read(name, &text), |document, setting| document.with(setting));
    let scenario = document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let mut run = Run::new(&scenario, threads).expect("threads start");
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    run.finish(|_| ControlFlow::Continue(())).expect("it runs");
    let (wall_s, cpu_s) = (wall.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    let findings = run.findings().expect("everything adds up");
    println!("{wall_s} {cpu_s} {} {}", findings.packet_hops, peak_mib());
}

/// The most memory that this process has had in use, where the system tells; else 0.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    let kibibytes = line.split_whitespace().next().and_then(|number| number.parse::<f64>().ok());
    kibibytes.unwrap_or(0.0) / 1024.0
}
