//! A server whose workers are jobs of Slurm: programs of the same names stand for it here. Each task is a process of this machine, which belongs to nobody
//! but itself.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Program, SMALL};
use crate::served::Server;
use crate::workers::{endless, events, listed};

/// Starts the tasks of an array at once; the process of task T of job J is in `J_T`, and what was asked for in `J.asked`.
const SBATCH: &str = r#"
[ "$1" = --version ] && exit 0
cd "$SLURM"
job=$(($(cat last 2>/dev/null || echo 0) + 1))
echo "$job" >last
cat >"$job.script"
last=0 output=/dev/null
for word in "$@"; do
    echo "$word" >>"$job.asked"
    case $word in --array=0-*) last=${word#--array=0-} ;; --output=*) output=${word#--output=} ;; esac
done
task=0
while [ "$task" -le "$last" ]; do
    to=$(echo "$output" | sed "s/%a/$task/")
    SLURM_ARRAY_TASK_ID=$task setsid sh "$job.script" </dev/null >/dev/null 2>>"$to" &
    echo $! >"${job}_$task"
    task=$((task + 1))
done
echo "$job"
"#;

const SQUEUE: &str = r#"
cd "$SLURM"
for task in *_*; do
    if kill -0 "$(cat "$task")" 2>/dev/null; then echo "$task|RUNNING"; else echo "$task|COMPLETED"; fi
done
"#;

const SCANCEL: &str = r#"
cd "$SLURM"
for task in "$@"; do
    echo "$task" >>cancelled
    kill -TERM "$(cat "$task")" 2>/dev/null
done
"#;

/// A program, and a Slurm beside it.
struct Cluster {
    program: Program,
    path: String,
}

impl Cluster {
    fn new() -> Self {
        let program = Program::new();
        fs::create_dir_all(program.path("slurm")).expect("it can be made");
        let mut path = program.path("bin").display().to_string();
        fs::create_dir_all(&path).expect("it can be made");
        for (name, does) in [("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", SCANCEL), ("sinfo", "exit 1")] {
            tailback_tests::write_program(&program.path(&format!("bin/{name}")), does);
        }
        path.push(':');
        path.push_str(&std::env::var("PATH").expect("there are programs"));
        let limits = "checkpoint_interval_ms = 20\nsample_interval_ms = 10\nconcurrent_runs_max = 4\nthreads_max = 4\n";
        program.write("limits.toml", limits);
        Self { program, path }
    }

    fn serve(&self) -> Server {
        let arguments = ["--workers", "slurm", "--slurm=--partition=all", "--limits", "limits.toml"];
        let first = ["serve", "--listen", "127.0.0.1:0", "--data", "data"];
        let mut command = self.program.command(&[&first[..], &arguments].concat());
        command.env("PATH", &self.path).env("SLURM", self.program.path("slurm"));
        Server::of(command, &self.program)
    }

    /// What Slurm has been asked for, array by array.
    fn arrays(&self) -> Vec<String> {
        let asked = |job: usize| fs::read_to_string(self.program.path(&format!("slurm/{job}.asked"))).ok();
        (1..).map_while(asked).collect()
    }

    /// The process of a task, once it runs and has a checkpoint.
    fn process(&self, task: &str) -> u32 {
        let checkpoints = self.program.path("data/checkpoints");
        until(|| checkpoints.read_dir().is_ok_and(|mut all| all.next().is_some()));
        self.program.read(&format!("slurm/{task}")).trim().parse().expect("a number")
    }

    fn tasks_left(&self) -> usize {
        let jobs = self.program.path("data/jobs");
        jobs.read_dir().expect("there were some").count()
    }

    fn digest(&self, scenario: &str) -> Value {
        let report = self.program.good(&["run", scenario, "--quiet", "--format", "json"]);
        let report: Value = serde_json::from_str(&report).expect("it is JSON");
        report["result_digest"].clone()
    }
}

fn until(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing happens");
        std::thread::yield_now();
    }
}

fn signal(process: u32, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status();
    assert!(sent.is_ok_and(|status| status.success()), "a signal can be sent");
}

#[test]
fn runs_of_a_sweep_are_handed_to_slurm_as_an_array_and_find_the_same() {
    let cluster = Cluster::new();
    let program = &cluster.program;
    let over = ["--over", "traffic.load=0.1..0.4/0.1"];
    program.good(&[&["sweep", "small.toml", "--quiet", "--out", "here"], &over[..]].concat());
    let server = cluster.serve();
    server.good(program, &[&["submit", "small.toml", "--id", "sweep", "--wait", "--quiet"], &over[..]].concat());
    server.good(program, &["fetch", "sweep", "--out", "there", "--quiet"]);
    assert_eq!(program.read("there/sweep.csv"), program.read("here/sweep.csv"));
    let arrays = cluster.arrays();
    assert!(arrays.len() < 4, "runs that begin together are one array: {arrays:?}");
    assert!(arrays.iter().all(|asked| asked.contains("--job-name=tailback-sweep\n")), "{arrays:?}");
    assert!(arrays.iter().all(|asked| asked.contains("--partition=all\n") && asked.contains("--mem=")), "{arrays:?}");
    until(|| cluster.tasks_left() == 0);
    server.stop();
}

#[test]
fn jobs_go_on_without_a_server_and_the_next_finds_them() {
    let cluster = Cluster::new();
    let program = &cluster.program;
    program.write("long.toml", SMALL.replace("cycles = 400", "cycles = 100000"));
    let digest = cluster.digest("long.toml");
    let server = cluster.serve();
    server.good(program, &["submit", "long.toml", "--id", "one"]);
    until(|| listed(program, &server, "one")["state"] == "running");
    let process = cluster.process("1_0");
    server.kill();
    drop(server);
    // It is stopped as one is, too, that is asked to.
    let server = cluster.serve();
    until(|| listed(program, &server, "one")["restarts"] == 1);
    server.stop();
    let server = cluster.serve();
    let told = events(program, &server, "one");
    let run = listed(program, &server, "one");
    assert_eq!((&run["state"], &run["result_digest"]), (&Value::from("succeeded"), &digest), "{told:?}");
    assert_eq!((&run["failed_attempts"], cluster.arrays().len()), (&Value::from(0), 1), "it is the same job");
    until(|| !Server::is_worker(process));
    server.stop();
}

#[test]
fn a_job_that_is_killed_is_tried_again_and_one_that_is_told_to_end_goes_on() {
    let cluster = Cluster::new();
    let program = &cluster.program;
    program.write("endless.toml", endless());
    let server = cluster.serve();
    server.good(program, &["submit", "endless.toml", "--id", "one"]);
    signal(cluster.process("1_0"), "KILL");
    until(|| cluster.arrays().len() == 2);
    assert_eq!(listed(program, &server, "one")["failed_attempts"], 1);
    until(|| listed(program, &server, "one")["restarts"] == 1);
    // As Slurm does before a job's time is up.
    signal(cluster.process("2_0"), "TERM");
    until(|| cluster.arrays().len() == 3);
    until(|| listed(program, &server, "one")["restarts"] == 2);
    assert_eq!(listed(program, &server, "one")["failed_attempts"], 1, "that is no failure");
    let process = cluster.process("3_0");
    server.good(program, &["cancel", "one"]);
    until(|| !Server::is_worker(process));
    until(|| cluster.tasks_left() == 0);
    server.stop();
}

#[test]
fn a_job_whose_lease_is_gone_does_nothing() {
    let program = Program::new();
    let said = program.run(&["worker", "--job", "nowhere"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""), "{}", said.stderr);
    assert!(!program.path("nowhere").exists());
}
